"""Four-link mechanism whose coupler is a chain of rigid finite elements. SI units, angles in rad.

The mechanism of four_link_flexible.py, whose coupler is a beam by modes. Both converge to the same motion as the modes
and the elements grow, as long as the coupler bends little; this one also follows where it bends far.
"""

import numpy as np

import fmumbs as fm


def build(length=1.0, mass=1.0, EI=10.0, elements=6, angle=np.pi / 3, damping=0.0) -> fm.Model:
    """Length [m], mass [kg] of each link; EI [N.m2], elements, retardation time [s] of the coupler; angle [rad]."""
    model = fm.Model("flexible_four_bar", gravity=(0, 9.81, 0), description="Four-link mechanism, coupler of elements.")
    ground = model.ground
    crank, rocker = (fm.Body.rod(name, length=length, mass=mass) for name in ("crank", "rocker"))
    coupler = fm.FlexibleLink(
        "coupler", length=length, mass=mass, EIz=EI, elements=elements, plane="xy", damping=damping
    )
    A = fm.Revolute("A", ground.at(), crank.base, axis="z", q0=angle)
    B = fm.Revolute("B", crank.tip, coupler.base, axis="z", q0=-angle)
    D = fm.Revolute("D", ground.at(length, 0, 0), rocker.base, axis="z", q0=angle)
    C = fm.Revolute("C", coupler.tip, rocker.tip, axis="z")  # closes the loop
    model.add(crank, coupler, rocker, A, B, D, C)
    model.experiment(stop=2.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=2.0).plot("A.q", "coupler_tip.q[2]")
    fm.export_fmu(build(), "fmus/flexible_four_bar.fmu")
