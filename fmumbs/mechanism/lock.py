"""Locks: coordinates that keep their start values while a static equilibrium is sought, and are free when it moves."""

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import ClassVar

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.coupling import Coupling
from fmumbs.mechanism.joints import JointBase
from fmumbs.mechanism.model import Model

_COORDINATE = re.compile(r"q(?:\[([1-9]\d*)\])?")


@dataclass(frozen=True)
class Lock(Coupling):
    """A row q' = 0 of one coordinate, which takes part in statics alone (core/statics/pose.c)."""

    level: ClassVar[int] = 3


def with_locks(model: Model, locked: Sequence[str]) -> Model:
    """The model with a Lock for each coordinate; locked: joints by name, or coordinates such as "hoist.q[2]".

    Raises ModelError for a name that is no joint, and for a joint without scalar coordinates.
    """
    if isinstance(locked, str):
        raise ModelError(
            f"locked is {_checks.shown(locked)}. Give a list of joints or coordinates, such as ['{locked}']."
        )
    found = dict.fromkeys(place for name in locked for place in _coordinates(model, name))
    if not found:
        return model
    held = copy(model)
    held._elements = dict(model._elements)
    held._locks = tuple(
        Lock(_unused(model, f"{joint}_lock{mode}"), ((model[joint], mode, 1.0),))  # type: ignore[arg-type]
        for joint, mode in found
    )
    return held


def _unused(model: Model, name: str) -> str:
    return _unused(model, f"{name}_") if name in model else name


def _coordinates(model: Model, name: str) -> list[tuple[str, int]]:
    """(joint, mode) of each coordinate, mode counted from 1."""
    joint_name, dot, coordinate = str(name).partition(".")
    joint, match = model[joint_name], _COORDINATE.fullmatch(coordinate)
    if not isinstance(joint, JointBase):
        raise ModelError(f"locked: '{joint_name}' is a {type(joint).__name__}. Give the name of a joint.")
    free = [mode.kind != "ball" for mode in joint.free_modes]
    if not free or not all(free) or joint.velocity_rows:
        what = "is driven by its path, and stands" if not free else "has no coordinates that can be locked one by one"
        raise ModelError(f"locked: joint '{joint_name}' {what}. Leave it out, or lock another joint.")
    if not dot:
        return [(joint_name, mode) for mode in range(1, len(free) + 1)]
    mode = int(match.group(1) or 1) if match else 0
    if not 1 <= mode <= len(free):
        known = [f"{joint_name}.q"] if len(free) == 1 else [f"{joint_name}.q[{i + 1}]" for i in range(len(free))]
        raise ModelError(f"locked: '{name}' is no coordinate. {_checks.nearest(str(name), known)}")
    return [(joint_name, mode)]
