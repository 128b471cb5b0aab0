"""The core's closed mechanisms beside the oracle: what their tests are judged by."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

import fmumbs as fm
from oracle import Oracle, State
from support.closed import Closed, state_of

AGREEMENT = 1e-10
"""Relative to the largest acceleration, or force, of the mechanism; see test_dynamics.py."""
WELL = 1e-4
"""Singular values of the rows in the mass norm, the least over the largest: K squares it, so that 1e-4 leaves 1e-8
of the digits, 1e-16 / 1e-8 = 1e-8; such cases are drawn again."""
DRAWS = 4
CLOSED = 1e-11  # [m] or [rad]: 1e-12 of a length that the random models have, up to 3 m


def started(model: fm.Model, inputs: dict[str, Any] | None = None) -> fm.Solver:
    solver = fm.Solver(model)
    for name, value in (inputs or {}).items():
        solver.set(name, value)
    solver.assemble()
    return solver


Singular = tuple[np.ndarray, np.ndarray, dict[str, slice]]


def singular(oracle: Oracle, state: State) -> Singular:
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


def is_well(oracle: Oracle, state: State) -> bool:
    """Whether the position is far enough from singular ones for a comparison."""
    return apart(singular(oracle, state))


def apart(rows: Singular) -> bool:
    """is_well() of rows that are known."""
    values = rows[0]
    return bool(values[-1] >= WELL * values[0])


def assert_agrees(
    solver: fm.Solver,
    case: Closed,
    state: State | None = None,
    oracle: Oracle | None = None,
    rows: Singular | None = None,
) -> None:
    """Accelerations, the reactions that are unique, what is applied within joints; all reactions balance."""
    oracle = oracle or Oracle(case.model)
    state = state or state_of(solver, case.model)
    rows = rows or singular(oracle, state)
    values, idle, places = rows
    assert apart(rows), "the position is all but singular: draw another one"
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
    scale = max([1.0, *(np.abs(solver.get(name)).max() for name in forces)])
    for name in (name for name in forces if ".reaction." in name):
        applied = solver.get(name.replace(".reaction.", ".wrench.")) - solver.get(name)
        expected = answer[name.replace(".reaction.", ".wrench.")] - answer[name]
        assert_allclose(applied, expected, rtol=0, atol=AGREEMENT * scale * loose, err_msg=name)
    assert_balanced(solver, case, oracle, state, AGREEMENT * scale)
    assert_allclose(solver.get("solver.energy"), oracle.energy(state), rtol=AGREEMENT, atol=AGREEMENT)


def assert_balanced(solver: fm.Solver, case: Closed, oracle: Oracle, state: State, within: float) -> None:
    """The wrenches of all joints, unique or not, move every body as it moves."""
    names = [body.name for body in case.model.bodies]
    a, alpha = ({name: solver.get(f"{name}.{what}") for name in names} for what in ("a", "alpha"))
    wrench = {
        joint.name: np.concatenate([solver.get(f"{joint.name}.wrench.{what}") for what in "tf"])
        for joint in case.model.joints
    }
    missing = oracle.unbalanced(state, case.inputs, a, alpha, wrench)
    assert_allclose(missing, 0.0, atol=within, err_msg="forces on the bodies")


def assert_closed(solver: fm.Solver, model: fm.Model, state: State | None = None, oracle: Oracle | None = None) -> None:
    """Positions and velocities, as the core sees them and as the oracle does."""
    state, oracle = state or state_of(solver, model), oracle or Oracle(model)
    assert solver.get("solver.position_violation") < CLOSED
    assert solver.get("solver.velocity_violation") < 10 * CLOSED
    assert oracle.violation(state) < CLOSED
    assert oracle.velocity_violation(state) < 10 * CLOSED


def check(draw: Callable[[int], Closed], seed: int) -> None:
    """A random mechanism at its start and as it moves; one that comes near a singular position is drawn again."""
    for again in range(DRAWS):
        case = draw(seed + 10000 * again)
        solver, oracle = started(case.model, case.inputs), Oracle(case.model)
        for time in (0.0, 0.07):
            solver.step(time)
            state = state_of(solver, case.model)
            rows = singular(oracle, state)
            if not apart(rows):
                break
            assert_closed(solver, case.model, state, oracle)
            assert_agrees(solver, case, state, oracle, rows)
        else:
            return
    raise AssertionError(f"each of {DRAWS} mechanisms came near a singular position")
