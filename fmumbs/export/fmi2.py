"""Writes a model description as the modelDescription.xml of FMI 2.0 (FMI 2.0.4, section 2.2)."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from fmumbs.export import description_parts as parts
from fmumbs.export.description_parts import boolean
from fmumbs.export.model_description import CO_SIMULATION, MODEL_EXCHANGE, Capabilities, ModelDescription
from fmumbs.export.structure import Structure, Unknown
from fmumbs.export.xml import DECLARATION, element

if TYPE_CHECKING:
    from fmumbs.compiler import Variable


def fmi2_xml(of: ModelDescription) -> bytes:
    """The file's bytes."""
    files = element(2, "SourceFiles", {}, "".join(element(3, "File", {"name": name}) for name in of.sources))
    sources = files if of.sources else ""
    places = {variable.index: place for place, variable in enumerate(of.variables, 1)}
    nominals = parts.nominals(of)
    kinds = "".join(
        element(1, tag, {"modelIdentifier": of.identifier} | attributes(of.capabilities), sources)
        for kind, tag, attributes in _KINDS
        if kind in of.capabilities.kinds
    )
    experiment, log = parts.experiment_and_log(of)
    children = (
        kinds,
        parts.units(of, _type),
        log,
        experiment,
        element(1, "ModelVariables", {}, "".join(_variable(v, places, nominals) for v in of.variables)),
        element(1, "ModelStructure", {}, _structure(of.structure, places)),
    )
    header = parts.header(of, "2.0", "guid")
    header["numberOfEventIndicators"] = str(of.continuous.indicators if of.continuous else 0)
    root = element(0, "fmiModelDescription", header, "".join(children))
    return f"{DECLARATION}{root}".encode()


def capability_attributes(of: Capabilities) -> dict[str, str]:
    """Those of <CoSimulation>."""
    return {
        "needsExecutionTool": boolean(of.needs_tool),
        "canHandleVariableCommunicationStepSize": boolean(of.variable_step),
        "canInterpolateInputs": boolean(of.interpolates_inputs),
        "maxOutputDerivativeOrder": str(of.output_derivatives),
        "canRunAsynchronuously": "false",
        **_common(of),
    }


def exchange_attributes(of: Capabilities) -> dict[str, str]:
    """Those of <ModelExchange>."""
    return {"needsExecutionTool": boolean(of.needs_tool), "completedIntegratorStepNotNeeded": "false", **_common(of)}


def _common(of: Capabilities) -> dict[str, str]:
    return {
        "canBeInstantiatedOnlyOncePerProcess": "false",
        "canNotUseMemoryManagementFunctions": "true",
        "canGetAndSetFMUstate": boolean(of.keeps_state),
        "canSerializeFMUstate": boolean(of.serialises_state),
        "providesDirectionalDerivative": boolean(of.directional_derivatives),
    }


# In the order of the schema
_KINDS: tuple[tuple[str, str, Callable[[Capabilities], dict[str, str]]], ...] = (
    (MODEL_EXCHANGE, "ModelExchange", exchange_attributes),
    (CO_SIMULATION, "CoSimulation", capability_attributes),
)


def _type(name: str, attributes: dict[str, str]) -> str:
    return element(2, "SimpleType", {"name": name}, element(3, "Real", attributes))


def _variable(variable: "Variable", places: Mapping[int, int], nominals: Mapping[int, float]) -> str:
    """places: of variables in the file, from 1, by their references."""
    derivative = None if variable.derivative_of is None else str(places[variable.derivative_of])
    value = parts.value_attributes(variable, nominals, derivative)
    inside = element(3, variable.type.capitalize(), value)
    return element(2, "ScalarVariable", parts.variable_attributes(variable), inside)


def _structure(of: Structure, places: Mapping[int, int]) -> str:
    members = {"Outputs": of.outputs, "Derivatives": of.derivatives, "InitialUnknowns": of.initial_unknowns}
    return "".join(element(2, tag, {}, _unknowns(some, places)) for tag, some in members.items() if some)


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
