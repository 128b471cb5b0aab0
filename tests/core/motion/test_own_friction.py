"""Friction that the joint's own reaction loads: random mechanisms beside SciPy, closed forms, jams, refusals."""

import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import fmumbs as fm
from oracle import Oracle
from support import closed, rubbing
from support.apart import with_skate
from support.closed_agreement import is_well
from support.energy import energy_and_power
from support.rubbing import crank
from support.slave import DISCARD, OK, Slave, unpacked_fmu
from support.strategies import BOTH_WAYS, Case, trees
from support.sweeps import each_value, seeds
from support.tree_agreement import assert_agrees, present_state

OWN = fm.LuGre(0.3, 0.2, stribeck=0.1, stiffness=1e3, damping=0.02, viscous=0.01, own=True)


SCHEMES = ("dopri5", "dop853", "radau", "auto", "rk4")
WAYS = [{"scheme": scheme, "dynamics": dynamics} for scheme in SCHEMES for dynamics in ("riccati", "copcod")]
EVERY_WAY = pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way.values()))


def started(model: fm.Model, **options: object) -> fm.Solver:
    solver = fm.Solver(fm.compile(model).with_options(**options))
    solver.assemble()
    return solver


@settings(max_examples=12)
@given(trees(max_bodies=3, kinds=(*BOTH_WAYS, "revolute", "prismatic"), turned_round=True), st.integers(0, 10**6))
def test_random_trees(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    joints = {joint.name: rubbing.rubbed(rng, joint) for joint in case.model.joints}
    model = rubbing.with_joints(case.model, joints)
    solver = started(model)
    for name, value in case.inputs.items():
        solver.set(name, value)
    rubbing.deflect(rng, solver, model)
    oracle = Oracle(case.model)
    inputs, loads = rubbing.friction_inputs(solver, model, oracle, present_state(solver, oracle), case.inputs)
    for name, load in loads.items():
        assert solver.get(f"{name}.load") == pytest.approx(load, rel=1e-8, abs=1e-9)
    assert_agrees(solver, Case(case.model, inputs))


@pytest.mark.parametrize("seed", seeds(4, 16))
@pytest.mark.parametrize("kind", ["plane", "space"])
def test_random_loops(kind: str, seed: int) -> None:
    """All accelerations and loads, also of cut joints.

    What jams, or has reactions that are not unique, is drawn again.
    """
    for again in range(20):
        rng = np.random.default_rng([seed, again])
        sorts = ("revolute", "prismatic", "spherical", "cylindrical")
        number = seed + 1000 * again
        case = closed.plane(number) if kind == "plane" else closed.space(number, sorts=sorts)
        joints = {joint.name: rubbing.rubbed(rng, joint) for joint in case.model.joints}
        if kind == "plane":  # its axial forces are not unique
            joints = {n: replace(j, friction=replace(j.friction, collar=0.0)) for n, j in joints.items()}
        model = rubbing.with_joints(case.model, joints)
        try:
            solver = started(model)
        except (fm.ModelError, fm.AssemblyError):
            continue
        oracle, state = Oracle(case.model), closed.state_of(solver, case.model)
        for name, value in case.inputs.items():
            solver.set(name, value)
        rubbing.deflect(rng, solver, model)
        moves = np.isfinite(solver.get("b0.alpha")).all()  # it does not jam
        if moves and is_well(oracle, state) and any(joint.friction for joint in joints.values()):
            break
    rubs = [one for joint in model.joints if joint.friction for one in rubbing.contacts(joint)]
    near = {one.name: 1.01 * solver.get(f"{one.name}.load") for one in rubs}
    inputs, loads = rubbing.friction_inputs(solver, model, oracle, state, case.inputs, near)
    answer = oracle.solve(state, inputs)
    for name, load in loads.items():
        assert solver.get(f"{name}.load") == pytest.approx(load, rel=1e-6, abs=1e-7)
    for body in case.model.bodies:
        for what in ("a", "alpha"):
            expected = answer[f"{body.name}.{what}"]
            scale = 1e-7 * (1 + np.abs(expected).max())
            assert_allclose(solver.get(f"{body.name}.{what}"), expected, rtol=0, atol=scale)


# Closed forms ------------------------------------------------------------------------------------------------------


def block(friction: fm.LuGre, u0: float = 1.0, height: float = 0.0) -> fm.Model:
    """A block of 2 kg on a level rail, pushed at a height above it."""
    model = fm.Model("block")
    body = fm.Body("block", mass=2.0, inertia=(1, 1, 1))
    model.add(body, fm.Prismatic("J", model.ground.at(), body.at(), axis="x", u0=u0, friction=friction))
    model.add(fm.Load("push", body.at(0, 0, height)))
    return model


def test_a_block_on_a_rail_is_slowed_by_its_weight() -> None:
    solver = started(block(replace(OWN, viscous=0.0, stribeck=0.01)))
    solver.step(0.2)
    assert solver.get("J.friction.load") == pytest.approx(2 * 9.81, rel=1e-12)
    assert solver.get("J.qdd") == pytest.approx(-0.2 * 9.81, rel=1e-6)
    solver.set("push.force", (0, 0, -10))
    assert solver.get("J.friction.load") == pytest.approx(2 * 9.81 + 10, rel=1e-12)


@EVERY_WAY
def test_a_drawer_that_is_pushed_far_from_its_guide_jams(way: dict[str, str]) -> None:
    """A guide at 0.5 m from the rail carries the moment of friction itself: no solution where mu h / l exceeds 1."""
    drawer = fm.Model("drawer", gravity=(0, 0, 0))
    body = fm.Body("drawer", mass=1.0, com=(0, 0.5, 0), inertia=(0.1, 0.1, 0.1))
    drawer.add(body, fm.Prismatic("rail", drawer.ground.at(), body.at(), axis="x", u0=1.0, friction=guided(0.1)))
    drawer.add(fm.Load("push", body.at(0, 0.5, 0)))
    with pytest.raises(fm.SolverError, match="joint 'rail' jams"):
        started(drawer, step=1e-4, **way).step(0.5)
    wide = fm.Model("drawer", gravity=(0, 0, 0))
    wide.add(body, replace(drawer["rail"], friction=guided(1.0)), drawer["push"])
    solver = started(wide, step=1e-4, **way)
    solver.step(0.5)
    assert 0.0 < solver.get("rail.qd") <= 1.0


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_a_jam_in_an_fmu_is_a_discarded_step_that_names_the_joint(dynamics: str, tmp_path: Path) -> None:
    """It slides until the push beside its guide would need more friction than there is."""
    drawer = fm.Model("drawer", gravity=(0, 0, 0))
    body = fm.Body("drawer", mass=1.0, com=(0, 0.5, 0), inertia=(0.1, 0.1, 0.1))
    drawer.add(body, fm.Prismatic("rail", drawer.ground.at(), body.at(), axis="x", u0=1.0, friction=guided(1.0)))
    slave = Slave(unpacked_fmu(tmp_path / "drawer", drawer, dynamics=dynamics))
    slave.start()
    assert slave.step(0.0, 0.1) == OK
    assert slave.set("rail.friction.scale", 10.0) == OK
    assert slave.step(0.1, 0.1) == DISCARD
    assert "joint 'rail' jams" in slave.say
    assert slave.set("rail.friction.scale", 1.0) == OK
    assert slave.step(slave.real_status()[1], 0.1) == OK
    slave.free()


def guided(guide: float) -> fm.LuGre:
    """The moment of the drawer's inertia about the rail is friction times half a metre."""
    return replace(OWN, static=0.5, kinetic=0.5, viscous=0.0, damping=0.5, preload=0.1, guide=guide)


@pytest.mark.parametrize("scheme", ["dopri5", "radau", "dop853"])
@pytest.mark.parametrize("before", [1.0, 3.0, 1e4])
def test_of_two_normal_forces_that_balance_the_least_is_there_whatever_came_before(scheme: str, before: float) -> None:
    """A drawer pulled beside its centre of mass: N = |5 f - 2.5 N|, which 5 f / 3.5 and 5 f / 1.5 solve."""
    model = fm.Model("drawer", gravity=(0, 0, 0))
    body = fm.Body("drawer", mass=1.0, com=(0, 0.5, 0), inertia=(0.1, 0.1, 0.1))
    rub = replace(guided(0.1), preload=0.0)
    model.add(body, fm.Prismatic("rail", model.ground.at(), body.at(), axis="x", u0=1.0, friction=rub))
    model.add(fm.Load("pull", body.at()))
    solver = started(model, scheme=scheme)
    solver.set("rail.friction.z", 0.5 / 1e3)  # it slides
    solver.assemble()
    for time, force in ((1e-3, before), (2e-3, 1.0)):
        solver.set("pull.force", (force, 0, 0))
        solver.step(time)
    assert solver.get("rail.friction.load") == pytest.approx(5 / 3.5, rel=1e-9)


@pytest.mark.parametrize("sign", [1, -1])
def test_directional_derivatives_have_what_friction_makes_of_them(sign: int) -> None:
    """Also of forces along an axis, of either sign."""
    model = fm.Model("arm")
    a, b = (fm.Body.rod(name, length=0.5, mass=1.0) for name in "ab")
    rub = replace(OWN, radius=0.05, collar=0.02, pressed=True, scaled=True)
    model.add(a, b, fm.Revolute("A", model.ground.at(), a.base, axis="y", u0=2.0, friction=rub))
    model.add(fm.Revolute("B", a.tip, b.base, axis=(0, sign, sign), u0=-1.0, friction=rub))
    model.add(fm.Load("push", b.tip))
    solver = started(model, tolerance=1e-10)
    solver.set("A.friction.normal", 1.0)
    solver.step(0.1)
    names = ["A.qdd", "B.qdd", "A.friction.load", "B.friction.force", "A.reaction.f[1]", "B.wrench.t[2]"]
    for known in ("A.tau", "B.tau", "A.friction.normal", "B.friction.scale_in", "push.force[3]", "push.torque[1]"):
        at, found = solver.get(known), solver.directional_derivative(names, [known], [1.0])
        sides = []
        for width in (1e-4, -1e-4):
            solver.set(known, at + width)
            sides.append(np.array([solver.get(name) for name in names]))
        solver.set(known, at)
        assert_allclose(found, (sides[0] - sides[1]) / 2e-4, rtol=1e-6, atol=1e-8, err_msg=known)


# Runs --------------------------------------------------------------------------------------------------------------


def test_schemes_cuts_and_communication_steps_agree() -> None:
    names = ["A.q", "D.q", "A.friction.load", "D.friction.load", "C.friction.load"]
    found = []
    for scheme, cut, interval in (("dop853", "D", 0.1), ("radau", "C", 0.1), ("radau", "D", 0.01)):
        run = {"scheme": scheme, "stop": 0.1, "interval": interval, "tolerance": 1e-9, "outputs": names}
        result = fm.simulate(crank(OWN, cut), **run)
        found.append([result[name][-1] for name in names])
    assert_allclose(found[1], found[0], rtol=1e-5)
    assert_allclose(found[2], found[0], rtol=1e-5)


@each_value
@EVERY_WAY
def test_every_scheme_and_both_formulations_agree_and_account_for_the_energy(way: dict[str, str]) -> None:
    """In motion and in what loads friction; the crank loses what its four frictions take."""
    solver, exact = started(crank(OWN), tolerance=1e-9, step=1e-5, **way), reference()
    names = ["A.q", "B.q[1]", "B.q[2]", "D.q", "B.friction[2].load", *(f"{joint}.friction.load" for joint in "ACD")]

    def power() -> float:
        forces = [("A.friction.force", "A.qd"), ("C.friction.force", "C.w"), ("D.friction.force", "D.qd")]
        forces += [(f"B.friction[{k}].force", f"B.qd[{k}]") for k in (1, 2)]
        return -sum(float(np.sum(solver.get(force) * solver.get(rate))) for force, rate in forces)

    fell, taken = energy_and_power(solver, power, 1e-4, 200)
    assert taken == pytest.approx(fell, rel=1e-4)
    for name in names:
        assert_allclose(solver.get(name), exact[name], rtol=1e-6, atol=1e-6, err_msg=name)


@cache
def reference() -> dict[str, object]:
    exact = started(crank(OWN), tolerance=1e-11, scheme="dop853")
    exact.step(0.02)
    return {name: exact.get(name) for name in exact.image.variables.names()}


@each_value
@EVERY_WAY
def test_a_saved_state_continues_bit_for_bit_whatever_is_read(way: dict[str, str]) -> None:
    options = {"step": 2e-5} | way
    one, other = started(crank(OWN), **options), fm.Solver(fm.compile(crank(OWN)).with_options(**options))
    one.step(0.0203)
    other.state_load(one.state_save())
    names = ["A.q", "A.friction.z", "A.friction.load", "D.friction.load", "C.friction.force"]
    for time in (0.03, 0.04):
        one.get("A.reaction.f")
        one.directional_derivative(["A.qdd"], ["A.tau"], [1.0])
        one.step(time)
        other.step(time)
    for name in names:
        assert np.array_equal(one.get(name), other.get(name)), name


def test_friction_on_a_reaction_that_is_not_unique_is_refused_unless_the_user_insists() -> None:
    def bar(rub: fm.LuGre) -> fm.Model:
        model = fm.Model("bar")
        a, b, c = (fm.Body.rod(n, length=size, mass=1.0) for n, size in (("a", 0.1), ("b", 0.26), ("c", 0.22)))
        model.add(a, b, c, fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=-1.2, u0=2.0, friction=rub))
        model.add(fm.Revolute("B", a.tip, b.base, axis="y", friction=replace(OWN, radius=0.01)))
        model.add(fm.Revolute("D", model.ground.at(0.25, 0, 0), c.base, axis="y"))
        model.add(fm.Revolute("C", b.tip, c.tip, axis="y"))
        return model

    collar = replace(OWN, radius=0.01, collar=0.01)
    with pytest.raises(fm.ModelError, match=r"Revolute 'A' has friction on its own reaction.* f\[2\]"):
        fm.compile(bar(collar))
    solver = started(bar(replace(collar, insist=True)))
    solver.step(0.01)
    f = solver.get("A.reaction.f")
    assert solver.get("A.friction.load") == pytest.approx(0.01 * math.hypot(f[0], f[2]) + 0.01 * abs(f[1]), rel=1e-8)
    started(bar(replace(OWN, radius=0.01))).step(0.01)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda g, b: fm.Revolute("J", g, b, friction=OWN), "no radius or collar"),
        (lambda g, b: fm.Revolute("J", g, b, friction=replace(OWN, radius=0.1, guide=1.0)), "has a guide"),
        (lambda g, b: fm.Prismatic("J", g, b, friction=replace(OWN, radius=0.1)), "has a radius"),
        (lambda g, b: fm.Prismatic("J", g, b, friction=replace(OWN, collar=0.1)), "has a collar"),
    ],
)
def test_lengths_that_a_joint_needs_or_does_not_have(make, message: str) -> None:
    model = fm.Model("lengths")
    body = fm.Body("body", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(fm.ModelError, match=message):
        make(model.ground.at(), body.at())


@pytest.mark.parametrize("spring", ["ball", "nonholonomic"])
def test_implicit_stages_have_the_same_normal_forces_in_both_formulations(spring: str) -> None:
    """Springs of the joints count as inertias in a stage, and so in the multipliers that load a joint's friction."""
    model = fm.Model("stage")
    a, b = (fm.Body(name, mass=1, com=(0.3, 0.1, 0.2), inertia=(0.3, 0.2, 0.25)) for name in "ab")
    ends, springs = (a.at(1, 0, 0), b.at()), {"stiffness": 100.0, "damping": 1.0}
    if spring == "ball":
        B: fm.Spherical | fm.Joint = fm.Spherical("B", *ends, **springs)
    else:
        modes, rows = [fm.Turn("x"), fm.Turn("z"), fm.Turn("y")], np.random.default_rng(3).normal(size=(3, 6))
        each = {name: [value] * 3 for name, value in springs.items()}
        B = fm.Joint("B", *ends, modes=modes, velocity_rows=rows[:1], speed_rows=rows[1:], **each)
    pads = replace(OWN, radius=0.05)
    model.add(a, b, fm.Revolute("A", model.ground.at(), a.at(), axis="y", q0=0.3, friction=pads), B)
    model.add(fm.PointOnPlane("D", model.ground.at(0, 0, -0.6), b.at(0.5, 0, 0.5)))
    with_skate(model)
    found = []
    for dynamics in ("riccati", "copcod"):
        solver = started(model, scheme="radau", dynamics=dynamics, tolerance=1e-6)
        solver.step(0.1)
        found.append([solver.get(name) for name in ("A.q", "A.qd", "A.friction.load")])
    assert_allclose(found[1], found[0], rtol=1e-11)
