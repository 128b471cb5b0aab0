"""A delta robot picks and places: the angles and torques of its three motors, against the inverse kinematics.

Three arms carry the platform, each by two parallel rods, `fm.Distance`, so that it does not turn. Its path is up,
across, down, in 0.3 s; the motors' drives realise it. SI units, z up, the base at the top.

The ends of an arm's rods lie on a sphere about the platform's corner, which meets the circle of the arm: with the
corner at (x, y, z) from the motor, in the arm's plane, 2 a (x cos q - z sin q) = x^2 + y^2 + z^2 + a^2 - l^2.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

ARM, ROD, BASE, PLATE, WIDE = 0.2, 0.5, 0.12, 0.04, 0.03  # lengths; motors and corners from the axis; half of a pair
CORNERS = np.array([[-0.15, 0, -0.5], [-0.15, 0, -0.4], [0.15, 0.05, -0.4], [0.15, 0.05, -0.45]])
CYCLE, PAYLOAD, SIDES = 0.3, 0.5, np.radians([0, 120, 240])  # [s], [kg], of the arms about z


def motors(place: np.ndarray) -> np.ndarray:
    """(3,) angles of the arms below the horizontal [rad] at a place of the platform, by the formula."""
    x, y, z = np.array([fm.Rotation.about("z", -side).matrix @ place for side in SIDES]).T
    x = x + PLATE - BASE
    return np.arctan2(-z, x) - np.arccos((x**2 + y**2 + z**2 + ARM**2 - ROD**2) / (2 * ARM) / np.hypot(x, z))


def build() -> fm.Model:
    """Arms on motors, rods without mass, and the platform with its payload."""
    model = fm.Model("delta_robot", description="A delta robot that picks and places.")
    platform = fm.Body.cylinder("platform", length=0.02, radius=PLATE, mass=0.3 + PAYLOAD, along="z")
    model.add(platform, fm.Free("free", model.ground.at(), platform.at(), q0=(*CORNERS[0], 1, 0, 0, 0)))
    arms = []
    for i, (side, q) in enumerate(zip(SIDES, motors(CORNERS[0]), strict=True), 1):
        turned, arm = fm.Rotation.about("z", side), fm.Body.rod(f"arm{i}", length=ARM, mass=0.25, radius=0.012)
        place = model.ground.at(*turned.matrix @ (BASE, 0, 0), rotation=turned)
        arms.append(fm.Revolute(f"motor{i}", place, arm.base, axis="y", q0=float(q), rotor_inertia=2e-3))
        model.add(arm, arms[-1])
        for j, y in enumerate((-WIDE, WIDE), 1):
            corner = platform.at(*turned.matrix @ (PLATE, y, 0))
            model.add(fm.Distance(f"rod{i}{j}", arm.at(ARM, y, 0), corner, length=ROD))
    path = fm.Path.polyline(CORNERS, CYCLE / 3).paths
    model.add(fm.ProgrammedPoint("tool", platform.at(), path=path, drives=arms))
    return model


if __name__ == "__main__":
    result = build().simulate(stop=CYCLE, interval=5e-4)
    angles, speeds = (np.array([result[f"motor{i}.{what}"] for i in (1, 2, 3)]) for what in ("q", "qd"))
    exact, torques = np.array([motors(one) for one in result["tool.target"]]).T, result["tool.drive"].T
    work, energy = np.trapezoid((torques * speeds).sum(axis=0), result.time), np.ptp(result["solver.energy"][[0, -1]])
    error, most, turned = (np.abs(one).max() for one in (angles - exact, torques, result["platform.quat"][:, 1:]))
    print(f"arms up to {np.degrees(angles.max()):.1f} deg, off {error:.0e} rad, torque {most:.1f} N.m")
    print(f"work of the motors {work:.6f} J, change of energy {energy:.6f} J; platform turns by {turned:.0e} rad")
    assert error < 1e-9 and turned < 1e-9 and abs(abs(work) - energy) < 1e-8
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    left.plot(result.time, np.degrees(angles).T)
    left.set(xlabel="time [s]", ylabel="angle of the arms [deg]")
    right.plot(result.time, torques.T)
    right.set(xlabel="time [s]", ylabel="torque of the motors [N.m]")
    figure.savefig("delta_robot.png", dpi=100)
