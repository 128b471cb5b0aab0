"""A bicycle with its rider: does it balance itself? Against the benchmark of the linear equations.

Rider and frame, fork, and two wheels that roll without slip, with the numbers of the benchmark of Meijaard and others
(Proc. R. Soc. A 463, 2007). A gust tips the bicycle; nobody steers. Below about 4.3 m/s the weave grows, above 6.0 m/s
it capsizes slowly, and between it comes upright by itself.

With y = (lean, steering angle) the benchmark's equations are M y'' + v C y' + (g K0 + v^2 K2) y = 0. The mechanism is
not linear, and must agree with them for a small push. SI units, x ahead, z up.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import expm

import fmumbs as fm

TILT, BASE, TRAIL, PUSH = np.pi / 10, 1.02, 0.08, 1e-5  # steering axis [rad], [m], [m], rate of the lean [rad/s]
M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
C = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])


def build(speed: float) -> fm.Model:
    """At a speed [m/s], upright, with the rate PUSH of the lean."""
    model = fm.Model("bicycle", description="A bicycle and its rider, whom nobody steers.")
    rider = fm.Body("rider", mass=85, com=(0.3, 0, 0.9), inertia=[[9.2, 0, -2.4], [0, 11, 0], [-2.4, 0, 2.8]])
    turned = [[0.05892, 0, 0.00756], [0, 0.06, 0], [0.00756, 0, 0.00708]]
    fork = fm.Body("fork", mass=4, com=(0.9, 0, 0.7), inertia=turned)
    rear = fm.Body("rear", mass=2, inertia=(0.0603, 0.12, 0.0603))
    front = fm.Body("front", mass=3, inertia=(0.1405, 0.28, 0.1405))
    head = (BASE + TRAIL - 0.8 * np.tan(TILT), 0, 0.8)  # on the axis, which meets the ground TRAIL ahead of the wheel
    up = (-np.sin(TILT), 0, np.cos(TILT))
    start = {"q0": (0, 0, 0, 1, 0, 0, 0), "u0": (speed, 0, 0, PUSH, 0, 0)}
    model.add(rider, fork, rear, front, fm.Free("free", model.ground.at(), rider.at(), **start))
    model.add(fm.Revolute("steering", rider.at(*head), fork.at(*head), axis=up, u0=0.0))
    for wheel, hub, radius in ((rear, rider.at(0, 0, 0.3), 0.3), (front, fork.at(BASE, 0, 0.35), 0.35)):
        model.add(fm.Revolute(f"{wheel.name}_hub", hub, wheel.at(), axis="y"))
        model.add(fm.Rolling(f"{wheel.name}_contact", model.ground.at(), wheel.at(), radius=radius, axis="y"))
    return model


if __name__ == "__main__":
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.5), layout="constrained")
    for axis, speed in zip(axes, (4.0, 5.0, 7.0), strict=True):
        stiff, damped = -np.linalg.solve(M, 9.81 * K0 + speed**2 * K2), -np.linalg.solve(M, speed * C)
        A = np.block([[np.zeros((2, 2)), np.eye(2)], [stiff, damped]])
        result = build(speed).simulate(stop=3.0, interval=0.01, scheme="dop853", tolerance=1e-13)
        w, x, y, z = result["rider.quat"].T
        lean = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
        exact = np.array([expm(A * t) @ (0, 0, PUSH, 0) for t in result.time])[:, :2]
        found = np.array([lean, -result["steering.q"]]).T  # the benchmark's z points down
        error = np.abs(found - exact).max() / np.abs(exact).max()
        growth = np.linalg.eigvals(A).real.max()
        print(f"{speed:g} m/s: fastest root {growth:+.4f} 1/s, off the linear equations by {error:.1e}")
        assert error < 1e-8  # what is not linear is of the second order
        axis.plot(result.time, 1e6 * found, result.time[::15], 1e6 * exact[::15], "k.", markersize=3)
        axis.set(xlabel="time [s]", title=f"{speed:g} m/s", ylabel="lean, steering [µrad]")
    figure.savefig("bicycle.png", dpi=100)
