"""Hydraulic cylinders: their pressures among the states, the laws that watch valves and pressures (cylinder.c)."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from fmumbs.compiler.laws import NO_FORCE, UNBOUNDED, add_law
from fmumbs.compiler.links import Links
from fmumbs.mechanism import Model
from fmumbs.mechanism.forces import Cylinder, Valve

_OPENINGS = (-UNBOUNDED, -1.0, 0.0, 1.0, UNBOUNDED)  # where the law of a valve changes
_VAPOUR = (-UNBOUNDED, 0.0, UNBOUNDED)  # of pressures above that of vapour
_SMALL = 1e-4  # of the bulk modulus: the pressure that the error control takes as small
_NO_VALVE = Valve(rated_flow=1.0, rated_drop=1.0, supply=0.0)  # its numbers are not used


def add_valves(out: Links, model: Model, put: Callable[[str], int]) -> None:
    """Adds the laws that watch valves and pressures, behind all others of joints and springs; put: stores a text."""
    for index, cylinder in enumerate(model.forces_of(Cylinder)):
        watched = [("valve", _OPENINGS)] if cylinder.valve else []
        out.add(cylinder_vapour_law=len(out.rows.get("law_name", ())) + len(watched))
        for what, bounds in (*watched, ("vapour_A", _VAPOUR), ("vapour_B", _VAPOUR)):
            first = len(out.rows.get("law_range", ()))
            add_law(out, put(f"{cylinder.name}.{what}"), first, len(bounds) - 1, cylinder=index)
            for lower, upper in pairwise(bounds):
                out.add(law_range=[lower, upper, -UNBOUNDED, UNBOUNDED, 0.0], law_polynomial=NO_FORCE)


def cylinder_fields(cylinder: Cylinder, out: Links) -> dict[str, Any]:
    """The fields of a cylinder as the image has them, by name; adds its states."""
    rows, valve = out.rows, cylinder.valve or _NO_VALVE
    own = {name: value for name, value in cylinder.fields.items() if name not in ("valve", "pressure_A", "pressure_B")}
    own |= {name: -1 for name in ("flow_A", "flow_B", "opening") if name not in cylinder.inputs}
    own |= {name: getattr(valve, name) for name in ("rated_flow", "rated_drop", "supply", "tank")}
    number = len(rows.get("cylinder_P", ()))
    law = rows["law_cylinder"].index(number) if cylinder.valve else -1
    state = len(rows.get("start_z", ()))
    for pressure in (cylinder.pressure_A, cylinder.pressure_B):
        out.add(start_z=pressure, bristle_friction=-1)
    return own | {"law": law, "state": state, "nominal": _SMALL * cylinder.bulk_modulus}
