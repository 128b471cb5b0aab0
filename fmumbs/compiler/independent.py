"""Images whose states for a host that integrates are independent: as many as the mobility (core/motion/independent.c).

Which positions and velocities follow from the others is chosen where the mechanism starts, by pivots of its rows.
Joints that come late in the model are preferred, since drivers usually come first; joints whose input, position or
velocity the model declares come last.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.coordinates import Indices, are_of_rates, velocities_of_positions
from fmumbs.compiler.image import ModelImage
from fmumbs.compiler.kinds import JOINT, kinds
from fmumbs.compiler.layout import ffi, lib, open_instance, pack
from fmumbs.errors import ModelError

INDEPENDENT = 1e-9
"""Pivots of rows of length one, in units of the coordinates, that count."""

_DECLARED = 0.1  # of its pivot counts, of a coordinate that the model declares
_FIRST = 0.3  # of the first joint's pivot, of the last one's all
_ALWAYS = 1e6  # times its pivot counts, of a coordinate that was chosen

STATES = ("tree", "independent")
"""What the states of Model Exchange can be."""

Matrix = NDArray[np.float64]


def with_independent_states(image: ModelImage) -> ModelImage:
    """The image of the same mechanism with independent states; a tree's states are so already.

    Raises ModelError for a mechanism that cannot be assembled, and for a nonholonomic joint within a loop.
    """
    if not image.sizes["rows"]:
        return image
    start = _Start(image)
    p, u = start.positions_that_follow(), np.zeros(0, np.int64)
    u = start.speeds_that_follow(p)
    sizes = image.sizes | {"dependent_p": len(p), "dependent_u": len(u)}
    return ModelImage(pack(sizes, image.arrays | {"dependent_p": p, "dependent_u": u}))


class _Start:
    """The assembled start: rows of the Jacobian in units of the coordinates, and which coordinates there are."""

    def __init__(self, image: ModelImage) -> None:
        self.image, self.arrays = image, image.arrays
        self.np, self.nu = image.sizes["positions"], image.sizes["speeds"]
        instance = open_instance(image.bytes)
        self._check(instance, lib.fm_assemble(instance, 0.0) == lib.FM_OK)
        rows, count = image.sizes["rows"], lib.fm_tree_state(instance, ffi.NULL, 0)
        y, nominal, J = np.zeros(count), np.zeros(count), np.zeros((rows, self.nu))
        for fill, values in ((lib.fm_tree_state, y), (lib.fm_tree_nominals, nominal), (lib.fm_jacobian, J)):
            self._check(instance, 0 < values.size == fill(instance, ffi.from_buffer("double[]", values), values.size))
        active = np.zeros(rows, np.int32)
        lib.fm_active(instance, ffi.from_buffer("int32_t[]", active), rows)
        self.p, self.unit = y[: self.np], nominal[self.np : self.np + self.nu]
        chosen = np.flatnonzero(active)
        rates = are_of_rates(self.arrays, chosen)
        scaled = J[chosen] * self.unit
        lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
        self.J = scaled / np.where(lengths > 0.0, lengths, 1.0)
        self.holonomic = self.J[~rates]
        self._lay_out()

    def _check(self, instance: Any, done: bool) -> None:
        if not done:
            raise ModelError(f"Model '{self.image.name}': {ffi.string(lib.fm_message(instance)).decode()}.")

    def _lay_out(self) -> None:
        """Of each scalar position its velocity, -1 where it is no rate; balls; what is excited; weights."""
        arrays = self.arrays
        self.velocity, self.balls = velocities_of_positions(arrays, self.np)
        self.velocity[arrays["excitation_p"]] = -1
        self.excited = np.asarray(arrays["excitation_u"], np.int64)
        self.weight = np.ones(self.nu)
        order = arrays["joint_order"] / max(1, len(arrays["joint_order"]) - 1)
        for joint in np.flatnonzero(arrays["joint_first"] >= 0).tolist():
            u, m = int(arrays["joint_u"][joint]), int(arrays["joint_nu"][joint])
            self.weight[u : u + m] = _FIRST + (1.0 - _FIRST) * order[joint]
        self.weight[self._declared()] = _DECLARED

    def _declared(self) -> Indices:
        """Velocities of joints whose motion or input the model declares under a name of its own."""
        arrays, named = self.arrays, self.arrays["variable_name"] >= 0
        places = (lib.FM_AT_TAU, lib.FM_AT_POSITION, lib.FM_AT_SPEED)
        chosen = [k.index for k in kinds() if k.owner == JOINT and k.place in places]
        rows = np.flatnonzero(named & np.isin(arrays["variable_kind"], chosen))
        joints = arrays["variable_object"][rows]
        joints = joints[arrays["joint_first"][joints] >= 0]
        ranges = [range(int(arrays["joint_u"][j]), int(arrays["joint_u"][j] + arrays["joint_nu"][j])) for j in joints]
        return np.array([u for one in ranges for u in one], np.int64)

    def positions_that_follow(self) -> Indices:
        """As many as holonomic rows; of quaternions whose ball follows in part or wholly one more each, by its norm."""
        H = self.holonomic
        if not len(H):
            return np.zeros(0, np.int64)
        scalar = np.flatnonzero(self.velocity >= 0)
        turns = np.array([u + k for _, u in self.balls for k in range(3)], np.int64)
        known = np.concatenate([self.velocity[scalar], turns])
        pinned = np.setdiff1d(np.arange(self.nu), np.concatenate([known, self.excited]))  # of nonholonomic joints
        if np.abs(H[:, pinned]).max(initial=0.0) > INDEPENDENT:
            raise ModelError(
                f"Model '{self.image.name}' has a nonholonomic joint in a loop, where no position follows from the "
                "others. Write it as a joint and fm.Rolling or another closing joint, or leave the states of the tree."
            )
        following = self._along(known)
        balls = [(p, u) for p, u in self.balls if np.isin(range(u, u + 3), following).any()]
        chosen = scalar[np.isin(self.velocity[scalar], following)]
        at = np.concatenate([chosen, *(range(p, p + 4) for p, _ in balls)]).astype(np.int64)
        A, weight = np.zeros((len(H) + len(balls), len(at))), np.ones(len(at))
        A[: len(H), : len(chosen)] = H[:, self.velocity[chosen]]
        weight[: len(chosen)] = _ALWAYS
        for i, (p, u) in enumerate(balls):
            k = slice(len(chosen) + 4 * i, len(chosen) + 4 * i + 4)
            A[: len(H), k] = H[:, u : u + 3] @ _turning(self.p[p : p + 4])
            A[len(H) + i, k] = self.p[p : p + 4]
        return np.sort(at[_pivots(A, weight)])

    def _along(self, known: Indices) -> Indices:
        """The velocities along which positions follow, among those known; of a ball all or none where that is enough,
        since components of a quaternion may become zero.
        """
        H = self.holonomic
        able = np.sort(known)
        found = able[_pivots(H[:, able], self.weight[able])]
        for _, u in self.balls:
            ball = range(u, u + 3)
            if not 0 < np.isin(ball, found).sum() < 3:
                continue
            others = np.setdiff1d(able, ball)
            without = others[_pivots(H[:, others], self.weight[others])]
            if len(without) == len(found):
                able, found = others, without
        return found

    def speeds_that_follow(self, p: Indices) -> Indices:
        """As many as rows; first those whose positions follow."""
        balls = [range(u, u + 3) for at, u in self.balls if np.any((p >= at) & (p < at + 4))]
        velocity = self.velocity[p]
        first = np.concatenate([velocity[velocity >= 0], *balls]).astype(np.int64)
        able = np.setdiff1d(np.arange(self.nu), self.excited)
        rest = np.setdiff1d(able, first)
        found = first[_pivots(self.J[:, first], np.ones(len(first)))]
        Q = np.linalg.qr(self.J[:, found])[0] if len(found) else np.zeros((len(self.J), 0))
        beside = self.J[:, rest] - Q @ (Q.T @ self.J[:, rest])
        more = rest[_pivots(beside, self.weight[rest])]
        return np.sort(np.concatenate([found, more]))


def _turning(q: Matrix) -> Matrix:
    """(3, 4) the rotation [rad] in moving axes that changes of a quaternion make."""
    w, x, y, z = q
    return 2.0 * np.array([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])


def _pivots(A: Matrix, weight: Matrix) -> Indices:
    """Columns of A on which its independent rows stand, those of the largest weighted pivots."""
    left, chosen = A.copy(), list[int]()
    while len(chosen) < min(A.shape):
        lengths = np.linalg.norm(left, axis=0)
        best = int(np.argmax(lengths * weight))
        if not lengths[best] > INDEPENDENT:
            break
        unit = left[:, best] / lengths[best]
        for _ in range(2):  # once more for round-off
            left -= np.outer(unit, unit @ left)
        left[:, [*chosen, best]] = 0.0
        chosen.append(best)
    return np.array(chosen, np.int64)
