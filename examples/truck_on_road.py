"""A truck of 5 t brakes on a rough road and stands: tyres that slip, and do not creep at rest.

Four wheels on springs roll at 15 m/s on a road of class C of ISO 8608. After a second each brake acts with a constant
torque T, dry friction that locks its wheel at the end. The deceleration is 4 T/(R m), R from the wheel's centre to the
road and m with the inertia of the wheels; the waves of the road change it a little. At rest the treads are springs, on
which the truck rocks for a while. Figures in brackets are expected. SI units.
"""

import matplotlib.pyplot as plt
import numpy as np

import fmumbs as fm

G, BODY, HUB, WHEEL, SPIN = 9.81, 4800.0, 20.0, 100.0, 13.0  # SPIN of a wheel about its axis
SPEED, BRAKE, BEGINS, STOP = 15.0, 2500.0, 1.0, 12.0  # [m/s], [N.m] a wheel, [s], [s]
SPRING, TYRE, RADIUS = 1.5e5, 8e5, 0.5  # [N/m, N/m, m]
TREAD = {"mu": 0.8, "slip_stiffness": (2e5, 1.5e5), "relaxation": (0.2, 0.4)}
MASS = BODY + 4 * (HUB + WHEEL)
LOADED = RADIUS - 0.5 * MASS * G / 4 / TYRE  # contact is in the middle of what is pressed in


def build() -> fm.Model:
    """The body is free; each wheel goes up and down below it, and turns."""
    model = fm.Model("truck_on_road", gravity=(0, 0, -G), description="A truck on a road of ISO 8608.")
    body = fm.Body.box("body", size=(6.0, 2.2, 1.4), mass=BODY)
    model.add(body, fm.Free("drive", model.ground.at(7.0, 0, 1.5), body.at(3.0), u0=(SPEED, 0, 0, 0, 0, 0)))
    road = fm.Road.iso8608(model.ground.at(), "C", length=80.0, step=0.5, seed=7)
    across, rest = fm.Rotation.about("x", -0.5 * np.pi), -0.25 * BODY * G / SPRING
    for i, (x, y) in enumerate(((5.0, 0.9), (5.0, -0.9), (1.0, 0.9), (1.0, -0.9))):
        hub, wheel = fm.Body(f"hub{i}", mass=HUB), fm.Body(f"wheel{i}", mass=WHEEL, inertia=(7, SPIN, 7))
        ride = {"axis": "z", "stiffness": SPRING, "damping": 1e4, "rest": rest}
        axle = fm.Revolute(f"axle{i}", hub.at(), wheel.at(), axis="y", u0=SPEED / LOADED)
        model.add(hub, wheel, fm.Prismatic(f"ride{i}", body.at(x, y, -1.0), hub.at(), **ride), axle)
        model.add(fm.Law.brake(f"brake{i}", on=axle, force=BRAKE, scaled=True))
        disc = fm.Disc(wheel.at(rotation=across), RADIUS, thickness=0.25)
        model.add(fm.Tyre(f"tyre{i}", disc, road, fm.Press(TYRE, damping=0.1), **TREAD))
    return model


pedal = fm.Signal([0.0, BEGINS], [0.0, 1.0], "hold")
result = build().simulate(stop=STOP, interval=0.01, inputs={f"brake{i}.scale_in": pedal for i in range(4)})
time, x, v = result.time, result["drive.r[1]"], result["drive.v[1]"]
way = v[time == BEGINS][0] ** 2 / 2 * (MASS + 4 * SPIN / LOADED**2) * LOADED / (4 * BRAKE)
braked, creep = x[-1] - x[time == BEGINS][0], np.ptp(x[time > STOP - 1.0])
print(f"the truck stands after {braked:.2f} m ({way:.2f}), and creeps by {creep:.0e} m in the last second (0)")
assert abs(braked / way - 1) < 0.01 and creep < 1e-6

figure, (one, other) = plt.subplots(2, 1, figsize=(7, 6), sharex=True, layout="constrained")
one.plot(time, v)
one.set(ylabel="speed [m/s]")
other.plot(time, result["tyre0.normal"] / 1e3, time, result["tyre2.normal"] / 1e3, "--")
other.set(ylabel="load of a wheel in front, behind (dashed) [kN]", xlabel="time [s]")
figure.savefig("truck_on_road.png", dpi=100)
result.view().save("truck_on_road.html")
