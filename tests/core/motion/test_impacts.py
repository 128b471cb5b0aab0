"""Stops with a restitution: closed forms, and impacts of any mechanism beside brute force over sets of stops."""

from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler.layout import ffi, lib
from support.both_ways import runs
from support.closed import coupled, plane, space
from support.drawing.rebuilding import rebuilt
from support.host import Host
from support.impacts import (
    GRAVITY,
    REACH,
    ROUND_OFF,
    Array,
    four_bar,
    gain,
    impulses,
    stack,
    started,
    strike,
    with_stops,
)
from support.sweeps import each_value, seeds

SCHEMES = ("dopri5", "dop853", "radau", "auto")
EXACT = 1e-12  # relative: momentum, and velocities on the constraints of loops
SERIES = 1e-10  # relative: of an end seen from a flight whose velocity is 1e-9 of the rate and so round-off begins
FLIGHT = 1e-9  # of flights of a few m and s: parabolas, which every scheme has but for round-off, many times
ENERGY = 1e-11  # relative: of what Newton's method of radau leaves in a stage
BALLS = {
    1.0: (0.0, 0.0, 0.0, 0.0, 1.0),
    0.5: (0.15386963, 0.16717529, 0.17797852, 0.18457031, 0.31640625),
}
PRINTED = 5e-9  # the digits of these
MASSES = (1.0, 2.5, 0.7)


def balls(e: float, count: int = 5, gap: float = 0.1, size: float = 0.05) -> fm.Model:
    """Equal balls on a line, each on a slide on the one before; the first moves."""
    model = fm.Model("balls", gravity=(0, 0, 0))
    at: Any = model.ground.at()
    for i in range(count):
        ball = fm.Body(f"b{i}", mass=1.0, inertia=(0.001, 0.001, 0.001))
        q0, u0 = (0.0, 1.0) if i == 0 else (size + gap, -1.0 if i == 1 else 0.0)
        slide = fm.Prismatic(f"s{i}", at, ball.at(), axis="x", q0=q0, u0=u0)
        model.add(ball, slide, *([fm.Stop(f"c{i}", slide, lower=size, restitution=e)] if i else []))
        at = ball.at()
    return model


def bouncing(e: float, height: float = 1.0, **options: Any) -> fm.Model:
    model = fm.Model("bouncing", gravity=(0, 0, -GRAVITY))
    mass = fm.Body("mass", mass=2.0, inertia=(0.1, 0.1, 0.1))
    slide = fm.Prismatic("s", model.ground.at(), mass.at(), axis="z", q0=height, **options)
    model.add(mass, slide, fm.Stop("floor", slide, lower=0.0, restitution=e))
    return model


def heights(e: float, height: float, times: Array) -> tuple[Array, Array, float]:
    """Of a mass that falls from a height, how often it has touched the floor, and when that ends."""
    first, v = np.sqrt(2 * height / GRAVITY), np.sqrt(2 * height * GRAVITY)
    q, hits, end = height - GRAVITY * times**2 / 2, np.zeros(len(times)), first
    while e * v > 1e-13 and end <= times[-1]:
        v *= e
        hits[times >= end] += 1
        since = times - end
        q = np.where(since >= 0, v * since - GRAVITY * since**2 / 2, q)
        end += 2 * v / GRAVITY
    return np.where(times > end, 0.0, q), hits, end


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("e", BALLS)
def test_five_balls(e: float, scheme: str, dynamics: str) -> None:
    result = balls(e).simulate(stop=60.0, interval=1.0, scheme=scheme, dynamics=dynamics)
    v = np.cumsum([result[f"s{i}.qd"] for i in range(5)], axis=0)
    assert_allclose(v[:, -1], BALLS[e], rtol=0, atol=PRINTED)
    assert_allclose(v.sum(axis=0), 1.0, rtol=EXACT)
    assert sum(result[f"c{i}.impacts"][-1] for i in range(1, 5)) == (4 if e == 1.0 else 10)
    loss = sum(result[f"c{i}.loss"] for i in range(1, 5))
    assert_allclose(result["solver.energy"] + loss, 0.5, rtol=EXACT)


@pytest.mark.parametrize("e", BALLS)
def test_five_balls_in_fmus(tmp_path: Path, e: float) -> None:
    names = [f"s{i}.qd" for i in range(5)]
    for what, _, found in runs(tmp_path, balls(e), names, stop=60.0, interval=1.0):
        v = np.cumsum([found[name][-1] for name in names])
        assert_allclose(v, BALLS[e], rtol=0, atol=PRINTED, err_msg=what)
        assert_allclose(v.sum(), 1.0, rtol=EXACT, err_msg=what)


@each_value
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("e", [0.0, 0.3, 0.8, 1.0])
def test_a_bouncing_mass(e: float, scheme: str) -> None:
    """Its flights, and the time at which their series ends at rest."""
    result = bouncing(e).simulate(stop=4.5, interval=0.05, scheme=scheme)
    q, hits, end = heights(e, 1.0, result.time)
    assert_allclose(result["s.q"], q, rtol=0, atol=FLIGHT)
    over = result.time > end + 1e-6
    assert_allclose(result["floor.impacts"][~over], hits[~over])
    assert_allclose(result["solver.energy"] + result["floor.loss"], 2.0 * GRAVITY, rtol=ENERGY)
    assert over.any() == (e < 1.0)
    if over.any():
        assert_allclose(result["floor.rested"][over], end, rtol=FLIGHT)
        assert (result["floor.closed"][over] == -1.0).all() and (result["s.qd"][over] == 0.0).all()
        assert_allclose(result["floor.force"][over], 2.0 * GRAVITY, rtol=EXACT)
    assert (result["floor.rested"][~over] == -1.0).all()


@pytest.mark.parametrize("e", [0.3, 1.0])
def test_a_bouncing_mass_in_fmus(tmp_path: Path, e: float) -> None:
    names = ["s.q", "floor.impacts", "floor.rested"]
    for what, t, found in runs(tmp_path, bouncing(e), names, stop=3.0, interval=0.05):
        q, hits, end = heights(e, 1.0, t)
        assert_allclose(found["s.q"], q, rtol=0, atol=FLIGHT, err_msg=what)
        before = t < end
        assert_allclose(found["floor.impacts"][before], hits[before], err_msg=what)
        assert_allclose(found["floor.rested"][-1], end if e < 1.0 else -1.0, rtol=FLIGHT, err_msg=what)


def test_a_long_series() -> None:
    """Many flights, the last of them shorter than what counts as simultaneous: they end at t (1 + e) / (1 - e)."""
    e, first = 0.98, np.sqrt(2 / GRAVITY)
    end = first * (1 + e) / (1 - e)
    result = bouncing(e).simulate(stop=end + 1, interval=(end + 1) / 4)
    assert_allclose(result["floor.rested"][-1], end, rtol=SERIES)


def test_the_last_impulse() -> None:
    e, solver = 0.5, started(bouncing(0.5))
    first, v = np.sqrt(2 / GRAVITY), np.sqrt(2 * GRAVITY)
    for _ in range(4):
        solver.step(first)  # at the instant itself, it is that before or after
        solver.step(first + 1e-6)
        assert_allclose(solver.get("floor.impulse"), 2.0 * (1 + e) * v, rtol=FLIGHT)
        v, first = e * v, first + 2 * e * v / GRAVITY


def before_the_rocker_is_struck(e: float, **options: Any) -> tuple[fm.Solver, bytes, float]:
    """A solver at the last time before the impact, its start, and the time after that."""
    solver = started(four_bar(e), tolerance=1e-9, **options)
    low, high = 0.0, 1.0
    saved = solver.state_save()
    while low < (middle := 0.5 * (low + high)) < high:
        solver.state_load(saved)
        solver.step(middle)
        low, high = (low, middle) if solver.get("stop.impacts") else (middle, high)
    solver.state_load(saved)
    solver.step(low)
    return solver, saved, high


def struck_rocker(e: float, solver: fm.Solver) -> Any:
    """The impact of the four-bar where a solver is, by the oracle."""
    at = {j: {"q0": float(solver.get(f"{j}.q")), "u0": float(solver.get(f"{j}.qd"))} for j in ("A", "B", "D")}
    stop = fm.Stop("stop", four_bar(e)["D"], upper=REACH, restitution=e)
    return strike(rebuilt(four_bar(e), lambda one: replace(one, **at.get(one.name, {}))), [stop])


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("e", [0.0, 0.6])
def test_a_rocker_that_hits_a_stop(e: float, scheme: str, dynamics: str) -> None:
    """The impulse is that of the oracle's dense inertia and rows of J, at the last time before it."""
    solver, saved, high = before_the_rocker_is_struck(e, scheme=scheme, dynamics=dynamics)
    assert_allclose(solver.get("D.q"), REACH, rtol=0, atol=EXACT)
    struck = struck_rocker(e, solver)
    solver.state_load(saved)
    solver.step(high)
    assert solver.get("stop.impacts") == 1.0
    assert_allclose(-solver.get("stop.impulse"), impulses(struck.A, struck.v, struck.e)[0], rtol=ROUND_OFF)
    assert_allclose(solver.get("D.qd"), e * struck.v[0], rtol=ROUND_OFF, atol=EXACT)
    assert_allclose(solver.get("solver.velocity_violation"), 0.0, atol=EXACT)


@pytest.mark.parametrize("e", [0.0, 0.6])
def test_a_rocker_that_hits_a_stop_in_fmus(tmp_path: Path, e: float) -> None:
    """By the same dense inertia and rows, an instant after the impact."""
    solver, _, high = before_the_rocker_is_struck(e)
    struck, names = struck_rocker(e, solver), ["stop.impacts", "stop.impulse", "D.qd", "solver.velocity_violation"]
    p = impulses(struck.A, struck.v, struck.e)[0]
    stop = high + 1e-9
    for what, _, found in runs(tmp_path, four_bar(e), names, stop=stop, interval=stop, tolerance=1e-9):
        count, impulse, rate, violation = (float(found[name][-1]) for name in names)
        assert count == 1.0, what
        assert_allclose(-impulse, p, rtol=1e-7, err_msg=what)  # of steps at a tolerance of 1e-9
        assert_allclose(rate, e * struck.v[0], rtol=0, atol=1e-6, err_msg=what)  # it goes on for 1e-9 s
        assert_allclose(violation, 0.0, atol=EXACT, err_msg=what)


def drawn(seed: int) -> fm.Model:
    return (lambda: plane(seed).model, lambda: space(seed, loops=1).model, lambda: coupled(seed).model)[seed % 3]()


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("seed", seeds(9, 200))
def test_impacts_of_any_mechanism(seed: int, dynamics: str) -> None:
    """Several stops at once, with one restitution or several: Newton's law, unless energy would be gained."""
    rng = np.random.default_rng(seed)
    choice = [float(rng.random())] if rng.random() < 0.5 else [0.0, 0.2, 0.5, 0.9, 1.0]
    model, stops = with_stops(drawn(seed), rng, choice, int(rng.integers(1, 5)))
    if not stops:
        return
    excited = any(joint.excited_modes for joint in model.joints)
    hit = None
    with suppress(*[fm.SolverError] * excited):  # nothing can leave a stop on which a drive goes
        hit = strike(model, stops, dynamics=dynamics)
    if hit is None:
        return
    speed = max(1.0, float(np.abs(hit.v).max()))
    assert hit.off <= ROUND_OFF * speed and hit.unexplained <= ROUND_OFF * speed * max(1.0, float(np.abs(hit.p).max()))
    assert_allclose(hit.left, hit.v + hit.A @ hit.p, rtol=0, atol=ROUND_OFF * speed)
    assert (hit.p >= -ROUND_OFF).all() and (hit.left >= -ROUND_OFF * speed).all()
    if not excited:  # drives of these take or give energy, too
        assert_allclose(hit.gained, -hit.loss, rtol=0, atol=ROUND_OFF * speed**2)
    assert hit.loss >= -ROUND_OFF * speed**2
    wanted = impulses(hit.A, hit.v, hit.e)
    if gain(hit.A, hit.v, wanted) <= ROUND_OFF:
        assert_allclose(hit.A @ hit.p, hit.A @ wanted, rtol=0, atol=1e2 * ROUND_OFF * speed)
    else:
        assert_allclose(hit.loss, 0.0, rtol=0, atol=ROUND_OFF * speed**2)


def row_of_balls(seed: int) -> tuple[fm.Model, list[Any]]:
    """Balls that touch on a line, each on a slide on the one before, and the first a wall; they come and go."""
    rng, count = np.random.default_rng(seed), 5
    model = fm.Model("row", gravity=(0, 0, 0))
    at, speed, stops = model.ground.at(), 0.0, []
    for i in range(count):
        ball = fm.Body(f"b{i}", mass=float(rng.uniform(0.3, 3.0)), inertia=(1, 1, 1))
        new = float(rng.uniform(-1.0, 1.0))
        slide = fm.Prismatic(f"s{i}", at, ball.at(), axis="x", q0=0.1, u0=new - speed)
        stops.append(fm.Stop(f"c{i}", slide, lower=0.1, restitution=float(rng.random())))
        model.add(ball, slide, stops[-1])
        at, speed = ball.at(), new
    return model, stops


@pytest.mark.parametrize("seed", seeds(12, 100))
def test_rows_of_balls_that_are_struck_at_once(seed: int) -> None:
    """As many stops as balls, which come and go: the impulses are those of the one set of stops that fits."""
    model, stops = row_of_balls(seed)
    hit = strike(model, stops)
    wanted = impulses(hit.A, hit.v, hit.e)
    left = hit.v + hit.A @ wanted
    gains = gain(hit.A, hit.v, wanted) > ROUND_OFF
    assert_allclose(hit.left, hit.v + hit.A @ hit.p, rtol=0, atol=ROUND_OFF)
    assert (hit.left >= -ROUND_OFF).all() and hit.loss >= -ROUND_OFF
    if not gains:
        assert_allclose(hit.p, wanted, rtol=0, atol=1e2 * ROUND_OFF)
        assert_allclose(hit.left, left, rtol=0, atol=1e2 * ROUND_OFF)


def star(rng: np.random.Generator) -> tuple[fm.Model, Array, Array]:
    """A body in the air between points on the ground, whose distances from points of it may not shrink further or grow.
    And (n, 6) the velocities away from these stops by those of the body, and its inverse inertia."""
    model, count = fm.Model("star", gravity=(0, 0, 0)), int(rng.integers(2, 8))
    mass, inertia = float(rng.uniform(0.5, 2)), rng.uniform(0.5, 1.0, 3)
    body = fm.Body("body", mass=mass, inertia=tuple(inertia))
    model.add(body, fm.Free("J", model.ground.at(), body.at(), u0=tuple(rng.uniform(-1, 1, 6))))
    rows = []
    for i in range(count):
        P, Q = rng.uniform(-2, 2, 3), rng.uniform(-1, 1, 3)
        length = float(np.linalg.norm(Q - P))
        spring = fm.Spring(f"d{i}", model.ground.at(*P.tolist()), body.at(*Q.tolist()), stiffness=0.0)
        side = str(rng.choice(("lower", "upper")))
        model.add(spring, fm.Stop(f"c{i}", spring, restitution=float(rng.random()), **{side: length}))
        n = (Q - P) / length * (1.0 if side == "lower" else -1.0)
        rows.append(np.concatenate([np.cross(Q, n), n]))
    return model, np.array(rows), np.diag(1.0 / np.concatenate([inertia, [mass] * 3]))


def test_a_body_that_strikes_many_stops_at_once() -> None:
    """In any directions, as many as it has freedoms and more: velocities are those of the set of stops that fits."""
    rng, compared = np.random.default_rng(3), 0
    for _ in range(40):
        model, G, W = star(rng)
        solver = started(model)
        nu = np.concatenate([solver.get("J.w"), solver.get("J.v")])
        e = np.array([stop.restitution for stop in model.laws])  # type: ignore[attr-defined]
        wanted = impulses(G @ W @ G.T, G @ nu, e)
        Host(solver)
        after = np.concatenate([solver.get("J.w"), solver.get("J.v")])
        assert (G @ after >= -ROUND_OFF).all()
        assert after @ np.linalg.solve(W, after) <= nu @ np.linalg.solve(W, nu) + ROUND_OFF
        if gain(G @ W @ G.T, G @ nu, wanted) <= ROUND_OFF:
            assert_allclose(after, nu + W @ G.T @ wanted, rtol=0, atol=1e2 * ROUND_OFF)
            compared += 1
    assert compared > 20


def test_stops_that_hold_one_freedom_from_both_sides_leave_it_at_rest() -> None:
    """Two masses on a rope over a pulley, as a coupling: one comes to its floor as the other leaves its own."""
    model = fm.Model("both", gravity=(0, 0, 0))
    for name, u0 in (("A", -1.0), ("B", 1.0)):
        mass = fm.Body(f"mass{name}", mass=1.0, inertia=(1, 1, 1))
        slide = fm.Prismatic(name, model.ground.at(), mass.at(), axis="z", u0=u0)
        model.add(mass, slide, fm.Stop(f"stop{name}", slide, lower=0.0, restitution=0.5))
    model.add(fm.Coupling("rope", [(model["A"], 1.0), (model["B"], 1.0)]))  # type: ignore[list-item]
    result = model.simulate(stop=0.1, interval=0.1)
    assert result["A.qd"][-1] == result["B.qd"][-1] == 0.0
    assert_allclose(result["stopA.loss"][-1] + result["stopB.loss"][-1], 1.0, rtol=1e-12)


def test_an_impact_takes_from_a_stop_that_is_being_left_no_energy() -> None:
    """Two bodies of one kilogram on one line, b's slide on a: a strikes while b leaves its stop, which then stays.
    Newton's law would double the energy; what gains none has the velocities (1, 0)/sqrt(2)."""
    model = fm.Model("pair", gravity=(0, 0, 0))
    a, b = (fm.Body(name, mass=1.0, inertia=(1, 1, 1)) for name in "ab")
    on_ground = fm.Prismatic("A", model.ground.at(), a.at(), axis="x", u0=-1.0)
    on_a = fm.Prismatic("B", a.at(), b.at(), axis="x", u0=1.0)
    stops = fm.Stop("s", on_ground, lower=0.0, restitution=1.0), fm.Stop("t", on_a, lower=0.0, restitution=0.2)
    model.add(a, b, on_ground, on_a, *stops)
    result = model.simulate(stop=0.01, interval=0.01)
    assert_allclose(result["A.qd"][-1], np.sqrt(0.5), rtol=1e-12)
    assert_allclose(result["B.qd"][-1], 0.0, rtol=0, atol=1e-12)
    assert_allclose(result["solver.energy"], 0.5, rtol=1e-12)


@pytest.mark.parametrize("seed", seeds(2, 60, start=12))
def test_energy_never_grows(seed: int) -> None:
    """Over many impacts of a chain between stops, with unequal restitutions; no position passes an end."""
    rng = np.random.default_rng(seed)
    model = fm.Model("chain", gravity=(0, 0, -GRAVITY))
    at: Any = model.ground.at()
    for i in range(3):
        rod = fm.Body.rod(f"rod{i}", length=0.5, mass=float(rng.uniform(0.5, 2)))
        q0, u0 = (float(rng.uniform(-most, most)) for most in (0.3, 6.0))
        joint = fm.Revolute(f"A{i}", at, rod.base, axis="y", q0=q0, u0=u0)
        low, high = -rng.uniform(0.4, 1.0), rng.uniform(0.4, 1.0)
        model.add(rod, joint, fm.Stop(f"stop{i}", joint, lower=low, upper=high, restitution=float(rng.random())))
        at = rod.tip
    model.add(fm.Spring("rope", model.ground.at(0.2), at, stiffness=0.0))
    model.add(fm.Stop("taut", model["rope"], upper=1.45, restitution=float(rng.random())))  # type: ignore[arg-type]
    result = model.simulate(stop=3.0, interval=0.02, tolerance=1e-9)
    loss = np.sum([result[f"{name}.loss"] for name in ("stop0", "stop1", "stop2", "taut")], axis=0)
    assert (np.diff(loss) >= -1e-9).all() and loss[-1] > 1e-3
    assert_allclose(result["solver.energy"] + loss, result["solver.energy"][0], rtol=0, atol=1e-6)
    for i in range(3):
        stop: Any = model[f"stop{i}"]
        assert result[f"A{i}.q"].min() >= stop.lower - 1e-9 and result[f"A{i}.q"].max() <= stop.upper + 1e-9


def test_a_closed_stop_opens_when_it_would_pull() -> None:
    """A mass on a stop is lifted by a force that grows: it leaves as the force exceeds its weight."""
    model = bouncing(0.0, height=0.0)
    result = model.simulate(stop=2.0, interval=0.01, inputs={"s.f": lambda t: 15.0 * t})
    leaves = 2.0 * GRAVITY / 15.0
    held = result.time < leaves
    later = result.time > leaves + 0.01  # inputs change every 0.01 s
    assert (result["floor.closed"][held] == -1.0).all() and (result["floor.closed"][later] == 0.0).all()
    before = result.time[held][:-1]  # the force until a moment is that of the moment before
    assert_allclose(result["floor.force"][held][1:], 20.0 - 15.0 * before, rtol=0, atol=FLIGHT)
    since = result.time[later] - leaves
    assert_allclose(result["s.q"][later], 15.0 * since**3 / 12, rtol=0, atol=2e-2)


def test_what_is_pressed_on_a_stop_stays_there() -> None:
    """In a loop, beside a part that swings: the stop is closed for many oscillations."""
    model = four_bar(0.0)
    pendulum = fm.Body.rod("pendulum", length=0.4, mass=0.3)
    model.add(pendulum, fm.Revolute("P", model["rocker"].tip, pendulum.base, axis="y", q0=1.0))  # type: ignore[union-attr, attr-defined]
    model.add(fm.Load("push", model["rocker"].tip, force=(60.0, 0, 0)))  # type: ignore[union-attr, attr-defined]
    result = model.simulate(stop=8.0, interval=0.05)
    closed = result["stop.closed"] == 1.0
    assert closed[-1] and closed.sum() > 100
    assert_allclose(result["D.q"][closed], REACH, rtol=0, atol=1e-7)
    assert_allclose(result["D.qd"][closed], 0.0, atol=1e-9)


def test_a_saved_state_keeps_the_mode() -> None:
    solver = started(bouncing(0.0))
    solver.step(1.0)
    kept = solver.state_save()
    solver.set("s.f", 30.0)
    solver.step(1.5)
    assert solver.get("floor.closed") == 0.0 and solver.get("s.q") > 0.1
    solver.state_load(kept)
    assert solver.get("floor.closed") == -1.0
    for name in ("impulse", "loss", "impacts", "rested"):
        value = solver.get(f"floor.{name}")
        other = fm.Solver(solver.image)
        other.assemble()
        other.state_load(kept)
        assert other.get(f"floor.{name}") == value != 0.0
    solver.step(2.0)
    assert_allclose(solver.get("s.q"), 0.0, atol=EXACT)


def test_an_impact_between_two_communication_points_is_not_seen_before_it() -> None:
    solver = started(bouncing(0.5))
    times = np.linspace(0.02, 0.9, 45)
    seen = []
    for t in times:
        solver.step(float(t))
        seen.append((solver.get("floor.impacts"), solver.get("floor.loss") > 0.0))
    _, hits, _ = heights(0.5, 1.0, times)
    assert seen == [(h, h > 0) for h in hits]


def test_the_restitution_is_a_parameter() -> None:
    solver = started(bouncing(0.2))
    solver.set("floor.restitution", 1.0)
    solver.step(2 * np.sqrt(2 / GRAVITY))
    assert_allclose(solver.get("s.q"), 1.0, rtol=FLIGHT)
    with pytest.raises(fm.SolverError, match="at most 1"):
        solver.set("floor.restitution", 1.1)


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_host_that_integrates_has_the_same_flights(e: float) -> None:
    solver = started(bouncing(e))
    host = Host(solver)
    for t in (0.3, 0.7, 2.0):
        host.run(t, 1e-10)
        q, _, end = heights(e, 1.0, np.array([t]))
        assert_allclose(solver.get("s.q"), q[0], rtol=0, atol=1e-8)
    assert_allclose(solver.get("floor.rested"), end, rtol=1e-8)
    assert solver.get("floor.closed") == -1.0


def test_a_host_has_the_same_impacts_in_loops() -> None:
    own, solver = started(four_bar(0.5), tolerance=1e-10), started(four_bar(0.5))
    own.step(0.4)
    Host(solver).run(0.4, 1e-10)
    assert own.get("stop.impacts") == solver.get("stop.impacts") > 0
    for name in ("A.q", "D.q", "D.qd", "stop.loss"):
        assert_allclose(solver.get(name), own.get(name), rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
@pytest.mark.parametrize("fmi", [2, 3])
def test_fmus_have_the_same_impacts(tmp_path: Path, fmi: Any, kind: str) -> None:
    path = fm.export_fmu(bouncing(0.5), tmp_path / "bouncing.fmu", fmi=fmi)
    names = ["s.q", "floor.rested", "floor.impacts", "floor.closed"]
    found = fmpy.simulate_fmu(path, fmi_type=kind, stop_time=2.0, output_interval=0.05, output=names,
                              relative_tolerance=1e-9)  # fmt: skip
    times, exchanged = np.asarray(found["time"]), kind == "ModelExchange"
    q, _, end = heights(0.5, 1.0, times)
    assert_allclose(found["s.q"], q, rtol=0, atol=1e-5 if exchanged else FLIGHT)
    assert_allclose(found["floor.rested"][-1], end, rtol=1e-4 if exchanged else FLIGHT)
    assert found["floor.closed"][-1] == -1.0


def test_what_cannot_leave_a_stop_is_named() -> None:
    """A slide that a coupling to a path drives on."""
    model = bouncing(0.5)
    feed = fm.Body("feed", mass=1.0, inertia=(0.1, 0.1, 0.1))
    path = fm.Path.polynomial(1.0, -1.0)
    F = fm.Joint("F", model.ground.at(), feed.at(), modes=(fm.Slide("z", role="excited", path=path),))
    model.add(feed, F, fm.Coupling("tie", [(model["s"], 1.0), (F, -1.0)]))  # type: ignore[list-item]
    named = r"at t = 1(\.0*\d*)? s nothing can leave stop 'floor' of joint 's'"
    with pytest.raises(fm.SolverError, match=named) as failed:
        model.simulate(stop=2.0, interval=0.1)
    assert failed.value.result.time[-1] > 0.8  # however far the integrator ran ahead
    solver = fm.Solver(model)
    solver.assemble()
    for end in (0.6, 1.5, 2.0):  # whoever goes on is told again
        with nullcontext() if end < 1.0 else pytest.raises(fm.SolverError, match=named):
            solver.step(end)
    assert solver.get("s.q") > -1e-12


def test_fixed_steps_bounce_and_come_to_rest() -> None:
    """They go beyond the stop by a step at most, and end a series where flights are shorter than one."""
    result = bouncing(0.5).simulate(stop=3.0, interval=0.1, scheme="rk4", step=1e-4)
    _, _, end = heights(0.5, 1.0, result.time)
    assert result["s.q"].min() > -2e-3 and result["floor.closed"][-1] == -1.0
    assert_allclose(result["floor.rested"][-1], end, atol=2e-2)


def test_masses_of_which_one_rests_on_the_other() -> None:
    """A stack falls on a floor that does not give: both stops are closed, with their weights."""
    model = stack(MASSES)
    result = model.simulate(stop=6.0, interval=0.1)
    for i in range(3):
        assert result[f"c{i}.closed"][-1] == -1.0
        assert_allclose(result[f"c{i}.force"][-1], GRAVITY * sum(MASSES[i:]), rtol=1e-9)
        assert result[f"s{i}.q"].min() >= 0.1 - 1e-9


def test_a_start_beyond_a_stop_is_refused() -> None:
    with pytest.raises(fm.AssemblyError, match=r"joint 's' starts at -0\.1, beyond the end 0 of stop 'floor'"):
        started(bouncing(0.5, height=-0.1))
    assert fm.equilibrium(bouncing(0.5, height=0.0, stiffness=100.0), locked=["s"]).locks


def test_a_linear_model_holds_a_closed_stop() -> None:
    found = fm.linearize(bouncing(0.0, height=0.0))
    assert found.frozen == ("stop 'floor' is closed: joint 's' is locked there",)


@pytest.mark.parametrize("call", ["load_path", "steady"])
def test_what_takes_no_impacts_says_so(call: str) -> None:
    model = bouncing(0.5, stiffness=100.0, rest=1.0)
    calls: dict[str, Any] = {
        "load_path": lambda: fm.load_path(model, {"s.f": 1.0}, to=1.0),
        "steady": lambda: fm.steady(model, {}),
    }
    with pytest.raises(fm.FmumbsError, match=f"{call}: 'floor' of 'bouncing' is a stop with a restitution"):
        calls[call]()


def test_a_brake_beside_a_stop() -> None:
    """Whose velocity jumps over the bound at which the brake would stick: it goes on sliding."""
    model = bouncing(0.8)
    model.add(fm.Law.brake("brake", model["s"], 4.0))  # type: ignore[arg-type]
    solver = started(model)
    falls, rises = GRAVITY - 2.0, GRAVITY + 2.0
    first = np.sqrt(2 / falls)
    v = 0.8 * falls * first
    solver.step(first + 0.1)
    assert_allclose(solver.get("s.q"), v * 0.1 - rises * 0.1**2 / 2, rtol=FLIGHT)
    assert_allclose(solver.get("s.qd"), v - rises * 0.1, rtol=FLIGHT)


def test_what_drives_on_a_closed_stop_is_named() -> None:
    """A path that rests at the stop and goes on later."""
    model = bouncing(0.5, height=0.0)
    feed = fm.Body("feed", mass=1.0, inertia=(0.1, 0.1, 0.1))
    path = fm.Path((0.0, 2.0), ((0.0,), (0.0, 0.0, -0.5)), continuity=1)
    F = fm.Joint("F", model.ground.at(), feed.at(), modes=(fm.Slide("z", role="excited", path=path),))
    model.add(feed, F, fm.Coupling("tie", [(model["s"], 1.0), (F, -1.0)]))  # type: ignore[list-item]
    with pytest.raises(fm.SolverError, match=r"at t = 2(\.0*)? s nothing can leave stop 'floor' of joint 's'"):
        model.simulate(stop=4.0, interval=0.1)


def test_a_completed_step_beyond_a_stop_asks_for_an_event() -> None:
    """At the end of a step: positions are then beyond the stop."""
    solver = started(bouncing(0.5))
    host = Host(solver)
    event = ffi.new("int32_t *")
    host.place(0.5, np.array([-0.25, -5.0]))
    solver.call(lib.fm_completed_step, event)
    assert event[0] == 1
    host.update()
    assert_allclose(solver.get("s.qd"), 2.5, rtol=EXACT)


def test_a_reset_forgets_impacts() -> None:
    solver = started(bouncing(0.0))
    solver.step(1.0)
    assert solver.get("floor.impacts") == 1.0
    solver.assemble()
    assert [solver.get(f"floor.{name}") for name in ("impacts", "impulse", "loss", "rested")] == [0.0, 0.0, 0.0, -1.0]


def test_drives_that_realise_programs_refuse_impacts() -> None:
    model = bouncing(0.5)
    program = fm.ProgrammedJoint("move", model["s"], path=fm.Path.polynomial(1.0, 0.1), drives=(model["s"],))  # type: ignore[arg-type]
    model.add(program)
    with pytest.raises(fm.ModelError, match="Stop 'floor' jumps and may stick"):
        fm.compile(model)


def test_exact_derivatives_of_a_stop_with_a_restitution() -> None:
    """Of an acceleration by the force, open and closed."""
    for height, wanted in ((1.0, 0.5), (0.0, 0.0)):
        solver = fm.Solver(fm.compile(bouncing(0.5, height=height)), derivatives=True)
        solver.assemble()
        assert_allclose(solver.directional_derivative(["s.qdd"], ["s.f"], [1.0]), [wanted], atol=1e-9)
        assert_allclose(solver.adjoint(["s.qdd"], ["s.f"], [1.0]), [wanted], atol=1e-9)
