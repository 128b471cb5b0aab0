"""Coupled coordinates: gears, racks, differentials, and couplings that conflict."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model
from support.closed import coupled, tree_state
from support.closed_agreement import CLOSED, assert_agrees, assert_closed, started
from support.sweeps import seeds


@pytest.mark.parametrize("seed", seeds(2, 8))
def test_coupled_coordinates_of_trees(seed: int) -> None:
    """Of every joint that has coordinates, excited ones too."""
    case = coupled(900 + seed)
    solver = started(case.model, case.inputs)
    for time in (0.0, 0.02, 0.07):
        solver.step(time)
        assert_coupled(solver, case.model)
        assert_agrees(solver, case, tree_state(solver, case.model))


@pytest.mark.parametrize("seed", seeds(2, 8))
def test_coupled_coordinates_within_loops(seed: int) -> None:
    case = coupled(1100 + seed, closed=True)
    solver = started(case.model, case.inputs)
    for time in (0.0, 0.02, 0.07):
        solver.step(time)
        assert_coupled(solver, case.model)
        assert_closed(solver, case.model)
        assert_agrees(solver, case)


def assert_coupled(solver: fm.Solver, model: fm.Model) -> None:
    for coupling in model.couplings:
        sums = [-coupling.constant, 0.0]
        for joint, mode, ratio in coupling.coordinates:
            free = len(joint.free_modes)
            names, k = (("q", "qd"), mode - 1) if mode <= free else (("eta", "kappa"), mode - 1 - free)
            for i, name in enumerate(names):
                sums[i] += ratio * np.ravel(solver.get(f"{joint.name}.{name}"))[k]
        assert_allclose(sums, 0.0, atol=10 * CLOSED)


def shafts(count: int, inertias: Any = (0.3, 0.7, 0.2), **options: Any) -> tuple[list[fm.Body], list[fm.Joint]]:
    """Wheels side by side that turn about z; on the ground, without weight along their axes."""
    ground = fm.Model("ground").ground
    bodies = [fm.Body(f"w{i}", mass=1.0 + i, inertia=np.diag([0.4, 0.4, inertias[i]])) for i in range(count)]
    joints = [fm.Revolute(f"J{i}", ground.at(i, 0, 0), b.at(), axis="z", **options) for i, b in enumerate(bodies)]
    return bodies, joints


def test_the_effective_inertia_of_a_gear_train() -> None:
    """I1 + I2 / i12^2 + I3 / (i12 i23)^2, felt at the first shaft."""
    bodies, (a, b, c) = shafts(3)
    model = fm.Model("train")
    model.add(*bodies, a, b, c, fm.Coupling.gear("G", a, b, ratio=-2.5), fm.Coupling.belt("H", b, c, radii=(0.1, 0.3)))
    solver = started(model, {"J0.tau": 2.0, "J2.tau": 1.0})
    ahead = np.array([1.0, -1 / 2.5, -1 / 2.5 / 3])
    qdd = (2.0 + 1.0 * ahead[2]) / (ahead**2 @ (0.3, 0.7, 0.2))
    assert_allclose([solver.get(f"J{i}.qdd") for i in range(3)], qdd * ahead, rtol=1e-14)
    assert_allclose(solver.get("G.tau")[0], 0.3 * qdd - 2.0, rtol=1e-13)
    assert_allclose(solver.get("H.tau")[1], 0.2 * qdd * ahead[2] - 1.0, rtol=1e-13)
    assert_allclose(solver.get("G.tau") @ (2.5, -1.0), 0.0, atol=1e-13)  # no power is lost
    assert_allclose(solver.get("J0.reaction.t"), 0.0, atol=1e-14)
    assert_allclose(solver.get("J0.wrench.t"), (0, 0, 0.3 * qdd), rtol=0, atol=1e-14)
    assert solver.mobility == 1
    units = {name: solver.image.variables.find(name).unit for name in ("G.tau[1]", "G.tau[2]")}
    assert set(units.values()) == {"N.m"}


def test_a_rack_falls_and_turns_its_pinion() -> None:
    """m g = (m + I / r^2) a; after a second x = a / 2."""
    model = fm.Model("rack")
    wheel, rack = fm.Body("wheel", mass=1.0, inertia=np.diag([0.1, 0.1, 0.02])), fm.Body("rack", mass=3.0)
    A = fm.Revolute("A", model.ground.at(rotation=fm.Rotation.about("x", np.pi / 2)), wheel.at(), axis="z")
    B = fm.Prismatic("B", model.ground.at(0.1, 0, 0), rack.at(), axis="z", q0=0.3)
    model.add(wheel, rack, A, B, fm.Coupling.rack("G", A, B, radius=0.1))
    solver = started(model)
    a = -3.0 * 9.81 / (3.0 + 0.02 / 0.01)
    solver.step(1.0)
    assert_allclose([solver.get("B.qdd"), solver.get("A.qdd")], [a, a / 0.1], rtol=1e-12)
    assert_allclose([solver.get("B.q"), solver.get("A.q")], [0.3 + a / 2, a / 2 / 0.1], rtol=1e-9)
    assert_allclose(solver.get("G.tau"), [3.0 * (a + 9.81), 0.02 * a / 0.1], rtol=1e-12)
    assert [solver.image.variables.find(f"G.tau[{i}]").unit for i in (1, 2)] == ["N", "N.m"]


def test_a_bevel_differential_halves_the_torque() -> None:
    """A pinion turns the cage; two side gears roll on two pinions in it: one half of the torque for each side."""
    model = fm.Model("differential", gravity=(0, 0, 0))
    at = model.ground.at()
    bodies = {
        name: fm.Body(name, mass=1.0, inertia=np.diag([0.1, 0.1, inertia]))
        for name, inertia in {"drive": 0.05, "cage": 0.15, "left": 0.2, "right": 0.2, "pinion": 0.04}.items()
    }
    D = fm.Revolute("D", model.ground.at(rotation=fm.Rotation.about("y", np.pi / 2)), bodies["drive"].at())
    C = fm.Revolute("C", at, bodies["cage"].at())
    L, R = (fm.Revolute(n, bodies["cage"].at(), bodies[b].at()) for n, b in (("L", "left"), ("R", "right")))
    P = fm.Revolute("P", bodies["cage"].at(), bodies["pinion"].at(rotation=fm.Rotation.identity()), axis="x")
    model.add(*bodies.values(), D, C, L, R, P)
    model.add(fm.Coupling.gear("crown", D, C, ratio=3.0))
    model.add(fm.Coupling.gear("one", L, P, ratio=0.5), fm.Coupling.gear("other", R, P, ratio=-0.5))
    solver = started(model, {"D.tau": 1.0})
    solver.step(0.5)
    for name in ("L", "R", "P"):  # driven alone, it turns as one
        assert_allclose(solver.get(f"{name}.q"), 0.0, atol=1e-12)
    solver.set("L.tau", 0.4)
    rates = solver.get("left.alpha")[2], solver.get("right.alpha")[2], solver.get("cage.alpha")[2]
    assert_allclose((rates[0] + rates[1]) / 2, rates[2], rtol=1e-12)
    assert_allclose(solver.get("one.tau")[0] + 0.4, 0.2 * rates[0], rtol=1e-11)
    assert_allclose(solver.get("other.tau")[0], 0.2 * rates[1], rtol=1e-11)
    assert solver.mobility == 2


def test_a_coupling_with_a_driven_joint_follows_it() -> None:
    """Its actuator bears what the coupling asks."""
    bodies, (a, b) = shafts(2)
    driven = fm.Joint("D", a.F, a.M, modes=[fm.Turn("z", role="excited", input="kappa_dot", kappa0=2.0)])
    model = fm.Model("driven")
    model.add(*bodies, driven, b, fm.Coupling.gear("G", b, driven, ratio=3.0))
    solver = started(model, {"D.kappa_dot": 0.5, "J1.tau": 0.1})
    solver.step(1.0)
    assert_allclose([solver.get("J1.q"), solver.get("J1.qd"), solver.get("J1.qdd")], [6.75, 7.5, 1.5], rtol=1e-9)
    assert_allclose(solver.get("G.tau"), [0.7 * 1.5 - 0.1, -3 * (0.7 * 1.5 - 0.1)], rtol=1e-9)
    assert_allclose(solver.get("D.drive"), 0.3 * 0.5 + 3 * (0.7 * 1.5 - 0.1), rtol=1e-9)


def test_the_offset_is_what_the_guesses_give_unless_it_is_given() -> None:
    found = []
    for offset in (None, 0.25):
        bodies, (a, b) = shafts(2, q0=0.3)
        model = fm.Model("two")
        b = replace(b, q0=-0.1, held=True)
        model.add(*bodies, a, b, fm.Coupling("G", [(a, 2.0), (b, 1.0)], offset=offset))
        solver = started(model)
        assert solver.get("J1.q") == -0.1
        found.append(solver.get("J0.q"))
    assert_allclose(found, [0.3, 0.175], rtol=1e-14)


def test_conflicting_couplings_are_an_error() -> None:
    bodies, (a, b) = shafts(2, held=True)
    model = fm.Model("two")
    model.add(*bodies, a, b, fm.Coupling("G", [(a, 1.0), (b, -2.0)], offset=0.1))
    with pytest.raises(
        fm.AssemblyError,
        match=r"coupling G of J0-J1 cannot close: nearest gap 0\.1 rad at 'J0'. Change its offset.*hold fewer",
    ):
        fm.Solver(model).assemble()


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        ([], "is empty. Give"),
        ([("A", 1.0)], r"\(joint, ratio\) or"),
        (lambda j: [(j[0], 0.0)], "ratio is zero"),
        (lambda j: [(j[0], 1.0), (j[0], 2.0)], "twice"),
        (lambda j: [(j[0], 2, 1.0)], "from 1 to 1"),
        (lambda j: [(fm.Spherical("S", j[0].F, j[0].M), 1.0)], "Take another"),
        (lambda j: [(fm.Skate("S", j[0].F, j[0].M), 1.0)], "do not follow from its velocities"),
        (
            lambda j: [(fm.Joint("S", j[0].F, j[0].M, modes=[fm.Turn("x", role="excited", input="kappa_dot")]), 1.0)],
            "fr",
        ),
    ],
)
def test_a_coupling_checks_its_terms(terms: Any, says: str) -> None:
    _, joints = shafts(2)
    with pytest.raises(fm.ModelError, match=says):
        fm.Coupling("G", terms(joints) if callable(terms) else terms)


def test_a_coupled_joint_must_be_in_the_model() -> None:
    bodies, (a, b) = shafts(2)
    model = fm.Model("two")
    model.add(*bodies, a, fm.Coupling.gear("G", a, b, ratio=2.0))
    with pytest.raises(fm.ModelError, match="'G' couples 'J1', which is not in the model"):
        compile(model)


def test_a_coupled_joint_stays_in_the_tree() -> None:
    near = read_model("four_bar")
    wheel = fm.Body("wheel", mass=0.1, inertia=np.eye(3) * 1e-3)
    model = fm.Model("coupled")
    W = fm.Revolute("W", near.ground.at(0, 0.1, 0), wheel.at(), axis="y")
    model.add(*near.bodies, wheel, *near.joints, W, fm.Coupling.gear("G", W, near["C"], ratio=-2.0))
    solver = started(model)
    assert solver.mobility == 1
    assert_closed(solver, near)
    assert_allclose(solver.get("W.qd") + 2.0 * solver.get("C.qd"), 0.0, atol=1e-11)
