"""Writes a model description as the modelDescription.xml of FMI 2.0 (FMI 2.0.4, section 2.2)."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from fmumbs.export.model_description import (
    LOG_CATEGORIES,
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
    simulation = {"modelIdentifier": of.identifier} | capability_attributes(of.capabilities)
    categories = ({"name": name, "description": LOG_CATEGORIES[name]} for name in of.capabilities.log_categories)
    parts = (
        element(1, "CoSimulation", simulation, files if of.sources else ""),
        _units(of.units),
        element(1, "LogCategories", {}, "".join(element(2, "Category", category) for category in categories)),
        element(1, "DefaultExperiment", experiment_attributes(of.experiment)),
        element(1, "ModelVariables", {}, "".join(map(_variable, of.variables))),
        element(1, "ModelStructure", {}, _structure(of.structure)),
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
        "canBeInstantiatedOnlyOncePerProcess": "false",
        "canNotUseMemoryManagementFunctions": "true",
        "canGetAndSetFMUstate": _boolean(of.keeps_state),
        "canSerializeFMUstate": _boolean(of.serialises_state),
        "providesDirectionalDerivative": _boolean(of.directional_derivatives),
    }


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
        "numberOfEventIndicators": "0",
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
    if variable.kind in RANGES:
        value["min"], value["max"] = map(str, RANGES[variable.kind])
    if variable.initial != "calculated" and variable.start is not None:
        value["start"] = _START[variable.type](variable.start)
    if variable.derivative_of is not None:
        value["derivative"] = str(variable.derivative_of + 1)
    return element(2, "ScalarVariable", attributes, element(3, variable.type.capitalize(), value))


def _structure(of: Structure) -> str:
    parts = {"Outputs": of.outputs, "Derivatives": of.derivatives, "InitialUnknowns": of.initial_unknowns}
    return "".join(element(2, tag, {}, _unknowns(members)) for tag, members in parts.items() if members)


def _unknowns(members: Sequence[Unknown]) -> str:
    """FMI 2.0 counts variables from 1. A list that several unknowns share is formatted once."""
    text, lists = "", dict[int, str]()
    for member in members:
        attributes = {"index": str(member.reference + 1)}
        known = member.dependencies
        if known is not None:
            if id(known) not in lists:
                lists[id(known)] = " ".join(str(reference + 1) for reference in known)
            attributes["dependencies"] = lists[id(known)]
        text += element(3, "Unknown", attributes)
    return text


def _number(value: float) -> str:
    return repr(float(value))


def _boolean(value: bool) -> str:
    return "true" if value else "false"


_START: dict[str, Callable[[float], str]] = {
    "real": _number,
    "integer": lambda value: str(int(value)),
    "boolean": lambda value: _boolean(value != 0.0),
}
