"""The mechanisms that show joints: trough, cardan_shaft, skate, gantry, against closed forms and inverse dynamics."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.run import Solver
from oracle import Oracle

MODELS = Path(__file__).parents[2] / "models"
G = 9.81
ROUND_OFF = 1e-10
"""Relative to the largest acceleration or force: the dense system of the oracle has a condition of up to 1e5."""
TOLERANCE = 1e-5
"""Ten times the integrator's relative tolerance."""


def build(name: str, **options) -> fm.Model:
    spec = importlib.util.spec_from_file_location(name, MODELS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.build(**options)


def started(model: fm.Model) -> Solver:
    solver = Solver(compile(model))
    solver.assemble()
    return solver


def test_the_trough_agrees_with_the_oracle() -> None:
    """Its non-orthogonal joint in motion: accelerations, reaction, and the force that drives it."""
    model = build("trough")
    oracle, solver = Oracle(model), started(model)
    for t in np.linspace(0.05, 4.0, 17):
        solver.step(t)
        state = oracle.state({"J": [solver.get("J.q")]}, {"J": [solver.get("J.qd")]}, t=t)
        answer = oracle.solve(state)
        for name in answer.names():
            assert_allclose(solver.get(name), answer[name], rtol=0, atol=100 * ROUND_OFF, err_msg=name)


def test_the_troughs_drive_works_against_both_springs_and_mass() -> None:
    """Eq 5.10 without the spring: lambdabar = F_z2 cos(angle), with F_z2 = m y''; the free slide keeps its speed."""
    angle, m = 0.5, 1.3
    solver = started(build("trough", mass=m, angle=angle, stiffness=0.0))
    for t in (0.1, 0.3, 0.9, 1.2):
        solver.step(t)
        rate = solver.get("J.kappa_dot")
        assert_allclose(solver.get("J.qdd"), -np.sin(angle) * rate, rtol=1e-12)
        assert_allclose(solver.get("J.reaction.f"), [0, m * np.cos(angle) * rate, m * G], rtol=1e-12, atol=1e-12)
        assert_allclose(solver.get("J.drive"), m * np.cos(angle) ** 2 * rate, rtol=1e-12)
    assert_allclose(solver.get("ball.v")[0], 0, atol=1e-6)  # no force along the free slide, none at the start


def test_the_cardan_shaft_turns_by_cardans_law() -> None:
    """With stiff bearings; the softness of the model's own bends the joint by less than a hundredth of the ratio."""
    bend, speed = 0.4, 20.0
    solver = started(build("cardan_shaft", bend=bend, speed=speed, stiffness=2e6, damping=4e3))
    for t in np.linspace(0.01, 0.6, 23):
        solver.step(t)
        ratio = np.cos(bend) / (1 - (np.sin(bend) * np.cos(solver.get("A.eta"))) ** 2)
        assert_allclose(solver.get("shaft.w")[2], ratio * speed, rtol=2e-3)
        assert_allclose(solver.get("A.eta"), speed * t, rtol=1e-12)


def test_the_skate_glides_on_a_cycloid() -> None:
    """v = (g sin(slope) / w) sin(w t); it moves across the slope by g sin(slope) / (2 w) a second in the mean."""
    slope, w = 0.2, 1.5
    solver = started(build("skate", slope=slope, turning=w))
    a = G * np.sin(slope) / w
    for t in np.linspace(0.2, 6.0, 30):
        solver.step(t)
        assert_allclose(solver.get("K.u"), [a * np.sin(w * t), w], atol=TOLERANCE)
        x, y = a * np.sin(w * t) ** 2 / (2 * w), a / 2 * (t - np.sin(2 * w * t) / (2 * w))
        assert_allclose(solver.get("K.q"), [x, y, w * t], atol=TOLERANCE)
        across = [-np.sin(w * t), np.cos(w * t), 0]
        edge = 2.0 * (2 * G * np.sin(slope) * np.sin(w * t))  # m (v w + g sin(slope) sin(w t))
        assert_allclose(solver.get("K.reaction.f") @ across, edge, atol=10 * TOLERANCE)


def test_the_gantrys_drives_exert_the_forces_that_the_masses_need() -> None:
    """Each drive's force is what all that it carries needs along its axis: Newton's law for the whole."""
    model = build("gantry")
    solver = started(model)
    carried = {"X": ["bridge", "trolley", "hoist", "load"], "Y": ["trolley", "hoist", "load"], "Z": ["hoist", "load"]}
    largest = 0.0
    for t in np.linspace(0.1, 7.9, 40):
        solver.step(t)
        for k, (drive, names) in enumerate(carried.items()):
            force = 0.0
            for name in names:
                body = model[name]
                R = fm.Rotation.quaternion(*solver.get(f"{name}.quat")).matrix
                arm, w, alpha = R @ body.com, solver.get(f"{name}.w"), solver.get(f"{name}.alpha")
                a = solver.get(f"{name}.a") + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
                force += body.mass * (a[k] + (G if k == 2 else 0.0))
            largest = max(largest, abs(force))
            assert_allclose(solver.get(f"{drive}.drive"), force, rtol=0, atol=1e-12 * largest + 1e-9)
    assert_allclose(solver.get("hoist.r"), [6, 5, 6.5], rtol=1e-9)


def test_a_filtered_position_starts_at_the_modes_position() -> None:
    """The input's start value is eta0: nothing moves until it is set."""
    model = fm.Model("follower", gravity=(0, 0, 0))
    body = fm.Body("b", mass=1.0)
    slide = fm.Slide("x", role="excited", input="eta", cutoff=10.0, eta0=0.3)
    model.add(body, fm.Joint("J", model.ground.at(), body.at(), modes=[slide]))
    solver = started(model)
    assert solver.get("J.eta_in") == pytest.approx(0.3)
    solver.step(0.5)
    assert_allclose(solver.get("J.eta"), 0.3, rtol=1e-12)
    solver.set("J.eta_in", 0.4)
    solver.step(1.0)
    x = 10.0 * 0.5
    assert_allclose(solver.get("J.eta"), 0.4 - 0.1 * (1 + x) * np.exp(-x), rtol=TOLERANCE)
