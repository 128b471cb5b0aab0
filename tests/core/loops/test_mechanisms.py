"""Closed mechanisms that a user might build: against the oracle and their known properties."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.cli.inspection import check_model
from support.closed import Closed
from support.closed_agreement import CLOSED, assert_agrees, assert_closed, started
from support.slave import OK, WARNING, Slave, unpacked_fmu


def rod(name: str, length: float, mass: float = 1.0, along: str = "x") -> fm.Body:
    return fm.Body.rod(name, length=length, mass=mass, radius=0.02, along=along)


def angle(v: np.ndarray) -> float:
    return float(np.arctan2(v[1], v[0]))


def stewart() -> fm.Model:
    """A plate on six legs, each a universal joint, a spring strut and a ball."""
    model = fm.Model("stewart")
    plate = fm.Body.cylinder("plate", length=0.05, radius=0.4, mass=20, along="z")
    model.add(plate)
    feet, heads = np.deg2rad([10, 110, 130, 230, 250, 350]), np.deg2rad([50, 70, 170, 190, 290, 310])
    for i, (a, b) in enumerate(zip(feet, heads, strict=True)):
        foot, head = 0.6 * np.array([np.cos(a), np.sin(a), 0]), 0.4 * np.array([np.cos(b), np.sin(b), 0])
        leg = head + np.array([0, 0, 0.8]) - foot
        length = float(np.linalg.norm(leg))
        x = np.cross((0, 1, 0), leg) / np.linalg.norm(np.cross((0, 1, 0), leg))
        axes = fm.Rotation(np.column_stack([x, np.cross(leg / length, x), leg / length]))
        lower, upper = rod(f"lower{i}", 0.5, 2.0, "z"), rod(f"upper{i}", 0.5, 1.0, "z")
        model.add(lower, upper, fm.Universal(f"U{i}", model.ground.at(*foot, rotation=axes), lower.base, axes="xy"))
        strut = {"q0": length - 0.5, "rest": length - 0.5, "stiffness": 3000, "damping": 100}
        model.add(fm.Prismatic(f"P{i}", lower.base, upper.base, axis="z", **strut))
        model.add(fm.Spherical(f"S{i}", upper.tip, plate.at(*head)))
    model.add(fm.Load("push", plate.at(0.1, 0, 0), force=(30, 10, 0)))
    return model


def delta() -> fm.Model:
    """A robot whose plate is carried by three arms by pairs of rods without mass."""
    model = fm.Model("delta")
    plate = fm.Body("plate", mass=1, inertia=(0.01, 0.01, 0.02))
    model.add(plate, fm.Free("place", model.ground.at(), plate.at(), q0=(0, 0, -0.6, 1, 0, 0, 0)))
    for i in range(3):
        turn = fm.Rotation.about("z", 2 * np.pi * i / 3)
        arm = rod(f"arm{i}", 0.3, 0.5)
        hip = model.ground.at(*(turn @ (0.2, 0, 0)), rotation=turn)
        model.add(arm, fm.Revolute(f"M{i}", hip, arm.base, axis="y", q0=0.3, damping=0.05))
        for side, y in (("left", 0.04), ("right", -0.04)):
            model.add(fm.Distance(f"{side}{i}", arm.at(0.3, y, 0), plate.at(*(turn @ (0.05, y, 0))), length=0.6))
    return model


def wishbone() -> fm.Model:
    """A wheel's knuckle on two arms and a tie rod, with a spring and damper, pushed from the road."""
    model = fm.Model("wishbone")
    ground = model.ground
    lower = fm.Body("lower", mass=3, com=(0, 0.2, 0), inertia=(0.05, 0.03, 0.06))
    upper = fm.Body("upper", mass=2, com=(0, 0.15, 0), inertia=(0.03, 0.02, 0.04))
    knuckle = fm.Body("knuckle", mass=15, com=(0, 0.05, 0.12), inertia=(0.5, 0.4, 0.5))
    model.add(lower, upper, knuckle, fm.Revolute("L", ground.at(0, 0.3, 0), lower.at(), axis="x", damping=1))
    model.add(fm.Revolute("U", ground.at(0, 0.35, 0.25), upper.at(), axis="x", q0=0.05))
    model.add(fm.Spherical("BL", lower.at(0, 0.4, 0), knuckle.at()))
    model.add(fm.Spherical("BU", upper.at(0, 0.3, 0), knuckle.at(0, -0.04, 0.26)))
    model.add(fm.Distance("tie", ground.at(0.12, 0.32, 0.1), knuckle.at(0.12, -0.02, 0.1), length=0.36))
    coil = {"stiffness": 30_000, "damping": 2000, "free_length": 0.55}
    model.add(fm.Spring("coil", ground.at(0, 0.4, 0.5), lower.at(0, 0.3, 0), **coil))
    model.add(fm.Load("road", knuckle.at(0, 0.1, 0), force=(0, 0, 2000)))
    return model


LONG, SHORT, CRANK = 1.0, 0.45, 0.35


def peaucellier() -> fm.Model:
    """Two long bars on the ground, a rhombus of short ones, and a crank whose pivot is a crank's length away."""
    model = fm.Model("peaucellier")
    ground = model.ground
    P = CRANK * np.array([1 + np.cos(0.3), np.sin(0.3)])
    out = P / np.linalg.norm(P)
    Q = out * (LONG**2 - SHORT**2) / np.linalg.norm(P)
    middle, half = (P + Q) / 2, np.linalg.norm(Q - P) / 2
    side = np.sqrt(SHORT**2 - half**2) * np.array([-out[1], out[0]])
    crank = rod("crank", CRANK, 0.3)
    lies = angle(P - (CRANK, 0))
    model.add(crank, fm.Revolute("C", ground.at(CRANK, 0, 0), crank.base, axis="-y", q0=lies, u0=1.0))
    outer = []
    for name, corner in (("A", middle + side), ("B", middle - side)):
        long, near, far = rod(f"long{name}", LONG), rod(f"near{name}", SHORT, 0.4), rod(f"far{name}", SHORT, 0.4)
        model.add(long, near, far, fm.Revolute(f"O{name}", ground.at(), long.base, axis="-y", q0=angle(corner)))
        model.add(fm.Revolute(f"P{name}", crank.tip, near.base, axis="-y", q0=angle(corner - P) - lies))
        model.add(fm.Revolute(name, near.tip, long.tip, axis="-y"))
        turn = angle(Q - corner) - angle(corner)
        model.add(fm.Revolute(f"Q{name}", long.tip, far.base, axis="-y", q0=turn))
        outer.append(far)
    model.add(fm.Revolute("Q", outer[0].tip, outer[1].tip, axis="-y"))
    return model


SUN, PLANET, RING = 30, 20, 70  # teeth


def planetary() -> fm.Model:
    """Sun, three planets on a carrier, and a ring that stands still: seven meshes for five wheels."""
    model = fm.Model("planetary")
    sun = fm.Body.cylinder("sun", length=0.02, radius=0.03, mass=0.3, along="z")
    carrier = fm.Body.cylinder("carrier", length=0.01, radius=0.07, mass=0.5, along="z")
    S = fm.Revolute("S", model.ground.at(), sun.at(), axis="z", u0=10, held=True)
    C = fm.Revolute("C", model.ground.at(), carrier.at(), axis="z", damping=0.01)
    model.add(sun, carrier, S, C)
    for i in range(3):
        planet = fm.Body.cylinder(f"planet{i}", length=0.02, radius=0.02, mass=0.1, along="z")
        at = fm.Rotation.about("z", 2 * np.pi * i / 3) @ (0.05, 0, 0)
        P = fm.Revolute(f"P{i}", carrier.at(*at), planet.at(), axis="z")
        model.add(planet, P, fm.Coupling(f"ring{i}", [(P, PLANET), (C, RING)]))
        model.add(fm.Coupling(f"sun{i}", [(P, PLANET), (S, SUN), (C, -SUN)]))
    return model


STAGES = 3


def scissor_lift() -> fm.Model:
    """Crossed bars on a cart with a spring, a table on top; only the angles of the crossings are given."""
    model = fm.Model("scissor_lift")
    opened = 0.6
    foot = {"q0": float(np.cos(opened)), "rest": float(np.cos(opened)), "stiffness": 20_000, "damping": 50}
    cart = fm.Body.box("cart", size=(0.1, 0.1, 0.05), mass=2)
    model.add(cart, fm.Prismatic("foot", model.ground.at(), cart.at(), axis="x", **foot))
    left, right, lies = model.ground.at(), cart.at(), 0.0
    for i in range(STAGES):
        up, down = rod(f"up{i}", 1.0), rod(f"down{i}", 1.0)
        model.add(up, down, fm.Revolute(f"L{i}", left, up.base, axis="y", q0=-opened - lies))
        model.add(fm.Revolute(f"X{i}", up.at(0.5, 0, 0), down.at(0.5, 0, 0), axis="y", q0=np.pi + 2 * opened))
        model.add(fm.Revolute(f"R{i}", right, down.base, axis="y"))
        left, right, lies = down.tip, up.tip, np.pi + opened
    table = fm.Body.box("table", size=(1, 1, 0.05), mass=20)
    model.add(table, fm.Revolute("T", left, table.at(), axis="y", q0=-lies), fm.PointOnPlane("slot", table.at(), right))
    return model


MECHANISMS = {
    stewart: (6, 0),
    delta: (3, 0),
    wishbone: (1, 0),
    peaucellier: (1, 9),
    planetary: (1, 2),
    scissor_lift: (1, 9),
}


@pytest.mark.parametrize("build", MECHANISMS)
def test_mechanism_agrees_with_the_oracle(build) -> None:
    model = build()
    solver = started(model)
    assert (solver.mobility, solver.redundant_rows) == MECHANISMS[build]
    for time in (0.0, 0.3):
        solver.step(time)
        assert_agrees(solver, Closed(model, (), {}))
        assert_closed(solver, model)


def test_peaucelliers_linkage_draws_a_straight_line() -> None:
    """Its far corner moves across the line of the pivots, at (l² - s²) / 2 r."""
    solver = started(peaucellier())
    corners = []
    for time in np.arange(0.0, 1.5, 0.1):
        solver.step(time)
        corners.append(solver.get("farA.tip.r"))
    x, y, z = np.array(corners).T
    assert_allclose(x, (LONG**2 - SHORT**2) / (2 * CRANK), rtol=0, atol=10 * CLOSED)
    assert_allclose(y, 0, atol=CLOSED)
    assert np.ptp(z) > 0.3


def test_a_planetary_gear_obeys_willis_equation() -> None:
    solver = started(planetary())
    solver.step(1.0)
    sun, carrier, planet = (solver.get(f"{name}.qd") for name in ("S", "C", "P1"))
    assert sun > 0.1
    assert_allclose((sun - carrier) / carrier, RING / SUN, rtol=1e-10)
    assert_allclose(planet / carrier, -RING / PLANET, rtol=1e-10)


def test_a_scissor_lift_assembles_for_the_given_foot() -> None:
    """The guesses choose among the ways to put it together, so the joints that have some are not cut."""
    solver = started(scissor_lift())
    for time in np.arange(0.0, 0.5, 0.1):
        solver.step(time)
        opened = np.arccos(solver.get("foot.q"))
        assert_allclose(solver.get("table.r"), (0, 0, STAGES * np.sin(opened)), rtol=0, atol=10 * CLOSED)
    assert abs(opened - 0.6) > 0.01


def truss() -> fm.Model:
    model = fm.Model("truss")
    a, b = rod("a", 1.0), rod("b", 1.0)
    model.add(a, b, fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=-1))
    model.add(fm.Revolute("B", model.ground.at(1, 0, 0), b.base, axis="y", q0=-2))
    model.add(fm.Revolute("C", a.tip, b.tip, axis="y"))
    return model


def test_a_locked_mechanism_is_reported(tmp_path: Path) -> None:
    """It runs all the same: its reactions are what one may want of it."""
    assert len([each for each in check_model(truss())["warnings"] if "locked" in each]) == 1
    slave = Slave(unpacked_fmu(tmp_path / "truss", truss()))
    slave.initialize()
    assert slave.call("fmi2ExitInitializationMode") == OK
    assert slave.callbacks.messages[-1][0] == WARNING
    assert "locked" in slave.say
    assert slave.step(0.0, 0.1) == OK
    slave.free()
    solver = started(truss())
    assert solver.mobility == 0
    assert_allclose(solver.get("A.q"), -np.pi / 3, rtol=1e-12)
    assert_agrees(solver, Closed(truss(), (), {}))


def ball(at: float) -> fm.Model:
    """A free ball at a distance of 2 m from the origin."""
    model = fm.Model("ball")
    body = fm.Body.sphere("ball", radius=0.1, mass=1)
    model.add(body, fm.Free("free", model.ground.at(), body.at(), q0=(at, 0, 0, 1, 0, 0, 0)))
    model.add(fm.Distance("string", model.ground.at(), body.at(), length=2.0))
    return model


@pytest.mark.parametrize("at", [0.0, 1e-9, -0.3, 7.0])
def test_a_distance_closes_from_any_guess(at: float) -> None:
    solver = started(ball(at))
    assert_allclose(np.linalg.norm(solver.get("ball.r")), 2.0, rtol=1e-12)
    assert solver.get("ball.r")[0] * (at or 1.0) > 0


def test_the_message_about_an_impossible_distance_has_the_gap() -> None:
    model = fm.Model("rod")
    body = rod("rod", 1.0)
    model.add(body, fm.Spherical("A", model.ground.at(), body.base))
    model.add(fm.Distance("D", model.ground.at(3, 0, 0), body.tip, length=1.5))
    with pytest.raises(fm.AssemblyError, match=r"nearest gap 0\.5 m at 'D'"):
        started(model)
