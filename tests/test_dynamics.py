"""The core's dynamics against the oracle on random trees, and against the transcription of riccati-mstmm."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracle import Oracle
from papers import branches
from papers.riccati import PLANE, SPACE, Layout, multiply_chain
from strategies import JOINTS, Case, trees

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.run import Solver

AGREEMENT = 1e-10
"""Relative to the largest acceleration, or force, of the mechanism. The dense system of the oracle has a
condition of up to 1e5 in these units, and 1e5 roundings of 1e-16 are 1e-11."""

KINEMATIC = ("qdd", "alpha", "a", "r", "v", "w", "length")
PLACES = {"plane": PLANE, "space": SPACE}


def started(model: fm.Model, inputs: dict[str, Any] | None = None) -> Solver:
    solver = Solver(compile(model))
    solver.assemble()
    for name, value in (inputs or {}).items():
        solver.set(name, value)
    return solver


def assert_agrees(case: Case) -> None:
    oracle = Oracle(case.model)
    state = oracle.state()
    answer = oracle.solve(state, case.inputs)
    solver = started(case.model, case.inputs)
    kinematic = [name for name in answer.keys() if name.split(".")[-1] in KINEMATIC]
    forces = [name for name in answer.keys() if name not in kinematic]
    for names in (kinematic, forces):
        scale = max([1.0, *(np.abs(answer[name]).max(initial=0.0) for name in names)])
        for name in names:
            found = solver.get(name)
            assert_allclose(found, answer[name], rtol=0, atol=AGREEMENT * scale, err_msg=name)
    energy = oracle.energy(state)
    assert_allclose(solver.get("solver.energy"), energy, rtol=AGREEMENT, atol=AGREEMENT)


# The core and the oracle -----------------------------------------------------------------------------------


@settings(max_examples=150)
@given(trees())
def test_random_trees(case: Case) -> None:
    assert_agrees(case)


@pytest.mark.parametrize("kind", JOINTS)
@settings(max_examples=25)
@given(data=st.data())
def test_trees_of_one_kind_of_joint(kind: str, data: Any) -> None:
    assert_agrees(data.draw(trees(kinds=(kind,))))
