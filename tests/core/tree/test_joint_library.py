"""Every kind of joint in the core against the oracle: random trees, at the start and in motion."""

from typing import Any

import pytest
from hypothesis import assume
from hypothesis import strategies as st

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


@examples(15, 100, trees(kinds=EVERY))
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


@examples(15, 100, trees(kinds=BOTH_WAYS, turned_round=True))
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
