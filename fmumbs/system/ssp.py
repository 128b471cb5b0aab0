"""Text of a system in SSP 1.0: SystemStructure.ssd, and an .ssv of start values for each element.

A connection between variables of different units carries its linear transformation, and suppresses the automatic
conversion, so that no importer converts twice. Only connected inputs are connectors: FMPy's runner would connect others
to whatever comes first.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from fmumbs.export.xml import DECLARATION, element
from fmumbs.system.interface import Variable
from fmumbs.system.plan import Link, Part, Plan
from fmumbs.system.units import Scale, scale_of

COMMON = "http://ssp-standard.org/SSP1/SystemStructureCommon"
STRUCTURE = "http://ssp-standard.org/SSP1/SystemStructureDescription"
VALUES = "http://ssp-standard.org/SSP1/SystemStructureParameterValues"
OSP = "http://opensimulationplatform.com/SSP/OSPAnnotations"
OMS = "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd"
OWN = "https://fmumbs.org/SSP/Annotations"
OSP_TYPE, OMS_TYPE, OWN_TYPE = "com.opensimulationplatform", "org.openmodelica", "org.fmumbs"
VALUES_TYPE, FMU_TYPE = "application/x-ssp-parameter-set", "application/x-fmu-sharedlibrary"


def structure(plan: Plan, sources: Mapping[str, str], values: Mapping[str, str]) -> bytes:
    """SystemStructure.ssd. sources, values: places of the FMUs and of the start values by the elements' names."""
    components = "".join(_component(part, sources[part.name], values.get(part.name)) for part in plan.parts)
    connections = "".join(map(_connection, plan.links))
    inside = element(2, "ssd:Elements", {}, components)
    inside += element(2, "ssd:Connections", {}, connections) if connections else ""
    inside += element(2, "ssd:Annotations", {}, _omsimulator(plan) + _stated(plan))
    described = {"description": plan.description} if plan.description else {}
    step = element(5, "osp:FixedStepAlgorithm", {"baseStepSize": repr(plan.seconds)})
    algorithm = element(4, "osp:Algorithm", {}, step)
    annotation = element(3, "ssc:Annotation", {"type": OSP_TYPE}, algorithm)
    experiment = {"startTime": "0.0", "stopTime": repr(plan.stop)}
    parts = (
        element(1, "ssd:System", {"name": plan.name} | described, inside),
        _units(plan),
        element(1, "ssd:DefaultExperiment", experiment, element(2, "ssd:Annotations", {}, annotation)),
    )
    names = {"xmlns:ssc": COMMON, "xmlns:ssd": STRUCTURE, "xmlns:osp": OSP, "xmlns:oms": OMS, "xmlns:fmumbs": OWN}
    head = {**names, "version": "1.0", "name": plan.name}
    return f"{DECLARATION}{element(0, 'ssd:SystemStructureDescription', head, ''.join(parts))}".encode()


def _omsimulator(plan: Plan) -> str:
    """The annotation without which OMSimulator does not read a system: its master, and the step."""
    tolerances = {"absoluteTolerance": "1e-6", "relativeTolerance": "1e-6"}
    master = {"description": "oms-ma", "stepSize": repr(plan.seconds)} | tolerances
    information = element(5, "oms:SimulationInformation", {}, element(6, "oms:FixedStepMaster", master))
    return element(3, "ssc:Annotation", {"type": OMS_TYPE}, element(4, "oms:Annotations", {}, information))


def _stated(plan: Plan) -> str:
    """What System.add states beside the FMUs; of annotations, OMSimulator reads the system's first."""
    stated = "".join(
        element(
            5,
            "fmumbs:Element",
            {"name": part.name, "feedthrough": text_of(part.feedthrough)},
            "".join(element(6, "fmumbs:Unit", {"of": name, "unit": unit}) for name, unit in part.units.items()),
        )
        for part in plan.parts
    )
    return element(3, "ssc:Annotation", {"type": OWN_TYPE}, element(4, "fmumbs:Elements", {}, stated))


def _component(part: Part, source: str, values: str | None) -> str:
    connectors = "".join(_connector(part, v, "input") for v in part.inputs)
    connectors += "".join(_connector(part, v, "output") for v in part.outputs)
    inside = element(4, "ssd:Connectors", {}, connectors) if connectors else ""
    if values is not None:
        binding = element(5, "ssd:ParameterBinding", {"type": VALUES_TYPE, "source": values})
        inside += element(4, "ssd:ParameterBindings", {}, binding)
    return element(3, "ssd:Component", {"name": part.name, "type": FMU_TYPE, "source": source}, inside)


def _connector(part: Part, variable: Variable, kind: str) -> str:
    """With the unit of the FMU: OMSimulator takes units that only the connector states for ones without dimension."""
    of_the_fmu = variable.unit and variable.name not in part.units and variable.kind == "Real"
    unit = {"unit": variable.unit} if of_the_fmu else {}
    typed = element(6, f"ssc:{variable.kind}", unit)
    return element(5, "ssd:Connector", {"name": variable.name, "kind": kind}, typed)


def _connection(link: Link) -> str:
    ends = {
        "startElement": link.source.element,
        "startConnector": link.source.variable,
        "endElement": link.target.element,
        "endConnector": link.target.variable,
    }
    if not link.converts:
        return element(3, "ssd:Connection", ends)
    transformation = {"factor": repr(link.factor), "offset": repr(link.offset)}
    inside = element(4, "ssc:LinearTransformation", transformation)
    return element(3, "ssd:Connection", ends | {"suppressUnitConversion": "true"}, inside)


def _units(plan: Plan) -> str:
    found: dict[str, Scale | None] = {}
    for part in plan.parts:
        for variable in (*part.inputs, *part.outputs):
            if variable.unit:
                found.setdefault(variable.unit, part.interface.scales.get(variable.unit) or scale_of(variable.unit))
    units = "".join(_unit(name, scale) for name, scale in sorted(found.items()) if scale is not None)
    return element(1, "ssd:Units", {}, units) if units else ""


def _unit(name: str, scale: Scale) -> str:
    base = {one: str(power) for one, power in scale.exponents}
    if scale.factor != 1.0:
        base["factor"] = repr(scale.factor)
    if scale.offset != 0.0:
        base["offset"] = repr(scale.offset)
    return element(2, "ssc:Unit", {"name": name}, element(3, "ssc:BaseUnit", base))


def parameter_set(part: Part) -> bytes:
    """The .ssv of an element: its start values, in the FMU's units."""
    rows = "".join(_parameter(part.interface.variables[name], value) for name, value in part.starts.items())
    head = {"xmlns:ssc": COMMON, "xmlns:ssv": VALUES, "version": "1.0", "name": part.name}
    return f"{DECLARATION}{element(0, 'ssv:ParameterSet', head, element(1, 'ssv:Parameters', {}, rows))}".encode()


def _parameter(variable: Variable, value: Any) -> str:
    kind = "Integer" if variable.kind == "Enumeration" else variable.kind
    return element(2, "ssv:Parameter", {"name": variable.name}, element(3, f"ssv:{kind}", {"value": text_of(value)}))


def text_of(value: Any) -> str:
    """A start value as XML has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def osp_structure(plan: Plan, sources: Mapping[str, str]) -> bytes:
    """OspSystemStructure.xml, which libcosim reads. sources: places of the FMUs by the elements' names."""
    converted = [(f"conversion{i + 1}", link) for i, link in enumerate(plan.links) if link.converts]
    functions = "".join(
        element(2, "LinearTransformation", {"name": name, "factor": repr(link.factor), "offset": repr(link.offset)})
        for name, link in converted
    )
    connections = "".join(_osp_connection(link) for link in plan.links if not link.converts)
    connections += "".join(_osp_signals(name, link) for name, link in converted)
    parts = (
        "  <StartTime>0.0</StartTime>\n",
        f"  <EndTime>{plan.stop!r}</EndTime>\n",
        f"  <BaseStepSize>{_not_below(plan.step)!r}</BaseStepSize>\n",
        "  <Algorithm>fixedStep</Algorithm>\n",
        element(1, "Simulators", {}, "".join(_simulator(part, sources[part.name]) for part in plan.parts)),
        element(1, "Functions", {}, functions) if functions else "",
        element(1, "Connections", {}, connections) if connections else "",
    )
    head = {"xmlns": "http://opensimulationplatform.com/MSMI/OSPSystemStructure", "version": "0.1"}
    return f"{DECLARATION}{element(0, 'OspSystemStructure', head, ''.join(parts))}".encode()


def _not_below(step: int) -> float:
    """The step [s] as a number that is not below it: libcosim cuts off what is less than a nanosecond."""
    seconds = step / 1e9
    return seconds if int(seconds * 1e9) == step else (step + 0.25) / 1e9


def _simulator(part: Part, source: str) -> str:
    rows = "".join(
        element(4, "InitialValue", {"variable": name}, element(5, _osp_kind(part, name), {"value": text_of(value)}))
        for name, value in part.starts.items()
    )
    values = element(3, "InitialValues", {}, rows) if rows else ""
    return element(2, "Simulator", {"name": part.name, "source": source}, values)


def _osp_kind(part: Part, name: str) -> str:
    kind = part.interface.variables[name].kind
    return "Integer" if kind == "Enumeration" else kind


def _osp_connection(link: Link) -> str:
    ends = ({"simulator": end.element, "name": end.variable} for end in (link.source, link.target))
    return element(2, "VariableConnection", {}, "".join(element(3, "Variable", end) for end in ends))


def _osp_signals(function: str, link: Link) -> str:
    """The output to the function's input, its output to the input."""
    return "".join(_osp_signal(end, function, signal) for end, signal in ((link.source, "in"), (link.target, "out")))


def _osp_signal(end: Any, function: str, signal: str) -> str:
    variable = element(3, "Variable", {"simulator": end.element, "name": end.variable})
    named = element(3, "Signal", {"function": function, "name": signal})
    return element(2, "SignalConnection", {}, variable + named)


def sets_of(parts: Iterable[Part]) -> dict[str, bytes]:
    """The .ssv of each element with start values, by name."""
    return {part.name: parameter_set(part) for part in parts if part.starts}
