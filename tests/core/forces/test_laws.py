"""Force laws that switch: moments found, closed forms kept, states saved in the middle."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.mechanism.laws import Law, Piece, Stop

ROOT = Path(__file__).parents[3]
G, K = 9.81, 1e5  # gravity [m/s2], stiffness of the floor [N/m]
GROWTH = 400.0  # 7 contacts of about 15 steps, each of them wrong by the tolerance times 4.4 m/s for flights of 0.9 s


def bouncing(stiffness: float = K) -> fm.Model:
    """1 kg that falls from 1 m on an elastic floor."""
    model = fm.Model("bouncing")
    body = fm.Body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="z", q0=1.0)
    model.add(body, J, Stop("floor", J, lower=0.0, stiffness=stiffness))
    return model


def flight(t: np.ndarray, stiffness: float = K) -> np.ndarray:
    """Closed form of its height while it flies, NaN in contact: a harmonic half-swing about -g/k."""
    fall, speed, omega = math.sqrt(2 / G), math.sqrt(2 * G), math.sqrt(stiffness)
    swing = math.hypot(G / stiffness, speed / omega)
    contact = (2 * math.pi - 2 * math.acos(G / stiffness / swing)) / omega
    period = 2 * fall + contact
    phase = (t + fall) % period - fall
    return np.where(np.abs(phase) <= fall, 1.0 - 0.5 * G * phase**2, np.nan)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-10])
def test_bounces_follow_the_closed_form_to_the_tolerance(tolerance: float) -> None:
    result = fm.simulate(bouncing(), stop=6.0, interval=0.01, outputs=["J.q"], tolerance=tolerance)
    error = np.nanmax(np.abs(result["J.q"] - flight(result.time)))
    assert error <= GROWTH * tolerance


def test_a_mass_on_a_rope_bounces_as_one_on_a_floor() -> None:
    """A rope of 3 m from 3 m above is stretched where the floor is pressed."""
    model = fm.Model("rope")
    body = fm.Body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    rope = fm.Spring("rope", model.ground.at(0, 0, 3.0), body.at())
    model.add(body, fm.Prismatic("J", model.ground.at(), body.at(), axis="z", q0=1.0), rope)
    model.add(Stop("taut", rope, upper=3.0, stiffness=K))
    result = fm.simulate(model, stop=6.0, interval=0.01, outputs=["J.q", "taut.force"], tolerance=1e-8)
    assert np.nanmax(np.abs(result["J.q"] - flight(result.time))) <= GROWTH * 1e-8
    assert result["taut.force"].min() == 0.0 < result["taut.force"].max()


def test_backlash_as_the_page_tells_keeps_the_momentum(capsys: pytest.CaptureFixture[str]) -> None:
    """docs/forces.md: the free flight through the play, and what a force between teeth cannot change."""
    names: dict[str, Any] = {}
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "forces.md").read_text(), re.S)
    (snippet,) = (one for one in snippets if "teeth" in one)
    exec(snippet, names)
    result, teeth = names["result"], names["result"]["teeth.position"]
    flying = result.time <= 0.002
    np.testing.assert_allclose(teeth[flying], 10.0 * result.time[flying], atol=1e-12)
    assert capsys.readouterr().out == "the shaft begins to turn after 0.003 s\n"  # the first row after the contact
    both = 2 * 0.002 * result["drive.qd"] - 0.04 * result["shaft.qd"]
    np.testing.assert_allclose(both, 0.04, rtol=1e-9)
    assert (np.abs(teeth) < 0.03).all() and (teeth > 0.02).any()


def test_switches_do_not_depend_on_the_communication_step() -> None:
    run = {"stop": 6.0, "outputs": ["J.q"], "tolerance": 1e-9}
    heights = [fm.simulate(bouncing(), interval=interval, **run)["J.q"][-1] for interval in (0.01, 0.5, 6.0)]
    assert np.ptp(heights) <= GROWTH * 1e-9


def test_a_state_saved_in_contact_continues_bit_for_bit() -> None:
    solver = fm.Solver(bouncing(1e3))
    solver.assemble()
    solver.step(math.sqrt(2 / G) + 0.02)
    assert solver.get("J.q") < 0.0
    saved = solver.state_save()
    solver.step(2.0)
    other = fm.Solver(bouncing(1e3))
    other.state_load(saved)
    other.step(2.0)
    assert other.get("J.q") == solver.get("J.q") and other.get("J.qd") == solver.get("J.qd")


def test_a_damper_that_works_one_way_takes_energy_one_way() -> None:
    model = fm.Model("damped", gravity=(0, 0, 0))
    body = fm.Body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="x", q0=1.0, stiffness=100.0)
    one_way = Law("one_way", J, pieces=[Piece([[0.0, -2.0]], v_lower=0.0)])  # while it moves out only
    model.add(body, J, one_way)
    omega, damped = 10.0, math.sqrt(100.0 - 1.0)
    half = math.pi / omega  # it swings to -1 freely, then back, damped: x = e^-t ...
    result = fm.simulate(model, stop=half + math.pi / damped, interval=0.001, outputs=["J.q", "J.qd"], tolerance=1e-9)
    assert result["J.q"][np.searchsorted(result.time, half)] == pytest.approx(-1.0, abs=2e-4)
    assert result["J.q"][-1] == pytest.approx(math.exp(-math.pi / damped), abs=1e-7)


def test_a_table_on_a_spring_adds_to_its_force() -> None:
    model = fm.Model("table", gravity=(0, 0, 0))
    body = fm.Body("body", mass=2.0, inertia=(0.1, 0.1, 0.1))
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="x", q0=1.5)
    spring = fm.Spring("S", model.ground.at(), body.at(), stiffness=10.0, free_length=1.0)
    model.add(body, J, spring, Law.table("law", spring, [0.0, 1.0, 2.0], [0.0, 0.0, 8.0]))
    solver = fm.Solver(model)
    solver.assemble()
    assert solver.get("S.f") == pytest.approx(5.0 + 4.0, rel=1e-14)
    assert solver.get("J.qdd") == pytest.approx(-9.0 / 2.0, rel=1e-14)


def test_the_fixed_step_scheme_runs_through_switches_with_an_error_of_its_step() -> None:
    errors = []
    for step in (1e-3, 1e-4):
        result = fm.simulate(bouncing(1e3), stop=1.2, interval=0.1, outputs=["J.q"], scheme="rk4", step=step)
        errors.append(np.nanmax(np.abs(result["J.q"] - flight(result.time, 1e3))))
    assert errors[0] < 1e-3 and errors[1] < errors[0]


# What is entered and left again within a step -------------------------------------------------------------------


LOCATED = 1e-9  # [s] how exactly switches are located
PROMISE = 60  # times the tolerance


def thrown(on: str, low: float, high: float, push: float, speed: float) -> fm.Model:
    """1 kg that nothing but a push between two places moves; on its joint, or on a spring to it."""
    model = fm.Model("thrown", gravity=(0, 0, 0))
    body = fm.Body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="x", u0=speed, q0=0.1)
    model.add(body, J)
    if on == "joint":
        model.add(Law("strip", J, pieces=[Piece([[push]], lower=low, upper=high)]))
    else:
        spring = fm.Spring("S", model.ground.at(), body.at(), stiffness=0.0, free_length=0.0)
        model.add(spring, Law("strip", spring, pieces=[Piece([[-push]], lower=low, upper=high)]))
    return model


@pytest.mark.parametrize("start", [0.0, 1e5])
@pytest.mark.parametrize("on", ["joint", "spring"])
def test_narrow_range_of_positions_within_a_step_is_found(on: str, start: float) -> None:
    """However narrow: without forces the integrator would step over it."""
    rng = np.random.default_rng([len(on), int(start)])
    for _ in range(12):
        width, speed, push = 10.0 ** rng.uniform(-5, -0.5), rng.uniform(0.2, 3.0), rng.uniform(1.0, 50.0)
        low, tolerance = rng.uniform(0.2, 2.0), 10.0 ** rng.uniform(-9, -4)
        image = compile(thrown(on, low, low + width, push, speed))
        solver = fm.Solver(image.with_options(tolerance=tolerance))
        solver.assemble(start)
        solver.step(start + 50.0)
        after = math.hypot(speed, math.sqrt(2 * push * width))
        allowed = PROMISE * tolerance * after + 4 * push * (LOCATED + start * np.finfo(float).eps)
        assert solver.get("J.qd") == pytest.approx(after, abs=allowed)
        inside = 2 * width / (speed + after)
        flight = (low - 0.1) / speed + inside
        assert solver.get("J.q") == pytest.approx(low + width + (50.0 - flight) * after, abs=100 * allowed)
        assert solver.get("solver.steps") < 60


@pytest.mark.parametrize("start", [0.0, 1e5])
@pytest.mark.parametrize("slow", [1e-4, 0.01, 0.3])
def test_range_of_velocities_within_a_step_is_found(slow: float, start: float) -> None:
    """1 kg under 1 N, but half of it while its velocity is between two bounds: that takes `slow` seconds longer."""
    model = fm.Model("slowed", gravity=(1, 0, 0))
    body = fm.Body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="x")
    model.add(body, J, Law("range", J, pieces=[Piece([[-0.5]], v_lower=0.7, v_upper=0.7 + slow)]))
    solver = fm.Solver(model)
    solver.assemble(start)
    solver.step(start + 5.0)
    assert solver.get("J.qd") == pytest.approx(5.0 - slow, abs=PROMISE * 1e-6)


@pytest.mark.parametrize("start", [0.0, -2.0])
def test_range_of_velocities_at_the_peak_of_a_swing_is_found(start: float) -> None:
    """A brake that acts above 0.99995 of the largest velocity holds it there: the swing loses as much."""
    model = fm.Model("peak", gravity=(0, 0, 0))
    body = fm.Body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="x", q0=-1.0, stiffness=4.0)
    model.add(body, J, Law("brake", J, pieces=[Piece([[-0.05]], v_lower=1.9999)]))
    ends = []
    for tolerance in (1e-5, 1e-14):
        solver = fm.Solver(compile(model).with_options(tolerance=tolerance))
        solver.assemble(start)
        solver.step(start + math.pi / 2)
        ends.append(solver.get("J.q"))
    assert ends[1] == pytest.approx(0.99995, abs=1e-9)
    assert ends[0] == pytest.approx(ends[1], abs=2e-5)


@pytest.mark.parametrize("phase", np.linspace(0.2, 1.3, 23))
def test_range_of_velocities_at_a_peak_is_found_for_every_phase(phase: float) -> None:
    """As above, but 0.2 % of the swing long, so that hardly any look lies within it."""
    model = fm.Model("peak", gravity=(0, 0, 0))
    body = fm.Body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    start = {"q0": -math.cos(phase), "u0": 2.0 * math.sin(phase)}
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="x", stiffness=4.0, **start)
    model.add(body, J, Law("brake", J, pieces=[Piece([[-1.0]], v_lower=2.0 * math.cos(0.006))]))
    solver = fm.Solver(compile(model).with_options(tolerance=1e-6))
    solver.assemble()
    solver.step((math.pi - phase) / 2)
    assert 1.0 - solver.get("J.q") == pytest.approx(1.0 - math.cos(0.006), abs=4e-6)


@pytest.mark.parametrize("start", [0.0, 1e5])
def test_piece_at_the_top_of_a_flight_is_found_for_every_phase(start: float) -> None:
    """Thrown up to 0.1 mm above a bound, where another gravity pulls: the way there and back takes the less time."""
    rise, over = 0.8, 1e-4
    model = fm.Model("top")
    body = fm.Body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="z", u0=math.sqrt(2 * G * (rise + over)))
    model.add(body, J, Law("pull", J, pieces=[Piece([[-9 * G]], lower=rise)]))
    solver = fm.Solver(model)
    solver.assemble(start)
    up = math.sqrt(2 * G * over)
    duration = 2 * ((math.sqrt(2 * G * (rise + over)) - up) / G + up / (10 * G))
    solver.step(start + duration)
    assert solver.get("J.q") == pytest.approx(0.0, abs=PROMISE * 1e-6)


def test_a_step_with_more_near_touches_than_looks_ends_where_it_was_looked_through() -> None:
    """Forty bodies stop just below a bound, each at its own time, within one step of the scheme; then another one
    passes its bound and comes back, which must not be overlooked."""
    rise, over = 0.4, 1e-3
    model = fm.Model("near_touches")
    for i, at in enumerate(np.linspace(0.1, 0.25, 40)):
        body = fm.Body(f"b{i}", mass=1.0)
        slide = fm.Prismatic(f"J{i}", model.ground.at(x=i), body.at(), axis="z", u0=G * at)
        bound = Piece([[-1e3]], lower=0.5 * G * at**2 + 1e-13)
        model.add(body, slide, Law(f"pull{i}", slide, pieces=[bound]))
    body = fm.Body("last", mass=1.0)
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="z", u0=math.sqrt(2 * G * (rise + over)))
    model.add(body, J, Law("pull", J, pieces=[Piece([[-9 * G]], lower=rise)]))
    solver = fm.Solver(model)
    solver.assemble()
    up = math.sqrt(2 * G * over)
    duration = 2 * ((math.sqrt(2 * G * (rise + over)) - up) / G + up / (10 * G))
    solver.step(duration)
    assert solver.get("J.q") == pytest.approx(0.0, abs=PROMISE * 1e-6)
    assert 5 < solver.get("solver.steps") < 100


@pytest.mark.parametrize("seed", range(6))
def test_a_law_is_its_polynomial_of_position_and_velocity(seed: int) -> None:
    """All powers of both, about any origin, on the mode that it names."""
    rng = np.random.default_rng(seed)
    table, origin, mode = rng.normal(size=(6, 4)), float(rng.normal()), int(rng.integers(1, 4))
    model = fm.Model("law", gravity=(0, 0, 0))
    body = fm.Body("body", mass=2.0, inertia=(0.1, 0.1, 0.1))
    x, v = rng.uniform(-1.5, 1.5, (2, 3))
    J = fm.Joint("J", model.ground.at(), body.at(), modes=[fm.Slide(e) for e in "xyz"], q0=x, u0=v)
    model.add(body, J, Law("law", J, mode=mode, pieces=(Piece(table, origin=origin),)))
    solver = fm.Solver(model)
    solver.assemble()
    k = mode - 1
    force = (x[k] - origin) ** np.arange(6) @ table @ v[k] ** np.arange(4)
    expected = np.zeros(3)
    expected[k] = force / 2.0
    np.testing.assert_allclose(solver.get("J.qdd"), expected, rtol=0, atol=1e-12 * max(1.0, abs(force)))
