"""Triangles of a surface: reading them, what is wrong with them, and the mass properties of what they enclose.

The solid is the sum of the tetrahedra (o, a, b, c) of all triangles, with their signs. For one of volume V, with its
corners relative to o,

    int r dV = V (a + b + c) / 4,    int r r^T dV = V (a a^T + b b^T + c c^T + s s^T) / 20,  s = a + b + c
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from os.path import isfile, splitext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs.errors import MeshWarning, ModelError
from fmumbs.spatial import Transform

Array = NDArray[np.float64]
Faces = NDArray[np.int64]

_FLAT = 1e-12  # a volume below this, relative to the cube of the size, is round-off
_SAME = 1e-9  # corners closer than this, relative to the size of the whole, are one


@dataclass(frozen=True, eq=False)
class Triangles:
    """vertices: (n, 3) [m]. faces: (m, 3) indices, counterclockwise as seen from outside."""

    vertices: Array
    faces: Faces

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Triangles):
            return NotImplemented
        return np.array_equal(self.vertices, other.vertices) and np.array_equal(self.faces, other.faces)

    def __hash__(self) -> int:
        return hash((self.vertices.tobytes(), self.faces.tobytes()))

    def moved(self, X: Transform) -> Triangles:
        """In the frame in which X is the pose of the present one."""
        return Triangles(self.vertices @ X.rotation.matrix.T + X.translation, self.faces)

    @property
    def turned(self) -> Triangles:
        """With the other side out."""
        return Triangles(self.vertices, self.faces[:, ::-1])

    def integrals(self) -> tuple[float, Array, Array]:
        """Volume [m3], its centre (3,) [m], and int r r^T dV about the centre (3, 3) [m5]."""
        o = self.vertices.mean(axis=0)
        a, b, c = (self.vertices[self.faces[:, k]] - o for k in range(3))
        V = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
        s = a + b + c
        total = float(V.sum())
        if total == 0.0:
            return 0.0, o, np.zeros((3, 3))
        centre = (V[:, None] * s).sum(axis=0) / (4.0 * total)
        second = sum(np.einsum("i,ij,ik->jk", V, one, one) for one in (a, b, c, s)) / 20.0
        return total, o + centre, second - total * np.outer(centre, centre)

    def open_edges(self) -> int:
        """How many edges do not join two triangles."""
        edges = np.sort(self.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        return int((np.unique(edges, axis=0, return_counts=True)[1] != 2).sum())

    def agreeing(self) -> tuple[Triangles, int]:
        """The triangles of a closed surface turned so that neighbours agree, the fewest of each connected part, and how
        many were turned.
        """
        beside: dict[tuple[int, int], list[int]] = defaultdict(list)
        faces = self.faces.tolist()
        for i, (a, b, c) in enumerate(faces):
            for edge in ((a, b), (b, c), (c, a)):
                beside[min(edge), max(edge)].append(i)
        if all(self._runs(faces[i], e) != self._runs(faces[j], e) for e, (i, j) in beside.items()):
            return self, 0
        sign = [0] * len(faces)
        for start in range(len(faces)):
            if not sign[start]:
                self._spread(start, faces, beside, sign)
        turned = np.array(sign) < 0
        return Triangles(self.vertices, np.where(turned[:, None], self.faces[:, ::-1], self.faces)), int(turned.sum())

    @staticmethod
    def _runs(face: list[int], edge: tuple[int, int]) -> bool:
        """Whether a triangle has an edge in this direction."""
        return edge in ((face[0], face[1]), (face[1], face[2]), (face[2], face[0]))

    def _spread(
        self, start: int, faces: list[list[int]], beside: dict[tuple[int, int], list[int]], sign: list[int]
    ) -> None:
        """Signs of all triangles connected with one, -1 for those to turn, which are not the most."""
        part, waiting = [start], [start]
        sign[start] = 1
        while waiting:
            i = waiting.pop()
            a, b, c = faces[i]
            for edge in ((a, b), (b, c), (c, a)):
                key = min(edge), max(edge)
                for j in beside[key]:
                    if not sign[j]:
                        same = self._runs(faces[i], key) != self._runs(faces[j], key)
                        sign[j] = sign[i] if same else -sign[i]
                        part.append(j)
                        waiting.append(j)
        if 2 * sum(sign[i] < 0 for i in part) > len(part):
            for i in part:
                sign[i] = -sign[i]

    def hull(self) -> Triangles:
        """The convex hull."""
        from scipy.spatial import ConvexHull, QhullError

        try:
            found = ConvexHull(self.vertices)
        except QhullError:
            raise ModelError("the points of the mesh lie in a plane, so that their hull has no volume.") from None
        corners = self.vertices[found.simplices]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        inward = (normal * found.equations[:, :3]).sum(axis=1) < 0.0
        faces = np.where(inward[:, None], found.simplices[:, ::-1], found.simplices).astype(np.int64)
        used, renumbered = np.unique(faces, return_inverse=True)
        return Triangles(self.vertices[used], renumbered.reshape(faces.shape))

    def simplified(self, most: int) -> Triangles:
        """At most so many triangles: vertices in one cell of a grid, as fine as that allows, become their mean."""
        if len(self.faces) <= most:
            return self
        low, high = 2, 4096
        found = self._clustered(low)
        while high - low > max(1, low // 50):
            middle = (low + high) // 2
            made = self._clustered(middle)
            if len(made.faces) <= most:
                low, found = middle, made
            else:
                high = middle
        return found

    def _clustered(self, cells: int) -> Triangles:
        least, size = self.vertices.min(axis=0), float(np.ptp(self.vertices, axis=0).max()) or 1.0
        place = np.minimum((self.vertices - least) / size * cells, cells - 1).astype(np.int64)
        _, cell = np.unique(place @ np.array([cells * cells, cells, 1]), return_inverse=True)
        count = np.bincount(cell)
        means = np.stack([np.bincount(cell, self.vertices[:, k]) / count for k in range(3)], axis=1)
        faces = cell[self.faces]
        apart = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
        return Triangles(means, faces[apart])


def enclosed(surface: Triangles, hull: bool, where: str) -> Triangles:
    """The closed surface around a solid, its outer side out. Warns with a MeshWarning if triangles were turned.

    Raises ModelError for an open surface, unless its hull is wanted, and for one without a volume.
    """
    try:
        found = surface.hull() if hull else surface
    except ModelError as error:
        raise ModelError(f"{where}: {error} Give a solid's surface.") from None
    if edges := found.open_edges():
        raise ModelError(
            f"{where}: the surface is not closed: {edges} of its edges do not join two triangles, so its inside is "
            "unknown. Close it where it was made, give hull=True for its convex hull, or mass and inertia to Body."
        )
    found, turned = found.agreeing()
    volume = found.integrals()[0]
    if volume < 0.0:
        found, turned, volume = found.turned, len(found.faces) - turned, -volume
    size = float(np.ptp(found.vertices, axis=0).max())
    if not volume > _FLAT * size**3:
        raise ModelError(f"{where}: the surface encloses no volume. Give the surface of a solid.")
    if turned:
        message = f"{where}: {turned} of {len(found.faces)} triangles had their inner side out and were turned."
        warnings.warn(message, MeshWarning, stacklevel=3)
    return found


def read_triangles(path: str | PathLike[str], scale: float | Sequence[float]) -> Triangles:
    """The triangles in a file, all its parts together, with equal corners joined. scale: [m] of its unit, one number or
    three; with a mirror the triangles keep their outer side.

    Raises ModelError for a file that cannot be read, and if trimesh is missing.
    """
    try:
        import trimesh
    except ImportError:
        raise ModelError("reading meshes needs the package trimesh. Install it: pip install 'fmumbs[mesh]'.") from None
    where = f"Mesh '{fspath(path)}'"
    if not isfile(path):
        raise ModelError(f"{where}: there is no such file. Give its path, from the current folder on.")
    try:
        with open(path, "rb") as file:  # as bytes, so that its reader opens no other files, such as materials
            kind = splitext(path)[1][1:].lower()
            source: Any = fspath(path) if kind == "gltf" else file
            loaded: Any = trimesh.load(source, file_type=kind, force="mesh")
        vertices, faces = np.array(loaded.vertices, np.float64), np.array(loaded.faces, np.int64)
    except Exception as error:
        what = str(error).strip() or repr(error)
        raise ModelError(f"{where} cannot be read: {what}. Give a file such as .stl, .obj or .glb.") from None
    if not len(faces) or not np.isfinite(vertices).all():
        what = "has no triangles" if not len(faces) else "has numbers that are not finite"
        raise ModelError(f"{where} {what}. Export it again from the program that made it.")
    return _joined(vertices * scale, faces[:, ::-1] if np.prod(scale) < 0.0 else faces)


def _joined(vertices: Array, faces: Faces) -> Triangles:
    """Equal corners, of which an .stl file has one for each triangle, as one; triangles without an area left out."""
    size = float(np.ptp(vertices, axis=0).max()) or 1.0
    _, first, same = np.unique(np.round(vertices / (_SAME * size)), axis=0, return_index=True, return_inverse=True)
    faces = same.reshape(-1)[faces]
    apart = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return Triangles(vertices[first], faces[apart])
