"""A trolley crane that moves its load without sway.

A trolley carries 2 t on a rope of 8 m and has to come to rest 12 m further on. It follows a velocity with two ramps,
which a drive enforces whatever the load does: the rail is a joint with one excited mode. A ramp that lasts exactly one
period of the pendulum leaves no sway behind; one of half a period leaves the most. Linear theory says how much: a ramp
of length T with the acceleration a makes the load sway by 2 a/g |sin(w T/2)|, with w^2 = g/L, and two ramps that begin
a time S apart by 2 |sin(w S/2)| times as much. The result also has the force of the drive and the tension of the rope,
from which motor and rope are chosen. SI units, angles in rad.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

LOAD, ROPE, WAY, SPEED, G = 2000.0, 8.0, 12.0, 1.5, 9.81  # [kg, m, m, m/s, m/s2]
W = np.sqrt(G / ROPE)  # of the pendulum [rad/s]


def build(ramp: float) -> fm.Model:
    """The crane, whose trolley takes `ramp` [s] to reach its speed, and as long to stop."""
    braking, a, first = WAY / SPEED, SPEED / ramp, SPEED * ramp / 2  # begins to brake [s]
    pieces = ((0, 0, a / 2), (first, SPEED), (WAY - first, SPEED, -a / 2), (WAY,))
    motion = fm.Path((0.0, ramp, braking, braking + ramp), pieces, continuity=1)  # the acceleration jumps
    model = fm.Model("crane", gravity=(0, 0, -G))
    trolley = fm.Body.box("trolley", size=(1.2, 1.0, 0.5), mass=600.0)
    load = fm.Body("load", mass=LOAD, com=(0, 0, -ROPE))  # small beside its rope, which stays taut
    rail = fm.Joint("rail", model.ground.at(0, 0, 10), trolley.at(), modes=[fm.Slide("x", role="excited", path=motion)])
    model.add(trolley, load, rail, fm.Revolute("rope", trolley.at(), load.at(), axis="y", q0=0.0, u0=0.0))
    return model


figure, axes = plt.subplots(3, 1, sharex=True, figsize=(7, 7), layout="constrained")
for ramp in (np.pi / W, 2 * np.pi / W):
    result = fm.simulate(build(ramp), stop=20.0, interval=0.02, tolerance=1e-8)
    left = np.abs(result["rope.q"][result.time > WAY / SPEED + ramp]).max()
    theory = 4 * SPEED / ramp / G * abs(np.sin(W * ramp / 2) * np.sin(W * WAY / SPEED / 2))
    tension = np.linalg.norm(result["rope.reaction.f"], axis=1).max()
    print(f"ramps of {ramp:.2f} s leave {np.degrees(left):.3f} deg of sway, linear theory {np.degrees(theory):.3f},")
    print(f"  and take up to {np.abs(result['rail.drive']).max():.0f} N; the rope carries {tension / 1e3:.2f} kN")
    assert abs(left - theory) < 1e-3  # [rad]: what is not linear
    for axis, name in zip(axes, ("rail.kappa", "rope.q", "rail.drive"), strict=True):
        axis.plot(result.time, result[name], label=f"ramps of {ramp:.2f} s")
        axis.set_ylabel(f"{name} [{result.units[name]}]")
axes[0].legend()
axes[-1].set_xlabel("time [s]")
figure.savefig("crane.png", dpi=100)
