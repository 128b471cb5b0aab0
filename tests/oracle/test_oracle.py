"""The oracle on mechanisms whose equations of motion stand in textbooks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from oracle import Oracle, State
from oracle.joints import Frame, constraint

ROUND_OFF = 1e-12
"""Relative. The dense system has a condition of some hundreds, its entries carry a few units of rounding."""

G = 9.81


def test_pendulum_with_products_of_inertia() -> None:
    """Swings as if its products were zero, and its hinge carries what they throw sideways."""
    m, d, q, u, tau = 1.7, 0.6, 0.8, -1.9, 0.35
    xx, yy, zz, xy, xz, yz = 0.31, 0.36, 0.29, 0.02, -0.03, 0.05
    model = fm.Model("pendulum", gravity=(0, 0, -G))
    body = fm.Body("b", mass=m, com=(0, 0, -d), inertia=(xx, yy, zz, xy, xz, yz))
    model.add(body, fm.Revolute("A", model.ground.at(1, 2, 3), body.at(), axis="y", q0=q, u0=u))
    oracle = Oracle(model)
    answer = oracle.solve(oracle.state(), {"A.tau": tau})

    qdd = (tau - m * G * d * np.sin(q)) / (yy + m * d**2)
    s, c = np.sin(q), np.cos(q)
    R = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    arm = R @ [0, 0, -d]
    force = m * (qdd * np.cross([0, 1, 0], arm) - u**2 * arm + [0, 0, G])
    spin_up = R @ [xy * qdd + u**2 * yz, yy * qdd, yz * qdd - u**2 * xy]
    torque = spin_up + np.cross(arm, force)
    assert_allclose(answer["A.qdd"], qdd, rtol=ROUND_OFF)
    assert_allclose(answer["A.reaction.f"], force, rtol=ROUND_OFF, atol=ROUND_OFF)
    assert_allclose(answer["A.wrench.t"], torque, rtol=ROUND_OFF, atol=ROUND_OFF)
    assert_allclose(answer["A.reaction.t"], torque - [0, tau, 0], rtol=ROUND_OFF, atol=ROUND_OFF)
    energy = 0.5 * (yy + m * d**2) * u**2 + m * G * (3 - d * np.cos(q))
    assert_allclose(oracle.energy(oracle.state()), energy, rtol=ROUND_OFF)


def test_double_pendulum_of_point_masses() -> None:
    m1, m2, l1, l2 = 1.3, 0.7, 0.9, 0.5
    t1, t2, w1, w2 = 0.6, -1.1, 1.5, -2.5  # from the vertical
    model = fm.Model("double_pendulum", gravity=(0, -G, 0))
    a = fm.Body("a", mass=m1, com=(0, -l1, 0))
    b = fm.Body("b", mass=m2, com=(0, -l2, 0))
    A = fm.Revolute("A", model.ground.at(), a.at(), axis="z", q0=t1, u0=w1)
    B = fm.Revolute("B", a.at(0, -l1, 0), b.at(), axis="z", q0=t2 - t1, u0=w2 - w1)
    model.add(a, b, A, B)
    oracle = Oracle(model)
    answer = oracle.solve(oracle.state())

    c, s = np.cos(t1 - t2), np.sin(t1 - t2)
    mass = np.array([[(m1 + m2) * l1, m2 * l2 * c], [m2 * l1 * c, m2 * l2]])
    right = [
        -m2 * l2 * w2**2 * s - (m1 + m2) * G * np.sin(t1),
        m2 * l1 * w1**2 * s - m2 * G * np.sin(t2),
    ]
    d1, d2 = np.linalg.solve(mass, right)
    assert_allclose([answer["A.qdd"], answer["B.qdd"]], [d1, d2 - d1], rtol=ROUND_OFF)


def test_two_masses_on_a_spring_in_free_flight() -> None:
    """They swing with the reduced mass about a centre that falls; the damper does the same to both."""
    m1, m2, k, d, rest, x, u = 2.0, 0.5, 30.0, 0.4, 0.3, 0.55, -0.8
    model = fm.Model("dumbbell", gravity=(0, 0, -G))
    a = fm.Body("a", mass=m1, inertia=(1, 1, 1))
    b = fm.Body("b", mass=m2, inertia=(1, 1, 1))
    free = fm.Free("F", model.ground.at(), a.at(), q0=(1, 2, 3, 1, 0, 0, 0), u0=(0.3, 0.2, 0.1, 0, 0, 0))
    slide = fm.Prismatic("P", a.at(), b.at(), axis=(2, 1, 2), q0=x, u0=u, stiffness=k, damping=d, rest=rest)
    model.add(a, b, free, slide)
    oracle = Oracle(model)
    answer = oracle.solve(oracle.state())
    pull = k * (x - rest) + d * u
    axis = np.array([2, 1, 2]) / 3
    assert_allclose(answer["P.qdd"], -pull * (1 / m1 + 1 / m2), rtol=ROUND_OFF)
    assert_allclose(answer["P.wrench.f"], -pull * axis, rtol=ROUND_OFF)
    assert_allclose(answer["P.reaction.f"], 0, atol=ROUND_OFF)
    assert_allclose(m1 * answer["a.a"] + m2 * answer["b.a"], [0, 0, -(m1 + m2) * G], atol=1e2 * ROUND_OFF)


def test_line_spring_and_load_on_a_free_body() -> None:
    model = fm.Model("tethered", gravity=(0, 0, 0))
    body = fm.Body("b", mass=2.0, inertia=(0.1, 0.2, 0.3))
    joint = fm.Free("F", model.ground.at(), body.at(), q0=(0, 0, 0, 1, 0, 0, 0), u0=(0, 0.5, 0, 0, 0, 0))
    spring = fm.Spring("S", model.ground.at(0, 3, 0), body.at(1, 0, 0), stiffness=7, damping=2, free_length=1)
    load = fm.Load("L", body.at(0, 0, 1), force=(1, 0, 0), torque=(0, 0, 0.5))
    model.add(body, joint, spring, load)
    oracle = Oracle(model)
    answer = oracle.solve(oracle.state())
    length = np.sqrt(10)
    pull = 7 * (length - 1) + 2 * (-3 * 0.5 / length)
    force = pull * np.array([-1, 3, 0]) / length
    assert_allclose(answer["S.length"], length, rtol=ROUND_OFF)
    assert_allclose(answer["S.f"], pull, rtol=ROUND_OFF)
    assert_allclose(answer["b.a"], (force + np.array([1, 0, 0])) / 2, rtol=ROUND_OFF)
    torque = np.cross([1, 0, 0], force) + np.cross([0, 0, 1], [1, 0, 0]) + [0, 0, 0.5]
    assert_allclose(answer["F.alpha"], torque / [0.1, 0.2, 0.3], rtol=ROUND_OFF, atol=ROUND_OFF)


def test_heavy_top_in_steady_precession() -> None:
    """m g d = W (C n - A W cos): the spin vector itself precesses at W about the vertical."""
    m, d, A, C, tilt, W = 0.8, 0.25, 0.09, 0.02, 0.7, 1.4  # A about the tip
    n = (m * G * d / W + A * W * np.cos(tilt)) / C
    model = fm.Model("top", gravity=(0, 0, -G))
    body = fm.Body("top", mass=m, com=(0, 0, d), inertia=(A - m * d**2, A - m * d**2, C))
    q0 = (np.cos(tilt / 2), np.sin(tilt / 2), 0, 0)
    spin = np.array([0, W * np.sin(tilt), n])
    model.add(body, fm.Spherical("S", model.ground.at(), body.at(), q0=q0, u0=spin))
    oracle = Oracle(model)
    state = oracle.state()
    answer = oracle.solve(state)
    precession, axis = np.array([0, 0, W]), np.array([0, -np.sin(tilt), np.cos(tilt)])
    assert_allclose(answer["top.alpha"], np.cross(precession, state.w["top"]), rtol=ROUND_OFF, atol=1e-11)
    centripetal = np.cross(precession, np.cross(precession, d * axis))
    assert_allclose(answer["S.reaction.f"], m * (centripetal + np.array([0, 0, G])), atol=1e-11)
    assert_allclose(answer["S.reaction.t"], 0, atol=1e-11)


def test_geared_rotor_resists_its_joint() -> None:
    """A slider with a rotor accelerates as if it had the rotor's mass too, but weighs without it."""
    model = fm.Model("lift", gravity=(0, 0, -G))
    body = fm.Body("b", mass=3.0, inertia=(1, 1, 1))
    model.add(body, fm.Prismatic("P", model.ground.at(), body.at(), axis="z", rotor_inertia=2.0))
    oracle = Oracle(model)
    answer = oracle.solve(oracle.state(), {"P.f": 40.0})
    qdd = (40 - 3 * G) / 5
    assert_allclose(answer["P.qdd"], qdd, rtol=ROUND_OFF)
    assert_allclose(answer["P.wrench.f"], [0, 0, 40 - 2 * qdd], rtol=ROUND_OFF)


def test_door_on_two_hinges_has_the_smallest_reactions() -> None:
    """Ten rows, five of them redundant: the couple is shared between forces and torques by h and L."""
    m, h, d, L = 20.0, 0.8, 0.4, 0.5
    model = fm.Model("door", gravity=(0, 0, -G))
    door = fm.Body("door", mass=m, com=(d, 0, 0), inertia=(1, 2, 1.5))
    for name, z in (("upper", h), ("lower", -h)):
        model.add(fm.Revolute(name, model.ground.at(0, 0, z), door.at(0, 0, z), axis="z"))
    model.add(door)
    oracle = Oracle(model, length=L)
    answer = oracle.solve(oracle.state(), {"upper.tau": 0.7})
    assert_allclose(answer["upper.qdd"], 0.7 / (1.5 + m * d**2), rtol=ROUND_OFF)
    share = m * G * d / (2 * (h**2 + L**2))
    for name, sign in (("upper", -1), ("lower", 1)):
        assert_allclose(answer[f"{name}.reaction.f"][[0, 2]], [sign * h * share, m * G / 2], rtol=1e-11)
        assert_allclose(answer[f"{name}.reaction.t"], [0, -(L**2) * share, 0], rtol=1e-11, atol=1e-10)


def test_parallelogram_closes_with_redundant_hinges() -> None:
    """Two equal cranks and a coupler that only shifts: (2 I + m l^2) q'' = -(m1 + m) g l sin q."""
    m1, m, length, q = 0.7, 1.9, 0.5, 0.6
    model = fm.Model("parallelogram", gravity=(0, 0, -G))
    cranks = [fm.Body.rod(f"crank{k}", length=length, mass=m1, along="-z") for k in (1, 2)]
    coupler = fm.Body("coupler", mass=m, com=(0.4, 0, 0.1), inertia=(0.1, 0.2, 0.2))
    for k, (crank, x) in enumerate(zip(cranks, (0.0, 1.0), strict=True), start=1):
        model.add(crank, fm.Revolute(f"A{k}", model.ground.at(x), crank.base, axis="y", q0=q))
        model.add(fm.Revolute(f"B{k}", crank.tip, coupler.at(x), axis="y", q0=-q))
    model.add(coupler)
    oracle = Oracle(model)
    state = oracle.state()
    assert oracle.violation(state) < ROUND_OFF
    answer = oracle.solve(state)
    inertia = 2 * m1 * length**2 / 3 + m * length**2
    assert_allclose(answer["A1.qdd"], -(m1 + m) * G * length * np.sin(q) / inertia, rtol=1e-11)
    assert_allclose(answer["coupler.alpha"], 0, atol=1e-10)


def test_a_state_may_be_given_as_poses() -> None:
    """For loops: the frames and velocities of the bodies, instead of joint coordinates."""
    model = fm.Model("pendulum", gravity=(0, 0, -G))
    rod = fm.Body.rod("rod", length=1.0, mass=1.0)
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y", q0=0.3, u0=2.0))
    oracle = Oracle(model)
    made = oracle.state()
    R = fm.Rotation.about("y", 0.3).matrix
    given = State({"rod": Frame(np.zeros(3), R)}, {"rod": np.zeros(3)}, {"rod": np.array([0, 2.0, 0])})
    assert_allclose(oracle.solve(given)["A.qdd"], oracle.solve(made)["A.qdd"], rtol=ROUND_OFF)


def test_unknown_joints_are_refused() -> None:
    class Rack:
        pass

    model = fm.Model("pendulum")
    rod = fm.Body.rod("rod", length=1.0, mass=1.0)
    joint = fm.Revolute("A", model.ground.at(), rod.base)
    model.add(rod, joint)
    oracle = Oracle(model)
    frame = oracle.frame(oracle.state(), joint.F)
    with pytest.raises(NotImplementedError, match="Rack"):
        constraint(Rack(), frame, frame, 1.0)
