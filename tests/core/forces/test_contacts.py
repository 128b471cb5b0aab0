"""Contacts: closed forms, free bodies beside an independent integration, at rest, in loops, and in FMUs."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from fmpy import simulate_fmu
from fmpy.validation import validate_fmu
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler.image import ModelImage
from fmumbs.compiler.layout import pack
from oracle.contact import Bodies, Law
from support.both_ways import runs
from support.sweeps import each_value, first, seeds

G, MASS, RADIUS = 9.81, 2.0, 0.1
CLOSED_FORM = 1e-8  # relative, of runs at a tolerance of 1e-11
BESIDE = 1e-8  # of places [m] beside SciPy's at a tolerance of 1e-9, which steps across the branches of the laws
SOLID = 0.4 * MASS * RADIUS**2  # inertia of a solid sphere


def ball(normal: Any, friction: Any = None, gravity: Any = (0, 0, 0), *, r0: Any, v0: Any) -> fm.Model:
    model = fm.Model("ball", gravity=gravity)
    body = fm.Body("b", mass=MASS, inertia=(SOLID,) * 3)
    start = {"q0": (*r0, 1, 0, 0, 0), "u0": (*v0, 0, 0, 0)}
    model.add(body, fm.Free("f", model.ground.at(), body.at(), **start))
    model.add(fm.Contact("touch", fm.Sphere(body.at(), RADIUS), fm.Plane(model.ground.at()), normal, friction))
    return model


def crate(angle: float, friction: Any, height: float = 0.1, normal: Any = None) -> fm.Model:
    """A box of 0.2 m on a plane that is tilted about y."""
    model = fm.Model("crate", gravity=(G * math.sin(angle), 0, -G * math.cos(angle)))
    body = fm.Body("b", mass=MASS, inertia=(0.04 * MASS / 6,) * 3)
    model.add(body, fm.Free("f", model.ground.at(0, 0, height), body.at()))
    press = normal or fm.Press(1e6, restitution=0.5, speed=1.0)
    model.add(fm.Contact("touch", fm.Box(body.at(), (0.2,) * 3), fm.Plane(model.ground.at()), press, friction))
    return model


@pytest.mark.parametrize("speed", [0.1, 0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.3])
def test_a_rebound_is_that_of_the_closed_form(exponent: float, speed: float) -> None:
    """c (v + v') = ln((1 + c v)/(1 - c v')), whatever the exponent."""
    model = ball(fm.Press(1e5, exponent=exponent, damping=0.5), v0=(0, 0, -speed), r0=(0, 0, 0.2))
    result = model.simulate(stop=0.2 + 0.3 / speed, tolerance=1e-11)
    after, c = result["f.v[3]"][-1], 0.5
    assert_allclose(c * (speed + after), math.log((1 + c * speed) / (1 - c * after)), rtol=CLOSED_FORM)
    if c * speed == 0.5:
        assert_allclose(after / speed, 0.7484349, atol=1e-7)


@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau"])
def test_a_ball_that_is_put_near_the_floor_rebounds(scheme: Any) -> None:
    """Although it was known to be far above it."""
    solver = fm.Solver(ball(fm.Press(1e5, restitution=0.6, speed=1.0), v0=(0, 0, -1.0), r0=(0, 0, 50.0)), scheme=scheme)
    solver.assemble()
    solver.step(1.0)
    solver.set_state([0, 0, 0.2, 1, 0, 0, 0], [0, 0, -1.0, 0, 0, 0])
    solver.step(2.0)
    assert_allclose(solver.get("f.v[3]"), 0.6, rtol=1e-5)


def test_a_rebound_in_fmus(tmp_path: Path) -> None:
    model = ball(fm.Press(1e5, restitution=0.6, speed=1.0), v0=(0, 0, -1.0), r0=(0, 0, 0.11))
    for what, _, found in runs(tmp_path, model, ["f.v[3]"], stop=0.1, interval=0.01, tolerance=1e-11):
        assert_allclose(found["f.v[3]"][-1], 0.6, rtol=1e-8, err_msg=what)
    for fmi in (2, 3):
        path = tmp_path / f"ball{fmi}.fmu"
        assert validate_fmu(str(path)) == []
        found = simulate_fmu(
            str(path), fmi_type="ModelExchange", stop_time=0.1, relative_tolerance=1e-9, output=["f.v[3]"]
        )
        assert_allclose(found["f.v[3]"][-1], 0.6, rtol=1e-6)  # CVODE's own error


@pytest.mark.parametrize("e", [1.0 - 1e-9, 1.0, 0.9, 0.5, 0.1, 0.03, 1e-3, 1e-12])
def test_a_restitution_gives_its_damping(e: float) -> None:
    """Beside (1 + e) u = ln((1 + u)/(1 - e u)) in forty digits, or the limit u = 1/e; a law can be changed."""
    law = fm.Press(1e5, restitution=e, speed=0.5)
    u, found = 0.5 * law.damping, 0.0 if e == 1.0 else 1.0 / e
    with mpmath.workdps(40):
        E = mpmath.mpf(e)
        if 0.05 < e < 1.0:
            found = mpmath.findroot(lambda x: mpmath.log((1 + x) / (1 - E * x)) / x - (1 + E), (0.999 * u, u))
    assert_allclose(u, float(found), rtol=1e-12)
    assert replace(law, stiffness=2e5).damping == law.damping


def test_hertz_strikes_as_long_as_the_closed_form_says() -> None:
    """T = 2.943275 d/v, d = (5 m v^2/(4 k))^(2/5); two spheres, of the mass m/2."""
    law, v = fm.Hertz(1e9, 0.3, 0.05), 0.7
    model = ball(law, v0=(0, 0, -v), r0=(0, 0, RADIUS + 1e-3))
    assert_allclose(law.stiffness, 4 / 3 * 1e9 / 0.91 * math.sqrt(0.05), rtol=1e-15)
    d = (5 * MASS * v**2 / (4 * law.stiffness)) ** 0.4
    late = 1e-3 / v + 2.943275 * d / v
    result = model.simulate(stop=2 * late, interval=late / 64, tolerance=1e-11)
    flown = result["f.r[3]"][-1] - RADIUS
    assert_allclose(result["f.v[3]"][-1], v, rtol=CLOSED_FORM)
    assert_allclose(late + (late - flown / v), 1e-3 / v + 2.943275 * d / v, rtol=1e-6)


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "auto"])
def test_a_crate_that_falls_rattles_and_rests(scheme: Any, dynamics: Any) -> None:
    """Its energy never grows, and it holds where it comes to rest."""
    model = crate(0.2, fm.Coulomb(0.5, stiffness=1e6), height=0.12)
    result = model.simulate(stop=1.5, scheme=scheme, dynamics=dynamics, tolerance=1e-8)
    energy = result["solver.energy"]
    assert np.diff(energy).max() < 1e-7 * np.ptp(energy)
    rest = result.time > 1.2
    assert np.ptp(result["f.r[1]"][rest]) < 1e-9 and np.abs(result["f.v[1]"][-1]) < 1e-8
    assert set(result["touch.state[1]"][rest].tolist()) == {1.0}


def draw(seed: int) -> tuple[fm.Model, Bodies, dict[str, Any], list[Any]]:
    """Two free bodies: a box or an elongated one over the plane, and a sphere thrown against it or at another."""
    rng = np.random.default_rng(seed)
    mass = rng.uniform(0.5, 3.0, 2)
    inertia = [mass[i] * np.array([0.01, 0.012, 0.014]) * rng.uniform(0.8, 1.0) for i in range(2)]
    mu = rng.uniform(0.1, 0.8)
    static = mu * rng.choice([1.0, 1.3])
    K, D, k = 10 ** rng.uniform(4, 5), 10 ** rng.uniform(1, 2), 10 ** rng.uniform(4, 5)
    m, c, stribeck = rng.choice([1.0, 1.5, 2.0]), rng.uniform(0.0, 0.6), rng.uniform(0.1, 0.5)
    rolling, drilling, turning = rng.uniform(0.0, 5e-3), rng.choice([0.0, 2e-3]), rng.uniform(1.0, 10.0)
    law = Law(k if m == 1 else 30 * k, m, c, mu, static, stribeck, K, D)
    press = fm.Press(law.k, exponent=m, damping=c)
    friction = fm.Coulomb(mu, static=static, stribeck=stribeck, stiffness=K, damping=D)
    resisted = replace(law, rolling=rolling, drilling=drilling, turning=turning, eddy=0.05)
    resists = replace(
        friction, rolling_arm=rolling, drilling_arm=drilling, turning_stiffness=turning, turning_damping=0.05
    )
    gravity = np.array([*rng.uniform(-3, 3, 2), -9.81])
    model, oracle = fm.Model("drawn", gravity=tuple(gravity)), Bodies(mass, np.array(inertia), gravity)
    plane = fm.Plane(model.ground.at())
    bodies = [fm.Body(f"b{i}", mass=mass[i], inertia=tuple(inertia[i])) for i in range(2)]
    for i, body in enumerate(bodies):
        model.add(body, fm.Free(f"f{i}", model.ground.at(), body.at()))
    corners = rng.uniform(-0.15, 0.15, (3, 3))
    model.add(fm.Contact("hull", fm.Hull(bodies[0].at(), corners), plane, press, friction))
    oracle.contacts += [(0, corner, 0.0, None, 0.0, law) for corner in corners]
    middle, radius = rng.uniform(-0.05, 0.05, 3), rng.uniform(0.05, 0.15)
    one = fm.Sphere(bodies[1].at(*middle), radius)
    model.add(fm.Contact("floor", one, plane, press, resists))
    oracle.contacts.append((1, middle, radius, None, 0.0, resisted))
    model.add(fm.Contact("pair", one, fm.Sphere(bodies[0].at(), 0.1), press, resists))
    oracle.contacts.append((1, middle, radius, 0, 0.1, resisted))
    model.add(fm.Contact("inside", one, fm.Hollow(model.ground.at(), 0.6), press, friction))
    oracle.contacts.append((1, middle, radius, None, -0.6, law))
    r = np.array([[0.0, 0.0, 0.22], [0.3, 0.05, 0.35]])
    q = rng.normal(size=(2, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    v, w = np.array([[0, 0, -1.0], [-1.5, 0, -0.5]]) + 0.3 * rng.normal(size=(2, 3)), 3 * rng.normal(size=(2, 3))
    starts: dict[str, Any] = {}
    for i in range(2):
        starts |= {f"f{i}.r": tuple(r[i]), f"f{i}.q": tuple(q[i]), f"f{i}.v": tuple(v[i])}
    return model, oracle, starts, [r, q, v, w]


@pytest.mark.parametrize("seed", seeds(2, 30))
def test_free_bodies_move_as_by_newton_and_euler(seed: int) -> None:
    model, oracle, starts, (r, q, v, w) = draw(seed)
    solver = fm.Solver(model, scheme="dop853", tolerance=1e-10, starts=starts)
    solver.set_all({f"f{i}.w[{k + 1}]": value for i in range(2) for k, value in enumerate(local(q[i]).T @ w[i])})
    solver.assemble()
    solver.step(0.12)
    found = [[solver.get(f"f{i}.{what}[{k}]") for k in (1, 2, 3)] for what in "rv" for i in range(2)]
    places, _, speeds, *_ = oracle.run(r, q, v, w, 0.12)
    assert_allclose(found[:2], places, rtol=0, atol=BESIDE)
    assert_allclose(found[2:], speeds, rtol=0, atol=100 * BESIDE)
    touched = [solver.get(name) for name in ("hull.normal[1]", "hull.normal[2]", "floor.normal", "pair.normal")]
    assert np.isfinite(touched).all()


def local(q: Any) -> Any:
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def test_a_crate_below_the_friction_angle_rests_in_equilibrium() -> None:
    model = crate(0.3, fm.Coulomb(0.4, stiffness=1e6), height=0.0999)
    found = fm.equilibrium(model).solver
    assert_allclose(found.get("touch.force[1]"), -MASS * G * math.sin(0.3), rtol=1e-9)
    result = model.simulate(stop=1000.0, interval=1.0, equilibrium=True, tolerance=1e-8)
    assert np.abs(result["f.r[1]"] - result["f.r[1]"][1]).max() < 1e-9
    assert np.abs(result["f.v[1]"][1:]).max() < 1e-9


@pytest.mark.parametrize("cycles", first(1, [100, 1000]))
def test_what_shakes_a_crate_below_its_limit_does_not_move_it(cycles: int) -> None:
    """All cycles move it no further than the first ten."""
    model, period = crate(0.1, fm.Coulomb(0.5, stiffness=1e5), height=0.0999, normal=fm.Press(1e5, damping=0.5)), 0.1
    model.add(fm.Load("push", model["b"].at()))
    times = 0.25 * period * np.arange(4 * cycles + 1)
    result = model.simulate(
        stop=cycles * period, interval=0.25 * period, equilibrium=True, scheme="radau", tolerance=1e-6,
        inputs={"push.force[1]": (times, np.sin(0.5 * math.pi * np.arange(4 * cycles + 1)))},
    )  # fmt: skip
    x = result["f.r[1]"] - result["f.r[1]"][0]
    assert np.abs(x).max() <= 1.001 * np.abs(x[:40]).max()
    assert np.ptp(x) > 1e-6


def test_a_crate_above_the_friction_angle_slides() -> None:
    model = crate(0.6, fm.Coulomb(0.4, stiffness=1e5), height=0.0999)
    result = model.simulate(stop=4.0, interval=0.1, tolerance=1e-9)
    rate = np.diff(result["f.v[1]"][-5:]) / 0.1
    assert_allclose(rate, G * (math.sin(0.6) - 0.4 * math.cos(0.6)), rtol=1e-6)


def test_a_ball_that_slides_comes_to_roll() -> None:
    """At 2 v/(7 mu g), with 5 v/7."""
    overlap = 1e-4 * RADIUS
    model = ball(
        fm.Press(MASS * G / overlap), fm.Coulomb(0.3, stiffness=2e6), gravity=(0, 0, -G),
        r0=(0, 0, RADIUS - overlap), v0=(1.0, 0, 0),
    )  # fmt: skip
    result = model.simulate(stop=0.3, interval=1e-3, tolerance=1e-8)
    sticks = result.time[result["touch.state"] == 1.0]
    assert_allclose(sticks[0], 2 / (7 * 0.3 * G), atol=2e-3)
    assert_allclose(result["f.v[1]"][-1], 5 / 7, rtol=1e-3)
    assert_allclose(result["f.w[2]"][-1] * RADIUS, 5 / 7, rtol=1e-3)


def test_an_oblique_impact_that_slides_throughout() -> None:
    """Tangential v - mu (1 + e) v_n, spin 5 mu (1 + e) v_n/(2 R), where v > 3.5 mu (1 + e) v_n."""
    mu, e, v_n, v = 0.2, 0.8, 1.0, 3.0
    model = ball(
        fm.Press(1e8, restitution=e, speed=v_n), fm.Coulomb(mu, stiffness=1e9), r0=(0, 0, 0.11), v0=(v, 0, -v_n)
    )
    result = model.simulate(stop=0.05, tolerance=1e-9)
    gained = mu * (1 + e) * v_n
    assert_allclose(result["f.v[1]"][-1], v - gained, rtol=1e-3)
    assert_allclose(result["f.w[2]"][-1], 2.5 * gained / RADIUS, rtol=1e-3)


def test_balls_in_a_hollow_do_not_gain_energy() -> None:
    rng, radius = np.random.default_rng(3), 0.1
    model = fm.Model("hollow")
    shell, law = fm.Hollow(model.ground.at(), 0.5), fm.Press(1e5, exponent=1.5, damping=0.1)
    rub, shapes, starts = fm.Coulomb(0.3, stiffness=1e5), [], dict[str, Any]()
    for i in range(4):
        body = fm.Body(f"b{i}", mass=1.0, inertia=(0.004,) * 3)
        model.add(body, fm.Free(f"f{i}", model.ground.at(), body.at()))
        shapes.append(fm.Sphere(body.at(), radius))
        model.add(fm.Contact(f"w{i}", shapes[i], shell, law, rub))
        for k in range(i):
            model.add(fm.Contact(f"c{k}{i}", shapes[k], shapes[i], law, rub))
        turn = 0.5 * math.pi * i
        starts[f"f{i}.r"] = 0.25 * math.cos(turn), 0.25 * math.sin(turn), 0.0
        starts[f"f{i}.v"] = tuple(2.0 * rng.normal(size=3))
    result = fm.simulate(model, stop=1.0, interval=2e-3, starts=starts, scheme="dop853", tolerance=1e-10)
    energy = result["solver.energy"]
    assert np.diff(energy).max() < 1e-8 * np.ptp(energy) and energy[-1] < energy[0] - 1.0
    for i in range(4):
        away = np.sqrt(sum(result[f"f{i}.r[{k}]"] ** 2 for k in (1, 2, 3)))
        assert away.max() < 0.5 and result[f"w{i}.normal"].max() > 1.0


def test_sides_can_be_swapped() -> None:
    law, found = fm.Press(1e5, damping=0.2), []
    for swapped in (False, True):
        model = fm.Model("pair", gravity=(0, 0, 0))
        bodies = [fm.Body(name, mass=mass, inertia=(0.01,) * 3) for name, mass in (("a", 1.0), ("b", 2.0))]
        model.add(bodies[0], fm.Free("f", model.ground.at(), bodies[0].at(), u0=(1.0, 0.3, 0, 0, 0, 0)))
        model.add(bodies[1], fm.Free("g", model.ground.at(0.3), bodies[1].at()))
        pair = fm.Sphere(bodies[0].at(), 0.1), fm.Sphere(bodies[1].at(), 0.12)
        A, B = pair[::-1] if swapped else pair
        model.add(fm.Contact("touch", A, B, law, fm.Coulomb(0.3, creep=0.01)))
        result = model.simulate(stop=0.3, tolerance=1e-10)
        found.append([result[f"{joint}.{what}[{k}]"][-1] for joint in "fg" for what in "vw" for k in (1, 2, 3)])
        momentum = np.array(found[-1][0:3]) + 2.0 * np.array(found[-1][6:9])
        assert_allclose(momentum, [1.0, 0.3, 0.0], atol=1e-12)
    assert_allclose(found[0], found[1], atol=1e-8)
    assert abs(found[0][5]) > 0.1


@pytest.mark.parametrize("options", [{}, {"dynamics": "copcod"}, {"scheme": "radau"}])
def test_in_a_loop_and_on_a_flexible_link(options: Any) -> None:
    """The coupler of a four-bar falls on the floor, and a beam on a ball of it; both formulations and schemes agree."""
    found = []
    for chosen in ({"scheme": "dop853"}, options):
        model = fm.Model("bars")
        a, b, c = (fm.Body.rod(name, length=size, mass=1.0) for name, size in (("a", 0.5), ("b", 1.5), ("c", 1.2)))
        model.add(a, b, c, fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=-1.2))
        model.add(fm.Revolute("B", a.tip, b.base, axis="y", q0=1.0), fm.Revolute("C", b.tip, c.base, axis="y", q0=1.5))
        model.add(fm.Revolute("D", c.tip, model.ground.at(1.5), axis="y"))
        floor = fm.Plane(model.ground.at(0, 0, -0.3))
        law, rub = fm.Press(1e4, damping=0.3), fm.Coulomb(0.3, stiffness=1e4, damping=50.0)
        model.add(fm.Contact("touch", fm.Sphere(b.at(0.3, 0, -0.2), 0.05), floor, law, rub))
        beam = fm.FlexibleLink("beam", length=1.0, EIy=5.0, mass=0.3, damping=1e-3, elements=3, plane="xz")
        model.add(beam, fm.Weld("wall", model.ground.at(-1.3, 0, 0.3), beam.base))
        model.add(fm.Contact("tip", fm.Sphere(beam.tip, 0.05), fm.Plane(model.ground.at(0, 0, 0.2)), law, rub))
        result = model.simulate(stop=1.0, interval=0.1, tolerance=1e-10, **chosen)
        assert result["touch.normal"].max() > 1.0 and result["tip.normal"].max() > 0.1
        found.append([result[name] for name in ("A.q", "touch.gap", "tip.gap")])
    assert_allclose(found[1], found[0], atol=1e-6)


@pytest.mark.parametrize("scheme", ["dop853", "radau"])
@pytest.mark.parametrize("shape", ["box", "capsule", "hull"])
def test_a_shape_is_fixed_to_its_point_of_a_flexible_body(shape: str, scheme: Any) -> None:
    """As to a body without mass that is welded there, wherever its corners are along the beam."""
    ends, turned = [], fm.Rotation.rpy(0.3, -0.5, 0.2)
    for welded in (False, True):
        model = fm.Model("beam", gravity=(0, 0, -G))
        given = {"boundary": "clamped-free", "plane": None, "axial_inertia": 0.01, "twist": 1, "GJ": 30.0}
        beam = fm.ModalBody.beam("beam", length=1.0, mass=0.5, EI=50.0, modes=2, **given)
        model.add(beam, fm.Revolute("A", model.ground.at(), beam.at(0.0), axis="y", u0=2.0))
        on = beam.at(0.8, rotation=turned)
        if welded:
            head = fm.Body("head", mass=0.0, inertia=(0, 0, 0))
            model.add(head, fm.Weld("W", on, head.at()))
            on = head.at()
        corners = [(0.3, 0.0, 0.0), (0.0, 0.1, -0.1), (-0.1, -0.2, 0.1)]
        made = {"box": fm.Box(on, (0.1, 0.3, 0.2)), "capsule": fm.Capsule(on, 0.05, 0.3), "hull": fm.Hull(on, corners)}
        rub = fm.Coulomb(0.3, stiffness=1e3, damping=5.0)
        model.add(fm.Contact("touch", made[shape], fm.Plane(model.ground.at(0, 0, -0.3)), fm.Press(1e3), rub))
        result = model.simulate(stop=0.5, interval=0.01, scheme=scheme, tolerance=1e-10)
        names = [name for name in result.names if name.startswith("touch.") and ".state" not in name]
        assert max(result[name].max() for name in names if ".normal" in name) > 1.0
        ends.append({name: result[name][-1] for name in ("A.q", "A.qd", *names)})
    for name, value in ends[0].items():
        assert_allclose(ends[1][name], value, rtol=1e-6, atol=1e-6, err_msg=name)


def test_bristles_are_in_the_axes_of_the_surfaces_point() -> None:
    """Also on a body that moves: where these are turned about the normal, the bristles are turned back."""
    found = []
    for angle in (0.0, 0.7):
        model = fm.Model("sled", gravity=(1.0, 0.5, -G))
        sled, block = (fm.Body(name, mass=MASS, inertia=(SOLID,) * 3) for name in ("sled", "block"))
        model.add(sled, block, fm.Prismatic("x", model.ground.at(), sled.at(), axis="x"))
        model.add(fm.Free("f", model.ground.at(0, 0, 0.1), block.at()))
        floor = fm.Plane(sled.at(rotation=fm.Rotation.about("z", angle)))
        rub = fm.Coulomb(0.5, stiffness=1e4)
        model.add(fm.Contact("touch", fm.Box(block.at(), (0.2,) * 3), floor, fm.Press(1e4, damping=1.0), rub))
        result = model.simulate(stop=0.2, interval=0.1)
        found.append(np.array([result[f"touch.z[{k}]"][-1] for k in (1, 2, 3)]))
    c, s = math.cos(0.7), math.sin(0.7)
    assert np.linalg.norm(found[0]) > 1e-6
    turned = [c * found[0][0] + s * found[0][1], c * found[0][1] - s * found[0][0], found[0][2]]
    assert_allclose(found[1], turned, rtol=0, atol=1e-9)


def test_a_rope_beside_a_contact() -> None:
    """The laws of ropes stand before those of spots, so that these alone are looked at where they may change."""
    model = fm.Model("hung", gravity=(0, 0, -G))
    for k in range(3):
        body = fm.Body(f"b{k}", mass=MASS, inertia=(SOLID,) * 3)
        model.add(body, fm.Prismatic(f"f{k}", model.ground.at(k), body.at(), axis="z", q0=0.25 - 0.05 * k))
        model.add(fm.Contact(f"touch{k}", fm.Sphere(body.at(), RADIUS), fm.Plane(model.ground.at()), fm.Press(1e4)))
    model.add(fm.Rope("rope", [model.ground.at(3, 0, 1), body.at()], stiffness=1e4, length=1.33))
    image = fm.compile(model)
    assert image.arrays["law_side"].tolist() == [0, *[-1] * 6]
    result = fm.simulate(image, stop=1.0, interval=0.01, tolerance=1e-10)
    assert np.ptp(result["solver.energy"]) < 1e-7 and {*(result["rope.tension"] > 0.0).tolist()} == {False, True}
    arrays = dict(image.arrays)
    for name in [one for one in arrays if one.startswith("law_") and len(arrays[one]) == image.sizes["laws"]]:
        arrays[name] = np.roll(arrays[name], -1, axis=0)
    arrays["side_law"], arrays["spot_law"] = arrays["side_law"] + len(arrays["law_spot"]) - 1, arrays["spot_law"] - 1
    with pytest.raises(fm.ModelError, match="a force law follows those of spots"):
        ModelImage(pack(image.sizes, arrays)).check()


def test_dopri5_keeps_its_order_across_contact() -> None:
    """With the exponent 1, beside a run at the finest tolerance; in the mean of many tolerances, as errors cancel."""
    model = ball(
        fm.Press(1e4, damping=0.3), fm.Coulomb(0.3, stiffness=1e4, damping=30.0), gravity=(0, 0, -G),
        r0=(0, 0, 0.15), v0=(1.0, 0, 0),
    )  # fmt: skip
    exact = model.simulate(stop=0.7, interval=0.7, scheme="dop853", tolerance=1e-13)
    names, errors, counts = [f"f.{what}[{k}]" for what in ("r", "v", "w") for k in (1, 2, 3)], [], []
    for tolerance in np.logspace(-6, -11, 11):
        result = model.simulate(stop=0.7, interval=0.7, scheme="dopri5", tolerance=float(tolerance))
        errors.append(math.hypot(*(result[name][-1] - exact[name][-1] for name in names)))
        counts.append(result["solver.evaluations"][-1])
    order = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert order > 4.5, (order, errors, counts)


def test_saved_states_hold_bristles_and_modes() -> None:
    solver = fm.Solver(crate(0.4, fm.Coulomb(0.3, stiffness=1e5), height=0.11))
    solver.assemble()
    solver.step(0.1)
    state = solver.state_save()
    solver.step(0.3)
    there = solver.get("f.r[1]"), solver.get("touch.z[1]")
    solver.state_load(state)
    solver.step(0.3)
    assert (solver.get("f.r[1]"), solver.get("touch.z[1]")) == there


def test_creeping_friction_creeps_as_its_docstring_says() -> None:
    angle, mu, creep = 0.2, 0.5, 1e-3
    model = crate(angle, fm.Coulomb(mu, creep=creep), height=0.0999)
    result = model.simulate(stop=4.0, interval=0.1, tolerance=1e-9)
    part = math.tan(angle) / mu
    assert_allclose(result["f.v[1]"][-1], creep * part / math.sqrt(1 - part**2), rtol=1e-5)


def test_what_contacts_refuse() -> None:
    model = fm.Model("m")
    body = fm.Body("b", mass=1.0, inertia=(1, 1, 1))
    sphere, plane, law = fm.Sphere(body.at(), 0.1), fm.Plane(model.ground.at()), fm.Press(1e5)
    for what, message in (
        (lambda: fm.Contact("c", plane, sphere, law), "Contact 'c': A is a Plane"),
        (lambda: fm.Contact("c", fm.Box(body.at(), (1, 1, 1)), fm.Sphere(model.ground.at(), 1.0), law), "of the Box A"),
        (lambda: fm.Contact("c", sphere, fm.Hollow(model.ground.at(), 0.05), law), "too large for the hollow"),
        (lambda: fm.Contact("c", sphere, fm.Plane(body.at()), law), "both on 'b'"),
        (lambda: fm.Contact("c", sphere, plane, 3.0), "normal is a float"),
        (lambda: fm.Contact("c", sphere, plane, law, 0.3), "friction is a float"),
        (lambda: fm.Sphere(body.at(), -0.1), "Sphere: radius is -0.1"),
        (lambda: fm.Box(body.at(), (1, 0, 1)), r"Box: size\[1\] is 0"),
        (lambda: fm.Hull(body.at(), []), "Hull: vertices are empty"),
        (lambda: fm.Press(0.0), "Press: stiffness is 0"),
        (lambda: fm.Press(1.0, exponent=0.5), "Press: exponent is 0.5"),
        (lambda: fm.Press(1.0, restitution=0.5), "restitution and speed go together"),
        (lambda: fm.Press(1.0, restitution=0.0, speed=1.0), "restitution is 0"),
        (lambda: fm.Hertz(1e9, 0.6, 0.1), "Hertz: nu is 0.6"),
        (lambda: fm.Coulomb(0.3), "neither stiffness nor creep"),
        (lambda: fm.Coulomb(0.3, stiffness=1.0, creep=1.0), "both given"),
        (lambda: fm.Coulomb(0.3, static=0.2, creep=1.0), "static is 0.2"),
        (lambda: fm.Coulomb(-0.3, creep=1.0), "mu is -0.3"),
    ):  # fmt: skip
        with pytest.raises(fm.ModelError, match=message):
            what()
    solver = fm.Solver(crate(0.2, fm.Coulomb(0.5, stiffness=1e6)))
    with pytest.raises(fm.FmumbsError, match=r"touch.static = 0.1 is refused"):
        refuse(solver)


def refuse(solver: fm.Solver) -> None:
    solver.set("touch.static", 0.1)
    solver.assemble()


def test_shapes_reach_where_their_surfaces_are() -> None:
    """The gap of each spot of an ellipsoid, a capsule and a box on a plane beside the least over many points of it."""
    rng = np.random.default_rng(5)
    turn = fm.Rotation.about("x", 0.7) @ fm.Rotation.about("z", -0.4)
    model = fm.Model("shapes")
    body = fm.Body("b", mass=1.0, inertia=(1, 1, 1))
    model.add(body, fm.Weld("w", model.ground.at(0.1, 0.2, 0.9, rotation=turn), body.at()))
    plane = fm.Plane(model.ground.at(0, 0, 0.1, rotation=fm.Rotation.about("y", 0.3)))
    at = body.at(0.05, 0, 0.1, rotation=fm.Rotation.about("y", 1.1))
    law = fm.Press(1e3)
    shapes = fm.Ellipsoid(at, (0.1, 0.2, 0.4)), fm.Capsule(at, 0.1, 0.5), fm.Box(at, (0.2, 0.3, 0.4))
    for shape in shapes:
        model.add(fm.Contact(type(shape).__name__.lower(), shape, plane, law))
    solver = fm.Solver(model)
    solver.assemble()
    unit = rng.normal(size=(200_000, 3))
    unit /= np.linalg.norm(unit, axis=1)[:, None]
    ends = [0.1 * unit + np.array([0, 0, end]) for end in (-0.25, 0.25)]
    clouds = {
        "ellipsoid": [unit * (0.1, 0.2, 0.4)], "capsule": ends,
        "box": [np.array(corner) * (0.2, 0.3, 0.4) - (0.1, 0.15, 0.2) for corner in np.ndindex(2, 2, 2)],
    }  # fmt: skip
    normal = fm.Rotation.about("y", 0.3).matrix[:, 2]
    for name, spots in clouds.items():
        found = [solver.get(f"{name}.gap[{k + 1}]" if len(spots) > 1 else f"{name}.gap") for k in range(len(spots))]
        for gap, cloud in zip(found, spots, strict=True):
            inside = (at.X_BP.rotation.matrix @ np.atleast_2d(cloud).T).T + at.X_BP.translation
            world = (turn.matrix @ inside.T).T + np.array([0.1, 0.2, 0.9])
            assert_allclose(gap, ((world - (0, 0, 0.1)) @ normal).min(), atol=1e-5)


def hammer(**start: float) -> fm.Solver:
    """A ball on the end of a long arm swings on a plane that swings as well; both are far from the links' origins."""
    model = fm.Model("hammer", gravity=(0, 0, 0))
    arm, door = (fm.Body(name, mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.4, 0.4)) for name in ("arm", "door"))
    model.add(arm, fm.Revolute("A", model.ground.at(), arm.at(), axis="z", q0=1.0, u0=-1.0))
    model.add(door, fm.Revolute("D", model.ground.at(3.0), door.at(), axis="z", u0=0.1))
    wall = door.at(0, 0, 0, rotation=fm.Rotation.about("x", -0.5 * math.pi))
    model.add(fm.Contact("touch", fm.Sphere(arm.at(3.5, 0, 0), 0.1), fm.Plane(wall), fm.Press(1e4)))
    solver = fm.Solver(model, scheme="dop853", tolerance=1e-10, starts=start)
    solver.assemble()
    return solver


def test_contact_far_from_origins_is_seen_whenever_it_begins() -> None:
    """From afar, after states that were set, and again; the gap is never much below what the speeds can press."""
    solver = hammer()
    for _ in range(2):
        least = 1.0
        for _ in range(60):
            solver.step(solver.time + 0.02)
            least = min(least, solver.get("touch.gap"))
        assert -0.05 < least < -1e-3
        assert solver.get("touch.gap") > 0.0 and solver.get("A.qd") > -0.5
        state = solver.state_save()
        solver.set_all({"A.q": 0.2, "A.qd": -2.0, "D.q": 0.0, "D.qd": 0.0})
        solver.assemble()
        solver.step(solver.time + 0.2)
        there = solver.get("A.q")
        assert solver.get("A.qd") > 0.0  # it came back
        solver.state_load(state)
        solver.set_all({"A.q": 1.0, "A.qd": -1.0, "D.q": 0.0, "D.qd": 0.1})
        solver.assemble()
        assert there > 0.0
