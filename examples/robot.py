"""Which motors does a robot need? Torques and power along a tool path.

An arm with three joints carries 8 kg along a rectangle of 0.6 m x 0.3 m, each edge in 0.6 s, from rest to rest. The
path is a program: the tool's position is prescribed, and the three joints are its drives, so `tool.drive` has the
torques of ideal motors. From these follow the largest torque, speed and power of each axis. Two checks: at the start,
at rest, the torques are those of gravity, which a lever gives; and over the whole path the drives' work is the change
of energy, which is none, since it ends where it began. SI units, angles in rad.
"""

import numpy as np

import fmumbs as fm

JOINTS = ("turret", "shoulder", "elbow")
UPPER, FORE, HEIGHT = 0.7, 0.6, 0.5  # [m]
Q0 = (0.0, -0.9, 1.7)  # of the joints at the first corner [rad]
ROTORS = (1.5, 1.5, 0.6)  # inertias of the motors, reflected by their gears [kg.m2]


def build() -> fm.Model:
    """Turret about z, shoulder and elbow about y; the load is at the end of the forearm."""
    model = fm.Model("robot")
    column = fm.Body.cylinder("column", length=HEIGHT, radius=0.12, mass=30.0, along="z")
    upper = fm.Body.cylinder("upper", length=UPPER, radius=0.06, mass=12.0)
    fore = fm.Body.cylinder("fore", length=FORE, radius=0.05, mass=7.0)
    load = fm.Body.box("load", size=(0.15, 0.15, 0.15), mass=8.0)
    ends = ((model.ground.at(), column.base, "z"), (column.tip, upper.base, "y"), (upper.tip, fore.base, "y"))
    joints = [
        fm.Revolute(name, F, M, axis=axis, q0=q0, rotor_inertia=rotor)
        for name, (F, M, axis), q0, rotor in zip(JOINTS, ends, Q0, ROTORS, strict=True)
    ]
    a, b = Q0[1], Q0[1] + Q0[2]
    corner = (UPPER * np.cos(a) + FORE * np.cos(b), 0.0, HEIGHT - UPPER * np.sin(a) - FORE * np.sin(b))
    path = fm.Path.rectangle(corner, (0, 0.6, 0), (0, 0, 0.3), 0.6)
    tool = fm.ProgrammedPoint("tool", fore.tip, path=path, drives=joints)
    model.add(column, upper, fore, load, *joints, fm.Weld("grip", fore.tip, load.at(0.075, 0, 0)), tool)
    return model


result = fm.simulate(build(), stop=2.4, interval=0.005, tolerance=1e-9)
torque = result["tool.drive"]
speed = np.stack([result[f"{name}.qd"] for name in JOINTS], axis=1)
power = torque * speed
for name, t, w, p in zip(JOINTS, np.abs(torque).T, np.abs(speed).T, power.T, strict=True):
    print(f"{name:>8}: {t.max():6.1f} N.m, {60 / (2 * np.pi) * w.max():4.1f} 1/min, {p.max():4.0f} W")
lever = -9.81 * (8.0 + 7.0 / 2) * FORE * np.cos(Q0[1] + Q0[2])
work, moved = np.trapezoid(power.sum(axis=1), result.time), np.trapezoid(np.abs(power).sum(axis=1), result.time)
print(f"elbow at rest {torque[0, 2]:.4f} N.m, by the lever {lever:.4f}; work {work:.0e} J of {moved:.0f} J")
assert abs(torque[0, 2] - lever) < 1e-9
assert abs(work) < 1e-6 * moved
result.plot("tool.drive", *(f"{name}.qd" for name in JOINTS), path="robot.png")
