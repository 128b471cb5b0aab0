"""Planar four-bar linkage, torque on the crank. SI units, angles in rad."""

import fmumbs as fm


def build(crank: float = 0.10, coupler: float = 0.26, rocker: float = 0.22, base: float = 0.25) -> fm.Model:
    """Lengths between the pins [m], of the base between the pivots."""
    model = fm.Model("four_bar", gravity=(0, 0, -9.81), description="Planar four-bar linkage.")
    ground = model.ground
    a = fm.Body.rod("crank", length=crank, mass=0.3)
    b = fm.Body.rod("coupler", length=coupler, mass=0.8)
    c = fm.Body.rod("rocker", length=rocker, mass=0.6)
    A = fm.Revolute("A", ground.at(0, 0, 0), a.base, axis="y", q0=-1.2, u0=6.0)
    B = fm.Revolute("B", a.tip, b.base, axis="y", q0=0.7)
    D = fm.Revolute("D", ground.at(base, 0, 0), c.base, axis="y", q0=-1.4)
    C = fm.Revolute("C", b.tip, c.tip, axis="y")  # closes the loop
    model.add(a, b, c, A, B, D, C)
    model.experiment(stop=5.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=5.0, inputs={"A.tau": 0.05}).plot("D.q")
    fm.export_fmu(build(), "fmus/four_bar.fmu")
