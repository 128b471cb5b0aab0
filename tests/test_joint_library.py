"""Every kind of joint in the core against the oracle: random trees, at the start and on their way."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracle import Oracle, State
from strategies import BOTH_WAYS, EVERY, SEVERAL, Case, trees

from fmumbs.compiler import compile
from fmumbs.errors import SolverError
from fmumbs.run import Solver

AGREEMENT = 1e-10
"""Relative to the largest acceleration, or force, of the mechanism. The dense system of the oracle has a
condition of up to 1e5 in these units, and 1e5 roundings of 1e-16 are 1e-11."""

KINEMATIC = ("qdd", "udot", "alpha", "a", "r", "v", "w", "length")


def started(case: Case) -> Solver:
    solver = Solver(compile(case.model))
    solver.assemble()
    for name, value in case.inputs.items():
        solver.set(name, value)
    return solver


def moved(case: Case) -> Solver:
    """On its way; not where a law that pushes with the square of a velocity drives that beyond all numbers."""
    solver = started(case)
    try:
        solver.step(0.01)
        solver.step(0.03)
    except SolverError as error:
        assume("unbounded" not in str(error) or not case.model.laws)
        raise
    return solver


def present_state(solver: Solver, oracle: Oracle) -> State:
    """The solver's positions and velocities, as the oracle takes them."""
    q: dict[str, Any] = {}
    u: dict[str, Any] = {}
    eta: dict[str, Any] = {}
    kappa: dict[str, Any] = {}
    positions = {"Weld": [], "Free": ["r", "q"]}
    speeds = {"Weld": [], "Free": ["v", "w"], "Spherical": ["w"], "Skate": ["u"]}
    for joint in oracle.model.joints:
        kind, name = type(joint).__name__, joint.name
        if joint.positions:
            q[name] = _get(solver, name, positions.get(kind, ["q"]))
            u[name] = _get(solver, name, ["u"] if joint.velocity_rows else speeds.get(kind, ["qd"]))
        if joint.excited_modes:
            eta[name], kappa[name] = _get(solver, name, ["eta"]), _get(solver, name, ["kappa"])
    return oracle.state(q, u, eta, kappa, t=solver.time)


def _get(solver: Solver, joint: str, names: list[str]) -> Any:
    values = [solver.get(f"{joint}.{name}") for name in names]
    return values[0] if len(values) == 1 else np.concatenate(values)


def assert_agrees(solver: Solver, case: Case) -> None:
    """All that the oracle knows, at the solver's present state."""
    oracle = Oracle(case.model)
    state = present_state(solver, oracle)
    answer = oracle.solve(state, case.inputs)
    kinematic = [name for name in answer.names() if name.split(".")[-1] in KINEMATIC]
    forces = [name for name in answer.names() if name not in kinematic]
    for names in (kinematic, forces):
        scale = max([1.0, *(np.abs(answer[name]).max(initial=0.0) for name in names)])
        for name in names:
            found = solver.get(name)
            assert_allclose(found, answer[name], rtol=0, atol=AGREEMENT * scale, err_msg=name)
    assert_allclose(solver.get("solver.energy"), oracle.energy(state), rtol=AGREEMENT, atol=AGREEMENT)


@settings(max_examples=100)
@given(trees(kinds=EVERY))
def test_random_trees(case: Case) -> None:
    assert_agrees(started(case), case)


@pytest.mark.parametrize("kind", SEVERAL)
@settings(max_examples=25)
@given(data=st.data())
def test_trees_of_one_kind_of_joint(kind: str, data: Any) -> None:
    case = data.draw(trees(max_bodies=4, kinds=(kind,)))
    assert_agrees(started(case), case)


@settings(max_examples=40)
@given(trees(max_bodies=4, kinds=SEVERAL))
def test_random_trees_on_their_way(case: Case) -> None:
    solver = moved(case)
    assert_agrees(solver, case)


@settings(max_examples=100)
@given(trees(kinds=BOTH_WAYS, turned_round=True))
def test_trees_with_joints_that_point_towards_the_ground(case: Case) -> None:
    assert_agrees(started(case), case)


@pytest.mark.parametrize("kind", BOTH_WAYS)
@settings(max_examples=15)
@given(data=st.data())
def test_joints_of_one_kind_that_point_either_way(kind: str, data: Any) -> None:
    case = data.draw(trees(max_bodies=3, kinds=(kind,), turned_round=True))
    assert_agrees(started(case), case)


@settings(max_examples=40)
@given(trees(max_bodies=4, kinds=BOTH_WAYS, turned_round=True))
def test_joints_that_point_towards_the_ground_on_their_way(case: Case) -> None:
    solver = moved(case)
    assert_agrees(solver, case)
