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

from fmumbs.compiler.layout import Arrays, Column, ffi, lib, size_names, table


def _owners() -> dict[str, int]:
    """What variables belong to, by name: "model", "joint", "body", ..."""
    kinds = [lib.fm_kind(index) for index in range(lib.fm_kind_count())]
    return {ffi.string(kind.owner_name).decode().lower(): int(kind.owner) for kind in kinds}


_OWNERS = _owners()
MODEL, JOINT, BODY, POINT, LOAD, SPRING, ACTUATOR, MOTOR, COUPLING, FRICTION, LAW, ROPE, CYLINDER = (
    _OWNERS[name]
    for name in (
        "model", "joint", "body", "point", "load", "spring", "actuator", "motor", "coupling", "friction", "law", "rope",
        "cylinder",
    )
)
OWNERS = {owner: name for name, owner in _OWNERS.items() if name != "model"}
_CAUSALITIES = {
    lib.FM_INPUT: "input", lib.FM_OUTPUT: "output", lib.FM_PARAMETER: "parameter", lib.FM_LOCAL: "local",
}  # fmt: skip
_TYPES = {lib.FM_REAL: "real", lib.FM_INTEGER: "integer", lib.FM_BOOLEAN: "boolean"}

Indices = NDArray[np.int32]

_NOWHERE = ffi.new("double[1]")  # of arrays without rows


@dataclass(frozen=True)
class Kind:
    """One kind of variable, from fm_kind_info.

    unit_linear: the unit for a translation. components: of each variable, 0 if as many as `elements` says.
    rate: index of the kind that is its time derivative, -1 for none. elements: which elements have it (FM_HAVE_...).
    place: where its values are stored (FM_AT_...). follows: what an output follows (FM_FOLLOWS_...). of_inverse: of
    images that ask for inverse dynamics, a motion that is given or what it takes (inverse.py).
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
    of_inverse: bool

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
            of_inverse=bool(k.of_inverse),
        )
        found.append(kind)
    return tuple(found)


@cache
def ordinary_kinds() -> tuple[Kind, ...]:
    """Those of images that do not ask for inverse dynamics."""
    return tuple(kind for kind in kinds() if not kind.of_inverse)


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
    of_inverse: NDArray[np.bool_]
    input: NDArray[np.bool_]
    output: NDArray[np.bool_]
    parameter: NDArray[np.bool_]
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
        of_inverse=np.array([k.of_inverse for k in every]),
        input=np.array([k.causality == "input" for k in every]),
        output=np.array([k.causality == "output" for k in every]),
        parameter=np.array([k.causality == "parameter" for k in every]),
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


@cache
def _places() -> dict[str, tuple[int, Column]]:
    """The arrays of an image by name, each with its place among them."""
    return {column.name: (place, column) for place, column in enumerate(table())}


class Listing:
    """Which variables a model has. The core lists them, from the image's arrays without its table of variables."""

    def __init__(self, arrays: Arrays) -> None:
        sizes, places = dict.fromkeys(size_names(), 0), _places()
        self._read: list[Any] = [_NOWHERE] * len(places)  # where the core reads
        for name, values in arrays.items():
            if values.size:
                place, column = places[name]
                sizes[column.rows] = values.size // column.columns
                self._read[place] = ffi.from_buffer(np.ascontiguousarray(values, column.dtype))
        self._pointers = ffi.new("void *[]", self._read)
        self._sizes = ffi.new("int32_t[]", list(sizes.values()))
        self._found: dict[int, tuple[Indices, Indices]] = {}

    def of(self, kind: Kind) -> tuple[Indices, Indices]:
        """(variables,) element and component of each, -1 for a scalar; by element."""
        if kind.index not in self._found:
            self._found[kind.index] = self.all_of([kind])[1:]
        return self._found[kind.index]

    def all_of(self, kinds: Iterable[Kind]) -> tuple[Indices, Indices, Indices]:
        """(variables,) kind, element and component of each, -1 for a scalar; by kind, as given, then by element."""
        wanted = [kind.index for kind in kinds]
        call = self._pointers, self._sizes, wanted, len(wanted)
        found = np.empty((3, lib.fm_list_variables(*call, ffi.NULL, ffi.NULL, ffi.NULL)), np.int32)
        if found.size:
            lib.fm_list_variables(*call, *(ffi.from_buffer("int32_t[]", row) for row in found))
        return found[0], found[1], found[2]


@cache
def parameter_places() -> dict[int, tuple[str, int, int]]:
    """By kind: the array of a parameter, where it begins there, and the entries of each element."""
    return {
        row.kind: (ffi.string(row.array).decode(), row.first, row.columns)
        for row in (lib.fm_parameter(index) for index in range(lib.fm_parameter_count()))
    }


def all_variables(arrays: Arrays, chosen: Iterable[Kind] | None = None) -> Arrays:
    """The table of all variables of dynamics, or of those of some kinds: by kind, then by element."""
    kind, element, component = Listing(arrays).all_of(ordinary_kinds() if chosen is None else chosen)
    return variable_table(kind, element, component, np.full(len(kind), -1, np.int32))


def variable_table(kind: Indices, element: Indices, component: Indices, name: Indices) -> Arrays:
    """The image's four arrays of variables, (variables,) each; component: -1 for a scalar."""
    return {
        "variable_kind": kind,
        "variable_object": element,
        "variable_component": component,
        "variable_name": name,
    }
