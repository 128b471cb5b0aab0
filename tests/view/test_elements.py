"""Gears, belts, racks, stops and reaction torques in pages and pictures."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.view.elements import STOP, TOOTH, WHEEL, tangents
from fmumbs.view.motion import motion_of
from fmumbs.view.poses import Poses, poses, start_positions
from fmumbs.view.solids import Sizes, solids
from fmumbs.view.viewpoint import viewpoint
from fmumbs.view.wheels import Train, Wheel, trains
from support.browser import CHROMIUM, Browser, chromium

Array = NDArray[np.float64]

# the matrices of what has a name that begins so, as they are drawn, by columns
DRAWN = """((name) => [...page.picture.things.sets.values()].flatMap((set) => set.items.map((item, i) =>
    (item.name || "").startsWith(name) ? [...set.mesh.instanceMatrix.array.slice(16 * i, 16 * i + 16)] : null))
    .filter(Boolean))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with chromium() as found:
        yield found


def shaft(model: fm.Model, name: str, at: Array, axis: Array, u0: float = 0.0, reverse: bool = False) -> fm.Revolute:
    """A body that turns about an axis of the world through a point; reverse: the ground is the joint's M."""
    body = fm.Body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
    ends = (model.ground.at(*at), body.at(0.02, 0.1, -0.03))
    joint = fm.Revolute(name.upper(), *(ends[::-1] if reverse else ends), axis=tuple(axis), u0=-u0 if reverse else u0)
    model.add(body, joint)
    return joint


def pair(coupling: fm.Coupling, model: fm.Model) -> tuple[Train, Poses, fm.Result]:
    """The coupling as it is drawn, at the start of a short run."""
    model.add(coupling)
    result = fm.simulate(model, stop=1e-3, interval=1e-3)
    motion = motion_of(result, None)
    found = poses(motion.image, motion.positions[:1])
    (train,) = trains(motion.image.scene, found)
    return train, found, result


def contact(train: Train, found: Poses, result: fm.Result, wheel: Wheel) -> tuple[Array, Array]:
    """Where the first tooth of a wheel is, and how fast."""
    name = result.motion.image.scene.bodies[wheel.body].name  # type: ignore[union-attr]
    R, r = found.R[0, wheel.body], found.r[0, wheel.body]
    at = r + R @ (np.array(wheel.at) + wheel.radius * np.array(wheel.start))
    velocity = result[f"{name}.v"][0] + np.cross(result[f"{name}.w"][0], at - r)
    return at, velocity


@pytest.mark.parametrize("seed", range(12))
def test_gears_roll_on_each_other(seed: int) -> None:
    """Spur gears outside and inside, bevel gears; axes of either sense, joints of either order."""
    rng = np.random.default_rng(seed)
    model = fm.Model("gears")
    turn = fm.Rotation.quaternion(*(q := rng.normal(size=4)) / np.linalg.norm(q)).matrix
    bevel, ratio = seed % 3 == 2, rng.choice([-1.0, 1.0]) * rng.uniform(1.3, 4.0)
    second = [np.sin(1.2), 0.0, np.cos(1.2)] if bevel else [0.0, 0.0, rng.choice([-1.0, 1.0])]
    axes = [turn[:, 2], turn @ second]
    places = [turn @ [0, 0, 0.5], axes[1] * rng.uniform(0.3, 0.6)] if bevel else [np.zeros(3), turn @ [0.4, 0.1, 0.3]]
    A = shaft(model, "a", places[0], axes[0], 2.0 * ratio, reverse=bool(rng.integers(2)))
    B = shaft(model, "b", places[1], axes[1], 2.0, reverse=bool(rng.integers(2)))
    signs = [-1.0 if joint.F.body.name != "ground" else 1.0 for joint in (A, B)]
    train, found, result = pair(fm.Coupling.gear("g", A, B, ratio=ratio * signs[0] * signs[1]), model)
    one, other = train.wheels
    assert one.radius / other.radius == pytest.approx(1.0 / abs(ratio), rel=1e-7)
    assert train.name.startswith("g: 1 : ")
    at, velocity = contact(train, found, result, one)
    R, r = found.R[0, other.body], found.r[0, other.body]
    centre, axis = r + R @ np.array(other.at), R @ np.array(other.axis)
    assert np.linalg.norm(at - centre) == pytest.approx(other.radius, rel=1e-7)
    assert abs((at - centre) @ axis) < 1e-8
    name = result.motion.image.scene.bodies[other.body].name  # type: ignore[union-attr]
    there = result[f"{name}.v"][0] + np.cross(result[f"{name}.w"][0], at - r)
    assert_allclose(there, velocity, atol=1e-7)
    assert np.linalg.norm(velocity) > 0.01
    first = R @ np.array(other.start)  # a gap meets the tooth
    assert first @ (at - centre) / other.radius == pytest.approx(np.cos(np.pi / other.teeth))


@pytest.mark.parametrize("radius", [0.05, -0.05])
def test_a_rack_moves_as_the_pinion_rolls(radius: float) -> None:
    model = fm.Model("rack")
    P = shaft(model, "p", np.array([0.1, 0.2, 0.0]), np.array([0.0, 1.0, 0.0]), 3.0)
    block = fm.Body("block", mass=1.0, inertia=(0.1, 0.1, 0.1))
    S = fm.Prismatic("S", model.ground.at(0.5, 0, 0.7), block.at(), axis="z", u0=3.0 * radius)
    model.add(block, S)
    train, found, result = pair(fm.Coupling.rack("r", P, S, radius=radius), model)
    (wheel,), rack = train.wheels, train.rack
    assert rack is not None and wheel.radius == pytest.approx(0.05)
    R, r = found.R[0, rack.body], found.r[0, rack.body]
    at = r + R @ np.array(rack.at)
    Rw, rw = found.R[0, wheel.body], found.r[0, wheel.body]
    velocity = result["p.v"][0] + np.cross(result["p.w"][0], at - rw)
    assert_allclose(velocity, result["block.v"][0], atol=1e-7)
    centre = rw + Rw @ np.array(wheel.at)
    assert_allclose(at + wheel.radius * (R @ np.array(rack.out)), centre, atol=1e-8)
    scene = fm.compile(model).scene
    boxes = [one for one in solids(scene, found, viewpoint(scene, found)) if one.colour == TOOTH and one.kind == "box"]
    teeth = boxes[wheel.teeth :]
    away = np.array([one.at - at for one in teeth])
    assert len(teeth) == 2 * int(rack.length / rack.pitch / 2) + 1 > 2
    along, out = R @ np.array(rack.along), R @ np.array(rack.out)
    assert_allclose(np.cross(away, along), 0.0, atol=1e-12)
    shown = [one for one in solids(scene, found, viewpoint(scene, found)) if one.colour == WHEEL and one.kind == "box"]
    bar = max(shown, key=lambda one: one.half[0])  # which carries all teeth, and ends less than two pitches beyond
    assert 0.0 <= bar.half[0] - np.abs(away @ along).max() < rack.pitch
    assert bar.half[0] == pytest.approx(rack.length / 2.0)
    assert (at - bar.at) @ out == pytest.approx(bar.half[1] + teeth[0].half[1])


def test_a_belt_touches_its_wheels_and_others_are_lines() -> None:
    a, b, axis = np.array([0.1, 0.0, 0.2]), np.array([0.7, 0.0, 0.4]), np.array([0.0, 1.0, 0.0])
    for start, end in tangents(a, b, axis, 0.2, 0.1):
        assert np.linalg.norm(start - a) == pytest.approx(0.2) and np.linalg.norm(end - b) == pytest.approx(0.1)
        assert_allclose([(end - start) @ (start - a), (end - start) @ (end - b)], 0.0, atol=1e-12)
    model = fm.Model("belt")
    joints = [shaft(model, name, np.array([0.5 * k, 0, 0]), np.array([0, 1.0, 0])) for k, name in enumerate("abc")]
    train, _, _ = pair(fm.Coupling.belt("belt", *joints[:2], radii=(0.2, 0.1)), model)
    assert train.belt and [one.radius for one in train.wheels] == [0.2, 0.1]
    model = fm.Model("differential")
    joints = [shaft(model, name, np.array([0.5 * k, 0, 0]), np.array([0, 1.0, 0])) for k, name in enumerate("abc")]
    train, _, _ = pair(fm.Coupling("d", [(one, r) for one, r in zip(joints, (1.0, 1.0, -2.0), strict=True)]), model)
    assert train == Train("d: 1 : 1 : 2", joints=(0, 1, 2))
    skew = fm.Model("skew")
    A = shaft(skew, "a", np.zeros(3), np.array([0, 0, 1.0]))
    B = shaft(skew, "b", np.array([0.0, 0.3, 0.0]), np.array([1.0, 0, 0]))
    assert pair(fm.Coupling.gear("worm", A, B, ratio=20.0), skew)[0].wheels == ()


def stopped() -> fm.Model:
    """A slide, a pin and a universal joint at the ends of their ranges, a rope that is taut, and two gears."""
    model = fm.Model("stopped", gravity=(0, 0, -9.81))
    ground = model.ground
    block = fm.Body.box("block", size=(0.1, 0.1, 0.1), mass=1.0)
    S = fm.Prismatic("S", ground.at(0, 0.5, 0.2), block.at(0.0, 0.03, 0.0), axis=(0.6, 0.0, 0.8), q0=0.2)
    rods = [fm.Body.rod(name, length=0.4, mass=1.0, along="x") for name in ("pinned", "hung")]
    P = fm.Revolute("P", ground.at(0.3, 0, 0), rods[0].base, axis="y", q0=-0.7)
    U = fm.Universal("U", ground.at(-0.5, 0, 0), rods[1].base, q0=(0.5, -0.3))
    ball = fm.Body.sphere("ball", radius=0.05, mass=1.0)
    F = fm.Free("F", ground.at(0.8, 0, 0), ball.at(*ball.com))
    line = fm.Spring("line", ground.at(0.8, 0, 0.5), ball.at(*ball.com), stiffness=0.0)
    model.add(block, *rods, ball, S, P, U, F, line)
    model.add(fm.Stop("S_end", S, lower=-0.1, upper=0.2, stiffness=1e4), fm.Stop("P_end", P, lower=-0.7, stiffness=1e3))
    model.add(fm.Stop("U1", U, mode=1, upper=0.5, stiffness=1e3), fm.Stop("U2", U, mode=2, lower=-0.3, stiffness=1e3))
    model.add(fm.Stop("rope", line, upper=0.5, lower=0.1, stiffness=1e4))
    A = shaft(model, "a", np.array([0.0, -0.5, 0]), np.array([0, 1.0, 0]), 1.0)
    B = shaft(model, "b", np.array([0.3, -0.5, 0]), np.array([0, 1.0, 0]), -0.5)
    model.add(fm.Coupling.gear("G", A, B, ratio=-2.0))
    return model


def along(matrix: Any) -> Array:
    """The x axis of what was drawn."""
    x = np.array(matrix[:3])
    return x / np.linalg.norm(x)


def test_in_the_page_a_joint_at_its_stop_meets_it(browser: Browser, tmp_path: Path) -> None:
    browser.open(stopped().view(stop=0).save(tmp_path / "page.html"))
    s = browser.ask("page.picture.s")
    plates = np.array(browser.ask(f"{DRAWN}('S_end')"))[:, 12:15]
    block = np.array(browser.ask("page.picture.place(page.picture.joints[0].M)[0].toArray()"))
    a = np.array([0.6, 0.0, 0.8])
    assert_allclose(plates, [block - (0.3 + 1.28 * s) * a, block + 1.28 * s * a], atol=1e-6)
    # U2 is seen from M, where it turns the other way
    for name, side in (("P_end", -1), ("U1", 1), ("U2", 1)):
        pin, hand = (np.array(browser.ask(f"{DRAWN}('{name}: {kind}')")[0]) for kind in ("stop", "hand"))
        centre, axis = hand[12:15] - 0.5 * hand[:3], along(pin)
        out, there = pin[12:15] - centre, hand[:3]
        assert np.linalg.norm(out) == pytest.approx(2.1 * s, rel=1e-5) and abs(out @ axis) < 1e-6
        angle = np.arctan2(np.cross(there, out) @ axis, there @ out)
        assert angle == pytest.approx(side * 0.17, abs=1e-5), name
    rope, buffer = (np.array(browser.ask(f"{DRAWN}('line: {kind}')")) for kind in ("rope", "buffer"))
    assert np.linalg.norm(rope[0][:3]) == pytest.approx(0.5, rel=1e-6)
    assert np.linalg.norm(buffer[0][:3]) == pytest.approx(0.1, rel=1e-6)
    assert browser.errors == []


def test_in_the_page_wheels_turn_with_their_bodies(browser: Browser, tmp_path: Path) -> None:
    result = fm.simulate(stopped(), stop=0.4)
    browser.open(result.view().save(tmp_path / "page.html"))
    motion = motion_of(result, None)
    found = poses(motion.image, motion.positions)
    (train,) = trains(motion.image.scene, found)
    for i in (0, len(result.time) // 2, len(result.time) - 1):
        browser.ask(f"page.seek({float(result.time[i])!r})")
        matrices = np.array(browser.ask(f"{DRAWN}('G: ')"))
        drawn = matrices[:, 12:15]
        assert len(drawn) == 2 + sum(one.teeth for one in train.wheels)
        for wheel in train.wheels:
            first = np.array(wheel.at) + wheel.radius * np.array(wheel.start)
            tooth = found.r[i, wheel.body] + found.R[i, wheel.body] @ first
            apart = np.linalg.norm(drawn - tooth, axis=1)
            assert apart.min() < 1e-5
            out = found.R[i, wheel.body] @ np.array(wheel.start)
            assert_allclose(along(matrices[apart.argmin()]), out, atol=1e-5)
    assert browser.errors == []


def test_a_picture_has_them_too() -> None:
    """At the places where the page has them: plates, pins and hands, the rope and its buffer, wheels and teeth."""
    model = stopped()
    scene = fm.compile(model).scene
    found = poses(fm.compile(model), start_positions(fm.compile(model)))
    springs = tuple(replace(one, shortest=None, longest=None) for one in scene.springs)
    bare = replace(scene, stops=(), couplings=(), springs=springs)
    view = viewpoint(scene, found)
    drawn, without = (solids(one, found, view) for one in (scene, bare))
    (train,) = trains(scene, found)
    assert len(drawn) - len(without) == 2 + 3 * 2 + 2 + 2 + sum(one.teeth for one in train.wheels)
    plates = [one for one in drawn if one.colour == STOP and one.kind == "box"]
    S = found.of(scene.joints[0].M)[0][0]
    apart = sorted(float((one.at - S) @ [0.6, 0.0, 0.8]) for one in plates)
    size = Sizes(scene, found, view, 0.02).symbol
    assert_allclose(apart, [-0.3 - size, size], atol=1e-8)
    pins = [one for one in drawn if one.colour == STOP and one.front]
    assert [one.kind for one in pins] == ["cylinder"] * 6
    for hand, pin in zip(pins[::2], pins[1::2], strict=True):
        tip = hand.at + hand.half[0] * hand.R[:, 0]
        assert np.linalg.norm(tip - pin.at) == pytest.approx(2.0 * 1.6 * size * np.sin(0.085), rel=1e-6)


def test_a_reaction_torque_has_two_heads(browser: Browser, tmp_path: Path) -> None:
    """Of a cantilever with a load at its tip: 0.8 m times 3 N and its own weight, about y."""
    model = fm.Model("cantilever", gravity=(0, 0, -10.0))
    beam = fm.Body.rod("beam", length=0.8, mass=1.0, along="x")
    model.add(beam, fm.Weld("W", model.ground.at(), beam.base), fm.Load("L", beam.tip, force=(0, 0, -3.0)))
    pin = fm.Body.rod("pin", length=0.5, mass=1.0, radius=0.02)
    model.add(pin, fm.Spherical("P", model.ground.at(0, 1, 0), pin.base))
    browser.open(model.view(stop=0.1).save(tmp_path / "page.html"))
    torques = "page.data.forces.filter((one) => one.kind === 'reaction torque').map((one) => one.index)"
    assert browser.ask(torques) == [0]  # none of the ball
    assert browser.ask("page.data.largest['reaction torque']") == pytest.approx(0.8 * 3.0 + 0.4 * 10.0, rel=1e-6)
    parts = browser.ask(f"{DRAWN}('W: reaction torque')")
    assert len(parts) == 3 and len(browser.ask(f"{DRAWN}('W: reaction, ')")) == 2
    for part in parts:
        assert_allclose(along(part), [0.0, -1.0, 0.0], atol=1e-6)
    assert "6.4 N.m" in browser.ask("document.getElementById('legend').textContent")
    assert browser.errors == []
