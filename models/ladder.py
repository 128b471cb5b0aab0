"""A row of four-bar windows in the plane x-z: cranks, and rungs between them. SI units, angles in rad.

The joints are spatial revolutes, so three constraint rows of each loop are redundant. All cranks have the same length
and each rung that of its base, so that every crank stays parallel to the first, except in the folded position.
"""

import fmumbs as fm


def build(windows: int = 1, crank: float = 0.5, rung: float = 0.8) -> fm.Model:
    """Number of loops; lengths [m]."""
    model = fm.Model("ladder", description="A row of four-bar windows.")
    ground = model.ground
    cranks = [fm.Body.rod(f"crank{i}", length=crank, mass=1.0, radius=0.01) for i in range(windows + 1)]
    rungs = [fm.Body.rod(f"rung{i}", length=rung, mass=1.5, radius=0.01) for i in range(1, windows + 1)]
    q0, u0 = 0.9, 1.0
    for i, body in enumerate(cranks):
        pivot = ground.at(i * rung, 0, 0)
        model.add(body, fm.Revolute(f"A{i}", pivot, body.base, axis="y", q0=q0, u0=u0))
    for i, body in enumerate(rungs, 1):
        model.add(body, fm.Revolute(f"B{i}", cranks[i - 1].tip, body.base, axis="y", q0=-q0, u0=-u0))
        model.add(fm.Revolute(f"C{i}", body.tip, cranks[i].tip, axis="y"))  # closes the window
    model.experiment(stop=5.0, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build()).plot("A0.q", "A1.q")
    fm.export_fmu(build(), "fmus/ladder.fmu")
