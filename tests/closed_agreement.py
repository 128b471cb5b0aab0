"""The core's closed mechanisms beside the oracle: what their tests are judged by."""

from typing import Any

import numpy as np
from closed import Closed, state_of
from numpy.testing import assert_allclose
from oracle import Oracle, State

import fmumbs as fm

AGREEMENT = 1e-10
"""Relative to the largest acceleration, or force, of the mechanism; see test_dynamics.py."""
WELL = 1e-4
"""Singular values of the rows in the mass norm, the least over the largest: K squares it, so that 1e-4 leaves 1e-8
of the digits, 1e-16 / 1e-8 = 1e-8; such cases are drawn again."""
CLOSED = 1e-11  # [m] or [rad]: 1e-12 of a length that the random models have, up to 3 m


def started(model: fm.Model, inputs: dict[str, Any] | None = None) -> fm.Solver:
    solver = fm.Solver(model)
    for name, value in (inputs or {}).items():
        solver.set(name, value)
    solver.assemble()
    return solver


def singular(oracle: Oracle, state: State) -> tuple[np.ndarray, np.ndarray, dict[str, slice]]:
    """Singular values of all joints' rows in the mass norm, the vectors of forces that do nothing, rows by joint."""
    rows = {joint.name: oracle._rows(state, joint)[0] for joint in oracle.joints}
    rows |= {coupling.name: oracle.coupling_rows(state, coupling)[0] for coupling in oracle.model.couplings}
    M, _ = oracle._inertia_and_weight(state)
    M += 0.1 * np.diag(np.diag(M) == 0.0)  # massless carriers: what is unique does not depend on inertias
    J = np.vstack(list(rows.values())) @ np.linalg.inv(np.linalg.cholesky(M)).T
    U, S, _ = np.linalg.svd(J)
    places, at = {}, 0
    for name, part in rows.items():
        places[name] = slice(at, at + len(part))
        at += len(part)
    rank = int(np.count_nonzero(S / S[0] > 1e-9))
    return S[:rank], U[:, rank:], places


def assert_agrees(solver: fm.Solver, case: Closed, state: State | None = None) -> None:
    """Accelerations, and the reactions that are unique; what is not unique balances every body."""
    oracle = Oracle(case.model)
    state = state or state_of(solver, case.model)
    values, idle, places = singular(oracle, state)
    if values[-1] < WELL * values[0]:
        return
    answer = oracle.solve(state, case.inputs)
    known = set(solver.image.variables.names())
    unique = {name for name, place in places.items() if np.abs(idle[place]).max(initial=0.0) < 1e-6}
    there = [name for name in answer.names() if name in known or f"{name}[1]" in known]
    motion = [name for name in there if name.split(".")[-1] in ("qdd", "alpha", "a")]
    forces = [name for name in there if ".reaction." in name or ".wrench." in name or name.endswith(".tau")]
    loose = 1.0 if values[-1] > 1e-2 * values[0] else 1e-4 * (values[0] / values[-1]) ** 2
    for names in (motion, [name for name in forces if name.split(".")[0] in unique]):
        scale = max([1.0, *(np.abs(answer[name]).max() for name in names)])
        for name in names:
            found = solver.get(name)
            assert_allclose(found, answer[name], rtol=0, atol=AGREEMENT * scale * loose, err_msg=name)
    assert_allclose(solver.get("solver.energy"), oracle.energy(state), rtol=AGREEMENT, atol=AGREEMENT)


def assert_closed(solver: fm.Solver, model: fm.Model) -> None:
    assert solver.get("solver.position_violation") < CLOSED
    assert solver.get("solver.velocity_violation") < 10 * CLOSED
    assert Oracle(model).violation(state_of(solver, model)) < CLOSED


def check(case: Closed) -> None:
    solver = started(case.model, case.inputs)
    for time in (0.0, 0.02, 0.07):
        solver.step(time)
        assert_closed(solver, case.model)
        assert_agrees(solver, case)
