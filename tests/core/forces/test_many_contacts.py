"""Contacts that begin and end often: a ball that bounces, balls in a box, drops, and shots at each other."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.sweeps import first, seeds

G, MASS, RADIUS = 9.81, 0.5, 0.05
ENERGY = 1e-5  # of it, in a blow at the default tolerance, 1e-6
STIFFNESS = 1e5  # [N/m] or [N/m^1.5], of what bounces
GAINED = 1e-8  # of the energy, between outputs of a run at a tolerance of 1e-10


def free(model: fm.Model, name: str, mass: float, inertia: Any, **start: Any) -> fm.Body:
    body = fm.Body(name, mass=mass, inertia=inertia)
    model.add(body, fm.Free(f"{name}_free", model.ground.at(), body.at(), **start))
    return body


def ball(model: fm.Model, name: str, r: Any, v: Any, radius: float = RADIUS, mass: float = MASS) -> fm.Sphere:
    body = free(model, name, mass, (0.4 * mass * radius**2,) * 3, q0=(*r, 1, 0, 0, 0), u0=(*v, 0, 0, 0))
    return fm.Sphere(body.at(), radius)


def box_of_balls(count: int, seed: int, friction: Any) -> fm.Model:
    """Balls thrown obliquely in a box of 1 m, open above."""
    rng, model, spheres = np.random.default_rng(seed), fm.Model("box", gravity=(0, 0, -G)), list[fm.Sphere]()
    law = fm.Press(1e5, damping=0.3)
    sides = [("y", 0.5 * math.pi, -0.5, 0), ("y", -0.5 * math.pi, 0.5, 0), ("x", -0.5 * math.pi, 0, -0.5)]
    sides += [("x", 0.5 * math.pi, 0, 0.5), ("x", 0.0, 0, 0)]
    turns = [fm.Plane(model.ground.at(x, y, 0, rotation=fm.Rotation.about(axis, by))) for axis, by, x, y in sides]
    for i in range(count):
        place = (-0.3 + 0.2 * (i % 4), -0.3 + 0.2 * (i // 4 % 4), 0.1 + 0.2 * (i // 16) + 0.01 * i)
        spheres.append(ball(model, f"b{i}", place, 2.0 * rng.normal(size=3)))
        for k, side in enumerate(turns):
            model.add(fm.Contact(f"w{i}_{k}", spheres[i], side, law, friction))
        for k in range(i):
            model.add(fm.Contact(f"c{k}_{i}", spheres[k], spheres[i], law, friction))
    return model


@pytest.mark.parametrize(
    ("count", "stop"), [(4, 1.0), pytest.param(20, 10.0, marks=pytest.mark.slow)]
)
def test_balls_in_a_box_do_not_gain_energy(count: int, stop: float) -> None:
    """Kinetic, potential and stored, of bristles too, by a 1e-8 at most; none leaves the box."""
    model = box_of_balls(count, 0, fm.Coulomb(0.3, stiffness=5e4))
    result = model.simulate(stop=stop, interval=5e-3, scheme="dop853", tolerance=1e-10)
    energy = result["solver.energy"]
    assert np.diff(energy).max() < GAINED * energy[0] and energy[-1] < 0.9 * energy[0]
    for i in range(count):
        assert max(abs(result[f"b{i}_free.r[{k}]"]).max() for k in (1, 2)) < 0.5
        assert result[f"b{i}_free.r[3]"].min() > 0.0


@pytest.mark.parametrize("stop", [1.0, pytest.param(10.0, marks=pytest.mark.slow)])
def test_many_contacts_do_not_multiply_the_steps(stop: float) -> None:
    """200 balls bounce on the floor, each in its own rhythm: at most three steps a switch, flights and all."""
    rng, model = np.random.default_rng(0), fm.Model("rain", gravity=(0, 0, -G))
    floor, press = fm.Plane(model.ground.at()), fm.Press(1e4, restitution=0.8, speed=2.0)
    for i in range(200):
        body = fm.Body(f"b{i}", mass=MASS, inertia=(5e-4,) * 3)
        start = RADIUS + float(rng.uniform(0.05, 1.0))
        model.add(body, fm.Prismatic(f"f{i}", model.ground.at(i), body.at(), axis="z", q0=start))
        model.add(fm.Contact(f"c{i}", fm.Sphere(body.at(), RADIUS), floor, press))
    result = model.simulate(stop=stop, interval=1e-3, scheme="dopri5")
    states = np.array([result[f"c{i}.state"] for i in range(200)])
    switches = int((np.diff(states, axis=1) != 0.0).sum())
    assert switches > 800 * stop and result["solver.steps"][-1] < 3 * switches


@pytest.mark.parametrize("exponent", [1.0, 1.5])
@pytest.mark.parametrize("restitution", [0.3, 0.9, 0.99])
def test_a_ball_that_bounces_needs_no_ever_smaller_steps(restitution: float, exponent: float) -> None:
    """Slower blows keep more of their speed, and the ball's period on its stiffness bounds how often they come: a
    minute takes at most forty steps for each such period, some twenty for the vibration and as many for its switches,
    and where it ends at rest, the ball lies as deep as it presses."""
    model = fm.Model("bounces", gravity=(0, 0, -G))
    press = fm.Press(STIFFNESS, exponent=exponent, restitution=restitution, speed=1.0)
    sphere = ball(model, "b", (0, 0, 0.3), (0.3, 0, 0))
    floor = fm.Plane(model.ground.at())
    model.add(fm.Contact("touch", sphere, floor, press, fm.Coulomb(0.3, stiffness=STIFFNESS)))
    result = model.simulate(stop=60.0, interval=0.05)
    depth = (MASS * G / STIFFNESS) ** (1.0 / exponent)
    period = 2.0 * math.pi * math.sqrt(depth / (exponent * G))  # about rest
    assert result["solver.steps"][-1] < 40 * 60.0 / period
    if restitution < 0.9:
        assert_allclose(result["touch.gap"][result.time > 50.0], -depth, rtol=1e-6)


STIFF = 1e6  # [N/m]
KEPT = 1e-7  # [m], within the last second: a tenth of the tolerance of places


def drop(seed: int) -> fm.Model:
    """A box, a capsule or a hull, thrown at a plane with up to 50 m/s."""
    rng = np.random.default_rng(seed)
    model = fm.Model("drop", gravity=(0, 0, -G))
    q = rng.normal(size=4)
    v = rng.normal(size=3)
    v *= rng.uniform(0.5, 50.0) / np.linalg.norm(v)
    v[2] = -abs(v[2])
    body = free(
        model, "b", MASS, (1e-3, 1.2e-3, 1.4e-3), q0=(0, 0, 0.3, *(q / np.linalg.norm(q))),
        u0=(*v, *rng.uniform(-10, 10, 3)),
    )  # fmt: skip
    corners = rng.normal(size=(8, 3))
    corners *= 0.1 / np.linalg.norm(corners, axis=1)[:, None]
    shapes = fm.Box(body.at(), (0.1, 0.12, 0.16)), fm.Capsule(body.at(), 0.05, 0.1), fm.Hull(body.at(), corners)
    friction = fm.Coulomb(0.6, stiffness=1e6)
    press = fm.Press(STIFF, restitution=0.4, speed=2.0)
    model.add(fm.Contact("touch", shapes[seed % 3], fm.Plane(model.ground.at()), press, friction))
    return model


@pytest.mark.parametrize("seed", first(4, [0, 1, 2, 54, *range(3, 54), *range(55, 200)]))
def test_what_is_dropped_neither_falls_through_nor_gains_energy(seed: int) -> None:
    """At the default tolerance. No corner is deeper than the energy can press all at once. Boxes and hulls come to rest
    and stay there, without chatter; capsules roll on, and hull 44 spins on a corner."""
    model = drop(seed)
    result = model.simulate(stop=20.0, interval=0.01, scheme="auto")
    energy, gaps = result["solver.energy"], [name for name in result.names if name.startswith("touch.gap")]
    deepest = math.sqrt(2 * (energy[0] + MASS * G * 0.1) / STIFF)
    assert min(result[name].min() for name in gaps) > -1.01 * deepest
    assert np.diff(energy).max() < ENERGY * energy[0]
    late = result.time > 19.0
    states = [set(result[name.replace("gap", "state")][late].tolist()) for name in gaps]
    assert all(state in ({0.0}, {1.0}) for state in states), states
    if seed % 3 == 1 or seed == 44:
        return
    assert states.count({1.0}) >= 3
    places = [f"b_free.{what}[{k}]" for what in "rq" for k in (1, 2, 3)]
    moved = {place: np.ptp(result[place][late]) for place in places}
    assert max(moved.values()) < KEPT, moved


@pytest.mark.parametrize("seed", seeds(5, 100))
def test_shots_hit(seed: int) -> None:
    """Balls of 1 cm fly at each other at up to 100 m/s: none passes, and none loses or gains energy or momentum."""
    rng = np.random.default_rng(1000 + seed)
    model = fm.Model("shots", gravity=(0, 0, 0))
    way = rng.normal(size=3)
    way /= np.linalg.norm(way)
    across = np.cross(way, rng.normal(size=3))
    across *= 0.008 * rng.uniform() / np.linalg.norm(across)  # below both radii
    fast, slow = rng.uniform(1.0, 50.0, 2)
    one = ball(model, "a", -2.0 * way, fast * way, 0.005, 0.01)
    other = ball(model, "b", 2.0 * way + across, -slow * way, 0.005, 0.01)
    model.add(fm.Contact("touch", one, other, fm.Press(1e8), fm.Coulomb(0.3, stiffness=1e7) if seed % 2 else None))
    result = model.simulate(stop=12.0 / (fast + slow))
    v = np.array([[result[f"{name}_free.v[{k}]"][-1] for k in (1, 2, 3)] for name in "ab"])
    assert np.linalg.norm(v[0] - fast * way) > 0.1 * (fast + slow) and result["touch.state"][-1] == 0.0
    assert_allclose(v[0] + v[1], (fast - slow) * way, atol=1e-9 * (fast + slow))
    energy = result["solver.energy"]
    assert energy[-1] < energy[0] * (1 + ENERGY) and (seed % 2 or energy[-1] > energy[0] * (1 - ENERGY))


def at_rest_soon(seed: int) -> tuple[fm.Model, float]:
    """A box, or a hull with a flat foot of three to seven corners, a little above the floor, and its size [m]."""
    rng = np.random.default_rng([seed, 41])
    length = 10.0 ** rng.uniform(-3.0, 3.0)
    size, mass = length * rng.uniform(0.5, 1.5, 3), 1e3 * length**3
    model, (x, y, z) = fm.Model("rest", gravity=(0, 0, -G)), (size**2).tolist()
    q = np.array([1.0, *(0.02 * rng.normal(size=3))])
    start = (0, 0, 0.55 * size[2], *(q / np.linalg.norm(q)))
    body = free(model, "b", mass, (mass / 12 * (y + z), mass / 12 * (x + z), mass / 12 * (x + y)), q0=start)
    stiffness = mass * G / (4.0 * length * 10.0 ** rng.uniform(-4.0, -2.0))
    angles = 2.0 * math.pi * np.arange(corners := int(rng.integers(3, 8))) / corners
    foot = [(0.6 * length * math.cos(a), 0.6 * length * math.sin(a), -0.5 * size[2]) for a in angles.tolist()]
    shape = fm.Box(body.at(), size) if seed % 2 else fm.Hull(body.at(), [*foot, (0.0, 0.0, 0.5 * size[2])])
    press = fm.Press(stiffness, restitution=0.3, speed=math.sqrt(G * length))
    rub = fm.Coulomb(0.6, stiffness=stiffness)
    model.add(fm.Contact("touch", shape, fm.Plane(model.ground.at()), press, rub))
    return model, length


@pytest.mark.parametrize("seed", seeds(10, 200))
def test_a_flat_foot_neither_rocks_nor_chatters(seed: int) -> None:
    """From millimetres to kilometres, at tolerances from 1e-3 to 1e-12: in the second half of 100 s, or of that times
    the root of its metres, each corner is in one state, and the body moves by less than the tolerance of its size."""
    model, length = at_rest_soon(seed)
    tolerance, stop = 10.0 ** -(3 + seed % 10), 100.0 * max(1.0, math.sqrt(length))
    result = model.simulate(stop=stop, interval=0.005 * stop, tolerance=tolerance)
    late = result.time > 0.5 * stop
    states = [set(result[name][late].tolist()) for name in result.names if name.startswith("touch.state")]
    assert all(len(one) == 1 for one in states) and states.count({1.0}) >= 3
    assert max(np.ptp(result[f"b_free.r[{k}]"][late]) for k in (1, 2, 3)) < tolerance * length
    assert max(np.ptp(result[f"b_free.q[{k}]"][late]) for k in (1, 2, 3, 4)) < tolerance
