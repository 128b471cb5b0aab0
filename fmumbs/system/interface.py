"""The interface of an FMU: its variables with units, and which inputs act on which outputs at once."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fmumbs import _checks
from fmumbs._tables import whole
from fmumbs.errors import ExportError, ModelError
from fmumbs.play.fmi3 import TYPES as SHARED_TYPES
from fmumbs.play.host import check_binaries
from fmumbs.play.unpacking import TYPES, TYPES_OF_FMI3, open_archive, start_of, version_of
from fmumbs.system.units import Scale, scale_in

DEFAULT = 1e-6  # tolerance of an FMU that states none
INTEGERS = ("Integer", "Enumeration")

Acts = dict[str, frozenset[str] | None]


@dataclass(frozen=True)
class Variable:
    """A variable of an FMU.

    kind: Real, Integer, Boolean, String or Enumeration; unit: "" for none; start: its start value, None for none;
    items: of an enumeration, their values by name.
    """

    name: str
    kind: str
    causality: str
    unit: str
    start: Any
    items: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Interface:
    """The interface of the FMU at `path`.

    variables: by name; scales: of its units by name; acts: for each output the inputs that act on it at once, None
    where the FMU does not list them, which in FMI means all inputs; tolerance: of its default experiment; version: of
    FMI, 2 or 3.
    """

    path: Path
    variables: Mapping[str, Variable]
    scales: Mapping[str, Scale]
    acts: Mapping[str, frozenset[str] | None]
    tolerance: float
    version: int

    def variable(self, element: str, name: str, causality: str | None = None) -> Variable:
        """The variable of a name. Raises ModelError, with the nearest name, if there is none of this causality."""
        found = self.variables.get(name)
        if found is not None and causality in (None, found.causality):
            return found
        known = [n for n, v in self.variables.items() if causality in (None, v.causality)]
        what = f"'{element}' ({self.path.name}) has no {causality or 'variable'} '{name}'"
        if found is not None:
            what += f", which is of causality {found.causality}"
        raise ModelError(f"{what}. {_checks.nearest(name, known)}")

    def named(self, causality: str) -> list[str]:
        return [name for name, variable in self.variables.items() if variable.causality == causality]


def read_interface(path: Path, shown: Path | None = None) -> Interface:
    """The interface of a co-simulation FMU. Raises ExportError if the file is not one, and for one with arrays.

    Of FMI 3.0 it has the variables of the types that FMI 2.0 has too: Float64, Int32 and Boolean.

    shown: where it comes from, for messages, if it lies in a temporary folder.
    """
    name = shown or path
    with open_archive(name, path.read_bytes() if shown else None) as archive:
        check_binaries(archive)
        root = archive.description
    if root.find("CoSimulation") is None:
        raise ExportError(f"'{name}' is not a co-simulation FMU, which systems run. Export it with --kind cs+me.")
    if root.find("ModelVariables/*/Dimension") is not None:
        raise ExportError(f"'{name}' has arrays, which systems cannot connect. Export it without --arrays.")
    experiment, version = root.find("DefaultExperiment"), version_of(root)
    table, acts = _read2(root) if version == 2 else _read3(root)
    scales = {unit.get("name", ""): scale_in(unit) for unit in root.iterfind("UnitDefinitions/Unit")}
    return Interface(
        path,
        {variable.name: variable for variable in table},
        {name: scale for name, scale in scales.items() if scale is not None},
        acts,
        float(experiment.get("tolerance", DEFAULT)) if experiment is not None else DEFAULT,
        version,
    )


def _read2(root: Any) -> tuple[list[Variable], Acts]:
    """Variables of FMI 2.0, and which inputs act on which outputs; these refer to variables by places from 1."""
    types = {simple.get("name", ""): simple for simple in root.iterfind("TypeDefinitions/SimpleType")}
    table = [_variable(node, types) for node in root.iterfind("ModelVariables/ScalarVariable")]
    places = {str(place): variable for place, variable in enumerate(table, 1)}
    return table, dict(_acts(root.iterfind("ModelStructure/Outputs/Unknown"), "index", places))


def _read3(root: Any) -> tuple[list[Variable], Acts]:
    """The same of FMI 3.0, which refers to variables by value references."""
    units = {one.get("name", ""): one.get("unit") or "" for one in root.iterfind("TypeDefinitions/Float64Type")}
    found = {}
    for node in root.iterfind("ModelVariables/*"):
        kind = TYPES_OF_FMI3[node.tag]
        unit = node.get("unit") or units.get(node.get("declaredType") or "", "")
        start = start_of(kind, node.get("start"))
        found[node.get("valueReference")] = Variable(
            node.get("name"), SHARED_TYPES.get(node.tag, node.tag), node.get("causality") or "local", unit, start
        )
    acts = dict(_acts(root.iterfind("ModelStructure/Output"), "valueReference", found))
    return [variable for variable in found.values() if variable.kind in TYPES], acts


def _variable(node: Any, types: Mapping[str, Any]) -> Variable:
    """types: of the description by name."""
    (typed,) = (child for child in node if child.tag in TYPES)
    unit, items = typed.get("unit") or "", {}
    declared = types.get(typed.get("declaredType") or "")
    if declared is not None:
        if not unit and (real := declared.find("Real")) is not None:
            unit = real.get("unit") or ""
        items = {item.get("name", ""): whole(item.get("value", "")) for item in declared.iterfind("Enumeration/Item")}
    start = start_of(typed.tag, typed.get("start"))
    return Variable(node.get("name"), typed.tag, node.get("causality") or "local", unit, start, items)


def _acts(
    unknowns: Iterable[Any], by: str, places: Mapping[str, Variable]
) -> Iterator[tuple[str, frozenset[str] | None]]:
    """by: the attribute by which unknowns refer to variables; places: these by it."""
    for unknown in unknowns:
        listed = unknown.get("dependencies")
        try:
            output = places[unknown.get(by, "")].name
            names = None if listed is None else [places[one] for one in listed.split()]
        except KeyError:
            continue  # as if it were not listed: all inputs act
        yield output, None if names is None else frozenset(v.name for v in names if v.causality == "input")
