"""FMUs for systems: of fmumbs, of pythonfmu and of a C compiler, each built once for a folder."""

from pathlib import Path

import fmumbs as fm
from fmumbs.readers import read_model
from support.scripts import load

EXAMPLES = Path(__file__).parents[2] / "examples"
BUILDING = load(EXAMPLES / "controllers" / "building.py")


def fmu(folder: Path, name: str) -> Path:
    """The FMU of a model that ships or of a controller of the examples, written to `folder` if it is not there."""
    path = folder / f"{name}.fmu"
    if not path.exists():
        if name == "anti_sway":
            BUILDING.c_fmu(name, folder)
        elif name in ("pid", "computed_torque"):
            BUILDING.python_fmu(name, folder)
        else:
            fm.export_fmu(read_model(name), path)
    return path


def speed_control(folder: Path, **times: float) -> fm.System:
    """A four-bar at constant speed: an FMU of fmumbs and one of pythonfmu."""
    system = fm.System("speed_control", **({"stop": 0.05, "step": 1e-3} | times))
    system.add("plant", fmu(folder, "four_bar"), outputs=["A.q", "D.q", "solver.steps"])
    system.add(
        "pid",
        fmu(folder, "pid"),
        starts={"kp": 0.5, "setpoint": 10.0},
        units={"measured": "rad/s", "u": "N.m"},
        feedthrough=False,
    )
    system.connect("plant.A.qd", "pid.measured", start=6.0)
    system.connect("pid.u", "plant.A.tau", start=2.0)
    return system


SPEED_CONTROL = '''
"""A four-bar at constant speed."""
import fmumbs as fm


def build(step=1e-3) -> fm.System:
    system = fm.System("speed_control", stop=0.05, step=step)
    system.add("plant", "four_bar.fmu")
    system.add("pid", "pid.fmu", starts={"kp": 0.5, "setpoint": 10.0}, feedthrough=False)
    system.connect("plant.A.qd", "pid.measured", start=6.0)
    system.connect("pid.u", "plant.A.tau", start=2.0)
    return system
'''


def write_speed_control(folder: Path) -> None:
    """speed_control.py and the FMUs that it names."""
    for name in ("four_bar", "pid"):
        fmu(folder, name)
    (folder / "speed_control.py").write_text(SPEED_CONTROL)
