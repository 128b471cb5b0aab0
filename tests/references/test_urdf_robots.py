"""Robots from URDF against Pinocchio: inverse and forward dynamics, mass matrix, places."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from references.figures import FULL, carried
from references.urdf import Robot

AGREEMENT = 1e-12
"""Relative to the largest value. Pinocchio's figures have 17 digits; the mass matrices have conditions of
up to 1.3e3, and as many roundings of 2e-16 are 3e-13."""


class Figures:
    """A robot, its solver, and the published figures in the order of `joints`."""

    def __init__(self, name: str, extent: str) -> None:
        data = carried(f"urdf_{name}")
        self.robot = Robot.load(data["robot"])
        self.model = self.robot.model()
        self.solver = fm.Solver(self.model)
        self.solver.assemble()
        self.values = data["values"]
        if extent == "full":
            self.values = json.loads((FULL / "urdf_pinocchio" / "values.json").read_text(encoding="utf-8"))[name]
        self.joints = self.values["joint_order"]
        slides = [isinstance(self.model[joint], fm.Prismatic) for joint in self.joints]
        self.inputs = [f"{joint}.{'f' if s else 'tau'}" for joint, s in zip(self.joints, slides, strict=True)]
        self.moving = [self.model[self.robot.body_name(link)] for link in self.robot.moving]
        order = [joint for joint in self.solver.joint_names if joint in self.joints]
        self._places = [self.joints.index(joint) for joint in order]

    def accelerations(self, q: list[float], v: list[float], tau: list[float]) -> np.ndarray:
        self.solver.set_state(np.array(q)[self._places], np.array(v)[self._places])
        for name, value in zip(self.inputs, tau, strict=True):
            self.solver.set(name, value)
        return np.array([self.solver.get(f"{joint}.qdd") for joint in self.joints])

    def inverse_mass_matrix(self) -> np.ndarray:
        unknowns = [f"{joint}.qdd" for joint in self.joints]
        return np.column_stack([self.solver.directional_derivative(unknowns, [i], [1.0]) for i in self.inputs])

    def centre(self) -> np.ndarray:
        """(3,) common centre of mass of what moves, in the world."""
        total = np.zeros(3)
        for body in self.moving:
            R = fm.Rotation.quaternion(*self.solver.get(f"{body.name}.quat"))
            total += body.mass * (self.solver.get(f"{body.name}.r") + R @ body.com)
        return total / sum(body.mass for body in self.moving)


@pytest.fixture(params=["double_pendulum", "panda", "z1"])
def figures(request: pytest.FixtureRequest, extent: str) -> Figures:
    return Figures(request.param, extent)


def scaled(values: list[float]) -> float:
    return AGREEMENT * max(1.0, np.abs(values).max())


def test_the_masses_add_up(figures):
    """Pinocchio's total has the links that are fixed to the ground in it."""
    assert sum(link.mass for link in figures.robot.links) == pytest.approx(figures.values["total_mass"], rel=1e-14)


def test_torques_of_inverse_dynamics_give_the_accelerations(figures):
    for case in figures.values["cases"]:
        found = figures.accelerations(case["q"], case["v"], case["tau_inverse_dynamics"])
        assert_allclose(found, case["a"], rtol=0, atol=scaled(case["qdd_zero_torque"]))


def test_accelerations_without_torques(figures):
    for case in figures.values["cases"]:
        found = figures.accelerations(case["q"], case["v"], np.zeros(len(figures.joints)))
        assert_allclose(found, case["qdd_zero_torque"], rtol=0, atol=scaled(case["qdd_zero_torque"]))


def test_torques_against_gravity_hold_the_robot(figures):
    for case in figures.values["cases"]:
        found = figures.accelerations(case["q"], np.zeros(len(figures.joints)), case["gravity_torque"])
        assert_allclose(found, 0, atol=scaled(case["qdd_zero_torque"]))


def test_the_mass_matrix_is_the_inverse_of_the_accelerations_derivatives(figures):
    n = len(figures.joints)
    for case in figures.values["cases"]:
        figures.accelerations(case["q"], case["v"], np.zeros(n))
        mass_matrix = np.zeros((n, n))
        mass_matrix[np.triu_indices(n)] = case["M_upper"]
        mass_matrix += np.triu(mass_matrix, 1).T
        assert_allclose(figures.inverse_mass_matrix() @ mass_matrix, np.eye(n), rtol=0, atol=AGREEMENT)


def test_places_of_the_common_centre_and_the_last_joint(figures):
    last = next(joint.child for joint in figures.robot.joints if joint.name == figures.joints[-1])
    for case in figures.values["cases"]:
        figures.accelerations(case["q"], case["v"], case["a"])
        assert_allclose(figures.centre(), case["com"], rtol=0, atol=AGREEMENT)
        place = figures.solver.get(f"{figures.robot.body_name(last)}.r")
        assert_allclose(place, case["last_joint_pos"], rtol=0, atol=AGREEMENT)
