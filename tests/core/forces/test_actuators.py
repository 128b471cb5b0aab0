"""Actuators: a force between two points as an input, a length as an input, thrust that follows a body."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.both_ways import runs

CLOSED_FORM = 1e-9  # relative: of runs at a tolerance of 1e-12
ENERGY = 1e-8  # relative: power is summed over 200 intervals by Simpson's rule
TIGHT = {"tolerance": 1e-12, "scheme": "dop853"}


def ram(**given: Any) -> fm.Model:
    """An arm that a ram lifts."""
    model = fm.Model("arm")
    arm = fm.Body("arm", mass=2.0, com=(0.5, 0, 0), inertia=(0.1, 0.2, 0.3))
    model.add(arm, fm.Revolute("A", model.ground.at(), arm.at(), axis="y", q0=0.1))
    ends = model.ground.at(0, 0, -1.0), arm.at(0.8)
    if "force" in given:
        model.add(fm.Actuator("R", *ends, **given))
    else:
        model.add(fm.ProgrammedLength("R", *ends, **given))
    return model


def length(q: Any) -> Any:
    """Of the ram at the arm's angle, and its derivative."""
    height = 1.0 - 0.8 * np.sin(q)
    found = np.hypot(0.8 * np.cos(q), height)
    return found, -0.8 * np.cos(q) / found  # (0.64 + 1 - 1.6 sin q)' / 2 l


def weight(q: Any) -> Any:
    return 2.0 * 9.81 * 0.5 * np.cos(q)


INERTIA = 0.2 + 2.0 * 0.25


def test_an_actuator_pushes_its_points_apart_by_its_input(tmp_path: Path) -> None:
    model = fm.Model("sled", gravity=(0, 0, 0))
    sled = fm.Body("sled", mass=2.0, inertia=(1, 1, 1))
    model.add(sled, fm.Prismatic("s", model.ground.at(), sled.at(), axis="x", q0=1.0))
    model.add(fm.Actuator("R", model.ground.at(), sled.at(), force=1.0))
    names = ["s.q", "R.length", "R.power"]
    for what, t, found in runs(tmp_path, model, names, stop=1.0, interval=0.1, starts={"R.force": 3.0}, **TIGHT):
        assert_allclose(found["s.q"], 1.0 + 0.75 * t**2, rtol=CLOSED_FORM, err_msg=what)
        assert_allclose(found["R.length"], found["s.q"], rtol=1e-15, err_msg=what)
        assert_allclose(found["R.power"], 3.0 * 1.5 * t, rtol=CLOSED_FORM, atol=1e-14, err_msg=what)


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_power_is_the_rate_of_energy(dynamics: Any) -> None:
    result = ram(force=40.0).simulate(stop=1.0, interval=0.005, dynamics=dynamics, **TIGHT)
    power, h = result["R.power"], 0.005
    work = h / 3.0 * (power[:-2:2] + 4.0 * power[1:-1:2] + power[2::2]).cumsum()
    energy = result["solver.energy"]
    assert_allclose(energy[2::2] - energy[0], work, rtol=ENERGY, atol=ENERGY * np.abs(energy).max())


def test_derivatives_by_the_input_are_those_of_a_force_along_the_line() -> None:
    solver = fm.Solver(ram(force=40.0))
    solver.assemble()
    solver.set("A.qd", 0.7)
    _, slope = length(0.1)
    found = solver.directional_derivative(["A.qdd", "R.power", "R.length"], ["R.force"], [1.0])
    assert_allclose(np.ravel(found), [slope / INERTIA, slope * 0.7, 0.0], rtol=1e-12)
    exact = fm.Solver(ram(force=40.0), derivatives=True)
    exact.assemble()
    exact.set("A.qd", 0.7)
    back = [exact.adjoint([name], ["R.force"], [1.0]) for name in ("A.qdd", "R.power", "R.length")]
    assert_allclose(np.ravel(back), [slope / INERTIA, slope * 0.7, 0.0], rtol=1e-12)


@pytest.mark.parametrize("options", [{}, {"dynamics": "copcod"}, {"scheme": "radau", "tolerance": 1e-12}])
def test_a_length_is_followed_with_the_force_that_it_takes(tmp_path: Path, options: Any) -> None:
    model = ram(path=fm.Path.quintic([0.0, 1.0], [1.2, 1.5]))
    names = ["A.q", "A.qdd", "R.position", "R.target", "R.drive"]
    for what, _, found in runs(tmp_path, model, names, stop=1.0, interval=0.05, **(TIGHT | options)):
        long, slope = length(found["A.q"])
        assert_allclose(found["R.position"], long, rtol=1e-14, err_msg=what)
        assert_allclose(long, found["R.target"], rtol=1e-11, err_msg=what)  # closed to the closure's 1e-12
        takes = (INERTIA * found["A.qdd"] - weight(found["A.q"])) / slope
        assert_allclose(found["R.drive"], takes, rtol=CLOSED_FORM, atol=CLOSED_FORM, err_msg=what)


def test_lengths_as_inputs() -> None:
    solver = fm.Solver(ram(input="eta", cutoff=200.0, start=1.2), **TIGHT)
    solver.assemble()
    solver.set("R.eta_in", 1.3)
    solver.step(0.2)  # 40 times the filter's time
    assert_allclose(solver.get("R.position"), 1.3, rtol=1e-11)
    assert_allclose(solver.get("R.drive") * length(solver.get("A.q"))[1], -weight(solver.get("A.q")), rtol=1e-9)
    by_rate = fm.Solver(ram(input="kappa_dot", start=1.2))
    by_rate.assemble()
    _, slope = length(by_rate.get("A.q"))
    found = by_rate.directional_derivative(["A.qdd", "R.drive"], ["R.kappa_dot"], [1.0])
    assert_allclose(np.ravel(found), [1.0 / slope, INERTIA / slope**2], rtol=1e-12)


def test_statics_hold_the_length_or_the_force() -> None:
    held = fm.equilibrium(ram(path=1.2))
    long, slope = length(held.solver.get("A.q"))
    assert_allclose(long, 1.2, rtol=1e-12)
    assert_allclose(held.solver.get("R.drive") * slope, -weight(held.solver.get("A.q")), rtol=1e-10)
    pushed = fm.equilibrium(ram(force=5.0))
    q = pushed.solver.get("A.q")
    assert_allclose(5.0 * length(q)[1], -weight(q), rtol=1e-7)


def test_thrust_that_follows_a_spinning_body(tmp_path: Path) -> None:
    """v = F / (m w) (sin wt, 1 - cos wt)."""
    F, m, w = 3.0, 2.0, 1.7
    model = fm.Model("rocket", gravity=(0, 0, 0))
    body = fm.Body("body", mass=m, inertia=(1, 1, 1))
    model.add(body, fm.Free("J", model.ground.at(), body.at(), u0=(0, 0, 0, 0, 0, w)))
    model.add(fm.Load("thrust", body.at(), force=(F, 0, 0), axes="point"))
    names = ["body.v[1]", "body.v[2]"]
    for what, t, found in runs(tmp_path, model, names, stop=2.0, interval=0.1, **TIGHT):
        assert_allclose(found["body.v[1]"], F / (m * w) * np.sin(w * t), rtol=1e-9, atol=1e-9, err_msg=what)
        assert_allclose(found["body.v[2]"], F / (m * w) * (1 - np.cos(w * t)), rtol=1e-9, atol=1e-9, err_msg=what)


def test_saved_states_go_on_with_the_same_bits() -> None:
    solver = fm.Solver(ram(force=40.0))
    solver.assemble()
    solver.step(0.1)
    state = solver.state_save()
    solver.set("R.force", 10.0)
    solver.step(0.2)
    first = solver.get("A.q"), solver.get("R.power")
    solver.state_load(state)
    assert solver.get("R.power") != first[1]
    solver.set("R.force", 10.0)
    solver.step(0.2)
    assert (solver.get("A.q"), solver.get("R.power")) == first


def test_what_an_actuator_cannot_be() -> None:
    model = fm.Model("m")
    a = fm.Body("a", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(fm.ModelError, match=r"both on .a., so it has no effect\. Give points on two different bodies"):
        fm.Actuator("R", a.at(), a.at(1.0))
    with pytest.raises(fm.ModelError, match="ProgrammedLength 'R': P and Q are both on 'a'"):
        fm.ProgrammedLength("R", a.at(), a.at(1.0), path=1.0)
    with pytest.raises(fm.ModelError, match=r"start: the first length is 0"):
        fm.ProgrammedLength("R", model.ground.at(), a.at(), input="kappa_dot")
    with pytest.raises(fm.ModelError, match="of is 'velocity'"):
        fm.ProgrammedLength("R", model.ground.at(), a.at(), path=1.0, of="velocity")
    with pytest.raises(fm.ModelError, match="Actuator 'R': force"):
        fm.Actuator("R", model.ground.at(), a.at(), force=float("nan"))


def test_pictures_show_pistons() -> None:
    for given in ({"force": 1.0}, {"path": 1.2}):
        (look,) = fm.compile(ram(**given)).scene.springs
        assert look.name == "R" and look.damped and not look.stiff
