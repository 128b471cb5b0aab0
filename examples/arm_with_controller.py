"""An arm of two links follows a path: the mechanism beside a computed-torque controller, in two engines.

    python examples/arm_with_controller.py [FOLDER]

The controller is a Python class made an FMU by pythonfmu; it knows the arm's masses and lengths, and computes the
torques that the path takes, and what corrects the error. It runs once a millisecond. The second arm carries a load of
which the controller does not know: both arms and both controllers are one system, the same FMUs with other start
values. SI units, angles in rad.
"""

import sys
from pathlib import Path

import numpy as np
from controllers import building, computed_torque
from controllers.coupling import in_both_engines

import fmumbs as fm

LENGTHS, MASSES = (0.5, 0.4), (2.0, 1.5)
START, END, TIME = (0.3, 0.4), (1.8, -0.9), 1.0
ARMS = {"": 0.0, "_loaded": 0.5}  # load at the tip [kg] by the ends of the elements' names


def arm() -> fm.Model:
    """Two uniform rods in a vertical plane, and a load at the tip, whose mass is a parameter of the FMU."""
    model = fm.Model("arm", description="Planar arm of two links with a load")
    upper = fm.Body.rod("upper", length=LENGTHS[0], mass=MASSES[0], along="-z")
    lower = fm.Body.rod("lower", length=LENGTHS[1], mass=MASSES[1], along="-z")
    load = fm.Body("load", mass=1e-9, com=(0, 0, 0), inertia=(1e-12, 1e-12, 1e-12))
    shoulder = fm.Revolute("shoulder", model.ground.at(0, 0, 1), upper.base, axis="y", q0=START[0])
    elbow = fm.Revolute("elbow", upper.tip, lower.base, axis="y", q0=START[1])
    model.add(upper, lower, load, shoulder, elbow, fm.Weld("grip", lower.tip, load.at()))
    model.experiment(stop=1.5, interval=1e-3)
    return model


def settings() -> dict[str, float]:
    """The controller's parameters: the arm without its load, and the move."""
    known = {f"length{i + 1}": LENGTHS[i] for i in (0, 1)} | {f"mass{i + 1}": MASSES[i] for i in (0, 1)}
    ends = {f"from{i + 1}": START[i] for i in (0, 1)} | {f"to{i + 1}": END[i] for i in (0, 1)}
    return known | ends | {"time": TIME}


def first_torques() -> tuple[float, float]:
    """The controller's torques when it starts at rest, by its own code."""
    one = computed_torque.ComputedTorque(instance_name="start")
    vars(one).update(settings(), q1=START[0], q2=START[1])
    one.exit_initialization_mode()
    return float(one.tau1), float(one.tau2)


def build(folder: Path) -> fm.System:
    """The system of two arms with their controllers; its FMUs are written to `folder`."""
    plant = fm.export_fmu(arm(), folder / "arm.fmu")
    brain = building.python_fmu("computed_torque", folder)
    units = dict.fromkeys(("q1", "q2", "desired1", "desired2"), "rad") | dict.fromkeys(("w1", "w2"), "rad/s")
    units |= dict.fromkeys(("tau1", "tau2"), "N.m")
    system = fm.System("arm_with_controller", stop=1.5, step=1e-3)
    for end, load in ARMS.items():
        starts = {"load.mass": load} if load else {}
        system.add(f"arm{end}", plant, starts=starts, outputs=["lower.tip.r[1]", "lower.tip.r[3]"])
        system.add(f"control{end}", brain, starts=settings(), units=units, feedthrough=False)
        for i, joint in enumerate(("shoulder", "elbow"), 1):
            system.connect(f"arm{end}.{joint}.q", f"control{end}.q{i}", start=START[i - 1])
            system.connect(f"arm{end}.{joint}.qd", f"control{end}.w{i}", start=0.0)
            system.connect(f"control{end}.tau{i}", f"arm{end}.{joint}.tau", start=first_torques()[i - 1])
    return system


def main(folder: Path) -> dict[str, fm.Result]:
    """Builds, couples in both engines, writes both results and the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    results = in_both_engines(build(folder), folder)
    result = results["libcosim"]
    names = [f"arm{end}.{joint}.q" for end in ARMS for joint in ("shoulder", "elbow")]
    names += [f"control.desired{i}" for i in (1, 2)]
    names += [f"control{end}.tau{i}" for end in ARMS for i in (1, 2)]
    names += [f"arm{end}.lower.tip.r[{i}]" for end in ARMS for i in (1, 3)]
    result.plot(*names, path=folder / "arm_with_controller.png")
    for end, load in ARMS.items():
        error = max(
            float(np.abs(result[f"arm{end}.{joint}.q"] - result[f"control{end}.desired{i}"]).max())
            for i, joint in enumerate(("shoulder", "elbow"), 1)
        )
        print(f"with a load of {load:g} kg the joints leave the path by at most {1e3 * error:.1f} mrad")
    return results


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("arm_with_controller"))
