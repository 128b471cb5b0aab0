"""Motors: the velocity variable that each acts on, its current among the states, its laws (core/forces/motor.c)."""

from collections.abc import Callable
from typing import Any

from fmumbs._limits import LARGEST
from fmumbs.compiler.laws import NO_FORCE, UNBOUNDED, add_law
from fmumbs.compiler.links import Links
from fmumbs.mechanism import Model
from fmumbs.mechanism.forces import Motor

_SMALL = 1.0  # [A]: what the error control takes as small
_BEYOND, _QUADRANTS = 3, 4  # pieces of a law that watches a limit and of one of losses, which the core makes


def geared_by_motors(model: Model) -> frozenset[str]:
    """The names of joints whose motors have a rotor."""
    return frozenset(motor.on.name for motor in model.forces_of(Motor) if motor.rotor_inertia)


def add_motor_laws(out: Links, model: Model, put: Callable[[str], int]) -> None:
    """Adds the laws of all motors, behind those of joints and springs; put: stores a text.

    Raises ModelError for a motor on a joint that closes a loop.
    """
    for index, motor in enumerate(model.forces_of(Motor)):
        joint = out.in_tree(motor.on, f"{motor.title} drives")
        p, u = (out.rows[f"joint_{one}"][joint] + motor.mode - 1 for one in "pu")
        wanted: dict[str, tuple[bool, int, dict[str, int]]] = {
            "voltage": (motor.voltage_limit is not None, _BEYOND, {}),
            "current": (motor.current_limit is not None, _BEYOND, {}),
            "loss": (motor.efficiency < 1.0, _QUADRANTS, {"p": p, "u": u}),
        }
        for what, (exists, pieces, on) in wanted.items():
            law = len(out.rows.get("law_name", ())) if exists else -1
            out.add(**{f"motor_{what}_law": law})
            if not exists:
                continue
            add_law(out, put(f"{motor.name}.{what}"), len(out.rows.get("law_range", ())), pieces, motor=index, **on)
            for _ in range(pieces):
                out.add(law_range=[0.0, 0.0, -UNBOUNDED, UNBOUNDED, 0.0], law_polynomial=NO_FORCE)


def motor_fields(motor: Motor, out: Links) -> dict[str, Any]:
    """The fields of a motor as the image has them, by name, but its laws; adds its state."""
    joint = out.in_tree(motor.on, f"{motor.title} drives")
    state = -1
    if motor.inductance:
        state = len(out.rows.get("start_z", ()))
        out.add(start_z=motor.current, bristle_friction=-1)
    own = {name: value for name, value in motor.fields.items() if name not in ("on", "mode", "current")}
    own |= {name: LARGEST for name in ("voltage_limit", "current_limit") if own[name] is None}
    u = out.rows["joint_u"][joint] + motor.mode - 1
    own["inductance"] = own["inductance"] or 1.0  # of none
    return own | {"joint": joint, "u": u, "state": state, "nominal": _SMALL}
