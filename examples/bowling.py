"""A bowling alley: a ball slides, begins to roll, and strikes ten pins, which fall over each other.

A pin touches the lane with a box, its foot, and with the two spheres above it, by which it also touches the ball and
the other pins: 231 contacts, of which those cost next to nothing that are open and cannot close within a step. A ball
that slides rolls after 2 v/(7 mu g) with 5 v/7; figures in brackets are expected. SI units.
"""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

BALL, SPEED, OIL, G = 0.108, 8.0, 0.2, 9.81  # [m], [m/s], friction of the lane, [m/s2]
ROLLS = 2 * SPEED / (7 * OIL * G)  # [s]
SPHERES = ((0.115, 0.06), (0.345, 0.035))  # of a pin: height and radius [m]


def build() -> fm.Model:
    """Ten pins in a triangle that points to the ball."""
    model = fm.Model("bowling", gravity=(0, 0, -G), description="A ball and ten pins.")
    press, lane = fm.Press(2e5, restitution=0.6, speed=2.0), fm.Plane(model.ground.at())
    wood, oiled = fm.Coulomb(0.3, stiffness=2e4), fm.Coulomb(OIL, stiffness=2e5)
    ball = fm.Body.sphere("ball", radius=BALL, mass=6.8, color="#444c5c")
    spheres = {"ball": [fm.Sphere(ball.at(), BALL)]}
    model.add(ball, fm.Free("roll", model.ground.at(0, 0.065, BALL), ball.at(), u0=(SPEED, 0, 0, 0, 0, 0)))
    model.add(fm.Contact("lane", spheres["ball"][0], lane, press, oiled))
    for row in range(4):
        for k in range(row + 1):
            name = f"pin{len(spheres)}"
            at = model.ground.at(10.0 + 0.264 * row, 0.305 * (k - row / 2))
            pin = fm.Body(name, mass=1.5, com=(0, 0, 0.147), inertia=(0.012, 0.012, 0.002))
            spheres[name] = [fm.Sphere(pin.at(0, 0, z), radius) for z, radius in SPHERES]
            foot = fm.Box(pin.at(0, 0, 0.01), (0.05, 0.05, 0.02))
            model.add(pin, fm.Free(f"{name}_free", at, pin.at()), fm.Contact(f"{name}_foot", foot, lane, press, wood))
            for i, one in enumerate(spheres[name]):
                model.add(fm.Contact(f"{name}_lies{i}", one, lane, press, wood))
    for a, b in combinations(spheres, 2):
        for one in spheres[a]:
            for i, other in enumerate(spheres[b]):
                model.add(fm.Contact(f"{a}_{spheres[a].index(one)}_{b}_{i}", other, one, press, wood))
    return model


result = build().simulate(stop=3.5, interval=0.01)
time, v = result.time, result["roll.v[1]"]
rolls = time[result["lane.state"] == 1.0][0]
turns = [[result[f"pin{i}_free.q[{k}]"] for k in (2, 3)] for i in range(1, 11)]
upright = 1 - 2 * (np.array(turns) ** 2).sum(axis=1)
print(f"it rolls after {rolls:.2f} s ({ROLLS:.2f}) with {v[time > rolls][0]:.3f} m/s ({5 * SPEED / 7:.3f}), and fells:")
print((upright[:, -1] < 0.5).sum(), "of", len(upright), "pins")
assert abs(rolls - ROLLS) < 0.02 and (upright[:, -1] < 0.5).all()
assert np.diff(result["solver.energy"]).max() < 1e-6 * result["solver.energy"][0]

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(time, np.degrees(np.arccos(np.clip(upright, -1, 1))).T)
axes.set(xlabel="time [s]", ylabel="pins, off the vertical [deg]")
figure.savefig("bowling.png", dpi=100)
result.view().save("bowling.html")
