"""One body on one joint, with reactions, by ADAMS: the case 01 of each joint in Project Chrono's test data.

m = 1 kg is let go at rest under 9.80665 m/s2 in -z. F and T in the data are what the ground takes at the
joint, in world axes: the opposite of our wrench, whose axes F are the ground point's.

A run accumulates the integration error of ADAMS. Accelerations and reactions are therefore compared at
each of its printed states, without accumulated error.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from references.figures import Curve, run, started

DIGITS = 5e-6  # relative; half a unit of the sixth digit, to which the data are printed
RUN = {  # positions [m] and speeds [m/s], [rad/s]: three times the deviations measured in the data
    "Revolute": (3 * 5e-7, 3 * 5e-6),
    "RotSpring": (3 * 1e-6, 3 * 5e-6),
    "Spherical": (3 * 8e-4, 3 * 2.6e-3),
    "Prismatic": (3 * 5e-7, 3 * 5e-6),
    "TranSpring": (3 * 5e-7, 3 * 5e-6),
    "Universal": (3 * 8e-4, 3 * 2.6e-3),
    "Cylindrical": (3 * 5e-7, 3 * 5e-6),
    "Distance": (3 * 5e-7, 3 * 5e-6),
    "RevSpherical": (3 * 5e-6, 3 * 3.3e-5),
}
STATE = 1e-5  # [m], [1]: two printed numbers of up to 2, each half a unit of its sixth digit off
SPEED = 1e-4  # [m/s]: Spherical's printed velocity misses omega x r of the same row by 9.9e-5
ACCELERATION = 7e-4
"""[m/s2], [rad/s2], [N]: the printed accelerations of Revolute, RotSpring and Spherical miss the closed form
of their pendulum, (m g l cos a - k a - c a') / (J + m l²), at the state of their own row by up to 6.2e-4."""
CLOSED = {"Distance": (DIGITS, 1.03e-3), "RevSpherical": (1e-4, 2e-3)}
"""The same, relative and absolute, with a closing joint. Distance's printed force misses m (v²/l - g z/l) at the state
of its own row by up to 1.03e-3. RevSpherical's printed velocities miss the rod's circle by up to 1.2e-4 m/s of 2.6,
and accelerations of up to 845 rad/s2 follow their square."""
ROUNDING = 1e-12  # [N], [N.m]: forces of up to 30 N and torques of up to 60 N.m, some tens of roundings
FREE = {  # axes in F along which the joint slides, and about which it turns
    "Revolute": ([], [2]),
    "RotSpring": ([], [2]),
    "Spherical": ([], [0, 1, 2]),
    "Prismatic": ([2], []),
    "TranSpring": ([0, 1, 2], [0, 1, 2]),
    "Universal": ([], []),  # its second axis has moved
    "Cylindrical": ([2], [2]),
}

IDENTITY, TURNED = fm.Rotation.identity(), fm.Rotation.about("x", -np.pi / 2)
RAISED = fm.Rotation.about("x", np.pi / 2)
GLOBAL = {
    "b.centre.r": "x y z",
    "b.centre.v": "vx vy vz",
    "b.centre.a": "ax ay az",
    "b.w": "wx wy wz",
    "b.alpha": "alx aly alz",
}

State = tuple[np.ndarray, np.ndarray]


def pendulum_state(curve: Curve, i: int) -> State:
    """Angle about the world's y, from the centre's position, which is 2 m from the joint."""
    x, y, z = curve.stack("x y z")[i]
    assert y == pytest.approx(0, abs=STATE)
    return np.array([np.arctan2(-z, x)]), np.array([curve["wy"][i]])


def spherical_state(curve: Curve, i: int) -> State:
    quaternion = curve.stack("e0 e1 e2 e3")[i]
    return quaternion, fm.Rotation.quaternion(*quaternion).inverse() @ curve.stack("wx wy wz")[i]


def prismatic_state(curve: Curve, i: int) -> State:
    return curve["z"][[i]], curve["vz"][[i]]


def universal_state(curve: Curve, i: int) -> State:
    """R_FM = Rx(q1) Ry(q2), and the spin in F is x' q1 + Rx(q1) y' q2."""
    R = (RAISED.inverse() @ fm.Rotation.quaternion(*curve.stack("e0 e1 e2 e3")[i])).matrix
    q1, q2 = np.arctan2(-R[1, 2], R[2, 2]), np.arctan2(R[0, 2], R[0, 0])
    axes = np.column_stack([(1, 0, 0), (0, np.cos(q1), np.sin(q1))])
    spin = RAISED.inverse() @ curve.stack("wx wy wz")[i]
    return np.array([q1, q2]), np.linalg.lstsq(axes, spin, rcond=None)[0]


def cylindrical_state(curve: Curve, i: int) -> State:
    """It does not turn."""
    return np.array([0.0, curve["z"][i]]), np.array([0.0, curve["vz"][i]])


def free_state(curve: Curve, i: int) -> State:
    quaternion, w = spherical_state(curve, i)
    return np.append(curve.stack("x y z")[i], quaternion), np.append(curve.stack("vx vy vz")[i], w)


def hinged_rod_state(curve: Curve, i: int) -> State:
    """Of the body's frame, from which its centre is 2 m away."""
    q, u = free_state(curve, i)
    arm = fm.Rotation.quaternion(*q[3:]) @ (0, 2, 0)
    q, u = q - np.append(arm, np.zeros(4)), u - np.append(np.cross(curve.stack("wx wy wz")[i], arm), np.zeros(3))
    q[2] = u[2] = 0.0  # the rod turns about z
    return q, u


@dataclass(frozen=True)
class Case:
    """axes: of the joint in the world; centre: from the joint, in its axes [m]; slender: along this axis.

    closing: what else holds the body.
    """

    name: str
    joint: Callable[[fm.Point, fm.Point], fm.Joint]
    state: Callable[[Curve, int], State]
    axes: fm.Rotation = IDENTITY
    centre: tuple[float, float, float] = (2.0, 0.0, 0.0)
    spring: bool = False
    slender: int = 0
    closing: Callable[[fm.Point, fm.Point], fm.Joint] | None = None

    def model(self) -> fm.Model:
        model = fm.Model(self.name, gravity=(0, 0, -9.80665))
        inertia = np.full(3, 0.1)
        inertia[self.slender] = 0.04
        body = fm.Body("b", mass=1, com=self.centre, inertia=inertia, points={"centre": self.centre})
        ground = model.ground.at(rotation=self.axes)
        model.add(body, self.joint(ground, body.at()))
        if self.spring:
            model.add(fm.Spring("S", ground, body.at(), stiffness=10, damping=0.5))
        if self.closing:
            model.add(self.closing(ground, body.at()))
        return model


CASES = [
    Case("Revolute", lambda F, M: fm.Revolute("J", F, M, axis="z"), pendulum_state, TURNED),
    Case(
        "RotSpring",
        lambda F, M: fm.Revolute("J", F, M, axis="z", stiffness=200, damping=10),
        pendulum_state,
        TURNED,
    ),
    Case("Spherical", lambda F, M: fm.Spherical("J", F, M), spherical_state),
    Case("Prismatic", lambda F, M: fm.Prismatic("J", F, M, axis="z"), prismatic_state),
    Case("TranSpring", lambda F, M: fm.Free("J", F, M), free_state, centre=(0.0, 0.0, 0.0), spring=True),
    Case(
        "Universal",
        lambda F, M: fm.Universal("J", F, M, axes="xy"),
        universal_state,
        RAISED,
        centre=(0.0, 0.0, -2.0),
        slender=2,
    ),
    Case("Cylindrical", lambda F, M: fm.Cylindrical("J", F, M, axis="z"), cylindrical_state),
    Case(
        "Distance",
        lambda F, M: fm.Free("J", F, M, q0=(0, 2, 0, 1, 0, 0, 0)),
        free_state,
        centre=(0.0, 0.0, 0.0),
        closing=lambda F, M: fm.Distance("C", F, M, length=2.0),
    ),
    Case(
        "RevSpherical",
        lambda F, M: fm.Free("J", F, M, q0=(2, 0, 0, 1, 0, 0, 0)),
        hinged_rod_state,
        centre=(0.0, 2.0, 0.0),
        slender=1,
        closing=lambda F, M: fm.RevoluteSpherical("C", F, M, length=2.0, axis="z"),
    ),
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@each_case
def test_the_body_moves_as_in_adams(published, case):
    curve = published("adams_joints", f"{case.name}_Case01")
    found = run(case.model(), curve.time, ["b.centre.r", "b.centre.v", "b.w", "b.quat"])
    place, speed = RUN[case.name]
    for name, tolerance in (("b.centre.r", place), ("b.centre.v", speed), ("b.w", speed)):
        assert_allclose(found[name], curve.stack(GLOBAL[name]), rtol=DIGITS, atol=tolerance, err_msg=name)
    quaternions = curve.stack("e0 e1 e2 e3")
    alike = np.sign(np.sum(found["b.quat"] * quaternions, axis=1, keepdims=True))
    assert_allclose(alike * found["b.quat"], quaternions, rtol=DIGITS, atol=place)


@each_case
def test_accelerations_and_reactions_at_the_states_of_adams(published, case):
    curve = published("adams_joints", f"{case.name}_Case01")
    solver = started(case.model())
    tolerances = {"b.centre.r": (DIGITS, STATE), "b.centre.v": (DIGITS, SPEED), "b.w": (DIGITS, STATE)}
    if case.closing:
        tolerances["b.centre.v"] = tolerances["b.w"] = DIGITS, 1.3 * SPEED
    loads = CLOSED.get(case.name, (DIGITS, ACCELERATION))
    side = "1" if case.name == "RevSpherical" else ""  # of the two that it shows
    for i in range(len(curve.time)):
        solver.set_state(*case.state(curve, i))
        force, torque = on_the_ground(solver, case)
        found = [(name, solver.get(name), columns) for name, columns in GLOBAL.items()]
        found += [("force", force, f"F{side}x F{side}y F{side}z"), ("torque", torque, f"T{side}x T{side}y T{side}z")]
        for name, value, columns in found:
            relative, absolute = tolerances.get(name, loads)
            assert_allclose(value, curve.stack(columns)[i], rtol=relative, atol=absolute, err_msg=name)


def on_the_ground(solver: fm.Solver, case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Force and torque in world axes: the joint's, or the spring's or closing joint's where the joint is none."""
    if case.spring:
        line = solver.get("b.r") / max(solver.get("S.length"), 1e-300)
        return solver.get("S.f") * line, np.zeros(3)
    if case.closing:
        force = -solver.get("C.reaction.f")  # at the body's frame, along the rod without mass
        return force, np.cross(solver.get("b.r"), force)
    return -(case.axes @ solver.get("J.wrench.f")), -(case.axes @ solver.get("J.wrench.t"))


@pytest.mark.parametrize("case", [case for case in CASES if case.name in FREE], ids=lambda case: case.name)
def test_reactions_do_no_work_along_free_modes(case):
    """The reaction has no part along a free mode; the wrench is the reaction and what the springs apply."""
    solver = started(case.model())
    solver.step(0.35)
    force, torque = solver.get("J.reaction.f"), solver.get("J.reaction.t")
    slides, turns = FREE[case.name]
    assert_allclose(force[slides], 0, atol=ROUNDING)
    assert_allclose(torque[turns], 0, atol=ROUNDING)
    applied = np.zeros(3)
    if isinstance(joint := case.model()["J"], fm.Revolute):
        applied[2] = -joint.stiffness * solver.get("J.q") - joint.damping * solver.get("J.qd")
    assert_allclose(solver.get("J.wrench.f"), force, rtol=0, atol=ROUNDING)
    assert_allclose(solver.get("J.wrench.t"), torque + applied, rtol=0, atol=ROUNDING)


def test_a_linear_actuator_carries_the_weight_that_it_lifts(published):
    """A prescribed speed along z: what ADAMS calls the actuator's force A is the drive, what the guide P takes the
    reaction."""
    curve = published("adams_joints", "LinActuator_Case01")
    model = fm.Model("LinActuator", gravity=(0, 0, -9.80665))
    body = fm.Body("b", mass=1, inertia=(1, 1, 1))
    lift = fm.Slide("z", role="excited", path=fm.Path.polynomial(0.0, 1.0))
    model.add(body, fm.Joint("J", model.ground.at(), body.at(), modes=(lift,)))
    names = ["b.r", "b.v", "b.a", "b.w", "b.alpha", "J.drive", "J.wrench.f", "J.wrench.t"]
    found = run(model, curve.time, names)
    expected = GLOBAL | {"b.r": "x y z", "b.v": "vx vy vz", "b.a": "ax ay az"}
    for name in ("b.r", "b.v", "b.a", "b.w", "b.alpha"):
        assert_allclose(found[name], curve.stack(expected[name]), rtol=DIGITS, atol=ROUNDING, err_msg=name)
    assert_allclose(found["J.drive"], curve["FAz"], rtol=DIGITS)
    guide = found["J.wrench.f"] - found["J.drive"][:, None] * np.array([0, 0, 1])
    assert_allclose(guide, curve.stack("FPx FPy FPz"), atol=ROUNDING)
    assert_allclose(found["J.wrench.t"], curve.stack("TPx TPy TPz"), atol=ROUNDING)
