"""Motors whose voltage and current have limits and whose gears have losses: phases of linear equations, one by one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import simulate_fmu
from numpy.testing import assert_allclose
from scipy.linalg import expm
from scipy.optimize import brentq

import fmumbs as fm
from core.forces.test_motors import FRICTION, J, K, L, N, R, drive, k
from fmumbs.compiler.image import ModelImage
from fmumbs.compiler.layout import pack
from support.both_ways import runs
from support.sweeps import each_value, seeds

ETA, MOST, HIGHEST, STOP = 0.7, 4.0, 9.0, 0.15
LIMITS: dict[str, Any] = {"efficiency": ETA, "current_limit": MOST, "voltage_limit": HIGHEST}
FINE = 1e-8  # of speeds of 10 rad/s and currents of 10 A, at tolerances of 1e-11
BY_DIFFERENCES = 1e-6  # relative: what differences of the rates keep

Phase = tuple[Any, Any, Callable[[Any], float] | None]


def free(V: float, c: float) -> tuple[Any, Any]:
    """The equations of speed and current below the limit of the current; c: what the gear passes on."""
    return np.array([[-FRICTION / J, c * k / J], [-k / L, -R / L]]), np.array([0.0, V / L])


def held(i: float, c: float) -> tuple[Any, Any]:
    return np.array([[-FRICTION / J, 0.0], [0.0, 0.0]]), np.array([c * k * i / J, 0.0])


def after(phases: list[Phase], y: Any, stop: float) -> Any:
    """Speed and current at `stop`, through phases x' = A x + b, each until a function of the state is zero."""
    t, state = 0.0, np.array(y, float)
    for A, b, until in phases:
        whole = np.zeros((3, 3))
        whole[:2, :2], whole[:2, 2] = A, b

        def at(time: float, whole: Any = whole, start: Any = state) -> Any:
            return (expm(whole * time) @ (*start, 1.0))[:2]

        if until is None:
            return at(stop - t)
        steps = np.linspace(0.0, stop, 2001)[1:]
        values = [until(at(one)) for one in steps]
        first = next(i for i, one in enumerate(values) if one < 0.0)
        before = steps[first] - stop / 2000
        end = brentq(lambda one, at=at, until=until: until(at(one)), before, steps[first], xtol=1e-16)
        t, state = t + end, at(end)
    raise AssertionError("the last phase has an end")


DRIVING: list[Phase] = [
    (*free(HIGHEST, ETA), lambda y: MOST - y[1]),
    (*held(MOST, ETA), lambda y: HIGHEST - R * MOST - k * y[0]),
    (*free(HIGHEST, ETA), None),
]
BRAKING: list[Phase] = [
    (*free(0.0, 1 / ETA), lambda y: MOST + y[1]),
    (*held(-MOST, 1 / ETA), lambda y: k * y[0] - R * MOST),
    (*free(0.0, 1 / ETA), None),
]
STARTS = {"driving": (0.0, 0.0, 12.0, DRIVING), "braking": (30.0, 0.0, 0.0, BRAKING)}


def started(name: str, **given: Any) -> tuple[fm.Model, dict[str, float], Any]:
    v, i, V, phases = STARTS[name]
    return drive(**(LIMITS | given)), {"h.qd": v, "M.voltage": V}, after(phases, (v, i), STOP)


@each_value
@pytest.mark.parametrize("name", list(STARTS))
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "auto"])
def test_it_reaches_its_limit_and_leaves_it_as_the_phases_say(name: str, dynamics: Any, scheme: Any) -> None:
    model, starts, expected = started(name)
    image = fm.compile(model, starts=starts, scheme=scheme, dynamics=dynamics, tolerance=1e-11)
    result = fm.simulate(image, stop=STOP, interval=1e-3)
    assert_allclose([result["h.qd"][-1], result["M.current"][-1]], expected, rtol=0, atol=10 * FINE)
    limited = np.abs(result["M.current"]) == MOST
    assert limited.any() and not limited.all() and (np.abs(result["M.current"]) <= MOST).all()
    c = ETA if name == "driving" else 1.0 / ETA
    assert_allclose(result["M.torque"], c * k * result["M.current"], rtol=1e-13, atol=1e-15)
    lowered = (R * result["M.current"] + k * result["h.qd"])[limited]
    assert_allclose(result["M.power"][limited], (lowered * result["M.current"][limited]), rtol=1e-12)


def test_fixed_steps_end_at_the_limit_too() -> None:
    model, starts, expected = started("driving")
    result = fm.simulate(fm.compile(model, starts=starts, scheme="rk4", step=2e-6), stop=STOP, interval=STOP)
    assert_allclose([result["h.qd"][-1], result["M.current"][-1]], expected, rtol=1e-5)  # they lose an order there


def test_in_fmus(tmp_path: Path) -> None:
    model, starts, expected = started("driving")
    for what, _, found in runs(
        tmp_path, model, ["h.qd", "M.current"], stop=STOP, interval=2e-3, starts=starts, tolerance=1e-11
    ):
        assert_allclose([found["h.qd"][-1], found["M.current"][-1]], expected, atol=10 * FINE, err_msg=what)


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", list(STARTS))
def test_in_model_exchange(tmp_path: Path, fmi: Any, name: str) -> None:
    model, starts, expected = started(name)
    path = fm.export_fmu(model, tmp_path / "drive.fmu", fmi=fmi)
    found = simulate_fmu(
        path, stop_time=STOP, output_interval=1e-3, relative_tolerance=1e-10, fmi_type="ModelExchange",
        start_values=starts, output=["h.qd", "M.current"],
    )  # fmt: skip
    assert_allclose([found["h.qd"][-1], found["M.current"][-1]], expected, rtol=1e-6)  # CVODE's own error
    assert np.abs(found["M.current"]).max() <= MOST * (1.0 + 1e-7)


@pytest.mark.parametrize("efficiency", [1.0, ETA, 0.3])
def test_radau_knows_the_whole_matrix_of_a_motor(efficiency: float) -> None:
    """The equations are linear: a step takes two iterations of its three stages, and three evaluations at most around
    them.
    """
    lossy = {"efficiency": efficiency} if efficiency < 1.0 else {}
    result = drive(voltage=12.0, **lossy).simulate(stop=1.0, scheme="radau", tolerance=1e-6)
    assert result["solver.evaluations"][-1] < 10 * result["solver.steps"][-1]


def test_a_torque_that_changes_its_sign_and_back_within_a_step_loses_on_both_sides() -> None:
    """A voltage that is a parabola of the time, for a wheel so heavy that its speed is all but constant: torques below
    zero are driven, and the work of both parts is the integral of what the gear passes on.
    """
    speed, heavy, h, middle, half = 1e-3, 1e6, 1.0, 0.537, 0.01
    model = fm.Model("heavy", gravity=(0, 0, 0))
    wheel = fm.Body("wheel", mass=1.0, inertia=(heavy,) * 3)
    hinge = fm.Revolute("h", model.ground.at(), wheel.at(), axis="z")
    V = np.polynomial.Polynomial([middle**2 - half**2 + k * speed, -2.0 * middle, 1.0])
    motor = fm.Motor("M", hinge, resistance=R, constant=K, gear=N, efficiency=ETA, voltage=float(V.coef[0]))
    model.add(wheel, hinge, motor)
    solver = fm.Solver(fm.compile(model, starts={"h.qd": speed}))
    solver.assemble()
    for order in (1, 2):
        solver.set_input_derivatives("M.voltage", order, order * float(V.coef[order]))
    solver.step(h)
    whole = (V - k * speed).integ()
    below = whole(middle + half) - whole(middle - half)
    passed = ETA * (whole(h) - below) + below / ETA
    assert_allclose(heavy * (solver.get("h.qd") - speed) / (k / R), passed, atol=0.1 * abs(below))


def test_an_input_through_the_limit_of_the_voltage_is_cut_there() -> None:
    """A ramp of the voltage, without inductance: the integral of the cut ramp turns the wheel."""
    model = drive(0.0, voltage_limit=5.0)
    steep, stop = 100.0, 0.2
    result = model.simulate(
        stop=stop, interval=stop, tolerance=1e-11, scheme="dopri5",
        inputs={"M.voltage": ([0.0, stop], [-0.5 * steep * stop, 0.5 * steep * stop])},
    )  # fmt: skip
    rate, gain = (FRICTION + k * k / R) / J, k / R / J

    def moved(v: float, V: float, slope: float, time: float) -> float:
        """v' = gain (V + slope t) - rate v."""
        settled = gain * (V / rate - slope / rate**2)
        return float((v - settled) * np.exp(-rate * time) + settled + gain * slope / rate * time)

    v = moved(0.0, -5.0, 0.0, 0.05)
    v = moved(moved(v, -5.0, steep, 0.1), 5.0, 0.0, 0.05)
    assert_allclose(result["h.qd"][-1], v, rtol=0, atol=FINE)


@pytest.mark.parametrize("inductance", [L, 0.0])
def test_without_inductance_and_with_it_the_current_is_curbed(inductance: float) -> None:
    solver = fm.Solver(drive(inductance, current_limit=MOST, voltage=12.0), scheme="radau")
    solver.assemble()
    solver.step(0.01)
    assert solver.get("M.current") == MOST
    assert_allclose(solver.get("M.power"), MOST * (R * MOST + k * solver.get("h.qd")), rtol=1e-13)
    solver.set("M.voltage", -12.0)
    solver.step(0.02)
    assert solver.get("M.current") == -MOST
    solver.set("M.current_limit", 1.0)
    solver.step(0.021)
    assert solver.get("M.current") == -1.0


def linear(c: float, current: float, speed: float) -> None:
    model = drive(efficiency=ETA, current=current, voltage=1.0)
    solver = fm.Solver(fm.compile(model, starts={"h.qd": speed}), derivatives=True)
    solver.assemble()
    A, _ = free(0.0, c)
    for column, name in enumerate(("h.qd", "M.current")):
        found = solver.directional_derivative(["h.qdd", "M.torque"], [name], [1.0])
        assert_allclose(found, [A[0, column], c * k * column], rtol=1e-12, atol=1e-12)
    back = solver.adjoint(["h.qdd"], ["h.qd", "M.current", "M.efficiency", "M.constant", "M.gear"], [1.0])
    by = (1.0 if c < 1.0 else -1.0 / ETA**2) * k * current / J
    assert_allclose(back[:3], [*A[0], by], rtol=1e-12)
    beside = differences(solver, ["M.constant", "M.gear"], "h.qdd")
    assert_allclose(back[3:], beside, rtol=BY_DIFFERENCES)


def differences(solver: fm.Solver, names: list[str], of: str) -> list[float]:
    found = []
    for name in names:
        here = solver.get(name)
        values = []
        for sign in (1.0, -1.0):
            solver.set(name, here * (1.0 + sign * 1e-6))
            values.append(solver.get(of))
        solver.set(name, here)
        found.append((values[0] - values[1]) / (2e-6 * here))
    return found


@pytest.mark.parametrize("current", [3.0, -3.0])
@pytest.mark.parametrize("speed", [5.0, -5.0])
def test_losses_and_their_derivatives_follow_the_direction_of_the_power(current: float, speed: float) -> None:
    linear(ETA if current * speed > 0.0 else 1.0 / ETA, current, speed)


@pytest.mark.parametrize("voltage", [6.0, -6.0])
@pytest.mark.parametrize("speed", [5.0, -5.0])
def test_what_a_voltage_changes_is_lost_in_the_same_part(voltage: float, speed: float) -> None:
    solver = fm.Solver(fm.compile(drive(0.0, efficiency=ETA, voltage=voltage), starts={"h.qd": speed}))
    solver.assemble()
    c = ETA if (voltage - k * speed) * speed > 0.0 else 1.0 / ETA
    found = solver.directional_derivative(["h.qdd", "M.torque"], ["M.voltage"], [1.0])
    assert_allclose(found, [c * k / R / J, c * k / R], rtol=1e-12)


def test_the_eigenvalues_are_those_of_the_two_equations_with_the_efficiency() -> None:
    for speed, c in ((5.0, ETA), (-5.0, 1 / ETA)):
        model = drive(efficiency=ETA, current=2.0)
        found = fm.linearize(fm.compile(model, starts={"h.qd": speed}))
        values = np.linalg.eigvals(found.A)
        values = np.sort(values[np.abs(values) > 1e-6])
        assert_allclose(values, np.sort(np.linalg.eigvals(free(0.0, c)[0])), rtol=1e-6)


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_a_gear_holds_between_both_torques(dynamics: Any) -> None:
    """At rest with the torque T of the motor a load may be between -T / efficiency and -efficiency T."""
    V, T = 6.0, k * 6.0 / R
    for load, expected in ((-ETA * T * 0.99, T * ETA * 0.01), (-ETA * T * 1.01, 0.0), (-T, 0.0), (-T / ETA * 0.99, 0.0),
                           (-T / ETA * 1.01, -T / ETA * 0.01), (0.0, ETA * T)):  # fmt: skip
        solver = fm.Solver(drive(0.0, efficiency=ETA, voltage=V), dynamics=dynamics)
        solver.assemble()
        solver.set("h.tau", load)
        assert_allclose(solver.get("h.qdd"), expected / J, rtol=1e-9, atol=1e-9)
        assert_allclose(solver.get("M.torque"), expected - load, rtol=1e-9)
        if expected == 0.0:
            solver.step(0.01)
            assert solver.get("h.qd") == 0.0
            slope = solver.directional_derivative(["h.qdd", "M.torque"], ["h.tau"], [1.0])
            assert_allclose(slope, [0.0, -1.0], atol=1e-9)
            slope = solver.directional_derivative(["h.qdd", "M.torque"], ["M.voltage"], [1.0])
            assert_allclose(slope, [0.0, 0.0], atol=1e-9)


def test_it_slides_again_when_the_load_leaves_what_the_gear_holds() -> None:
    """A load that rises by a ramp moves the joint from T / efficiency on."""
    T, stop = k * 6.0 / R, 0.1
    slope = 2.0 * T / ETA / stop
    result = drive(0.0, efficiency=ETA, voltage=6.0).simulate(
        stop=stop, interval=stop / 100, tolerance=1e-11, scheme="dop853",
        inputs={"h.tau": ([0.0, stop], [-1.2 * T, -1.2 * T - slope * stop])},
    )  # fmt: skip
    begins = (T / ETA - 1.2 * T) / slope
    moving = result.time > begins + 1e-9
    assert (result["h.qd"][~moving] == 0.0).all() and (result["h.qd"][moving] < 0.0).all()
    rate, push = (FRICTION + k * k / R / ETA) / J, -slope / J
    time = result.time[moving] - begins
    expected = push * (time / rate - (1.0 - np.exp(-rate * time)) / rate**2)
    assert_allclose(result["h.qd"][moving], expected, rtol=0, atol=FINE)


@pytest.mark.parametrize("inductance", [L, 0.0])
def test_at_rest_the_gear_loses_nothing(inductance: float) -> None:
    plain = drive(0.0)
    hinge = fm.Revolute("h", plain.ground.at(), plain["wheel"].at(), axis="z", stiffness=100.0)
    model = fm.Model("held", gravity=(0, 0, 0))
    motor = fm.Motor("M", hinge, resistance=R, inductance=inductance, constant=K, gear=N, voltage=12.0, **LIMITS)
    model.add(plain["wheel"], hinge, motor)
    found = fm.equilibrium(model).solver
    assert_allclose([found.get("M.current"), found.get("h.q")], [MOST, k * MOST / 100.0], rtol=1e-12)


@pytest.mark.parametrize("seed", seeds(6, 36))
def test_power_goes_to_heat_to_losses_and_to_energy(seed: int) -> None:
    """Any motor that swings a pendulum, through all of its quadrants."""
    rng = np.random.default_rng(seed)
    inductance, rotor = float(rng.choice([0.0, 2e-3])), float(rng.choice([0.0, 1e-4]))
    model = fm.Model("pendulum")
    rod = fm.Body.rod("rod", length=0.5, mass=1.0)
    hinge = fm.Revolute("h", model.ground.at(), rod.base, axis="y", q0=float(rng.uniform(-1, 1)))
    motor = fm.Motor(
        "M", hinge, resistance=R, inductance=inductance, constant=K, gear=float(rng.choice([-10.0, 10.0])),
        rotor_inertia=rotor, efficiency=float(rng.uniform(0.5, 0.95)), current_limit=float(rng.uniform(2.0, 12.0)),
        voltage_limit=float(rng.uniform(2.0, 9.0)),
    )  # fmt: skip
    model.add(rod, hinge, motor)
    stop, h = 1.0, 1e-4
    times = np.linspace(0.0, stop, 9)
    scheme = str(rng.choice(["dop853", "radau", "auto"]))
    result = model.simulate(
        stop=stop, interval=h, scheme=scheme, tolerance=1e-9, inputs={"M.voltage": (times, rng.uniform(-10, 10, 9))}
    )
    i, v, strength = result["M.current"], result["h.qd"], motor.gear * K
    heat, lost = R * i**2, (strength * i - result["M.torque"]) * v
    assert (lost >= -1e-9).all() and lost.max() > 0.1
    left = result["M.power"] - heat - lost
    taken = np.concatenate([[0.0], np.cumsum(0.5 * h * (left[1:] + left[:-1]))])
    energy = result["solver.energy"] - result["solver.energy"][0]
    assert_allclose(energy, taken, atol=2e-3 * np.abs(energy).max())  # of the trapezoidal rule across the switches
    assert (np.abs(i) <= motor.current_limit).all()


def test_saved_states_hold_the_limit(tmp_path: Path) -> None:
    solver = fm.Solver(drive(voltage=12.0, **LIMITS))
    solver.assemble()
    solver.step(0.01)
    state = solver.state_save()
    there = []
    for _ in range(2):
        solver.step(0.05)
        there.append((solver.get("M.current"), solver.get("h.qd")))
        solver.state_load(state)
    assert there[0] == there[1] and solver.get("M.current") == MOST


def test_parameters_exist_where_the_motor_has_them_and_have_the_bounds_of_the_class() -> None:
    names = fm.compile(drive()).variables.names()
    assert not {"M.efficiency", "M.current_limit", "M.voltage_limit"} & set(names)
    solver = fm.Solver(drive(**LIMITS))
    for name, wrong in (("efficiency", 0.0), ("efficiency", 1.1), ("efficiency", -0.5), ("current_limit", 0.0),
                        ("current_limit", -1.0), ("voltage_limit", -1.0)):  # fmt: skip
        with pytest.raises(fm.FmumbsError, match=name):
            solver.set(f"M.{name}", wrong)
        with pytest.raises(fm.ModelError, match=f"Motor 'M': {name}"):
            drive(**{name: wrong})
    solver.set_all({"M.efficiency": 0.5, "M.current_limit": 2.0, "M.voltage": 12.0})
    other = fm.Solver(drive(efficiency=0.5, current_limit=2.0, voltage_limit=HIGHEST, voltage=12.0))
    for one in (solver, other):
        one.assemble()
        one.step(0.02)
    assert solver.get("h.qd") == other.get("h.qd")


@pytest.mark.parametrize("what", ["voltage", "current", "loss"])
def test_an_image_with_the_law_of_another_motor_is_refused(what: str) -> None:
    image = fm.compile(drive(**LIMITS))
    arrays = dict(image.arrays)
    arrays["law_motor"] = np.full_like(arrays["law_motor"], -1)
    with pytest.raises(fm.ModelError):
        ModelImage(pack(image.sizes, arrays)).check()
    arrays = dict(image.arrays)
    arrays[f"motor_{what}_law"] = np.full_like(arrays["motor_gear"], -1, dtype=arrays[f"motor_{what}_law"].dtype)
    with pytest.raises(fm.ModelError, match="a motor's law is that of another"):
        ModelImage(pack(image.sizes, arrays)).check()
