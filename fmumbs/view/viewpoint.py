"""From where a mechanism is seen: face-on if all of it moves in one plane, else from above at an angle."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, radians, sin

import numpy as np
from numpy.typing import NDArray

from fmumbs.scene import Place, Scene
from fmumbs.view.poses import Poses

Array = NDArray[np.float64]

AZIMUTH, ELEVATION = radians(-60.0), radians(25.0)  # of the viewer of a mechanism in space
_PARALLEL = 1e-6
_FLAT = 0.25  # a planar mechanism that is deeper than this, relative to its size, is seen at an angle


@dataclass(frozen=True)
class Projection:
    """An orthographic projection.

    rows: (3, 3) unit vectors in the world to the right, upwards and towards the viewer. up: (3,) unit vector in the
    world against gravity. face_on: whether the viewer looks along the normal of a planar mechanism.
    """

    rows: Array
    up: Array
    face_on: bool

    def project(self, points: Array) -> Array:
        """(..., 3) right, up and towards the viewer [m] of (..., 3) points in the world [m]."""
        return np.asarray((points[..., None, :] * self.rows).sum(axis=-1))


def viewpoint(scene: Scene, poses: Poses) -> Projection:
    """The view of a mechanism at the first of these poses."""
    normal = _normal(scene, poses)
    up = _up(scene, normal)
    if normal is None:
        first = np.eye(3)[0 if abs(up[0]) < 0.9 else 1]
        first = _unit(first - (first @ up) * up)
        aside = cos(AZIMUTH) * first + sin(AZIMUTH) * np.cross(up, first)
        towards = cos(ELEVATION) * aside + sin(ELEVATION) * up
    else:
        towards = normal
    right = _unit(np.cross(up, towards))
    if normal is not None and right[np.abs(right).argmax()] < 0.0:
        right, towards = -right, -towards
    return Projection(np.array([right, np.cross(towards, right), towards]) + 0.0, up, normal is not None)


def _up(scene: Scene, normal: Array | None) -> Array:
    """Against gravity, as far as that lies in the plane; else z, or y in the plane of x and y."""
    down = np.array(scene.gravity)
    size = float(np.linalg.norm(down))
    for up in (-down / (size or 1.0), np.eye(3)[2], np.eye(3)[1]):
        inside = up if normal is None else up - (up @ normal) * normal
        if np.linalg.norm(inside) > 0.1:
            return _unit(inside)
    raise AssertionError("of two perpendicular axes one is not along the normal")


def _normal(scene: Scene, poses: Poses) -> Array | None:
    """The normal of the plane in which the mechanism moves, None if it moves in space, or is deep."""
    turns, slides, space = _axes(scene, poses)
    if space or any(np.linalg.norm(np.cross(turns[0], turn)) > _PARALLEL for turn in turns):
        return None
    at = _points(scene, poses)
    if turns:
        normal: Array | None = turns[0]
    else:
        normal = _across(slides, at, np.array(scene.gravity))
    if normal is None:
        return None
    if any(abs(normal @ slide) > _PARALLEL for slide in slides):
        return None
    deep = np.ptp(at @ normal) if len(at) else 0.0
    wide = max(np.ptp(at, axis=0).max(), 1e-300) if len(at) else 1.0
    return normal if deep <= _FLAT * wide else None


def _axes(scene: Scene, poses: Poses) -> tuple[list[Array], list[Array], bool]:
    """Axes in the world that the plane is perpendicular to, those that it contains, and whether there is none."""
    turns: list[Array] = []
    slides: list[Array] = []
    for joint in scene.joints:
        for symbol in joint.symbols:
            if symbol.kind in ("helix", "sphere"):
                return [], [], True
            axis = poses.of(joint.F if symbol.on == "F" else joint.M)[1][0] @ np.array(symbol.axis)
            if symbol.kind in ("turn", "disc"):
                turns.append(axis)
            elif symbol.kind in ("slide", "line", "plane"):
                slides.append(axis)
    balls = any(symbol.kind == "ball" for joint in scene.joints for symbol in joint.symbols)
    return turns, slides, balls and bool(turns or slides)


def _across(slides: list[Array], at: Array, gravity: Array) -> Array | None:
    """A direction perpendicular to all slides, or to the points of a mechanism of balls and rods."""
    vectors = np.array(slides) if slides else at - at[:1]
    size = float(np.abs(vectors).max(initial=0.0))
    if size == 0.0:
        return None
    singular, rows = np.linalg.svd(vectors / size)[1:]
    rank = int((singular > 1e-6 * singular[0]).sum())
    if rank > 2:
        return None
    if rank == 2:
        return np.asarray(rows[2])
    if not slides:
        return None  # a ball, and all points on one line
    line = rows[0]
    aside = np.cross(line, gravity)
    if np.linalg.norm(aside) <= _PARALLEL * max(1.0, float(np.linalg.norm(gravity))):
        aside = np.cross(line, np.eye(3)[0 if abs(line[0]) < 0.9 else 2])
    return _unit(aside)


def _points(scene: Scene, poses: Poses) -> Array:
    """(n, 3) centres of mass of the bodies, and origins of the joints' frames on them."""
    coms = [poses.r[0, i] + poses.R[0, i] @ np.array(body.com) for i, body in enumerate(scene.bodies) if body.is_seen]
    return np.concatenate([np.array(coms).reshape(-1, 3), poses.origins([*_ends(scene)])[0]])


def _ends(scene: Scene) -> Iterator[Place]:
    for joint in scene.joints:
        yield from (joint.F, joint.M)


def _unit(v: Array) -> Array:
    return np.asarray(v / np.sqrt((v * v).sum()))
