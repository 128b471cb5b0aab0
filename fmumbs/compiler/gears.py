"""Gears with play: two coordinates, and the force law of their teeth (core/forces/gear.c)."""

from collections.abc import Callable
from typing import Any

from fmumbs.compiler.laws import NO_FORCE, add_law
from fmumbs.compiler.links import Links
from fmumbs.mechanism import Model
from fmumbs.mechanism.forces import Gear

_PIECES = 4  # of the teeth, which the core makes of the gear's parameters


def coordinate(gear: Gear, end: str, out: Links) -> tuple[int, int]:
    """The position and the velocity variable of end "A" or "B".

    Raises ModelError for a joint that closes a loop.
    """
    joint, mode = out.in_tree(getattr(gear, end), f"{gear.title} meshes with"), getattr(gear, f"mode_{end}")
    return out.rows["joint_p"][joint] + mode - 1, out.rows["joint_u"][joint] + mode - 1


def add_teeth(out: Links, model: Model, put: Callable[[str], int]) -> None:
    """Adds the laws of all gears, behind those of the model; put: stores a text."""
    for index, gear in enumerate(model.forces_of(Gear)):
        p, u = coordinate(gear, "A", out)
        first = len(out.rows["law_range"])
        add_law(out, put(f"{gear.name}.teeth"), first, _PIECES, gear=index, p=p, u=u)
        for _ in range(_PIECES):
            out.add(law_range=[0.0] * 5, law_polynomial=NO_FORCE)


def gear_fields(gear: Gear, out: Links) -> dict[str, Any]:
    """The fields of a gear as the image has them, by name."""
    p, u = coordinate(gear, "B", out)
    own = {name: value for name, value in gear.fields.items() if name not in ("A", "B", "mode_A", "mode_B")}
    law = out.rows["law_gear"].index(len(out.rows["gear_p"]))
    return own | {"p": p, "u": u, "law": law}
