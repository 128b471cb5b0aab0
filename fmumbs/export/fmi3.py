"""Writes a model description as the modelDescription.xml of FMI 3.0 (FMI 3.0.2, section 2.4).

What its sources are is in another file, sources/buildDescription.xml.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from fmumbs.export import description_parts as parts
from fmumbs.export.description_parts import boolean
from fmumbs.export.model_description import CO_SIMULATION, MODEL_EXCHANGE, Capabilities, ModelDescription
from fmumbs.export.structure import Structure, Unknown
from fmumbs.export.xml import DECLARATION, element

if TYPE_CHECKING:
    from fmumbs.compiler import Variable

TYPES = {"real": "Float64", "integer": "Int32", "boolean": "Boolean"}
"""Types of FMI 3.0 by those of the core's variables."""

PLATFORMS: Mapping[str, tuple[str, ...]] = {
    "linux64": ("x86_64-linux",),
    "linux32": ("x86-linux",),
    "win64": ("x86_64-windows",),
    "win32": ("x86-windows",),
    "darwin64": ("x86_64-darwin", "aarch64-darwin"),
}
"""Folders of a binary in FMI 3.0, by that of FMI 2.0 where it has another name."""


def fmi3_xml(of: ModelDescription) -> bytes:
    """The file's bytes."""
    kinds = "".join(
        element(1, tag, {"modelIdentifier": of.identifier} | attributes(of.capabilities))
        for kind, tag, attributes in _KINDS
        if kind in of.capabilities.kinds
    )
    experiment, log = parts.experiment_and_log(of)
    children = (
        kinds,
        parts.units(of, _type),
        log,
        experiment,
        element(1, "ModelVariables", {}, _variables(of)),
        element(1, "ModelStructure", {}, _structure(of.structure) + _indicators(of)),
    )
    root = element(0, "fmiModelDescription", parts.header(of, "3.0", "instantiationToken"), "".join(children))
    return f"{DECLARATION}{root}".encode()


def build_description(of: ModelDescription) -> bytes:
    """sources/buildDescription.xml: which files of sources/ make the binary."""
    files = "".join(element(3, "SourceFile", {"name": name}) for name in of.sources)
    inside = element(2, "SourceFileSet", {"language": "C99"}, files)
    build = element(1, "BuildConfiguration", {"modelIdentifier": of.identifier}, inside)
    return f"{DECLARATION}{element(0, 'fmiBuildDescription', {'fmiVersion': '3.0'}, build)}".encode()


def _simulation_attributes(of: Capabilities) -> dict[str, str]:
    """Those of <CoSimulation>: every integration step can be seen and be the last one of a step, and so can events."""
    return {
        **_common(of),
        "canHandleVariableCommunicationStepSize": boolean(of.variable_step),
        "maxOutputDerivativeOrder": str(of.output_derivatives),
        "providesIntermediateUpdate": boolean(of.interpolates_inputs),
        "mightReturnEarlyFromDoStep": boolean(of.interpolates_inputs),
        "canReturnEarlyAfterIntermediateUpdate": boolean(of.interpolates_inputs),
        "hasEventMode": "true",
    }


def _exchange_attributes(of: Capabilities) -> dict[str, str]:
    """Those of <ModelExchange>."""
    return {**_common(of), "needsCompletedIntegratorStep": "true"}


def _common(of: Capabilities) -> dict[str, str]:
    return {
        "needsExecutionTool": boolean(of.needs_tool),
        "canBeInstantiatedOnlyOncePerProcess": "false",
        "canGetAndSetFMUState": boolean(of.keeps_state),
        "canSerializeFMUState": boolean(of.serialises_state),
        "providesDirectionalDerivatives": boolean(of.directional_derivatives),
        "providesAdjointDerivatives": boolean(of.adjoint_derivatives),
        "providesPerElementDependencies": "false",
    }


# In the order of the schema
_KINDS: tuple[tuple[str, str, Callable[[Capabilities], dict[str, str]]], ...] = (
    (MODEL_EXCHANGE, "ModelExchange", _exchange_attributes),
    (CO_SIMULATION, "CoSimulation", _simulation_attributes),
)


def _type(name: str, attributes: dict[str, str]) -> str:
    return element(2, "Float64Type", {"name": name, **attributes})


def _variables(of: ModelDescription) -> str:
    nominals, written = parts.nominals(of), list[str]()
    seen = CO_SIMULATION in of.capabilities.kinds and of.capabilities.interpolates_inputs
    within = {first + i for first, length in of.arrays.items() for i in range(1, length)}
    for place, variable in enumerate(of.variables):
        length = of.arrays.get(variable.index)
        if length is not None:
            written.append(_array(of.variables[place : place + length], of.arrays, nominals, seen))
        elif variable.index not in within:
            integral = variable.derivative_of
            derivative = None if integral is None or integral in of.arrays or integral in within else str(integral)
            written.append(element(2, TYPES[variable.type], _attributes(variable, nominals, derivative, seen)))
    return "".join(written)


def _attributes(
    variable: "Variable", nominals: Mapping[int, float], derivative: str | None, seen: bool
) -> dict[str, str]:
    """seen: whether there are intermediate updates, in which inputs are set and outputs read."""
    value = parts.value_attributes(variable, nominals, derivative)
    if seen and variable.causality in ("input", "output") and variable.variability == "continuous":
        value["intermediateUpdate"] = "true"
    if variable.type == "boolean":
        value.pop("unit", None)
    return parts.variable_attributes(variable) | value


def _array(
    elements: "Sequence[Variable]", arrays: Mapping[int, int], nominals: Mapping[int, float], seen: bool
) -> str:
    """A vector as one variable: the first element's, with all start values. It is the derivative of another array."""
    one, integral = elements[0], elements[0].derivative_of
    derives = integral is not None and arrays.get(integral) == len(elements)
    attributes = _attributes(one, nominals, str(integral) if derives else None, seen)
    attributes["name"] = one.name.removesuffix("[1]")
    if len({v.description for v in elements}) > 1:
        attributes["description"] = one.description.split(";")[0]  # what follows is of one element
    if "start" in attributes:
        attributes["start"] = " ".join(_attributes(v, nominals, None, seen)["start"] for v in elements)
    return element(2, TYPES[one.type], attributes, element(3, "Dimension", {"start": str(len(elements))}))


def _structure(of: Structure) -> str:
    members = {
        "Output": of.outputs,
        "ContinuousStateDerivative": of.derivatives,
        "InitialUnknown": of.initial_unknowns,
    }
    return "".join(_unknowns(tag, some) for tag, some in members.items())


def _unknowns(tag: str, members: Sequence[Unknown]) -> str:
    """A list that several unknowns share is formatted once."""
    elements, lists = list[str](), dict[int, str]()
    for member in members:
        attributes = {"valueReference": str(member.reference)}
        known = member.dependencies
        if known is not None:
            if id(known) not in lists:
                lists[id(known)] = " ".join(map(str, sorted(known)))
            attributes["dependencies"] = lists[id(known)]
        elements.append(element(2, tag, attributes))
    return "".join(elements)


def _indicators(of: ModelDescription) -> str:
    marks = of.continuous.marks if of.continuous else ()
    return "".join(element(2, "EventIndicator", {"valueReference": str(one.index)}) for one in marks)
