"""What a caller chooses of any robot: what limits become, and what is done with joints that move nothing."""

from __future__ import annotations

from typing import Literal, get_args

from fmumbs.errors import ModelError
from fmumbs.mechanism import JointBase, Stop
from fmumbs.readers.robots import Built, Report

LimitsAs = Literal["data", "stop"]
Massless = Literal["refuse", "fix"]


def check_choice(what: str, value: object, known: tuple[str, ...]) -> None:
    """Raises ModelError for a value that is not one of those known."""
    if value not in known:
        raise ModelError(f"{what} is {value!r}. Give one of {', '.join(map(repr, known))}.")


def check_choices(limits: object, stop_stiffness: object, massless: object) -> None:
    """Raises ModelError for a value that cannot be chosen, and for stops without a stiffness."""
    check_choice("limits", limits, get_args(LimitsAs))
    check_choice("massless", massless, get_args(Massless))
    if limits == "stop" and not (isinstance(stop_stiffness, int | float) and stop_stiffness > 0.0):
        raise ModelError(
            "limits is 'stop', which needs the stiffness of the stops [N.m/rad] or [N/m], above 0. Give "
            "stop_stiffness, such as 1e4."
        )


def add_stops(built: Built, report: Report, stiffness: float) -> None:
    """A Stop for each coordinate with limits."""
    for coordinate, limit in report.limits.items():
        joint_name, _, index = coordinate.partition(".q")
        lower, upper = limit.lower, limit.upper
        if lower is None and upper is None:
            continue
        what = f"joint '{built.source_names.get(joint_name, joint_name)}'"
        if lower is not None and upper is not None and not lower < upper:
            report.row("left out", what, f"limits from {lower:g} to {upper:g} leave no range, so nothing stops there")
            continue
        name = built.names.new(f"{joint_name}_stop{index.strip('[]')}", "stop")
        mode = int(index.strip("[]") or 1)
        joint = built.model[joint_name]
        assert isinstance(joint, JointBase)
        stop = Stop(name, joint, mode=mode, lower=lower, upper=upper, stiffness=stiffness)
        built.model.add(stop)
        report.row("taken", what, f"limits as the stop '{name}'")
