"""The interface of an FMU: its variables with units, and which inputs act on which outputs at once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fmumbs import _checks
from fmumbs._tables import whole
from fmumbs.errors import ExportError, ModelError
from fmumbs.play.host import check_binaries
from fmumbs.play.unpacking import TYPES, open_archive, start_of, version_of
from fmumbs.system.units import Scale, scale_in

DEFAULT = 1e-6  # tolerance of an FMU that states none
INTEGERS = ("Integer", "Enumeration")


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
    where the FMU does not list them, which in FMI means all inputs; tolerance: of its default experiment.
    """

    path: Path
    variables: Mapping[str, Variable]
    scales: Mapping[str, Scale]
    acts: Mapping[str, frozenset[str] | None]
    tolerance: float

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
    """The interface of an FMI 2.0 co-simulation FMU. Raises ExportError if the file is not one.

    shown: where it comes from, for messages, if it lies in a temporary folder.
    """
    name = shown or path
    with open_archive(name, path.read_bytes() if shown else None) as archive:
        check_binaries(archive)
        root = archive.description
    if version_of(root) != 2:
        raise ExportError(f"'{name}' is of FMI {root.get('fmiVersion')}; systems run FMI 2.0. Export it with --fmi 2.")
    if root.find("CoSimulation") is None:
        raise ExportError(f"'{name}' is not a co-simulation FMU, which systems run. Export it with --kind cs+me.")
    experiment = root.find("DefaultExperiment")
    types = {simple.get("name", ""): simple for simple in root.iterfind("TypeDefinitions/SimpleType")}
    table = [_variable(node, types) for node in root.iterfind("ModelVariables/ScalarVariable")]
    scales = {unit.get("name", ""): scale_in(unit) for unit in root.iterfind("UnitDefinitions/Unit")}
    return Interface(
        path,
        {variable.name: variable for variable in table},
        {name: scale for name, scale in scales.items() if scale is not None},
        dict(_acts(root, table)),
        float(experiment.get("tolerance", DEFAULT)) if experiment is not None else DEFAULT,
    )


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


def _acts(root: Any, table: list[Variable]) -> Iterator[tuple[str, frozenset[str] | None]]:
    for unknown in root.iterfind("ModelStructure/Outputs/Unknown"):
        listed = unknown.get("dependencies")
        try:
            output = table[int(unknown.get("index", "")) - 1].name
            names = None if listed is None else [table[int(index) - 1] for index in listed.split()]
        except (ValueError, IndexError):
            continue  # as if it were not listed: all inputs act
        yield output, None if names is None else frozenset(v.name for v in names if v.causality == "input")
