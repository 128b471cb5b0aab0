"""Cardan shaft: an inclined motor turns an upright shaft through a universal joint. SI units, angles in rad.

The motor's speed is constant. With the motor's angle f and the bend b between the axes, the shaft's speed is the
motor's times cos b / (1 - sin^2 b cos^2 f), and the motor's torque pulses twice per turn. The shaft is suspended from
the joint; springs and dampers support its lower end like a soft bearing.
"""

import numpy as np

import fmumbs as fm


def build(bend=0.4, speed=20.0, length=1.0, radius=0.03, mass=7.0, stiffness=2e4, damping=400.0) -> fm.Model:
    """Bend [rad]; speed of the motor [rad/s]; shaft [m], [m], [kg]; each strut of the bearing [N/m], [N.s/m]."""
    model = fm.Model("cardan_shaft", gravity=(0, 0, -9.81), description="Universal joint between bent shafts")
    ground = model.ground
    motor = fm.Body.cylinder("motor", length=0.2, radius=0.05, mass=2.0, along="z")
    shaft = fm.Body.cylinder("shaft", length=length, radius=radius, mass=mass, along="-z")
    disc = fm.Body.cylinder("disc", length=0.02, radius=0.15, mass=3.0, along="-z")
    inclined = ground.at(rotation=fm.Rotation.about("y", bend))
    A = fm.Joint("A", inclined, motor.base, modes=[fm.Turn("z", role="excited", path=fm.Path.polynomial(0, speed))])
    upright, even = (0, -bend), (-speed * np.tan(bend), 0)
    U = fm.Universal("U", motor.base, shaft.base, axes=("x", "y"), q0=upright, u0=even)
    W = fm.Weld("W", shaft.tip, disc.base)
    model.add(motor, shaft, disc, A, U, W)
    for k, (x, y) in enumerate([(0.3, 0), (0, 0.3), (-0.3, 0), (0, -0.3)], start=1):
        strut = {"stiffness": stiffness, "damping": damping, "free_length": 0.3}
        model.add(fm.Spring(f"S{k}", ground.at(x, y, -length), shaft.tip, **strut))
    model.experiment(stop=2.0, interval=0.002)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=2.0).plot("A.drive")
    fm.export_fmu(build(), "fmus/cardan_shaft.fmu")
