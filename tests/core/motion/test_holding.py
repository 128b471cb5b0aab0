"""Force laws that jump with a velocity: they hold, let go, and act together, as closed forms and optimality say."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

import fmumbs as fm
from support.braked import G, belt, block, chains, net, stack, stick_slip
from support.sweeps import examples, seeds

EXACT = 1e-12  # of single evaluations, with numbers of the order of ten
LOCATED = 2e-8  # of positions behind switches that are known to 1e-9 s, where accelerations are some ten m/s2
SCHEMES = pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853"])


def started(model: fm.Model, tolerance: float = 1e-9, scheme: str = "dopri5", step: float = 1e-3) -> fm.Solver:
    solver = fm.Solver(fm.compile(model).with_options(tolerance=tolerance, scheme=scheme, step=step))
    solver.assemble()
    return solver


@pytest.mark.parametrize("u0", [2.0, -2.0])
def test_a_block_slides_to_rest_and_stays(u0: float) -> None:
    solver = started(block(u0=u0))
    for t in (0.5, 1.0, 4 / 3 - 1e-6):
        solver.step(t)
        assert_allclose(solver.get("J.q"), u0 * t - np.sign(u0) * 0.75 * t**2, atol=1e-12)
    for t in (4 / 3 + 1e-6, 1.4, 50.0, 1000.0):
        solver.step(t)
        assert_allclose(solver.get("J.q"), np.sign(u0) * 4 / 3, atol=1e-12)
        assert solver.get("J.qd") == 0.0
        assert abs(solver.get("J.qdd")) <= 1e-15
    assert solver.get("solver.steps") < 100


def test_it_slides_when_the_force_exceeds_the_brakes() -> None:
    """A ramp of 1 N/s: it goes at 3 s, and then x = (t - 3)^3 / 12."""
    solver = started(block())
    solver.set_input_derivatives("J.f", 1, 1.0)
    solver.step(5.0)
    assert_allclose([solver.get("J.q"), solver.get("J.qd")], [8 / 12, 1.0], rtol=1e-9)


def test_values_before_the_first_step_include_sticking() -> None:
    solver = started(block())
    for force, expected in ((2.9, 0.0), (3.5, 0.25), (-2.9, 0.0), (-5.0, -1.0), (0.0, 0.0)):
        solver.set("J.f", force)
        assert_allclose(solver.get("J.qdd"), expected, atol=1e-14)
        held = min(max(-force, -3.0), 3.0)
        assert_allclose(solver.get("J.wrench.f")[0], force + held, atol=1e-13)
    solver.step(1.0)
    assert (solver.get("J.q"), solver.get("J.qd")) == (0.0, 0.0)


def test_derivatives_depend_on_sticking() -> None:
    solver = started(block())
    assert_allclose(solver.directional_derivative(["J.qdd"], ["J.f"], [1.0]), 0.0, atol=1e-15)
    assert_allclose(solver.output_derivative("J.qd"), 0.0, atol=1e-15)
    solver.set("J.f", 5.0)
    assert_allclose(solver.directional_derivative(["J.qdd"], ["J.f"], [1.0]), 0.5, rtol=1e-15)


def test_an_oscillator_with_a_brake_loses_equal_amplitude_each_half_swing() -> None:
    """|x| falls by 2 F / k each half period, and it stops where k |x| <= F."""
    k, F, m, x0 = 100.0, 3.0, 2.0, 0.5
    solver = started(block(F, m, q0=x0, stiffness=k), tolerance=1e-11)
    half, x = math.pi / math.sqrt(k / m), x0
    for i in range(1, 12):
        if abs(x) > F / k:
            x = -np.sign(x) * (abs(x) - 2 * F / k)
        solver.step(i * half)
        assert_allclose(solver.get("J.q"), x, atol=1e-9)
    assert solver.get("J.qd") == 0.0


def test_a_belt_carries_a_block_until_the_spring_exceeds_friction() -> None:
    """It is carried to x = F / k at the belt's speed, then swings about it with v / omega, and is never caught."""
    v, k, F = 0.1, 40.0, 2.0
    solver = started(belt(v, k, F), tolerance=1e-11)
    free, omega = F / k / v, math.sqrt(k)
    solver.step(0.4)
    assert solver.get("J.qd") == v
    assert_allclose(solver.get("J.q"), 0.04, rtol=1e-12)
    for t in (0.6, 0.9, 1.3):
        solver.step(t)
        assert_allclose(solver.get("J.q"), F / k + v / omega * math.sin(omega * (t - free)), atol=1e-9)


def test_a_ratchet_turns_one_way() -> None:
    """It resists with up to 50 N.m; pushed forwards it exerts nothing."""
    model = fm.Model("ratchet", gravity=(0, 0, 0))
    body = fm.Body("body", mass=1.0, inertia=(0.5, 0.5, 0.5))
    J = fm.Revolute("J", model.ground.at(), body.at(), axis="z")
    model.add(body, J, fm.Law("pawl", J, pieces=[fm.Piece([[50.0]], v_upper=0.0)]))
    solver = started(model)
    solver.set("J.tau", -20.0)
    solver.step(1.0)
    assert solver.get("J.q") == 0.0
    assert_allclose(solver.get("J.qdd"), 0.0, atol=1e-14)
    solver.set("J.tau", 2.0)
    solver.step(2.0)
    assert_allclose([solver.get("J.q"), solver.get("J.qd")], [2.0, 4.0], rtol=1e-12)
    solver.set("J.tau", -4.0)
    solver.step(4.0)
    assert_allclose(solver.get("J.q"), 3.0, rtol=1e-9)
    assert solver.get("J.qd") == 0.0
    solver.set("J.tau", -51.0)
    solver.step(5.0)
    assert_allclose(solver.get("J.qd"), -2.0, rtol=1e-12)


def test_a_force_that_rises_with_the_velocity_pushes_away_from_rest() -> None:
    """At rest between two forces that drive on: the side is that of the push, upwards where both would do."""
    for push, expected in ((-3.0, -2.0), (0.0, 0.5), (3.0, 2.0)):
        body = fm.Body("body", mass=2.0, inertia=(0.1, 0.1, 0.1))
        model = fm.Model("away", gravity=(0, 0, 0))
        J = fm.Prismatic("J", model.ground.at(), body.at(), axis="x")
        model.add(body, J, fm.Law("on", J, pieces=[fm.Piece([[1.0]], v_lower=0.0), fm.Piece([[-1.0]], v_upper=0.0)]))
        solver = started(model)
        solver.set("J.f", push)
        solver.step(1.0)
        assert_allclose(solver.get("J.qd"), expected, rtol=1e-9)


# Several ---------------------------------------------------------------------------------------------------------


def test_two_blocks_slide_together_until_the_force_is_too_large() -> None:
    """Pushed on the upper one: held, together, and then apart."""
    solver = started(stack((1.0, 2.0), (3.0, 5.0)))
    for push, lower, upper in ((2.5, 0.0, 0.0), (4.5, 0.5, 0.5), (12.0, 2.0, 3.5), (-4.5, -0.5, -0.5)):
        solver.set("L1.force", (push, 0, 0))
        assert_allclose(solver.get("b0.a")[0], lower, atol=EXACT)
        assert_allclose(solver.get("b1.a")[0], upper, atol=EXACT)


def test_three_blocks_come_to_rest_and_lose_momentum_to_the_ground_alone() -> None:
    """One is thrown: momentum is lost to the ground's friction alone."""
    model = stack((1.0, 2.0, 3.0), (1.0, 4.0, 6.0))
    solver = started(model)
    solver.set_state([0, 0, 0], [0, 0, 2.0])
    times, momenta = np.linspace(0.05, 8.0, 160), []
    for t in times:
        solver.step(float(t))
        momenta.append(sum(m * solver.get(f"b{i}.v")[0] for i, m in enumerate((1.0, 2.0, 3.0))))
    sliding = times < 6.0
    assert_allclose(np.array(momenta)[sliding], (6.0 - times)[sliding], atol=1e-8)
    assert_allclose([solver.get(f"J{i}.qd") for i in range(3)], 0.0, atol=0.0)


@examples(50, 150, chains())
def test_laws_at_rest_stick_or_slide_within_their_limits(case: tuple[fm.Model, dict[str, float]]) -> None:
    """Of each: a = 0 within the range, or the whole force against the acceleration. What is applied is told from
    the wrench."""
    model, limits = case
    solver = started(model)
    scale = 1.0 + max(abs(solver.get(f"{joint.name}.qdd")) for joint in model.joints)
    for joint in model.joints:
        a = solver.get(f"{joint.name}.qdd")
        part = "f" if isinstance(joint, fm.Prismatic) else "t"
        axis = np.array(joint.axis if not isinstance(joint.axis, str) else np.eye(3)["xyz".index(joint.axis)])
        force = (solver.get(f"{joint.name}.wrench.{part}") - solver.get(f"{joint.name}.reaction.{part}")) @ axis
        limit = limits.get(joint.name, 0.0)
        assert abs(force) <= limit + 1e-9 * (1.0 + limit)
        if abs(force) < limit - 1e-9 * (1.0 + limit):
            assert abs(a) <= 1e-9 * scale
        assert a * force <= 1e-9 * scale * (1.0 + limit)


@pytest.mark.parametrize("seed", seeds(12, 30))
def test_stacked_blocks_stick_or_slide_within_their_limits(seed: int) -> None:
    """Many that bear on one another: friction that follows from Newton's law is within its limit, and against the
    motion where it is at it."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 16))
    masses, limits = 10.0 ** rng.uniform(-1.5, 1.5, n), 10.0 ** rng.uniform(-1, 1, n)
    solver = started(stack(masses, limits))
    for _ in range(8):
        push = rng.normal(size=n) * 10.0 ** rng.uniform(-1, 1.5, n)
        for i in range(n):
            solver.set(f"L{i}.force", (push[i], 0, 0))
        a = np.array([solver.get(f"b{i}.a")[0] for i in range(n)])
        friction = np.cumsum((masses * a - push)[::-1])[::-1]
        assert_sticks_or_slides(friction, -limits, limits, np.diff(a, prepend=0.0), 1.0 + np.abs(push).max())


def assert_sticks_or_slides(force: Any, least: Any, most: Any, rate: Any, size: float) -> None:
    """Of each: it does not move, or the whole force is against its motion; `size`: of what is applied."""
    within, still = 1e-9 * size, 1e-9 * (1.0 + np.abs(rate).max())
    assert np.all((force >= least - within) & (force <= most + within))
    assert_allclose(force[rate > still], least[rate > still], rtol=0, atol=within)
    assert_allclose(force[rate < -still], most[rate < -still], rtol=0, atol=within)


@pytest.mark.parametrize("seed", seeds(15, 200))
def test_redundant_lines_stick_within_their_limits(seed: int) -> None:
    """Where many forces would do, none exceeds its limit, and the run continues."""
    rng = np.random.default_rng(seed)
    model, lines = net(rng)
    solver = started(model)
    masses = [body.mass for body in model.bodies]
    for turn in range(6):
        push = rng.normal(size=(len(masses), 3)) * 10.0 ** rng.uniform(-1, 1.5, (len(masses), 1))
        for i, force in enumerate(push):
            solver.set(f"L{i}.force", force)
        a = np.array([*(solver.get(f"b{i}.a") for i in range(len(masses))), np.zeros(3)])
        pulls = np.array([solver.get(f"S{k}.f") for k in range(len(lines))])
        for (P, Q, d, *_), pull in zip(lines, pulls, strict=True):
            push[P] += pull * d
            if Q >= 0:
                push[Q] -= pull * d
        size = 1.0 + np.abs(push).max() + np.abs(pulls).max()
        assert_allclose(push, np.array(masses)[:, None] * a[:-1], rtol=0, atol=1e-9 * size)
        rates = np.array([d @ (a[Q] - a[P]) for P, Q, d, *_ in lines])
        most, least = np.array([line[3] for line in lines]), -np.array([line[4] for line in lines])
        assert_sticks_or_slides(-pulls, least, most, rates, size)
        if turn == 0:
            solver.step(0.02)
            solver.reset()
            solver.assemble()


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@settings(max_examples=15)
@given(case=chains())
def test_brakes_only_dissipate_and_do_no_work_at_rest(case: tuple[fm.Model, dict[str, float]], dynamics: str) -> None:
    """The mechanism as a whole, and each brake at every instant."""
    model, _ = case
    solver = fm.Solver(fm.compile(model).with_options(tolerance=1e-8, dynamics=dynamics))
    solver.assemble()
    brakes = [(f"{law.name}.force", f"{law.on.name}.qd") for law in model.laws]
    energies = [solver.get("solver.energy")]
    for t in np.linspace(0.05, 0.5, 10):
        solver.step(float(t))
        energies.append(solver.get("solver.energy"))
        assert all(solver.get(force) * solver.get(rate) <= 1e-10 for force, rate in brakes)  # round-off at rest
    assert np.diff(energies).max() <= 1e-5 * (1.0 + max(map(abs, energies)))


def test_a_brake_on_a_line_keeps_its_length() -> None:
    """A bob on a telescopic leg about a ball: while the leg is held it is a pendulum of fixed length."""
    model = fm.Model("leg")
    bob = fm.Body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01))
    free = fm.Free("J", model.ground.at(), bob.at(), q0=(1, 0, 0, 1, 0, 0, 0))
    leg = fm.Spring("leg", model.ground.at(), bob.at())
    model.add(bob, free, leg, fm.Law.brake("grip", leg, 35.0))
    solver = started(model, tolerance=1e-10)
    for t in np.linspace(0.05, 3.0, 60):
        solver.step(float(t))
        assert_allclose(solver.get("leg.length"), 1.0, rtol=0, atol=1e-9)
        speed, height = np.linalg.norm(solver.get("bob.v")), solver.get("bob.r")[2]
        assert_allclose(solver.get("leg.f"), speed**2 - G * height, rtol=0, atol=1e-6)
    assert_allclose(solver.directional_derivative(["leg.f"], ["J.f[1]"], [1.0]), solver.get("bob.r")[0], atol=1e-8)


def test_a_brake_in_a_loop_keeps_it_at_rest() -> None:
    """A four-bar on its crank's brake: at rest it stays, and the brake takes what the weights ask for."""
    model = fm.Model("four_bar")
    a, b, c = (fm.Body.rod(n, length=L, mass=0.5, radius=0.01) for n, L in zip("abc", (0.1, 0.26, 0.22), strict=True))
    A = fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=-1.2)
    model.add(a, b, c, A, fm.Revolute("B", a.tip, b.base, axis="y", q0=0.7))
    model.add(fm.Revolute("D", model.ground.at(0.25, 0, 0), c.base, axis="y", q0=-1.4), fm.Law.brake("brake", A, 2.0))
    model.add(fm.Revolute("C", b.tip, c.tip, axis="y"))
    solver = started(model)
    start = solver.get("A.q")
    solver.step(5.0)
    assert_allclose(solver.get("A.q"), start, atol=1e-12)
    assert_allclose(solver.get("A.qdd"), 0.0, atol=1e-11)
    held = solver.get("A.wrench.t")[1] - solver.get("A.reaction.t")[1]
    solver.set("A.tau", held)
    assert_allclose(solver.get("A.wrench.t")[1] - solver.get("A.reaction.t")[1], held, rtol=1e-9)
    solver.set("A.tau", held + 2.5)
    assert solver.get("A.qdd") > 1.0


# Runs ------------------------------------------------------------------------------------------------------------


def test_runs_do_not_depend_on_the_communication_step() -> None:
    found = []
    for interval in (0.01, 0.37, 10.0):
        result = fm.simulate(stick_slip(), stop=10.0, interval=interval, outputs=["A.q", "B.q"], tolerance=1e-9)
        found.append([result["A.q"][-1], result["B.q"][-1]])
    assert_allclose(found, [found[0]] * 3, rtol=0, atol=1e-6)


def test_a_state_saved_while_sticking_continues_bit_for_bit() -> None:
    solver = started(stick_slip())
    for t in np.arange(1, 30) * 0.1:
        solver.step(float(t))
        saved = solver.state_save()
        other = started(stick_slip())
        other.state_load(saved)
        assert other.get("A.qdd") == solver.get("A.qdd") and other.get("B.qdd") == solver.get("B.qdd")
    solver.step(9.0)
    other.step(9.0)
    assert [other.get(n) for n in ("A.q", "A.qd", "B.q", "B.qd")] == [
        solver.get(n) for n in ("A.q", "A.qd", "B.q", "B.qd")
    ]


def test_the_fixed_step_scheme_locates_sticking_to_first_order() -> None:
    exact = started(stick_slip(), tolerance=1e-11)
    exact.step(3.0)
    errors = []
    for step in (1e-2, 1e-4):
        solver = started(stick_slip(), scheme="rk4", step=step)
        solver.step(3.0)
        errors.append(max(abs(solver.get(f"{n}.q") - exact.get(f"{n}.q")) for n in "AB"))
    assert errors[0] < 1e-3
    assert errors[1] < 5e-2 * errors[0]


@SCHEMES
def test_a_sticking_mode_does_not_creep(scheme: str) -> None:
    solver = started(block(u0=1.0), scheme=scheme)
    solver.step(2.0)
    at = solver.get("J.q")
    assert_allclose(at, 1 / 3, atol=1e-3)
    solver.set("J.f", 2.9)
    solver.step(20.0)
    assert_allclose(solver.get("J.q"), at, rtol=0, atol=1e-12)


def test_endless_switching_is_an_error() -> None:
    """A spring of two forces without slope, and a brake that takes a part of each swing: infinitely many in a time."""
    model = fm.Model("zeno", gravity=(0, 0, 0))
    body = fm.Body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="x", q0=0.1)
    law = fm.Law("signs", J, pieces=[fm.Piece([[10.0]], upper=0.0), fm.Piece([[-10.0]], lower=0.0)])
    model.add(body, J, law, fm.Law.brake("brake", J, 3.0))
    solver = started(model)
    with pytest.raises(fm.SolverError, match=r"at t = .* the force law of joint 'J' switches .* steep slope"):
        solver.step(10.0)
    assert abs(solver.get("J.q")) < 1e-6


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("seed", seeds(4, 100))
def test_laws_that_hold_one_motion_share_it_to_round_off(seed: int, dynamics: str) -> None:
    """A hinge, and springs between the same two bodies, whose rates are in a fixed ratio: only the torque of all is
    determined. Each in units of its own rate, the least forces are equal: each law takes an equal part of the torque,
    wherever the world is turned to, in any units and beside another hinge that moves."""
    rng = np.random.default_rng([241, seed])
    m, far, t = (float(x) for x in 10.0 ** rng.uniform(-3, 3, 3))
    g = far / t**2
    R = fm.Rotation.rpy(*rng.uniform(-3, 3, 3))
    model = fm.Model("held", gravity=R.matrix @ (0, 0, -g))
    carrier, body = (
        fm.Body(name, mass=m, com=tuple(far * rng.uniform(0.3, 1, 3)), inertia=(m * far**2,) * 3) for name in ("c", "b")
    )
    axis = (0.0, 1.0, 0.0)
    first = fm.Revolute("F", model.ground.at(rotation=R), carrier.at(), axis=axis, u0=0.3 / t)
    hinge = fm.Revolute("H", carrier.at(far, 0, 0), body.at(), axis=axis)
    count = int(rng.integers(1, 4))
    springs = [
        fm.Spring(f"s{k}", carrier.at(*(far * rng.uniform(1, 2, 3))), body.at(*(far * rng.uniform(0.2, 0.9, 3))),
                  stiffness=0.0, free_length=far)
        for k in range(count)
    ]  # fmt: skip
    brakes = [fm.Law.brake("H_brake", hinge, 1e3 * m * g * far)]
    brakes += [fm.Law.brake(f"{spring.name}_brake", spring, 1e3 * m * g) for spring in springs]
    order = rng.permutation(count + 1)
    model.add(carrier, body, first, hinge, *springs, *(brakes[k] for k in order))
    solver = fm.Solver(fm.compile(model, everything=True).with_options(dynamics=dynamics))
    solver.assemble()
    assert abs(solver.get("H.qdd")) <= 1e-11 / t**2
    torques = [solver.get("H_brake.force")]
    for spring in springs:
        P, Q = (np.array(point.X_BP.translation) for point in (spring.P, spring.Q))
        line = Q - P
        line[0] += far
        along = line / np.linalg.norm(line)
        torques.append(float(np.cross(Q, along)[1] * solver.get(f"{spring.name}_brake.force")))
    assert abs(torques[0]) > 1e-6 * m * g * far
    assert_allclose(np.abs(torques), abs(torques[0]), rtol=1e-10)
