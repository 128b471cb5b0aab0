"""A gripper lifts a ball from a table and holds it for a minute by friction alone, without creep.

Two fingers slide in a wrist and press the ball, each with 10 N; the wrist follows a path. Bristles of friction are
springs that keep their places on the fingers: as the ball leaves the table, it sinks by m g/(2 k) between the fingers,
and stays there. Figures in brackets are expected. SI units.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

MASS, RADIUS, G = 0.5, 0.05, 9.81
GRIP, BRISTLES = 10.0, 1e5  # [N] of each finger, [N/m] at each
CLOSED, LIFTED, STOP, HEIGHT = 0.5, 1.5, 62.5, 0.3  # [s, s, s, m]


def build() -> fm.Model:
    """The wrist follows a path, the fingers slide in it, the ball is free."""
    model = fm.Model("gripper", gravity=(0, 0, -G), description="Two fingers lift a ball.")
    wrist = fm.Body.box("wrist", size=(0.24, 0.03, 0.03), mass=1.0)
    ball = fm.Body.sphere("ball", radius=RADIUS, mass=MASS)
    lift = fm.Slide("z", role="excited", path=fm.Path.quintic([CLOSED, LIFTED], [0.0, HEIGHT]))
    model.add(wrist, ball, fm.Joint("lift", model.ground.at(-0.12, 0, 0.17), wrist.at(), modes=[lift]))
    model.add(fm.Free("free", model.ground.at(0, 0, RADIUS), ball.at()))
    sphere, press = fm.Sphere(ball.at(), RADIUS), fm.Press(1e5, damping=0.5)
    hold = fm.Coulomb(0.6, stiffness=BRISTLES, drilling_arm=2e-3, turning_stiffness=10.0)
    model.add(fm.Contact("table", sphere, fm.Plane(model.ground.at()), press, hold))
    for name, side in (("left", -1.0), ("right", 1.0)):
        finger = fm.Body.box(name, size=(0.16, 0.04, 0.02), mass=0.1)  # its axis points down
        down, inwards = fm.Rotation.about("y", 0.5 * np.pi), fm.Rotation.about("x", 0.5 * np.pi * (1.0 + side))
        home = wrist.at(0.12, 0, 0, rotation=down)
        slide = fm.Prismatic(f"{name}_slide", home, finger.at(), axis="z", q0=0.07 * side, damping=5.0)
        model.add(finger, slide, fm.Load(f"{name}_drive", finger.at(0.1), force=(-GRIP * side, 0, 0)))
        pad = fm.Plane(finger.at(0.1, 0, -0.01 * side, rotation=inwards))
        model.add(fm.Contact(f"{name}_pad", sphere, pad, press, hold))
    return model


result = build().simulate(stop=STOP, interval=0.02)
z, time = result["free.r[3]"], result.time
sunk, expected = z[time == CLOSED][0] + HEIGHT - z[-1], 0.5 * MASS * G / BRISTLES
held = np.ptp(z[time > LIFTED + 1.0])
print(f"the ball sinks by {1e6 * sunk:.2f} um ({1e6 * expected:.2f}), and by {held:.0e} m in a minute (0)")
assert abs(sunk / expected - 1) < 0.02 and held < 1e-9

figure, (one, other) = plt.subplots(2, 1, figsize=(7, 6), sharex=True, layout="constrained")
early = time < LIFTED + 1.0
one.plot(time[early], z[early])
one.set(ylabel="ball [m]")
for name in ("table.normal", "left_pad.normal", "left_pad.friction"):
    other.plot(time[early], result[name][early], label=name)
other.set(ylabel="force [N]", xlabel="time [s]", ylim=(0, 2 * GRIP))
other.legend()
figure.savefig("gripper.png", dpi=100)
build().simulate(stop=2.5, interval=0.01).view().save("gripper.html")
