"""The variables that a simulator sees: which there are, and what each of them is.

The table in the image is of numbers: kind, element, component. Names, units and descriptions follow from the
kinds, which core/variables.h lists once; only a signal that the user renamed carries a text of its own.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.layout import Arrays, ffi, lib, open_instance
from fmumbs.compiler.links import JOINT_FREE, JOINT_SCALAR, JOINT_SPHERICAL, SCREW

MODEL, JOINT, BODY, POINT, LOAD, SPRING = range(6)
_CAUSALITIES = ("input", "output", "parameter")

Indices = NDArray[np.int32]


@dataclass(frozen=True)
class Kind:
    """One kind of variable; `components` as a function of the joint's kind is in `counts`."""

    index: int
    suffix: str
    owner: int
    causality: str
    type: str
    tunable: bool
    state: bool
    description: str


@dataclass(frozen=True)
class Variable:
    """One variable, as modelDescription.xml shows it.

    index: its value reference. component: 0-based, None for a scalar. start: None for what is computed.
    derivative_of: index of the variable whose time derivative it is. dependencies: indices of the inputs that
    it follows at once; None for all of them, () for none.
    """

    index: int
    name: str
    kind: str
    component: int | None
    causality: str
    variability: str
    initial: str | None
    type: str
    start: float | None
    unit: str
    description: str
    derivative_of: int | None
    dependencies: tuple[int, ...] | None


@cache
def kinds() -> tuple[Kind, ...]:
    """Every kind, from the core."""
    out = []
    for i in range(lib.fm_kind_count()):
        k = lib.fm_kind(i)
        out.append(
            Kind(
                i,
                ffi.string(k.suffix).decode(),
                k.owner,
                _CAUSALITIES[k.causality],
                ("real", "integer")[k.type],
                bool(k.tunable),
                bool(k.state),
                ffi.string(k.description).decode(),
            )
        )
    return tuple(out)


@cache
def _named() -> dict[tuple[int, str], list[Kind]]:
    found: dict[tuple[int, str], list[Kind]] = {}
    for kind in kinds():
        found.setdefault((kind.owner, kind.suffix), []).append(kind)
    return found


_WIDTHS = {
    "force": 3, "torque": 3, "w": 3, "alpha": 3, "r": 3, "v": 3, "a": 3, "quat": 4, "inertia": 6, "gravity": 3,
    "reaction.f": 3, "reaction.t": 3, "wrench.f": 3, "wrench.t": 3,
}  # fmt: skip


def counts(kind: Kind, arrays: Arrays) -> Indices:
    """(elements,) how many components a variable of this kind has for each of its owners."""
    if kind.owner != JOINT:
        owners = {MODEL: 1, BODY: len(arrays["body_link"]), POINT: len(arrays["point_link"])}
        owners |= {LOAD: len(arrays["load_point"]), SPRING: len(arrays["spring_P"])}
        return np.full(owners[kind.owner], _WIDTHS.get(kind.suffix, 1), np.int32)
    joint, modes = arrays["joint_kind"], arrays["joint_nu"]
    scalar, ball, free = joint == JOINT_SCALAR, joint == JOINT_SPHERICAL, joint == JOINT_FREE
    slides = np.zeros(len(joint), bool)
    slides[scalar] = arrays["mode_linear"][arrays["joint_u"][scalar]] == 1
    driven = arrays["link_kind"][arrays["joint_first"]] == SCREW
    match kind.suffix:
        case "tau":
            out = np.where(scalar & ~slides, modes, 0) + 3 * (ball | free)
        case "f":
            out = np.where(scalar & slides, modes, 0) + 3 * free
        case "q" if kind.state and kind.description.startswith("quaternion"):
            out = 4 * (ball | free)
        case "q" | "qd" | "qdd" | "rest":
            out = np.where(scalar, modes, 0)
        case "rotor_inertia":
            out = np.where(scalar & driven, modes, 0)
        case "stiffness" | "damping":
            out = np.where(scalar, modes, 0) + ball
        case "w" | "alpha":
            out = 3 * (ball | free)
        case "r" | "v" | "a":
            out = 3 * free
        case _:
            out = np.full(len(joint), 3)
    found: Indices = out.astype(np.int32)
    return found


def all_variables(arrays: Arrays) -> dict[str, Indices]:
    """The table of everything there is, kind by kind, elements in the order of `order_*`."""
    parts: list[tuple[Indices, Indices, Indices]] = []
    for kind in kinds():
        width = counts(kind, arrays)
        objects = np.repeat(np.arange(len(width), dtype=np.int32), width)
        starts = np.repeat(np.cumsum(width, dtype=np.int64) - width, width)
        component = (np.arange(len(objects)) - starts).astype(np.int32)
        component[np.repeat(width, width) == 1] = -1
        parts.append((np.full(len(objects), kind.index, np.int32), objects, component))
    table = {
        name: np.concatenate([part[i] for part in parts])
        for i, name in enumerate(("variable_kind", "variable_object", "variable_component"))
    }
    table["variable_name"] = np.full(len(table["variable_kind"]), -1, np.int32)
    return table


_DERIVATIVES = {
    (JOINT, "qd"): "q", (JOINT, "qdd"): "qd", (JOINT, "alpha"): "w", (JOINT, "v"): "r", (JOINT, "a"): "v",
    (BODY, "v"): "r", (BODY, "a"): "v", (BODY, "alpha"): "w", (POINT, "v"): "r", (POINT, "a"): "v",
}  # fmt: skip
_FOLLOWING = {
    JOINT: {"qdd", "alpha", "a", "reaction.f", "reaction.t", "wrench.f", "wrench.t"},
    BODY: {"a", "alpha"},
    POINT: {"a"},
}


class Variables(Sequence[Variable]):
    """The image's variables in order of their value references; by name with find()."""

    def __init__(self, image: bytes, arrays: Arrays) -> None:
        self._image = image
        self._arrays = arrays
        self._kind = arrays["variable_kind"]
        self._object = arrays["variable_object"]
        self._component = arrays["variable_component"]

    def __len__(self) -> int:
        return len(self._kind)

    @overload
    def __getitem__(self, index: int) -> Variable: ...
    @overload
    def __getitem__(self, index: slice) -> list[Variable]: ...
    def __getitem__(self, index: int | slice) -> Variable | list[Variable]:
        if isinstance(index, slice):
            return [self._make(i) for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} variables")
        return self._make(index % len(self))

    def __iter__(self) -> Iterator[Variable]:
        return (self._make(i) for i in range(len(self)))

    def find(self, name: str) -> Variable | None:
        """The variable of that name, None where there is none."""
        index = self.references(name)
        return self[index[0]] if len(index) == 1 and self.name(index[0]) == name else None

    def references(self, name: str) -> list[int]:
        """Value references behind a name: of one variable, or in order of a vector's components; [] for none."""
        if name in self._renamed:
            return self._renamed[name]
        owner, suffix, component = self._split(name)
        if owner is None:
            return []
        kind, element = owner
        for candidate in _named().get((kind, suffix), []):
            found = self._first.get((candidate.index, element))
            if found:
                if component is None:
                    return found
                hit = [i for i in found if self._component[i] == component]
                if hit:
                    return hit
        return []

    def name(self, index: int) -> str:
        """The variable's name."""
        buffer = ffi.new("char[]", 1000)
        lib.fm_variable_name(self._instance, index, buffer, 1000)
        return str(ffi.string(buffer).decode())

    def names(self) -> list[str]:
        return [self.name(i) for i in range(len(self))]

    def _split(self, name: str) -> tuple[tuple[int, int] | None, str, int | None]:
        match = re.fullmatch(r"(.*?)(?:\[(\d+)\])?", name)
        assert match is not None
        stem, component = match[1], int(match[2]) - 1 if match[2] else None
        if (MODEL, stem) in _named():
            return (MODEL, 0), stem, component
        for dot in (m.start() for m in re.finditer(r"\.", stem)):
            owner = self._owners.get(stem[:dot])
            for kind, element in owner or ():
                if (kind, stem[dot + 1 :]) in _named():
                    return (kind, element), stem[dot + 1 :], component
        return None, "", None

    @cached_property
    def _instance(self) -> Any:
        return open_instance(self._image)

    @cached_property
    def _text(self) -> bytes:
        return self._arrays["text"].tobytes()

    @cached_property
    def _owners(self) -> dict[str, list[tuple[int, int]]]:
        found: dict[str, list[tuple[int, int]]] = {}
        tables = ((JOINT, "joint"), (BODY, "body"), (POINT, "point"), (LOAD, "load"), (SPRING, "spring"))
        for owner, prefix in tables:
            for element, offset in enumerate(self._arrays[f"{prefix}_name"].tolist()):
                found.setdefault(self._string(offset), []).append((owner, element))
        return found

    @cached_property
    def _first(self) -> dict[tuple[int, int], list[int]]:
        found: dict[tuple[int, int], list[int]] = {}
        pairs = zip(self._kind.tolist(), self._object.tolist(), strict=True)
        for index, pair in enumerate(pairs):
            found.setdefault(pair, []).append(index)
        return found

    @cached_property
    def _renamed(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for index in np.flatnonzero(self._arrays["variable_name"] >= 0).tolist():
            name = self._string(self._arrays["variable_name"][index])
            found.setdefault(name, []).append(index)
            stem = re.sub(r"\[\d+\]$", "", name)
            if stem != name:
                found.setdefault(stem, []).append(index)
        return found

    def _string(self, offset: int) -> str:
        return self._text[offset : self._text.index(b"\0", offset)].decode()

    @cached_property
    def _starts(self) -> list[float]:
        references = np.arange(len(self), dtype=np.uint32)
        stored = np.array([k.causality != "output" or k.state for k in kinds()])[self._kind]
        values = np.full(len(self), np.nan)
        chosen = references[stored]
        found = np.empty(len(chosen))
        lib.fm_get(
            self._instance,
            ffi.from_buffer("uint32_t[]", chosen),
            len(chosen),
            ffi.from_buffer("double[]", found),
        )
        values[stored] = found
        return [float(v) for v in values]

    @cached_property
    def _roots(self) -> list[int]:
        """(links,) the root of the tree that each link belongs to."""
        roots: list[int] = []
        for link, parent in enumerate(self._arrays["link_parent"].tolist()):
            roots.append(link if parent < 0 else roots[parent])
        return roots

    def _root(self, kind: Kind, element: int) -> int:
        a = self._arrays
        match kind.owner:
            case owner if owner == JOINT:
                link = int(a["joint_first"][element])
            case owner if owner == BODY:
                link = int(a["body_link"][element])
            case owner if owner == POINT:
                link = int(a["point_link"][element])
            case _:
                link = int(a["point_link"][a["load_point"][element]])
        return self._roots[link] if link >= 0 else -1

    @cached_property
    def _inputs(self) -> dict[int, tuple[int, ...]]:
        """The inputs of each tree that hangs on the ground by itself."""
        found: dict[int, list[int]] = {}
        for index, k in enumerate(self._kind.tolist()):
            kind = kinds()[k]
            if kind.causality == "input":
                found.setdefault(self._root(kind, int(self._object[index])), []).append(index)
        return {root: tuple(indices) for root, indices in found.items()}

    def _dependencies(self, kind: Kind, element: int) -> tuple[int, ...] | None:
        if kind.suffix not in _FOLLOWING.get(kind.owner, ()):
            return ()
        mine = self._inputs.get(self._root(kind, element), ())
        everything = sum(len(indices) for indices in self._inputs.values())
        return None if len(mine) == everything and everything else mine

    def _derivative_of(self, kind: Kind, element: int, component: int) -> int | None:
        wanted = _DERIVATIVES.get((kind.owner, kind.suffix))
        if wanted is None:
            return None
        for candidate in _named()[(kind.owner, wanted)]:
            if candidate.suffix == "q" and candidate.description.startswith("quaternion"):
                continue
            for index in self._first.get((candidate.index, element), []):
                if self._component[index] == component:
                    return index
        return None

    def _make(self, index: int) -> Variable:
        kind = kinds()[self._kind[index]]
        element, component = int(self._object[index]), int(self._component[index])
        info = ffi.new("fm_variable_info *")
        lib.fm_variable(self._instance, index, info)
        output = kind.causality == "output"
        start = self._starts[index]
        variability = "continuous" if kind.type == "real" else "discrete"
        if kind.causality == "parameter":
            variability = "tunable" if kind.tunable else "fixed"
        return Variable(
            index,
            self.name(index),
            kind.suffix,
            None if component < 0 else component,
            kind.causality,
            variability,
            _initial(kind),
            kind.type,
            None if np.isnan(start) else start,
            ffi.string(info.unit).decode(),
            kind.description,
            self._derivative_of(kind, element, component),
            self._dependencies(kind, element) if output else None,
        )


def _initial(kind: Kind) -> str | None:
    if kind.causality == "input":
        return None
    return "exact" if kind.state or kind.causality == "parameter" else "calculated"
