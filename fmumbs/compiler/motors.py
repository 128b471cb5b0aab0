"""Motors: the velocity variable that each acts on, and its current among the states (core/forces/motor.c)."""

from typing import Any

from fmumbs.compiler.links import Links
from fmumbs.mechanism import Model
from fmumbs.mechanism.forces import Motor

_SMALL = 1.0  # [A]: what the error control takes as small


def geared_by_motors(model: Model) -> frozenset[str]:
    """The names of joints whose motors have a rotor."""
    return frozenset(motor.on.name for motor in model.forces_of(Motor) if motor.rotor_inertia)


def motor_fields(motor: Motor, out: Links) -> dict[str, Any]:
    """The fields of a motor as the image has them, by name; adds its state.

    Raises ModelError for one on a joint that closes a loop.
    """
    joint = out.in_tree(motor.on, f"{motor.title} drives")
    state = -1
    if motor.inductance:
        state = len(out.rows["start_z"])
        out.add(start_z=motor.current, bristle_friction=-1)
    own = {name: value for name, value in motor.fields.items() if name not in ("on", "mode", "current")}
    u = out.rows["joint_u"][joint] + motor.mode - 1
    own["inductance"] = own["inductance"] or 1.0  # of none
    return own | {"joint": joint, "u": u, "state": state, "nominal": _SMALL}
