"""One cylinder of an engine with a connecting rod of finite elements. SI units, angles in rad.

The rod's mesh, connecting_rod.msh, has 1000 nodes; its eyes turn on the pins as rigid rings. Halfway along its shank
the stress is an output. Needs `pip install 'fmumbs[fem]'`.
"""

from functools import cache
from pathlib import Path

import numpy as np

import fmumbs as fm

LENGTH, RADIUS = 0.14, 0.04  # of the rod, between the pins, and of the crank [m]


@cache
def rod(modes: int, E: float) -> fm.ModalBody:
    """The rod along z, its big eye at the origin; modes: beside those of its eyes; E: Young's modulus [Pa]."""
    import meshio

    mesh = meshio.read(Path(__file__).with_name("connecting_rod.msh"))
    surfaces, eye = mesh.cells_dict["triangle6"], mesh.cell_data_dict["gmsh:physical"]["triangle6"]
    eyes = {name: np.unique(surfaces[eye == mesh.field_data[name][0]]) for name in ("big", "small")}
    shank = int(np.argmin(np.linalg.norm(mesh.points - (0.0, 0.009, 0.08), axis=1)))
    return fm.ModalBody.from_solid(
        "rod", nodes=mesh.points, tetrahedra=mesh.cells_dict["tetra10"], E=E, nu=0.3, density=7850.0,
        interfaces=eyes, modes=modes, damping=0.02, stiffening=True, stress_at={"shank": shank}, skin=True,
    )  # fmt: skip


def build(speed: float = 300.0, modes: int = 2, E: float = 2.1e11) -> fm.Model:
    """Speed of the crank at the start [rad/s]; modes of the rod beside those of its eyes; its Young's modulus [Pa]."""
    model = fm.Model("solid_engine", description="One cylinder with a connecting rod of finite elements.")
    ground = model.ground
    crank = fm.Body("crank", mass=2.0, com=(0, 0, 0.1 * RADIUS), inertia=(4e-3, 7e-3, 4e-3))
    con = rod(int(modes), E)
    piston = fm.Body.cylinder("piston", length=0.06, radius=0.04, mass=0.5, along="z")
    angle = 0.5
    lean = float(np.arcsin(-RADIUS * np.sin(angle) / LENGTH))
    top = float(RADIUS * np.cos(angle) + LENGTH * np.cos(lean))
    bearing = fm.Revolute("bearing", ground.at(), crank.at(), axis="y", q0=angle, u0=speed, damping=2e-3)
    crankpin = fm.Revolute("crankpin", crank.at(0, 0, RADIUS), con.point("big"), axis="y", q0=lean - angle)
    bore = fm.Prismatic("bore", ground.at(), piston.base, axis="z", q0=top, stiffness=3e4, rest=LENGTH)
    gudgeon = fm.Spherical("gudgeon", con.point("small"), piston.base)  # closes the loop
    model.add(crank, con, piston, bearing, crankpin, bore, gudgeon)
    model.experiment(stop=0.05, interval=1e-4)
    return model


if __name__ == "__main__":
    fm.simulate(build()).plot("rod.shank.mises", "bearing.qd")
    fm.export_fmu(build(), "fmus/solid_engine.fmu")
