"""The kinds of variables, and the table of all that a mechanism has.

The core lists the kinds once (core/variables.h). The table in the image is of numbers: kind, element, component,
and the text of a name that the user chose, -1 where the name follows from the kind and the element.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.layout import Arrays, ffi, lib
from fmumbs.compiler.links import JOINT_FREE, JOINT_SCALAR, JOINT_SPHERICAL, SCREW

MODEL, JOINT, BODY, POINT, LOAD, SPRING = range(6)  # fm_owner
OWNERS = {JOINT: "joint", BODY: "body", POINT: "point", LOAD: "load", SPRING: "spring"}
_CAUSALITIES = ("input", "output", "parameter")
_WIDTHS = {
    "force": 3, "torque": 3, "w": 3, "alpha": 3, "r": 3, "v": 3, "a": 3, "quat": 4, "inertia": 6, "gravity": 3,
}  # fmt: skip

Indices = NDArray[np.int32]


@dataclass(frozen=True)
class Kind:
    """One kind of variable, as fm_kind_info says it; `unit_linear` is that of a translation."""

    index: int
    suffix: str
    unit: str
    unit_linear: str
    description: str
    owner: int
    causality: str
    type: str
    tunable: bool
    state: bool

    @property
    def quaternion(self) -> bool:
        """A joint's position as a quaternion, which shares its suffix with the position of one freedom."""
        return self.owner == JOINT and self.description.startswith("quaternion")

    @property
    def of_solver(self) -> bool:
        """The solver's own: exposed whatever signals a model declares."""
        return self.suffix.startswith("solver.")


@cache
def kinds() -> tuple[Kind, ...]:
    """Every kind, from the core."""
    found = []
    for index in range(lib.fm_kind_count()):
        k = lib.fm_kind(index)
        texts = (ffi.string(text).decode() for text in (k.suffix, k.unit, k.unit_linear, k.description))
        causality, type_ = _CAUSALITIES[k.causality], ("real", "integer")[k.type]
        found.append(Kind(index, *texts, k.owner, causality, type_, bool(k.tunable), bool(k.state)))
    return tuple(found)


@cache
def _by_suffix() -> dict[tuple[int, str], tuple[Kind, ...]]:
    found: dict[tuple[int, str], tuple[Kind, ...]] = {}
    for kind in kinds():
        key = kind.owner, kind.suffix
        found[key] = (*found.get(key, ()), kind)
    return found


def kinds_called(owner: int, suffix: str) -> tuple[Kind, ...]:
    """The kinds that an owner's variables of this suffix may be of; () for none."""
    return _by_suffix().get((owner, suffix), ())


def counts(kind: Kind, arrays: Arrays) -> Indices:
    """(elements,) how many components each owner of this kind has: 0 where it has no such variable."""
    if kind.owner == JOINT:
        return _joint_counts(kind, arrays)
    elements = 1 if kind.owner == MODEL else len(arrays[f"{OWNERS[kind.owner]}_name"])
    found = np.full(elements, _WIDTHS.get(kind.suffix, 1), np.int32)
    if kind.owner == POINT:  # those without a name only carry a spring or a load
        found[arrays["text"][arrays["point_name"]] == 0] = 0
    return found


def _joint_counts(kind: Kind, arrays: Arrays) -> Indices:
    joint, modes = arrays["joint_kind"], arrays["joint_nu"]
    scalar, ball, free = joint == JOINT_SCALAR, joint == JOINT_SPHERICAL, joint == JOINT_FREE
    match kind.suffix:
        case "tau":
            found = modes * (scalar & ~_slides(arrays)) + 3 * (ball | free)
        case "f":
            found = modes * (scalar & _slides(arrays)) + 3 * free
        case "q" if kind.quaternion:
            found = 4 * (ball | free)
        case "q" | "qd" | "qdd" | "rest":
            found = modes * scalar
        case "rotor_inertia":
            found = modes * (scalar & (arrays["link_kind"][arrays["joint_first"]] == SCREW))
        case "stiffness" | "damping":
            found = modes * scalar + ball
        case "w" | "alpha":
            found = 3 * (ball | free)
        case "r" | "v" | "a":
            found = 3 * free
        case _:
            found = np.full(len(joint), 3)
    return found.astype(np.int32)


def _slides(arrays: Arrays) -> NDArray[np.bool_]:
    """(joints,) whether a joint's first mode is a translation."""
    found = np.zeros(len(arrays["joint_kind"]), bool)
    moving = arrays["joint_nu"] > 0
    found[moving] = arrays["mode_linear"][arrays["joint_u"][moving]] == 1
    return found


def all_variables(arrays: Arrays) -> Arrays:
    """The table of everything there is: kind by kind, element by element."""
    parts = [_variables_of(kind, counts(kind, arrays)) for kind in kinds()]
    kind, element, component = (np.concatenate(column) for column in zip(*parts, strict=True))
    return variable_table(kind, element, component, np.full(len(kind), -1, np.int32))


def _variables_of(kind: Kind, width: Indices) -> tuple[Indices, Indices, Indices]:
    elements = np.repeat(np.arange(len(width), dtype=np.int32), width)
    component = np.arange(len(elements), dtype=np.int32)
    component -= np.repeat(np.cumsum(width, dtype=np.int32) - width, width)
    component[np.repeat(width == 1, width)] = -1
    return np.full(len(elements), kind.index, np.int32), elements, component


def variable_table(kind: Indices, element: Indices, component: Indices, name: Indices) -> Arrays:
    """The image's four arrays of variables, (variables,) each; component -1: it is the only one."""
    return {
        "variable_kind": kind,
        "variable_object": element,
        "variable_component": component,
        "variable_name": name,
    }
