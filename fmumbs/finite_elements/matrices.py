"""Stiffness and mass of finite elements, checked: what a free body's matrices have in common.

A node has three freedoms, its translation, or six, with its rotation vector, all in the axes of the mesh; freedom a of
node i is row 3 i + a or 6 i + a. With R the six rigid motions (translations, then rotations about the origin), K R = 0
and R' M R is the mass matrix of a rigid body,

    [m 1, -m [c]x; m [c]x, J],

from which mass m, centre c and the inertia J about the origin are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.spatial import moment_of, skew

Array = NDArray[np.float64]
Sparse = Any  # scipy.sparse.csr_array, which is imported when a body is reduced

_WRITTEN = 1e-9  # relative: what is left of a number in a text file, whose shortest columns have ten digits
_RIGID = 1e-7  # the same of a sum of some hundred of them, whose terms cancel


@dataclass(frozen=True)
class FiniteElements:
    """Matrices of a body that nothing holds. K, M: (freedoms, freedoms); nodes: (nodes, 3) [m]; each: 3 or 6 freedoms
    of a node; where: the body's name in messages.
    """

    K: Sparse
    M: Sparse
    nodes: Array
    each: int
    where: str

    @property
    def length(self) -> float:
        """The largest side of the box around the nodes [m]."""
        return float(np.ptp(self.nodes, axis=0).max())

    @cached_property
    def rigid(self) -> Array:
        """(freedoms, 6) the rigid motions: three translations, three rotations about the origin."""
        return rigid_motions(self.nodes, self.each)

    @cached_property
    def rigid_mass(self) -> Array:
        """(6, 6) mass matrix of the rigid motions."""
        whole: Array = self.rigid.T @ (self.M @ self.rigid)
        return (whole + whole.T) / 2

    @property
    def mass(self) -> float:
        """[kg]"""
        return float(np.trace(self.rigid_mass[:3, :3])) / 3

    @property
    def com(self) -> Array:
        """(3,) centre of mass [m]."""
        return -moment_of(self.rigid_mass[3:, :3]) / (2.0 * self.mass)

    @property
    def inertia(self) -> Array:
        """(3, 3) about the centre of mass [kg.m2]."""
        c = skew(self.com)
        return self.rigid_mass[3:, 3:] + self.mass * c @ c


def finite_elements(K: object, M: object, nodes: object, where: str) -> FiniteElements:
    """The matrices as they are kept. Raises ModelError, naming what no free body has."""
    places = _checks.array(nodes, f"{where}: nodes")
    if places.ndim != 2 or places.shape[1] != 3 or not np.isfinite(places).all() or len(places) < 2:
        raise ModelError(
            f"{where}: nodes has the shape {places.shape}, but must be (nodes, 3) finite numbers. Give it."
        )
    stiffness, mass = (matrix(given, f"{where}: {name}") for given, name in ((K, "K"), (M, "M")))
    for one, name in ((stiffness, "K"), (mass, "M")):
        if one.shape[0] not in (3 * len(places), 6 * len(places)):
            raise ModelError(
                f"{where}: {name} has {one.shape[0]} rows, but {len(places)} nodes have {3 * len(places)} freedoms, "
                f"or {6 * len(places)} with their rotations. Give all freedoms of each node, in the order of the nodes."
            )
    if stiffness.shape != mass.shape:
        raise ModelError(
            f"{where}: K has {stiffness.shape[0]} rows and M {mass.shape[0]}. Give both for the same freedoms."
        )
    made = FiniteElements(stiffness, mass, places, stiffness.shape[0] // len(places), where)
    if not made.length > 0.0:
        raise ModelError(f"{where}: all nodes are at one place. Give their coordinates in metres.")
    _check_stiffness(made)
    _check_mass(made)
    return made


def rigid_motions(arms: Array, each: int) -> Array:
    """(nodes * each, 6) of nodes at arms (nodes, 3), or of one at (3,): three translations, three rotations."""
    arms = arms.reshape(-1, 3)
    R = np.zeros((len(arms), each, 6))
    R[:, :3, :3], R[:, :3, 3:] = np.eye(3), -skew(arms)
    if each == 6:
        R[:, 3:, 3:] = np.eye(3)
    return R.reshape(-1, 6)


def matrix(value: object, what: str) -> Sparse:
    """A symmetric matrix, from a sparse or dense one."""
    from scipy import sparse

    try:
        dense = None if sparse.issparse(value) else np.asarray(value, float)
        found = sparse.csr_array(value if dense is None else dense, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{what} is {_checks.shown(value)}, which is not a matrix. Give it sparse or dense.") from None
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        raise ModelError(f"{what} has the shape {found.shape}, which is not square. Give one row a freedom.")
    if not np.isfinite(found.data).all():
        raise ModelError(f"{what} has entries that are not finite. Look at how it was written.")
    apart = abs(found - found.T)
    largest = float(abs(found.data).max(initial=0.0))
    if largest == 0.0:
        raise ModelError(f"{what} is zero. Give the matrix of the free body.")
    if apart.max() > _WRITTEN * largest:
        row, column = (int(k) for k in np.unravel_index(int(apart.argmax()), apart.shape))
        half = sparse.tril(found, -1).nnz == 0 or sparse.triu(found, 1).nnz == 0
        fix = "It is one triangle: give A + A.T - diag(A)." if half else "Give a symmetric matrix."
        raise ModelError(
            f"{what} is not symmetric: [{row}, {column}] is {found[row, column]:.6g}, and [{column}, {row}] "
            f"{found[column, row]:.6g}. {fix}"
        )
    return sparse.csr_array((found + found.T) / 2)


def _check_stiffness(made: FiniteElements) -> None:
    names = (
        "the translation along x",
        "that along y",
        "that along z",
        "the rotation about x",
        "that about y",
        "that about z",
    )
    centred = rigid_motions(made.nodes - made.nodes.mean(axis=0), made.each)
    felt = abs(made.K @ centred).max(axis=0)
    by = (abs(made.K) @ abs(centred)).max(axis=0)
    worst = int(np.argmax(felt / by))
    if felt[worst] > _RIGID * by[worst]:
        row = int(abs(made.K @ centred)[:, worst].argmax())
        raise ModelError(
            f"{made.where}: K resists rigid motion: {names[worst]} meets forces, the largest at node "
            f"{row // made.each}, of {felt[worst] / by[worst]:.1e} of those that cancel. Remove supports, and give "
            "coordinates with all digits."
        )


def _check_mass(made: FiniteElements) -> None:
    whole, m = made.rigid_mass, made.mass
    if not m > 0.0:
        raise ModelError(f"{made.where}: M gives the mass {m:.6g} kg. Give the mass matrix of the whole body.")
    linear, first = whole[:3, :3] / m, whole[3:, :3] / (m * made.length)
    if abs(linear - np.eye(3)).max() > _RIGID or abs(first + first.T).max() > _RIGID:
        x, y, z = np.diag(whole)[:3]
        raise ModelError(
            f"{made.where}: M gives no rigid mass: {x:.6g} kg along x, {y:.6g} along y, {z:.6g} along z. "
            "Give M for all freedoms, before supports are removed from it."
        )
    if np.linalg.eigvalsh(made.inertia)[0] < -_RIGID * m * made.length**2:
        raise ModelError(f"{made.where}: M gives a negative moment of inertia. Check M and the order of the nodes.")
