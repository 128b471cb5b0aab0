"""Gantry: the forces of three driven slides that carry a swinging load. SI units, angles in rad.

Bridge, trolley and hoist move as prescribed, from rest to rest. The forces of their drives are X.drive, Y.drive
and Z.drive; the load swings on a rope that is a rod on a universal joint.
"""

import fmumbs as fm


def build(bridge=800.0, trolley=200.0, hoist=50.0, load=300.0, rope=2.0, time=4.0, damping=20.0) -> fm.Model:
    """Masses [kg]; length of the rope [m]; time of a move [s]; damping of the swing [N.m.s/rad]."""
    model = fm.Model("gantry", gravity=(0, 0, -9.81), description="Prescribed slides and a swinging load")
    parts = [
        fm.Body.box("bridge", size=(0.5, 8.0, 0.6), mass=bridge, along="y"),
        fm.Body.box("trolley", size=(0.8, 0.8, 0.4), mass=trolley, along="x"),
        fm.Body.box("hoist", size=(0.3, 0.3, 0.3), mass=hoist, along="z"),
    ]
    swinging = fm.Body("load", mass=load, com=(0, 0, -rope), inertia=[load * 0.8**2 / 6] * 3)
    moves = {
        "X": ("x", fm.Path.quintic([0, time], [0, 6])),
        "Y": ("y", fm.Path.quintic([0, time / 2, time], [1, 1, 5])),
        "Z": ("z", fm.Path.quintic([0, time / 4, time / 2, time], [0, 1.5, 1.5, 0.5])),
    }
    F = model.ground.at(0, 0, 6)
    for part, (name, (axis, path)) in zip(parts, moves.items(), strict=True):
        model.add(part, fm.Joint(name, F, part.at(), modes=[fm.Slide(axis, role="excited", path=path)]))
        F = part.at()
    model.add(swinging, fm.Universal("U", F, swinging.at(), axes=("x", "y"), damping=damping))
    model.experiment(stop=2 * time, interval=0.01)
    return model


if __name__ == "__main__":
    fm.simulate(build(), stop=8.0).plot("X.drive")
    fm.export_fmu(build(), "fmus/gantry.fmu")
