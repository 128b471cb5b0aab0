"""Slider-crank in the plane x-z with a spring on its slider; the crank starts at 10 rad/s. SI units, angles in rad."""

import numpy as np

import fmumbs as fm


def build(crank: float = 0.1, rod: float = 0.3, mass: float = 1.0) -> fm.Model:
    """Lengths of crank and rod between the pins [m], mass of the slider [kg]."""
    model = fm.Model("slider_crank", description="Slider-crank with a spring behind the slider.")
    ground = model.ground
    first = fm.Body.rod("crank", length=crank, mass=0.5)
    second = fm.Body.rod("rod", length=rod, mass=0.8)
    slider = fm.Body.box("slider", size=(0.06, 0.04, 0.04), mass=mass)
    at = slider.at(name="pin")
    qA = -0.8
    lean = float(np.arcsin(-crank * np.sin(qA) / rod))  # of the rod, so that it ends at z = 0
    x = float(crank * np.cos(qA) + rod * np.cos(lean))
    A = fm.Revolute("A", ground.at(), first.base, axis="y", q0=qA, u0=10.0)
    B = fm.Revolute("B", first.tip, second.base, axis="y", q0=lean - qA)
    S = fm.Prismatic("S", ground.at(), at, axis="x", q0=x, stiffness=40.0, damping=2.0, rest=0.3)
    C = fm.Revolute("C", second.tip, at, axis="y")  # closes the loop
    model.add(first, second, slider, A, B, S, C)
    model.experiment(stop=3.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build()).plot("S.q", "A.qd")
    fm.export_fmu(build(), "fmus/slider_crank.fmu")
