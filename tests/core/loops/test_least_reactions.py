"""Reactions that are not unique are the least that balance: beside a dense least-squares problem over the oracle."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.readers import read_model
from oracle import Oracle
from oracle.answer import Answer
from support.closed import Closed, plane, space, state_of
from support.closed_agreement import WELL, singular, started
from support.sweeps import seeds

SAME = 1e-9
"""Relative to the largest reaction; torques over the model's length."""
MODELS: dict[str, dict[str, Any]] = {
    "bricard": {},
    "bennett": {},
    "engine": {},
    "ladder": {"windows": 7},
    "parallel_cranks": {"cranks": "RR RR RS"},
    "parallelogram_pendulum": {},
}


def length_of(model: fm.Model) -> float:
    """Twice the largest arm from a body's centre of mass to its frame and its joints [m]."""
    arms = [np.linalg.norm(body.com) for body in model.bodies]
    for end in (end for joint in model.joints for end in joint.ends):
        if end.body is not model.ground:
            arms.append(np.linalg.norm(end.X_BP.translation - np.asarray(end.body.com)))
    return 2.0 * float(max(arms))


def reactions(solver: fm.Solver, model: fm.Model) -> np.ndarray:
    """(joints, 6): torque over the model's length, and force."""
    length = length_of(model)
    stems = [f"{joint.name}.reaction" for joint in model.joints]
    return np.array([[solver.get(f"{stem}.t") / length, solver.get(f"{stem}.f")] for stem in stems]).reshape(-1, 6)


def assert_least(case: Closed, time: float = 0.0) -> bool:
    """False for a position that is too near to a singular one, and for a mechanism without redundancy."""
    solver = started(case.model, case.inputs)
    solver.step(time)
    state = state_of(solver, case.model)
    oracle = Oracle(case.model)
    values, idle, places = singular(oracle, state)
    if values[-1] < WELL * values[0]:
        return False
    if not idle.shape[1]:
        return False
    answer = oracle.solve(state, case.inputs)
    length = length_of(case.model)
    scale = np.repeat([1 / length, 1.0], 3)
    some, changes = [], []
    for joint in oracle.joints:
        J = oracle._rows(state, joint)[0]
        some.append(scale * np.concatenate([answer[f"{joint.name}.reaction.t"], answer[f"{joint.name}.reaction.f"]]))
        put = Answer(oracle, state, np.zeros(6 * len(oracle.bodies)))
        changes.append([scale * put._on_M(joint, J.T @ one[places[joint.name]]) for one in idle.T])
    change = np.array(changes).transpose(0, 2, 1).reshape(-1, idle.shape[1])
    part = np.linalg.lstsq(change, -np.ravel(some), rcond=None)[0]
    least = np.ravel(some) + change @ part
    assert_allclose(np.ravel(reactions(solver, case.model)), least, rtol=0, atol=SAME * max(1.0, np.abs(least).max()))
    return True


def doubled(seed: int) -> Closed:
    """A random mechanism in space, with joints beside some of its hinges and slides that do what these do already."""
    rng = np.random.default_rng(seed)
    case = space(seed)
    joints = [joint for joint in case.model.joints if isinstance(joint, fm.Revolute | fm.Prismatic)]
    model = fm.Model("doubled", gravity=case.model.gravity)
    model.add(*case.model.bodies, *case.model.joints, *case.model.springs, *case.model.loads)
    for index, joint in enumerate(joints[:2]):
        turns = isinstance(joint, fm.Revolute)
        aside = rng.uniform(0.2, 0.6) * np.asarray(joint.axis) if turns else rng.uniform(-0.5, 0.5, 3)
        ends = [
            end.body.at(*(end.X_BP.translation + end.X_BP.rotation.matrix @ aside), rotation=end.X_BP.rotation)
            for end in joint.ends
        ]
        model.add(type(joint)(f"again{index}", *ends, axis=joint.axis, cut=True))
    return Closed(model, case.cuts, case.inputs)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("time", [0.0, 0.05])
def test_models(name: str, time: float) -> None:
    assert assert_least(Closed(read_model(name, MODELS[name]), {}, {}), time)


@pytest.mark.parametrize("seed", seeds(20, 100))
def test_random_loops_in_a_plane(seed: int) -> None:
    assert any(assert_least(plane(300 + seed + 1000 * again, loops=1 + seed % 3), 0.02) for again in range(4))


@pytest.mark.parametrize("seed", seeds(12, 60))
def test_random_doubled_joints_in_space(seed: int) -> None:
    assert any(assert_least(doubled(2000 + seed + 1000 * again), 0.02) for again in range(4))


def test_they_follow_the_inputs_linearly() -> None:
    """Directional derivatives of reactions are exact, the least ones' too."""
    solver = started(read_model("four_bar", {}))
    names = [f"{joint}.reaction.{what}[{k}]" for joint in "ABCD" for what in ("f", "t") for k in (1, 2, 3)]
    slopes = solver.directional_derivative(names, ["A.tau"], [1.0])
    before = np.array([solver.get(name) for name in names])
    solver.set("A.tau", 2.0)
    after = np.array([solver.get(name) for name in names])
    assert_allclose(after - before, 2.0 * np.asarray(slopes), rtol=0, atol=1e-10 * np.abs(after).max())


def test_nothing_is_left_of_them_in_the_motion() -> None:
    """Whoever reads reactions changes no bit of what follows."""
    ends = []
    for reads in (False, True):
        solver = started(read_model("bricard", {}))
        for k in range(20):
            solver.step(0.05 * (k + 1))
            if reads:
                solver.get("J3.reaction.f")
        ends.append([solver.get(f"J{k}.qd") for k in range(1, 7)])
    assert ends[0] == ends[1]
