"""Excited modes against closed forms: their drives, filters and inputs with derivatives."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

import fmumbs as fm
from support.joint_models import (
    ANGLE,
    PATHS,
    ROUND_OFF,
    STEPS,
    G,
    arm,
    started,
    trough,
)


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


def test_an_input_along_the_free_mode() -> None:
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


def test_a_drives_force_moves_a_free_mode_in_the_same_way() -> None:
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


def test_energy_changes_by_the_actuators_work() -> None:
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


def test_an_excited_acceleration_follows_the_derivatives_of_its_input() -> None:
    solver = started(trough(input="kappa_dot"), {"J.kappa_dot": 1.0})
    for order, value in ((1, 2.0), (2, -3.0), (3, 1.5)):
        solver.set_input_derivatives("J.kappa_dot", order, value)
    solver.step(0.5)
    t = 0.5
    expected = [t**2 / 2 + 2 * t**3 / 6 - 3 * t**4 / 24 + 1.5 * t**5 / 120, t + t**2 - t**3 / 2 + 1.5 * t**4 / 24]
    assert_allclose([solver.get("J.eta"), solver.get("J.kappa")], expected, rtol=STEPS)
