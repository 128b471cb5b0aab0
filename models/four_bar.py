"""Planar four-bar linkage, torque on the crank, which starts at 6 rad/s. SI units, angles in rad."""

import numpy as np

import fmumbs as fm


def build(crank: float = 0.10, coupler: float = 0.26, rocker: float = 0.22, base: float = 0.25) -> fm.Model:
    """Lengths between the pins [m], of the base between the pivots."""
    model = fm.Model("four_bar", gravity=(0, 0, -9.81), description="Planar four-bar linkage.")
    ground = model.ground
    a = fm.Body.rod("crank", length=crank, mass=0.3)
    b = fm.Body.rod("coupler", length=coupler, mass=0.8)
    c = fm.Body.rod("rocker", length=rocker, mass=0.6)
    qA = -1.2
    qB, qD = followers(crank, coupler, rocker, base, qA)
    A = fm.Revolute("A", ground.at(0, 0, 0), a.base, axis="y", q0=qA, u0=6.0)
    B = fm.Revolute("B", a.tip, b.base, axis="y", q0=qB)
    D = fm.Revolute("D", ground.at(base, 0, 0), c.base, axis="y", q0=qD)
    C = fm.Revolute("C", b.tip, c.tip, axis="y")  # closes the loop
    model.add(a, b, c, A, B, D, C)
    model.experiment(stop=5.0, interval=0.01)
    return model


def followers(crank, coupler, rocker, base, qA) -> tuple[float, float]:
    """The angles of B and D where the crank is at qA, in the plane of the numbers x + i z; clockwise is positive."""
    tip = crank * np.exp(-1j * qA)
    way = base - tip
    cosine = (coupler**2 + abs(way) ** 2 - rocker**2) / (2 * coupler * abs(way))
    up = np.angle(way) + np.arccos(np.clip(cosine, -1, 1))
    return float(-up - qA), float(-np.angle(tip + coupler * np.exp(1j * up) - base))


if __name__ == "__main__":
    fm.simulate(build(), stop=5.0, inputs={"A.tau": 0.05}).plot("D.q")
    fm.export_fmu(build(), "fmus/four_bar.fmu")
