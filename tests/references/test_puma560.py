"""The Puma 560 with its motors and their friction, by Corke's Robotics Toolbox.

The published torques are applied, and accelerations read. A deviation of those counts as the torque that
would make it, M (qdd - published), since torques are what was printed to four decimals.
"""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from references.figures import carried

PRINTED = 5e-5  # [N.m], [kg m2], [rad/s2]: half a unit of the fourth decimal

PUMA = carried("puma560_rne")["values"]
POSE = np.array([0, np.pi / 4, np.pi, 0, np.pi / 4, 0])  # qn
TWISTS = np.array([1, 0, -1, 1, -1, 0]) * np.pi / 2  # alpha
GEARS = np.array(PUMA["gear"])
JOINTS = [f"J{i + 1}" for i in range(6)]


def build(qd: np.ndarray, gravity: float = PUMA["g"]) -> fm.Model:
    """Standard DH: each link's frame is at its far end, the joint's axis is z of the frame before."""
    model = fm.Model("puma560", gravity=(0, 0, -gravity))
    before = model.ground.at()
    for i, name in enumerate(JOINTS):
        up = fm.Transform(fm.Rotation.identity(), (0, 0, PUMA["dh_standard"]["d"][i]))
        out = fm.Transform(fm.Rotation.about("x", TWISTS[i]), (PUMA["dh_standard"]["a"][i], 0, 0))
        link = fm.Body(
            f"link{i + 1}",
            mass=PUMA["mass"][i],
            com=PUMA["com_in_link_frame"][i],
            inertia=PUMA["inertia_com_diag"][i],
            points={"near": (up @ out).inverse()},
            measured=True,
        )
        motor = {"rotor_inertia": PUMA["motor_Jm"][i], "damping": PUMA["viscous_B_motor"][i]}
        geared = {what: GEARS[i] ** 2 * value for what, value in motor.items()}
        model.add(link, fm.Revolute(name, before, link.point("near"), axis="z", q0=POSE[i], u0=qd[i], **geared))
        before = link.at()
    model.add(fm.Load("tip", before))
    return model


def started(qd: np.ndarray, tau: Any, **options: float) -> fm.Solver:
    """With the published torques, less what Coulomb friction takes."""
    solver = fm.Solver(build(qd, **options))
    solver.assemble()
    plus, minus = np.array(PUMA["coulomb_Tc_motor_plus_minus"]).T
    coulomb = np.abs(GEARS) * np.select([qd > 0, qd < 0], [plus, minus], 0.0)
    for name, value in zip(JOINTS, np.array(tau) - coulomb, strict=True):
        solver.set(f"{name}.tau", value)
    return solver


def accelerations(solver: fm.Solver) -> np.ndarray:
    return np.array([solver.get(f"{name}.qdd") for name in JOINTS])


def inertia_matrix(solver: fm.Solver) -> np.ndarray:
    """(6, 6) from the accelerations' exact derivatives along each torque."""
    unknowns = [f"{name}.qdd" for name in JOINTS]
    columns = [solver.directional_derivative(unknowns, [f"{name}.tau"], [1.0]) for name in JOINTS]
    return np.linalg.inv(np.column_stack(columns))


@pytest.mark.parametrize("row", PUMA["results"], ids=lambda row: "-".join(f"{k}{row[k]}" for k in row if k != "tau"))
def test_the_published_torques_give_the_published_accelerations(row):
    qd, qdd = np.full(6, float(row["qd"])), np.full(6, float(row["qdd"]))
    solver = started(qd, row["tau"], gravity=row.get("g", PUMA["g"]))
    if "tip_force_torque_in_tip_frame" in row:  # what the robot does to its surroundings
        R = fm.Rotation.quaternion(*solver.get("link6.quat"))
        wrench = np.array(row["tip_force_torque_in_tip_frame"], dtype=float)
        solver.set("tip.force", -(R @ wrench[:3]))
        solver.set("tip.torque", -(R @ wrench[3:]))
    missing = inertia_matrix(solver) @ (accelerations(solver) - qdd)
    assert_allclose(missing, 0, atol=PRINTED)


def test_the_inertia_matrix_with_the_motors():
    found = inertia_matrix(started(np.zeros(6), np.zeros(6)))
    assert_allclose(found, PUMA["inertia_matrix"], rtol=0, atol=PRINTED)


def test_directional_derivatives_are_the_differences_of_accelerations():
    """Accelerations are linear in the torques, so that one difference is exact."""
    solver = started(np.ones(6), np.zeros(6))
    matrix, rest = inertia_matrix(solver), accelerations(solver)
    for i, name in enumerate(JOINTS):
        torque = solver.get(f"{name}.tau")
        solver.set(f"{name}.tau", torque + 1.0)
        assert_allclose(matrix @ (accelerations(solver) - rest), np.eye(6)[i], atol=1e-11)
        solver.set(f"{name}.tau", torque)


def test_forward_dynamics_with_friction():
    row = PUMA["forward"]
    solver = started(np.array(row["qd"]), row["tau"])
    assert_allclose(accelerations(solver), row["qdd"], rtol=0, atol=PRINTED)
