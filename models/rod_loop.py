"""A closed chain of rods in the plane x-z, suspended at one pin. SI units, angles in rad.

It starts at rest as a regular polygon.
"""

import numpy as np

import fmumbs as fm


def build(rods: int = 100, length: float = 10.0) -> fm.Model:
    """Number of rods, and their total length [m]."""
    model = fm.Model("rod_loop", description="A closed chain of rods, hung up at one pin.")
    each = length / rods
    turn = 2 * np.pi / rods
    bodies = [fm.Body.rod(f"rod{i}", length=each, mass=each, radius=0.1 * each) for i in range(rods)]
    at, q0 = model.ground.at(), turn / 2
    for i, body in enumerate(bodies):
        model.add(body, fm.Revolute(f"J{i}", at, body.base, axis="y", q0=q0, damping=0.002))
        at, q0 = body.tip, turn
    closing = fm.Revolute(f"J{rods}", at, model.ground.at(), axis="y")
    model.add(closing)
    for name in ("J0.q", f"J{rods // 2}.q", f"rod{rods // 2}.r", "solver.energy"):
        model.output(name, of=name)
    model.experiment(stop=2.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build()).plot("J0.q")
    fm.export_fmu(build(), "fmus/rod_loop.fmu")
