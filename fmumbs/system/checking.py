"""Checks of a system: from what the user described to a Plan, or an error that names both ends."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fmumbs import _tables
from fmumbs.errors import ExportError, ModelError
from fmumbs.system.described import Connection, Described, Element
from fmumbs.system.interface import INTEGERS, Interface, Variable, read_interface
from fmumbs.system.loops import check_loops
from fmumbs.system.plan import RECORDED, Link, Part, Plan
from fmumbs.system.units import Scale, scale_of

MOST_STEPS = 10**8
CONNECTED = ("Real", "Integer", "Boolean")  # types that all engines pass on


def checked(system: Described) -> Plan:
    """The plan of a system; see System.check."""
    if not system.elements:
        raise ModelError(f"system '{system.name}' has no elements. Add FMUs with add().")
    step, count = _times(system)
    interfaces = dict(_interfaces(system))
    links: list[Link] = []
    notes = list(system.notes)
    for connection in system.connections.values():
        links.append(_link(connection, interfaces, notes))
    check_loops(system, interfaces, links)
    fed: dict[str, list[str]] = {name: [] for name in system.elements}
    read: dict[str, list[str]] = {name: [] for name in system.elements}
    for link in links:
        fed[link.target.element].append(link.target.variable)
        read[link.source.element].append(link.source.variable)
    parts = tuple(
        _part(element, interfaces[name], fed[name], read[name]) for name, element in system.elements.items()
    )
    return Plan(system.name, system.description, step, count, parts, tuple(links), tuple(notes))


def _times(system: Described) -> tuple[int, int]:
    """The step [ns], and how many there are."""
    where = f"system '{system.name}'"
    step = round(system.step * 1e9)
    if step == 0 or abs(step * 1e-9 - system.step) > 1e-12 * system.step:
        raise ModelError(f"{where}: the step {system.step!r} s is not a whole number of nanoseconds. Round it.")
    steps = system.stop / system.step
    if not 0.5 < steps < MOST_STEPS + 0.5:
        of = f"{steps:.9g} steps of {system.step:g} s to {system.stop:g} s"
        raise ModelError(f"{where}: {of}. Take 1 to {MOST_STEPS}.")
    count = round(steps)
    if abs(count * step * 1e-9 - system.stop) > 1e-9 * system.stop:
        raise ModelError(
            f"{where}: stop {system.stop:g} s is not a multiple of the step {system.step:g} s. "
            f"Stop at {count * step * 1e-9:.12g} s."
        )
    return step, count


def _interfaces(system: Described) -> Iterator[tuple[str, Interface]]:
    read: dict[Any, Interface] = {}
    for element in system.elements.values():
        if element.fmu not in read:
            if not element.fmu.is_file():
                raise ExportError(_missing(system, element))
            read[element.fmu] = read_interface(element.fmu)
        yield element.name, _with_units(element, read[element.fmu])


def _missing(system: Described, element: Element) -> str:
    near = [c for c in system.connections.values() if element.name in (c.source.element, c.target.element)]
    between = f" The connection '{near[0].source}' -> '{near[0].target}' needs it." if near else ""
    return f"there is no FMU '{element.fmu}' for '{element.name}'.{between} Export it, or correct the path."


def _with_units(element: Element, interface: Interface) -> Interface:
    """The interface with the units that the user states."""
    changed = dict(interface.variables)
    scales = dict(interface.scales)
    for name, unit in element.units.items():
        variable = interface.variable(element.name, name)
        if variable.unit and variable.unit != unit:
            raise ModelError(
                f"'{element.name}.{name}' has the unit {variable.unit} in its FMU, not {unit}. Leave it out of units."
            )
        scale = scales.get(unit) or scale_of(unit)
        if variable.kind != "Real" or scale is None:
            known = "is not a real variable" if variable.kind != "Real" else f"cannot have the unknown unit '{unit}'"
            raise ModelError(f"'{element.name}.{name}' {known}. Give units such as 'N.m', 'rad/s', 'deg' or 'mm'.")
        changed[name] = replace(variable, unit=unit)
        scales[unit] = scale
    return replace(interface, variables=changed, scales=scales)


def _link(connection: Connection, interfaces: dict[str, Interface], notes: list[str]) -> Link:
    source, target = connection.source, connection.target
    one = interfaces[source.element].variable(source.element, source.variable, "output")
    two = interfaces[target.element].variable(target.element, target.variable, "input")
    what = f"'{source}' cannot feed '{target}'"
    if one.kind != two.kind:
        raise ModelError(f"{what}: {one.kind} is not {two.kind}. Connect variables of one type.")
    if one.kind not in CONNECTED:
        raise ModelError(f"{what}: variables of type {one.kind} cannot be connected. Use Real, Integer or Boolean.")
    if connection.conversion is not None:
        if connection.conversion != (1.0, 0.0) and one.kind != "Real":
            raise ModelError(f"{what}: a linear transformation is only for Real, not for {one.kind}. Leave it out.")
        return Link(source, target, one.kind, *connection.conversion)
    if not one.unit or not two.unit:
        if one.kind == "Real":
            bare = [str(end) for end, v in ((source, one), (target, two)) if not v.unit]
            notes.append(f"{source} -> {target}: not checked, as {' and '.join(bare)} has no unit")
        return Link(source, target, one.kind)
    if one.unit == two.unit:
        return Link(source, target, one.kind)
    scales = _scale(interfaces[source.element], one), _scale(interfaces[target.element], two)
    if scales[0] is None or scales[1] is None or scales[0].exponents != scales[1].exponents:
        raise ModelError(f"{what}: {one.unit} does not convert to {two.unit}. Connect variables of one quantity.")
    return Link(source, target, one.kind, *scales[0].conversion(scales[1]))


def _scale(interface: Interface, variable: Variable) -> Scale | None:
    return interface.scales.get(variable.unit) or scale_of(variable.unit)


def _part(element: Element, interface: Interface, fed: list[str], read: list[str]) -> Part:
    """fed, read: its variables that connections end at, and begin at."""
    names = interface.named("output") if element.outputs is None else list(element.outputs)
    outputs = [interface.variable(element.name, name, "output") for name in dict.fromkeys([*names, *read])]
    for variable in outputs:
        if element.outputs is not None and variable.kind not in RECORDED and variable.name not in read:
            raise ModelError(
                f"'{element.name}.{variable.name}' is of type {variable.kind}, and results have numbers. Leave it out."
            )
    starts = {name: _start(element, interface, name, value) for name, value in element.starts.items()}
    return Part(
        element.name,
        interface,
        starts,
        tuple(v for v in outputs if v.kind in RECORDED or v.name in read),
        tuple(interface.variables[name] for name in fed),
        element.units,
        element.feedthrough,
    )


def _start(element: Element, interface: Interface, name: str, value: Any) -> Any:
    """A start value in the type of its variable."""
    variable = interface.variable(element.name, name)
    what = f"'{element.name}.{name}' is set to {value!r}"
    if variable.kind == "String":
        return str(value)
    if variable.kind == "Boolean":
        if isinstance(value, bool) or value in (0, 1):
            return bool(value)
        raise ModelError(f"{what}, but is Boolean. Give True or False.")
    try:
        number = _tables.number(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        raise ModelError(f"{what}, which is not a number. Give a number.") from None
    if not math.isfinite(number):
        raise ModelError(f"{what}, which is not finite. Give a finite number.")
    if variable.kind in INTEGERS:
        if number != int(number) or abs(number) >= 2**31:
            raise ModelError(f"{what}, but is an integer. Give a whole number.")
        return int(number)
    return number
