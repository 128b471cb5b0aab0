"""Modes that follow paths: integration steps end where a path is not smooth."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.joint_models import (
    kicked,
    started,
)
from support.sweeps import seeds


@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853"])
@pytest.mark.parametrize("period", [0.0, 0.55])
def test_steps_end_where_a_path_is_not_smooth(period: float, scheme: str) -> None:
    """Whatever the communication points: nine digits, although the acceleration jumps between them."""
    found = []
    for times in (np.linspace(0, 2, 201)[1:], [2.0], [0.1, 0.3, 0.4, 2.0], np.linspace(0, 2, 8)[1:]):
        solver = started(kicked(period=period), scheme=scheme)
        for t in times:
            solver.step(float(t))
        found.append([solver.get("B.q"), solver.get("B.qd")])
    assert_allclose(found, [found[0]] * 4, rtol=0, atol=2e-9)


def test_steps_end_where_the_rate_of_an_acceleration_jumps() -> None:
    """The classical Runge-Kutta scheme keeps its fourth order on the way through two such times."""
    k, until = 30.0, 0.314
    ends = (k * until**3, 3 * k * until**2, 3 * k * until, -k)
    path = fm.Path((0.0, 0.137, 0.137 + until), ((0,), (0, 0, 0, k), ends))
    model = fm.Model("carriage")
    cart, bob = (fm.Body(name, mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1)) for name in ("cart", "bob"))
    slide = fm.Slide("x", role="excited", path=path)
    model.add(cart, bob, fm.Joint("P", model.ground.at(), cart.at(), modes=[slide]))
    model.add(fm.Revolute("B", cart.at(), bob.at(), axis="y", q0=0.3))
    found = []
    for step in (0.02, 0.01, 1e-3):
        solver = fm.Solver(fm.compile(model).with_options(scheme="rk4", step=step))
        solver.assemble()
        solver.step(0.8)
        found.append(solver.get("B.q"))
    errors = np.abs(np.array(found[:2]) - found[2])
    assert 14.0 < errors[0] / errors[1] < 23.0


def two_kicked(order: tuple[int, ...], rng: np.random.Generator) -> fm.Model:
    """Carriages whose accelerations jump at times of their own, each with a pendulum on it."""
    paths = []
    for _ in range(2):
        breaks = np.concatenate([[0.0], np.cumsum(rng.uniform(0.05, 0.3, 6))])
        paths.append(fm.Path.spline(breaks.tolist(), rng.uniform(-0.2, 0.2, 7).tolist()))
    model = fm.Model("two")
    for k in order:
        carriage = fm.Body(f"c{k}", mass=1.0, inertia=(1, 1, 1))
        bob = fm.Body(f"b{k}", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
        slide = fm.Slide("x", role="excited", path=paths[k])
        model.add(carriage, bob, fm.Joint(f"P{k}", model.ground.at(0, 3 * k, 0), carriage.at(), modes=[slide]))
        model.add(fm.Revolute(f"B{k}", carriage.at(), bob.at(), axis="y", q0=0.3 + k))
    return model


@pytest.mark.parametrize("seed", seeds(2, 4))
def test_steps_end_where_any_path_is_not_smooth(seed: int) -> None:
    """Whichever comes first: the order of the joints changes nothing."""
    found = []
    for order in ((0, 1), (1, 0)):
        solver = started(two_kicked(order, np.random.default_rng(seed)))
        solver.step(1.0)
        found.append([solver.get(f"B{k}.{what}") for k in (0, 1) for what in ("q", "qd")])
    assert_allclose(*found, rtol=0, atol=1e-9)


def test_a_periodic_path_repeats() -> None:
    solver = started(kicked(period=0.55))
    path = kicked(period=0.55)["P"].modes[0].path
    for t in (0.05, 0.35, 0.55, 0.6, 1.15, 5 * 0.55 + 0.2, 12.0):
        solver.step(t)
        x = t % 0.55
        assert_allclose([solver.get("P.eta"), solver.get("P.kappa")], path(x)[:2], rtol=0, atol=1e-12)
    before = solver.get("P.eta")
    with pytest.raises(fm.SolverError, match=r"P.eta .*refused: this mode follows a path"):
        solver.set("P.eta", 1.0)
    assert solver.get("P.eta") == before


def test_acceleration_is_that_of_the_later_piece_where_two_meet() -> None:
    solver = started(kicked())
    accelerations = []
    for t in (0.1 - 1e-9, 0.1, 0.3, 0.4, 0.5):
        solver.step(t)
        accelerations.append(solver.get("P.kappa_dot"))
    assert_allclose(accelerations, [8, -8, 8, 0, 0], rtol=1e-9)


def test_a_communication_point_at_a_break_but_for_round_off() -> None:
    """A communication point that is a break but for rounding: no step of zero length, and the right piece after it."""
    solver = started(kicked(period=0.5))
    for i in range(1, 1001):
        solver.step(sum([0.1] * i))
    whole = started(kicked(period=0.5))
    whole.step(100.0)
    assert_allclose(solver.get("P.eta"), whole.get("P.eta"), atol=1e-10)
    assert solver.get("solver.steps") < 20000


def test_a_short_kick_is_not_stepped_over() -> None:
    """At rest for 50 s, in which the steps grow long; then, for a tenth of a second, a push."""
    rest, t0 = (0.0,), 50.0
    path = fm.Path(
        (0.0, t0, t0 + 0.05, t0 + 0.15, t0 + 0.2),
        (rest, (0, 0, 40.0), (0.1, 4.0, -40.0), (0.1, -4.0, 40.0), rest),
        continuity=1,
    )
    model = fm.Model("kick", gravity=(0, 0, 0))
    cart, bob = fm.Body("cart", mass=1.0), fm.Body("bob", mass=0.5, com=(0, 0, -0.6), inertia=(0.01, 0.01, 0.01))
    model.add(cart, bob, fm.Joint("P", model.ground.at(), cart.at(), modes=[fm.Slide("x", role="excited", path=path)]))
    model.add(fm.Revolute("B", cart.at(), bob.at(), axis="y"))
    solver = started(model)
    solver.step(t0 + 0.05)
    assert solver.get("B.qd") > 1.0 or solver.get("B.qd") < -1.0
