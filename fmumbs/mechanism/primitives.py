"""Triangles of simple solids, centred on their frame's origin, their outer sides out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import cos, pi, sin

import numpy as np

from fmumbs.mechanism.triangles import Array, Triangles

_AROUND = 32  # triangles' edges around an axis
_ALONG = 8  # arcs in a quarter of a circle


def box(size: Sequence[float]) -> Triangles:
    """A cuboid with edges of `size` (3,) [m] along x, y, z."""
    corners = np.array(list(product((-0.5, 0.5), repeat=3))) * size
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return Triangles(corners, np.array([t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))], np.int64))


def cylinder(radius: float, length: float) -> Triangles:
    """A cylinder along z [m]."""
    return _revolved([(0.0, -length / 2), (radius, -length / 2), (radius, length / 2), (0.0, length / 2)])


def capsule(radius: float, length: float) -> Triangles:
    """A cylinder of `length` [m] along z with half a ball on each end."""
    arc = [(radius * cos(a), radius * sin(a)) for a in (pi / 2 * k / _ALONG for k in range(_ALONG + 1))]
    upper = [(r, z + length / 2) for r, z in arc]
    lower = [(r, -z) for r, z in reversed(upper)]
    return _revolved(lower + upper if length > 0.0 else lower[:-1] + upper)


def ellipsoid(radii: Sequence[float]) -> Triangles:
    """An ellipsoid with semi-axes (3,) [m] along x, y, z; a ball with three equal ones."""
    ball = capsule(1.0, 0.0)
    return Triangles(ball.vertices * radii, ball.faces)


def _revolved(profile: Sequence[tuple[float, float]]) -> Triangles:
    """The surface that points (r, z) make as they turn about z, from a point of the axis up to another."""
    turns = 2.0 * pi * np.arange(_AROUND) / _AROUND
    rings: list[Array] = [np.stack([r * np.cos(turns), r * np.sin(turns), np.full(_AROUND, z)], 1) for r, z in profile]
    low, high = (np.array([[0.0, 0.0, z]]) for z in (profile[0][1], profile[-1][1]))
    vertices = np.concatenate([low, *rings[1:-1], high])
    here, beside = np.arange(_AROUND), np.roll(np.arange(_AROUND), -1)
    faces = [np.stack([np.zeros_like(here), 1 + beside, 1 + here], 1)]
    for k in range(len(profile) - 3):
        a, b = 1 + k * _AROUND, 1 + (k + 1) * _AROUND
        faces += [np.stack([a + here, a + beside, b + beside], 1), np.stack([a + here, b + beside, b + here], 1)]
    a = 1 + (len(profile) - 3) * _AROUND
    faces.append(np.stack([np.full_like(here, len(vertices) - 1), a + here, a + beside], 1))
    return Triangles(vertices, np.concatenate(faces).astype(np.int64))
