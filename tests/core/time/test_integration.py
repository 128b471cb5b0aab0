"""The integrators: their order, their error against the tolerance, and that nothing else shows in the results."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ellipj, ellipk

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.compiler.schemes import SCHEMES
from fmumbs.readers import read_model
from fmumbs.run import Solver

ROUND_OFF = 1e-12
"""Of values of order one after some hundred operations, each with an error of 1e-16."""

PROMISE = 60
"""Times the tolerance: what may come of 10 s of motion at speeds of 5 to 10 rad/s, where errors add up in the phase."""

COARSE = 120
"""The same at a tolerance of 1e-4, of which the next power of the steps is a part."""

MOVED = 9.81
"""[J] what moves in the large branch: it is in balance but for one rod of 1 kg, which falls by a metre."""

CANCELLED = 10
"""Times the tolerance and the moved energy: hundreds of steps, most of whose errors cancel."""


def started(image: fm.ModelImage, t: float = 0.0, **options: Any) -> Solver:
    solver = Solver(image.with_options(**options))
    solver.assemble(t)
    return solver


def go(solver: Solver, times: Iterable[float], *names: str) -> np.ndarray:
    """(times, names) values at the communication points."""
    rows = []
    for t in times:
        solver.step(float(t))
        rows.append(np.concatenate([np.atleast_1d(solver.get(name)) for name in names]))
    return np.array(rows)


def every(step: float, stop: float) -> np.ndarray:
    return step * np.arange(1, round(stop / step) + 1)


# Order and error -------------------------------------------------------------------------------------------


SWING = 2.0  # [rad]
ARM, MASS, INERTIA = 0.7, 2.0, 0.1  # centre of mass from the axis [m], [kg], about the centre [kg.m2]


def pendulum() -> fm.ModelImage:
    model = fm.Model("pendulum")
    bob = fm.Body("bob", mass=MASS, com=(0, 0, -ARM), inertia=(INERTIA,) * 3)
    model.add(bob, fm.Revolute("A", model.ground.at(), bob.at(), axis="y", q0=SWING))
    return compile(model)


def swing(t: np.ndarray) -> np.ndarray:
    """Angle of a pendulum let go at SWING: by Jacobi's elliptic sine."""
    frequency = np.sqrt(MASS * 9.81 * ARM / (INERTIA + MASS * ARM**2))
    k = np.sin(SWING / 2)
    return 2 * np.arcsin(k * ellipj(ellipk(k**2) - frequency * t, k**2)[0])


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8, 1e-10, 1e-12])
def test_swing_of_a_pendulum_is_as_exact_as_the_tolerance(tolerance: float) -> None:
    """Also at the communication points between the integrator's own, which are ten times as far apart."""
    times = every(0.01, 10.0)
    found = go(started(pendulum(), tolerance=tolerance), times, "A.q")[:, 0]
    assert np.abs(found - swing(times)).max() < (COARSE if tolerance > 1e-5 else PROMISE) * tolerance


def test_finer_tolerance_gives_a_smaller_error() -> None:
    times = every(0.1, 10.0)
    errors = [
        np.abs(go(started(pendulum(), tolerance=10.0**-n), times, "A.q")[:, 0] - swing(times)).max()
        for n in range(3, 13)
    ]
    assert all(later < earlier for earlier, later in pairwise(errors))


@pytest.mark.parametrize("name", ["arm6", "branch_pendulum", "heavy_top"])
@pytest.mark.parametrize("scheme", [scheme.name for scheme in SCHEMES.values() if scheme.fixed])
def test_fixed_steps_have_the_order_of_their_scheme(scheme: str, name: str) -> None:
    """Every halving of the step divides the error by 2^order, in the limit."""
    image = compile(read_model(name), everything=True)
    joints = Solver(image).joint_names
    ends = []
    for halvings in range(4):
        solver = started(image, scheme=scheme, step=FIRST_STEPS[name] / 2**halvings)
        ends.append(go(solver, [0.5], *(f"{joint}.q" for joint in joints))[0])
    changes = [np.abs(b - a).max() for a, b in pairwise(ends)]
    orders = np.log2(np.divide(changes[:-1], changes[1:]))
    assert_allclose(orders[-1], SCHEMES[scheme].order, atol=ORDER)


FIRST_STEPS = {"arm6": 0.01, "branch_pendulum": 0.01, "heavy_top": 0.001}  # [s]
ORDER = 0.3
"""The next power of the step, in these steps still of a tenth."""


def test_flight_of_a_symmetric_body() -> None:
    """Without forces the body's axis of symmetry goes round the angular momentum, Euler's regular precession."""
    axial, across, spin, nod = 0.3, 0.2, 3.0, 4.0
    model = fm.Model("flight", gravity=(0, 0, 0))
    body = fm.Body("body", mass=2.0, inertia=(axial, across, across))
    model.add(body, fm.Free("A", model.ground.at(), body.at(), u0=(1, 2, 3, spin, nod, 0)))
    solver = started(compile(model), tolerance=1e-10)
    momentum = np.array([axial * spin, across * nod, 0.0])
    about_itself = spin * (across - axial) / across
    for t in every(0.5, 10.0):
        solver.step(t)
        turn = fm.Rotation.about(momentum, np.linalg.norm(momentum) / across * t)
        R = turn @ fm.Rotation.about("x", about_itself * t)
        assert_allclose(fm.Rotation.quaternion(*solver.get("A.q")).matrix, R.matrix, atol=PROMISE * 1e-10)
        assert_allclose(solver.get("A.r"), np.multiply(t, (1, 2, 3)), rtol=ROUND_OFF)
        assert_allclose(np.linalg.norm(solver.get("A.q")), 1.0, rtol=UNIT)


UNIT = 4e-16
"""A quaternion of length one, rounded."""


@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853"])
def test_quaternions_stay_normalised(scheme: str) -> None:
    """Over 3000 turns of a top, at coarse steps."""
    solver = started(compile(read_model("heavy_top")), scheme=scheme, step=0.005, tolerance=1e-3)
    for t in every(0.037, 20.0):
        solver.step(t)
        assert_allclose(np.linalg.norm(solver.get("A.q")), 1.0, rtol=UNIT)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_energy_of_the_large_branch(tolerance: float) -> None:
    """500 bodies over 5 s. The energy of 1.2e6 J itself is rounded to 1e-10 J."""
    solver = started(compile(read_model("branch_chain")), tolerance=tolerance)
    energy = solver.get("solver.energy")
    found = go(solver, every(0.1, 5.0), "solver.energy")
    assert np.abs(found - energy).max() < CANCELLED * tolerance * MOVED


# Communication ---------------------------------------------------------------------------------------------


STATE = ("A.q", "B.q", "A.qd", "B.qd")


@pytest.mark.parametrize("step", [0.5, 0.1, 0.01, 0.001])
def test_results_do_not_depend_on_the_communication_step(step: float) -> None:
    image, tolerance = compile(read_model("double_pendulum")), 1e-6
    common = every(0.5, 2.0)
    exact = go(started(image, tolerance=1e-12), common, *STATE, "B.reaction.f")
    found = go(started(image, tolerance=tolerance), every(step, 2.0), *STATE, "B.reaction.f")
    assert_allclose(found[round(0.5 / step) - 1 :: round(0.5 / step)], exact, rtol=0, atol=PROMISE * tolerance)


def test_integrator_runs_ahead_of_short_communication_steps() -> None:
    """A thousand times as many communication points cost no step more than one for each that is in the way."""
    few, many = started(pendulum()), started(pendulum())
    go(few, [10.0], "A.q")
    go(many, every(0.001, 10.0), "A.q")
    assert many.get("solver.steps") <= few.get("solver.steps") + 1


def held(solver: Solver, times: Sequence[float], changing: bool) -> np.ndarray:
    """With another torque in every communication step, or always the same."""
    for i, t in enumerate(times):
        solver.set("A.tau", 0.1 * np.sin(i) if changing else 0.1)
        solver.step(t)
    return np.concatenate([np.atleast_1d(solver.get(name)) for name in STATE])


@pytest.mark.parametrize("changing", [False, True], ids=["constant torque", "changing torque"])
@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853"])
def test_results_do_not_depend_on_round_off_in_the_times(scheme: str, changing: bool) -> None:
    """Masters count, add up, or convert from milliseconds and nanoseconds."""
    image = compile(read_model("double_pendulum"))
    counted = [i * 0.01 for i in range(1, 201)]
    added = np.cumsum(np.full(200, 0.01)).tolist()
    early = [np.nextafter(t, 0.0) for t in counted]
    late = [float(np.nextafter(t, 9.0)) for t in counted]
    assert added != counted
    solvers = [started(image, scheme=scheme, step=0.005) for _ in range(4)]
    ends = [held(s, times, changing) for s, times in zip(solvers, (counted, added, early, late), strict=True)]
    for solver, end in zip(solvers[1:], ends[1:], strict=True):
        assert_allclose(end, ends[0], rtol=0, atol=TIMES)
        assert solver.get("solver.steps") == solvers[0].get("solver.steps")


TIMES = 2e-11
"""Speeds of 10 rad/s, times that differ by 1e-15 s in each of 200 steps, and a motion that triples differences twice in
2 s."""


@pytest.mark.parametrize(("start", "rounded"), [(-1.0, ROUND_OFF), (1e6, 1e-7)])
def test_start_time_does_not_matter(start: float, rounded: float) -> None:
    """A million seconds on, times are rounded to 1e-10 s, in a hundred steps, at 10 rad/s."""
    image = compile(read_model("double_pendulum"))
    here, there = started(image), started(image, t=start)
    times = every(0.01, 1.0)
    assert_allclose(go(there, start + times, *STATE), go(here, times, *STATE), rtol=0, atol=rounded)
    assert abs(there.get("solver.steps") - here.get("solver.steps")) <= 1


# Inputs ------------------------------------------------------------------------------------------------------


def slider() -> fm.ModelImage:
    """A mass of 1 kg that only its input moves: constant forces give parabolas, which every scheme integrates."""
    model = fm.Model("slider", gravity=(0, 0, 0))
    mass = fm.Body("mass", mass=1.0, inertia=(1, 1, 1))
    model.add(mass, fm.Prismatic("A", model.ground.at(), mass.at(), axis="x"))
    return compile(model)


def test_change_of_an_input_discards_the_step_ahead() -> None:
    """However far ahead the integrator is: from the communication point on, the new force alone acts."""
    solver = started(slider())
    q = v = t = 0.0
    for i, force in enumerate(np.random.default_rng(3).normal(size=200)):
        solver.set("A.f", force)
        for _ in range(1 + i % 4):
            h = 0.003 * (1 + i % 7)
            t, q, v = t + h, q + v * h + force * h**2 / 2, v + force * h
            solver.step(t)
            assert_allclose([solver.get("A.q"), solver.get("A.qd")], [q, v], rtol=0, atol=ROUND_OFF)


@pytest.mark.parametrize("name", ["A.tau", "rod.mass", "gravity"])
def test_setting_an_equal_value_changes_nothing(name: str) -> None:
    """Masters set all inputs before every step; bits stay as they are, and what ran ahead stays."""
    model = read_model("pendulum")
    quiet, busy = (started(compile(model)) for _ in range(2))
    for t in every(0.001, 1.0):
        busy.set(name, busy.get(name))
        quiet.step(t)
        busy.step(t)
        assert busy.get("A.q") == quiet.get("A.q")
    assert busy.get("solver.steps") == quiet.get("solver.steps") < 100


@pytest.mark.parametrize(("name", "value"), [("gravity", (0, 0, -1.62)), ("rod.mass", 3.0), ("A.damping", 0.4)])
def test_change_of_a_parameter_acts_from_the_communication_point_on(name: str, value: Any) -> None:
    image, tolerance = compile(read_model("pendulum", {"damping": 0.2})), 1e-8
    ends = []
    for step in (0.7, 0.7 / 512):  # 512: the integrator is ahead of most of these points
        solver = started(image, tolerance=tolerance)
        go(solver, every(step, 0.7), "A.q")
        solver.set(name, value)
        ends.append(go(solver, 0.7 + every(step, 0.7), "A.q", "A.qd")[-1])
    assert_allclose(ends[0], ends[1], rtol=0, atol=PROMISE * tolerance)
    unchanged = started(image, tolerance=tolerance)
    assert np.abs(go(unchanged, [0.7, 1.4], "A.q", "A.qd")[-1] - ends[0]).max() > 0.01


CUBIC = (2.0, -30.0, 200.0, -900.0)  # value and derivatives of a force or torque that changes its sign


def polynomial(t: float) -> float:
    return float(np.polyval(np.divide(CUBIC[::-1], (6, 2, 1, 1)), t))


def test_force_given_by_its_derivatives_moves_a_mass_by_a_polynomial() -> None:
    """Of degree five, which a scheme of order five follows exactly, in one communication step."""
    solver = started(slider())
    solver.set("A.f", CUBIC[0])
    for order in (1, 2, 3):
        solver.set_input_derivatives("A.f", order, CUBIC[order])
    t = 0.4
    solver.step(t)
    factors = (t**2 / 2, t**3 / 6, t**4 / 24, t**5 / 120)
    assert_allclose(solver.get("A.q"), np.dot(CUBIC, factors), rtol=ROUND_OFF)


def test_load_given_by_its_derivatives_moves_a_body_by_a_polynomial() -> None:
    model = fm.Model("loaded", gravity=(0, 0, 0))
    body = fm.Body("body", mass=2.0, inertia=(1.0, 1.0, 1.0))
    model.add(body, fm.Free("F", model.ground.at(), body.at()), fm.Load("L", body.at()))
    solver = fm.Solver(model)
    solver.assemble()
    solver.set_input_derivatives("L.force", 1, (6.0, 0.0, -12.0))
    solver.set_input_derivatives("L.torque", 2, (0.0, 2.0, 0.0))
    solver.step(1.0)
    assert_allclose(solver.get("F.r"), [0.5, 0.0, -1.0], rtol=0, atol=1e-9)
    assert_allclose(solver.get("body.w"), [0.0, 1 / 3, 0.0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853"])
@pytest.mark.parametrize("joint", ["A", "B"])
def test_torque_given_by_its_derivatives_is_that_of_many_short_steps(scheme: str, joint: str) -> None:
    """As held in the middle of each of 1000 short steps."""
    image, t, parts = compile(read_model("double_pendulum")), 0.2, 1000
    solver, fine = (started(image, scheme=scheme, step=0.001, tolerance=1e-10) for _ in range(2))
    solver.set(f"{joint}.tau", CUBIC[0])
    for order in (3, 1, 2):
        solver.set_input_derivatives(f"{joint}.tau", order, CUBIC[order])
    found = go(solver, [t], *STATE)
    for i in range(parts):
        fine.set(f"{joint}.tau", polynomial((i + 0.5) * t / parts))
        fine.step((i + 1) * t / parts)
    expected = np.concatenate([np.atleast_1d(fine.get(name)) for name in STATE])
    assert_allclose(found[0], expected, rtol=0, atol=HELD)


HELD = 1e-5
"""A torque held over h = 2e-4 s instead of following its curve, h^2/24 of 2e2 rad/s2 per N.m times 200 N.m/s2."""


def test_derivatives_of_an_input_are_for_one_step_alone() -> None:
    """Then the input has again the value that was set."""
    solver = started(slider())
    solver.set("A.f", 1.0)
    solver.set_input_derivatives("A.f", 1, 10.0)
    solver.step(0.1)
    q, v = solver.get("A.q"), solver.get("A.qd")
    assert_allclose(v, 0.1 + 10 * 0.1**2 / 2, rtol=ROUND_OFF)
    assert solver.get("A.f") == 1.0
    solver.step(0.2)
    assert_allclose([solver.get("A.q"), solver.get("A.qd")], [q + 0.1 * v + 0.1**2 / 2, v + 0.1], rtol=ROUND_OFF)


@pytest.mark.parametrize("order", [-1, 0, 4])
def test_input_derivatives_have_order_one_to_three(order: int) -> None:
    solver = started(slider())
    with pytest.raises(fm.SolverError, match="order 1 to 3"):
        solver.set_input_derivatives("A.f", order, 1.0)
    with pytest.raises(fm.SolverError, match="only an input"):
        solver.set_input_derivatives("A.q", 1, 1.0)


# Steps that fail ---------------------------------------------------------------------------------------------


def assert_continues(solver: Solver, t: float) -> None:
    """It stands at a time with a finite state, and continues."""
    assert np.isfinite(solver.read(np.arange(len(solver.image.variables), dtype=np.uint32))).all()
    solver.step(t)
    assert solver.time == t


def test_failed_step_leaves_the_solver_at_its_start() -> None:
    """A force that overflows moves nothing."""
    solver = started(slider())
    solver.step(0.5)
    solver.set("A.f", 1e308)
    solver.set("mass.mass", 1e-3)
    with pytest.raises(fm.SolverError, match=r"step to t = 1 s failed: at t = 0\.5 s"):
        solver.step(1.0)
    assert solver.time == 0.5
    solver.set("A.f", 0.0)
    assert_continues(solver, 1.0)


def test_failed_step_stops_before_the_motion_overflows() -> None:
    """A spring that pushes away drives its mass by exp(1000 t) to where doubles do not resolve its position."""
    solver = started(slider())
    solver.set("A.stiffness", -1e6)
    solver.set("A.f", 1.0)
    with pytest.raises(fm.SolverError, match=r"joint 'A' is at .* m, where numbers are .* m apart"):
        solver.step(10.0)
    assert 0.03 < solver.time < 0.06  # 1e-6 m exp(1000 t) / 2 is 1e12 to 1e14 m
    for name, value in (("A.stiffness", 0.0), ("A.f", 0.0)):
        solver.set(name, value)
    assert np.isfinite(solver.get("A.q"))


def test_step_of_more_than_a_million_internal_steps_stops_and_continues_from_there() -> None:
    """A spring that swings its mass once in 6e-6 s: a step of 10 s would take tens of millions."""
    solver = started(slider(), scheme="dopri5")
    solver.set("A.stiffness", solver.get("mass.mass") * 1e12)
    solver.set("A.f", 1.0)
    with pytest.raises(fm.SolverError, match=r"step to t = 10 s failed: 1000000 integration steps .*next would be \d"):
        solver.step(10.0)
    assert 0.1 < solver.time < 10.0
    assert solver.get("solver.steps") == 1e6
    assert_continues(solver, solver.time + 1e-3)


def test_fixed_step_that_is_too_long_is_reported() -> None:
    """Beyond h w = 2.8 Runge-Kutta's steps grow."""
    solver = started(slider(), scheme="rk4", step=0.1)
    solver.set("A.stiffness", 1e6)
    solver.set("A.f", 1.0)
    with pytest.raises(fm.SolverError, match=r"fixed step of 0\.1 s is too long"):
        solver.step(100.0)
    assert solver.time == 0.0
    solver.reset()
    solver.assemble()
    assert_continues(solver, 1.0)


@pytest.mark.parametrize("t_end", [0.4, -1.0, np.nan, np.inf])
def test_time_goes_forward(t_end: float) -> None:
    solver = started(slider())
    solver.step(0.5)
    with pytest.raises(fm.SolverError, match="the end must be finite and not before the start"):
        solver.step(t_end)
    solver.step(0.5)
    assert_continues(solver, 0.6)
