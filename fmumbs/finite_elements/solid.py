"""Stiffness and mass of a solid of tetrahedra, by scikit-fem: isotropic linear elasticity, consistent mass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.finite_elements.stiffening import Elements

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Sparse = Any

_EDGES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))  # of the nodes 5 to 10 of gmsh, VTK and meshio
_OFF = 0.25  # a middle node farther from the middle of its edge, in edge lengths, is none of it: nodes in another order
_ORDER = 4  # of quadrature: exact for the mass of straight elements of second order


@dataclass(frozen=True)
class Solid:
    """K, M: for three freedoms of each node that a tetrahedron has; nodes: these, ascending, as the user numbers them;
    elements: with the places of their nodes among these. recovered: (6, freedoms) by name, the stress xx yy zz xy xz yz
    at a node [Pa/m], the mean of those of the elements that meet there.
    """

    K: Sparse
    M: Sparse
    nodes: Index
    elements: Elements
    recovered: Mapping[str, Sparse]


def solid(
    nodes: object, tetrahedra: object, E: float, nu: float, density: float, where: str, stress_at: object = None
) -> Solid:
    """The finite elements of a mesh. stress_at: {name: node}."""
    try:
        from skfem import Basis, BilinearForm, ElementTetP1, ElementTetP2, ElementVector, MeshTet1, MeshTet2
        from skfem.helpers import dot
        from skfem.models.elasticity import lame_parameters, linear_elasticity
    except ImportError:
        raise ModelError(f"{where} needs scikit-fem. Install it: pip install 'fmumbs[fem]'.") from None
    places, cells = _mesh(nodes, tetrahedra, where)
    E, density = _checks.positive(E, f"{where}: E"), _checks.positive(density, f"{where}: density")
    if not -1.0 < _checks.number(nu, f"{where}: nu") < 0.5:
        raise ModelError(f"{where}: nu is {nu:g}, but must lie between -1 and 0.5. Give Poisson's ratio.")
    corners, t = np.unique(cells[:, :4], return_inverse=True)
    mesh, element, own = MeshTet1(places[corners].T, t.reshape(-1, 4).T), ElementTetP1(), corners
    if cells.shape[1] == 10:
        mesh, element = MeshTet2.from_mesh(mesh), ElementTetP2()
        own = _with_middles(mesh, places, cells, where)
        mesh.doflocs[:] = places[own].T
    basis = Basis(mesh, ElementVector(element), intorder=_ORDER)

    inertia = BilinearForm(lambda u, v, w: density * dot(u, v))
    lam, mu = lame_parameters(E, nu)
    K, M = linear_elasticity(lam, mu).assemble(basis), inertia.assemble(basis)
    rows = np.empty((len(own), 3), int)
    rows[mesh.dofs.nodal_dofs[0]] = basis.nodal_dofs.T
    if cells.shape[1] == 10:
        rows[mesh.dofs.edge_dofs[0]] = basis.edge_dofs.T
    ascending = np.argsort(own)
    order = rows[ascending].reshape(-1)
    plain = basis.with_element(element)
    cells = np.argsort(ascending)[plain.element_dofs].T
    slopes = np.stack([plain.basis[k][0].grad for k in range(cells.shape[1])]).transpose(2, 0, 3, 1)
    elements = Elements(cells, slopes, plain.dx, float(lam), float(mu))
    kept = own[ascending]
    found = _recovered(elements, kept, lambda which: Basis(
        mesh, element, elements=which, quadrature=(element.doflocs.T, np.ones(cells.shape[1]))
    ), {} if stress_at is None else stress_at, f"{where}: stress_at")  # fmt: skip
    return Solid(K[order][:, order], M[order][:, order], kept, elements, found)


def _recovered(elements: Elements, kept: Index, at_nodes: Any, given: object, what: str) -> dict[str, Sparse]:
    """The rows of `Solid.recovered`; at_nodes: a basis of some elements, whose points are their nodes."""
    places = {int(node): k for k, node in enumerate(kept)}
    found = {}
    for name, node in _checks.mapping(given, what, "Give {name: node}.").items():
        number = _checks.whole(node, f"{what}['{name}']", 0)
        if number not in places:
            raise ModelError(f"{what}: '{name}' is node {number}, which no element has. Give another.")
        meet, point = np.nonzero(elements.cells == places[number])
        basis = at_nodes(meet)
        slopes = np.stack([basis.basis[k][0].grad for k in range(elements.cells.shape[1])])  # (nodes, 3, meet, points)
        stress = _by_slopes(slopes[:, :, np.arange(len(meet)), point], elements) / len(meet)  # (6, nodes, 3, meet)
        columns = 3 * elements.cells[meet].T[:, None, :] + np.arange(3)[:, None]
        rows = np.broadcast_to(np.arange(6)[:, None, None, None], stress.shape)
        index = rows.reshape(-1), np.broadcast_to(columns, stress.shape).reshape(-1)
        found[name] = sparse.coo_array((stress.reshape(-1), index), shape=(6, 3 * len(kept))).tocsr()
    return found


def _by_slopes(slopes: Array, elements: Elements) -> Array:
    """(6, nodes, 3, ...) xx yy zz xy xz yz by displacements of nodes, from the gradients (nodes, 3, ...) of theirs."""
    stress = np.zeros((6, *slopes.shape))
    stress[:3] = elements.lam * slopes
    for a in range(3):
        stress[a, :, a] += 2.0 * elements.mu * slopes[:, a]
    for row, (a, b) in enumerate(((0, 1), (0, 2), (1, 2)), 3):
        stress[row, :, a], stress[row, :, b] = elements.mu * slopes[:, b], elements.mu * slopes[:, a]
    return stress


def surface(cells: Index, places: Array) -> Index:
    """(triangles, 3) corners of the faces that one tetrahedron has alone, counterclockwise as seen from outside.

    cells: (elements, 4 or more) places of their nodes in `places` (nodes, 3), corners first.
    """
    corners = np.concatenate([cells[:, np.roll(np.arange(4), -k)] for k in range(4)])  # the last one is opposite
    _, first, count = np.unique(np.sort(corners[:, :3], axis=1), axis=0, return_index=True, return_counts=True)
    faces = corners[np.sort(first[count == 1])]
    a, b, c, inside = (places[faces[:, k]] for k in range(4))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), inside - a) > 0.0
    faces[inwards] = faces[inwards][:, [0, 2, 1, 3]]
    return np.asarray(faces[:, :3])


def _cells(tetrahedra: object, where: str) -> Index:
    cells = _checks.array(tetrahedra, f"{where}: tetrahedra")
    if cells.ndim != 2 or cells.shape[1] not in (4, 10) or not len(cells) or not (cells == np.floor(cells)).all():
        raise ModelError(
            f"{where}: tetrahedra has the shape {cells.shape}, but must be (elements, 4) or (elements, 10) numbers of "
            "nodes, from 0. Give the tetrahedra of a mesh."
        )
    return cells.astype(int)


def _mesh(nodes: object, tetrahedra: object, where: str) -> tuple[Array, Index]:
    places, cells = _checks.array(nodes, f"{where}: nodes"), _cells(tetrahedra, where)
    if places.ndim != 2 or places.shape[1] != 3 or not np.isfinite(places).all():
        raise ModelError(
            f"{where}: nodes has the shape {places.shape}, but must be (nodes, 3) finite numbers. Give it."
        )
    if cells.min() < 0 or cells.max() >= len(places):
        raise ModelError(
            f"{where}: a tetrahedron has node {cells.max()}, but nodes are numbered from 0 to {len(places) - 1}. "
            "Subtract 1 from numbers that start at 1."
        )
    a, b, c, d = (places[cells[:, k]] for k in range(4))
    volumes = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6.0
    flat = np.abs(volumes) <= 1e-9 * np.abs(volumes).max(initial=0.0)
    if flat.any():
        raise ModelError(f"{where}: tetrahedron {int(np.argmax(flat))} is flat. Improve the mesh there.")
    return places, cells


def _with_middles(mesh: Any, places: Array, cells: Index, where: str) -> Index:
    """The user's node of each place of a mesh of second order, which is made with straight edges."""
    straight, middles = cells[:, :4].copy(), []
    for k, (i, j) in enumerate(_EDGES):
        middle = (places[cells[:, i]] + places[cells[:, j]]) / 2
        edge = np.linalg.norm(places[cells[:, i]] - places[cells[:, j]], axis=1)
        off = np.linalg.norm(places[cells[:, 4 + k]] - middle, axis=1) > _OFF * edge
        if off.any():
            raise ModelError(
                f"{where}: node {4 + k + 1} of tetrahedron {int(np.argmax(off))} is not in the middle of the edge "
                f"between its nodes {i + 1} and {j + 1}. Order nodes as gmsh and meshio do."
            )
        middles.append(middle)
    numbers = np.concatenate([straight.reshape(-1), cells[:, 4:].T.reshape(-1)])
    at = np.concatenate([places[straight.reshape(-1)], *middles])
    _, nearest = cKDTree(at).query(mesh.doflocs.T)
    return np.asarray(numbers[nearest])
