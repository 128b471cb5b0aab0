"""Heavy top: a body that spins about a fixed point under gravity. SI units.

The benchmark of Geradin and Cardona: the top lies along the y-axis and spins about it; its weight makes it
precess.
"""

import fmumbs as fm


def build(
    mass=15.0, height=1.0, axial=0.46875, transverse=0.234375, spin=150.0, precession=-4.61538
) -> fm.Model:
    """Mass [kg]; height of its centre [m]; inertias about that [kg.m2]; spin, precession [rad/s]."""
    model = fm.Model("heavy_top", gravity=(0, 0, -9.81), description="Spinning top on a fixed point")
    com = (0, height, 0)
    inertia = (transverse, axial, transverse)
    top = fm.Body("top", mass=mass, com=com, inertia=inertia, points={"com": com})
    A = fm.Spherical("A", model.ground.at(0, 0, 0), top.at(0, 0, 0), u0=(0, spin, precession))
    model.add(top, A)
    model.experiment(stop=2.0, interval=0.001)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=2.0).plot("top.com.r[3]")
    fm.export_fmu(build(), "fmus/heavy_top.fmu")
