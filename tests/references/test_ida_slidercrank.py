"""A planar slider-crank from the examples of SUNDIALS' IDA: an inner spring and damper, a constant force.

All mass of the rod is where it meets the slider, and its inertia is about that point. The generalised force
1 - sin(angle) that the example puts on slider and rod is a force along the slide at one length of the rod beyond it.
"""

import numpy as np

import fmumbs as fm
from references.figures import run

PUBLISHED = 3 * 5e-5  # [rad] and [m]: its five digits and its tolerance of 1e-6
RECOMPUTED = 2e-9  # ten digits
A = 0.5  # length of the crank [m]


def test_slider_crank_with_an_inner_spring(published):
    model = fm.Model("slider_crank", gravity=(0, 0, 0))
    ground = model.ground
    crank = fm.Body("crank", mass=1.0, inertia=(1, 1, 1))
    rod = fm.Body("rod", mass=0.5, com=(1, 0, 0), inertia=(2, 2, 2))
    slider = fm.Body("slider", mass=0.5, inertia=(1, 1, 1))
    angle = float(np.arcsin(-A))
    model.add(crank, rod, slider)
    model.add(fm.Revolute("crank_pin", ground.at(), crank.at(), axis="z", q0=np.pi / 2))
    model.add(fm.Revolute("rod_pin", crank.at(A, 0, 0), rod.at(), axis="z", q0=angle - np.pi / 2))
    model.add(fm.Prismatic("slide", ground.at(), slider.at(), axis="x", q0=np.cos(angle)))
    model.add(fm.Revolute("slider_pin", rod.at(1, 0, 0), slider.at(), axis="z"))
    ends = crank.at(A / 2, 0, 0), rod.at(0.5, 0, 0)
    model.add(fm.Spring("spring", *ends, stiffness=1.0, damping=1.0, free_length=1.0))
    model.add(fm.Load("force", rod.at(2, 0, 0), force=(1, 0, 0)))
    curve = published("ida_slidercrank")
    found = run(model, curve.time, ["crank_pin.q", "slide.q", "rod_pin.q"])
    angles = {
        "crank_angle": found["crank_pin.q"],
        "slider_x": found["slide.q"],
        "rod_angle": found["crank_pin.q"] + found["rod_pin.q"],
    }
    for name, values in angles.items():
        np.testing.assert_allclose(values, curve[f"{name}_published"], rtol=0, atol=PUBLISHED, err_msg=name)
        np.testing.assert_allclose(values, curve[f"{name}_recomputed"], rtol=0, atol=RECOMPUTED, err_msg=name)
