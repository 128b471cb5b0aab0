"""Reactions that are not unique are the least that balance: beside a dense least-squares problem over the oracle."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.readers import read_model
from oracle import Oracle
from oracle.answer import Answer
from oracle.joints import turn
from support.closed import Closed, at, body, coupled, plane, space, state_of
from support.closed_agreement import WELL, assert_balanced, singular, started
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
    """False for a position that is too near to a singular one, and for a mechanism without redundancy.

    Forces of couplings that are then unique belong to these reactions.
    """
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
    part, _, unique, _ = np.linalg.lstsq(change, -np.ravel(some), rcond=1e-9)
    least = np.ravel(some) + change @ part
    within = SAME * max(1.0, np.abs(least).max())
    assert_allclose(np.ravel(reactions(solver, case.model)), least, rtol=0, atol=within)
    assert_balanced(solver, case, oracle, state, max(1.0, length) * within)
    for coupling in case.model.couplings if unique == idle.shape[1] else ():
        ratios = np.array([ratio for _, _, ratio in coupling.coordinates])
        expected = answer[f"{coupling.name}.tau"] + ratios * (idle[places[coupling.name]] @ part)
        assert_allclose(solver.get(f"{coupling.name}.tau"), expected, rtol=0, atol=max(1.0, length) * within)
    return True


def doubled(case: Closed, seed: int) -> Closed:
    """The same with joints beside some of its hinges and slides that do what these do already."""
    rng = np.random.default_rng(seed)
    joints = [joint for joint in case.model.joints if isinstance(joint, fm.Revolute | fm.Prismatic)]
    for index, joint in enumerate(joints[:2]):
        turns = isinstance(joint, fm.Revolute)
        aside = rng.uniform(0.2, 0.6) * np.asarray(joint.axis) if turns else rng.uniform(-0.5, 0.5, 3)
        ends = [
            end.body.at(*(end.X_BP.translation + end.X_BP.rotation.matrix @ aside), rotation=end.X_BP.rotation)
            for end in joint.ends
        ]
        case.model.add(type(joint)(f"again{index}", *ends, axis=joint.axis, cut=True))
    return case


def turned_round(case: Closed, seed: int) -> Closed:
    """The same with some of its joints the other way round, so that the tree has some that point to the ground."""
    rng = np.random.default_rng(seed)
    model = fm.Model("round", gravity=case.model.gravity)
    joints = [backwards(joint) if rng.random() < 0.5 else joint for joint in case.model.joints]
    model.add(*case.model.bodies, *joints, *case.model.springs, *case.model.loads)
    return Closed(model, case.cuts, case.inputs)


def backwards(joint: Any) -> Any:
    if not isinstance(joint, fm.Revolute | fm.Prismatic):
        return joint
    return replace(joint, F=joint.M, M=joint.F, q0=-joint.q0, u0=-joint.u0, rotor_inertia=0.0)  # may be cut then


def belted(seed: int) -> Closed:
    """A platform on cranks that turn alike, with belts between some of these: they do what the platform does.

    The cranks' joints turn about one axis, and may slide along it.
    """
    rng = np.random.default_rng(seed)
    model = fm.Model("belted", gravity=rng.uniform(-10, 10, 3))
    R, axis, arm = turn(rng.uniform(-2, 2, 3)), rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
    start, kind = rng.uniform(-1, 1), str(rng.choice(("revolute", "cylindrical", "screw")))
    cranks, platform = [body(rng, f"crank{i}") for i in range(rng.integers(2, 7))], body(rng, "platform")
    model.add(*cranks, platform)
    base: list[fm.Joint] = []
    sense = rng.choice((-1.0, 1.0), len(cranks))
    feet = rng.uniform(-1, 1, (len(cranks), 3))
    for crank, sign, foot in zip(cranks, sense, feet, strict=True):
        ends = (at(model.ground, R @ foot, R), crank.at())[:: int(sign)]
        name = f"base_{crank.name}"
        match kind:
            case "revolute":
                base.append(fm.Revolute(name, *ends, axis=axis, q0=sign * start, u0=sign))
            case "cylindrical":
                base.append(fm.Cylindrical(name, *ends, axis=axis, q0=(sign * start, 0), u0=(sign, 0)))
            case _:
                base.append(fm.Screw(name, *ends, axis=axis, pitch=0.2, q0=sign * start, u0=sign))
    model.add(*base)
    for crank, foot in zip(cranks, feet, strict=True):
        ends = (crank.at(*arm), platform.at(*foot))[:: int(rng.choice((-1, 1)))]
        model.add(fm.Revolute(f"top_{crank.name}", *ends, axis=axis, cut=crank is not cranks[0]))
    for index in range(rng.integers(1, 4)):
        some = rng.permutation(len(cranks))[: rng.integers(2, 4)]
        ratios = rng.uniform(-1, 1, len(some))
        ratios = (ratios - ratios.mean()) * sense[some]
        model.add(fm.Coupling(f"belt{index}", [(base[i], 1, r) for i, r in zip(some, ratios, strict=True)]))
    return Closed(model, (), {})


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("time", [0.0, 0.05])
def test_models(name: str, time: float) -> None:
    assert assert_least(Closed(read_model(name, MODELS[name]), {}, {}), time)


@pytest.mark.parametrize("seed", seeds(7, 100))
def test_random_loops_in_a_plane(seed: int) -> None:
    """Whichever way their joints point."""
    cases = (plane(300 + seed + 1000 * again, loops=1 + seed % 3) for again in range(4))
    assert any(assert_least(turned_round(case, seed), 0.02) for case in cases)


@pytest.mark.parametrize("seed", seeds(6, 60))
def test_random_doubled_joints_in_space(seed: int) -> None:
    cases = (space(2000 + seed + 1000 * again) for again in range(4))
    assert any(assert_least(doubled(case, seed), 0.02) for case in cases)


@pytest.mark.parametrize("seed", seeds(4, 60))
def test_random_doubled_joints_among_coupled_ones(seed: int) -> None:
    cases = (coupled(3000 + seed + 1000 * again, closed=True) for again in range(4))
    assert any(assert_least(doubled(case, seed), 0.02) for case in cases)


@pytest.mark.parametrize("seed", seeds(6, 100))
def test_belts_share_the_load_with_joints(seed: int) -> None:
    assert any(assert_least(belted(seed + 1000 * again), 0.02) for again in range(4))


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
