"""Every kind of joint in the core against the oracle: random trees, at the start and in motion."""

from typing import Any

import pytest
from hypothesis import assume
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.errors import SolverError
from fmumbs.run import Solver
from support.strategies import BOTH_WAYS, EVERY, MULTI_MODE, Case, trees
from support.sweeps import examples
from support.tree_agreement import assert_agrees, started


def moved(case: Case) -> Solver:
    """After some steps; not if a law that grows with the square of a velocity makes it overflow."""
    solver = started(case.model, case.inputs)
    try:
        solver.step(0.01)
        solver.step(0.03)
    except SolverError as error:
        assume("unbounded" not in str(error) or not case.model.laws)
        raise
    return solver


@examples(10, 100, trees(kinds=EVERY))
def test_random_trees(case: Case) -> None:
    assert_agrees(started(case.model, case.inputs), case)


@pytest.mark.parametrize("kind", MULTI_MODE)
@examples(3, 25, data=st.data())
def test_trees_of_one_kind_of_joint(kind: str, data: Any) -> None:
    case = data.draw(trees(max_bodies=4, kinds=(kind,)))
    assert_agrees(started(case.model, case.inputs), case)


@examples(7, 40, trees(max_bodies=4, kinds=MULTI_MODE))
def test_random_trees_in_motion(case: Case) -> None:
    solver = moved(case)
    assert_agrees(solver, case)


@examples(10, 100, trees(kinds=BOTH_WAYS, turned_round=True))
def test_trees_with_joints_that_point_towards_the_ground(case: Case) -> None:
    assert_agrees(started(case.model, case.inputs), case)


@pytest.mark.parametrize("kind", BOTH_WAYS)
@examples(3, 15, data=st.data())
def test_joints_of_one_kind_that_point_either_way(kind: str, data: Any) -> None:
    case = data.draw(trees(max_bodies=3, kinds=(kind,), turned_round=True))
    assert_agrees(started(case.model, case.inputs), case)


@examples(7, 40, trees(max_bodies=4, kinds=BOTH_WAYS, turned_round=True))
def test_joints_that_point_towards_the_ground_in_motion(case: Case) -> None:
    solver = moved(case)
    assert_agrees(solver, case)


@pytest.mark.parametrize("turned_round", [False, True])
@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("mode", [fm.Turn("x"), fm.Helix("x", pitch=0.3), fm.Slide("x"), fm.Ball()])
def test_a_reaction_is_about_m_wherever_locked_modes_put_it(mode: Any, before: bool, turned_round: bool) -> None:
    """Without forces along its modes a joint's reaction is its whole wrench."""
    model = fm.Model("beside", gravity=(1.0, 2.0, -9.81))
    body = fm.Body("b", mass=0.2, com=(0.1, 0.2, 0.3), inertia=(0.012, 0.012, 0.012))
    locked = fm.Slide("y", role="locked", value=0.5)
    F, M = model.ground.at(0.1, 0.1, 0.1), body.at(0.05, -0.1, 0.2)
    if turned_round:
        F, M = M, F
    model.add(body, fm.Joint("J", F, M, modes=(locked, mode) if before else (mode, locked)))
    solver = Solver(fm.compile(model, everything=True))
    solver.assemble()
    for part in "ft":
        assert_allclose(solver.get(f"J.reaction.{part}"), solver.get(f"J.wrench.{part}"), rtol=0, atol=1e-14)
