"""Static equilibrium: positions where a mechanism at rest stays at rest, and whether it is stable there.

The core finds it (fmumbs/core/statics/). Here its stability follows: with A = M^-1 K the tangent stiffness over the
inertia and N an orthonormal basis of the motions that the loops allow, the eigenvalues of N' A N are the squares of the
angular frequencies of small undamped vibrations about the equilibrium. All positive: it is stable. Of large mechanisms
only those of least magnitude are computed, by Arnoldi's method for A^-1, of which the core makes products without a
matrix, and one of a motion that departs, which the core seeks as well (statics/stability.c).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler import ModelImage, compile
from fmumbs.errors import AssemblyError, EquilibriumError, SolverError
from fmumbs.mechanism import Model
from fmumbs.run.solver import Solver

Array = NDArray[np.float64]

LARGE = 40
"""From this number of degrees of freedom on only some frequencies are computed."""

_DIFFERENCE, _WIDER = 1e-6, 1e-5  # [rad], or of the model's length: steps of the differences
_LOWEST = 4  # frequencies of a large mechanism
_SAME = 1e-2  # relative difference of one squared frequency, found in two ways
_INDEPENDENT = 1e-9  # singular values of rows of J with length one


@dataclass(frozen=True)
class Equilibrium:
    """What equilibrium() found.

    starts: positions of all states by name, to be given as `starts=` to compile() and export_fmu() or as `inputs=` to
        simulate().
    squares: (freedoms,) squares of the angular frequencies of small undamped vibrations [1/s2], ascending; a negative
        one belongs to a motion that departs. Of a large mechanism only the four of least magnitude, or three and
        that of a motion that departs.
    stable: whether all of them are positive. softest: the coordinate that moves most in the first of these motions.
    method: "newton", "load steps", "descent" or "shortened newton". solver: stands in the equilibrium.
    """

    starts: dict[str, float]
    squares: tuple[float, ...]
    softest: str
    method: str
    solver: Solver

    @property
    def stable(self) -> bool:
        return all(value > 0.0 for value in self.squares)

    @property
    def frequencies(self) -> Array:
        """(freedoms,) angular frequencies [rad/s], ascending; 0 for motions that depart."""
        return np.sqrt(np.maximum(self.squares, 0.0))

    def __str__(self) -> str:
        if self.stable:
            first = f", lowest frequency {self.frequencies[0]:.6g} rad/s in {self.softest}" if self.squares else ""
            return f"stable equilibrium{first}"
        rate = float(np.sqrt(-self.squares[0]))
        return f"unstable equilibrium: a displacement of {self.softest} grows as exp({rate:.6g} t)"


def equilibrium(model: Model | ModelImage) -> Equilibrium:
    """A static equilibrium near the start of a mechanism, stable or not; works on trees, loops and flexible bodies.

    Excited modes stand where they are at t = 0. Laws act with the mean of their forces at small velocities of either
    sign, so that friction drops out: of the many positions in which it may stick, this is the one that needs none.
    Inputs have their start values. With nonholonomic joints the accelerations along the velocities that they allow
    vanish. Such positions are not isolated: this one is reached from the start along allowed velocities.

    It is the one in which an FMU starts whose parameter solver.equilibrium is 1, and the Solver of
    image.with_options(equilibrium=True).

    Raises ModelError for a model that cannot be compiled, AssemblyError if the loops cannot be closed, EquilibriumError
    where there is no equilibrium near the start or an indifferent one.
    """
    image = compile(model, everything=True) if isinstance(model, Model) else model
    if len(image.variables.speeds()) != image.sizes["speeds"]:
        raise EquilibriumError(
            f"Model '{image.name}' declares signals, and its image does not show all coordinates. Give the Model, or "
            "compile(model, everything=True)."
        )
    solver = resting(image)
    squares, softest = _stability(solver)
    places = image.variables.positions()
    places = places[image.variables.states(places)]
    names = image.variables.names(places)
    starts = dict(zip(names, solver.read(places).tolist(), strict=True))
    return Equilibrium(starts, squares, softest, solver.equilibrium_found[0], solver)


def resting(image: ModelImage) -> Solver:
    """A Solver in the equilibrium of a mechanism. Raises AssemblyError, EquilibriumError."""
    Solver(image.with_options(equilibrium=False)).assemble()  # an error of the assembly is no missing equilibrium
    solver = Solver(image.with_options(equilibrium=True))
    try:
        solver.assemble()
    except AssemblyError as error:
        raise EquilibriumError(f"Model '{image.name}': {error}") from None
    return solver


def _stability(solver: Solver) -> tuple[tuple[float, ...], str]:
    """Squared frequencies at a solver's equilibrium, and the coordinate of the first."""
    arrays, n = solver.image.arrays, solver.image.sizes["speeds"]
    length = float(arrays["length"].reshape(-1)[0])
    scale = np.where(arrays["mode_linear"][:n] == 1, length, 1.0)
    if solver.mobility == 0:
        return (), ""
    try:
        squares, motion = (_lowest if solver.mobility >= LARGE else _all)(solver, scale)
    except SolverError:  # stiffnesses that are too different for an iteration
        squares, motion = _all(solver, scale)
    growth, departing = solver.departure
    if growth > 0.0 and squares[0] > -(growth**2) * (1.0 - _SAME):  # it is not among those of least magnitude
        return (-(growth**2), *squares[: _LOWEST - 1].tolist()), departing
    rates = solver.image.variables.names(solver.image.variables.speeds())
    name = rates[int(np.argmax(np.abs(motion)))]
    return tuple(squares.tolist()), name.replace(".qd", ".q").replace(".v", ".r")


def _allowed(solver: Solver, scale: Array) -> Array:
    """(n, freedoms) orthonormal motions that the loops allow while drives stand, slides in multiples of the length."""
    arrays, n = solver.image.arrays, len(scale)
    stand = np.zeros((solver.image.sizes["excitations"], n))
    stand[np.arange(len(stand)), arrays["excitation_u"]] = 1.0
    if not solver.image.sizes["rows"]:
        return np.eye(n)[:, stand.sum(axis=0) == 0.0]
    J = solver.jacobian[solver.active_rows] * scale
    norms = np.linalg.norm(J, axis=1)
    rows = np.vstack([J[norms > 0] / norms[norms > 0, None], stand])
    _, s, vt = np.linalg.svd(rows, full_matrices=len(rows) < n)
    return np.asarray(vt[int((s > _INDEPENDENT).sum()) :].T)


def _all(solver: Solver, scale: Array) -> tuple[Array, Array]:
    """All squared frequencies, and the motion of the first."""
    N = _allowed(solver, scale)
    A = np.array([N.T @ (solver.tangent(scale * v, _DIFFERENCE) / scale) for v in N.T]).T
    values, right = np.linalg.eig(A)
    order = np.argsort(values.real)
    squares, motion = values.real[order], right[:, order[0]].real
    # the first again, from its left and right eigenvectors: errors of stiff directions drop out
    others, left = np.linalg.eig(A.T)
    w, v = left[:, int(np.argmin(others.real))].real, N @ (motion / np.abs(motion).max())
    along = N.T @ (solver.tangent(scale * v, _WIDER) / scale)
    product = float(w @ (N.T @ v))
    if product:
        squares[0] = float(w @ along) / product
    squares.sort()
    return squares, v


def _lowest(solver: Solver, scale: Array) -> tuple[Array, Array]:
    """The squared frequencies of least magnitude, and the motion of the first."""
    from scipy.sparse.linalg import LinearOperator, eigs

    n, count = len(scale), 2 * _LOWEST
    products = LinearOperator(
        (n, n), matvec=lambda x: solver.flexibility(scale * np.asarray(x, float).ravel()) / scale, dtype=float
    )
    start = np.random.default_rng(0).normal(size=n)
    start[solver.image.arrays["excitation_u"]] = 0.0
    start = products @ start  # which leaves what the loops allow
    values, motions = eigs(products, k=count, v0=start, tol=1e-8, ncv=min(6 * _LOWEST, n - 1))
    order = np.argsort(-np.abs(values))[:_LOWEST]
    squares = (1.0 / values[order]).real
    ascending = np.argsort(squares)
    return squares[ascending], motions[:, order[ascending[0]]].real
