"""A trolley carries a load from rest to rest without sway: the crane beside a controller written in C, in two engines.

    python examples/crane_anti_sway.py [FOLDER]

The controller is an FMU compiled from examples/controllers/anti_sway.c: feedback of position and velocity, and of angle
and angular velocity of the rope. Two cranes in one system: one whose controller sees the rope, and one whose gains for
the rope are zero. The gains place the poles of the crane's linear motion about the hanging load. SI units, angles in
rad.
"""

import sys
from pathlib import Path

import numpy as np
from controllers import building
from controllers.coupling import in_both_engines
from scipy.signal import place_poles

import fmumbs as fm

TROLLEY, LOAD, ROPE, GRAVITY = 300.0, 500.0, 4.0, 9.81  # [kg, kg, m, m/s2]
DISTANCE, TIME, STEP = 5.0, 4.0, 0.01  # [m, s, s]
POLES = (-1.4 + 1.6j, -1.4 - 1.6j, -1.8 + 0.5j, -1.8 - 0.5j)  # [1/s]
GAINS = ("k_x", "k_v", "k_angle", "k_rate")
CRANES = ("seeing", "blind")


def crane() -> fm.Model:
    """A trolley on a rail along x, and a load on a rope that stays taut: a rod without mass."""
    model = fm.Model("trolley_crane", gravity=(0, 0, -GRAVITY), description="Trolley with a swinging load")
    trolley = fm.Body.box("trolley", size=(1.0, 1.0, 0.4), mass=TROLLEY)
    load = fm.Body("load", mass=LOAD, com=(0, 0, -ROPE), inertia=(60.0, 60.0, 60.0))
    rail = fm.Prismatic("rail", model.ground.at(0, 0, 6), trolley.at(), axis="x")
    rope = fm.Revolute("rope", trolley.at(), load.at(), axis="y")
    model.add(trolley, load, rail, rope)
    model.experiment(stop=12.0, interval=STEP)
    return model


def gains() -> dict[str, float]:
    """Gains of x, v, angle and rate that give the linear motion about the hanging load its POLES.

    (M + m) a - m l alpha = F and (m l^2 + J) alpha - m l a = -m g l angle, for an angle that moves the load against x.
    """
    moment, inertia = LOAD * ROPE, LOAD * ROPE**2 + 60.0
    mass = np.array([[TROLLEY + LOAD, -moment], [-moment, inertia]])
    stiffness = np.array([[0.0, 0.0], [0.0, moment * GRAVITY]])
    first = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(mass, stiffness), np.zeros((2, 2))]])
    force = np.concatenate([np.zeros(2), np.linalg.solve(mass, [1.0, 0.0])])[:, None]
    k = place_poles(first, force, POLES).gain_matrix[0]
    return dict(zip(GAINS, map(float, k[[0, 2, 1, 3]]), strict=True))


def build(folder: Path) -> fm.System:
    """The system of both cranes with their controllers; its FMUs are written to `folder`."""
    plant = fm.export_fmu(crane(), folder / "trolley_crane.fmu")
    control = building.c_fmu("anti_sway", folder)
    system = fm.System("crane_anti_sway", stop=12.0, step=STEP)
    for name in CRANES:
        starts = {"distance": DISTANCE, "time": TIME, **gains()}
        if name == "blind":
            starts |= {"k_x": 4000.0, "k_v": 4000.0, "k_angle": 0.0, "k_rate": 0.0}
        system.add(name, plant, outputs=["load.r[1]"])
        system.add(f"{name}_control", control, starts=starts)
        system.connect(f"{name}.rail.q", f"{name}_control.x", start=0.0)
        system.connect(f"{name}.rail.qd", f"{name}_control.v", start=0.0)
        system.connect(f"{name}.rope.q", f"{name}_control.angle", start=0.0)
        system.connect(f"{name}.rope.qd", f"{name}_control.rate", start=0.0)
        system.connect(f"{name}_control.force", f"{name}.rail.f", start=0.0)
    return system


def sway(result: fm.Result, name: str) -> float:
    """Largest angle of the rope in the last four seconds [rad]."""
    return float(np.abs(result[f"{name}.rope.q"][result.time >= 8.0]).max())


def main(folder: Path) -> dict[str, fm.Result]:
    """Builds, couples in both engines, writes both results and the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    results = in_both_engines(build(folder), folder)
    names = [f"{crane}.rail.q" for crane in CRANES] + ["seeing_control.desired"]
    names += [f"{crane}.rope.q" for crane in CRANES] + [f"{crane}_control.force" for crane in CRANES]
    results["libcosim"].plot(*names, path=folder / "crane_anti_sway.png")
    for name in CRANES:
        print(f"{name}: after 8 s the rope sways by up to {np.degrees(sway(results['libcosim'], name)):.2f} deg")
    return results


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("crane_anti_sway"))
