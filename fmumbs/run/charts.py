"""Independent coordinates about a state: the states of a linear model, and the rates that the core gives for them.

Positions are p = p0 (+) s: scalars add, and an orientation is R0 exp(s~) with a rotation vector s in M's axes, whose
rate is T(s)^-1 w. As many components of s are independent as holonomic rows c(p) = 0 leave; the others follow by
Newton's method. Of the velocities those are independent that all rows leave, J u + c_t = 0. Pivoted factors of J choose
the dependent ones. Modes on a path and velocities that stick are no states: they stay as they are.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler import ModelImage
from fmumbs.compiler.coordinates import are_of_rates, velocities_of_positions
from fmumbs.compiler.kinds import kinds
from fmumbs.compiler.layout import lib
from fmumbs.errors import ModelError
from fmumbs.run.coordinates import Array, Coordinates, hard_stops, pointer
from fmumbs.run.hosted import Hosted
from fmumbs.run.solver import Solver
from fmumbs.spatial import skew

Indices = NDArray[np.int64]

INDEPENDENT = 1e-9
"""Pivots of rows of length one, in units of the coordinates, that count."""

_OPEN, _SLIPS = 0.0, 2.0  # states of spots of contacts
MOST = 50  # Newton's steps, each of which must leave less than half
CLOSED = 1e-9  # of the length: a gap that remains is no round-off


class Chart:
    """The states about the present state of a Solver, which is left alone."""

    def __init__(self, solver: Solver) -> None:
        self.hosted = Hosted(solver)
        self.image, self.solver, self.nu = solver.image, self.hosted.solver, self.hosted.nu
        self.y0, self.nominal = self.hosted.state(), self.hosted.nominal()
        self._lay_out()
        self._choose()

    # Which coordinates there are --------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        """Of each component of s: its velocity, -1 where it is no rate; and where each quaternion and its w begin."""
        velocity, self.balls = velocities_of_positions(self.image.arrays, self.hosted.np)
        quaternions = np.array([p + k for p, _ in self.balls for k in range(4)], np.int64)
        self.scalars = np.setdiff1d(np.arange(self.hosted.np), quaternions)
        parts = [(p, int(velocity[p]), -1) for p in self.scalars.tolist()]
        parts += [(p, u + k, k) for p, u in self.balls for k in range(3)]
        parts.sort(key=lambda part: (part[0], part[2]))
        self.place = np.array([part[0] for part in parts], np.int64).reshape(-1)  # of the scalar, or the quaternion
        self.speed = np.array([part[1] for part in parts], np.int64).reshape(-1)
        self.turn = np.array([part[2] for part in parts], np.int64).reshape(-1)  # component of a rotation, or -1
        self.unit = np.where(self.turn >= 0, 1.0, self.nominal[self.place])

    @cached_property
    def names(self) -> list[str]:
        """Of the states, then of the bristles."""
        known = Coordinates(self.image)
        s = [
            known.positions[p] if k < 0 else f"{known.positions[p].rpartition('.')[0]}.rotation[{k + 1}]"
            for p, k in zip(self.place.tolist(), self.turn.tolist(), strict=True)
        ]
        bristles = [f"{name}" for name in self._bristle_names]
        return [*(s[i] for i in self.free.tolist()), *(known.speeds[i] for i in self.moving.tolist()), *bristles]

    @cached_property
    def units(self) -> list[str]:
        """Of the states."""
        variables = self.image.variables
        p, u = variables.units(variables.positions()), variables.units(variables.speeds())
        s = [p[at] if k < 0 else "rad" for at, k in zip(self.place.tolist(), self.turn.tolist(), strict=True)]
        bristles = [variables.units(variables.references(name))[0] for name in self._bristle_names]
        return [*(s[i] for i in self.free.tolist()), *(u[i] for i in self.moving.tolist()), *bristles]

    @cached_property
    def _bristle_names(self) -> list[str]:
        kind = self.image.arrays["variable_kind"]
        chosen = [k.index for k in kinds() if k.place in (lib.FM_AT_BRISTLE, lib.FM_AT_OWN_STATE)]
        found = np.flatnonzero(np.isin(kind, chosen))
        places = [lib.fm_continuous_place(self.solver.instance, int(i)) for i in found]
        return self.image.variables.names(found[np.argsort(places)]) if len(found) else []

    def _choose(self) -> None:
        """Independent components of s and velocities: `free` and `moving`, and those that follow from them."""
        held = self._held_speeds()
        arrays = self.image.arrays
        self.active = np.flatnonzero(self.solver.active_rows) if self.image.sizes["rows"] else np.zeros(0, np.int64)
        rates = are_of_rates(arrays, self.active)
        self.holonomic = self.active[~rates]
        J = self._jacobian()
        fixed = [int(p) for p in self._on_paths("excitation_p")]
        candidates = np.flatnonzero(~np.isin(self.speed, held) & ~np.isin(self.place, fixed))
        at_rates = np.isin(self.speed[candidates], -1)
        H = J[self.holonomic]
        pinned = np.setdiff1d(np.arange(self.nu), self.speed)  # velocities of nonholonomic joints
        if len(H) and np.abs(H[:, pinned]).max(initial=0.0) > INDEPENDENT:
            raise ModelError(
                f"Model '{self.image.name}' has a nonholonomic joint in a loop, which has no linear model. Write it "
                "as a joint and fm.Rolling or another closing joint."
            )
        columns = np.where(at_rates, 0.0, H[:, self.speed[candidates]]) * self.unit[candidates]
        self.following = candidates[_pivots(columns)]
        self.free = np.setdiff1d(candidates, self.following)
        scale = self.hosted.speeds_of(self.nominal)
        able = np.setdiff1d(np.arange(self.nu), held)
        first = self.speed[self.following]
        rest = np.setdiff1d(able, first)
        A = J[self.active] * scale
        Q = np.linalg.qr(A[:, first])[0] if len(first) else np.zeros((len(A), 0))
        more = rest[_pivots(A[:, rest] - Q @ (Q.T @ A[:, rest]), np.linalg.norm(A, axis=1))]
        self.driven = np.sort(np.concatenate([first, more]))
        self.moving = np.setdiff1d(able, self.driven)

    def _on_paths(self, column: str) -> Array:
        arrays = self.image.arrays
        return np.asarray(arrays[column][arrays["excitation_path"] >= 0])

    def _held_speeds(self) -> list[int]:
        """Velocities that stay: of modes on a path, and of joints' laws that stick."""
        on = self.image.arrays["law_u"]
        for law, name in hard_stops(self.image).items():
            if on[law] < 0 and law in self.sticking:
                raise ModelError(
                    f"stop '{name}' of '{self.image.name}' is closed on a spring, whose length a linear model cannot "
                    "hold. Give the stop a stiffness, or put it on a joint."
                )
        stuck = [int(on[law]) for law in self.sticking if on[law] >= 0]
        return [*(int(u) for u in self._on_paths("excitation_u")), *stuck]

    @cached_property
    def laws(self) -> list[str]:
        arrays = self.image.arrays
        return [name_at(self.image, int(at)) for at in arrays["law_name"]] if self.image.sizes["laws"] else []

    @cached_property
    def sticking(self) -> list[int]:
        """Laws that stick, which those of ropes, gears, valves and limits never do."""
        arrays = self.image.arrays
        watched = [np.asarray(arrays[f"law_{one}"]) >= 0 for one in ("side", "gear", "cylinder", "spot")]
        watched.append((np.asarray(arrays["law_motor"]) >= 0) & (np.asarray(arrays["law_u"]) < 0))
        able = np.flatnonzero(~np.any(watched, axis=0)).tolist()
        return [i for i in able if self.solver.get(f"{self.laws[i]}.slip") == 0.0]

    @cached_property
    def frozen(self) -> list[str]:
        """What the linear model takes as it is."""
        hard, on = hard_stops(self.image), self.image.arrays["law_u"]
        texts = [f"law '{self.laws[i]}' sticks" for i in self.sticking if i not in hard]
        speeds = Coordinates(self.image).speeds
        for i, name in hard.items():
            joint = f": joint '{speeds[int(on[i])].rpartition('.')[0]}' is locked there" if on[i] >= 0 else ""
            texts.append(f"stop '{name}' is closed{joint}" if i in self.sticking else f"stop '{name}' is open")
        margins = np.zeros(len(self.laws))
        if len(margins):
            self.solver.call(lib.fm_indicators, pointer(margins))
        texts += [
            f"law '{name}' is at a kink: the piece that it is in continues"
            for i, name in enumerate(self.laws)
            if i not in self.sticking and i not in hard and margins[i] < 1e-9
        ]
        texts += self._contacts
        joints = np.asarray(self.image.arrays["excitation_joint"])[self.image.arrays["excitation_path"] >= 0]
        names = self.image.variables.structured.elements(kinds()[lib.FM_J_Q].owner)
        texts += [f"joint '{names[j]}' follows a path and stays where it is" for j in dict.fromkeys(joints.tolist())]
        rubbing = int((np.asarray(self.image.arrays["bristle_friction"]) >= 0).sum())
        slips = [(name, self.solver.get(f"{name.rpartition('.')[0]}.slip")) for name in self._bristle_names[:rubbing]]
        v = self.rates(self.x0)[len(self.free) + len(self.moving) :][:rubbing] if slips else np.zeros(0)
        texts += [
            f"friction '{name.rpartition('.')[0]}' is deflected at rest, a kink of its rate: the mean of both sides"
            for (name, slip), rate in zip(slips, v, strict=True)
            if slip > 0.0 and abs(rate) < 1e-12
        ]
        return list(dict.fromkeys(texts))

    @property
    def _contacts(self) -> list[str]:
        """Contacts that are open, or slip, at some or all of their spots."""
        arrays, texts = self.image.arrays, list[str]()
        for at in arrays["contact_name"][: self.image.sizes["contacts"]]:
            name = name_at(self.image, int(at))
            states = np.atleast_1d(self.solver.get(f"{name}.state"))
            for state, what in ((_OPEN, "is open"), (_SLIPS, "slips")):
                spots = np.flatnonzero(states == state) + 1
                where = "" if len(spots) == len(states) else f" at spots {', '.join(map(str, spots))}"
                texts += [f"contact '{name}' {what}{where}"] if len(spots) else []
        return texts

    # States and rates ------------------------------------------------------------------------------------------

    @cached_property
    def x0(self) -> Array:
        """(states,) at the state itself; rotations are zero there."""
        s = np.where(self.turn >= 0, 0.0, self.y0[self.place])
        return self._chosen(s, self.y0)

    @cached_property
    def sizes(self) -> Array:
        """(states,) one radian, the model's length, these per second, and deflections that slide."""
        y = self.nominal.copy()
        u = self.hosted.speeds_of(y)
        np.maximum(u, np.abs(self.hosted.speeds_of(self.y0)), out=u)
        return self._chosen(self.unit, y)

    def go(self, x: Array) -> None:
        """Puts the core's instance into a state near the chart's own."""
        s = np.where(self.turn >= 0, 0.0, self.y0[self.place])
        u = self.hosted.speeds_of(self.y0).copy()
        n, m = len(self.free), len(self.moving)
        s[self.free], u[self.moving], self._z = x[:n], x[n : n + m], x[n + m :]
        s = self._close(s, u)
        self.hosted.go(self._positions(s), u, self._z)
        if len(self.driven):
            for _ in range(2):  # once more for round-off
                rate = self._violations()[self.active, 1]
                u[self.driven] -= _least(self._jacobian()[np.ix_(self.active, self.driven)], rate)
                self.hosted.go(self._positions(s), u, self._z)
        self._s, self._u = s, u

    def rates(self, x: Array) -> Array:
        """(states,) the rates of the states at x."""
        self.go(x)
        y = self.hosted.rates()
        s = np.where(self.turn >= 0, 0.0, y[self.place])
        for p, u in self.balls:
            at = np.flatnonzero(self.place == p)
            s[at] = np.linalg.solve(_turning(self._s[at]), self._u[u : u + 3])
        return self._chosen(s, y)

    def _chosen(self, s: Array, y: Array) -> Array:
        """(states,) those of s, and of velocities and bristles in y."""
        return np.concatenate([s[self.free], self.hosted.speeds_of(y)[self.moving], self.hosted.deflections_of(y)])

    def positions(self, x: Array) -> Array:
        """(positions,) those of all joints at x."""
        self.go(x)
        return self._positions(self._s)

    def speeds(self) -> Array:
        """(speeds,) all velocities of the state that go() went to."""
        return self._u.copy()

    def displacement(self) -> Array:
        """(speeds,) displacements along all velocities from the chart's own state, to first order."""
        found = np.zeros(self.nu)
        s = self._s - np.where(self.turn >= 0, 0.0, self.y0[self.place])
        known = self.speed >= 0
        found[self.speed[known]] = s[known]
        return found

    def read(self, references: NDArray[np.uint32]) -> Array:
        """Values of variables in the state that go() went to."""
        return self.solver.read(references) if len(references) else np.zeros(0)

    def _positions(self, s: Array) -> Array:
        p = self.y0[: self.hosted.np].copy()
        scalar = self.turn < 0
        p[self.place[scalar]] = s[scalar]
        for at, _ in self.balls:
            p[at : at + 4] = turned(self.y0[at : at + 4], s[self.place == at])
        return p

    def _close(self, s: Array, u: Array) -> Array:
        """Of s, the components that follow from the others, beside these."""
        last = np.inf
        for _ in range(MOST if len(self.following) else 0):
            self.hosted.go(self._positions(s), u, self._z)
            gap = self._violations()[self.holonomic, 0]
            size = float(np.abs(gap).max(initial=0.0))
            if not size < 0.5 * last:
                break
            last = size
            columns = self._in_chart(self._jacobian()[self.holonomic], s)[:, self.following]
            s = s.copy()
            s[self.following] -= _least(columns, gap)
        if len(self.following) and not last <= CLOSED * max(1.0, float(self.image.arrays["length"].flat[0])):
            raise ModelError(f"Model '{self.image.name}': the loops cannot be closed near this state.")
        return s

    def _in_chart(self, J: Array, s: Array) -> Array:
        """(rows, s) the rows of J along s."""
        found = np.where(self.speed >= 0, J[:, self.speed], 0.0)
        for p, u in self.balls:
            at = np.flatnonzero(self.place == p)
            found[:, at] = J[:, u : u + 3] @ _turning(s[at])
        return found

    def _jacobian(self) -> Array:
        return self.solver.jacobian if self.image.sizes["rows"] else np.zeros((0, self.nu))

    def _violations(self) -> Array:
        c = np.zeros((self.image.sizes["rows"], 2))
        return self.solver.filled(lib.fm_violations, c) if len(c) else c


def name_at(image: ModelImage, at: int) -> str:
    """A name in an image."""
    return str(image.variables.structured.text(at))


def _pivots(A: Array, rows: Array | None = None) -> Indices:
    """Columns of A on which its independent rows stand; rows: their lengths, by default those of A."""
    lengths = np.linalg.norm(A, axis=1) if rows is None else rows
    kept = lengths > 0.0
    if not kept.any() or not A.shape[1]:
        return np.zeros(0, np.int64)
    from scipy.linalg import qr  # late: of all who import fmumbs few need it

    R, order = qr(A[kept] / lengths[kept, None], mode="r", pivoting=True)
    return np.asarray(order[: int((np.abs(np.diag(R)) > INDEPENDENT).sum())], np.int64)


def _least(A: Array, b: Array) -> Array:
    return np.asarray(np.linalg.lstsq(A, b, rcond=INDEPENDENT)[0])


def _turning(v: Array) -> Array:
    """(3, 3) T with w = T v', w in the axes of R exp(v~)."""
    angle = float(np.linalg.norm(v))
    if angle < 1e-3:
        a, b = 0.5 - angle**2 / 24 + angle**4 / 720, 1 / 6 - angle**2 / 120 + angle**4 / 5040
    else:
        a, b = (1.0 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    V = skew(v)
    return np.asarray(np.eye(3) - a * V + b * (V @ V))


def turned(q: Array, v: Array) -> Array:
    """The quaternion w x y z turned by a rotation vector in its moving axes."""
    angle = float(np.linalg.norm(v))
    half = 0.5 * np.sinc(angle / (2 * np.pi)) * v
    w, x = np.cos(0.5 * angle), half
    return np.array([q[0] * w - q[1:] @ x, *(q[0] * x + w * q[1:] + np.cross(q[1:], x))])
