"""Rates of outputs along the motion: exact up to little more than the round-off of the outputs themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model

STATES = {"heavy_top": "A.w", "double_pendulum": "A.qd"}
FORCES = ("A.reaction.f", "A.wrench.f")


def rates(solver: fm.Solver) -> np.ndarray:
    return np.concatenate([solver.output_derivative(name) for name in FORCES])


@pytest.mark.parametrize("name", STATES)
def test_round_off_of_the_state_changes_them_by_little(name: str) -> None:
    """A top that spins at 150 rad/s: its reaction is a small difference of large parts, rounded at 3e-13."""
    solver = fm.Solver(read_model(name))
    solver.assemble()
    solver.step(0.3)
    u, found = np.array(solver.get(STATES[name])), []
    for k in range(4):
        solver.set(STATES[name], u * (1 + 1e-15 * k))
        found.append(rates(solver))
    assert np.ptp(found, axis=0).max() < 1e-9 * np.abs(found).max()


@pytest.mark.parametrize("name", STATES)
def test_they_are_the_rates_along_a_finer_motion(name: str) -> None:
    """Central differences of the fourth order along a run: what they leave is of the step's fourth power."""
    solver = fm.Solver(compile(read_model(name), everything=True).with_options(tolerance=1e-12))
    solver.assemble()
    h, sides = 2e-4, []
    for k in (-2, -1, 0, 1, 2):
        solver.step(0.3 + k * h)
        sides.append(np.concatenate([solver.get(name) for name in FORCES]))
        if k == 0:
            exact = rates(solver)
    slope = (8 * (sides[3] - sides[1]) - (sides[4] - sides[0])) / (12 * h)
    assert_allclose(exact, slope, rtol=0, atol=1e-4 * np.abs(slope).max())


def test_a_path_that_bends_nearby_does_not_matter() -> None:
    """The derivative at a time just before a path bends is that of the piece that ends there."""
    model = fm.Model("bent", gravity=(0, 0, 0))
    body = fm.Body("body", mass=2.0, inertia=(1, 1, 1))
    path = fm.Path.from_scipy(CubicSpline([0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 1.0, -1.0, 2.0, 0.0]))
    slide = fm.Slide("x", role="excited", path=path)
    model.add(body, fm.Joint("J", model.ground.at(), body.at(), modes=[slide]))
    solver = fm.Solver(model)
    solver.assemble()
    solver.step(2.0 - 1e-4)
    before = solver.output_derivative("J.drive")
    solver.step(2.0 - 2e-5)
    assert_allclose(solver.output_derivative("J.drive"), before, rtol=1e-6)


def test_a_force_that_follows_from_the_time_alone_has_a_rate() -> None:
    """A cart of 2 kg on a path x(t): what drives it is m x'', whose rate is m x'''."""
    path = fm.Path((0.0,), ((0.1, 0.2, 0.3, 0.4, 0.5),))
    model = fm.Model("cart", gravity=(0, 0, 0))
    cart = fm.Body("cart", mass=2.0, inertia=(1, 1, 1))
    model.add(cart, fm.Joint("P", model.ground.at(), cart.at(), modes=[fm.Slide("x", role="excited", path=path)]))
    solver = fm.Solver(compile(model, everything=True))
    solver.assemble()
    for t in (0.0, 0.7, 1.9):
        if t > 0.0:
            solver.step(t)
        for name in ("P.drive", "P.wrench.f[1]"):
            assert_allclose(solver.get(name), 2.0 * (0.6 + 2.4 * t + 6.0 * t**2), rtol=1e-12)
            assert_allclose(solver.output_derivative(name), 2.0 * (2.4 + 12.0 * t), rtol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_directional_derivatives_of_a_pendulum_are_those_of_its_formula(seed: int) -> None:
    """To the digits that extrapolated differences of second order reach, by states and parameters."""
    rng = np.random.default_rng([seed, 9])
    q, u, m, d, J, c, tau = rng.uniform((-3, -2, 0.5, 0.2, 0.05, 0.1, -3), (3, 2, 5.0, 1.5, 0.5, 0.9, 3)).tolist()
    model = fm.Model("pendulum")
    body = fm.Body("body", mass=m, com=(0, 0, -d), inertia=(1.0, J, 1.0), measured=True)
    model.add(body, fm.Revolute("A", model.ground.at(), body.at(), axis="y", q0=q, u0=u, damping=c, tau=tau))
    solver = fm.Solver(model)
    solver.assemble()
    inertia, g = J + m * d * d, 9.81
    force = tau - c * u - m * g * d * np.sin(q)
    expected = {
        "A.q": -m * g * d * np.cos(q) / inertia, "A.qd": -c / inertia, "A.damping": -u / inertia,
        "body.mass": -g * d * np.sin(q) / inertia - force * d * d / inertia**2,
    }  # fmt: skip
    for name, value in expected.items():
        found = solver.directional_derivative(["A.qdd"], [name], [1.0])
        assert found == pytest.approx([value], rel=1e-12, abs=1e-12 * m * g * d / inertia), name


def pendulum_with_control() -> fm.Solver:
    model = fm.Model("pendulum")
    body = fm.Body("body", mass=2.0, com=(0, 0, -0.5), inertia=(1, 1, 1))
    model.add(body, fm.Revolute("A", model.ground.at(), body.at(), axis="y", q0=0.7, u0=0.3, damping=0.1, tau=0.2))
    solver = fm.Solver(model)
    solver.assemble()
    return solver


@pytest.mark.parametrize("known", ["A.tau", "A.q", "A.damping"])
def test_a_directional_derivative_leaves_everything_as_it_is(known: str) -> None:
    """Values and the motion that follows, bit for bit."""
    touched, left = pendulum_with_control(), pendulum_with_control()
    touched.directional_derivative(["A.qdd"], [known], [1.0])
    for solver in (touched, left):
        assert solver.get("A.qdd") == pytest.approx((0.2 - 0.03 - 9.81 * np.sin(0.7)) / 1.5, rel=1e-14)
        solver.step(0.5)
    assert (touched.positions == left.positions).all() and touched.get("solver.energy") == left.get("solver.energy")


@pytest.mark.parametrize("seed", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("known", ["A.tau", "A.q", "A.damping"])
def test_a_seed_that_is_not_finite_is_refused(known: str, seed: float) -> None:
    solver = pendulum_with_control()
    with pytest.raises(fm.SolverError, match=r"its seed must be a finite number"):
        solver.directional_derivative(["A.qdd"], [known], [seed])
