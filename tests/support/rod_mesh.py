"""The mesh of the connecting rod in models/: tetrahedra of second order between two eyes, as gmsh writes them.

`python tests/support/rod_mesh.py models/connecting_rod.msh` writes it. The rod lies along z, its pins along y: the big
eye is at the origin. In the plane of x and z it is two rings and a shank of quadrilaterals.
"""

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

LENGTH, HALF = 0.14, 0.009  # between the pins; half the thickness [m]
BIG, SMALL = (0.021, 0.030), (0.011, 0.018)  # radii of the eyes, inside and outside [m]
AROUND, ACROSS, RINGS, ALONG = 16, 4, 1, 9  # segments: of a ring, of the shank in it, of the ring's width, of the shank
NAMES = {1: "big", 2: "small"}


def _ring(radii: tuple[float, float], centre: float, start: float) -> Any:
    """(rings + 1, around, 2) places; the shank begins at the first ACROSS + 1 angles."""
    r = np.linspace(*radii, RINGS + 1)[:, None]
    angles = start + 2 * np.pi * (np.arange(AROUND) - ACROSS / 2) / AROUND
    return np.stack([r * np.cos(angles), centre + r * np.sin(angles)], axis=2)


def _plane() -> tuple[list[Any], list[tuple[int, ...]], list[tuple[int, float, float]]]:
    """Places (x, z), triangles, and of each place on an eye's inner surface the eye."""
    rings = [_ring(BIG, 0.0, np.pi / 2), _ring(SMALL, LENGTH, -np.pi / 2)]
    places: list[Any] = []
    numbers = []
    for ring in rings:
        numbers.append(len(places) + np.arange(ring.shape[0] * AROUND).reshape(-1, AROUND))
        places += list(ring.reshape(-1, 2))
    quads = []
    for number in numbers:
        for i in range(RINGS):
            for j in range(AROUND):
                k = (j + 1) % AROUND
                quads.append((number[i, j], number[i + 1, j], number[i + 1, k], number[i, k]))
    low, high = numbers[0][-1, : ACROSS + 1], numbers[1][-1, ACROSS::-1]  # both from right to left
    rows = [low]
    for i in range(1, ALONG):
        part = i / ALONG
        row = len(places) + np.arange(ACROSS + 1)
        places += [(1 - part) * places[a] + part * places[b] for a, b in zip(low, high, strict=True)]
        rows.append(row)
    rows.append(high)
    for one, two in pairwise(rows):
        quads += [(one[j], one[j + 1], two[j + 1], two[j]) for j in range(ACROSS)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    inner = [(int(n), *places[n]) for number in numbers for n in number[0]]
    return places, triangles, inner


def mesh() -> tuple[Any, Any, dict[int, Any]]:
    """Nodes (n, 3), tetrahedra (m, 10) and triangles (k, 6) of the inner surface of each eye, in gmsh's order."""
    places, triangles, inner = _plane()
    flat = len(places)
    nodes = [(x, y, z) for y in (-HALF, HALF) for x, z in places]
    cells = []
    for triangle in triangles:
        a, b, c = sorted(int(n) for n in triangle)  # by which faces of neighbours are divided alike
        d, e, f = (n + flat for n in (a, b, c))
        cells += [(a, b, c, f), (a, b, e, f), (a, d, e, f)]
    cells = [cell if _volume(nodes, cell) > 0 else (cell[0], cell[2], cell[1], cell[3]) for cell in cells]
    on = {n for n, _, _ in inner} | {n + flat for n, _, _ in inner}
    known: dict[tuple[int, int], int] = {}

    def middle(i: int, j: int) -> int:
        pair = (min(i, j), max(i, j))
        if pair not in known:
            known[pair] = len(nodes)
            nodes.append(tuple((np.array(nodes[i]) + nodes[j]) / 2))
            if i in on and j in on:  # on the circle
                x, y, z = nodes[-1]
                at = 0.0 if z < LENGTH / 2 else LENGTH
                scale = (BIG if at == 0.0 else SMALL)[0] / np.hypot(x, z - at)
                nodes[-1] = (scale * x, y, at + scale * (z - at))
        return known[pair]

    order = ((0, 1), (1, 2), (0, 2), (0, 3), (2, 3), (1, 3))
    tetrahedra = [(*cell, *(middle(cell[i], cell[j]) for i, j in order)) for cell in cells]
    faces: dict[int, Any] = {1: [], 2: []}
    for cell in cells:
        for skipped in range(4):
            face = [n for k, n in enumerate(cell) if k != skipped]
            if all(n in on for n in face):
                a, b, c = face
                eye = 1 if nodes[a][2] < LENGTH / 2 else 2
                faces[eye].append((a, b, c, middle(a, b), middle(b, c), middle(a, c)))
    return np.array(nodes), np.array(tetrahedra), {k: np.array(v) for k, v in faces.items()}


def _volume(nodes: Any, cell: Any) -> float:
    a, b, c, d = (np.array(nodes[k]) for k in cell)
    return float(np.dot(np.cross(b - a, c - a), d - a))


def text() -> str:
    """The file, format 2.2 of gmsh."""
    nodes, tetrahedra, faces = mesh()
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", "3"]
    lines += [f'2 {k} "{name}"' for k, name in NAMES.items()] + ['3 3 "rod"', "$EndPhysicalNames"]
    lines += ["$Nodes", str(len(nodes))]
    lines += [f"{k + 1} {x:.7g} {y:.7g} {z:.7g}" for k, (x, y, z) in enumerate(nodes + 0.0)]
    rows = [f"9 2 {k} {k} {' '.join(str(n + 1) for n in face)}" for k in faces for face in faces[k]]
    rows += [f"11 2 3 3 {' '.join(str(n + 1) for n in cell)}" for cell in tetrahedra]
    lines += ["$EndNodes", "$Elements", str(len(rows)), *(f"{k + 1} {row}" for k, row in enumerate(rows))]
    return "\n".join([*lines, "$EndElements", ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text())
