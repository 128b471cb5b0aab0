"""Four-link mechanism with a flexible coupler, swinging under gravity. SI units, angles in rad.

The first example of Zhang, Rui and others, A framework for establishing constraint Jacobian matrices of planar
rigid-flexible multibody systems (2023): three links of 1 m and 1 kg and a base of 1 m, the coupler a beam with two
modes, at rest with the cranks at 60 degrees. Here gravity points towards the cranks' tips, so that the mechanism never
reaches its folded position, and the coupler is soft enough for Runge-Kutta steps of 0.01 s. Its modes are those of a
beam clamped at the crank: with pinned ends the coupler would keep its length, and the loop, a parallelogram, would stay
closed without correction.
"""

import numpy as np

import fmumbs as fm


def build(length=1.0, mass=1.0, EI=10.0, modes=2, angle=np.pi / 3) -> fm.Model:
    """Length [m] and mass [kg] of each link; EI [N.m2] and number of modes of the coupler; cranks' angle [rad]."""
    model = fm.Model("four_link_flexible", gravity=(0, 9.81, 0), description="Four-link mechanism, flexible coupler.")
    ground = model.ground
    crank = fm.Body.rod("crank", length=length, mass=mass)
    coupler = fm.ModalBody.beam("coupler", length=length, mass=mass, EI=EI, modes=modes, boundary="clamped-free")
    rocker = fm.Body.rod("rocker", length=length, mass=mass)
    A = fm.Revolute("A", ground.at(), crank.base, axis="z", q0=angle)
    B = fm.Revolute("B", crank.tip, coupler.base, axis="z", q0=-angle)
    D = fm.Revolute("D", ground.at(length, 0, 0), rocker.base, axis="z", q0=angle)
    C = fm.Revolute("C", coupler.tip, rocker.tip, axis="z")  # closes the loop
    model.add(crank, coupler, rocker, A, B, D, C)
    model.experiment(stop=20.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=20.0).plot("A.q", "coupler.q[1]")
    fm.export_fmu(build(), "fmus/four_link_flexible.fmu")
