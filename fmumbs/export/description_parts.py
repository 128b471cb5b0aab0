"""What the modelDescription.xml of FMI 2.0 and of FMI 3.0 have in common."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from fmumbs.export.model_description import LOG_CATEGORIES, RANGES, Experiment, ModelDescription
from fmumbs.export.units import Unit, unit
from fmumbs.export.xml import element

if TYPE_CHECKING:
    from fmumbs.compiler import Variable


def header(of: ModelDescription, version: str, token: str) -> dict[str, str]:
    """Attributes of <fmiModelDescription>, empty ones left out; token: the name of what identifies the model."""
    attributes = {
        "fmiVersion": version,
        "modelName": of.name,
        token: of.guid,
        "description": of.description,
        "license": of.licence,
        "generationTool": of.tool,
        "variableNamingConvention": of.naming,
        "generationDateAndTime": of.date.strftime("%Y-%m-%dT%H:%M:%SZ") if of.date else "",
    }
    return {name: value for name, value in attributes.items() if value}


def experiment_attributes(of: Experiment) -> dict[str, str]:
    """Those of <DefaultExperiment>."""
    return {
        "startTime": f"{of.start:g}",
        "stopTime": number(of.stop),
        "tolerance": number(of.tolerance),
        "stepSize": number(of.step),
    }


def experiment_and_log(of: ModelDescription) -> tuple[str, str]:
    """<DefaultExperiment> and <LogCategories>."""
    categories = ({"name": name, "description": LOG_CATEGORIES[name]} for name in of.capabilities.log_categories)
    return (
        element(1, "DefaultExperiment", experiment_attributes(of.experiment)),
        element(1, "LogCategories", {}, "".join(element(2, "Category", category) for category in categories)),
    )


def units(of: ModelDescription, typed: Callable[[str, dict[str, str]], str]) -> str:
    """<UnitDefinitions>, and <TypeDefinitions> of those that are quantities.

    typed: the type of a name with these attributes.
    """
    if not of.units:
        return ""
    defined, types = "", ""
    for one in of.units:
        defined += element(2, "Unit", {"name": one.name}, _inside(one))
        if one.quantity:
            attributes = {"quantity": one.quantity, "unit": one.name}
            if one.display:
                attributes["displayUnit"] = one.display
            types += typed(one.type_name, attributes)
    return element(1, "UnitDefinitions", {}, defined) + (element(1, "TypeDefinitions", {}, types) if types else "")


def _inside(one: Unit) -> str:
    inside = element(3, "BaseUnit", {base: str(power) for base, power in one.exponents})
    for name, factor in one.displays:
        inside += element(3, "DisplayUnit", {"name": name, "factor": number(factor)})
    return inside


def variable_attributes(variable: "Variable") -> dict[str, str]:
    """What a variable is, whatever its type."""
    attributes = {
        "name": variable.name,
        "valueReference": str(variable.index),
        "description": variable.description,
        "causality": variable.causality,
        "variability": variable.variability,
    }
    if variable.initial is not None and variable.causality != "input":
        attributes["initial"] = variable.initial
    return attributes


def value_attributes(variable: "Variable", nominals: Mapping[int, float], derivative: str | None) -> dict[str, str]:
    """What its value is. nominals: of states by reference; derivative: how the file refers to its integral."""
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
    if derivative is not None:
        value["derivative"] = derivative
    if nominals.get(variable.index, 1.0) != 1.0:
        value["nominal"] = number(nominals[variable.index])
    return value


def nominals(of: ModelDescription) -> dict[int, float]:
    """Nominal values of the states by reference."""
    return dict(zip(of.continuous.states, of.continuous.nominals, strict=True)) if of.continuous else {}


def number(value: float) -> str:
    """All digits."""
    return repr(float(value))


def boolean(value: bool) -> str:
    """As XML Schema has it."""
    return "true" if value else "false"


_START: dict[str, Callable[[float], str]] = {
    "real": number,
    "integer": lambda value: str(int(value)),
    "boolean": lambda value: boolean(value != 0.0),
}
