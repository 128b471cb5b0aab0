"""A Furuta pendulum swings up and is balanced, with friction in its motor.

A motor turns an arm about the vertical; a pendulum swings at the arm's end. A digital controller, `control=`, reads
angles and rates every 2 ms and sets the motor's torque: it pumps energy into the pendulum until that suffices to stand
upright (Astrom and Furuta 2000), then holds it there by state feedback, with gains from the model's own accelerations.

Without friction the arm comes to rest. LuGre friction sticks, so the arm moves on in a limit cycle. SI units, rad.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import solve_continuous_are

import fmumbs as fm

ARM, ROD, MASS, LIMIT = 0.085, 0.129, 0.024, 0.1  # [m, m, kg, N.m]
UPRIGHT = MASS * 9.81 * ROD / 2  # energy [J]
LABELS = ("arm [rad]", "pendulum, 0 upright [rad]", "arm after 6 s [rad]")


def build(friction: fm.LuGre | None = None, start: float = np.pi - 0.05) -> fm.Model:
    """The pendulum's angle is 0 upright."""
    model = fm.Model("furuta")
    arm = fm.Body.rod("arm", length=ARM, mass=0.095, radius=0.005)
    rod = fm.Body.rod("rod", length=ROD, mass=MASS, radius=0.004, along="z")
    model.add(arm, rod, fm.Revolute("swing", arm.tip, rod.base, axis="x", q0=start))
    model.add(fm.Revolute("motor", model.ground.at(), arm.base, axis="z", rotor_inertia=4e-6, friction=friction))
    return model


solver, columns, h = fm.Solver(build(start=0.0)), [], 1e-6
for *state, tau in h * np.eye(5):  # differences of accelerations: the linear system x' = A x + B tau
    solver.set("motor.tau", tau)
    solver.set_state(state[:2], state[2:])
    columns.append([solver.get("motor.qdd") / h, solver.get("swing.qdd") / h])
A, B = np.vstack([np.eye(4)[2:], np.transpose(columns[:4])]), np.array([[0], [0], *([x] for x in columns[4])])
K = (B.T @ solve_continuous_are(A, B, np.diag([2.0, 10.0, 0.05, 0.1]), [[200.0]]) / 200.0)[0]


def control(t, now):
    """The motor's torque: energy first, then state feedback."""
    angle, w = np.remainder(now["swing.q"] + np.pi, 2 * np.pi) - np.pi, now["swing.qd"]
    energy = MASS * ROD**2 / 6 * w**2 + UPRIGHT * np.cos(angle)
    pumped = 1.5 * (UPRIGHT - energy) * w * np.cos(angle) - 1e-3 * now["motor.q"] - 5e-4 * now["motor.qd"]
    held = -K @ (now["motor.q"], angle, now["motor.qd"], w)
    return {"motor.tau": np.clip(held if abs(angle) < 0.45 else pumped, -LIMIT, LIMIT)}


bearing = fm.LuGre(1.3, 1.0, stribeck=0.5, stiffness=2000.0, damping=2.0, viscous=0.002, preload=1e-3)  # [N.m]
figure, axes = plt.subplots(3, 1, figsize=(7, 7), layout="constrained")
for friction, label in ((None, "without friction"), (bearing, "with friction")):
    result = fm.simulate(build(friction), stop=8.0, interval=0.01, control=control, control_interval=0.002)
    late, arm, swing = result.time > 6, result["motor.q"], np.remainder(result["swing.q"] + 1, 2 * np.pi) - 1
    print(f"{label}: after 6 s the arm moves by {np.ptp(arm[late]):.4f} rad, the pendulum by {np.ptp(swing[late]):.4f}")
    assert np.ptp(swing[late]) < 0.01 < np.ptp(arm[late]) + 0.01 * (friction is None)  # held; the arm hunts
    for axis, values, what in zip(axes, (arm, swing, np.where(late, arm, np.nan)), LABELS, strict=True):
        axis.plot(result.time, values, label=label)
        axis.set_ylabel(what)
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
figure.savefig("furuta_pendulum.png", dpi=100)
