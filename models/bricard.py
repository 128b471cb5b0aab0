"""Bricard's overconstrained, threefold symmetric loop of six hinges. SI units, angles in rad.

Neighbouring hinges are perpendicular, turned by a quarter one way and the other in turn, and equally far apart.
Then 1/cos q1 + 1/cos q2 = -1 for the two angles that alternate.
"""

import numpy as np

import fmumbs as fm


def build(side: float = 0.5, q1: float = 1.9, u1: float = 1.0) -> fm.Model:
    """Length of each of the six links [m], first hinge's angle and its speed at the start [rad], [rad/s]."""
    model = fm.Model("bricard", gravity=(0, 0, 0), description="Bricard's loop of six hinges.")
    q2 = np.arccos(-np.cos(q1) / (1 + np.cos(q1)))
    end, bodies = model.ground.at(), []
    for i in range(1, 7):
        across = fm.Rotation.about("x", np.pi / 2 if i % 2 else -np.pi / 2)
        start = {"q0": q1 if i % 2 else q2} | ({"u0": u1} if i == 1 else {})
        if i < 6:
            bodies.append(fm.Body.rod(f"link{i}", length=side, mass=1.0, radius=0.03))
            model.add(bodies[-1], fm.Revolute(f"J{i}", end, bodies[-1].at(), axis="z", **start))
            end = bodies[-1].at(side, 0, 0, rotation=across)
        else:  # the sixth link is the ground
            last = model.ground.at(*(-side * (across.inverse() @ (1, 0, 0))), rotation=across.inverse())
            model.add(fm.Revolute("J6", end, last, axis="z", **start))
    model.experiment(stop=5.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build()).plot("J1.q", "J2.q")
    fm.export_fmu(build(), "fmus/bricard.fmu")
