"""Solids drawn by rays: every pixel finds the point of each convex solid that is nearest to the viewer.

In a solid's own axes a ray is l = o + s d, with s towards the viewer. Each surface that bounds it leaves an interval of
s, and the ray hits the solid if their intersection is not empty:

    |l_k| <= h_k                        box, and the ends of a cylinder and a cone
    (l_y / h_y)^2 + (l_z / h_z)^2 <= 1  cylinder along x
    sum (l_k / h_k)^2 <= 1              ellipsoid
    l_y^2 + l_z^2 <= (h_y (h_x - l_x) / (2 h_x))^2   cone with its tip at x = h_x

Only elementary operations, which round the same way everywhere, so that a picture has the same bytes on every machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Colour = tuple[int, int, int]
Kind = Literal["box", "cylinder", "ellipsoid", "cone", "mesh"]
Mesh = tuple[Array, NDArray[np.int64]]

_LIGHT = np.array([-0.4, 0.55, 0.73])  # to the right, upwards, towards the viewer
_LIGHT /= np.sqrt((_LIGHT * _LIGHT).sum())
_DARK, _BRIGHT, _GLOSS = 0.58, 0.45, 0.16  # a surface away from the light, towards it, and a highlight
_AT_ONCE = 1_000_000  # pixels that are tried for triangles
_EDGE = 0.35  # of a colour at the edges of solids


@dataclass(frozen=True)
class Solid:
    """A convex solid: centre (3,) [m] and axes (3, 3) in the world, (3,) half extents along its axes [m].

    front: it is drawn over all that are not, as symbols of joints are over bodies. joined: no edge is drawn between it
    and the solid before it, nor within it, as along a line that bends. opacity: 0 to 1. mesh: corners (n, 3) of a mesh
    in its own axes [m], within its half extents, and (m, 3) indices of the corners of its triangles.
    """

    kind: Kind
    at: Array
    R: Array
    half: tuple[float, float, float]
    colour: Colour
    front: bool = False
    joined: bool = False
    opacity: float = 1.0
    mesh: Mesh | None = None


@dataclass(frozen=True)
class Window:
    """The part of the projection that a picture shows: its centre and the length of a pixel [m], and its pixels."""

    x: float
    y: float
    pixel: float
    width: int
    height: int


def extents(solids: Sequence[Solid], rows: Array) -> Array:
    """(2, 2) least and greatest coordinates to the right and upwards [m] of solids in a view with these rows."""
    at = np.array([one.at for one in solids]) @ rows[:2].T
    reach = np.array([_reach(one.kind, rows[:2] @ one.R * np.array(one.half)) for one in solids])
    return np.array([(at - reach).min(axis=0), (at + reach).max(axis=0)])


def _reach(kind: Kind, axes: Array) -> Array:
    """(..., 2) half extents in the picture of solids whose half axes are the columns of (..., 2, 3)."""
    if kind in ("box", "mesh"):
        return np.asarray(np.abs(axes).sum(axis=-1))
    if kind == "ellipsoid":
        return np.asarray(np.sqrt((axes * axes).sum(axis=-1)))
    return np.asarray(np.abs(axes[..., 0]) + np.sqrt(axes[..., 1] * axes[..., 1] + axes[..., 2] * axes[..., 2]))


def draw(solids: Sequence[Solid], rows: Array, window: Window, samples: int = 2) -> NDArray[np.uint8]:
    """(height, width, 4) colours and opacity of solids in a view with these rows; samples: rays in a pixel's width."""
    fine = Window(window.x, window.y, window.pixel / samples, window.width * samples, window.height * samples)
    shape = (fine.height, fine.width)
    depth = np.full(shape, -np.inf)
    face = np.zeros(shape, np.int32)
    shade = np.zeros((*shape, 3), np.float32)
    order, seen = _in_order(solids, rows), _seen(solids, rows, fine)
    for front in (False, True):
        if front:
            depth[:] = -np.inf
        for i, number in order:
            if solids[i].front == front:
                _draw(solids[i], number, seen.of(i), fine, depth, face, shade)
    width = max(1, samples // 2)
    part = _covered(face, samples, width)
    _outline(face[part], shade[part], width)
    out = np.zeros((window.height, window.width, 4), np.uint8)
    down, across = (slice(one.start // samples, one.stop // samples) for one in part)
    out[down, across] = _averaged(face[part], shade[part], samples)
    return out


@dataclass(frozen=True)
class _Seen:
    """Solids in a view, in pixels, each a row: axes (n, 3, 3), centre (n, 3), half extents (n, 3), the middle from the
    upper left corner and the half extents in the picture (n, 2), and the light in its axes (n, 3).
    """

    axes: Array
    centre: Array
    half: Array
    middle: Array
    reach: Array
    light: Array

    def of(self, i: int) -> "_Seen":
        return _Seen(self.axes[i], self.centre[i], self.half[i], self.middle[i], self.reach[i], self.light[i])


def _seen(solids: Sequence[Solid], rows: Array, window: Window) -> _Seen:
    """All solids at once."""
    R = np.array([solid.R for solid in solids]).reshape(-1, 3, 3)
    at = np.array([solid.at for solid in solids]).reshape(-1, 1, 3)
    one, two, three = (rows[:, k, None] * R[:, k, None] for k in range(3))  # a product in one order of summation,
    axes = _rounded(one + two + three)  # whatever the library for matrices
    centre = _rounded((rows * at).sum(axis=2) / window.pixel)
    half = _rounded(np.array([solid.half for solid in solids]).reshape(-1, 3) / window.pixel)
    origin = _rounded(np.array([window.x, window.y]) / window.pixel)
    x, y = centre[:, 0] - origin[0] + window.width / 2, window.height / 2 - centre[:, 1] + origin[1]
    reach, kinds = np.zeros((len(solids), 2)), np.array([solid.kind for solid in solids])
    for kind in set(kinds.tolist()):
        of_kind = kinds == kind
        reach[of_kind] = _reach(kind, axes[of_kind, :2] * half[of_kind, None])
    light = _LIGHT[0] * axes[:, 0] + _LIGHT[1] * axes[:, 1] + _LIGHT[2] * axes[:, 2]
    return _Seen(axes, centre, half, np.stack([x, y], axis=1), reach, light)


def _in_order(solids: Sequence[Solid], rows: Array) -> list[tuple[int, int]]:
    """Places of solids with their numbers: those that let light through behind the others, the farthest first."""
    numbers = np.cumsum([not one.joined for one in solids]).tolist()
    away = [float((rows[2] * one.at).sum()) if one.opacity < 1.0 else -np.inf for one in solids]
    order = sorted(range(len(solids)), key=lambda i: away[i])  # stable: the opaque ones stay as they are
    return [(i, numbers[i]) for i in order]


def _covered(face: NDArray[np.int32], samples: int, margin: int) -> tuple[slice, slice]:
    """The samples of the least rectangle of whole pixels around all faces, `margin` samples away from them."""
    found = []
    for axis, size in ((1, face.shape[0]), (0, face.shape[1])):
        there = np.flatnonzero(face.any(axis=axis))
        first, last = (int(there[0]) - margin, int(there[-1]) + margin + 1) if len(there) else (0, 0)
        found.append(slice(max(0, first) // samples * samples, min(size, -(-last // samples) * samples)))
    return found[0], found[1]


def _draw(
    one: Solid, number: int, seen: _Seen, window: Window, depth: Array, face: NDArray[np.int32], shade: NDArray[Any]
) -> None:
    """Draws a solid where it is in front of what is there."""
    axes, half = seen.axes, seen.half
    places = (*seen.middle.tolist(), *seen.reach.tolist())
    if not all(map(isfinite, places)):
        return
    x0, y0, across, down = places
    left, right = max(0, int(x0 - across) - 1), min(window.width, int(x0 + across) + 2)
    top, bottom = max(0, int(y0 - down) - 1), min(window.height, int(y0 + down) + 2)
    if left >= right or top >= bottom or half.min() <= 0.0:
        return
    x, y = np.arange(left, right)[None, :] + (0.5 - x0), (y0 - 0.5) - np.arange(top, bottom)[:, None]
    o = [axes[0, k] * x + axes[1, k] * y for k in range(3)]
    if one.mesh is not None:
        s, kind, light = _triangles(one.mesh, axes, window.pixel, x, y)
    else:
        s, kind, light = _SURFACES[one.kind](o, axes[2], half, seen.light)
    here = np.s_[top:bottom, left:right]
    s += seen.centre[2]
    nearer = s > depth[here]
    if one.opacity == 1.0:
        depth[here][nearer] = s[nearer]
    kinds = 0 if one.joined else kind[nearer] if isinstance(kind, np.ndarray) else kind
    behind = np.where((face[here] > 0)[..., None], shade[here], 255.0)[nearer] if one.opacity < 1.0 else 0.0
    face[here][nearer] = 8 * number + kinds
    lit = np.maximum(light[nearer], 0.0)
    gloss = lit * lit
    gloss *= gloss
    gloss *= gloss
    bright = (_DARK + _BRIGHT * lit)[:, None] * np.array(one.colour, float) + (255.0 * _GLOSS * gloss)[:, None]
    shade[here][nearer] = one.opacity * np.minimum(bright, 255.0) + (1.0 - one.opacity) * behind


def _rounded(values: Array) -> Array:
    """To multiples of 2^-20 with an offset, so that round-off of sines, which machines differ in, changes nothing."""
    return np.asarray(np.floor(values * 1048576.0 + 0.3819660112501051) / 1048576.0)


# Surfaces: distance s along the ray, -inf where it misses; number of the face; cosine of the angle to the light ----

Hit = tuple[Array, "NDArray[np.int32] | int", Array]


def _slab(o: Array, d: float, h: float) -> tuple[Array, Array]:
    """Interval of s between two planes."""
    if abs(d) < 1e-9:
        inside = np.abs(o) <= h
        return np.where(inside, -np.inf, np.inf), np.where(inside, np.inf, -np.inf)
    reach = h / abs(d)
    middle = o * (-1.0 / d)
    return middle - reach, middle + reach


def _quadric(a: float, b: Array, c: Array) -> tuple[Array, Array, Array]:
    """Interval of s where a s^2 + 2 b s + c <= 0 for a > 0, and the root of the discriminant."""
    inside = b * b - a * c
    root = np.sqrt(np.maximum(inside, 0.0))
    first, last = (-b - root) / a, (root - b) / a
    missed = inside < 0.0
    first[missed], last[missed] = np.inf, -np.inf
    return first, last, root


def _box(o: list[Array], d: Array, h: Array, light: Array) -> Hit:
    slabs = [_slab(o[k], float(d[k]), float(h[k])) for k in range(3)]
    first = np.maximum(np.maximum(slabs[0][0], slabs[1][0]), slabs[2][0])
    ends = np.array([slab[1] for slab in slabs])
    face = ends.argmin(axis=0).astype(np.int32)
    last = np.minimum(np.minimum(ends[0], ends[1]), ends[2])
    last[last < first] = -np.inf
    return last, face, (np.where(d < 0.0, -1.0, 1.0) * light)[face]


def _ellipsoid(o: list[Array], d: Array, h: Array, light: Array) -> Hit:
    u, v = [o[k] / h[k] for k in range(3)], d / h
    a = float(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    b = u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
    c = u[0] * u[0] + u[1] * u[1] + u[2] * u[2] - 1.0
    _, s, _ = _quadric(a, b, c)
    at = np.where(np.isfinite(s), s, 0.0)
    normal = [(u[k] + at * v[k]) / h[k] for k in range(3)]
    return s, 0, _cosine(normal, light)


def _cylinder(o: list[Array], d: Array, h: Array, light: Array) -> Hit:
    near, far = _slab(o[0], float(d[0]), float(h[0]))
    u, v = [o[k] / h[k] for k in (1, 2)], d[1:] / h[1:]
    a = float(v[0] * v[0] + v[1] * v[1])
    c = u[0] * u[0] + u[1] * u[1] - 1.0
    if a * float(h[1] * h[2]) < 1e-9:  # seen along its axis
        s = np.where(c <= 0.0, far, -np.inf)
        return s, 1, np.full(s.shape, _sign(float(d[0])) * light[0])
    first, last, _ = _quadric(a, u[0] * v[0] + u[1] * v[1], c)
    s = np.minimum(last, far)
    s[s < np.maximum(first, near)] = -np.inf
    side = last <= far
    at = np.where(np.isfinite(s), s, 0.0)
    around = _cosine([np.zeros_like(at), (u[0] + at * v[0]) / h[1], (u[1] + at * v[1]) / h[2]], light)
    return s, np.where(side, 0, 1).astype(np.int32), np.where(side, around, _sign(float(d[0])) * light[0])


def _cone(o: list[Array], d: Array, h: Array, light: Array) -> Hit:
    near, far = _slab(o[0], float(d[0]), float(h[0]))
    k = float(h[1] / (2.0 * h[0]))
    slope = k * k
    a = float(d[1] * d[1] + d[2] * d[2] - slope * d[0] * d[0])
    if abs(a) < 1e-6:
        a = -1e-6
    b = o[1] * d[1] + o[2] * d[2] + slope * d[0] * (h[0] - o[0])
    c = o[1] * o[1] + o[2] * o[2] - slope * (h[0] - o[0]) ** 2
    if a > 0.0:
        first, last, _ = _quadric(a, b, c)
    else:  # seen within its opening: of the two cones that share the tip, the ray leaves or enters this one
        _, upper, root = _quadric(-a, -b, -c)
        lower = (-b + root) / a
        if d[0] > 0.0:
            first, last = np.full_like(lower, -np.inf), lower
        else:
            first, last = (-b - root) / a, np.full_like(upper, np.inf)
    s = np.minimum(last, far)
    s[s < np.maximum(first, near)] = -np.inf
    side = last <= far
    at = np.where(np.isfinite(s), s, 0.0)
    normal = [slope * (h[0] - o[0] - at * d[0]), o[1] + at * d[1], o[2] + at * d[2]]
    return s, np.where(side, 0, 1).astype(np.int32), np.where(side, _cosine(normal, light), -light[0] * 1.0)


def _triangles(mesh: Mesh, axes: Array, pixel: float, x: Array, y: Array) -> Hit:
    """Triangles, seen from both sides. axes: (3, 3) of the mesh in the view; x (1, w), y (h, 1): of the pixels."""
    corners, faces = _rounded(mesh[0] / pixel), mesh[1]
    seen = [axes[k, 0] * corners[:, 0] + axes[k, 1] * corners[:, 1] + axes[k, 2] * corners[:, 2] for k in range(3)]
    column, row, z = (one[faces] for one in (seen[0] - x[0, 0], y[0, 0] - seen[1], seen[2]))
    first, second = (np.stack([one[faces[:, k]] - one[faces[:, 0]] for one in seen]) for k in (1, 2))
    normal = np.cross(first, second, axis=0)
    normal = np.where(normal[2] < 0.0, -normal, normal)
    lit = _cosine(list(normal), _LIGHT)
    s, light = np.full((y.shape[0], x.shape[1]), -np.inf), np.zeros((y.shape[0], x.shape[1]))
    (c0, c1, c2), (r0, r1, r2) = column.T, row.T
    area = (c1 - c0) * (r2 - r0) - (c2 - c0) * (r1 - r0)
    left, top = np.ceil(column.min(axis=1)).astype(int), np.ceil(row.min(axis=1)).astype(int)
    size = np.maximum(np.floor(column.max(axis=1)) - left, np.floor(row.max(axis=1)) - top).astype(int) + 1
    alive = (np.abs(area) > 0.0) & (size > 0)
    width = 1
    while alive.any():  # triangles of about one size together
        now = np.flatnonzero(alive & (size <= width))
        alive[now] = False
        for some in np.array_split(now, max(1, len(now) * width * width // _AT_ONCE)):
            if len(some):
                _fill(s, light, column[some], row[some], z[some], area[some], lit[some], left[some], top[some], width)
        width *= 2
    return s, 0, light


def _fill(
    s: Array, light: Array, column: Array, row: Array, z: Array, area: Array, lit: Array,
    left: NDArray[Any], top: NDArray[Any], width: int,
) -> None:  # fmt: skip
    """Draws triangles of at most `width` pixels where they are the nearest."""
    steps = np.arange(width)
    across, down = left[:, None, None] + steps[None, None], top[:, None, None] + steps[None, :, None]
    weights = []
    for a, b in ((1, 2), (2, 0), (0, 1)):
        ca, cb = column[:, a, None, None], column[:, b, None, None]
        ra, rb = row[:, a, None, None], row[:, b, None, None]
        weights.append(((cb - ca) * (down - ra) - (across - ca) * (rb - ra)) / area[:, None, None])
    inside = (weights[0] >= 0.0) & (weights[1] >= 0.0) & (weights[2] >= 0.0)
    inside &= (across >= 0) & (across < s.shape[1]) & (down >= 0) & (down < s.shape[0])
    depth = sum(weights[k] * z[:, k, None, None] for k in range(3))
    which, *_ = np.nonzero(inside)
    place = np.broadcast_to(down * s.shape[1] + across, inside.shape)[inside]
    depth = np.asarray(depth)[inside]
    np.maximum.at(s.reshape(-1), place, depth)
    shown = s.reshape(-1)[place] == depth
    light.reshape(-1)[place[shown]] = lit[which[shown]]


def _cosine(normal: list[Array], light: Array) -> Array:
    size = np.sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2])
    along = normal[0] * light[0] + normal[1] * light[1] + normal[2] * light[2]
    return np.asarray(along / np.maximum(size, 1e-300))


def _sign(value: float) -> float:
    return -1.0 if value < 0.0 else 1.0


_SURFACES = {"box": _box, "cylinder": _cylinder, "ellipsoid": _ellipsoid, "cone": _cone}


# Pixels ----------------------------------------------------------------------------------------------------------


def _outline(face: NDArray[np.int32], shade: NDArray[Any], width: int) -> None:
    """Darkens the edges of faces, `width` samples wide: where a neighbour has a face of a lower number, or none."""
    edge = np.zeros(face.shape, bool)
    for distance in range(1, width + 1):
        edge[:, :-distance] |= face[:, :-distance] > face[:, distance:]
        edge[:, distance:] |= face[:, distance:] > face[:, :-distance]
        edge[:-distance] |= face[:-distance] > face[distance:]
        edge[distance:] |= face[distance:] > face[:-distance]
    shade[edge] *= _EDGE


def _averaged(face: NDArray[np.int32], shade: NDArray[Any], samples: int) -> NDArray[np.uint8]:
    """Colours and opacity of pixels from those of their samples."""
    height, width = face.shape[0] // samples, face.shape[1] // samples
    parts = (height, samples, width, samples)
    inside = np.zeros((height, width), np.int64)
    there = (face > 0).reshape(parts)
    for i in range(samples):
        for j in range(samples):
            inside += there[:, i, :, j]
    seen = np.nonzero(inside)
    colours = shade.reshape(*parts, 3)
    total = np.zeros((len(seen[0]), 3))
    for i in range(samples):
        for j in range(samples):
            total += colours[seen[0], i, seen[1], j]
    out = np.zeros((height, width, 4), np.uint8)
    out[..., 3] = np.floor(inside * (255.0 / samples**2) + 0.5)
    out[..., :3][seen] = np.floor(total / inside[seen][:, None] + 0.5)
    return out
