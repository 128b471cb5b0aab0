"""Small undamped vibrations about an equilibrium: squares of their angular frequencies, and their errors.

With A = M^-1 K the tangent stiffness over the inertia and N an orthonormal basis of the motions that the loops allow,
they are the eigenvalues of N' A N. Forces without a potential, such as a constant torque in world axes, make A
unsymmetric, and eigenvalues complex: flutter. A is taken twice: first along N, where stiff directions leave errors in
all others; then along its own eigenvectors V, with two steps. In B = V^-1 A V a stiff direction is a column beside the
others, and the difference of both B, between the eigenvectors of B, bounds the error of each eigenvalue.

Of large mechanisms only the four of least magnitude are computed, by Arnoldi's method for A^-1, of which the core makes
products without a matrix; all of them, if one of the four is complex, and up to MOST where the core has not found out
whether it is stable, as with a torque in world axes, which may couple any two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.constraint_rows import COUPLED
from fmumbs.compiler.layout import lib
from fmumbs.compiler.options import PROGRAMS
from fmumbs.errors import SolverError
from fmumbs.run.coordinates import stopped_speeds
from fmumbs.run.eigenvalues import first_order
from fmumbs.run.solver import Solver

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

LARGE = 40
"""From this number of degrees of freedom on only some frequencies are computed."""

LOWEST = 4
"""Frequencies of a large mechanism."""

MOST = 400
"""Up to this number of degrees of freedom flutter is looked for in all motions."""

_STEPS = 1e-6, 1e-5, 5e-6  # [rad], or of the model's length: of the differences, along N and twice along V
_TRUNCATED = 1e-9  # of a product: what such steps leave out, a part of order step^2, with a margin
_INDIFFERENT = 1e-7  # of gravity over length: smaller squares are none, as in statics/equilibrium.c
_SOLVED = 1e-6  # of an eigenvalue by products of A^-1, which are good to 1e-7
_INDEPENDENT = 1e-9  # singular values of rows of J with length one


@dataclass(frozen=True)
class Vibrations:
    """squares: (count,) ascending by their real parts, an imaginary part within round-off set to zero. errors: (count,)
    bounds. motions: (speeds, count) along the velocities, slides in multiples of the model's length.
    """

    squares: Complex
    errors: Array
    motions: Complex


def vibrations(solver: Solver) -> Vibrations:
    """Those about a solver's equilibrium."""
    arrays, n = solver.image.arrays, solver.image.sizes["speeds"]
    scale = np.where(arrays["mode_linear"][:n] == 1, float(arrays["length"].reshape(-1)[0]), 1.0)
    count = freedoms(solver)
    if count == 0:
        return Vibrations(np.empty(0, complex), np.empty(0), np.empty((n, 0), complex))
    if count < LARGE:
        return _all(solver, scale)
    if count <= MOST and np.isnan(solver.departure[0]):
        found = _all(solver, scale)
        lowest = np.sort(np.argsort(np.abs(found.squares))[:LOWEST])
        real = Vibrations(found.squares[lowest], found.errors[lowest], found.motions[:, lowest])
        return found if found.squares.imag.any() else real
    try:
        found = _lowest(solver, scale)
    except SolverError:  # stiffnesses that are too different for an iteration
        return _all(solver, scale)
    return _all(solver, scale) if found.squares.imag.any() else found


def freedoms(solver: Solver) -> int:
    """Degrees of freedom about the equilibrium: those of the motion, less locks and closed stops, plus released
    programs'.
    """
    rows, n = _rows(solver), solver.image.sizes["speeds"]
    if (rows == solver.active_rows).all() and not stopped_speeds(solver):
        return solver.mobility
    return int(_allowed(solver, np.ones(n)).shape[1])


def _rows(solver: Solver) -> NDArray[np.bool_]:
    """(rows,) those that apply in statics: active ones, and locks, without released programs."""
    arrays = solver.image.arrays
    if not arrays["row_kind"].size:
        return solver.active_rows
    locks = (arrays["row_kind"] == COUPLED) & (arrays["row_part"] == lib.FM_OF_LOCK)
    option = float(arrays["options"].flat[lib.FM_OPTION_EQUILIBRIUM])
    released = (arrays["row_excitation"] >= 0) & (option == PROGRAMS["released"])
    return np.asarray((solver.active_rows | locks) & ~released)


def _allowed(solver: Solver, scale: Array) -> Array:
    """(n, freedoms) orthonormal motions that the loops allow while drives and joints at closed stops stand, slides in
    multiples of the length.
    """
    arrays, n = solver.image.arrays, len(scale)
    standing = [*arrays["excitation_u"][: solver.image.sizes["excitations"]].tolist(), *stopped_speeds(solver)]
    stand = np.eye(n)[np.array(standing, np.int64)]
    if not solver.image.sizes["rows"]:
        return np.eye(n)[:, stand.sum(axis=0) == 0.0]
    J = solver.jacobian[_rows(solver)] * scale
    norms = np.linalg.norm(J, axis=1)
    rows = np.vstack([J[norms > 0] / norms[norms > 0, None], stand])
    _, s, vt = np.linalg.svd(rows, full_matrices=len(rows) < n)
    return np.asarray(vt[int((s > _INDEPENDENT).sum()) :].T)


def _all(solver: Solver, scale: Array) -> Vibrations:
    N = _allowed(solver, scale)

    def products(motions: Array, step: float) -> Array:
        """(freedoms, count) N' A N motions."""
        return np.array([N.T @ (solver.tangent(scale * (N @ v), step) / scale) for v in motions.T]).T

    V = _real_basis(*np.linalg.eig(products(np.eye(N.shape[1]), _STEPS[0])))
    B, again = (np.linalg.solve(V, products(V, step)) for step in _STEPS[1:])
    squares, right = np.linalg.eig(B)
    errors = first_order(right, np.abs(B - again) + _TRUNCATED * np.abs(B))
    pull = float(np.linalg.norm(solver.get("gravity")) / solver.image.arrays["length"].flat[0])
    errors = np.maximum(errors, _INDIFFERENT * pull)
    return _sorted(squares, errors, N @ V @ right)


def _real_basis(values: Complex, vectors: Complex) -> Array:
    """(n, n) a real basis of eigenvectors, real and imaginary parts of complex ones, of length one."""
    V = np.where(values.imag < 0.0, vectors.imag, vectors.real)
    u, s, vt = np.linalg.svd(V / np.linalg.norm(V, axis=0))
    return np.asarray((u * np.maximum(s, 1e-6 * s[0])) @ vt)  # those that coincide are spread: any basis will do


def _lowest(solver: Solver, scale: Array) -> Vibrations:
    from scipy.sparse.linalg import LinearOperator, eigs

    n, count = len(scale), 2 * LOWEST
    operator = LinearOperator(
        (n, n), matvec=lambda x: solver.flexibility(scale * np.asarray(x, float).ravel()) / scale, dtype=float
    )
    start = np.random.default_rng(0).normal(size=n)
    start[solver.image.arrays["excitation_u"]] = start[stopped_speeds(solver)] = 0.0
    start = operator @ start  # which leaves what the loops allow
    values, motions = eigs(operator, k=count, v0=start, tol=1e-8, ncv=min(6 * LOWEST, n - 1))
    order = np.argsort(-np.abs(values))[:LOWEST]
    squares = 1.0 / values[order]
    return _sorted(squares, _SOLVED * np.abs(squares), motions[:, order])


def _sorted(squares: Complex, errors: Array, motions: Complex) -> Vibrations:
    squares = np.where(np.abs(squares.imag) <= errors, squares.real, squares).astype(complex)
    order = np.lexsort((squares.imag, squares.real))
    return Vibrations(squares[order], errors[order], motions[:, order])


def growths(squares: Complex) -> Array:
    """(count,) rates at which motions of these squared frequencies grow [1/s]."""
    return np.asarray(np.abs(np.sqrt(squares.astype(complex)).imag))
