"""Resistance against rolling and drilling: closed forms, rest on a slope, energy, loops, saved states, and FMUs."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.both_ways import goes_on_alike, runs
from support.sweeps import each_value, seeds

G, MASS, RADIUS, OVERLAP = 9.81, 2.0, 0.1, 1e-5
SOLID = 0.4 * MASS * RADIUS**2
ARM, DRILL = 1e-3, 2e-3  # [m]
FRICTION = fm.Coulomb(0.5, stiffness=1e6, rolling_arm=ARM, drilling_arm=DRILL, turning_stiffness=50.0)
BRAKED = G * ARM * RADIUS * MASS / (SOLID + MASS * RADIUS**2)  # [m/s2] of a ball that rolls


def ball(slope: float = 0.0, friction: fm.Coulomb = FRICTION) -> fm.Model:
    """It rolls on a plane that is tilted about y."""
    model = fm.Model("ball", gravity=(G * math.sin(slope), 0, -G * math.cos(slope)))
    body = fm.Body("b", mass=MASS, inertia=(SOLID,) * 3)
    model.add(body, fm.Free("f", model.ground.at(), body.at(), q0=(0, 0, RADIUS - OVERLAP, 1, 0, 0, 0)))
    press = fm.Press(MASS * G / OVERLAP, damping=1.0)
    model.add(fm.Contact("touch", fm.Sphere(body.at(), RADIUS), fm.Plane(model.ground.at()), press, friction))
    return model


def rolling(speed: float) -> dict[str, Any]:
    return {"f.v": (speed, 0, 0), "f.w": (0, speed / RADIUS, 0)}


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", ["rk4", "dopri5", "dop853", "radau", "auto"])
def test_a_rolling_ball_stops_as_by_the_closed_form(scheme: Any, dynamics: Any) -> None:
    """It rolls v^2/(2 a) far; bristles give way once before they resist, and spring back once; then it rests."""
    step = {"step": 2e-5} if scheme == "rk4" else {}
    result = ball().simulate(stop=2.5, interval=0.01, scheme=scheme, dynamics=dynamics, starts=rolling(0.1), **step)
    given_way = RADIUS * ARM * MASS * G / 50.0
    assert_allclose(result["f.r[1]"][-1], 0.1**2 / (2 * BRAKED), atol=2 * given_way)
    early = result.time < 1.0
    assert_allclose(result["f.v[1]"][early][-1], 0.1 - BRAKED * result.time[early][-1], rtol=2e-3)
    assert_allclose(result["touch.rolling_moment"][early][-1], ARM * result["touch.normal"][early][-1], rtol=1e-9)
    assert abs(result["f.v[1]"][-1]) < 1e-6


def test_a_spinning_ball_stops_as_by_the_closed_form() -> None:
    """The twist by which it turns is w^2/(2 a), a = arm m g/I."""
    starts = {"f.w": (0, 0, 3.0)}
    result = ball().simulate(stop=2.0, interval=0.01, tolerance=1e-9, starts=starts)
    braked = DRILL * MASS * G / SOLID
    early = result.time < 0.5
    assert_allclose(result["f.w[3]"][early][-1], 3.0 - braked * result.time[early][-1], rtol=1e-3)
    assert_allclose(result["touch.drilling_moment"][early][-1], DRILL * MASS * G, rtol=1e-6)
    turned = 2 * math.atan2(result["f.q[4]"][-1], result["f.q[1]"][-1])
    assert_allclose(turned, 4.5 / braked, atol=DRILL * MASS * G / 50.0)
    assert abs(result["f.w[3]"][-1]) < 1e-6


def test_a_ball_that_twists_its_bristles_swings_on_them() -> None:
    """Below the limit, nearly without damping, they are a torsion spring: energy goes to and fro and is kept."""
    stiff, spin = 50.0, 0.01
    swings = fm.Coulomb(0.5, stiffness=1e6, drilling_arm=0.1, turning_stiffness=stiff, turning_damping=1e-9)
    quarter = 0.5 * math.pi * math.sqrt(SOLID / stiff)
    model, starts = ball(friction=swings), {"f.w": (0, 0, spin)}
    result = model.simulate(stop=4.0 * quarter, interval=0.25 * quarter, tolerance=1e-11, starts=starts)
    assert_allclose(result["touch.turn[3]"][4], spin * math.sqrt(SOLID / stiff), rtol=1e-6)
    assert_allclose(result["solver.energy"], result["solver.energy"][0], rtol=0, atol=1e-6 * 0.5 * SOLID * spin**2)


def test_bristles_that_turned_are_straight_where_contact_ends() -> None:
    """A ball that spins bounces: in flight they are zero, in contact they are not."""
    model = ball()
    starts = {"f.r": (0, 0, RADIUS + 1e-3), "f.w": (0.0, 5.0, 3.0)}
    result = model.simulate(stop=0.2, interval=1e-4, starts=starts)
    turned = np.abs([result[f"touch.turn[{k}]"] for k in (1, 2, 3)]).max(axis=0)
    flies = result["touch.gap"] > 0.0
    ends = int(np.flatnonzero(~flies)[0])
    assert flies[ends:].any() and turned[~flies].max() > 1e-6
    assert (turned[flies] == 0.0).all()


def test_a_ball_below_its_angle_of_rolling_rests_in_equilibrium() -> None:
    """tan(slope) < arm/radius: where it was after 1 s it is after 1000 s."""
    model = ball(0.008)
    held = fm.equilibrium(model).solver
    assert_allclose(held.get("touch.rolling_moment"), MASS * G * math.sin(0.008) * (RADIUS - 0.5 * OVERLAP), rtol=1e-6)
    result = model.simulate(stop=1000.0, interval=1.0, equilibrium=True, tolerance=1e-8)
    assert np.abs(result["f.r[1]"] - result["f.r[1]"][1]).max() < 1e-9
    assert_allclose(result["f.r[1]"][1], held.get("f.r[1]"), atol=1e-9)


def test_a_ball_above_its_angle_of_rolling_rolls_off() -> None:
    slope = 0.03
    result = ball(slope).simulate(stop=3.0, interval=0.1, tolerance=1e-9, starts=rolling(0.0))
    down = (math.sin(slope) - ARM / RADIUS * math.cos(slope)) * G / 1.4
    assert_allclose(np.diff(result["f.v[1]"])[-10:] / 0.1, down, rtol=1e-3)


@pytest.mark.parametrize("seed", seeds(2, 20))
def test_energy_is_never_gained(seed: int) -> None:
    """Of a ball that is thrown into a hollow, in which the normal turns."""
    rng = np.random.default_rng(seed)
    model = fm.Model("hollow", gravity=(0, 0, -G))
    body = fm.Body("b", mass=MASS, inertia=(SOLID,) * 3)
    model.add(body, fm.Free("f", model.ground.at(), body.at()))
    arms = {"rolling_arm": rng.uniform(0, 0.01), "drilling_arm": 5e-3}
    friction = fm.Coulomb(0.3, stiffness=1e5, **arms, turning_stiffness=20.0)
    shapes = fm.Sphere(body.at(), RADIUS), fm.Hollow(model.ground.at(), 0.5)
    model.add(fm.Contact("touch", *shapes, fm.Press(1e5, damping=0.2), friction))
    starts = {"f.r": (0.2, 0, -0.1), "f.v": tuple(rng.normal(size=3)), "f.w": tuple(20 * rng.normal(size=3))}
    result = model.simulate(stop=2.0, interval=2e-3, starts=starts, scheme="dop853", tolerance=1e-10)
    energy = result["solver.energy"]
    assert np.diff(energy).max() < 1e-8 * np.ptp(energy) and energy[-1] < energy[0] - 1.0
    assert result["touch.rolling_moment"].max() > 1e-3


@pytest.mark.parametrize("options", [{}, {"dynamics": "copcod"}, {"scheme": "radau"}])
def test_wheels_in_a_loop(options: Any) -> None:
    """Two wheels on one rod, which hinges close to a loop with the ground, against each other; all ways agree."""
    found = []
    for chosen in ({"scheme": "dop853"}, options):
        model = fm.Model("bars")
        a, b, c = (fm.Body.rod(name, length=size, mass=1.0) for name, size in (("a", 0.5), ("b", 1.5), ("c", 1.2)))
        model.add(a, b, c, fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=-1.2))
        model.add(fm.Revolute("B", a.tip, b.base, axis="y", q0=1.0), fm.Revolute("C", b.tip, c.base, axis="y", q0=1.5))
        model.add(fm.Revolute("D", c.tip, model.ground.at(1.5), axis="y"))
        rub = fm.Coulomb(0.3, stiffness=1e4, damping=50.0, rolling_arm=0.05, turning_stiffness=20.0)
        floor = fm.Plane(model.ground.at(0, 0, -0.3))
        model.add(fm.Contact("touch", fm.Sphere(b.at(0.3, 0, -0.2), 0.05), floor, fm.Press(1e4, damping=0.3), rub))
        result = model.simulate(stop=1.0, interval=0.1, tolerance=1e-10, **chosen)
        assert result["touch.rolling_moment"].max() > 0.1
        found.append([result[name] for name in ("A.q", "touch.gap", "touch.turn[2]")])
    assert_allclose(found[1], found[0], atol=1e-6)


def test_in_fmus_and_from_saved_states(tmp_path: Path) -> None:
    names = ["f.r[1]", "f.v[1]", "touch.rolling_moment", "touch.turn[2]"]
    starts = {"f.v[1]": 0.1, "f.w[2]": 1.0, "touch.rolling_arm": 1.5e-3}
    found = [values for _, _, values in runs(tmp_path, ball(), names, stop=1.5, interval=0.05, starts=starts)]
    for other in found[1:]:
        for name in names:
            assert_allclose(other[name], found[0][name], atol=1e-12)
    solver = fm.Solver(ball(), starts=starts)
    solver.assemble()
    solver.step(0.7)
    goes_on_alike(solver, 1.2, "f.r[1]", "touch.rolling_moment", "touch.turn[2]")
    solver.set("touch.rolling_arm", 0.0)
    solver.step(0.8)
    assert solver.get("touch.rolling_moment") == 0.0


def test_what_has_no_bristles_is_refused() -> None:
    with pytest.raises(fm.ModelError, match="resisted by bristles, but creep is given"):
        fm.Coulomb(0.3, creep=0.1, rolling_arm=1e-3)
    with pytest.raises(fm.ModelError, match="turning_stiffness is not given"):
        fm.Coulomb(0.3, stiffness=1e5, drilling_arm=1e-3)
    with pytest.raises(fm.ModelError, match="rolling_arm is -1"):
        fm.Coulomb(0.3, stiffness=1e5, rolling_arm=-1.0, turning_stiffness=1.0)
