"""What joints of screws, excited modes and rows of velocities do, against closed forms.

The random trees are in test_joint_library.py; here is what takes time to show: motions, stops of paths, filters,
inputs with derivatives, saved states, derivatives of outputs, and what is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.run import Solver
from oracle import Oracle
from support.joint_models import ANGLE, PATHS, G, arm, kicked, mixed, on_ground, rolling, trough
from support.nonholonomic import nonholonomic
from support.strategies import Case, numbers
from support.tree_agreement import assert_agrees

ROUND_OFF = 1e-12  # of single evaluations, with numbers of the order of one
STEPS = 1e-8  # of motions at the tolerance 1e-10 over some hundred steps
TIGHT = 1e-10


def started(model: fm.Model, inputs: dict[str, Any] | None = None, scheme: str = "dopri5") -> Solver:
    solver = Solver(compile(model).with_options(scheme=scheme, tolerance=TIGHT, step=1e-3))
    for name, value in (inputs or {}).items():
        solver.set(name, value)
    solver.assemble()
    return solver


# Screws ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pitch", [0.1, -0.7])
def test_a_screw_falls_as_its_thread_lets_it(pitch: float) -> None:
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


def test_turn_and_slide_of_a_cylindrical_joint_do_not_know_each_other() -> None:
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
    with pytest.raises(fm.FmumbsError, match=r"joint 'C', mode 1: no inertia"):
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


def test_a_disc_rolls_round_and_round() -> None:
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


@settings(max_examples=30)
@given(nonholonomic(), numbers(-3, 3))
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


# Excited modes --------------------------------------------------------------------------------------------------


def test_the_trough_and_its_figure_9() -> None:
    """F_z1 = 0 (5.6), lambda-bar_1 (5.10), and A = psi lambda + psi-bar lambda-bar with psi as printed (5.4b)."""
    solver = started(trough(spring=True, input="kappa_dot", eta0=0.4, kappa0=0.3), {"J.kappa_dot": 1.7})
    solver.step(0.2)
    s, c = np.sin(ANGLE), np.cos(ANGLE)
    line = np.array([0.0, 0.0, 0.4]) - solver.get("ball.r")
    Fe = solver.get("S.f") * line / np.linalg.norm(line)
    Fz = solver.get("J.wrench.f")
    assert_allclose(solver.get("J.reaction.f"), Fz, atol=1e-12)  # nothing is applied in the joint itself
    assert_allclose(Fz[0], 0, atol=1e-12)
    assert_allclose(solver.get("J.drive"), Fz[1] * c, rtol=ROUND_OFF)  # the actuator's part of lambda-bar_1
    free, excited = Fe[0], Fe[0] * s + (Fe[1] + Fz[1]) * c
    psi, psi_k = np.array([1, -np.tan(ANGLE)]), np.array([0, 1 / c])
    assert_allclose(psi * free + psi_k * excited, Fe[:2] + Fz[:2], rtol=ROUND_OFF)
    assert_allclose(2.0 * solver.get("ball.a")[:2], Fe[:2] + Fz[:2], rtol=ROUND_OFF)
    eta = 0.4 + 0.3 * 0.2 + 1.7 * 0.02
    assert_allclose([solver.get("J.eta"), solver.get("J.kappa")], [eta, 0.3 + 1.7 * 0.2], rtol=ROUND_OFF)
    assert_allclose(solver.get("ball.r"), [solver.get("J.q") + eta * s, eta * c, 0.4], atol=1e-13)


def test_what_an_input_along_the_free_mode_brings() -> None:
    """A force f on s acts along psi: not along the slide, for the skew trough must not feel it."""
    solver = started(trough(input="kappa_dot"), {"J.f": 3.0})
    assert_allclose(solver.get("ball.a"), [1.5, 0, 0], atol=1e-12)
    assert_allclose(solver.get("J.drive"), 3.0 * np.sin(ANGLE), rtol=ROUND_OFF)
    applied = solver.get("J.wrench.f") - solver.get("J.reaction.f")
    assert_allclose(applied, 3.0 * np.array([1, -np.tan(ANGLE), 0]), rtol=ROUND_OFF, atol=1e-12)


def test_a_filtered_position_is_critically_damped() -> None:
    omega, t = 5.0, 1.0
    solver = started(trough(input="eta", cutoff=omega, eta0=0.1))
    assert solver.get("J.eta_in") == 0.1  # it stays where it is until it is told to move
    assert solver.get("J.kappa_dot") == 0.0
    solver.set("J.eta_in", 0.4)
    solver.step(t)
    left = 0.3 * np.exp(-omega * t)
    assert_allclose(solver.get("J.eta"), 0.4 - left * (1 + omega * t), rtol=STEPS)
    assert_allclose(solver.get("J.kappa"), left * omega**2 * t, rtol=1e-7)
    assert_allclose(solver.get("J.kappa_dot"), left * omega**2 * (1 - omega * t), rtol=1e-7)


def test_a_filtered_position_follows_the_derivatives_of_its_input() -> None:
    """The steady answer to a ramp lags by 2 / omega; one step, in which the input moves."""
    omega = 20.0
    solver = started(trough(input="eta", cutoff=omega))
    solver.set_input_derivatives("J.eta_in", 1, 0.5)
    solver.step(2.0)
    assert_allclose(solver.get("J.eta"), 0.5 * (2.0 - 2 / omega), rtol=STEPS)
    assert_allclose(solver.get("J.kappa"), 0.5, rtol=STEPS)


def test_excitation_forces_are_those_of_inverse_dynamics() -> None:
    """Euler and Lagrange for two links with prescribed angles, about y, measured downwards."""
    solver = started(arm(**{name: {"role": "excited", "path": path} for name, path in PATHS.items()}))
    m, c, L, inertia = 1.5, 0.3, 0.7, 0.05
    for t in (0.05, 0.3, 0.4, 0.7, 1.1, 1.5):
        solver.step(t)
        (q1, w1, a1), (q2, w2, a2) = PATHS["A"](t), PATHS["B"](t)
        for name, values in (("A", (q1, w1, a1)), ("B", (q2, w2, a2))):
            found = [solver.get(f"{name}.{kind}") for kind in ("eta", "kappa", "kappa_dot")]
            assert_allclose(found, values, rtol=0, atol=1e-13)
        h, k = m * L * c * np.cos(q2), m * L * c * np.sin(q2)
        lower = (inertia + m * c**2 + h) * a1 + (inertia + m * c**2) * a2 + k * w1**2 - m * G * c * np.cos(q1 + q2)
        upper = (inertia + m * c**2 + m * L**2 + h) * a1 + h * a2 - k * (w1 + w2) ** 2
        upper += lower - m * G * (c + L) * np.cos(q1)
        assert_allclose(solver.get("B.drive"), lower, rtol=1e-11, atol=1e-11)
        assert_allclose(solver.get("A.drive"), upper, rtol=1e-11, atol=1e-11)


def test_what_drives_an_excited_mode_moves_a_free_one_alike() -> None:
    excited = started(arm(**{name: {"role": "excited", "path": path} for name, path in PATHS.items()}))
    free = started(arm())
    for t in (0.1, 0.6, 1.0):
        excited.step(t)
        free.set("A.tau", excited.get("A.drive"))
        free.set("B.tau", excited.get("B.drive"))
        free.set_state([excited.get("A.eta"), excited.get("B.eta")], [excited.get("A.kappa"), excited.get("B.kappa")])
        assert_allclose(free.get("A.qdd"), excited.get("A.kappa_dot"), rtol=0, atol=1e-10)
        assert_allclose(free.get("B.qdd"), excited.get("B.kappa_dot"), rtol=0, atol=1e-10)
        assert_allclose(free.get("B.wrench.f"), excited.get("B.wrench.f"), rtol=0, atol=1e-10)
        assert_allclose(excited.get("B.reaction.t"), excited.get("B.wrench.t"), rtol=0, atol=1e-13)


# Paths and the integrator ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["dopri5", "rk4"])
@pytest.mark.parametrize("period", [0.0, 0.55])
def test_steps_end_where_a_path_is_not_smooth(period: float, scheme: str) -> None:
    """Whatever the communication points: nine digits, although the acceleration jumps between them."""
    found = []
    for times in (np.linspace(0, 2, 201)[1:], [2.0], [0.1, 0.3, 0.4, 2.0], np.linspace(0, 2, 8)[1:]):
        solver = started(kicked(period=period), scheme=scheme)
        for t in times:
            solver.step(float(t))
        found.append([solver.get("B.q"), solver.get("B.qd")])
    assert_allclose(found, [found[0]] * 4, rtol=0, atol=2e-9)


def two_kicked(order: tuple[int, ...], rng: np.random.Generator) -> fm.Model:
    """Carriages whose accelerations jump at times of their own, each with a pendulum on it."""
    paths = []
    for _ in range(2):
        breaks = np.concatenate([[0.0], np.cumsum(rng.uniform(0.05, 0.3, 6))])
        paths.append(fm.Path.spline(breaks.tolist(), rng.uniform(-0.2, 0.2, 7).tolist()))
    model = fm.Model("two")
    for k in order:
        carriage = fm.Body(f"c{k}", mass=1.0, inertia=(1, 1, 1))
        bob = fm.Body(f"b{k}", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
        slide = fm.Slide("x", role="excited", path=paths[k])
        model.add(carriage, bob, fm.Joint(f"P{k}", model.ground.at(0, 3 * k, 0), carriage.at(), modes=[slide]))
        model.add(fm.Revolute(f"B{k}", carriage.at(), bob.at(), axis="y", q0=0.3 + k))
    return model


@pytest.mark.parametrize("seed", range(4))
def test_steps_end_where_any_path_is_not_smooth(seed: int) -> None:
    """Whichever comes first: the order of the joints changes nothing."""
    found = []
    for order in ((0, 1), (1, 0)):
        solver = started(two_kicked(order, np.random.default_rng(seed)))
        solver.step(1.0)
        found.append([solver.get(f"B{k}.{what}") for k in (0, 1) for what in ("q", "qd")])
    assert_allclose(*found, rtol=0, atol=1e-9)


def test_a_repeated_path_repeats() -> None:
    solver = started(kicked(period=0.55))
    path = kicked(period=0.55)["P"].modes[0].path
    for t in (0.05, 0.35, 0.55, 0.6, 1.15, 5 * 0.55 + 0.2, 12.0):
        solver.step(t)
        x = t % 0.55
        assert_allclose([solver.get("P.eta"), solver.get("P.kappa")], path(x)[:2], rtol=0, atol=1e-12)
    before = solver.get("P.eta")
    with pytest.raises(fm.SolverError, match=r"P.eta .*refused: a path says where this mode is"):
        solver.set("P.eta", 1.0)
    assert solver.get("P.eta") == before


def test_acceleration_is_that_of_the_later_piece_where_two_meet() -> None:
    solver = started(kicked())
    accelerations = []
    for t in (0.1 - 1e-9, 0.1, 0.3, 0.4, 0.5):
        solver.step(t)
        accelerations.append(solver.get("P.kappa_dot"))
    assert_allclose(accelerations, [8, -8, 8, 0, 0], rtol=1e-9)


def test_ten_tenths_are_one() -> None:
    """A communication point that is a break but for rounding: no step of nothing, and the right piece behind it."""
    solver = started(kicked(period=0.5))
    for i in range(1, 1001):
        solver.step(sum([0.1] * i))
    whole = started(kicked(period=0.5))
    whole.step(100.0)
    assert_allclose(solver.get("P.eta"), whole.get("P.eta"), atol=1e-10)
    assert solver.get("solver.steps") < 20000


def test_a_short_kick_is_not_stepped_over() -> None:
    """At rest for 50 s, in which the steps grow long; then, for a tenth of a second, a push."""
    rest, t0 = (0.0,), 50.0
    path = fm.Path(
        (0.0, t0, t0 + 0.05, t0 + 0.15, t0 + 0.2),
        (rest, (0, 0, 40.0), (0.1, 4.0, -40.0), (0.1, -4.0, 40.0), rest),
        continuity=1,
    )
    model = fm.Model("kick", gravity=(0, 0, 0))
    cart, bob = fm.Body("cart", mass=1.0), fm.Body("bob", mass=0.5, com=(0, 0, -0.6), inertia=(0.01, 0.01, 0.01))
    model.add(cart, bob, fm.Joint("P", model.ground.at(), cart.at(), modes=[fm.Slide("x", role="excited", path=path)]))
    model.add(fm.Revolute("B", cart.at(), bob.at(), axis="y"))
    solver = started(model)
    solver.step(t0 + 0.05)
    assert solver.get("B.qd") > 1.0 or solver.get("B.qd") < -1.0


# States, derivatives, the FMU's table ---------------------------------------------------------------------------


INPUTS = {"J.f": 0.4, "J.kappa_dot[1]": 0.7, "J.eta_in": 0.5, "K.tau": (0.3, -0.2)}


def test_what_the_variables_of_excited_modes_are() -> None:
    table = {v.name: v for v in compile(mixed()).variables}
    assert [n for n in table if n.startswith("J.") and table[n].causality == "input"] == [
        "J.f", "J.kappa_dot[1]", "J.eta_in[2]",
    ]  # fmt: skip
    assert table["J.kappa_dot[2]"].causality == table["J.kappa_dot[3]"].causality == "output"
    assert table["J.eta[1]"].initial == table["J.kappa[2]"].initial == "exact"
    assert table["J.eta[1]"].start == 0.3
    assert table["J.eta[3]"].initial == "calculated"
    assert table["J.eta[3]"].start is None
    assert [table[f"J.drive[{k}]"].unit for k in (1, 2, 3)] == ["N.m", "N.m", "N"]
    assert table["J.kappa[2]"].derivative_of == table["J.eta[2]"].index
    assert table["J.kappa_dot[2]"].derivative_of == table["J.kappa[2]"].index
    assert table["J.kappa_dot[1]"].derivative_of is None
    assert table["J.eta[1]"].dependencies == ()
    assert table["J.drive[1]"].dependencies is None
    assert [table[f"K.q[{i}]"].unit for i in (1, 2, 3)] == ["m", "m", "rad"]
    assert [table[f"K.u[{i}]"].unit for i in (1, 2)] == ["m/s", "rad/s"]
    assert table["K.udot[1]"].derivative_of == table["K.u[1]"].index
    assert not {n for n in table if n.startswith("K.stiffness") or n.startswith("K.qd")}


def mixed_solver() -> Solver:
    inputs = {("J.eta_in[2]" if name == "J.eta_in" else name): value for name, value in INPUTS.items()}
    return started(mixed(), inputs)


def test_a_saved_state_goes_on_to_the_same_bits() -> None:
    names = ("J.q", "J.eta", "J.kappa", "J.drive", "K.q", "K.u", "c.quat")
    one = mixed_solver()
    one.step(0.37)
    kept = one.state_save()
    other = Solver(one.image)
    other.state_load(kept)
    for solver in (one, other):
        solver.step(0.41)
        solver.step(1.3)
    for name in names:
        assert np.array_equal(one.get(name), other.get(name))
    one.state_load(kept)
    assert one.time == 0.37
    one.step(0.41)
    one.step(1.3)
    for name in names:
        assert np.array_equal(one.get(name), other.get(name))


def test_every_instruction_set_gives_the_same_bits() -> None:
    found = []
    for level in (0, 1):
        solver = mixed_solver()
        try:
            solver.use_level(level)
        except fm.SolverError:
            pytest.skip("this machine has one instruction set")
        solver.step(0.8)
        found.append(
            np.concatenate([np.ravel(solver.get(n)) for n in ("J.q", "J.drive", "K.q", "K.reaction.t", "b.quat")])
        )
    assert np.array_equal(*found)


OUTPUTS = (
    "J.qdd",
    "J.drive",
    "J.kappa_dot[2]",
    "J.kappa_dot[3]",
    "J.reaction.f",
    "J.wrench.t",
    "K.udot",
    "K.reaction.t",
    "c.a",
    "c.alpha",
)


def test_directional_derivatives_are_exact() -> None:
    """The accelerations are linear in the inputs, so that a difference over any distance is the derivative."""
    solver = mixed_solver()
    solver.step(0.6)
    for name in ("J.f", "J.kappa_dot[1]", "J.eta_in[2]", "K.tau[1]", "K.tau[2]"):
        before, value = [np.ravel(solver.get(n)) for n in OUTPUTS], solver.get(name)
        solver.set(name, value + 1.0)
        after = [np.ravel(solver.get(n)) for n in OUTPUTS]
        solver.set(name, value)
        exact = solver.directional_derivative(OUTPUTS, [name], [1.0])
        difference = np.concatenate(after) - np.concatenate(before)
        assert_allclose(exact, difference, rtol=0, atol=1e-10)


def test_output_derivatives_follow_from_the_motion() -> None:
    """Against differences of the motion itself, 1e-5 s to each side."""
    names = ("J.eta", "J.kappa", "K.q", "K.u", "J.q", "J.qd", "c.r", "c.v", "c.quat", "J.drive", "J.wrench.f")
    h, t = 1e-5, 0.6
    solver = mixed_solver()
    solver.step(t - h)
    before = [solver.get(n) for n in names]
    solver.step(t)
    rates = [solver.output_derivative(n) for n in names]
    solver.step(t + h)
    after = [solver.get(n) for n in names]
    for name, low, rate, high in zip(names, before, rates, after, strict=True):
        assert_allclose(rate, (high - low) / (2 * h), rtol=1e-5, atol=2e-4, err_msg=name)


def test_set_state_takes_what_follows_no_path() -> None:
    solver = mixed_solver()
    solver.step(0.5)
    q = [*np.ravel(solver.get("J.q")), *solver.get("J.eta"), *solver.get("K.q")]
    u = [*np.ravel(solver.get("J.qd")), *solver.get("J.kappa"), *solver.get("K.u")]
    other = mixed_solver()
    other.step(0.5)
    other.set_state(q, u)
    for name in ("J.qdd", "J.drive", "K.udot"):
        assert_allclose(other.get(name), solver.get(name), rtol=0, atol=1e-10)


def test_energy_changes_by_what_the_actuators_put_in() -> None:
    model = trough(path=fm.Path.quintic([0, 1], [0, 0.5]))
    solver = started(model)
    times = np.linspace(0, 1, 401)
    powers, energies = [], []
    for t in times:
        solver.step(float(t))
        powers.append(solver.get("J.drive") * solver.get("J.kappa"))
        energies.append(solver.get("solver.energy"))
    work = np.sum((np.array(powers)[:-1] + powers[1:]) / 2) * (times[1] - times[0])
    assert_allclose(energies[-1] - energies[0], work, rtol=0, atol=1e-5)
    assert max(energies) - energies[0] > 0.1


# Loops ----------------------------------------------------------------------------------------------------------


def test_a_driven_crank_turns_its_loop() -> None:
    """Slider-crank with a prescribed crank: positions by trigonometry, the drive's power by the energy."""
    r, L, speed = 0.2, 0.5, 3.0
    model = fm.Model("slider_crank", gravity=(0, 0, 0))
    crank = fm.Body("crank", mass=0.4, com=(r / 2, 0, 0), inertia=(0.001, 0.002, 0.002))
    rod = fm.Body("rod", mass=0.7, com=(L / 2, 0, 0), inertia=(0.001, 0.015, 0.015))
    piston = fm.Body("piston", mass=0.9, inertia=(0.01, 0.01, 0.01))
    path = fm.Path.polynomial(0.4, speed)
    model.add(crank, rod, piston)
    model.add(fm.Joint("A", model.ground.at(), crank.at(), modes=[fm.Turn("y", role="excited", path=path)]))
    model.add(fm.Revolute("B", crank.at(r, 0, 0), rod.at(), axis="y", q0=-0.6))
    model.add(fm.Prismatic("P", model.ground.at(), piston.at(), axis="x", q0=0.6))
    model.add(fm.Revolute("C", rod.at(L, 0, 0), piston.at(), axis="y"))
    solver = started(model)
    for t in (0.0, 0.3, 0.9, 2.0):
        solver.step(t)
        angle = 0.4 + speed * t
        x = r * np.cos(angle) + np.sqrt(L**2 - (r * np.sin(angle)) ** 2)
        assert_allclose(solver.get("A.eta"), angle, rtol=0, atol=1e-12)
        assert_allclose(solver.get("P.q"), x, rtol=0, atol=1e-10)
        energy_rate = solver.output_derivative("solver.energy")
        assert_allclose(solver.get("A.drive") * speed, energy_rate, rtol=1e-5, atol=1e-5)


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


def test_oracle_is_asked_here_too() -> None:
    """The mixed mechanism on its way, at two times."""
    model = mixed()
    solver = mixed_solver()
    for t in (0.2, 0.7):
        solver.step(t)
        oracle = Oracle(model)
        state = oracle.state(
            {"J": solver.get("J.q"), "K": solver.get("K.q")},
            {"J": solver.get("J.qd"), "K": solver.get("K.u")},
            {"J": solver.get("J.eta")},
            {"J": solver.get("J.kappa")},
            t=t,
        )
        inputs = {"J.f": 0.4, "J.kappa_dot": (0.7, 0, 0), "J.eta_in": (0, 0.5, 0), "K.tau": (0.3, -0.2)}
        answer = oracle.solve(state, inputs)
        for name in ("J.qdd", "J.drive", "J.reaction.f", "J.wrench.t", "K.udot", "K.reaction.t", "c.a", "c.alpha"):
            assert_allclose(solver.get(name), answer[name], rtol=0, atol=1e-10, err_msg=name)


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


def test_an_excited_acceleration_follows_the_derivatives_of_its_input() -> None:
    solver = started(trough(input="kappa_dot"), {"J.kappa_dot": 1.0})
    for order, value in ((1, 2.0), (2, -3.0), (3, 1.5)):
        solver.set_input_derivatives("J.kappa_dot", order, value)
    solver.step(0.5)
    t = 0.5
    expected = [t**2 / 2 + 2 * t**3 / 6 - 3 * t**4 / 24 + 1.5 * t**5 / 120, t + t**2 - t**3 / 2 + 1.5 * t**4 / 24]
    assert_allclose([solver.get("J.eta"), solver.get("J.kappa")], expected, rtol=STEPS)
