"""modelDescription.xml of a co-simulation FMU, from the variable table of a model image (FMI 2.0.4, section 2.2).

All that an importer sees comes from that table: names, causalities, start values, units, derivatives, and the inputs on
which each output depends.

Dependencies. In FMI the knowns are inputs and exposed continuous-time states. A state depends on itself only; any other
output that does not depend on all inputs lists the inputs it depends on and all states. An output that depends on
everything has no list, which means the same in the standard.

Initial unknowns are the outputs whose start value is computed (`initial` calculated or approx), in the order of their
indices. Positions and velocities, including those that loops determine, depend on no input and no parameter: they list
the states with an exact start, positions only the positions among them. Forces of springs also list the parameters. All
others depend on all start values and have no list. With a start in equilibrium all three depend on inputs and on
parameters other than dampings too, and list them. An importer that sets solver.equilibrium of an FMU that was exported
without it finds the lists of the other start.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from fmumbs._naming import STRUCTURED
from fmumbs.compiler.image import SCHEMES
from fmumbs.compiler.kinds import kinds
from fmumbs.compiler.layout import lib
from fmumbs.errors import ExportError
from fmumbs.export.units import unit
from fmumbs.export.xml import DECLARATION, element

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage, Variable

# Lists of dependencies with more entries in all are left out: they slow importers down more than they help, and
# leaving a list out is always correct.
MOST_DEPENDENCIES = 4_000_000

LOG_CATEGORIES = {
    "logStatusError": "refused calls, with the reason",
    "logStatusDiscard": "failed steps, with the time where they stopped",
    "logStatusWarning": "calls that succeeded but may not do what was intended",
    "logAll": "every message",
}

# Smallest and largest value of an integer parameter, by its kind
_RANGES = {"solver.scheme": (min(SCHEMES.values()), max(SCHEMES.values())), "solver.equilibrium": (0, 2)}


@dataclass(frozen=True)
class Capabilities:
    """Capabilities of a backend's binary, for the attributes of <CoSimulation> and for <LogCategories>."""

    variable_step: bool = True
    interpolates_inputs: bool = True
    output_derivatives: int = 1
    keeps_state: bool = True
    serialises_state: bool = True
    directional_derivatives: bool = True
    needs_tool: bool = False
    log_categories: tuple[str, ...] = tuple(LOG_CATEGORIES)

    def attributes(self) -> dict[str, str]:
        return {
            "needsExecutionTool": _boolean(self.needs_tool),
            "canHandleVariableCommunicationStepSize": _boolean(self.variable_step),
            "canInterpolateInputs": _boolean(self.interpolates_inputs),
            "maxOutputDerivativeOrder": str(self.output_derivatives),
            "canRunAsynchronuously": "false",
            "canBeInstantiatedOnlyOncePerProcess": "false",
            "canNotUseMemoryManagementFunctions": "true",
            "canGetAndSetFMUstate": _boolean(self.keeps_state),
            "canSerializeFMUstate": _boolean(self.serialises_state),
            "providesDirectionalDerivative": _boolean(self.directional_derivatives),
        }


NATIVE = Capabilities()


def model_identifier(name: str) -> str:
    """The name of the binary: the model's name as a C identifier, short enough for a file name."""
    identifier = re.sub(r"\W", "_", name, flags=re.ASCII)[:200]
    return identifier if re.match(r"[A-Za-z_]", identifier) else f"_{identifier}"


def model_description(
    image: "ModelImage",
    variables: "Sequence[Variable] | None" = None,
    *,
    naming: str = STRUCTURED,
    capabilities: Capabilities = NATIVE,
    sources: Sequence[str] = (),
    tool: str = "fmumbs",
    licence: str = "",
) -> bytes:
    """The file's bytes, which depend on the arguments only.

    variables: image.variables as a list, if the caller has one, under the names of the FMU; naming: the convention
    that these follow; sources: C files in the FMU's sources/, in the order
    of compilation; tool: name and version of the exporter; licence: name of its licence. Raises ExportError for an
    unknown unit.
    """
    table = image.variables[:] if variables is None else variables
    files = element(2, "SourceFiles", {}, "".join(element(3, "File", {"name": name}) for name in sources))
    identifier = {"modelIdentifier": model_identifier(image.name)}
    categories = ({"name": name, "description": LOG_CATEGORIES[name]} for name in capabilities.log_categories)
    parts = (
        element(1, "CoSimulation", identifier | capabilities.attributes(), files if sources else ""),
        _units(sorted({v.unit for v in table if v.unit})),
        element(1, "LogCategories", {}, "".join(element(2, "Category", category) for category in categories)),
        element(1, "DefaultExperiment", experiment_attributes(image)),
        element(1, "ModelVariables", {}, "".join(map(_variable, table))),
        element(1, "ModelStructure", {}, _structure(table, image.equilibrium)),
    )
    root = element(0, "fmiModelDescription", _header(image, tool, licence, naming), "".join(parts))
    return f"{DECLARATION}{root}".encode()


def experiment_attributes(image: "ModelImage") -> dict[str, str]:
    """The default experiment [s]; its tolerance is that of the integration, as importers pass it to the FMU."""
    return {
        "startTime": "0",
        "stopTime": _number(image.default_experiment.stop or 1.0),
        "tolerance": _number(image.tolerance),
        "stepSize": _number(image.default_experiment.interval or 0.01),
    }


def _header(image: "ModelImage", tool: str, licence: str, naming: str) -> dict[str, str]:
    header = {
        "fmiVersion": "2.0",
        "modelName": image.name,
        "guid": image.guid,
        "description": image.description,
        "license": licence,
        "generationTool": tool,
        "variableNamingConvention": naming,
        "numberOfEventIndicators": "0",
    }
    date = source_date()
    if date is not None:
        header["generationDateAndTime"] = date.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {name: value for name, value in header.items() if value}


def source_date() -> datetime | None:
    """The date in SOURCE_DATE_EPOCH, None if it is not set. Raises ExportError for one that a zip cannot hold."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return None
    try:
        date = datetime.fromtimestamp(int(epoch), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise ExportError(f"SOURCE_DATE_EPOCH is '{epoch[:60]}'. Give whole seconds since 1970.") from error
    if not 1970 <= date.year <= 2107:
        raise ExportError(f"SOURCE_DATE_EPOCH is '{epoch}', in the year {date.year}. Give one from 1970 to 2107.")
    return date


def _units(names: Iterable[str]) -> str:
    """UnitDefinitions, and TypeDefinitions of those that are quantities."""
    units = [unit(name) for name in names]
    if not units:
        return ""
    defined, typed = "", ""
    for one in units:
        inside = element(3, "BaseUnit", {base: str(power) for base, power in one.exponents})
        for name, factor in one.displays:
            inside += element(3, "DisplayUnit", {"name": name, "factor": _number(factor)})
        defined += element(2, "Unit", {"name": one.name}, inside)
        if one.quantity:
            attributes = {"quantity": one.quantity, "unit": one.name}
            if one.display:
                attributes["displayUnit"] = one.display
            typed += element(2, "SimpleType", {"name": one.type_name}, element(3, "Real", attributes))
    return element(1, "UnitDefinitions", {}, defined) + (element(1, "TypeDefinitions", {}, typed) if typed else "")


def _variable(variable: "Variable") -> str:
    attributes = {
        "name": variable.name,
        "valueReference": str(variable.index),
        "description": variable.description,
        "causality": variable.causality,
        "variability": variable.variability,
    }
    if variable.initial is not None and variable.causality != "input":
        attributes["initial"] = variable.initial
    value: dict[str, str] = {}
    if variable.unit:
        one = unit(variable.unit)
        if one.type_name:
            value["declaredType"] = one.type_name
        value["unit"] = one.name
    if variable.kind in _RANGES:
        value["min"], value["max"] = map(str, _RANGES[variable.kind])
    if variable.initial != "calculated" and variable.start is not None:
        value["start"] = _START[variable.type](variable.start)
    if variable.derivative_of is not None:
        value["derivative"] = str(variable.derivative_of + 1)
    return element(2, "ScalarVariable", attributes, element(3, variable.type.capitalize(), value))


def _structure(variables: Sequence["Variable"], at_rest: bool) -> str:
    """Outputs, Derivatives and InitialUnknowns; at_rest: the start is the equilibrium."""
    outputs = [v for v in variables if v.causality == "output"]
    states, derivatives = _states(variables)
    lists = _Dependencies(outputs, states)
    unknowns = [v for v in outputs if v.initial in ("calculated", "approx")]
    text = ""
    for tag, members in (("Outputs", outputs), ("Derivatives", derivatives)):
        if members:
            text += element(2, tag, {}, "".join(element(3, "Unknown", lists.attributes(v)) for v in members))
    if unknowns:
        exact = {v.index for v in outputs if v.initial == "exact"}
        places = {index for index in exact if variables[index].kind in _suffixes(lib.FM_OF_POSITIONS)}
        parameters = {v.index for v in variables if v.causality == "parameter"}
        by_kind: dict[str, _Dependencies] = {}
        known_of = {
            lib.FM_OF_POSITIONS: places,
            lib.FM_OF_VELOCITIES: exact,
            lib.FM_OF_SPRINGS: exact | parameters,
        }
        if at_rest:
            known_of = dict.fromkeys(known_of, exact | _of_statics(variables))
        for level, known in known_of.items():
            of = _suffixes(level)
            by_kind |= dict.fromkeys(of, _Dependencies([v for v in unknowns if v.kind in of], known))
        lines = []
        for variable in unknowns:
            chosen = by_kind.get(variable.kind)
            attributes = chosen.attributes(variable) if chosen else {"index": str(variable.index + 1)}
            lines.append(element(3, "Unknown", attributes))
        text += element(2, "InitialUnknowns", {}, "".join(lines))
    return text


def _of_statics(variables: Sequence["Variable"]) -> set[int]:
    """The inputs and the parameters on which an equilibrium depends."""
    motion = ("damping", *(kind.suffix for kind in kinds() if kind.of_solver and kind.suffix != "solver.equilibrium"))
    of_forces = [v for v in variables if v.causality == "input" or v.causality == "parameter"]
    return {v.index for v in of_forces if v.kind not in motion}


@cache
def _suffixes(level: int) -> frozenset[str]:
    """Suffixes of the outputs that positions, velocities or springs determine (fm_level)."""
    return frozenset(kind.suffix for kind in kinds() if kind.causality == "output" and kind.level == level)


def _states(variables: Sequence["Variable"]) -> tuple[set[int], list["Variable"]]:
    """The exposed continuous-time states, and their derivatives; a body's velocity is not among them."""
    derivatives = [
        v
        for v in variables
        if v.derivative_of is not None and variables[v.derivative_of].initial in ("exact", "approx")
    ]
    return {v.derivative_of for v in derivatives if v.derivative_of is not None}, derivatives


class _Dependencies:
    """Makes the attributes of an <Unknown>; equal lists are formatted once."""

    def __init__(self, outputs: Sequence["Variable"], states: set[int]) -> None:
        partial = sum(v.dependencies is not None and v.index not in states for v in outputs)
        self.states = states
        self.written = partial * len(states) <= MOST_DEPENDENCIES
        self.lists: dict[tuple[int, ...], str] = {}

    def attributes(self, variable: "Variable") -> dict[str, str]:
        attributes = {"index": str(variable.index + 1)}
        inputs = variable.dependencies
        if inputs is None:
            return attributes
        if variable.index in self.states:
            attributes["dependencies"] = _indices({*inputs, variable.index})
        elif self.written:
            if inputs not in self.lists:
                self.lists[inputs] = _indices(self.states.union(inputs))
            attributes["dependencies"] = self.lists[inputs]
        return attributes


def _indices(references: Iterable[int]) -> str:
    return " ".join(str(reference + 1) for reference in sorted(references))


def _number(value: float) -> str:
    return repr(float(value))


def _boolean(value: bool) -> str:
    return "true" if value else "false"


_START: dict[str, Callable[[float], str]] = {
    "real": _number,
    "integer": lambda value: str(int(value)),
    "boolean": lambda value: _boolean(value != 0.0),
}
