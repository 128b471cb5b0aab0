"""Writes a model description as the modelDescription.xml of FMI 2.0 (FMI 2.0.4, section 2.2)."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from fmumbs.export.model_description import (
    CO_SIMULATION,
    LOG_CATEGORIES,
    MODEL_EXCHANGE,
    RANGES,
    Capabilities,
    Experiment,
    ModelDescription,
)
from fmumbs.export.structure import Structure, Unknown
from fmumbs.export.units import Unit, unit
from fmumbs.export.xml import DECLARATION, element

if TYPE_CHECKING:
    from fmumbs.compiler import Variable


def fmi2_xml(of: ModelDescription) -> bytes:
    """The file's bytes."""
    files = element(2, "SourceFiles", {}, "".join(element(3, "File", {"name": name}) for name in of.sources))
    sources = files if of.sources else ""
    places = {variable.index: place for place, variable in enumerate(of.variables, 1)}
    nominals = dict(zip(of.continuous.states, of.continuous.nominals, strict=True)) if of.continuous else {}
    kinds = "".join(
        element(1, tag, {"modelIdentifier": of.identifier} | attributes(of.capabilities), sources)
        for kind, tag, attributes in _KINDS
        if kind in of.capabilities.kinds
    )
    categories = ({"name": name, "description": LOG_CATEGORIES[name]} for name in of.capabilities.log_categories)
    parts = (
        kinds,
        _units(of.units),
        element(1, "LogCategories", {}, "".join(element(2, "Category", category) for category in categories)),
        element(1, "DefaultExperiment", experiment_attributes(of.experiment)),
        element(1, "ModelVariables", {}, "".join(_variable(v, places, nominals) for v in of.variables)),
        element(1, "ModelStructure", {}, _structure(of.structure, places)),
    )
    root = element(0, "fmiModelDescription", _header(of), "".join(parts))
    return f"{DECLARATION}{root}".encode()


def capability_attributes(of: Capabilities) -> dict[str, str]:
    """Those of <CoSimulation>."""
    return {
        "needsExecutionTool": _boolean(of.needs_tool),
        "canHandleVariableCommunicationStepSize": _boolean(of.variable_step),
        "canInterpolateInputs": _boolean(of.interpolates_inputs),
        "maxOutputDerivativeOrder": str(of.output_derivatives),
        "canRunAsynchronuously": "false",
        **_common(of),
    }


def exchange_attributes(of: Capabilities) -> dict[str, str]:
    """Those of <ModelExchange>."""
    return {"needsExecutionTool": _boolean(of.needs_tool), "completedIntegratorStepNotNeeded": "false", **_common(of)}


def _common(of: Capabilities) -> dict[str, str]:
    return {
        "canBeInstantiatedOnlyOncePerProcess": "false",
        "canNotUseMemoryManagementFunctions": "true",
        "canGetAndSetFMUstate": _boolean(of.keeps_state),
        "canSerializeFMUstate": _boolean(of.serialises_state),
        "providesDirectionalDerivative": _boolean(of.directional_derivatives),
    }


# In the order of the schema
_KINDS: tuple[tuple[str, str, Callable[[Capabilities], dict[str, str]]], ...] = (
    (MODEL_EXCHANGE, "ModelExchange", exchange_attributes),
    (CO_SIMULATION, "CoSimulation", capability_attributes),
)


def experiment_attributes(of: Experiment) -> dict[str, str]:
    """Those of <DefaultExperiment>."""
    return {
        "startTime": f"{of.start:g}",
        "stopTime": _number(of.stop),
        "tolerance": _number(of.tolerance),
        "stepSize": _number(of.step),
    }


def _header(of: ModelDescription) -> dict[str, str]:
    header = {
        "fmiVersion": "2.0",
        "modelName": of.name,
        "guid": of.guid,
        "description": of.description,
        "license": of.licence,
        "generationTool": of.tool,
        "variableNamingConvention": of.naming,
        "numberOfEventIndicators": str(of.continuous.indicators if of.continuous else 0),
        "generationDateAndTime": of.date.strftime("%Y-%m-%dT%H:%M:%SZ") if of.date else "",
    }
    return {name: value for name, value in header.items() if value}


def _units(units: Sequence[Unit]) -> str:
    """UnitDefinitions, and TypeDefinitions of those that are quantities."""
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


def _variable(variable: "Variable", places: Mapping[int, int], nominals: Mapping[int, float]) -> str:
    """places: of variables in the file, from 1, by their references."""
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
    if variable.kind in RANGES:
        value["min"], value["max"] = map(str, RANGES[variable.kind])
    if variable.initial != "calculated" and variable.start is not None:
        value["start"] = _START[variable.type](variable.start)
    if variable.derivative_of is not None:
        value["derivative"] = str(places[variable.derivative_of])
    if nominals.get(variable.index, 1.0) != 1.0:
        value["nominal"] = _number(nominals[variable.index])
    return element(2, "ScalarVariable", attributes, element(3, variable.type.capitalize(), value))


def _structure(of: Structure, places: Mapping[int, int]) -> str:
    parts = {"Outputs": of.outputs, "Derivatives": of.derivatives, "InitialUnknowns": of.initial_unknowns}
    return "".join(element(2, tag, {}, _unknowns(members, places)) for tag, members in parts.items() if members)


def _unknowns(members: Sequence[Unknown], places: Mapping[int, int]) -> str:
    """FMI 2.0 counts variables from 1. A list that several unknowns share is formatted once."""
    elements, lists = list[str](), dict[int, str]()
    for member in members:
        attributes = {"index": str(places[member.reference])}
        known = member.dependencies
        if known is not None:
            if id(known) not in lists:
                lists[id(known)] = " ".join(map(str, sorted(places[reference] for reference in known)))
            attributes["dependencies"] = lists[id(known)]
        elements.append(element(3, "Unknown", attributes))
    return "".join(elements)


def _number(value: float) -> str:
    return repr(float(value))


def _boolean(value: bool) -> str:
    return "true" if value else "false"


_START: dict[str, Callable[[float], str]] = {
    "real": _number,
    "integer": lambda value: str(int(value)),
    "boolean": lambda value: _boolean(value != 0.0),
}
