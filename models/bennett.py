"""Bennett's overconstrained loop of four hinges that are not parallel. SI units, angles in rad.

Opposite links are equal, and the ratio of the lengths is that of the sines of the twists. Then the tangents of half the
angles of neighbouring hinges have a constant product.
"""

import numpy as np

import fmumbs as fm


def build(a: float = 0.4, alpha: float = 0.6, beta: float = 1.3, q1: float = 1.2, u1: float = 1.0) -> fm.Model:
    """Length of the first link [m], twists of the first and the second one, first hinge's angle and speed."""
    model = fm.Model("bennett", gravity=(0, 0, 0), description="Bennett's loop of four hinges.")
    b = a * np.sin(beta) / np.sin(alpha)
    q2 = 2 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(q1 / 2))
    starts, shapes = (q1, q2, -q1, -q2), ((a, alpha), (b, beta)) * 2
    end = model.ground.at()
    for i, (q0, (length, twist)) in enumerate(zip(starts, shapes, strict=True), 1):
        across = fm.Rotation.about("x", twist)
        start = {"q0": q0} | ({"u0": u1} if i == 1 else {})
        if i < 4:
            link = fm.Body.rod(f"link{i}", length=length, mass=1.0, radius=0.03)
            model.add(link, fm.Revolute(f"J{i}", end, link.at(), axis="z", **start))
            end = link.at(length, 0, 0, rotation=across)
        else:  # the fourth link is the ground
            last = model.ground.at(*(-length * (across.inverse() @ (1, 0, 0))), rotation=across.inverse())
            model.add(fm.Revolute("J4", end, last, axis="z", **start))
    model.experiment(stop=5.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build()).plot("J1.q", "J2.q")
    fm.export_fmu(build(), "fmus/bennett.fmu")
