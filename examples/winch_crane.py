"""A crane with a winch: the rope becomes taut, lifts its load over a sheave, and the load swings.

A load of 800 kg stands on the ground; the winch at the foot of the mast takes in a slack rope over a sheave at the tip
of the boom. `fm.Rope` runs from the load over an `fm.Pulley` to the winch, which pays out at its last end: `winch=True`
makes the unstretched length an input. Where the rope becomes taut the integrator stops and goes on, so the load leaves
the ground at the right instant. Then it is lifted by 3 m, and the sheave turns as the rope runs.

At rest both sides pull with the load's weight. A load that swings through an angle pulls up to m g (3 - 2 cos(angle)).
Those are the figures in brackets. SI units.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

LOAD, G, RADIUS = 800.0, 9.81, 0.25  # [kg, m/s2, m]
REACH, HEIGHT, DOWN = 6.0, 9.0, 8.0  # of the sheave's axle, and how far the load hangs below it [m]
SLACK, HOIST, ANGLE = 0.2, 3.0, 0.3  # [m, m, rad]


def build(length: float, angle: float = 0.0) -> fm.Model:
    """length: of the rope [m]; angle: of the load from below the sheave's edge [rad]."""
    model = fm.Model("winch_crane", gravity=(0, 0, -G))
    load = fm.Body.box("load", size=(1, 1, 1), mass=LOAD)
    sheave = fm.Body.cylinder("sheave", length=0.1, radius=RADIUS, mass=30.0, along="y")
    below = model.ground.at(REACH + RADIUS, 0, HEIGHT)
    start = (-DOWN * np.sin(angle), -DOWN * np.cos(angle))
    hang = fm.Joint("hang", below, load.at(0.5, 0, 0.5), modes=(fm.Slide("x"), fm.Slide("z")), q0=start)
    axle = fm.Revolute("axle", model.ground.at(REACH, 0, HEIGHT), sheave.at(0, 0.05, 0), axis="y")
    model.add(load, sheave, hang, axle)
    if angle == 0.0:
        model.add(fm.Stop("soil", hang, mode=2, lower=-DOWN, stiffness=1e7, damping=1e5))
    way = [load.at(0.5, 0, 0.5), fm.Pulley(axle, RADIUS), model.ground.at(0, 0, 1, name="winch")]
    model.add(fm.Rope("rope", way, stiffness=4e6, damping=4e4, length=length, winch=True))
    return model


way = DOWN + np.sqrt(REACH**2 + (HEIGHT - 1.0) ** 2 - RADIUS**2)  # of the rope, without what lies on the sheave
wound = fm.Signal([0.0, 1.0, 5.0], [way + SLACK, way, way - HOIST])
lifted = fm.simulate(build(way + SLACK), stop=9.0, interval=0.01, inputs={"rope.length": wound})
pull, height = lifted["rope.tension"], lifted["hang.q[2]"] + DOWN
print(f"taut after {lifted.time[pull[:, 0] > 0.0][0]:.2f} s, at rest {pull[-1] / 1e3} kN ({LOAD * G / 1e3:.3f})")
print(f"lifted by {height[-1]:.3f} m ({HOIST}), the sheave turned by {lifted['axle.q'][-1]:.2f} rad ({HOIST / RADIUS})")
assert np.allclose(pull[-1], LOAD * G, rtol=1e-3) and abs(height[-1] - HOIST) < 0.05

aside = fm.Solver(build(way, ANGLE))
aside.assemble()
taut = aside.get("rope.path_length").sum() / (1.0 + LOAD * G * np.cos(ANGLE) / 4e6)
swing = fm.simulate(build(taut, ANGLE), stop=12.0, interval=0.01)
largest, expected = swing["rope.tension"].max(), LOAD * G * (3.0 - 2.0 * np.cos(ANGLE))
print(f"swinging by {ANGLE} rad: up to {largest / 1e3:.2f} kN ({expected / 1e3:.2f})")
assert abs(largest / expected - 1.0) < 0.03

figure, (one, other) = plt.subplots(2, 1, figsize=(7, 6), layout="constrained")
one.plot(lifted.time, pull / 1e3)
one.set(ylabel="tension [kN]", xlabel="time [s]")
other.plot(swing.time, swing["rope.tension"] / 1e3)
figure.savefig("winch_crane.png", dpi=100)
lifted.view().save("winch_crane.html")
