"""Tyres: steps of slip, slip stiffness, the friction circle, standstill, roads, energy, and FMUs."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import simulate_fmu
from fmpy.validation import validate_fmu
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import fmumbs as fm
from support.both_ways import goes_on_alike, runs
from support.drawing.scaling import scaled
from support.sweeps import each_value, seeds

G, RADIUS, LOAD, WHEEL = 9.81, 0.3, 300.0, 20.0
PRESS, SLIP, RELAXATION, MU = 2e5, (8e4, 6e4), (0.15, 0.3), 0.9
DEFLECTION = (LOAD + WHEEL) * G / PRESS
ROLLS_ON = RADIUS - 0.5 * DEFLECTION  # the slip is that of the middle of the deflection
SPIN = 0.9  # [kg.m2] of the wheel about its axis
DAMPED = 500.0  # [N.s/m]
TURN = fm.Rotation.about("x", -0.5 * math.pi)


def tread(**other: Any) -> dict[str, Any]:
    return {"mu": MU, "slip_stiffness": SLIP, "relaxation": RELAXATION, "damping": DAMPED, **other}


def rig(carriage: float = 1e11, surface: Any = None, sled: float = 0.0, **other: Any) -> fm.Model:
    """A wheel under a load that goes up and down on a carriage; with 1e11 kg nothing changes the carriage's speed."""
    model = fm.Model("rig", gravity=(0, 0, -G))
    along, across = fm.Body("along", mass=carriage), fm.Body("across", mass=carriage)
    load, wheel = fm.Body("load", mass=LOAD), fm.Body("wheel", mass=WHEEL, inertia=(0.5, SPIN, 0.5))
    model.add(along, across, load, wheel)
    model.add(fm.Prismatic("x", model.ground.at(), along.at(), axis="x"))
    model.add(fm.Prismatic("y", along.at(), across.at(), axis="y"))
    model.add(fm.Prismatic("z", across.at(), load.at(), axis="z", q0=RADIUS - DEFLECTION))
    model.add(fm.Revolute("spin", load.at(), wheel.at(), axis="y"))
    under: Any = model.ground
    if sled:
        under = fm.Body("sled", mass=sled)
        model.add(under, fm.Prismatic("slide", model.ground.at(), under.at(), axis="x"))
    ground = fm.Road(under.at(), surface) if surface else fm.Plane(under.at())
    disc = fm.Disc(wheel.at(rotation=TURN), RADIUS)
    model.add(fm.Tyre("tyre", disc, ground, fm.Press(PRESS, damping=0.5), **tread(**other)))
    return model


def vehicle(slope: float, brake: float, hold: float = 0.0) -> fm.Model:
    """A body on four wheels on a slope along x, whose brakes rub [N.m], or hold their wheels by springs [N.m/rad]."""
    model = fm.Model("vehicle", gravity=(G * math.sin(slope), 0, -G * math.cos(slope)))
    body = fm.Body("body", mass=4 * LOAD, com=(0, 0, 0.1), inertia=(300.0, 1200.0, 1400.0))
    model.add(body, fm.Free("f", model.ground.at(), body.at(), q0=(0, 0, RADIUS - DEFLECTION, 1, 0, 0, 0)))
    road = fm.Plane(model.ground.at())
    for i, (x, y) in enumerate(((1.3, 0.7), (1.3, -0.7), (-1.2, 0.7), (-1.2, -0.7))):
        wheel = fm.Body(f"w{i}", mass=WHEEL, inertia=(0.5, SPIN, 0.5))
        hub = fm.Revolute(f"hub{i}", body.at(x, y), wheel.at(), axis="y", stiffness=hold)
        disc = fm.Disc(wheel.at(rotation=TURN), RADIUS)
        model.add(wheel, hub)
        if brake:
            model.add(fm.Law.brake(f"brake{i}", on=hub, force=brake))
        model.add(fm.Tyre(f"tyre{i}", disc, road, fm.Press(PRESS, damping=0.5), **tread()))
    return model


@pytest.mark.parametrize("speed", [3.0, 20.0, 60.0])
def test_a_step_of_the_slip_angle_acts_within_the_relaxation_length(speed: float) -> None:
    """F = C s/V (1 - (1 - p) exp(-V t/sigma)), p = D V/C what damping has of it at once, less than a twentieth."""
    angle, C, sigma = 0.02, SLIP[1], RELAXATION[1]
    starts = {"x.qd": speed, "y.qd": angle * speed, "spin.qd": speed / ROLLS_ON}
    result = rig().simulate(stop=4 * sigma / speed, interval=0.05 * sigma / speed, tolerance=1e-10, starts=starts)
    p = speed / C / (1 / DAMPED + speed / (0.05 * C))
    assert 0.0 < p < 0.05
    exact = -C * angle * (1 - (1 - p) * np.exp(-speed / sigma * result.time))
    assert_allclose(result["tyre.tread[2]"], exact, atol=1e-6 * C * angle)


@pytest.mark.parametrize("angle", [-0.03, 0.01, 0.04])
def test_steady_cornering_has_the_slip_stiffness(angle: float) -> None:
    starts = {"x.qd": 20.0, "y.qd": 20.0 * math.tan(angle), "spin.qd": 20.0 / ROLLS_ON}
    result = rig().simulate(stop=0.5, interval=0.05, tolerance=1e-10, starts=starts)
    assert_allclose(result["tyre.tread[2]"][-1], -SLIP[1] * math.tan(angle), rtol=1e-6)
    assert result["tyre.state"][-1] == 1.0


def test_a_large_slip_is_on_the_friction_circle() -> None:
    """A wheel that locks while it goes aside: mu N, against its slip where the tread is as stiff both ways."""
    model = rig(slip_stiffness=(6e4, 6e4), relaxation=(0.3, 0.3))
    model.add(fm.Law.brake("brake", on=model["spin"], force=1e5))
    result = model.simulate(stop=0.5, interval=0.05, tolerance=1e-9, starts={"x.qd": 20.0, "y.qd": 5.0})
    force = [result[f"tyre.tread[{k}]"][-1] for k in (1, 2)]
    assert_allclose(math.hypot(*force), MU * result["tyre.normal"][-1], rtol=1e-9)
    assert_allclose(force[1] / force[0], 5.0 / 20.0, rtol=1e-6)
    assert result["tyre.state"][-1] == 2.0


def braking(t: float, y: Any, torque: float, mass: float, aside: float) -> Any:
    """By the formula alone: the wheel under a constant load brakes and goes aside. y: v, aside, w, z of both."""
    v, across, w, *z = y
    N = (LOAD + WHEEL) * G
    slip = v - w * ROLLS_ON, across
    D = [1 / (1 / DAMPED + 20 * abs(v) / C) for C in SLIP]
    K = [C / sigma for C, sigma in zip(SLIP, RELAXATION, strict=True)]
    rolled = [slip[k] - abs(v) * z[k] / RELAXATION[k] for k in range(2)]
    T = [K[k] * z[k] + D[k] * rolled[k] for k in range(2)]
    part = min(1.0, MU * N / max(math.hypot(*T), 1e-300))
    F = [part * T[k] for k in range(2)]
    rates = rolled if part == 1.0 else [(F[k] - K[k] * z[k]) / D[k] for k in range(2)]
    return [-F[0] / mass, -F[1] / aside, (F[0] * ROLLS_ON - torque) / SPIN, *rates]


@pytest.mark.parametrize("seed", seeds(3, 30))
def test_braking_and_sliding_as_by_the_formula(seed: int) -> None:
    """Beside SciPy; the torque of half of the draws locks the wheel, which then turns backwards."""
    rng = np.random.default_rng(seed)
    torque, aside = rng.uniform(200.0, 1500.0), rng.uniform(-2.0, 2.0)
    model = rig(carriage=200.0)
    model.add(fm.Load("brake", model["wheel"].at(), torque=(0.0, -torque, 0.0)))
    starts = {"x.qd": 15.0, "y.qd": aside, "spin.qd": 15.0 / ROLLS_ON}
    result = model.simulate(stop=0.4, interval=0.02, scheme="dop853", tolerance=1e-10, starts=starts)
    mass = 400.0 + LOAD + WHEEL, 200.0 + LOAD + WHEEL
    found = solve_ivp(
        braking, (0.0, 0.4), [15.0, aside, 15.0 / ROLLS_ON, 0.0, 0.0], args=(torque, *mass), method="LSODA",
        rtol=1e-10, atol=1e-10, t_eval=result.time, max_step=1e-3,
    )  # fmt: skip
    for name, exact in zip(("x.qd", "y.qd", "spin.qd", "tyre.z[1]", "tyre.z[2]"), found.y, strict=True):
        assert_allclose(result[name], exact, rtol=0, atol=1e-6 * max(1e-3, float(np.abs(exact).max())), err_msg=name)


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "auto"])
def test_a_vehicle_brakes_on_a_slope_and_stands_without_creeping(scheme: Any, dynamics: Any) -> None:
    slope = 0.1
    starts = {"f.v": (8.0, 0.3, 0.0)} | {f"hub{i}.qd": 8.0 / ROLLS_ON for i in range(4)}
    result = vehicle(slope, 700.0).simulate(
        stop=12.0, interval=0.05, scheme=scheme, dynamics=dynamics, tolerance=1e-7, starts=starts
    )
    energy, x, late = result["solver.energy"], result["f.r[1]"], result.time > 8.0
    assert np.diff(energy).max() < 1e-6 * np.ptp(energy)
    assert 3.0 < x[-1] < 8.0 and result["f.v[1]"][0] == 8.0
    assert np.ptp(x[late]) < 1e-6 and np.ptp(x[result.time > 11.0]) < 1e-8
    held = sum(result[f"tyre{i}.force[1]"][-1] for i in range(4))
    assert_allclose(held, -4 * (LOAD + WHEEL) * G * math.sin(slope), rtol=1e-4)


def test_radau_takes_the_same_steps_in_any_unit_of_time() -> None:
    """To the last digit, as powers of four multiply exactly: the tread rolls off with a velocity, and not with the
    acceleration by which a stage changes."""
    ends = []
    for unit in (1.0, 16.0):
        model = scaled(vehicle(0.1, 400.0), (1.0, 1.0, unit))
        solver = fm.Solver(fm.compile(model, starts={"f.v[1]": 3.0 / unit}), scheme="radau")
        solver.assemble()
        solver.step(0.5 * unit)
        names = ("solver.steps", "solver.iterations", "f.r[1]", "f.r[3]", "hub0.q", "tyre0.normal", "tyre0.tread[1]")
        ends.append([solver.get(name) * (unit**2 if "tyre" in name else 1.0) for name in names])
    assert ends[0] == ends[1]


def test_a_parked_vehicle_rests_in_equilibrium() -> None:
    """Where it was after 1 s it is after 1000 s, to 1e-9 m."""
    model = vehicle(0.1, 0.0, hold=1e4)
    result = model.simulate(stop=1000.0, interval=1.0, equilibrium=True, tolerance=1e-8, scheme="radau")
    for k in (1, 2, 3):
        assert np.abs(result[f"f.r[{k}]"] - result[f"f.r[{k}]"][1]).max() < 1e-9
    held = sum(result[f"tyre{i}.force[1]"][-1] for i in range(4))
    assert_allclose(held, -4 * (LOAD + WHEEL) * G * math.sin(0.1), rtol=1e-9)


@pytest.mark.parametrize("seed", seeds(2, 30))
def test_energy_is_never_gained(seed: int) -> None:
    """A free wheel that is thrown on a road, with a tread of any numbers; also while it goes backwards."""
    rng = np.random.default_rng(seed)
    model = fm.Model("thrown", gravity=(0, 0, -G))
    body = fm.Body("wheel", mass=WHEEL, inertia=(0.5, 0.5, SPIN))
    model.add(body, fm.Free("f", model.ground.at(), body.at()))
    numbers = {"slip_stiffness": 10 ** rng.uniform(3, 5, 2), "relaxation": 10 ** rng.uniform(-1.5, 0.5, 2)}
    road = fm.Road(model.ground.at(), [(0.4 * i, z) for i, z in enumerate(rng.uniform(-0.02, 0.02, 30))])
    law = fm.Press(1e5, damping=rng.uniform(0, 0.5))
    damping = 10 ** rng.uniform(1, 4)
    model.add(fm.Tyre("tyre", fm.Disc(body.at(), RADIUS), road, law, mu=0.8, damping=damping, **numbers))
    lean = Rotation.from_euler("x", -0.5 * math.pi + rng.uniform(-0.2, 0.2)).as_quat(scalar_first=True)
    starts = {
        "f.r": (6.0, 0, 0.35), "f.q": tuple(lean), "f.v": (*rng.uniform(-5, 5, 2), -1.0),
        "f.w": (0.0, 0.0, rng.uniform(-20, 20)),
    }  # fmt: skip
    result = model.simulate(stop=0.6, interval=1e-3, starts=starts, scheme="dop853", tolerance=1e-10)
    energy = result["solver.energy"]
    assert np.diff(energy).max() < 1e-8 * np.ptp(energy) < 1e-8 * energy[0]
    assert result["tyre.friction"].max() > 1.0


def test_a_road_that_moves_is_a_road_at_rest_to_what_moves_with_it() -> None:
    """A sled of 1e9 kg with 4 m/s under a wheel, beside the wheel alone with 4 m/s less."""
    profile = [(0.5 * i, 0.02 * math.sin(i)) for i in range(-4, 40)]
    found = []
    for sled in (0.0, 1e9):
        more = 4.0 if sled else 0.0
        starts = {"x.qd": 10.0 + more, "spin.qd": 30.0, "y.qd": 0.3} | ({"slide.qd": more} if sled else {})
        result = rig(100.0, profile, sled).simulate(
            stop=1.0, interval=0.05, starts=starts, tolerance=1e-10, scheme="dop853"
        )
        found.append([result["x.q"] - more * result.time, *(result[name] for name in ("y.q", "z.q", "tyre.friction"))])
    for one, other, size in zip(*found, (1.0, 1.0, 1.0, 1e5), strict=True):
        assert_allclose(other, one, rtol=0, atol=1e-6 * size)  # the sled of 1e9 kg gives way by 1e-7


def on_a_spring(profile: Any, speed: float, stop: float) -> tuple[Any, Any]:
    """What a quarter car is accelerated by, on a tyre that rolls and on a spring that stands on a moved base."""
    found = []
    for rolls in (True, False):
        model = fm.Model("quarter", gravity=(0, 0, -G))
        wheel = fm.Body("wheel", mass=40.0, inertia=(0.5, SPIN, 0.5))
        body, hub = fm.Body("body", mass=300.0), fm.Body("hub", mass=1.0)
        over = model.ground.at(0, 0, RADIUS)
        model.add(wheel, body, hub)
        if rolls:
            carriage = fm.Body("carriage", mass=1e8)
            model.add(carriage, fm.Prismatic("x", over, carriage.at(), axis="x", q0=1.0, u0=speed))
            over = carriage.at()
        model.add(fm.Prismatic("up", over, hub.at(), axis="z"))
        turns = {"axis": "y", "u0": speed / RADIUS}
        model.add(fm.Revolute("spin", hub.at(), wheel.at(), **turns) if rolls else fm.Weld("no", hub.at(), wheel.at()))
        model.add(fm.Prismatic("ride", hub.at(), body.at(0, 0, -0.5), axis="z", stiffness=2e4, damping=1500.0))
        if rolls:
            disc, road = fm.Disc(wheel.at(rotation=TURN), RADIUS), fm.Road(model.ground.at(), profile)
            model.add(fm.Tyre("tyre", disc, road, fm.Press(PRESS), **tread()))
        else:
            x, z = np.transpose(profile)
            path = fm.Path.spline([*((x[x > 0.9] - 1.0) / speed)], [*z[x > 0.9]])
            base = fm.Body("base", mass=1.0)
            rise = fm.Joint("rise", model.ground.at(), base.at(), modes=[fm.Slide("z", role="excited", path=path)])
            model.add(base, rise, fm.Spring("tyre", base.at(), hub.at(), stiffness=PRESS, free_length=RADIUS))
        result = model.simulate(stop=stop, interval=0.01, equilibrium=not rolls, tolerance=1e-7)
        found.append(result["body.a[3]"][result.time > 0.6 * stop])
    return found[0], found[1]


@pytest.mark.parametrize("roughness", [1e-6, 64e-6])
def test_a_quarter_car_over_a_road_of_iso_8608_rides_as_on_a_spring(roughness: float) -> None:
    """Waves down to 2 m: a wheel of 0.3 m touches off its lowest point by the slope, so it is as good as a spring."""
    ground = fm.Model("ground").ground
    road = fm.Road.iso8608(ground.at(), roughness, 200.0, step=0.5, seed=3)
    rolled, sprung = on_a_spring(road.profile, 15.0, 10.0)
    steep = max(abs(slope) for slope in road.slopes)
    assert_allclose(rolled, sprung, rtol=0, atol=(0.02 + 2.0 * steep) * float(np.abs(sprung).max()))


def test_in_fmus_and_from_saved_states(tmp_path: Path) -> None:
    """With a tuned friction circle; by Model Exchange of both versions as far as CVODE goes."""
    model = rig(200.0, [(0.5 * i, 0.01 * math.sin(i)) for i in range(-4, 40)])
    model.add(fm.Law.brake("brake", on=model["spin"], force=900.0))
    names = ["x.q", "z.q", "spin.q", "tyre.tread[1]", "tyre.z[2]"]
    starts = {"x.qd": 8.0, "y.qd": 0.5, "spin.qd": 26.0, "tyre.mu": 1.1, "tyre.relaxation[2]": 0.4}
    found = [values for _, _, values in runs(tmp_path, model, names, stop=0.5, interval=0.01, starts=starts)]
    for other in found[1:]:
        for name in names:
            assert_allclose(other[name], found[0][name], rtol=1e-12, atol=1e-12)
    for fmi in (2, 3):
        path = tmp_path / f"{model.name}{fmi}.fmu"
        assert validate_fmu(str(path)) == []
        hosted = simulate_fmu(
            str(path), fmi_type="ModelExchange", stop_time=0.5, relative_tolerance=1e-8, output=names,
            start_values=starts,
        )  # fmt: skip
        for name in names[:3]:
            assert_allclose(hosted[name][-1], found[0][name][-1], rtol=1e-5, err_msg=name)
    solver = fm.Solver(model, starts=starts)
    solver.assemble()
    solver.step(0.2)
    goes_on_alike(solver, 0.4, *names)
    with pytest.raises(fm.FmumbsError, match="relaxation"):
        solver.set("tyre.relaxation[2]", 0.0)


def test_what_is_no_tyre_is_refused() -> None:
    model = fm.Model("m")
    body = fm.Body("b", mass=1.0, inertia=(1, 1, 1))
    disc, plane, press = fm.Disc(body.at(), 0.3), fm.Plane(model.ground.at()), fm.Press(1e5)
    for what, message in (
        (lambda: fm.Tyre("t", fm.Sphere(body.at(), 0.3), plane, press, **tread()), "A is a Sphere and B a Plane"),
        (lambda: fm.Tyre("t", disc, plane, press, **tread(mu=-1.0)), "mu is -1"),
        (lambda: fm.Tyre("t", disc, plane, press, **tread(slip_stiffness=(1.0, 0.0))), r"slip_stiffness\[1\] is 0"),
        (lambda: fm.Tyre("t", disc, plane, press, **tread(relaxation=0.3)), "relaxation"),
        (lambda: fm.Tyre("t", disc, plane, press, **tread(damping=0.0)), "damping is 0"),
    ):
        with pytest.raises(fm.ModelError, match=message):
            what()
