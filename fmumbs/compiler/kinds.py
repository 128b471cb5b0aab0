"""The kinds of variables, and the table of the variables of a mechanism.

The core lists the kinds once (core/image/variables.h). A row of the table in the image has four numbers: kind, element,
component, and offset of the name's text, -1 for the structured name.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.excitations import BY_ACCELERATION, BY_POSITION
from fmumbs.compiler.layout import Arrays, ffi, lib
from fmumbs.compiler.links import JOINT_FREE, JOINT_NONHOLONOMIC, JOINT_SCALAR, JOINT_SPHERICAL, SCREW


def _owners() -> dict[str, int]:
    """What variables belong to, by name: "model", "joint", "body", ..."""
    kinds = [lib.fm_kind(index) for index in range(lib.fm_kind_count())]
    return {ffi.string(kind.owner_name).decode().lower(): int(kind.owner) for kind in kinds}


_OWNERS = _owners()
MODEL, JOINT, BODY, POINT, LOAD, SPRING, COUPLING, FRICTION, LAW = (
    _OWNERS[name] for name in ("model", "joint", "body", "point", "load", "spring", "coupling", "friction", "law")
)
OWNERS = {owner: name for name, owner in _OWNERS.items() if name != "model"}
_CAUSALITIES = {
    lib.FM_INPUT: "input", lib.FM_OUTPUT: "output", lib.FM_PARAMETER: "parameter", lib.FM_LOCAL: "local",
}  # fmt: skip
_TYPES = {lib.FM_REAL: "real", lib.FM_INTEGER: "integer", lib.FM_BOOLEAN: "boolean"}

Indices = NDArray[np.int32]


@dataclass(frozen=True)
class Kind:
    """One kind of variable, from fm_kind_info.

    unit_linear: the unit for a translation. components: of each variable, 0 if as many as `elements` says.
    rate: index of the kind that is its time derivative, -1 for none. elements: which elements have it (FM_HAVE_...).
    place: where its values are stored (FM_AT_...). follows: what an output follows (FM_FOLLOWS_...).
    """

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
    components: int
    rate: int
    elements: int
    place: int
    follows: int

    @property
    def quaternion(self) -> bool:
        """A joint's position as a quaternion, which has the same suffix as a scalar position."""
        return self.place == int(lib.FM_AT_QUATERNION)

    @property
    def excited(self) -> bool:
        """A variable of excited modes."""
        return bool(lib.FM_HAVE_EXCITED <= self.elements <= lib.FM_HAVE_PROGRAMMED)

    @cached_property
    def variability(self) -> str:
        """The attribute `variability` of FMI."""
        if self.causality == "parameter":
            return "tunable" if self.tunable else "fixed"
        if self.causality == "local":
            return "constant"
        return "continuous" if self.type == "real" else "discrete"

    def initial(self, state: bool, guess: bool) -> str | None:
        """The attribute `initial` of FMI, None for inputs; guess: the start of a state is a guess."""
        if self.causality == "input":
            return None
        if self.causality in ("parameter", "local"):
            return "exact"
        return ("approx" if guess else "exact") if state else "calculated"

    @property
    def of_solver(self) -> bool:
        """A variable of the solver, which is exposed even if the model declares variables."""
        return self.suffix.startswith("solver.")


@cache
def kinds() -> tuple[Kind, ...]:
    """Every kind, from the core."""
    found = []
    for index in range(lib.fm_kind_count()):
        k = lib.fm_kind(index)
        kind = Kind(
            index=index,
            suffix=_string(k.suffix),
            unit=_string(k.unit),
            unit_linear=_string(k.unit_linear),
            description=_string(k.description),
            owner=k.owner,
            causality=_CAUSALITIES[k.causality],
            type=_TYPES[k.type],
            tunable=bool(k.tunable),
            state=bool(k.state),
            components=k.components,
            rate=lib.fm_kind_rate(index),
            elements=k.elements,
            place=k.place,
            follows=k.follows,
        )
        found.append(kind)
    return tuple(found)


def _string(text: Any) -> str:
    return str(ffi.string(text).decode())


@dataclass(frozen=True)
class KindColumns:
    """(kinds,) facts of all kinds as arrays, for looking up many variables at once.

    asked: whether state or unit depend on the element, so that the core must be asked.
    """

    owner: Indices
    state: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    input: NDArray[np.bool_]
    output: NDArray[np.bool_]
    place: Indices
    follows: Indices


@cache
def kind_columns() -> KindColumns:
    """The columns of kinds()."""
    every = kinds()
    return KindColumns(
        owner=np.array([k.owner for k in every], np.int32),
        state=np.array([k.state for k in every]),
        asked=np.array([k.state or k.unit != k.unit_linear for k in every]),
        input=np.array([k.causality == "input" for k in every]),
        output=np.array([k.causality == "output" for k in every]),
        place=np.array([k.place for k in every], np.int32),
        follows=np.array([k.follows for k in every], np.int32),
    )


@cache
def _by_suffix() -> dict[tuple[int, str], tuple[Kind, ...]]:
    found: dict[tuple[int, str], tuple[Kind, ...]] = {}
    for kind in kinds():
        key = kind.owner, kind.suffix
        found[key] = (*found.get(key, ()), kind)
    return found


def kinds_called(owner: int, suffix: str) -> tuple[Kind, ...]:
    """The kinds with this owner and suffix; () for none."""
    return _by_suffix().get((owner, suffix), ())


def counts(kind: Kind, arrays: Arrays) -> Indices:
    """(elements,) number of components of this kind for each element; 0 if it has no such variable."""
    if kind.owner == JOINT:
        return _joint_counts(kind, arrays)
    elements = 1 if kind.owner == MODEL else len(arrays[f"{OWNERS[kind.owner]}_name"])
    every = np.full(elements, kind.components, np.int32)
    match kind.elements:
        case lib.FM_HAVE_NAMED:  # points without a name only carry a spring or a load
            having = arrays["text"][arrays["point_name"]] != 0
        case lib.FM_HAVE_FLEXIBLE:
            return _modes_of_bodies(arrays)
        case lib.FM_HAVE_RIGID:
            having = _modes_of_bodies(arrays) == 0
        case lib.FM_HAVE_TERMS:
            return np.asarray(arrays["coupling_count"], np.int32)
        case lib.FM_HAVE_RUBBING:
            return np.asarray(arrays["friction_count"], np.int32)
        case lib.FM_HAVE_PRESSED:
            having = arrays["friction_pressed"] >= 0
        case lib.FM_HAVE_SCALED:
            having = arrays[f"{OWNERS[kind.owner]}_scaled"] >= 0
        case lib.FM_HAVE_CLOSED:
            having = np.array([len(arrays["row_kind"]) > 0])
        case lib.FM_HAVE_DEFORMED:
            having = np.array([arrays["mode_strain"].any()])
        case _:
            return every
    return np.where(having, every, 0)


def _modes_of_bodies(arrays: Arrays) -> Indices:
    """(bodies,) number of modes; 0 for rigid bodies."""
    modal = arrays["link_modal"][arrays["body_link"]]
    found: Indices = np.zeros(len(modal), np.int32)
    found[modal >= 0] = arrays["modal_shapes"][modal[modal >= 0]]
    return found


def _joint_counts(kind: Kind, arrays: Arrays) -> Indices:
    joint, excited = arrays["joint_kind"], arrays["joint_excited"]
    modes = arrays["joint_nu"] - excited
    scalar, ball, free = joint == JOINT_SCALAR, joint == JOINT_SPHERICAL, joint == JOINT_FREE
    fewer = joint == JOINT_NONHOLONOMIC
    match kind.elements:
        case lib.FM_HAVE_TORQUED:
            found = modes * (fewer | scalar & ~_is_force(arrays)) + 3 * (ball | free)
        case lib.FM_HAVE_FORCED:
            found = modes * (scalar & _is_force(arrays)) + 3 * free
        case lib.FM_HAVE_COORDINATES:
            found = modes * scalar + (arrays["joint_np"] - excited) * fewer
        case lib.FM_HAVE_RATES:
            found = modes * scalar
        case lib.FM_HAVE_NONHOLONOMIC:
            found = modes * fewer
        case lib.FM_HAVE_TURNING:
            found = kind.components * (ball | free)
        case lib.FM_HAVE_FREE:
            found = kind.components * free
        case lib.FM_HAVE_PROGRAMMED:
            found = (kind.components or excited) * _programmed(arrays)
        case lib.FM_HAVE_GEARED:
            geared = np.bincount(arrays["link_joint"], arrays["link_kind"] == SCREW, len(joint))
            found = modes * (scalar & (geared == modes))
        case lib.FM_HAVE_RESTING:
            found = modes * scalar + (arrays["joint_np"] - excited) * (fewer & _sprung(arrays))
        case lib.FM_HAVE_SPRUNG:
            sprung, beside = _sprung(arrays), arrays["joint_couplings"]
            found = modes * scalar + (arrays["joint_np"] - excited) * (fewer & sprung)
            found = found + np.where(beside > 0, 3, 1) * ball + 6 * (free & sprung) + beside
        case lib.FM_HAVE_EVERY:
            found = np.full(len(joint), kind.components)
        case _:
            found = excited
    widths: Indices = found.astype(np.int32)
    return widths


def _programmed(arrays: Arrays) -> NDArray[np.bool_]:
    """(joints,) whether each is the drive of a program."""
    found = np.zeros(len(arrays["joint_kind"]), bool)
    found[arrays["excitation_joint"][arrays["excitation_row"] >= 0]] = True
    return found


def _sprung(arrays: Arrays) -> NDArray[np.bool_]:
    """(joints,) whether any mode of a free or a nonholonomic joint has a spring or a damper."""
    found = np.zeros(len(arrays["joint_kind"]), bool)
    for joint in np.flatnonzero(arrays["joint_kind"] == JOINT_FREE).tolist():
        u = int(arrays["joint_u"][joint])
        found[joint] = arrays["stiffness"][u : u + 6].any() or arrays["damping"][u : u + 6].any()
    for joint in np.flatnonzero(arrays["joint_kind"] == JOINT_NONHOLONOMIC).tolist():
        general = int(arrays["link_general"][arrays["joint_first"][joint]])
        first = int(arrays["general_screw"][general])
        screws = slice(first, first + int(arrays["general_screws"][general]))
        found[joint] = arrays["screw_stiffness"][screws].any() or arrays["screw_damping"][screws].any()
    return found


def _is_force(arrays: Arrays) -> NDArray[np.bool_]:
    """(joints,) whether the input is a force: the joint has one free mode, a translation."""
    found = np.zeros(len(arrays["joint_kind"]), bool)
    one = arrays["joint_nu"] - arrays["joint_excited"] == 1
    found[one] = arrays["mode_linear"][arrays["joint_u"][one]] == 1
    return found


def exists(kind: Kind, element: Indices, component: Indices, arrays: Arrays) -> NDArray[np.bool_]:
    """(variables,) whether an element has this kind; excited modes do depending on what moves them, others always."""
    if not lib.FM_HAVE_BY_ACCELERATION <= kind.elements <= lib.FM_HAVE_BY_POSITION:
        return np.ones(len(element), bool)
    by = arrays["excitation_kind"][arrays["joint_excitation"][element] + np.maximum(component, 0)]
    if kind.elements == lib.FM_HAVE_BY_POSITION:
        return np.asarray(by == BY_POSITION)
    return np.asarray((by == BY_ACCELERATION) == (kind.elements == lib.FM_HAVE_BY_ACCELERATION))


@cache
def parameter_places() -> dict[int, tuple[str, int, int]]:
    """By kind: the array of a parameter, where it begins there, and the entries of each element."""
    return {
        row.kind: (ffi.string(row.array).decode(), row.first, row.columns)
        for row in (lib.fm_parameter(index) for index in range(lib.fm_parameter_count()))
    }


def all_variables(arrays: Arrays, chosen: Iterable[Kind] | None = None) -> Arrays:
    """The table of all variables, or of those of some kinds: by kind, then by element."""
    wanted = list(kinds() if chosen is None else chosen)
    found: dict[tuple[int, int, int], Indices] = {}  # kinds that the same elements have
    for one in wanted:
        of = one.owner, one.elements, one.components
        if of not in found:
            found[of] = counts(one, arrays)
    widths = [found[one.owner, one.elements, one.components] for one in wanted]
    width = np.concatenate(widths)
    indices = [k.index for k in wanted]
    kind = np.repeat(np.repeat(indices, [len(each) for each in widths]), width).astype(np.int32)
    element = np.repeat(np.concatenate([np.arange(len(each), dtype=np.int32) for each in widths]), width)
    component = np.arange(len(element), dtype=np.int32)
    component -= np.repeat(np.cumsum(width, dtype=np.int32) - width, width)
    component[np.repeat(width == 1, width)] = -1
    there = np.ones(len(kind), bool)
    if arrays["joint_excited"].any():
        for each in wanted:
            mine = kind == each.index
            there[mine] = exists(each, element[mine], component[mine], arrays)
    return variable_table(kind[there], element[there], component[there], np.full(there.sum(), -1, np.int32))


def variable_table(kind: Indices, element: Indices, component: Indices, name: Indices) -> Arrays:
    """The image's four arrays of variables, (variables,) each; component: -1 for a scalar."""
    return {
        "variable_kind": kind,
        "variable_object": element,
        "variable_component": component,
        "variable_name": name,
    }
