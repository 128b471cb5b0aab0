"""Angles of programmed orientations are those nearest to the target, also beyond 90 degrees and over turns."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fmumbs as fm
from support.closed import orientation
from support.programs import _matrix, turned
from support.slave import ERROR, OK, Slave, unpacked_fmu
from support.sweeps import first, seeds

FOLLOWED = 1e-9  # [rad]
MEASURED = 1e-12  # [rad], of rotations; angles have it by the cosine of the second one
DYNAMICS = ("riccati", "copcod")
REFUSED = "program 'P' starts where its angles cannot be measured: at 90 degrees of the second one"


def gyro(path: Any = None, *, quat: Any = (1, 0, 0, 0), seed: int = 0, **options: Any) -> fm.Model:
    """A body on a ball on a body that swings, with respect to which the angles of its tilted frame are programmed."""
    rng = np.random.default_rng([seed, 11])
    model = fm.Model("gyro")
    base = fm.Body("base", mass=2.0, com=(0.1, 0.0, 0.2), inertia=(0.3, 0.4, 0.5))
    top = fm.Body("top", mass=1.0, com=(0.0, 0.1, 0.0), inertia=(0.1, 0.2, 0.25))
    swing = fm.Revolute("A", model.ground.at(), base.at(), axis="y", q0=0.2, u0=1.0)
    ball = fm.Spherical("J", base.at(0.0, 0.0, 0.3), top.at(), q0=tuple(quat))
    F = base.at(rotation=fm.Rotation(orientation(rng))) if seed else base.at()
    options |= {} if path is None else {"path": path}
    model.add(base, top, swing, ball, fm.ProgrammedOrientation("P", top.at(), frame=F, **options))
    return model


def started(model: fm.Model, **options: Any) -> fm.Solver:
    solver = fm.Solver(fm.compile(model).with_options(**({"tolerance": 1e-9} | options)))
    solver.assemble()
    return solver


def turned_path(*angles: tuple[float, float]) -> list[fm.Path]:
    return [fm.Path.quintic([0.0, 1.0], list(pair)) for pair in angles]


def measured(solver: fm.Solver, seed: int = 0) -> Any:
    """R of top's axes with respect to the frame, from the poses of the bodies."""
    base, top = (_matrix(solver.get(f"{name}.quat")) for name in ("base", "top"))
    frame = fm.Rotation(orientation(np.random.default_rng([seed, 11]))).matrix if seed else np.eye(3)
    return (base @ np.asarray(frame)).T @ top


def nearest(R: Any, target: Any) -> Any:
    """Of all angles with this R, those nearest to the target, from both branches and all turns."""
    a, b, c = np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0])
    found = []
    for branch in ((a, b, c), (a + np.pi, np.pi - b, c + np.pi)):
        turns = np.floor((np.asarray(target) - branch) / (2 * np.pi))
        for more in itertools.product((0, 1), repeat=3):
            found.append(np.array(branch) + 2 * np.pi * (turns + more))
    return min(found, key=lambda angles: np.linalg.norm(angles - target))


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_the_second_angle_goes_on_through_90_degrees(dynamics: str) -> None:
    solver = started(gyro(turned_path((0.1, 0.4), (0.0, np.pi), (0.2, 0.2))), dynamics=dynamics)
    for t in np.arange(101) / 100:
        solver.step(t) if t else None
        assert solver.get("P.violation") <= FOLLOWED  # at t = 0.5 the second one is 90 degrees
        assert_allclose(solver.get("P.position"), solver.get("P.target"), rtol=0, atol=FOLLOWED)
    assert_allclose(solver.get("P.position"), [0.4, np.pi, 0.2], rtol=0, atol=FOLLOWED)


@pytest.mark.parametrize("seed", seeds(4, 60))
def test_random_angles_over_several_turns_from_a_start_off_the_target(seed: int) -> None:
    """Positions are angles of the mechanism's own R, nearest to eta; the start is the nearest to the target."""
    rng = np.random.default_rng([seed, 12])
    start, end = rng.uniform(-9, 9, 3), rng.uniform(-9, 9, 3)
    quat = rng.normal(size=4)
    path = turned_path(*zip(start, end, strict=True))
    model = gyro(path, quat=quat / np.linalg.norm(quat), seed=seed + 1, transition=0.4)
    solver = started(model, dynamics=DYNAMICS[seed % 2])
    assert_allclose(solver.get("P.position"), nearest(measured(solver, seed + 1), start), rtol=0, atol=1e-10)
    assert_allclose(solver.get("P.eta"), solver.get("P.position"), rtol=0, atol=1e-13)
    for t in np.arange(1, 31) / 25:
        solver.step(t)
        position, eta = solver.get("P.position"), solver.get("P.eta")
        assert_allclose(position, eta, rtol=0, atol=FOLLOWED)
        assert_allclose(turned(position), measured(solver, seed + 1), rtol=0, atol=100 * MEASURED)
        assert_allclose(solver.get("P.violation"), np.linalg.norm(position - solver.get("P.target")), atol=1e-14)
    assert_allclose(solver.get("P.position"), end, rtol=0, atol=FOLLOWED)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("beyond", [0.0, 2e-5, -2e-5])
def test_at_90_degrees_what_is_measured_is_that_of_the_mechanism(beyond: float, side: int) -> None:
    """At rest there, with drift that is left: R gives the second angle, and the sum or difference of the others."""
    second = side * (np.pi / 2 + beyond) + 2 * np.pi
    path = turned_path((0.3, 4.0), (side * 0.2 + 2 * np.pi, second), (-0.4, -5.0))
    solver = started(gyro(path, seed=3), scheme="rk4", step=0.01, closure=1e-5)
    solver.step(1.0)
    position, eta, R = solver.get("P.position"), solver.get("P.eta"), measured(solver, 3)
    off = np.abs(turned(eta) - R).max()
    assert 1e-8 < off < 1e-5
    assert np.abs(position - eta).max() <= 3 * off
    assert_allclose(turned(position)[1:, :2], R[1:, :2], rtol=0, atol=1e-4 * off)  # of first and third angle
    assert_allclose(np.abs(np.cos(position[1])), np.hypot(R[0, 0], R[0, 1]), rtol=0, atol=1e-4 * off)


@pytest.mark.parametrize("second", [np.pi / 2, -np.pi / 2, 3 * np.pi / 2, np.pi / 2 + 5e-5])
@pytest.mark.parametrize("given", ["path", "input", "off the target"])
def test_a_start_that_cannot_be_measured_is_refused(given: str, second: float) -> None:
    if given == "path":
        model = gyro(turned_path((0.1, 0.2), (second, 0.0), (0.3, 0.4)))
    elif given == "input":
        model = gyro(input="kappa_dot", start=(0.1, second, 0.3))
    else:
        quat = (np.cos(second / 2), 0.0, np.sin(second / 2), 0.0)
        model = gyro(turned_path((0.1, 0.2), (0.0, 0.1), (0.3, 0.4)), quat=quat, transition=0.3)
    with pytest.raises(fm.AssemblyError, match=REFUSED):
        started(model)


def test_a_start_that_closes_half_a_turn_off_names_the_program() -> None:
    rng = np.random.default_rng([0, 12])
    start, end, quat = rng.uniform(-9, 9, 3), rng.uniform(-9, 9, 3), rng.normal(size=4)
    model = gyro(turned_path(*zip(start, end, strict=True)), quat=quat / np.linalg.norm(quat), seed=1)
    with pytest.raises(fm.AssemblyError, match=r"program 'P' closes only with opposite axes, half a turn"):
        started(model)


@pytest.mark.parametrize("second", [np.pi / 2 - 2e-4, np.pi / 2 + 2e-4])
def test_a_start_near_90_degrees_is_measured(second: float) -> None:
    solver = started(gyro(turned_path((0.1, 0.2), (second, 0.5), (0.3, 0.4))))
    assert_allclose(solver.get("P.position"), [0.1, second, 0.3], rtol=0, atol=FOLLOWED)


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_a_restored_state_continues_bit_for_bit_beyond_90_degrees(dynamics: str) -> None:
    image = fm.compile(gyro(turned_path((0.0, 20.0), (0.0, 9.0), (0.0, -7.0)))).with_options(dynamics=dynamics)
    first, second = fm.Solver(image), fm.Solver(image)
    first.assemble(), second.assemble()
    first.step(0.4)
    second.state_load(first.state_save())
    for t in (0.4, 0.7, 1.0):
        if t > 0.4:
            first.step(t), second.step(t)
        for name in ("P.position", "P.violation", "J.q"):
            assert_array_equal(first.get(name), second.get(name))
    assert_allclose(second.get("P.position"), [20.0, 9.0, -7.0], rtol=0, atol=1e-6)


def test_a_second_start_beyond_90_degrees_stays_on_the_branch_of_the_target() -> None:
    solver = started(gyro(turned_path((0.0, 2.0), (0.0, 2.5), (0.0, 1.0)), transition=0.3))
    solver.step(1.0)
    solver.set("J.q", np.add(solver.get("J.q"), [0.0, 0.05, 0.02, -0.03]))
    solver.assemble(1.0)
    off = solver.get("P.position") - [2.0, 2.5, 1.0]
    assert 0.02 < np.linalg.norm(off) < 0.5
    assert_allclose(solver.get("P.violation"), np.linalg.norm(off), rtol=1e-6)


@pytest.mark.parametrize("dynamics", first(1, DYNAMICS))
def test_in_the_fmu(tmp_path: Path, dynamics: str) -> None:
    model = gyro(input="kappa_dot", start=(0.2, 0.5, 8.0), rate=(3.0, 4.0, -5.0))
    slave = Slave(unpacked_fmu(tmp_path, model, dynamics=dynamics))
    slave.start()
    names = [f"P.position[{i}]" for i in (1, 2, 3)]
    for n in range(10):
        assert slave.step(0.1 * n, 0.1) == OK
        t = 0.1 * (n + 1)
        assert_allclose(slave.get_many(names), [0.2 + 3 * t, 0.5 + 4 * t, 8.0 - 5 * t], rtol=0, atol=1e-6)
        assert slave.get("P.violation") <= 1e-6
    slave.free()


def test_a_start_that_cannot_be_measured_is_refused_in_the_fmu(tmp_path: Path) -> None:
    slave = Slave(unpacked_fmu(tmp_path, gyro(input="kappa_dot", start=(0.2, 0.5, 0.1))))
    slave.initialize()
    assert slave.set("P.eta[2]", np.pi / 2) == OK
    assert slave.call("fmi2ExitInitializationMode") == ERROR
    assert REFUSED in slave.say
    slave.free()
