"""A four-bar linkage at constant speed: the mechanism beside a PID controller made with pythonfmu, in two engines.

    python examples/four_bar_speed_control.py [FOLDER]

The crank of models/four_bar.py starts at 6 rad/s and shall turn at 10 rad/s, whatever the weights and inertias of
coupler and rocker do. Two FMUs, two connections: the system is written as a package (SSP), and run by libcosim and by
FMPy, to the same numbers. SI units, angles in rad.
"""

import sys
from pathlib import Path

from controllers import building, pid
from controllers.coupling import in_both_engines

import fmumbs as fm
from fmumbs.readers import read_model

FOUR_BAR = Path(__file__).parents[1] / "models" / "four_bar.py"
SETTINGS = {"kp": 2.0, "ki": 40, "setpoint": 10.0, "limit": 8.0}


def build(folder: Path) -> fm.System:
    """The system; its FMUs are written to `folder`."""
    plant = fm.export_fmu(read_model(str(FOUR_BAR)), folder / "four_bar.fmu")
    system = fm.System("four_bar_speed_control", stop=2.0, step=1e-3)
    system.add("plant", plant, outputs=["A.q", "D.q", "solver.position_violation"])
    system.add(
        "pid",
        building.python_fmu("pid", folder),
        starts=SETTINGS,
        units={"setpoint": "rad/s", "measured": "rad/s", "u": "N.m"},
        feedthrough=False,
    )
    system.connect("plant.A.qd", "pid.measured", start=6.0)
    system.connect("pid.u", "plant.A.tau", start=first_torque(6.0))
    return system


def first_torque(speed: float) -> float:
    """The controller's output when it starts, by its own code."""
    one = pid.PID(instance_name="start")
    vars(one).update(SETTINGS, measured=speed)
    one.exit_initialization_mode()
    return float(one.u)


def draw(results: dict[str, fm.Result], path: Path) -> None:
    """Speed of the crank and torque of the controller, in both engines."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
    for (name, result), style in zip(results.items(), ("-", ":"), strict=True):
        axes[0].plot(result.time, result["plant.A.qd"], style, label=name)
        axes[1].plot(result.time, result["pid.u"], style, label=name)
    axes[0].axhline(SETTINGS["setpoint"], color="gray", linewidth=0.8, label="setpoint")
    axes[0].set_ylabel("speed of the crank [rad/s]")
    axes[1].set_ylabel("torque [N.m]")
    axes[1].set_xlabel("time [s]")
    axes[0].legend()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(folder: Path) -> dict[str, fm.Result]:
    """Builds, couples in both engines, writes both results and the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    results = in_both_engines(build(folder), folder)
    draw(results, folder / "four_bar_speed_control.png")
    speed = results["libcosim"]["plant.A.qd"][-1000:]
    print(f"in the last second the crank turns at {speed.min():.2f} to {speed.max():.2f} rad/s")
    return results


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("four_bar_speed_control"))
