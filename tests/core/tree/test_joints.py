"""Screws, rolling and skates against closed forms; the random trees are in test_joint_library.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.run import Solver
from support.joint_models import (
    ROUND_OFF,
    STEPS,
    G,
    on_ground,
    rolling,
    started,
)
from support.nonholonomic import nonholonomic
from support.strategies import Case, numbers
from support.sweeps import examples
from support.tree_agreement import assert_agrees

# Screws ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pitch", [0.1, -0.7])
def test_a_screw_falls_along_its_thread(pitch: float) -> None:
    """(I + m h^2) q'' = tau - m g h, and the thread pushes sideways what it does not let through."""
    m, inertia, tau, t = 2.0, 0.5, 0.3, 0.8
    model = on_ground(lambda F, M: fm.Screw("S", F, M, pitch=pitch, q0=0.2, u0=-0.5))
    solver = started(model, {"S.tau": tau})
    a = (tau - m * G * pitch) / (inertia + m * pitch**2)
    solver.step(t)
    assert_allclose(solver.get("S.qdd"), a, rtol=ROUND_OFF)
    assert_allclose(solver.get("S.q"), 0.2 - 0.5 * t + a * t**2 / 2, rtol=STEPS)
    assert_allclose(solver.get("b.r"), [0, 0, pitch * solver.get("S.q")], atol=1e-14)
    force = m * (a * pitch + G)
    assert_allclose(solver.get("S.wrench.f"), [0, 0, force], rtol=ROUND_OFF)
    assert_allclose(solver.get("S.wrench.t"), [0, 0, inertia * a], atol=1e-12)
    assert_allclose(solver.get("S.reaction.t"), [0, 0, inertia * a - tau], atol=1e-12)
    assert_allclose(solver.get("S.reaction.f"), [0, 0, force], rtol=ROUND_OFF)


def test_turn_and_slide_of_a_cylindrical_joint_are_independent() -> None:
    laws = {"stiffness": (1.5, 40.0), "damping": (0.0, 3.0), "rest": (0.1, -0.2)}
    model = on_ground(lambda F, M: fm.Cylindrical("C", F, M, q0=(0.5, 0.1), u0=(2, 0), **laws))
    solver = started(model, {"C.tau": (0.2, 0.7)})
    q, qd = solver.get("C.q"), solver.get("C.qd")
    expected = [(0.2 - 1.5 * (q[0] - 0.1)) / 0.5, (0.7 - 40 * (q[1] + 0.2) - 3 * qd[1]) / 2.0 - G]
    assert_allclose(solver.get("C.qdd"), expected, rtol=ROUND_OFF)
    solver.step(1.0)
    w = np.sqrt(1.5 / 0.5)
    middle = 0.1 + 0.2 / 1.5
    assert_allclose(solver.get("C.q")[0], middle + (0.5 - middle) * np.cos(w) + 2 / w * np.sin(w), rtol=STEPS)
    assert_allclose(solver.get("C.reaction.f"), 0, atol=1e-12)
    assert_allclose(solver.get("C.reaction.t"), 0, atol=1e-12)


def test_units_and_names_of_several_modes() -> None:
    image = compile(on_ground(lambda F, M: fm.Cylindrical("C", F, M)))
    units = {v.name: v.unit for v in image.variables}
    assert [units[f"C.{n}[{i}]"] for n in ("q", "qd", "tau") for i in (1, 2)] == [
        "rad", "m", "rad/s", "m/s", "N.m", "N",
    ]  # fmt: skip
    assert "C.f[1]" not in units
    assert [units[f"C.stiffness[{i}]"] for i in (1, 2)] == ["N.m/rad", "N/m"]


def test_a_free_mode_without_inertia_is_refused() -> None:
    model = on_ground(lambda F, M: fm.Cylindrical("C", F, M), inertia=(0, 0, 0))
    with pytest.raises(fm.FmumbsError, match=r"joint 'C', mode 1: this free mode has no inertia"):
        started(model)


# Rows of velocities ---------------------------------------------------------------------------------------------


def test_a_skate_on_a_slope_draws_a_cycloid() -> None:
    w, slope = 2.0, 0.3
    model = on_ground(lambda F, M: fm.Skate("K", F, M, u0=(0, w)), (G * np.sin(slope), 0, -G * np.cos(slope)))
    solver = started(model)
    energy = solver.get("solver.energy")
    k = G * np.sin(slope) / (2 * w**2)
    signs = np.sign(solver.get("b.quat")[0])
    for t in (0.3, 1.0, 2.5):
        solver.step(t)
        angle = w * t
        expected = [k * np.sin(angle) ** 2, k * (angle - np.sin(2 * angle) / 2), angle]
        assert_allclose(solver.get("K.q"), expected, rtol=STEPS, atol=STEPS)
        assert_allclose(solver.output_derivative("K.q"), [*solver.get("b.v")[:2], w], rtol=0, atol=1e-13)
        quaternion = solver.get("b.quat")  # of either sign, but always of the same
        assert_allclose(quaternion * signs, [np.cos(angle / 2), 0, 0, np.sin(angle / 2)], atol=STEPS)
    assert_allclose(solver.get("solver.energy"), energy, atol=1e-7)


def test_chaplygins_sleigh_swings_into_its_straight_run() -> None:
    """v = V tanh x, w = V sech x / a with x = x0 + d V t / a^2, a^2 = (I + m d^2) / m; v may start backwards."""
    m, inertia, d, v, w = 2.0, 0.5, 0.4, -1.5, 1.2
    model = on_ground(lambda F, M: fm.Skate("K", F, M, u0=(v, w)), com=(d, 0, 0), inertia=(0.3, 0.4, inertia))
    solver = started(model)
    a = np.sqrt((inertia + m * d**2) / m)
    V = np.hypot(v, a * w)
    for t in (0.5, 1.0, 3.0):
        solver.step(t)
        x = np.arctanh(v / V) + d * V * t / a**2
        assert_allclose(solver.get("K.u"), [V * np.tanh(x), V / a / np.cosh(x)], rtol=0, atol=STEPS)


def test_a_disc_rolls_steadily_on_a_circle() -> None:
    """It leans by a, its heading turns at W, its spin along the axle is s: all of them stay.

    Euler about the centre, A about a diameter, C about the axle, in the direction of motion:
    W cos a (A W sin a - C s) = m R (s R W cos a + g sin a).
    """
    m, R, a, W = 1.7, 0.5, 0.3, -0.9
    A, C = m * R**2 / 4, m * R**2 / 2
    s = (A * W**2 * np.sin(a) * np.cos(a) - m * G * R * np.sin(a)) / ((C + m * R**2) * W * np.cos(a))
    model = rolling(R, (0, 0, 0, a, 0), (0, s, W * np.cos(a)), mass=m, inertia=(A, C, A))
    solver = started(model)
    energy = solver.get("solver.energy")
    for t in (0.5, 2.0, 7.0):
        solver.step(t)
        assert_allclose(solver.get("W.u"), [0, s, W * np.cos(a)], atol=1e-7)
        assert_allclose(solver.get("W.q")[2:4], [W * t, a], atol=1e-6)
    assert_allclose(solver.get("solver.energy"), energy, rtol=1e-8)


def test_a_wobbling_disc_keeps_its_energy_and_does_not_slip() -> None:
    model = rolling(0.5, (0, 0, 0, 0.3, 0), (0.4, 6.0, -0.9), mass=1.7, inertia=(0.11, 0.2, 0.11))
    solver = started(model)
    energy = solver.get("solver.energy")
    for t in np.linspace(0.1, 2.0, 20):
        solver.step(t)
        lean = fm.Rotation.about("z", solver.get("W.q")[2]) @ fm.Rotation.about("x", solver.get("W.q")[3])
        slip = solver.get("b.v") - np.cross(solver.get("b.w"), 0.5 * lean.matrix[:, 2])
        assert_allclose(slip, 0, atol=1e-12)
        power = solver.get("W.reaction.f") @ solver.get("b.v") + solver.get("W.reaction.t") @ solver.get("b.w")
        assert_allclose(power, 0, atol=1e-9)
    assert_allclose(solver.get("solver.energy"), energy, rtol=1e-8)


def test_a_ball_rolls_down_a_slope() -> None:
    """Five sevenths of what it would slide with; three turns and two rows in the axes of the slope."""
    R, m, slope, t = 0.3, 2.0, 0.4, 0.7
    inertia = (0.4 * m * R**2,) * 3
    modes = (
        fm.Slide("x"),
        fm.Slide("y"),
        fm.Slide("z", role="locked", value=R),
        fm.Turn("x"),
        fm.Turn("y"),
        fm.Turn("z"),
    )
    model = on_ground(
        lambda F, M: fm.Joint(
            "B", F, M, modes=modes, rows_after=0, q0=(0, 0, 0.1, 0.2, 0.3), u0=(0, 0, 0),
            velocity_rows=((0, -R, 0, 1, 0, 0), (R, 0, 0, 0, 1, 0)), speed_rows=np.eye(3, 6),
        ),
        (G * np.sin(slope), 0, -G * np.cos(slope)), mass=m, inertia=inertia,
    )  # fmt: skip
    solver = started(model)
    solver.step(t)
    a = 5 / 7 * G * np.sin(slope)
    assert_allclose(solver.get("b.r"), [a * t**2 / 2, 0, R], atol=STEPS)
    assert_allclose(solver.get("b.w"), [0, a * t / R, 0], atol=STEPS)
    assert_allclose(solver.get("B.reaction.f"), [-2 / 7 * m * G * np.sin(slope), 0, m * G * np.cos(slope)], atol=1e-7)


@examples(10, 30, nonholonomic(), numbers(-3, 3))
def test_random_rows_of_velocities(model: fm.Model, kappa_dot: float) -> None:
    joint = model["J"]
    excited = len(joint.excited_modes)
    inputs: dict[str, Any] = {"J.tau": [0.7] * joint.velocities if joint.velocities > 1 else 0.7}
    if excited:
        inputs["J.kappa_dot"] = [kappa_dot] * excited if excited > 1 else kappa_dot
    solver = Solver(compile(model))
    for name, value in inputs.items():
        solver.set(name, value)
    solver.assemble()
    case = Case(model, inputs)
    assert_agrees(solver, case)
    solver.step(0.01)
    assert_agrees(solver, case)


def test_two_skates_make_a_loop() -> None:
    """A bar on two skates with equal headings at right angles to it rolls on as one: the loop's rows pass both."""
    model = fm.Model("sledge")
    bar = fm.Body("bar", mass=2.0, inertia=(0.1, 0.1, 0.2))
    shoe = fm.Body("shoe", mass=0.1, inertia=(0.01, 0.01, 0.01))
    model.add(bar, shoe, fm.Skate("K", model.ground.at(), bar.at(), u0=(1.0, 0.5)))
    model.add(fm.Skate("L", model.ground.at(), shoe.at(), q0=(-0.0, 0.5, 0.0), u0=(0.75, 0.5)))
    model.add(fm.Weld("W", bar.at(0, 0.5, 0), shoe.at()))
    solver = started(model)
    solver.step(1.0)
    assert_allclose(solver.get("K.u"), [1.0, 0.5], atol=1e-8)
    assert_allclose(solver.get("L.q")[2], 0.5, atol=1e-8)
    assert_allclose(
        solver.get("shoe.r"), solver.get("bar.r") + 0.5 * np.array([-np.sin(0.5), np.cos(0.5), 0]), atol=1e-10
    )


def test_a_skate_whose_heading_is_prescribed() -> None:
    """What is left free slides and does not turn: all that crosses it across the blade is reaction, the turn drive."""
    m, inertia, v, w = 2.0, 0.5, 2.0, 1.5
    modes = (fm.Slide("x"), fm.Slide("y"), fm.Turn("z", role="excited", input="kappa_dot", eta0=0.7, kappa0=w))
    rows = {"velocity_rows": [(0, 0, 0, 0, 1, 0)], "speed_rows": [(0, 0, 0, 1, 0, 0)]}
    model = on_ground(lambda F, M: fm.Joint("J", F, M, modes=modes, u0=[v], **rows))
    solver = started(model, {"J.kappa_dot": 0.4, "J.tau": 0.9})
    assert_allclose(solver.get("J.udot"), 0.9 / m, rtol=ROUND_OFF)
    assert_allclose(solver.get("J.drive"), inertia * 0.4, rtol=ROUND_OFF)
    across = np.array([-np.sin(0.7), np.cos(0.7), 0])
    assert_allclose(solver.get("J.reaction.f"), m * v * w * across + [0, 0, m * G], rtol=ROUND_OFF, atol=1e-12)
    assert_allclose(solver.get("J.reaction.t"), [0, 0, inertia * 0.4], atol=1e-12)
    solver.step(1.0)
    assert_allclose(solver.get("J.eta"), 0.7 + w + 0.2, rtol=STEPS)
    assert_allclose(solver.get("J.u"), v + 0.45, rtol=STEPS)
