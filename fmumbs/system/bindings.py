"""Start values in a package (SSP 1.0): bindings of systems and FMUs, their sets (.ssv) and mappings (.ssm).

Of several values for one variable that of the outermost system counts, and of one element's bindings the last.
"""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from fmumbs._tables import number, whole
from fmumbs.errors import ExportError
from fmumbs.play.unpacking import open_package
from fmumbs.system.interface import Variable
from fmumbs.system.structure import (
    MAPPED,
    SPACES,
    Document,
    ElementPath,
    Hop,
    Place,
    Tree,
    carried,
    check_transformations,
    is_true,
    named,
    required,
    units_in,
)
from fmumbs.system.units import Scale, scale_of

SET_TYPE, MAPPING_TYPE = "application/x-ssp-parameter-set", "application/x-ssp-parameter-mapping"
ACCEPTED = {  # by the type of the variable: types of values in a parameter set
    "Real": ("Real", "Integer"),
    "Integer": ("Integer",),
    "Boolean": ("Boolean",),
    "String": ("String",),
    "Enumeration": ("Enumeration", "Integer"),
}


@dataclass(frozen=True)
class Value:
    """A value of a parameter set: its type, the value, its unit if one is stated; unknown: one that nobody defines."""

    kind: str
    value: Any
    unit: Scale | None = None
    unknown: str = ""


@dataclass(frozen=True)
class Entry:
    """A value for a name within an element, and how it is changed on the way."""

    name: str
    value: Value
    factor: float = 1.0
    offset: float = 0.0
    suppressed: bool = False


def starts_in(tree: Tree) -> tuple[dict[ElementPath, dict[str, Any]], list[str]]:
    """The start values of each FMU by variable, in the FMU's units, and notes about names that match nothing."""
    starts: dict[ElementPath, dict[str, Any]] = {path: {} for path in tree.leaves}
    notes: list[str] = []
    for path in sorted([*tree.leaves, *tree.groups], key=len, reverse=True):
        for entry in _entries(tree, path):
            targets = list(_targets(tree, path, entry))
            for place, hops in targets:
                starts[place[0]][place[1]] = _applied(tree, place, hops, entry)
            if not targets:
                notes.append(f"{named((path, entry.name))}: no variable has this name; it is ignored, as SSP asks")
    return starts, notes


def _entries(tree: Tree, path: ElementPath) -> Iterator[Entry]:
    """The values of an element's own bindings, the last of equal names last."""
    if path in tree.leaves:
        leaf = tree.leaves[path]
        owners = [(leaf.document, leaf.node, leaf.node)]
    else:
        group = tree.groups[path]
        owners = [(group.document, group.node, None)]
        owners += [(document, node, node) for document, node in group.references]
    for document, node, component in owners:
        for binding in node.iterfind("ssd:ParameterBindings/ssd:ParameterBinding", SPACES):
            yield from _bound(document, binding, component, ".".join(path))


def _bound(document: Document, binding: Any, component: Any, name: str) -> Iterator[Entry]:
    where = f"the start values of '{name}'"
    root = _content(document, binding, component, "ssd:ParameterValues/ssv:ParameterSet", SET_TYPE, where)
    prefix = binding.get("prefix") or ""
    values = {prefix + parameter: value for parameter, value in _values(document, root)}
    mapping = binding.find("ssd:ParameterMapping", SPACES)
    if mapping is None:
        yield from (Entry(parameter, value) for parameter, value in values.items())
        return
    rows = _content(document, mapping, component, "ssm:ParameterMapping", MAPPING_TYPE, f"the mapping of {where}")
    mapped = [(row, row.get("source")) for row in rows.iterfind("ssm:MappingEntry", SPACES)]
    sources = {source for _, source in mapped}
    yield from (Entry(parameter, value) for parameter, value in values.items() if parameter not in sources)
    for row, source in mapped:
        if source in values:
            yield _mapped(row, values[source])


def _content(document: Document, node: Any, component: Any, inline: str, kind: str, what: str) -> Any:
    """The root of a parameter set or mapping: within `node`, in a file of the package, or in one of the FMU."""
    source = node.get("source")
    if node.get("type", kind) != kind:
        raise ExportError(f"'{document.package}': {what} are of type {node.get('type')}, not {kind}. Convert them.")
    if source is None:
        root = node.find(inline, SPACES)
        if root is None:
            raise ExportError(f"'{document.package}' has neither a source nor contents for {what}. Add one.")
        return root
    if node.get("sourceBase", "SSD") != "component" or component is None:
        return document.xml(source, what)
    base = document.file(component.get("source").partition("#")[0])
    if not zipfile.is_zipfile(base):  # a description
        return replace(document, folder=base.parent, root=None).xml(source, what)
    inside = unquote(source)
    with open_package(base) as archive:
        if inside not in archive.sizes:
            raise ExportError(f"'{component.get('source')}' has no '{source}', {what}. Pack it.")
        return archive.xml(inside)


def _values(document: Document, root: Any) -> Iterator[tuple[str, Value]]:
    units = document.units | units_in(root)
    for parameter in root.iterfind("ssv:Parameters/ssv:Parameter", SPACES):
        found = [node for node in parameter if node.tag.rpartition("}")[2] in ACCEPTED]
        name = required(parameter, "name")
        document.budget.spend(document.package, "start values")
        if len(found) != 1:
            raise ExportError(f"'{document.package}': the parameter '{name}' has {len(found)} types. Give it one.")
        (node,) = found
        kind, text, unit = node.tag.rpartition("}")[2], node.get("value"), node.get("unit")
        scale = (units.get(unit) or scale_of(unit)) if unit else None
        unknown = unit if unit and scale is None else ""
        yield name, Value(kind, _read(kind, text, f"'{document.package}': '{name}'"), scale, unknown)


def _read(kind: str, text: str | None, what: str) -> Any:
    if text is None:
        raise ExportError(f"{what} has no value. Give one.")
    try:
        if kind == "Real":
            return number(text)
        if kind == "Integer":
            return whole(text)
    except ValueError as error:
        raise ExportError(f"{what} does not follow SSP 1.0 ({error}). Correct it.") from error
    if kind == "Boolean":
        if text not in ("true", "false", "1", "0"):
            raise ExportError(f"{what} is set to '{text}', but is Boolean. Give true or false.")
        return is_true(text)
    return text


def _mapped(row: Any, value: Value) -> Entry:
    suppressed = is_true(row.get("suppressUnitConversion"))
    name, source = row.get("target"), row.get("source")
    if not name:
        raise ExportError(f"the mapping of '{source}' has no target. Correct it.")
    check_transformations(row, f"the mapping of '{source}'")
    linear = row.find("ssc:LinearTransformation", SPACES)
    if linear is not None:
        if value.kind not in ("Real", "Integer"):
            raise ExportError(f"the mapping of '{source}' is linear, but its value is {value.kind}. Correct it.")
        factor, offset = number(linear.get("factor", "1")), number(linear.get("offset", "0"))
        return Entry(name, value, factor, offset, suppressed)
    for kind in MAPPED:
        table = row.find(f"ssc:{kind}MappingTransformation", SPACES)
        if table is None:
            continue
        what = f"the mapping of '{source}'"
        pairs = {
            _read(kind, one.get("source"), what): _read(kind, one.get("target"), what)
            for one in table.iterfind("ssc:MapEntry", SPACES)
        }
        if value.kind != kind or value.value not in pairs:
            raise ExportError(f"{what} has no entry for {value.value!r} ({value.kind}). Add one.")
        return Entry(name, Value(kind, pairs[value.value]), suppressed=suppressed)
    return Entry(name, value, suppressed=suppressed)


def _targets(tree: Tree, path: ElementPath, entry: Entry, name: str | None = None) -> Iterator[tuple[Place, list[Hop]]]:
    """The variables of FMUs that a name within an element means, with the hops of a value on its way there."""
    name = entry.name if name is None else name
    first = Hop(tree.unit((path, name)), entry.factor, entry.offset, entry.suppressed)
    if path in tree.leaves:
        if name in tree.leaves[path].interface.variables:
            yield (path, name), [first]
        return
    connector = tree.groups[path].connectors.get(name)
    if connector is not None:
        routes = list(tree.routes_from((path, name)))
        if not routes and connector.get("kind") in ("output", "calculatedParameter"):
            raise ExportError(
                f"the start value of '{named((path, name))}', an output of a system, does not determine those inside. "
                "Set the variable of the FMU."
            )
        for place, route in routes:
            yield place, [first, *map(tree.hop, route)]
        return
    for inner in tree.within.get(path, ()):
        if name.startswith(f"{inner[-1]}."):
            yield from _targets(tree, inner, entry, name[len(inner[-1]) + 1 :])


def _applied(tree: Tree, place: Place, hops: list[Hop], entry: Entry) -> Any:
    """The start value in the FMU's type and unit."""
    variable, value = tree.leaves[place[0]].interface.variable(".".join(place[0]), place[1]), entry.value
    what = f"the start value of '{named(place)}'"
    if value.kind not in ACCEPTED[variable.kind]:
        raise ExportError(f"{what} is {value.kind}, but the variable {variable.kind}. Correct the type.")
    if variable.kind == "Enumeration":
        return _item(variable, value, what)
    if variable.kind != "Real":
        return value.value
    converts = variable.unit or tree.unit(place) is not None
    if value.unknown and converts and value.unknown != variable.unit:
        raise ExportError(f"{what} has the unknown unit '{value.unknown}'. Define it in the package's Units.")
    factor, offset = carried(value.unit, hops, what)
    return factor * value.value + offset if (factor, offset) != (1.0, 0.0) else float(value.value)


def _item(variable: Variable, value: Value, what: str) -> int:
    if value.kind == "Integer":
        return int(value.value)
    if value.value not in variable.items:
        raise ExportError(f"{what}: '{value.value}' is none of {', '.join(variable.items) or 'its items'}. Correct it.")
    return variable.items[value.value]
