"""Where positions are not what they usually are: many turns, balls beyond half a turn, quaternions of any length."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.run import Solver

ROUND_OFF = 1e-12


def started(model: fm.Model) -> Solver:
    solver = Solver(compile(model, everything=True))
    solver.assemble()
    return solver


# Angles of many turns ------------------------------------------------------------------------------------------


def lever(name: str) -> fm.Body:
    return fm.Body(name, mass=1.5, com=(0.3, -0.2, -0.5), inertia=(0.2, 0.3, 0.25))


def chain(axis: str | tuple[float, float, float]) -> fm.Model:
    """Three revolutes about an axis, the last one at the end of the others."""
    model = fm.Model("chain")
    end = model.ground.at()
    for i in range(3):
        body = lever(f"b{i}")
        model.add(body, fm.Revolute(f"J{i}", end, body.at(), axis=axis))
        end = body.at(0.1, 0.2, -1.0)
    return model


def general() -> fm.Model:
    """The same, each joint a product of two turns and a slide."""
    model = fm.Model("general")
    end = model.ground.at()
    for i in range(3):
        body = lever(f"b{i}")
        modes = [fm.Turn("z"), fm.Turn("x"), fm.Slide("y")]
        model.add(body, fm.Joint(f"J{i}", end, body.at(), modes=modes))
        end = body.at(0.1, 0.2, -1.0)
    return model


MANY = (0.9e5, 1.1e5, -3e6, 1e9, 3e9)  # [rad]; at the default tolerance doubles resolve angles up to 4.5e9


@pytest.mark.parametrize("angle", MANY)
@pytest.mark.parametrize(
    "build",
    [lambda: chain("x"), lambda: chain("y"), lambda: chain((0.6, 0.0, 0.8)), general],
    ids=["x", "plane", "skew", "general"],
)
def test_angle_of_many_turns_is_that_within_one(build: Callable[[], fm.Model], angle: float) -> None:
    """Accelerations at an angle beyond 1e5 rad are those at the angle with the same sine and cosine."""
    far, near = (started(build()) for _ in range(2))
    several = np.size(far.get("J0.q")) > 1
    for i in range(3):
        turns = np.array([angle * (1 + 0.1 * i)] * (2 if several else 1))
        rest = [0.1] if several else []
        far.set(f"J{i}.q", [*turns, *rest])
        near.set(f"J{i}.q", [*np.arctan2(np.sin(turns), np.cos(turns)), *rest])
    for solver in (far, near):
        solver.set("J1.qd", [0.3, -0.2, 0.1] if several else 0.3)
        solver.assemble()
    for level in range(2):
        for name in ("J0.qdd", "J1.qdd", "J2.qdd", "J0.wrench.t", "b2.r"):
            far.use_level(min(level, LEVELS))
            expected = near.get(name)
            assert_allclose(far.get(name), expected, rtol=0, atol=ROUND_OFF * (1 + np.abs(expected).max()))


LEVELS = fm.compiler.layout.lib.fm_level_best()


@pytest.mark.parametrize("angle", MANY)
def test_heading_of_many_turns_is_that_within_one(angle: float) -> None:
    """Of a joint with rows of velocities, which is one link of several screws."""
    solvers = []
    for heading in (angle, float(np.arctan2(np.sin(angle), np.cos(angle)))):
        model = fm.Model("skate")
        skate, rider = lever("b0"), lever("b1")
        model.add(skate, fm.Skate("J0", model.ground.at(), skate.at(), q0=(0.1, 0.2, heading), u0=(1.0, 0.4)))
        model.add(rider, fm.Revolute("J1", skate.at(0.1, 0.2, -1.0), rider.at(), axis=(0.6, 0.0, 0.8), u0=0.3))
        solvers.append(started(model))
    for level in range(LEVELS + 1):
        for solver in solvers:
            solver.use_level(level)
        for name in ("J0.udot", "J1.qdd", "J0.wrench.t", "b1.r", "b1.v"):
            one, other = (np.ravel(solver.get(name)) for solver in solvers)
            assert_allclose(one, other, rtol=0, atol=ROUND_OFF * max(1.0, np.abs(other).max()), err_msg=name)


# Balls beyond half a turn ---------------------------------------------------------------------------------------


def about(axis: np.ndarray, angle: float) -> np.ndarray:
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])


def sprung(kind: str, q0: np.ndarray) -> fm.Model:
    """A body of the same inertia about all axes on a ball that a spring turns back: in the tree or closing a loop."""
    model = fm.Model("sprung", gravity=(0, 0, 0))
    body = fm.Body("body", mass=2.0, inertia=(0.4, 0.4, 0.4))
    if kind == "tree":
        model.add(body, fm.Spherical("B", model.ground.at(), body.at(), q0=q0, stiffness=3.0))
    else:
        carrier = fm.Free("F", model.ground.at(), body.at(), q0=[0, 0, 0, *q0])
        model.add(body, carrier, fm.Spherical("B", model.ground.at(), body.at(), cut=True, stiffness=3.0))
    return model


@pytest.mark.parametrize("kind", ["tree", "loop"])
@pytest.mark.parametrize("angle", [0.5, 3.1, 3.2, 4.0, 6.0, -3.3, 2 * np.pi - 0.5, 2 * np.pi + 0.5, 9.0])
def test_spring_of_a_ball_turns_back_the_short_way(kind: str, angle: float) -> None:
    """Its torque is the stiffness times the rotation vector of less than half a turn, whatever sign q has."""
    axis = np.array([0.48, -0.6, 0.64])
    solver = started(sprung(kind, about(axis, angle)))
    short = (angle + np.pi) % (2 * np.pi) - np.pi
    name = "B.alpha" if kind == "tree" else "F.alpha"
    assert_allclose(solver.get(name), -3.0 / 0.4 * short * axis, rtol=0, atol=1e-11)
    assert_allclose(solver.get("solver.energy"), 0.5 * 3.0 * short**2, rtol=ROUND_OFF)


# Quaternions of any length --------------------------------------------------------------------------------------


def ball(kind: str) -> fm.Model:
    model = fm.Model("ball")
    body = fm.Body("body", mass=2.0, com=(0.2, 0.1, -0.4), inertia=(0.3, 0.4, 0.5))
    F, M = model.ground.at(), body.at()
    joint = {
        "Spherical": lambda: fm.Spherical("B", F, M, stiffness=2.0),
        "Free": lambda: fm.Free("B", F, M),
        "reversed": lambda: fm.Spherical("B", M, F),
    }[kind]
    model.add(body, joint())
    return model


@pytest.mark.parametrize("scale", [1e-9, 0.3, -1.0, 7.0, 1e9])
@pytest.mark.parametrize("kind", ["Spherical", "Free", "reversed"])
def test_quaternion_of_any_length_is_its_direction(kind: str, scale: float) -> None:
    """The start, the accelerations and the motion from it; a negative one is the same rotation."""
    unit, other = started(ball(kind)), started(ball(kind))
    q = np.array([0.8, -0.36, 0.48, 0.0])
    rest = unit.get("B.q")[:-4]
    for solver, factor in ((unit, 1.0), (other, scale)):
        solver.set("B.q", [*rest, *(factor * q)])
        solver.assemble()
    sign = np.sign(scale)
    for t in (0.0, 0.3):
        for solver in (unit, other):
            solver.step(t)
        names = [v for v in ("B.alpha", "B.udot", "body.r") if unit.image.variables.references(v)]
        for name in names:
            assert_allclose(other.get(name), unit.get(name), rtol=0, atol=1e-11)
        found, expected = (solver.get("B.q")[-4:] for solver in (other, unit))
        assert_allclose(found, sign * expected, rtol=0, atol=1e-11)
        assert_allclose(np.linalg.norm(found), 1.0, rtol=4e-16)
