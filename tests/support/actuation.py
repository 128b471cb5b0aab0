"""Actuators for the motion of a mechanism, chosen at random."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.compiler.inverse import FORCES
from fmumbs.compiler.kinds import kinds
from fmumbs.compiler.layout import lib
from fmumbs.run.coordinates import required
from fmumbs.run.hosted import Hosted
from support.drawing.mechanism import Refused, draw

ACTS = 1e-3
"""Part of an actuator's generalised force, beside those before it, along what the mechanism can do."""


def actuators(solver: fm.Solver, seed: int) -> list[str] | None:
    """Inputs of forces, at random, that determine every motion beside the modes of flexible bodies; None: there are
    too few.

    solver: an assembled one with all variables. Rows of the loops, and forces of unit inputs by differences, are its
    own; their ranks are found here.
    """
    image, n = solver.image, solver.image.sizes["speeds"]
    kind = image.arrays["variable_kind"]
    length = float(image.arrays["length"].reshape(-1)[0])
    scale = np.where(image.arrays["mode_linear"][:n] == 1, length, 1.0)
    modal = np.eye(n)[:, modal_speeds(solver)]
    N = allowed(solver, scale)
    known = _basis(N.T @ (modal * scale[:, None]))
    inputs = [i for i, k in enumerate(kind) if kinds()[k].place in FORCES and not kinds()[k].excited]
    chosen: list[int] = []
    for one in np.random.default_rng(seed).permutation(inputs):
        if known.shape[1] == N.shape[1]:
            break
        force = scale * unit_force(solver, int(one))
        along = N.T @ force
        for _ in range(2):
            along = along - known @ (known.T @ along)
        if np.linalg.norm(along) > ACTS * np.linalg.norm(force):
            known = np.column_stack([known, along / np.linalg.norm(along)])
            chosen.append(int(one))
    return image.variables.names(chosen) if known.shape[1] == N.shape[1] else None


def modal_speeds(solver: fm.Solver) -> list[bool]:
    """(speeds,) which velocities are those of modes of flexible bodies."""
    kind = solver.image.arrays["variable_kind"][solver.image.variables.speeds()]
    return [kinds()[k].place == lib.FM_AT_MODAL_SPEED for k in kind]


def allowed(solver: fm.Solver, scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """(speeds, freedoms) an orthonormal basis of the motions that loops and standing drives allow."""
    J = Hosted(solver).solver.jacobian[solver.active_rows] * scale
    rows = np.vstack(
        [J / np.linalg.norm(J, axis=1, keepdims=True), np.eye(len(scale))[solver.image.arrays["excitation_u"]]]
    )
    return np.asarray(np.linalg.svd(rows)[2][np.linalg.matrix_rank(rows, tol=1e-8) :].T)


def unit_force(solver: fm.Solver, reference: int) -> NDArray[np.float64]:
    """(speeds,) generalised forces of one more newton or newton metre of an input, in which they are linear."""
    at, still = np.array([reference], np.uint32), np.zeros((1, solver.image.sizes["speeds"]))
    places, before = solver.positions[None], solver.read(at)
    none = required(solver, True, places, still, still)[0]
    size = max(1.0, float(np.abs(none).max(initial=0.0)))
    solver.write(at, before + size)
    force = none - required(solver, True, places, still, still)[0]
    solver.write(at, before)
    return np.where(np.abs(force) > 1e-10 * size, force, 0.0) / size  # less is round-off


def _basis(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """An orthonormal basis of what the columns span."""
    u, s, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(u[:, s > 1e-9 * s.max(initial=0.0)])


def drawn_with_inverse(seed: int) -> fm.Solver:
    """A drawn mechanism at its start, in either formulation; skips those whose motion does not tell their forces."""
    try:
        solver = fm.Solver(fm.compile(draw(seed).model, everything=True, dynamics=("riccati", "copcod")[seed % 2]))
        solver.assemble()
    except (Refused, fm.AssemblyError):
        pytest.skip("no mechanism")
    arrays, sizes = solver.image.arrays, solver.image.sizes
    if arrays["friction_own"].any() or sizes["bristles"] or (arrays["excitation_row"] >= 0).any():
        pytest.skip("friction of its own reaction, deflected bristles, or a program")
    if sizes["laws"] and np.abs(solver.read(solver.image.variables.speeds())).min(initial=1.0) < 1e-9:
        pytest.skip("a law may be at rest")
    return solver
