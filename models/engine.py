"""One cylinder of an engine: crank, rod and piston, the gas as a spring. SI units, angles in rad."""

import numpy as np

import fmumbs as fm


def build(stroke: float = 0.08, rod: float = 0.14, speed: float = 150.0) -> fm.Model:
    """Stroke and length of the rod [m], speed of the crank at the start [rad/s]."""
    model = fm.Model("engine", description="One cylinder: crank, rod and piston.")
    ground = model.ground
    radius = stroke / 2
    crank = fm.Body("crank", mass=2.0, com=(0, 0, 0.1 * radius), inertia=(4e-3, 7e-3, 4e-3))
    con = fm.Body.rod("rod", length=rod, mass=0.4, radius=0.01, along="z")
    piston = fm.Body.cylinder("piston", length=0.06, radius=0.04, mass=0.5, along="z")
    angle = 0.5
    lean = float(np.arcsin(-radius * np.sin(angle) / rod))
    top = float(radius * np.cos(angle) + rod * np.cos(lean))
    bearing = fm.Revolute("bearing", ground.at(), crank.at(), axis="y", q0=angle, u0=speed, damping=2e-3)
    crankpin = fm.Revolute("crankpin", crank.at(0, 0, radius, name="pin"), con.base, axis="y", q0=lean - angle)
    bore = fm.Prismatic("bore", ground.at(), piston.base, axis="z", q0=top, stiffness=3000.0, rest=rod)
    gudgeon = fm.Revolute("gudgeon", con.tip, piston.base, axis="y")  # closes the loop
    model.add(crank, con, piston, bearing, crankpin, bore, gudgeon)
    model.experiment(stop=0.5, interval=0.0005)
    return model


if __name__ == "__main__":
    fm.simulate(build()).plot("bore.q", "bearing.qd")
    fm.export_fmu(build(), "fmus/engine.fmu")
