"""Poses of the bodies of an image at positions of its joints, for all instants at once.

A walk over the links of the spanning tree: with X the pose of the parent, each link has

    R = R_parent R0 Rot_z(pitch s q),   r = r_parent + R_parent (r0 + R0 z slide s q)

and balls, joints of several screws, and frames on flexible bodies in their own ways (core/tree). Loops need no
solution, since the coordinates of the tree are known. It runs without an instance of the core.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs.compiler import ModelImage
from fmumbs.compiler.layout import Arrays, lib
from fmumbs.errors import SolverError
from fmumbs.scene import GROUND, Place, SkinLook
from fmumbs.scene.described import Quaternion
from fmumbs.spatial import Rotation
from fmumbs.view.skins import largest

Array = NDArray[np.float64]

_AXES = {lib.FM_LINK_REVOLUTE_X: 0, lib.FM_LINK_REVOLUTE_Y: 1}  # all others turn about their z


@dataclass(frozen=True)
class Poses:
    """Where the bodies are at n instants, in the image's order of bodies.

    r: (n, bodies, 3) origins of their frames in the world [m]. R: (n, bodies, 3, 3) their axes. modal: modal
    coordinates of the flexible bodies, (n, modes) by the body's index. reached: what largest() has found.
    """

    r: Array
    R: Array
    modal: dict[int, Array]
    reached: dict[int, float] = field(default_factory=dict)

    def largest(self, body: int, skin: SkinLook) -> float:
        """The largest displacement of the surface of a flexible body at any instant [m]."""
        if body not in self.reached:
            self.reached[body] = largest(skin, self.modal[body])
        return self.reached[body]

    def of(self, place: Place) -> tuple[Array, Array]:
        """(n, 3) origin [m] and (n, 3, 3) axes of a frame of the scene in the world."""
        own, at = matrix(place.axes), np.array(place.at)
        if place.body == GROUND:
            return np.tile(at, (len(self.r), 1)), np.tile(own, (len(self.r), 1, 1))
        R, r = self.R[:, place.body], self.r[:, place.body]
        if not place.shapes:
            return r + R @ at, R @ own
        moved = self.modal[place.body] @ np.array(place.shapes)
        turned, arm = _of_vectors(moved[:, 3:]), np.array(place.arm)
        return r + _rotate(R, at + moved[:, :3] + (turned @ arm - arm)), R @ turned @ own

    def origins(self, places: Sequence[Place]) -> Array:
        """(n, places, 3) origins [m] of frames in the world: those of of(), of all places that do not bend at once."""
        found = np.empty((len(self.r), len(places), 3))
        fixed = [i for i, place in enumerate(places) if place.body != GROUND and not place.shapes]
        body = [places[i].body for i in fixed]
        at = np.array([places[i].at for i in fixed]).reshape(-1, 3)
        found[:, fixed] = self.r[:, body] + _rotate(self.R[:, body], at)
        for i in set(range(len(places))).difference(fixed):
            found[:, i] = self.of(places[i])[0]
        return found

    @property
    def quaternions(self) -> Array:
        """(n, bodies, 4) w x y z of R, without jumps of sign between instants."""
        q = _quaternions(self.R)
        if len(q) > 1:
            turned = np.cumprod(np.where((q[1:] * q[:-1]).sum(axis=-1) < 0.0, -1.0, 1.0), axis=0)
            q[1:] *= turned[..., None]
        return q


@lru_cache(1024)  # most places of a mechanism have the axes of their bodies
def matrix(quaternion: Quaternion) -> Array:
    """(3, 3) axes of a unit quaternion, not to be written to."""
    return Rotation.quaternion(*quaternion).matrix


def poses(image: ModelImage, positions: ArrayLike) -> Poses:
    """Poses at positions (n, positions) or (positions,) of the tree, in the image's order, as Solver.positions gives
    them: for each joint q, a quaternion w x y z, or x y z w x y z, then eta; then q of the flexible body on it.

    Raises SolverError for another number of positions, and for one that is not finite.
    """
    p = np.atleast_2d(np.asarray(positions, float))
    if p.ndim != 2 or p.shape[1] != image.sizes["positions"]:
        raise SolverError(f"'{image.name}' has {image.sizes['positions']} positions, not {p.shape[-1]}. Give them all.")
    if len(bad := np.argwhere(~np.isfinite(p))):
        row, column = bad[0].tolist()
        raise SolverError(
            f"'{image.name}': position {column + 1} is {p[row, column]} in instant {row}, which cannot be drawn. Leave "
            "that instant out."
        )
    a = image.arrays
    R, r = _links(a, p)
    link = a["body_link"]
    R_LB, r_LB = a["body_R"].reshape(-1, 3, 3), a["body_r"].reshape(-1, 3)
    modal = {int(np.flatnonzero(link == at)[0]): _modal(a, i, p) for i, at in enumerate(a["modal_link"].tolist())}
    return Poses(r[:, link] + _rotate(R[:, link], r_LB), R[:, link] @ R_LB, modal)


def start_positions(image: ModelImage) -> Array:
    """(positions,) the start values, before assembly; balls are normalised."""
    p = np.array(image.arrays["start_p"], float)
    for i in np.flatnonzero(image.arrays["link_kind"] == lib.FM_LINK_SPHERICAL).tolist():
        at = int(image.arrays["link_p"][i])
        p[at : at + 4] /= np.linalg.norm(p[at : at + 4]) or 1.0
    return p


def _links(a: Arrays, p: Array) -> tuple[Array, Array]:
    """Axes (n, links, 3, 3) and origins (n, links, 3) of the links in the world."""
    n, links = len(p), len(a["link_kind"])
    R, r = np.empty((n, links, 3, 3)), np.empty((n, links, 3))
    R0, r0 = a["link_R"].reshape(-1, 3, 3), a["link_r"].reshape(-1, 3)
    kind, parent, first, sign = (a[f"link_{what}"].tolist() for what in ("kind", "parent", "p", "sign"))
    reversed_ = a["joint_reversed"][a["link_joint"]].tolist()
    for i in range(links):
        q = p[:, first[i]] if first[i] >= 0 else np.zeros(n)
        if kind[i] == lib.FM_LINK_SPHERICAL:
            ball = p[:, first[i] : first[i] + 4] * ((1.0, -1.0, -1.0, -1.0) if reversed_[i] else (1.0,) * 4)
            own, at = R0[i] @ _matrices(ball), np.broadcast_to(r0[i], (n, 3))
        elif kind[i] == lib.FM_LINK_GENERAL:
            own, at = _general(a, int(a["link_general"][i]), p, first[i])
            own, at = R0[i] @ own, r0[i] + at @ R0[i].T
        elif kind[i] == lib.FM_LINK_MODAL:
            own, at = _floating(a, i, p)
        elif kind[i] == lib.FM_LINK_FRAME:
            slid, turned = _bent(a, int(a["link_frame"][i]), int(a["link_modal"][i]), p)
            own, at = turned @ R0[i], r0[i] + slid
        else:
            pitch, slide = _screw(a, i, kind[i])
            own = R0[i] @ _about(_AXES.get(kind[i], 2), sign[i] * pitch * q)
            at = r0[i] + np.outer(sign[i] * slide * q, R0[i][:, 2])
        if parent[i] < 0:
            R[:, i], r[:, i] = own, at
        else:
            R[:, i] = R[:, parent[i]] @ own
            r[:, i] = r[:, parent[i]] + _rotate(R[:, parent[i]], at)
    return R, r


def _screw(a: Arrays, i: int, kind: int) -> tuple[float, float]:
    """Rotation and translation of a link per unit of its position."""
    if kind in (lib.FM_LINK_SCREW, lib.FM_LINK_DRIVEN):
        return float(a["link_screw"][i, 2]), float(a["link_screw"][i, 5])
    if kind == lib.FM_LINK_PRISMATIC:
        return 0.0, 1.0
    return (0.0 if kind == lib.FM_LINK_FIXED else 1.0), 0.0


def _general(a: Arrays, which: int, p: Array, at: int) -> tuple[Array, Array]:
    """Pose of the last of several screws, and the origin of M, with respect to the first."""
    first, count = int(a["general_screw"][which]), int(a["general_screws"][which])
    excited = a["screw_excited"][first : first + count] != 0
    place = np.where(excited, np.cumsum(excited) - 1 + np.count_nonzero(~excited), np.cumsum(~excited) - 1)
    R, r = np.broadcast_to(np.eye(3), (len(p), 3, 3)), np.zeros((len(p), 3))
    for k, own in enumerate(range(first, first + count)):
        q, R0 = p[:, at + place[k]], a["screw_R"][own].reshape(3, 3)
        r = r + _rotate(R, a["screw_r"][own] + np.outer(a["screw_slide"][own] * q, R0[:, 2]))
        R = R @ (R0 @ _about(2, a["screw_pitch"][own] * q))
    return R, r + _rotate(R, np.broadcast_to(a["general_tail"][which], r.shape))


def _modal(a: Arrays, which: int, p: Array) -> Array:
    """(n, modes) coordinates of a flexible body."""
    at = int(a["link_p"][a["modal_link"][which]])
    return p[:, at : at + int(a["modal_shapes"][which])]


def _bent(a: Arrays, frame: int, which: int, p: Array) -> tuple[Array, Array]:
    """Translation (n, 3) and rotation (n, 3, 3) of a frame by the modes, in the floating frame."""
    q = _modal(a, which, p)
    n, more = q.shape[1], int(a["modal_seconds"][which])
    first, at = int(a["frame_first"][frame]), int(a["modal_follower"][which])
    C = a["follower"][at : at + more * n * n].reshape(more, n, n)
    bent = np.hstack([q, np.einsum("ajk,tj,tk->ta", C, q, q) / 2])
    moved = bent @ a["frame_shape"][first : first + n + more]
    return moved[:, :3], _of_vectors(moved[:, 3:])


def _floating(a: Arrays, i: int, p: Array) -> tuple[Array, Array]:
    """The floating frame of a flexible body in its parent: the frame that is attached there moves in the floating one.

    With x and E the pose of that frame, R E = R0 and r + R x = r0 + R0 x0.
    """
    R0, r0 = a["link_R"][i].reshape(3, 3), a["link_r"][i]
    frame, which = int(a["link_frame"][i]), int(a["link_modal"][i])
    if frame < 0:
        return np.broadcast_to(R0, (len(p), 3, 3)), np.broadcast_to(r0, (len(p), 3))
    slid, turned = _bent(a, frame, which, p)
    R, x0 = R0 @ np.swapaxes(turned, 1, 2), a["modal_r"][which]
    return R, r0 + R0 @ x0 - _rotate(R, x0 + slid)


# Rotations --------------------------------------------------------------------------------------------------


def _rotate(R: Array, v: Array) -> Array:
    """R v for (..., 3, 3) and (..., 3)."""
    out: Array = np.matmul(R, v[..., None])[..., 0]
    return out


def _about(axis: int, angle: Array) -> Array:
    """(n, 3, 3) rotations about a coordinate axis."""
    c, s = np.cos(angle), np.sin(angle)
    R, i, j = np.zeros((len(angle), 3, 3)), (axis + 1) % 3, (axis + 2) % 3
    R[:, axis, axis] = 1.0
    R[:, i, i], R[:, j, j], R[:, i, j], R[:, j, i] = c, c, -s, s
    return R


def _matrices(q: Array) -> Array:
    """(n, 3, 3) rotations of quaternions (n, 4), w x y z."""
    w, x, y, z = (q / np.linalg.norm(q, axis=1)[:, None]).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def _of_vectors(theta: Array) -> Array:
    """(n, 3, 3) rotations of rotation vectors (n, 3)."""
    half = np.linalg.norm(theta, axis=1) / 2.0
    return _matrices(np.column_stack([np.cos(half), np.sinc(half / np.pi)[:, None] / 2.0 * theta]))


def _quaternions(R: Array) -> Array:
    """(..., 4) w x y z of rotations (..., 3, 3); the largest component is positive."""
    d = np.einsum("...ii->...i", R)
    squares = np.stack(
        [1 + d.sum(-1), *(1 + 2 * d[..., k] - d.sum(-1) for k in range(3))], axis=-1
    )  # four times those of w, x, y, z
    x, y, z = (R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1])  # 4 w x, ...
    xy, xz, yz = (R[..., i, j] + R[..., j, i] for i, j in ((0, 1), (0, 2), (1, 2)))  # 4 x y, ...
    products = np.stack(
        [
            np.stack([squares[..., 0], x, y, z], -1),
            np.stack([x, squares[..., 1], xy, xz], -1),
            np.stack([y, xy, squares[..., 2], yz], -1),
            np.stack([z, xz, yz, squares[..., 3]], -1),
        ],
        axis=-2,
    )
    best = np.argmax(squares, axis=-1)
    q = np.take_along_axis(products, best[..., None, None], axis=-2)[..., 0, :]
    out: Array = q / np.linalg.norm(q, axis=-1)[..., None]
    return out
