"""Flyball governor: two balls on arms drive a slider through stiff springs and dampers. SI units, angles in rad.

The benchmark A05, "Stiff flyball governor", of the library of benchmark problems for multibody dynamics of the
University of A Coruña and IFToMM (M. González, 2005): a shaft that turns freely at 2 pi rad/s, two arms hinged 0.05 m
beside its top, 30 degrees below the horizontal, with point masses of 5 kg at their ends; shaft and arms are bars of
1 m x 0.01 m x 0.01 m, the slider is a cube of 0.1 m, all of 3000 kg/m3. Spring-damper elements of 8e5 N/m and 4e4 N.s/m
connect the middle of each arm with the side of the slider, whose height S.q is 0.5 m at the start. They make it stiff.
"""

import numpy as np

import fmumbs as fm

LENGTH, WIDTH, SLIDER, DENSITY = 1.0, 0.01, 0.1, 3000.0  # of shaft and arms, of the slider [m]; [kg/m3]
LINK = 0.5  # free length of the springs [m]


def build(stiffness=8e5, damping=4e4, speed=2 * np.pi, angle=np.pi / 6, ball=5.0) -> fm.Model:
    """Of the links [N/m], [N.s/m]; speed of the shaft [rad/s]; of the arms below the horizontal [rad]; masses [kg]."""
    model = fm.Model("governor", gravity=(0, 0, -9.81), description="Flyball governor with stiff links")
    shaft = fm.Body.box("shaft", size=(WIDTH, WIDTH, LENGTH), density=DENSITY, along="z")
    slider = fm.Body.box("slider", size=(SLIDER, SLIDER, SLIDER), density=DENSITY, along="z")
    middle = SLIDER / 2
    model.add(shaft, fm.Revolute("A", model.ground.at(), shaft.base, axis="z", u0=speed))
    start = LENGTH - LENGTH * np.sin(angle)
    model.add(slider, fm.Prismatic("S", shaft.base, slider.at(0, 0, middle), axis="z", q0=start))
    for side, sign in (("left", -1.0), ("right", 1.0)):
        arm = fm.Body.box(f"arm_{side}", size=(WIDTH, WIDTH, LENGTH), density=DENSITY, along="-z")
        mass = fm.Body(f"ball_{side}", mass=ball)
        hinge = shaft.at(sign * middle, 0, LENGTH)
        model.add(arm, fm.Revolute(f"H_{side}", hinge, arm.base, axis="y", q0=-sign * (np.pi / 2 - angle)))
        model.add(mass, fm.Weld(f"W_{side}", arm.tip, mass.at()))
        link = {"stiffness": stiffness, "damping": damping, "free_length": LINK}
        model.add(fm.Spring(f"link_{side}", arm.at(0, 0, -LENGTH / 2), slider.at(sign * middle, 0, middle), **link))
    model.experiment(stop=1.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=10.0).plot("S.q", "A.qd")
    fm.export_fmu(build(), "fmus/governor.fmu")
