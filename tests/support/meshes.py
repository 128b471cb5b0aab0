"""Matrices of small finite element bodies, assembled by loops and closed forms: no code of what they judge."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

Array = Any


@dataclass(frozen=True)
class Mesh:
    """K, M: dense; nodes: (n, 3); cells: (elements, 4) or pairs of nodes; ends: nodes of the least and largest x."""

    K: Array
    M: Array
    nodes: Array
    cells: Array
    ends: tuple[list[int], list[int]]
    density: float


def block(cells: tuple[int, int, int], sides: Array, rng: Any = None, E: float = 7e10, density: float = 2700.0) -> Mesh:
    """A block of linear tetrahedra; its inner nodes are moved at random."""
    nx, ny, nz = cells
    grid = [np.linspace(0.0, side, n + 1) for side, n in zip(sides, cells, strict=True)]
    nodes = np.array([(x, y, z) for x in grid[0] for y in grid[1] for z in grid[2]])
    if rng is not None:
        inside = (nodes[:, 0] > 0.0) & (nodes[:, 0] < sides[0])
        moved = rng.uniform(-0.15, 0.15, nodes.shape) * np.array(sides) / np.array(cells)
        nodes = nodes + inside[:, None] * moved

    def at(i: int, j: int, k: int) -> int:
        return (i * (ny + 1) + j) * (nz + 1) + k

    found = []
    for i, j, k in product(range(nx), range(ny), range(nz)):
        c = {bits: at(i + bits[0], j + bits[1], k + bits[2]) for bits in product((0, 1), repeat=3)}
        for first, second in ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)):  # six around the diagonal
            one, two = [0, 0, 0], [0, 0, 0]
            one[first] = two[first] = two[second] = 1
            found.append((c[0, 0, 0], c[tuple(one)], c[tuple(two)], c[1, 1, 1]))
    K, M = _tetrahedra(nodes, found, E, 0.3, density)
    x = nodes[:, 0]
    ends = [int(n) for n in np.flatnonzero(x == 0.0)], [int(n) for n in np.flatnonzero(x == sides[0])]
    return Mesh(K, M, nodes, np.array(found), ends, density)


def _tetrahedra(nodes: Array, cells: Any, E: float, nu: float, density: float) -> tuple[Array, Array]:
    size = 3 * len(nodes)
    K, M = np.zeros((size, size)), np.zeros((size, size))
    law = np.zeros((6, 6))
    law[:3, :3] = E * nu / ((1 + nu) * (1 - 2 * nu))
    law[:3, :3] += np.eye(3) * E / (1 + nu)
    law[3:, 3:] = np.eye(3) * E / (2 * (1 + nu))
    for cell in cells:
        P = np.hstack([np.ones((4, 1)), nodes[list(cell)]])
        volume, slopes = abs(np.linalg.det(P)) / 6, np.linalg.inv(P)[1:]  # (3, 4) gradients of the shape functions
        B = np.zeros((6, 12))
        for n in range(4):
            gx, gy, gz = slopes[:, n]
            B[:, 3 * n : 3 * n + 3] = [(gx, 0, 0), (0, gy, 0), (0, 0, gz), (gy, gx, 0), (0, gz, gy), (gz, 0, gx)]
        rows = [3 * n + a for n in cell for a in range(3)]
        K[np.ix_(rows, rows)] += volume * B.T @ law @ B
        M[np.ix_(rows, rows)] += density * volume / 20 * np.kron(np.ones((4, 4)) + np.eye(4), np.eye(3))
    return K, M


def moments(mesh: Mesh, one: Array, other: Array) -> Array:
    """Integral of density times one other' over the tetrahedra, for fields (n, 3) that are linear in each."""
    out = np.zeros((3, 3))
    for cell in mesh.cells:
        a, b = one[cell], other[cell]
        volume = abs(np.linalg.det(np.hstack([np.ones((4, 1)), mesh.nodes[cell]]))) / 6
        out += mesh.density * volume / 20 * (a.T @ b + np.outer(a.sum(axis=0), b.sum(axis=0)))
    return out


def beam(
    elements: int, length: float, EI: float, EA: float, GJ: float, line: float, spin: float, consistent: bool = False
) -> Mesh:
    """A straight beam along x with six freedoms a node: Hermite's stiffness, lumped masses or Hermite's.

    line: mass per length; spin: moment of inertia about the axis per length, half of it across.
    """
    h, n = length / elements, elements + 1
    K, M = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    bend = EI / h**3 * np.array([(12, 6 * h, -12, 6 * h), (6 * h, 4 * h * h, -6 * h, 2 * h * h),
                                 (-12, -6 * h, 12, -6 * h), (6 * h, 2 * h * h, -6 * h, 4 * h * h)])  # fmt: skip
    heavy = line * h / 420 * np.array([
        (156, 22 * h, 54, -13 * h), (22 * h, 4 * h * h, 13 * h, -3 * h * h),
        (54, 13 * h, 156, -22 * h), (-13 * h, -3 * h * h, -22 * h, 4 * h * h),
    ])  # fmt: skip
    signs = np.array([1.0, -1.0, 1.0, -1.0])  # w' = -theta_y
    pair = np.array([(1.0, -1.0), (-1.0, 1.0)])
    for e in range(elements):
        o = 6 * e
        for rows, part in (
            ([0, 6], EA / h * pair), ([3, 9], GJ / h * pair), ([1, 5, 7, 11], bend),
            ([2, 4, 8, 10], bend * np.outer(signs, signs)),
        ):  # fmt: skip
            at = [o + r for r in rows]
            K[np.ix_(at, at)] += part
        for rows, part in (
            ([0, 6], line * h / 6 * (pair**2 + np.eye(2))), ([3, 9], spin * h / 6 * (pair**2 + np.eye(2))),
            ([1, 5, 7, 11], heavy), ([2, 4, 8, 10], heavy * np.outer(signs, signs)),
        ):  # fmt: skip
            at = [o + r for r in rows]
            M[np.ix_(at, at)] += part if consistent else 0.0
        for node in () if consistent else (e, e + 1):
            half = h / 2
            M[6 * node : 6 * node + 6, 6 * node : 6 * node + 6] += np.diag(
                [line * half] * 3 + [spin * half, spin * half / 2, spin * half / 2]
            )
    nodes = np.zeros((n, 3))
    nodes[:, 0] = np.linspace(0.0, length, n)
    pairs = np.array([(k, k + 1) for k in range(elements)])
    return Mesh(K, M, nodes, pairs, ([0], [elements]), line)


def with_middles(mesh: Mesh) -> tuple[Array, Array]:
    """Nodes and tetrahedra of second order, with straight edges."""
    nodes, cells, known = [tuple(p) for p in mesh.nodes], [], {}
    for cell in mesh.cells.tolist():
        middles = []
        for i, j in ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)):
            pair = tuple(sorted((cell[i], cell[j])))
            if pair not in known:
                known[pair] = len(nodes)
                nodes.append(tuple((mesh.nodes[pair[0]] + mesh.nodes[pair[1]]) / 2))
            middles.append(known[pair])
        cells.append((*cell, *middles))
    return np.array(nodes), np.array(cells)
