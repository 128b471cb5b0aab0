"""Flyball governor: two balls on arms drive a slider through stiff springs and dampers. SI units, angles in rad.

After the benchmark A05 of IFToMM's technical committee: an axle that turns freely at 2 pi rad/s, two arms of 1 m with
balls of 5 kg, hinged to its top at 30 degrees, and two spring-damper elements of 8e5 N/m and 4e4 N.s/m from the
middle of each arm to the slider. They make it stiff: an explicit scheme takes 15 000 steps for 10 s.
"""

import numpy as np

import fmumbs as fm

ARM, HALF, LINK = 1.0, 0.5, 0.5  # lengths of an arm, to its middle, of a spring [m]


def build(stiffness=8e5, damping=4e4, speed=2 * np.pi, angle=np.pi / 6, ball=5.0, slider=3.0) -> fm.Model:
    """Of the links [N/m], [N.s/m]; speed of the axle [rad/s] and angle of the arms [rad] at the start; masses [kg]."""
    model = fm.Model("governor", gravity=(0, 0, -9.81), description="Flyball governor with stiff links")
    axle = fm.Body.box("axle", size=(0.01, 0.01, 1.0), density=3000.0, along="-z")
    sleeve = fm.Body.box("slider", size=(0.1, 0.1, 0.1), mass=slider, along="z")
    model.add(axle, fm.Revolute("A", model.ground.at(), axle.base, axis="z", u0=speed))
    model.add(sleeve, fm.Prismatic("S", axle.base, sleeve.base, axis="z", q0=-2 * HALF * np.cos(angle)))
    for side, sign in (("left", -1.0), ("right", 1.0)):
        arm = fm.Body.box(f"arm_{side}", size=(0.01, 0.01, ARM), density=3000.0, along="-z")
        sphere = fm.Body.sphere(f"ball_{side}", radius=0.1, mass=ball)
        model.add(arm, fm.Revolute(f"H_{side}", axle.base, arm.base, axis="y", q0=-sign * angle))
        model.add(sphere, fm.Weld(f"W_{side}", arm.tip, sphere.at()))
        link = {"stiffness": stiffness, "damping": damping, "free_length": LINK}
        model.add(fm.Spring(f"link_{side}", arm.at(0, 0, -HALF), sleeve.base, **link))
    model.experiment(stop=1.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=10.0).plot("S.q", "A.qd")
    fm.export_fmu(build(), "fmus/governor.fmu")
