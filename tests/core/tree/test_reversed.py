"""Joints that point towards the ground: the same motions and forces as their twins that point outwards.

The random trees of both are in test_joint_library.py.
"""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm

MOTION = 1e-9  # of motions at the tolerance 1e-11
EXACT = 1e-12
Q0 = np.array((0.8, 0.36, -0.48, 0.0))
U0 = np.array((0.7, -1.1, 2.0))


def conjugate(q: Any) -> np.ndarray:
    return np.array((1, -1, -1, -1)) * q


def pair(joint: Any, backwards: bool, **options: Any) -> fm.Solver:
    """A body on a turning arm, and another one on that by the joint, whose F is on the arm or on the body."""
    model = fm.Model("pair")
    arm = fm.Body("arm", mass=1.2, com=(0.3, 0.1, 0.0), inertia=(0.1, 0.2, 0.25))
    body = fm.Body("body", mass=0.9, com=(0.1, -0.2, 0.3), inertia=(0.1, 0.15, 0.2))
    inner = arm.at(0.5, 0.1, 0.2, rotation=fm.Rotation.rpy(0.3, -0.4, 1.0))
    outer = body.at(0.1, 0.2, -0.1, rotation=fm.Rotation.rpy(-0.2, 0.9, 0.1))
    F, M = (outer, inner) if backwards else (inner, outer)
    model.add(arm, body, fm.Revolute("A", model.ground.at(), arm.at(), axis="y", u0=1.5))
    model.add(joint("J", F, M, **options))
    solver = fm.Solver(fm.compile(model).with_options(tolerance=1e-11))
    solver.assemble()
    return solver


def turned(q: Any, u: Any) -> np.ndarray:
    """Angular velocity of F against M in F's axes, from that of M against F in M's."""
    return -(fm.Rotation.quaternion(*q) @ np.asarray(u, float))


def twins(name: str) -> tuple[fm.Solver, fm.Solver]:
    """The same mechanism with the joint outwards and backwards."""
    R = fm.Rotation.quaternion(*Q0)
    if name == "Spherical":
        laws = {"stiffness": 5.0, "damping": 0.4}
        starts = {"q0": Q0, "u0": U0}, {"q0": conjugate(Q0), "u0": turned(Q0, U0)}
        return tuple(pair(fm.Spherical, k == 1, **starts[k], **laws) for k in (0, 1))
    if name == "Free":
        p, v = np.array((0.3, -0.1, 0.2)), np.array((0.5, 0.2, -0.4))
        back = R.inverse()
        spin = R @ U0  # in F's axes
        there = {"q0": (*p, *Q0), "u0": (*v, *U0)}
        here = {"q0": (*-(back @ p), *conjugate(Q0)), "u0": (*-(back @ (v - np.cross(spin, p))), *turned(Q0, U0))}
        return pair(fm.Free, False, **there), pair(fm.Free, True, **here)
    make = {"Revolute": fm.Revolute, "Prismatic": fm.Prismatic, "Screw": fm.Screw}[name]
    options: dict[str, Any] = {"axis": (1, 2, -1), "stiffness": 3.0, "damping": 0.2, "rest": 0.1, "rotor_inertia": 0.3}
    options |= {"pitch": 0.2} if name == "Screw" else {}
    start = {"q0": 0.4, "u0": -0.8}
    reverse = {"q0": -0.4, "u0": 0.8, "rest": -0.1}
    return pair(make, False, **options, **start), pair(make, True, **options | reverse)


@pytest.mark.parametrize("name", ["Revolute", "Prismatic", "Screw", "Spherical", "Free"])
def test_a_joint_moves_in_the_same_way_in_either_direction(name: str) -> None:
    there, back = twins(name)
    for t in (0.0, 0.4, 1.3):
        for solver in (there, back):
            solver.step(t)
        for what in ("body.r", "body.v", "body.a", "body.w", "body.alpha", "A.qdd", "A.reaction.f", "A.wrench.t"):
            assert_allclose(back.get(what), there.get(what), rtol=0, atol=1e2 * MOTION, err_msg=what)
        same = back.get("body.quat") * np.sign(back.get("body.quat") @ there.get("body.quat"))
        assert_allclose(same, there.get("body.quat"), rtol=0, atol=MOTION)
        assert_allclose(back.get("solver.energy"), there.get("solver.energy"), rtol=0, atol=1e2 * MOTION)
        if name in ("Spherical", "Free"):
            assert_allclose(conjugate(back.get("J.q")), there.get("J.q"), rtol=0, atol=MOTION)
            assert_allclose(back.get("J.w"), turned(there.get("J.q"), there.get("J.w")), rtol=0, atol=10 * MOTION)
        else:
            assert_allclose([back.get("J.q"), back.get("J.qd")], [-there.get("J.q"), -there.get("J.qd")], atol=MOTION)


@pytest.mark.parametrize("name", ["Revolute", "Spherical", "Free"])
def test_rates_and_derivatives_follow_from_the_motion(name: str) -> None:
    _, solver = twins(name)
    solver.step(0.3)
    outputs = ["J.q", "body.quat", "J.w" if name != "Revolute" else "J.qd"]
    h = 1e-5
    rates = [solver.output_derivative(n) for n in outputs]
    before = [solver.get(n) for n in outputs]
    solver.step(0.3 + h)
    for name_, low, rate in zip(outputs, before, rates, strict=True):
        assert_allclose((solver.get(name_) - low) / h, rate, rtol=0, atol=2e-3, err_msg=name_)
    torque = "J.tau[1]" if name != "Revolute" else "J.tau"
    known = ["J.alpha" if name != "Revolute" else "J.qdd", "body.a", "J.wrench.t", "A.qdd"]
    exact = solver.directional_derivative(known, [torque], [1.0])
    low = np.concatenate([np.ravel(solver.get(n)) for n in known])
    solver.set(torque, 1.0)
    high = np.concatenate([np.ravel(solver.get(n)) for n in known])
    assert_allclose(exact, high - low, rtol=0, atol=1e-11)


def test_a_reversed_ball_in_a_loop() -> None:
    """The spatial slider-crank by a ball at either end of its rod, which is written from the ground or towards it."""

    def build(backwards: bool) -> fm.Solver:
        model = fm.Model("loop")
        crank = fm.Body("crank", mass=0.3, com=(0, 0, 0.05), inertia=(1e-3, 1e-3, 1e-3))
        rod = fm.Body("rod", mass=0.5, com=(0.15, 0, 0), inertia=(4e-4, 4e-3, 4e-3))
        model.add(crank, rod, fm.Revolute("A", model.ground.at(0, 0, 0), crank.at(), axis="x", u0=3.0, held=True))
        ends = (crank.at(0, 0, 0.1), rod.at())
        model.add(fm.Spherical("B", *(ends[::-1] if backwards else ends)))
        model.add(fm.PointOnLine("C", model.ground.at(), rod.at(0.3, 0, 0), axis="x"))
        solver = fm.Solver(fm.compile(model).with_options(tolerance=1e-11))
        solver.assemble()
        return solver

    there, back = build(False), build(True)
    for t in (0.0, 0.5, 2.0):
        for solver in (there, back):
            solver.step(t)
        for what in ("rod.r", "rod.v", "rod.a", "A.q", "A.reaction.f", "C.reaction.f"):
            assert_allclose(back.get(what), there.get(what), rtol=0, atol=1e3 * MOTION, err_msg=what)
        speeds = np.array([back.get("A.qd"), *back.get("B.w")])
        assert np.abs(speeds).max() > 1.0
        assert_allclose(back.jacobian @ speeds, 0.0, atol=1e-10)
        assert_allclose(back.get("B.wrench.f"), -turned_force(there), rtol=0, atol=1e3 * MOTION)


def turned_force(solver: fm.Solver) -> np.ndarray:
    """What the crank puts on the rod at B, in the rod's axes."""
    world = fm.Rotation.quaternion(*solver.get("crank.quat")) @ solver.get("B.wrench.f")
    return fm.Rotation.quaternion(*solver.get("rod.quat")).inverse() @ world


def test_a_brake_and_a_drive_on_a_reversed_joint() -> None:
    """Held by its brake, then driven along a path: the wrench is what F's body puts on M's, the ground."""
    model = fm.Model("back", gravity=(0, 0, 0))
    body = fm.Body("body", mass=2.0, inertia=(0.1, 0.1, 0.1))
    J = fm.Prismatic("J", body.at(), model.ground.at(), axis="x")
    model.add(body, J, fm.Law.brake("brake", J, 3.0))
    solver = fm.Solver(model)
    solver.assemble()
    solver.set("J.f", 2.0)
    assert_allclose(solver.get("J.qdd"), 0.0, atol=EXACT)
    solver.set("J.f", 5.0)
    assert_allclose(solver.get("J.qdd"), 1.0, rtol=EXACT)
    assert_allclose(solver.get("body.a"), [-1.0, 0.0, 0.0], atol=EXACT)
    assert_allclose(solver.get("J.wrench.f"), [2.0, 0.0, 0.0], atol=EXACT)
    driven = fm.Model("driven", gravity=(0, 0, 0))
    lift = fm.Slide("x", role="excited", path=fm.Path.polynomial(0.0, 0.0, 0.5))
    driven.add(body, fm.Joint("J", body.at(), driven.ground.at(), modes=(lift,)))
    solver = fm.Solver(driven)
    solver.assemble()
    assert_allclose(solver.get("body.a"), [-1.0, 0.0, 0.0], atol=EXACT)
    assert_allclose(solver.get("J.drive"), 2.0, rtol=EXACT)


@pytest.mark.parametrize("joint", [fm.Prismatic, fm.Screw])
def test_a_damper_between_points_on_a_reversed_slide(joint: Any) -> None:
    """Axes agree, so that the coordinate of a slide or a screw only changes its sign."""
    motions = []
    for backwards in (False, True):
        model = fm.Model("slides")
        arm = fm.Body("arm", mass=1.2, com=(0.3, 0.1, 0.0), inertia=(0.1, 0.2, 0.25))
        body = fm.Body("body", mass=0.9, com=(0.1, -0.2, 0.3), inertia=(0.1, 0.15, 0.2))
        inner, outer = arm.at(0.5, 0.1, 0.2), body.at(0.1, 0.2, -0.1)
        F, M, sign = (outer, inner, -1.0) if backwards else (inner, outer, 1.0)
        options = {"pitch": 0.3} if joint is fm.Screw else {}
        model.add(arm, body, fm.Revolute("A", model.ground.at(), arm.at(), axis="y", u0=1.5))
        model.add(joint("J", F, M, axis="x", q0=0.2 * sign, u0=0.7 * sign, **options))
        model.add(fm.Spring("d", body.at(0.2, 0.3, 0.0), model.ground.at(1.0, -1.0, 0.5), stiffness=3.0, damping=6.0))
        solver = fm.Solver(fm.compile(model, everything=True).with_options(tolerance=1e-11))
        solver.assemble()
        start = np.concatenate([solver.get("body.v"), solver.get("body.a"), solver.get("body.alpha")])
        solver.step(0.4)
        motions.append((start, np.concatenate([solver.get("body.r"), solver.get("body.v"), solver.get("body.w")])))
    assert_allclose(motions[0][0], motions[1][0], rtol=0, atol=1e-11)
    assert_allclose(motions[0][1], motions[1][1], rtol=0, atol=MOTION)
