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
from dataclasses import dataclass, fields
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
_AT_ONCE = 60_000  # samples whose arrays stay in a cache of 2 MB
_MOST_OF_TRIANGLES = 1_000_000  # samples that are tried for triangles
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
    R, half = np.array([one.R for one in solids]), np.array([one.half for one in solids])
    reach = _reaches(np.array([one.kind for one in solids]), (rows[:2] @ R) * half[:, None])
    return np.array([(at - reach).min(axis=0), (at + reach).max(axis=0)])


def _reaches(kinds: NDArray[np.str_], axes: Array) -> Array:
    """(n, 2) half extents in the picture of solids of these kinds with half axes (n, 2, 3)."""
    reach = np.zeros((len(kinds), 2))
    for kind in set(kinds.tolist()):
        of_kind = kinds == kind
        reach[of_kind] = _reach(kind, axes[of_kind])
    return reach


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
    canvas, seen = _Canvas(fine.width, fine.height), _seen(solids, rows, fine)
    for front in (False, True):
        canvas.depth[:] = -np.inf
        here = (seen.front == front) & (seen.size.min(axis=0) > 0)
        for some in _parts(np.flatnonzero(here & (seen.opacity == 1.0)), seen):
            _draw_opaque(_hits(some, seen, canvas), seen, canvas)
        clear = np.flatnonzero(here & (seen.opacity < 1.0))
        for some in _parts(clear[np.argsort(seen.unrounded[clear], kind="stable")], seen):
            _draw_clear(_hits(some, seen, canvas), seen, canvas)
    face, shade = canvas.face.reshape(fine.height, fine.width), canvas.shade.reshape(fine.height, fine.width, 3)
    width = max(1, samples // 2)
    part = _covered(face, samples, width)
    _outline(face[part], shade[part], width)
    out = np.zeros((window.height, window.width, 4), np.uint8)
    down, across = (slice(one.start // samples, one.stop // samples) for one in part)
    out[down, across] = _averaged(face[part], shade[part], samples)
    return out


class _Canvas:
    """Samples row by row: how far towards the viewer the nearest opaque solid is, the face that is seen, its colour."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.depth = np.empty(width * height)
        self.face = np.zeros(width * height, np.int32)
        self.shade = np.zeros((width * height, 3), np.float32)


@dataclass(frozen=True)
class _Seen:
    """Solids in a view, in pixels, each a column: axes (3, 3, n), depth, which is how far towards the viewer its centre
    is (n,), half extents (3, n), middle from the upper left corner (2, n), first column and row of the rectangle around
    it (2, n), numbers of its columns and rows (2, n), light in its axes (3, n), number of its first face (n,), surface
    of _SURFACES (n,), the depth before it is rounded [m] (n,), and what Solid has.
    """

    axes: Array
    depth: Array
    half: Array
    middle: Array
    corner: NDArray[np.int64]
    size: NDArray[np.int64]
    light: Array
    face: NDArray[np.int64]
    surface: NDArray[np.str_]
    unrounded: Array
    colour: Array
    opacity: Array
    front: NDArray[np.bool_]
    joined: NDArray[np.bool_]
    meshes: Sequence[Mesh | None]
    pixel: float


def _seen(solids: Sequence[Solid], rows: Array, window: Window) -> _Seen:
    """All solids at once."""
    R = np.array([solid.R for solid in solids]).reshape(-1, 3, 3)
    at = np.array([solid.at for solid in solids]).reshape(-1, 1, 3)
    one, two, three = (rows[:, k, None] * R[:, k, None] for k in range(3))  # a product in one order of summation,
    axes = _rounded(one + two + three)  # whatever the library for matrices
    places = (rows * at).sum(axis=2)
    centre = _rounded(places / window.pixel)
    half = _rounded(np.array([solid.half for solid in solids]).reshape(-1, 3) / window.pixel)
    origin = _rounded(np.array([window.x, window.y]) / window.pixel)
    middle = np.stack([centre[:, 0] - origin[0] + window.width / 2, window.height / 2 - centre[:, 1] + origin[1]])
    kinds = np.array([solid.kind for solid in solids], "<U9")
    reach = _reaches(kinds, axes[:, :2] * half[:, None])
    corner, size = _rectangles(middle, reach.T, half, window)
    light = _LIGHT[0] * axes[:, 0] + _LIGHT[1] * axes[:, 1] + _LIGHT[2] * axes[:, 2]
    joined = np.array([solid.joined for solid in solids], bool)
    there = size.min(axis=0) > 0
    round_, pointed = (np.flatnonzero(there & (kinds == kind)) for kind in ("cylinder", "cone"))
    d, h = axes[round_, 2].T, half[round_].T
    kinds[round_[_across(d, h) * (h[1] * h[2]) < 1e-9]] = "disc"
    kinds[pointed[_opening(axes[pointed, 2].T, half[pointed].T)[1] <= 0.0]] = "tip"
    return _Seen(
        axes.transpose(1, 2, 0).copy(), centre[:, 2].copy(), half.T.copy(), middle, corner, size, light.T.copy(),
        8 * np.cumsum(~joined), kinds, places[:, 2],
        np.array([solid.colour for solid in solids], float).reshape(-1, 3),
        np.array([solid.opacity for solid in solids], float), np.array([solid.front for solid in solids], bool), joined,
        [solid.mesh for solid in solids], window.pixel,
    )  # fmt: skip


def _rectangles(middle: Array, reach: Array, half: Array, window: Window) -> tuple[NDArray[Any], NDArray[Any]]:
    """First columns and rows of the rectangles around solids, and their numbers, 0 where nothing is drawn; (2, n)."""
    most = np.array([[window.width], [window.height]])
    there = np.isfinite(middle).all(axis=0) & np.isfinite(reach).all(axis=0) & (half.min(axis=1) > 0.0)
    low, high = (np.where(there, np.clip(middle + by, -9.0, most + 9.0), 0.0).astype(int) for by in (-reach, reach))
    corner = np.maximum(0, low - 1)
    return corner, np.where(there, np.maximum(0, np.minimum(most, high + 2) - corner), 0)


def _covered(face: NDArray[np.int32], samples: int, margin: int) -> tuple[slice, slice]:
    """The samples of the least rectangle of whole pixels around all faces, `margin` samples away from them."""
    found = []
    for axis, size in ((1, face.shape[0]), (0, face.shape[1])):
        there = np.flatnonzero(face.any(axis=axis))
        first, last = (int(there[0]) - margin, int(there[-1]) + margin + 1) if len(there) else (0, 0)
        found.append(slice(max(0, first) // samples * samples, min(size, -(-last // samples) * samples)))
    return found[0], found[1]


@dataclass(frozen=True)
class _Hits:
    """Rays that meet solids in front of what is there, (n,) each: the solid's turn among those that are drawn, its
    index, the sample, how far towards the viewer it is met, the number of the face, cosine of the angle to the light.
    """

    turn: NDArray[np.int64]
    solid: NDArray[np.int64]
    place: NDArray[np.int64]
    depth: Array
    face: NDArray[np.int64]
    light: Array

    def of(self, which: NDArray[Any]) -> "_Hits":
        return _Hits(*(getattr(self, one.name)[which] for one in fields(self)))


def _parts(order: NDArray[np.int64], seen: _Seen) -> list[NDArray[np.int64]]:
    """Solids in their order, in parts of about _AT_ONCE samples."""
    part = np.cumsum(seen.size[0, order] * seen.size[1, order]) // _AT_ONCE
    return np.split(order, np.flatnonzero(np.diff(part)) + 1) if len(order) else []


def _hits(some: NDArray[np.int64], seen: _Seen, canvas: _Canvas) -> _Hits:
    """Where some solids are in front of what is there."""
    found = []
    surfaces = seen.surface[some]
    for surface in dict.fromkeys(surfaces.tolist()):
        turns = np.flatnonzero(surfaces == surface)
        if surface == "mesh":
            found += [_of_mesh(int(turn), int(some[turn]), seen, canvas) for turn in turns]
        else:
            found.append(_of_surface(surface, turns, some[turns], seen, canvas))
    return found[0] if len(found) == 1 else _Hits(*(
        np.concatenate([getattr(one, each.name) for one in found]) for each in fields(_Hits)
    ))  # fmt: skip


def _of_surface(
    surface: str, turns: NDArray[np.int64], solids: NDArray[np.int64], seen: _Seen, canvas: _Canvas
) -> _Hits:
    """Hits of solids with one kind of surface: the samples of all in one row."""
    axes, d, h = seen.axes[:, :, solids], seen.axes[2][:, solids], seen.half[:, solids]
    (left, top), (width, height), (x0, y0) = seen.corner[:, solids], seen.size[:, solids], seen.middle[:, solids]
    line = np.repeat(np.arange(len(solids)), height)  # the solid of each row of a rectangle
    row = np.arange(len(line)) - np.repeat(np.cumsum(height) - height - top, height)
    long = width[line]
    begin = np.cumsum(long) - long
    y = (y0 - 0.5)[line] - row
    own, count = np.repeat(line, long), np.arange(long.sum())
    place = count + np.repeat(row * canvas.width + left[line] - begin, long)
    x = count + np.repeat(left[line] - begin, long) + (0.5 - x0)[own]
    o = np.array([axes[0, k][own] * x + np.repeat(axes[1, k][line] * y, long) for k in range(3)])
    distance, cosine = _SURFACES[surface]
    s, face = distance(o, own, d, h)
    depth = s + seen.depth[solids][own]
    near = np.flatnonzero(depth > canvas.depth[place])
    o, own, s, face = o[:, near], own[near], s[near], face[near]
    light = cosine(o, own, s, face, d, h, seen.light[:, solids])
    return _Hits(turns[own], solids[own], place[near], depth[near], face, light)


def _of_mesh(turn: int, solid: int, seen: _Seen, canvas: _Canvas) -> _Hits:
    """Hits of a mesh."""
    (left, top), (width, height), (x0, y0) = seen.corner[:, solid], seen.size[:, solid], seen.middle[:, solid]
    columns, rows = np.arange(left, left + width)[None, :], np.arange(top, top + height)[:, None]
    mesh = seen.meshes[solid]
    assert mesh is not None
    s, light = _triangles(mesh, seen.axes[:, :, solid], seen.pixel, columns + (0.5 - x0), (y0 - 0.5) - rows)
    depth, place = (s + seen.depth[solid]).ravel(), (rows * canvas.width + columns).ravel()
    near = np.flatnonzero(depth > canvas.depth[place])
    same = np.zeros_like(near)
    return _Hits(same + turn, same + solid, place[near], depth[near], same, light.ravel()[near])


def _draw_opaque(hits: _Hits, seen: _Seen, canvas: _Canvas) -> None:
    """Draws the nearest hit of each sample, the first of those that are equally near."""
    np.maximum.at(canvas.depth, hits.place, hits.depth)
    nearest = np.flatnonzero(hits.depth == canvas.depth[hits.place])
    last_first = np.argsort(-hits.turn[nearest], kind="stable")
    shown = hits.of(nearest[last_first])
    canvas.face[shown.place] = _faces(shown, seen)
    canvas.shade[shown.place] = _colours(shown, seen)


def _draw_clear(hits: _Hits, seen: _Seen, canvas: _Canvas) -> None:
    """Lays all hits of each sample over one another in turn."""
    hits = hits.of(np.lexsort((hits.turn, hits.place)))
    count = np.arange(len(hits.place))
    first = np.diff(hits.place, prepend=-1) != 0
    over = count - np.maximum.accumulate(np.where(first, count, 0))  # how many hits of the sample come before
    for k in range(int(over.max(initial=-1)) + 1):
        layer = hits.of(np.flatnonzero(over == k))
        opacity, place = seen.opacity[layer.solid][:, None], layer.place
        behind = np.where((canvas.face[place] > 0)[:, None], canvas.shade[place], np.float32(255.0))
        canvas.face[place] = _faces(layer, seen)
        canvas.shade[place] = opacity * _colours(layer, seen) + (1.0 - opacity).astype(np.float32) * behind


def _faces(hits: _Hits, seen: _Seen) -> NDArray[np.int64]:
    """Numbers of faces; the faces of a solid that is joined to the one before are not told apart."""
    return np.asarray(seen.face[hits.solid] + np.where(seen.joined[hits.solid], 0, hits.face))


def _colours(hits: _Hits, seen: _Seen) -> Array:
    """(n, 3) colours in the light."""
    lit = np.maximum(hits.light, 0.0)
    gloss = lit * lit
    gloss *= gloss
    gloss *= gloss
    bright = (_DARK + _BRIGHT * lit)[:, None] * seen.colour[hits.solid] + (255.0 * _GLOSS * gloss)[:, None]
    return np.asarray(np.minimum(bright, 255.0))


def _rounded(values: Array) -> Array:
    """To multiples of 2^-20 with an offset, so that round-off of sines, which machines differ in, changes nothing."""
    return np.asarray(np.floor(values * 1048576.0 + 0.3819660112501051) / 1048576.0)


# Surfaces: of n rays o (3, n), each to the solid `own` of those with the view's direction d (3, m) and half extents h
# (3, m) in their axes: distance s along the ray, -inf where it misses, and the number of the face; then, of rays that
# hit, the cosine of the angle to the light (3, m) ---------------------------------------------------------------

Owners = NDArray[np.int64]
Faces = NDArray[np.int64]


def _slab(o: Array, own: Owners, d: Array, h: Array) -> tuple[Array, Array]:
    """Interval of s between two planes."""
    along = np.abs(d) < 1e-9
    d = np.where(along, 1.0, d)
    reach, slope = h / np.abs(d), -1.0 / d
    middle, reach = o * slope[own], reach[own]
    near, far = middle - reach, middle + reach
    if along.any():
        parallel = along[own]
        inside = np.abs(o[parallel]) <= h[own[parallel]]
        near[parallel], far[parallel] = np.where(inside, -np.inf, np.inf), np.where(inside, np.inf, -np.inf)
    return near, far


def _quadric(a: Array, b: Array, c: Array) -> tuple[Array, Array, Array]:
    """Interval of s where a s^2 + 2 b s + c <= 0 for a > 0, and the root of the discriminant."""
    inside = b * b - a * c
    root = np.sqrt(np.maximum(inside, 0.0))
    first, last = (-b - root) / a, (root - b) / a
    missed = inside < 0.0
    first[missed], last[missed] = np.inf, -np.inf
    return first, last, root


def _box(o: Array, own: Owners, d: Array, h: Array) -> tuple[Array, Faces]:
    slabs = [_slab(o[k], own, d[k], h[k]) for k in range(3)]
    first = np.maximum(np.maximum(slabs[0][0], slabs[1][0]), slabs[2][0])
    ends = np.array([slab[1] for slab in slabs])
    last = np.minimum(np.minimum(ends[0], ends[1]), ends[2])
    last[last < first] = -np.inf
    return last, ends.argmin(axis=0)


def _box_light(o: Array, own: Owners, s: Array, face: Faces, d: Array, h: Array, light: Array) -> Array:
    return np.asarray((_sign(d) * light)[face, own])


def _ellipsoid(o: Array, own: Owners, d: Array, h: Array) -> tuple[Array, Faces]:
    u, v = o / h[:, own], d / h
    a = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    v = v[:, own]
    b = u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
    c = u[0] * u[0] + u[1] * u[1] + u[2] * u[2] - 1.0
    _, s, _ = _quadric(a[own], b, c)
    return s, np.zeros(len(s), int)


def _ellipsoid_light(o: Array, own: Owners, s: Array, face: Faces, d: Array, h: Array, light: Array) -> Array:
    at, v, h = _finite(s), (d / h)[:, own], h[:, own]
    normal = [(o[k] / h[k] + at * v[k]) / h[k] for k in range(3)]
    return _cosine(normal, light[:, own])


def _across(d: Array, h: Array) -> Array:
    """(m,) squares of the directions across cylinders, in their radii."""
    v = d[1:] / h[1:]
    return np.asarray(v[0] * v[0] + v[1] * v[1])


def _cylinder(o: Array, own: Owners, d: Array, h: Array) -> tuple[Array, Faces]:
    near, far = _slab(o[0], own, d[0], h[0])
    u, v = o[1:] / h[1:, own], (d[1:] / h[1:])[:, own]
    c = u[0] * u[0] + u[1] * u[1] - 1.0
    first, last, _ = _quadric(_across(d, h)[own], u[0] * v[0] + u[1] * v[1], c)
    return _bounded(first, last, near, far)


def _cylinder_light(o: Array, own: Owners, s: Array, face: Faces, d: Array, h: Array, light: Array) -> Array:
    at, (v1, v2) = _finite(s), (d[1:] / h[1:])[:, own]
    _, h1, h2 = h[:, own]
    around = _cosine([np.zeros_like(at), (o[1] / h1 + at * v1) / h1, (o[2] / h2 + at * v2) / h2], light[:, own])
    return np.where(face == 0, around, (_sign(d[0]) * light[0])[own])


def _disc(o: Array, own: Owners, d: Array, h: Array) -> tuple[Array, Faces]:
    """A cylinder that is seen along its axis."""
    _, far = _slab(o[0], own, d[0], h[0])
    u = o[1:] / h[1:, own]
    c = u[0] * u[0] + u[1] * u[1] - 1.0
    return np.where(c <= 0.0, far, -np.inf), np.ones(len(far), int)


def _opening(d: Array, h: Array) -> tuple[Array, Array]:
    """(m,) squares of the slopes of cones, and a of _quadric, negative for those that are seen within their opening."""
    k = h[1] / (2.0 * h[0])
    slope = k * k
    a = d[1] * d[1] + d[2] * d[2] - slope * d[0] * d[0]
    return slope, np.where(np.abs(a) < 1e-6, -1e-6, a)


def _cone_terms(o: Array, own: Owners, d: Array, h: Array) -> tuple[Array, Array, Array]:
    """a, b and c of _quadric."""
    slope, a = _opening(d, h)
    tip = h[0, own] - o[0]
    b = o[1] * d[1, own] + o[2] * d[2, own] + (slope * d[0])[own] * tip
    return a[own], b, o[1] * o[1] + o[2] * o[2] - slope[own] * tip**2


def _cone(o: Array, own: Owners, d: Array, h: Array) -> tuple[Array, Faces]:
    first, last, _ = _quadric(*_cone_terms(o, own, d, h))
    return _bounded(first, last, *_slab(o[0], own, d[0], h[0]))


def _tip(o: Array, own: Owners, d: Array, h: Array) -> tuple[Array, Faces]:
    """A cone seen within its opening: of the two cones that share the tip, the ray leaves or enters this one."""
    a, b, c = _cone_terms(o, own, d, h)
    _, _, root = _quadric(-a, -b, -c)
    leaves = d[0, own] > 0.0
    first, last = np.where(leaves, -np.inf, (-b - root) / a), np.where(leaves, (-b + root) / a, np.inf)
    return _bounded(first, last, *_slab(o[0], own, d[0], h[0]))


def _cone_light(o: Array, own: Owners, s: Array, face: Faces, d: Array, h: Array, light: Array) -> Array:
    at, d, slope, light = _finite(s), d[:, own], _opening(d, h)[0][own], light[:, own]
    normal = [slope * (h[0, own] - o[0] - at * d[0]), o[1] + at * d[1], o[2] + at * d[2]]
    return np.where(face == 0, _cosine(normal, light), -light[0])


def _bounded(first: Array, last: Array, near: Array, far: Array) -> tuple[Array, Faces]:
    """A surface around x, whose number is 0, between two planes, whose number is 1."""
    s = np.minimum(last, far)
    s[s < np.maximum(first, near)] = -np.inf
    return s, (~(last <= far)).astype(int)


def _finite(s: Array) -> Array:
    return np.where(np.isfinite(s), s, 0.0)


def _triangles(mesh: Mesh, axes: Array, pixel: float, x: Array, y: Array) -> tuple[Array, Array]:
    """Triangles, seen from both sides: s, and the cosine of the angle to the light.

    axes: (3, 3) of the mesh in the view; x (1, w), y (h, 1): of the pixels.
    """
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
        for some in np.array_split(now, max(1, len(now) * width * width // _MOST_OF_TRIANGLES)):
            if len(some):
                _fill(s, light, column[some], row[some], z[some], area[some], lit[some], left[some], top[some], width)
        width *= 2
    return s, light


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


def _sign(values: Array) -> Array:
    return np.where(values < 0.0, -1.0, 1.0)


_SURFACES = {
    "box": (_box, _box_light),
    "cylinder": (_cylinder, _cylinder_light),
    "disc": (_disc, _cylinder_light),
    "ellipsoid": (_ellipsoid, _ellipsoid_light),
    "cone": (_cone, _cone_light),
    "tip": (_tip, _cone_light),
}


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
