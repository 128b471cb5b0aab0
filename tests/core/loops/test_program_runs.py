"""Runs of programmed mechanisms: schemes, transitions, inputs, saved states, refusals, feed-forward."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fmumbs as fm
from fmumbs.cli.inspection import check_model, image_info
from support.energy import energy_and_power
from support.programs import draw
from support.slave import DISCARD, ERROR, OK, Slave, unpacked_fmu
from support.sweeps import each_value, first

FOLLOWED = 1e-9  # [m] or [rad]
LINE = fm.Path.line([0.9, 0.25, -0.4], [0.75, 0.4, -0.3], 1.0)


def arm(*programs: Any, **options: Any) -> fm.Model:
    """A turret with two hinges; programs: made from the model, by default of the point at the tip."""
    options = options if "input" in options else {"path": LINE} | options
    model = fm.Model("arm")
    sizes = (("a", 0.5, 1.0), ("b", 0.4, 0.7), ("c", 0.3, 0.4))
    a, b, c = (fm.Body.rod(name, length=length, mass=mass, radius=0.02) for name, length, mass in sizes)
    model.add(a, b, c, fm.Revolute("A", model.ground.at(), a.base, axis="z", q0=0.3, u0=0.2))
    model.add(fm.Revolute("B", a.tip, b.base, axis="y", q0=0.5), fm.Revolute("C", b.tip, c.base, axis="y", q0=0.6))
    for make in programs or (lambda model: fm.ProgrammedPoint("P", model["c"].tip, **options),):
        model.add(make(model))
    return model


def started(model: fm.Model, **options: Any) -> fm.Solver:
    solver = fm.Solver(fm.compile(model).with_options(**({"tolerance": 1e-9} | options)))
    solver.assemble()
    return solver


@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853", "radau", "auto"])
def test_every_scheme_follows_the_program_and_fades_out_its_start(scheme: str) -> None:
    solver = started(arm(transition=0.3), scheme=scheme, step=1e-3)
    assert_allclose(solver.get("A.q"), 0.3, rtol=0, atol=1e-15)
    assert solver.get("P.violation") > 0.05
    exact = started(arm(transition=0.3), tolerance=1e-12)
    for t in (0.17, 0.3, 0.55, 1.2):
        solver.step(t), exact.step(t)
        assert_allclose(solver.get("A.q"), exact.get("A.q"), rtol=0, atol=FOLLOWED)
        assert_allclose(solver.get("P.drive"), exact.get("P.drive"), rtol=0, atol=1e-5)
        assert solver.get("solver.position_violation") <= 1e-12
        if t >= 0.3:
            assert solver.get("P.violation") <= FOLLOWED
            assert_allclose(solver.get("P.position"), np.array(LINE(t))[0], rtol=0, atol=FOLLOWED)


def test_the_transition_has_no_jump_in_position_and_velocity_where_it_ends() -> None:
    solver = started(arm(transition=0.3))
    kappa = []
    for t in (0.3 - 1e-7, 0.3, 0.3 + 1e-7):
        solver.step(t)
        kappa.append(np.concatenate([solver.get("P.kappa"), solver.get("P.kappa_dot")]))
    assert_allclose(kappa[1], kappa[0], rtol=0, atol=1e-4)
    assert_allclose(kappa[2], kappa[1], rtol=0, atol=1e-4)


def test_a_step_ends_with_the_transition() -> None:
    """Its acceleration is a cubic, of which RK4 makes the velocity to round-off, if no step goes on beyond its end."""
    model = fm.Model("slide", gravity=(0, 0, 0))
    body = fm.Body("b", mass=1.0, inertia=(1.0, 1.0, 1.0))
    joint = fm.Prismatic("A", model.ground.at(), body.at(), axis="x", q0=0.3, u0=0.2)
    program = fm.ProgrammedJoint("P", joint, input="kappa_dot", start=(0.0,), rate=(0.5,), transition=0.311)
    model.add(body, joint, program)
    solver = started(model, scheme="rk4", step=0.04)
    assert solver.get("A.qd") == pytest.approx(0.2, abs=1e-15)
    solver.step(0.5)
    assert_allclose(solver.get("A.qd"), 0.5, rtol=0, atol=1e-13)


def test_without_a_transition_the_mechanism_starts_on_the_path() -> None:
    solver = started(arm())
    assert solver.get("P.violation") <= FOLLOWED
    assert_allclose(solver.get("P.eta"), solver.get("P.target"), rtol=0, atol=1e-15)


@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "radau"])
def test_a_state_saved_within_the_transition_continues_bit_for_bit(scheme: str) -> None:
    image = fm.compile(arm(transition=0.3)).with_options(scheme=scheme, step=1e-3)
    first, second = fm.Solver(image), fm.Solver(image)
    first.assemble()
    second.assemble()
    first.step(0.11)
    second.state_load(first.state_save())
    names = image.variables.names()
    for t in (0.2, 0.31, 0.8):
        first.step(t), second.step(t)
        assert_array_equal([first.get(n) for n in names], [second.get(n) for n in names])


def test_the_motion_does_not_depend_on_the_communication_step() -> None:
    long, short = started(arm(transition=0.3)), started(arm(transition=0.3))
    long.step(1.0)
    for t in np.arange(1, 101) / 100:
        short.step(t)
    for name in ("A.q", "B.q", "C.qd", "P.violation"):
        assert_allclose(short.get(name), long.get(name), rtol=0, atol=FOLLOWED)


def test_a_second_start_restarts_the_transition() -> None:
    solver = started(arm(transition=0.3))
    solver.step(0.5)
    assert solver.get("P.violation") <= FOLLOWED
    solver.set("B.q", solver.get("B.q") + 0.1)
    solver.assemble(0.5)
    assert solver.get("P.violation") > 0.01
    solver.step(0.65)
    assert 1e-3 < solver.get("P.violation") < 0.1
    solver.step(0.85)
    assert solver.get("P.violation") <= FOLLOWED


def test_targets_by_input_accelerations_are_integrated_and_faded_in() -> None:
    by = {"input": "kappa_dot", "start": (0.9, 0.25, -0.4), "rate": (0, 0.1, 0)}
    inputs, path = started(arm(transition=0.3, **by)), started(
        arm(lambda m: fm.ProgrammedPoint("P", m["c"].tip, transition=0.3, path=[
            fm.Path.polynomial(0.9, 0, -0.1), fm.Path.polynomial(0.25, 0.1, 0.15), -0.4]))
    )  # fmt: skip
    inputs.set("P.kappa_dot", (-0.2, 0.3, 0.0))
    for t in (0.0, 0.1, 0.3, 0.7):
        if t:
            inputs.step(t), path.step(t)
        for name in ("P.target", "P.position", "P.eta", "A.q"):
            assert_allclose(inputs.get(name), path.get(name), rtol=0, atol=1e-8, err_msg=name)
        assert_allclose(inputs.get("P.drive"), path.get("P.drive"), rtol=0, atol=1e-6)


def test_a_second_start_keeps_the_targets_that_inputs_moved() -> None:
    solver = started(arm(transition=0.3, input="kappa_dot", start=(0.9, 0.25, -0.4)))
    solver.set("P.kappa_dot", (-0.2, 0.3, 0.0))
    solver.step(0.2)
    target = solver.get("P.target")
    solver.set("B.q", solver.get("B.q") + 0.05)
    solver.assemble(0.2)
    assert_allclose(solver.get("P.target"), target, rtol=0, atol=1e-12)


def test_targets_by_position_inputs_pass_through_the_filter() -> None:
    solver = started(arm(transition=0.2, input="eta", cutoff=30.0, start=(0.9, 0.25, -0.4)))
    goal = np.array([0.8, 0.3, -0.3])
    solver.set("P.eta_in", goal)
    for t in (0.1, 0.2, 0.4):
        solver.step(t)
        left = (1 + 30.0 * t) * np.exp(-30.0 * t)
        assert_allclose(solver.get("P.target"), goal + left * (np.array([0.9, 0.25, -0.4]) - goal), rtol=0, atol=1e-8)
    assert solver.get("P.violation") <= FOLLOWED


def test_a_path_that_starts_out_of_reach_is_named_with_the_gap_and_its_time() -> None:
    away = arm(lambda m: fm.ProgrammedPoint("P", m["c"].tip, path=[1.5, 0.3, -0.4]))
    with pytest.raises(fm.AssemblyError, match=r"nearest gap 0\.405 m at t = 0 s"):
        started(away)  # the first link is level: with d = sqrt(1.5^2 + 0.3^2) - 0.5, sqrt(d^2 + 0.4^2) - 0.7


def two_rods(of: str) -> fm.Model:
    """A point of two rods of 1 m, programmed by an input, at 1.7 m of their 2 m."""
    model = fm.Model("two", gravity=(0, 0, 0))
    a, b = (fm.Body.rod(name, length=1.0, mass=1.0, radius=0.02) for name in "ab")
    model.add(a, b, fm.Revolute("A", model.ground.at(), a.base, axis="y"))
    model.add(fm.Revolute("B", a.tip, b.base, axis="y", q0=-1.11))
    given: dict[str, Any] = {"input": "eta", "cutoff": 20.0} if of == "eta" else {"input": of, "rate": (0.3, 0.0)}
    model.add(fm.ProgrammedPoint("P", b.tip, directions="xz", start=(1.7, 0.0), **given))
    return model


WAYS_OUT = [("eta", 0.03), ("kappa_dot", 0.25)]
INPUTS = pytest.mark.parametrize(("of", "gap"), WAYS_OUT)
AWAY = "target of program 'P' goes out of reach if its input stays: nearest gap {:g} m at t = .*Move the input"


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@INPUTS
@pytest.mark.filterwarnings("ignore::fmumbs.StartWarning")
def test_an_input_that_leads_out_of_reach_is_named_with_the_gap(of: str, gap: float, dynamics: str) -> None:
    """A target goes on from 1.7 to 2.03 m, or for 0.25 m beyond the rods' 2 m."""
    inputs = {"P.eta_in": lambda t: (1.7 + 0.3 * t, 0.0)} if of == "eta" else {}
    with pytest.raises(fm.SolverError, match=AWAY.format(gap)):
        fm.simulate(fm.compile(two_rods(of)).with_options(dynamics=dynamics), stop=2.0, inputs=inputs)


@pytest.mark.parametrize(("of", "gap"), first(1, WAYS_OUT))
@pytest.mark.filterwarnings("ignore::fmumbs.StartWarning")
def test_an_fmu_names_an_input_that_leads_out_of_reach(tmp_path: Path, of: str, gap: float) -> None:
    """To its importer, by the message of the step that fails."""
    slave = Slave(unpacked_fmu(tmp_path / "two", two_rods(of)))
    slave.start()
    for k in range(200):
        if of == "eta":
            slave.set("P.eta_in[1]", 1.7 + 0.3 * (0.01 * k))
        status = slave.call("fmi2DoStep", 0.01 * k, 0.01, 1)
        if status != OK:
            break
    told = [message for *_, message in slave.callbacks.messages]
    slave.free()
    assert status in (DISCARD, ERROR) and re.search(AWAY.format(gap), " ".join(told)), told


def test_an_fmu_names_a_path_out_of_reach(tmp_path: Path) -> None:
    """When its initialisation ends."""
    away = arm(lambda m: fm.ProgrammedPoint("P", m["c"].tip, path=[1.5, 0.3, -0.4]))
    slave = Slave(unpacked_fmu(tmp_path / "arm", fm.compile(away, everything=True)))
    slave.initialize()
    assert slave.call("fmi2ExitInitializationMode") == ERROR
    told = " ".join(message for *_, message in slave.callbacks.messages)
    slave.free()
    assert "program 'P' is out of reach: nearest gap 0.405 m at t = 0 s" in told


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_gap_does_not_depend_on_the_start(seed: int) -> None:
    """An arm folded at random, where a descent alone may end at a larger gap."""
    rng = np.random.default_rng([seed, 4])
    model = arm(lambda m: fm.ProgrammedPoint("P", m["c"].tip, path=[1.5, 0.3, -0.4]))
    solver = fm.Solver(model)
    for name in "ABC":
        solver.set(f"{name}.q", rng.uniform(-3, 3))
    with pytest.raises(fm.AssemblyError, match=r"nearest gap 0\.405 m at t = 0 s"):
        solver.assemble()


def test_the_gap_of_a_step_is_the_largest_of_the_whole_path() -> None:
    out = fm.Path.polyline([[0.8, 0.3, -0.4], [1.3, 0.3, -0.4], [1.6, 0.3, -0.4], [0.9, 0.3, -0.4]], [1.0, 4.0, 4.0])
    model = arm(lambda m: fm.ProgrammedPoint("P", m["c"].tip, path=out))
    with pytest.raises(fm.SolverError, match=r"nearest gap 0\.49[0-9]* m at t = [45]\.[0-9]* s, where it is largest"):
        fm.simulate(model, stop=1.0)  # 0.497 m at t = 5 s, where the path turns


def test_the_gap_is_the_least_of_several_minima() -> None:
    """Two geared bars with the tip at x = cos q + cos(4 q) / 2, at most 0.5 m near the start and 1.5 m at q = 0."""
    model = fm.Model("geared", gravity=(0, 0, 0))
    a, b = (fm.Body.rod(name, length=size, mass=1.0) for name, size in zip("ab", (1.0, 0.5), strict=True))
    A = fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=1.5)
    B = fm.Revolute("B", a.tip, b.base, axis="y", q0=4.5)
    model.add(a, b, A, B, fm.Coupling.gear("G", B, A, ratio=3.0))
    model.add(fm.ProgrammedPoint("P", b.tip, directions="x", path=2.0))
    with pytest.raises(fm.AssemblyError, match=r"program 'P' is out of reach: nearest gap 0\.5 m"):
        started(model)


def bars() -> fm.Model:
    """A four-bar, whose rocker of 0.7 m turns about x = 1 m."""
    model = fm.Model("bars", gravity=(0, 0, 0))
    a, b, c = (fm.Body.rod(name, length=size, mass=1.0) for name, size in zip("abc", (0.3, 0.9, 0.7), strict=True))
    model.add(a, b, c, fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=-1.0))
    model.add(fm.Revolute("B", a.tip, b.base, axis="y", q0=0.3), fm.Revolute("C", b.tip, c.tip, axis="y"))
    model.add(fm.Revolute("D", model.ground.at(1.0, 0, 0), c.base, axis="y", q0=-1.9))
    return model


def four_bar(path: Any) -> fm.Model:
    """The end of its coupler is programmed."""
    model = bars()
    model.add(fm.ProgrammedPoint("P", model["b"].tip, directions="z", path=path))
    return model


@pytest.mark.parametrize("height", [-0.9, 0.9])
def test_the_gap_of_a_mechanism_with_loops_is_that_with_its_loops_closed(height: float) -> None:
    """In the posture of the start, and in the other one that the loop has."""
    with pytest.raises(fm.AssemblyError, match=r"program 'P' is out of reach: nearest gap 0\.2 m"):
        started(four_bar(height))


def test_a_step_out_of_reach_leaves_the_rows_of_loops_as_they_were() -> None:
    """Those of a plane loop are redundant, and the search for the gap uses all of them."""
    solver = started(four_bar(fm.Path.line([0.5], [0.9], 1.0)), tolerance=1e-6)
    rows = solver.active_rows.copy()
    with pytest.raises(fm.SolverError, match="out of reach"):
        solver.step(1.0)
    assert_array_equal(solver.active_rows, rows)


def test_what_programs_consist_of_is_not_shown() -> None:
    model = arm()
    shown = fm.compile(model).variables.names()
    assert not [name for name in shown if name.startswith(("P_target", "P_follows"))]
    assert {"P.target[1]", "P.position[3]", "P.violation", "P.drive[2]", "P.eta[1]"} <= set(shown)
    facts = check_model(model)
    assert (facts["bodies"], facts["joint_count"], facts["programs"], facts["loops"]) == (3, 3, 1, 0)
    assert [branch["body"] for branch in facts["branches"]] == ["a", "b", "c"]
    assert {"A", "B", "C", "P"} == {joint["joint"] for joint in facts["joints"]}
    model.output("pull", of="P_follows.wrench.f")
    assert "pull[1]" in fm.compile(model).variables.names()
    assert started(model).get("P_follows.wrench.f").shape == (3,)


def test_the_formulation_is_a_constant_of_the_image() -> None:
    for number, dynamics in enumerate(("riccati", "copcod")):
        image = fm.compile(arm()).with_options(dynamics=dynamics, scheme="radau")
        found = image.variables.find("solver.dynamics")
        assert found is not None
        assert (found.start, found.causality, found.variability) == (number, "local", "constant")
        assert image_info(image)["solver"] == {"dynamics": dynamics, "scheme": "radau"}


def test_the_gap_of_a_path_that_comes_back_is_the_largest_on_the_way() -> None:
    out = fm.Path.polyline([[0.9, 0.3, -0.4], [1.6, 0.3, -0.4], [0.9, 0.3, -0.4]], [0.5, 0.5])
    solver = started(arm(lambda m: fm.ProgrammedPoint("P", m["c"].tip, path=out)), tolerance=1e-6)
    with pytest.raises(fm.SolverError, match=r"nearest gap [0-9.]+ m at t = [0-9.]+ s") as failed:
        solver.step(1.0)
    gap, time = map(float, re.findall(r"gap ([0-9.]+) m at t = ([0-9.]+) s", str(failed.value))[0])
    times = np.linspace(0.0, 1.0, 1001)
    gaps = [np.linalg.norm(np.array(out(t))[0]) - 1.2 for t in times]
    assert 0.6 * max(gaps) < gap < 1.3 * max(gaps)
    assert abs(time - 0.5) < 0.2


def test_a_step_that_leaves_reach_ends_on_the_path_with_its_rows() -> None:
    far = fm.Path.line([0.8, 0.3, -0.4], [1.3, 0.3, -0.4], 1.0)
    solver = started(arm(lambda m: fm.ProgrammedPoint("P", m["c"].tip, path=far)), tolerance=1e-6)
    with pytest.raises(fm.SolverError, match=r"path of program 'P' is out of reach: nearest gap 0\.[0-9]+ m at t = "):
        solver.step(1.0)
    before = solver.get("B.q")
    with pytest.raises(fm.SolverError, match="out of reach"):
        solver.step(1.0)
    assert solver.active_rows.sum() == 3
    assert solver.get("P.violation") <= FOLLOWED
    assert_allclose(solver.get("B.q"), before, rtol=0, atol=1e-3)


@pytest.mark.parametrize("transition", [0.0, 0.2])
def test_more_coordinates_than_the_mobility_are_refused_with_both_numbers(transition: float) -> None:
    def joint(model: fm.Model) -> fm.Program:
        return fm.ProgrammedJoint("Q", model["A"], path=0.3, transition=transition)

    model = arm(lambda m: fm.ProgrammedPoint("P", m["c"].tip, path=LINE, transition=transition), joint)
    with pytest.raises(fm.AssemblyError, match="prescribe 4 coordinates, but the mobility of the mechanism is 3"):
        started(model)


def test_a_singular_start_of_a_program_is_named() -> None:
    model = arm(lambda m: fm.ProgrammedPoint("P", m["c"].tip, path=fm.Path.line([1.2, 0, 0], [1.0, 0, 0], 1.0)))
    with pytest.raises(fm.AssemblyError, match="program 'P' prescribes what the mechanism cannot do at this position"):
        started(model)


def test_forces_of_the_program_fed_forward_reproduce_the_path_with_the_first_order_of_the_step() -> None:
    def joint(name: str, end: float) -> Any:
        start = {"A": 0.3, "B": 0.5, "C": 0.6}[name]
        path = fm.Path.quintic([0, 1], [start, end])
        return lambda m: fm.ProgrammedJoint(f"P{name}", m[name], path=path, transition=0.2)

    programmed = arm(joint("A", 0.6), joint("B", -0.1), joint("C", 1.1))
    plain = arm(lambda m: fm.Load("none", m["c"].tip))
    errors = []
    for h in (0.004, 0.002, 0.001):
        leader, follower = started(programmed), started(plain)
        for k in range(round(0.5 / h)):
            for name in "ABC":
                follower.set(f"{name}.tau", leader.get(f"P{name}.drive"))
            leader.step((k + 1) * h), follower.step((k + 1) * h)
        errors.append(max(abs(follower.get(f"{n}.q") - leader.get(f"{n}.q")) for n in "ABC"))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert_allclose(orders, 1.0, atol=0.2)
    assert errors[-1] < 0.02


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize(("seed", "loops"), first(2, [(1, 0), (3, 1), (1, 1), (3, 0)]))
@pytest.mark.parametrize("kind", ["point", "joint", "axes", "speed", "spin_M"])
def test_energy_is_lost_by_the_dampers_and_added_by_the_drives(kind: str, seed: int, loops: int, dynamics: str) -> None:
    """Of random trees and loops, within the transition and after it."""
    case = draw(seed, kind, loops=loops, transition=0.05)
    solver = started(case.model, tolerance=1e-10, scheme="dop853", dynamics=dynamics)
    rng = np.random.default_rng(seed)
    rates = {joint.name: "w" if isinstance(joint, fm.Spherical) else "qd" for joint in case.plain.joints}
    damping = {name: rng.uniform(0.2, 2.0) for name in rates}
    for name, value in damping.items():
        solver.set(f"{name}.damping", value)
    if loops:
        solver.set("s.damping", 0.0), solver.set("l.force", np.zeros(3)), solver.set("l.torque", np.zeros(3))
    solver.assemble()
    drive = "P.kappa" if kind in ("point", "joint", "axes") else "P.eta"  # a velocity program's target is a rate
    dampers: list[float] = []

    def power() -> float:
        dampers.append(sum(d * float(np.sum(np.square(solver.get(f"{n}.{rates[n]}")))) for n, d in damping.items()))
        return dampers[-1] - float(np.sum(solver.get("P.drive") * solver.get(drive)))

    fell, lost = energy_and_power(solver, power, 5e-4, 200)
    assert min(dampers) > 0.0
    assert_allclose(lost, fell, rtol=1e-6)  # Simpson's rule, with a transition of a hundred steps


def test_flexible_links_and_supports_carry_programs() -> None:
    model = fm.Model("soft")
    base = fm.Body.box("base", size=(0.4, 0.4, 0.1), mass=5.0)
    layer = fm.Layer([(x, y, 0) for x in (-0.2, 0.2) for y in (-0.2, 0.2)], stiffness=4e4, damping=400.0)
    shape = {"length": 0.8, "section": fm.Section.circle(0.01), "elements": 2, "plane": "xz"}
    link = fm.FlexibleLink("link", material=fm.Material.steel(), **shape)
    model.add(base, fm.FlexibleSupport("S", model.ground.at(), base.at(), layers=[layer]), link)
    model.add(fm.Revolute("A", base.at(0, 0, 0.1), link.base, axis="y", q0=0.4))
    model.add(fm.ProgrammedPoint("P", link.tip, directions="z", path=fm.Path.line([-0.2], [0.1], 0.5), transition=0.2))
    solver = started(model, scheme="radau", tolerance=1e-7)
    solver.step(0.3)
    assert solver.get("P.violation") <= FOLLOWED
    assert abs(solver.get("S_base.q[3]")) > 1e-5


def test_a_joint_velocity_follows_its_target_and_a_joint_acceleration_too() -> None:
    speed, push = fm.Path.quintic([0, 1], [0.5, -0.2]), fm.Path.polynomial(0.3, -0.4)
    model = arm(
        lambda m: fm.ProgrammedJoint("P", m["B"], path=speed, of="velocity", transition=0.2),
        lambda m: fm.ProgrammedJoint("Q", m["C"], path=push, of="acceleration"),
    )
    solver = started(model)
    assert_allclose(solver.get("B.qd"), 0.0, atol=1e-14)
    for t in (0.3, 0.9):
        solver.step(t)
        assert_allclose(solver.get("Q.position"), 0.3 - 0.4 * t, rtol=0, atol=FOLLOWED)  # first
        assert_allclose(solver.get("B.qd"), speed(t)[0], rtol=0, atol=FOLLOWED)
        assert_allclose(solver.get("P.position"), speed(t)[0], rtol=0, atol=FOLLOWED)
        assert_allclose(solver.get("C.qdd"), 0.3 - 0.4 * t, rtol=0, atol=FOLLOWED)
        assert_allclose(solver.get("C.qd"), 0.3 * t - 0.2 * t**2, rtol=0, atol=FOLLOWED)
        assert max(solver.get("P.violation"), solver.get("Q.violation")) <= FOLLOWED
    plain = started(arm(lambda m: fm.Load("none", m["c"].tip)))
    for name in "ABC":
        for what in ("q", "qd"):
            plain.set(f"{name}.{what}", solver.get(f"{name}.{what}"))
    plain.set("B.tau", solver.get("P.drive"))
    plain.set("C.tau", solver.get("Q.drive"))
    plain.assemble()
    for name in "ABC":
        assert_allclose(plain.get(f"{name}.qdd"), solver.get(f"{name}.qdd"), rtol=0, atol=1e-8)


def test_loops_are_closed_as_exactly_beside_a_target_of_many_meters_per_second_squared() -> None:
    """A target of 1e9 is no place that far away, whose round-off the loop could have; it moves the slide by 5 m."""
    model = bars()
    slide = fm.Body.rod("slide", length=1.0, mass=1.0)
    model.add(slide, fm.Prismatic("S", model.ground.at(0, 0, 2.0), slide.base, axis="x"))
    model.add(fm.ProgrammedJoint("Q", model["S"], path=1e9, of="acceleration"))
    solver = fm.Solver(fm.compile(model).with_options(scheme="rk4", step=1e-4, closure=1e-14))
    solver.set("A.qd", 200.0)
    solver.assemble()
    solver.step(1e-4)
    assert_allclose(solver.get("S.q"), 5.0, rtol=1e-12)
    assert solver.get("solver.position_violation") < 1e-13


@pytest.mark.parametrize("start", [(0.3, 0.7), (1.0, 0.0), (-0.4, 0.0), (0.0, 0.5)])
def test_a_deviation_fades_along_the_quintic_between_its_start_and_rest(start: tuple[float, float]) -> None:
    """The polynomial of degree five with the value and rate at the start, no acceleration there, zeros at the end."""
    model, rod, T = fm.Model("fading"), fm.Body.rod("r", length=1.0, mass=1.0, radius=0.1), 0.5
    A = fm.Revolute("A", model.ground.at(), rod.base, axis="y", q0=start[0], u0=start[1])
    model.add(rod, A, fm.ProgrammedJoint("P", A, path=fm.Path.polynomial(0.0, 0.0), transition=T))
    solver = fm.Solver(fm.compile(model).with_options(tolerance=1e-10))
    solver.assemble()
    line = np.polynomial.Polynomial.basis
    ends = [[line(n).deriv(k)(t) if k else line(n)(t) for n in range(6)] for t in (0.0, T) for k in range(3)]
    fading = np.polynomial.Polynomial(np.linalg.solve(ends, [*start, 0, 0, 0, 0]))
    for t in (0.1, 0.25, 0.4):
        solver.step(t)
        assert solver.get("A.q") == pytest.approx(fading(t), abs=1e-8)
        assert solver.get("A.qd") == pytest.approx(fading.deriv()(t), abs=1e-7)
    solver.step(0.7)
    assert abs(solver.get("A.q")) < 1e-8


def test_without_a_deviation_the_time_to_fade_it_leaves_every_bit() -> None:
    found = []
    for T in (0.1, 0.37):
        model, rod = fm.Model("m"), fm.Body.rod("r", length=1.0, mass=1.0, radius=0.1)
        tip = fm.Body.rod("t", length=1.0, mass=1.0, radius=0.1)
        A = fm.Revolute("A", model.ground.at(), rod.base, axis="y")
        model.add(rod, tip, A, fm.Revolute("B", rod.tip, tip.base, axis="y", q0=1.0))
        model.add(fm.ProgrammedJoint("P", A, path=fm.Path.polynomial(0.0, 0.0, 0.5), transition=T))
        solver = fm.Solver(model)
        solver.assemble()
        solver.step(1.0)
        found.append((solver.get("B.q"), solver.get("solver.steps")))
    assert found[0] == found[1]


def test_a_rate_off_the_path_alone_is_faded_out() -> None:
    path = fm.Path.polynomial(0.5, 0.3)
    solver = started(arm(lambda m: fm.ProgrammedJoint("P", m["B"], path=path, transition=0.3)))
    assert (solver.get("P.violation"), solver.get("B.qd")) == (0.0, 0.0)
    solver.step(0.15)  # x = 1/2: v T (1/2 - 6/8 + 8/16 - 3/32)
    assert_allclose(solver.get("P.violation"), 0.3 * 0.3 * 5 / 32, rtol=1e-8)
    solver.step(0.5)
    assert_allclose(solver.get("B.q"), 0.65, rtol=0, atol=FOLLOWED)


def test_the_slide_of_a_cylindrical_joint_is_programmed_as_a_length() -> None:
    model = fm.Model("screwed")
    body = fm.Body("body", mass=1.0, inertia=(0.1, 0.2, 0.3))
    J = fm.Cylindrical("J", model.ground.at(), body.at(), axis="x", u0=(2.0, 0.0))
    model.add(body, J, fm.ProgrammedJoint("P", J, mode=2, path=fm.Path.polynomial(0.1, 0.2, 0.3)))
    solver = started(model)
    units = [solver.image.variables.find(f"P.{what}").unit for what in ("target", "position", "violation", "drive")]
    assert units == ["m", "m", "m", "N"]
    solver.step(1.0)
    assert_allclose(solver.get("J.q"), [2.0, 0.6], rtol=0, atol=FOLLOWED)


def test_an_orientation_is_followed_over_several_turns() -> None:
    model = fm.Model("spun")
    body = fm.Body("body", mass=1.0, inertia=(0.1, 0.2, 0.3))
    model.add(body, fm.Spherical("J", model.ground.at(), body.at()))
    turns = fm.Path.quintic([0, 1], [0.0, 14.0])
    tilt = fm.Path.quintic([0, 1], [0.0, 0.5])
    model.add(fm.ProgrammedOrientation("P", body.at(), path=[turns, tilt, fm.Path.quintic([0, 1], [0.0, -9.0])]))
    solver = started(model)
    for t in (0.4, 0.7, 1.0):
        solver.step(t)
        assert_allclose(solver.get("P.position"), solver.get("P.target"), rtol=0, atol=1e-8)
        assert solver.get("P.violation") <= 1e-8
    assert_allclose(solver.get("P.position"), [14.0, 0.5, -9.0], rtol=0, atol=1e-8)


def test_units_of_programs_are_those_of_what_they_prescribe() -> None:
    model = arm(
        lambda m: fm.ProgrammedJoint("P", m["B"], input="eta", cutoff=9.0, of="velocity"),
        lambda m: fm.ProgrammedPoint("Q", m["c"].tip, path=[0.2], directions="z", of="acceleration"),
    )
    variables = fm.compile(model).variables
    names = ("P.eta_in", "P.target", "P.kappa", "P.drive", "Q.position", "Q.kappa")
    units = {name: variables.find(name).unit for name in names}
    assert units == {"P.eta_in": "rad/s", "P.target": "rad/s", "P.kappa": "rad/s2", "P.drive": "N.m",
                     "Q.position": "m/s2", "Q.kappa": "m/s3"}  # fmt: skip


@pytest.mark.parametrize("axis", ["y", None])
def test_a_wheel_and_a_ball_roll_without_slip_and_without_loss(axis: str | None) -> None:
    R = 0.3
    model = fm.Model("wheel")
    inertia = (0.06, 0.12, 0.06) if axis else (0.1, 0.1, 0.1)
    body = fm.Body("wheel", mass=2.0, inertia=inertia, com=(0, 0, 0) if axis else (0.05, 0, 0.02))
    lean = 0.3
    height = R * np.cos(lean) if axis else R
    start = (0, 0, height, np.cos(lean / 2), np.sin(lean / 2), 0, 0)
    model.add(body, fm.Free("F", model.ground.at(), body.at(), q0=start, u0=(1.2, 0.1, 0, 0.3, 4.0, 0.2)))
    model.add(fm.Rolling("W", model.ground.at(), body.at(), radius=R, axis=axis))
    solver = started(model, tolerance=1e-10)
    energy = solver.get("solver.energy")
    for t in (0.5, 1.0, 2.0):
        solver.step(t)
        x, v, w = (solver.get(f"wheel.{what}") for what in ("r", "v", "w"))
        q = solver.get("wheel.quat")
        b = fm.Rotation.quaternion(*q).matrix[:, 1]
        m = np.array([0, 0, 1.0]) - b[2] * b if axis else np.array([0, 0, 1.0])
        arm_of_contact = -R * m / np.linalg.norm(m)
        assert_allclose(v + np.cross(w, arm_of_contact), 0.0, atol=1e-10)
        assert_allclose(x[2] + arm_of_contact[2], 0.0, atol=1e-11)
        assert_allclose(solver.get("solver.energy"), energy, rtol=0, atol=1e-7)


def hoist(dynamics: str, **options: Any) -> fm.Solver:
    """A drum that turns about y, and a load below its axis that moves vertically."""
    model = fm.Model("hoist")
    drum = fm.Body("drum", mass=5.0, inertia=(0.1, 0.2, 0.1))
    load = fm.Body("load", mass=3.0, inertia=(0.1, 0.1, 0.1))
    model.add(drum, load, fm.Revolute("D", model.ground.at(), drum.at(), axis="y", q0=0.3, u0=1.0))
    model.add(fm.Prismatic("L", model.ground.at(0, 0, -2), load.at(), axis="z"))
    if "by" in options and options["by"] is None:
        options["by"] = model["D"]
    model.add(fm.ProgrammedVelocity("P", load.at(), frame=drum.at(), axes="point", **options))
    return started(model, tolerance=1e-11, dynamics=dynamics)


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_a_rope_on_a_spiral_drum_keeps_its_length_and_the_energy(dynamics: str) -> None:
    """A row that depends on a joint's position, z' = (r + s q) q', whose integral is known."""
    solver = hoist(dynamics, rows=[(0, 0.2, 0, 0, 0, 1)], slopes=[(0, 0.05, 0, 0, 0, 0)], by=None, path=0.0)
    q, z, energy = solver.get("D.q"), solver.get("L.q"), solver.get("solver.energy")
    assert_allclose(solver.get("L.qd"), (0.2 + 0.05 * q) * solver.get("D.qd"), rtol=0, atol=1e-12)
    for t in (0.3, 0.8):
        solver.step(t)
        q1 = solver.get("D.q")
        wound = 0.2 * (q1 - q) + 0.025 * (q1**2 - q**2)
        assert_allclose(solver.get("L.q") - z, wound, rtol=0, atol=1e-9)
        assert_allclose(solver.get("solver.energy"), energy, rtol=0, atol=1e-8)


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_a_row_that_depends_on_time_and_is_not_homogeneous(dynamics: str) -> None:
    """z' = r(t) q' + zeta(t), and the power of the row's drive: the energy that comes in."""
    r, zeta = fm.Path.polynomial(0.0, 0.3, -0.1), fm.Path.polynomial(0.1, -0.2)
    rows, slopes = [(0, 0.2, 0, 0, 0, 1)], [(0, 1.0, 0, 0, 0, 0)]
    solver = hoist(dynamics, rows=rows, slopes=slopes, by=r, path=zeta, transition=0.0)
    before, at = solver.get("solver.energy"), np.linspace(0, 0.5, 101)
    power = []
    for t in at:
        solver.step(t)
        wanted = (0.2 + r(t)[0]) * solver.get("D.qd") + zeta(t)[0]
        assert_allclose(solver.get("L.qd"), wanted, rtol=0, atol=1e-11)
        power.append(solver.get("P.drive") * zeta(t)[0])
    work = (at[1] / 3) * (power[0] + power[-1] + 4 * sum(power[1::2]) + 2 * sum(power[2:-1:2]))
    assert_allclose(solver.get("solver.energy") - before, work, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rows": []}, "rows are none, or one is zero"),
        ({"rows": [(0, 0, 0, 0, 0, 0)]}, "rows are none, or one is zero"),
        ({"rows": [(1, 0, 0, 0, 0, 0)] * 4}, "has 4 rows, but a program has at most 3"),
        ({"rows": [(1, 0, 0)]}, r"rows\[1\]"),
        ({"rows": [(1, 0, 0, 0, 0, 0)], "slopes": [(1, 0, 0, 0, 0, 0)]}, "belong together"),
        ({"rows": [(1, 0, 0, 0, 0, 0)], "slopes": [(1,) * 6] * 2, "by": LINE.paths[0]}, "slopes are 2, but rows are 1"),
        ({"rows": [(1, 0, 0, 0, 0, 0)], "of": "position"}, "rows are of velocities"),
        ({"rows": [(1, 0, 0, 0, 0, 0)], "slopes": [(1,) * 6], "by": 3}, "Give a Path, a joint"),
    ],
)
def test_rows_that_make_no_program_are_refused(options: Any, says: str) -> None:
    with pytest.raises(fm.ModelError, match=says):
        arm(lambda m: fm.ProgrammedVelocity("P", m["c"].tip, **({"path": 0.0} | options)))


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_combined_rows_may_be_realised_by_a_drive(dynamics: str) -> None:
    """Its force on the load alone moves the same mechanism without the program as the program does."""
    rows, slopes, r = [(0, 0.2, 0, 0, 0, 1)], [(0, 1.0, 0, 0, 0, 0)], fm.Path.polynomial(0.0, 0.3)
    model = fm.Model("hoist")
    drum = fm.Body("drum", mass=5.0, inertia=(0.1, 0.2, 0.1))
    load = fm.Body("load", mass=3.0, inertia=(0.1, 0.1, 0.1))
    drive = fm.Prismatic("L", model.ground.at(0, 0, -2), load.at(), axis="z")
    model.add(drum, load, fm.Revolute("D", model.ground.at(), drum.at(), axis="y", u0=1.0, damping=0.1), drive)
    plain = fm.Model("plain")
    plain.add(*model.elements)
    options: Any = {"rows": rows, "slopes": slopes, "by": r, "path": fm.Path.polynomial(0.1, -0.2), "drives": (drive,)}
    model.add(fm.ProgrammedVelocity("P", load.at(), frame=drum.at(), axes="point", **options))
    solver, other = started(model, dynamics=dynamics), started(plain)
    solver.step(0.4)
    for name in ("D.q", "D.qd", "L.q", "L.qd"):
        other.set(name, solver.get(name))
    other.set("L.f", solver.get("P.drive"))
    other.assemble()
    assert_allclose(solver.get("L.qd"), (0.2 + r(0.4)[0]) * solver.get("D.qd") + 0.1 - 0.08, rtol=0, atol=1e-9)
    for name in ("D.qdd", "L.qdd"):
        assert_allclose(solver.get(name), other.get(name), rtol=0, atol=1e-9)
