"""From a mesh of gmsh to an FMU: a connecting rod, and the stress in its shank under its largest loads.

The file is one as gmsh writes it (`gmsh -3 -order 2 -format msh22 rod.geo`): tetrahedra of second order, and a physical
surface in each eye, `big` and `small`. meshio reads it and scikit-fem makes stiffness and mass; what is left is a body
with ten modes and the stresses that belong to them, and its FMU needs neither. Wanted is the stress in the shank under
20 kN of thrust and 8 kN of tension. SI units. Needs `pip install 'fmumbs[fem]'`.
"""

from dataclasses import replace
from pathlib import Path

import meshio
import numpy as np

import fmumbs as fm

mesh = meshio.read(Path(__file__).parents[1] / "models" / "connecting_rod.msh")
surfaces, eye = mesh.cells_dict["triangle6"], mesh.cell_data_dict["gmsh:physical"]["triangle6"]
eyes = {name: np.unique(surfaces[eye == mesh.field_data[name][0]]) for name in ("big", "small")}
shank = int(np.argmin(np.linalg.norm(mesh.points - (0, 0.009, 0.07), axis=1)))  # the node nearest to this place

rod = fm.ModalBody.from_solid(
    "rod", nodes=mesh.points, tetrahedra=mesh.cells_dict["tetra10"], E=2.1e11, nu=0.3, density=7850.0,
    interfaces=eyes, modes=4, frame="big", damping=0.02, stiffening=True, stress_at={"shank": shank}, skin=True,
)  # fmt: skip
for row in rod.table[:4]:
    x, y, z = row.effective_mass
    print(f"{row.frequency:5.0f} Hz, {row.kind}, effective mass {x:.3f}, {y:.3f}, {z:.3f} kg")


def build(rod: fm.ModalBody) -> fm.Model:
    """The rod between a pin and a slide, on which the force bore.f acts."""
    model = fm.Model("rod_from_gmsh", gravity=(0, 0, 0), description="A connecting rod between a pin and a slide.")
    slide = fm.Body("slide", mass=0.5, inertia=(1e-4, 1e-4, 1e-4))
    model.add(rod, slide, fm.Revolute("pin", model.ground.at(), rod.point("big"), axis="y"))
    model.add(fm.Prismatic("bore", model.ground.at(0, 0, 0.14), slide.at(), axis="z"))
    model.add(fm.Spherical("gudgeon", rod.point("small"), slide.at()))
    return model


path = fm.export_fmu(build(rod), "rod_from_gmsh.fmu")
print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")
solver = fm.Solver(build(rod), equilibrium=True)
for force in (8e3, -20e3):
    solver.reset()
    solver.set("bore.f", force)
    solver.assemble()
    stress, change = solver.get("rod.shank.stress[3]"), solver.get("bore.q")
    print(f"{force / 1e3:+.0f} kN: {stress / 1e6:+.1f} MPa along the shank, which is {1e6 * change:+.1f} um longer")
    assert 0.7 < stress / (force / 6.1e-4) < 1.0  # the section is 34 by 18 mm; its sides carry more
build(replace(rod, q0=solver.get("rod.q"))).picture("rod_from_gmsh.png")  # in the colours of the displacements
