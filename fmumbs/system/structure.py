"""The systems of a package laid flat (SSP 1.0): its FMUs, and what feeds what, through systems and signal dictionaries.

A system contains FMUs, systems, and references to other descriptions (.ssd) and packages (.ssp). Each of these is known
by its path, the names of the elements that lead to it; a place where values pass is a path with the name of a
connector, and an entry of a signal dictionary is such a place as well.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import Any
from urllib.parse import unquote

from fmumbs._tables import number
from fmumbs.errors import ExportError
from fmumbs.play.unpacking import MOST_BYTES, MOST_XML, open_package, parse_xml
from fmumbs.system.interface import Interface, read_interface
from fmumbs.system.package import SSD
from fmumbs.system.ssp import COMMON, FMU_TYPE, OMS, OSP, OWN, STRUCTURE, VALUES
from fmumbs.system.units import Scale, scale_in, scale_of

MAPPING = "http://ssp-standard.org/SSP1/SystemStructureParameterMapping"
DICTIONARY = "http://ssp-standard.org/SSP1/SystemStructureSignalDictionary"
SPACES = {
    "ssc": COMMON, "ssd": STRUCTURE, "ssv": VALUES, "ssm": MAPPING, "ssb": DICTIONARY, "osp": OSP, "oms": OMS,
    "fmumbs": OWN,
}  # fmt: skip
MAPPED = ("Boolean", "Integer", "Enumeration")
"""Kinds of values that SSP 1.0 maps by tables."""
TRANSFORMATIONS = ("LinearTransformation", *(f"{kind}MappingTransformation" for kind in MAPPED))
DEFINITION_TYPE, PACKAGE_TYPE = "application/x-ssp-definition", "application/x-ssp-package"

MOST_DEEP = 60
"""Levels of systems in systems, references counted."""
MOST = {
    "elements": 10_000, "start values": 250_000, "steps along connections": 10_000_000,
    "bytes of XML": 4 * MOST_XML, "bytes unpacked": MOST_BYTES,
}  # fmt: skip
"""In all, however often one file or one system is referred to: a package of a kilobyte may ask for any number."""

ElementPath = tuple[str, ...]
Place = tuple[ElementPath, str]
"""A connector, or a variable of an FMU, by the path of its element and its name."""
Scopes = tuple[dict[str, ElementPath], ...]
Nodes = tuple[Any, ...]


def check_transformations(node: Any, what: str) -> None:
    """Raises ExportError if a mapping or a connection has a transformation that SSP 1.0 does not define."""
    for child in node:
        space, _, name = child.tag.rpartition("}") if isinstance(child.tag, str) else ("", "", "")
        known = space == "{" + COMMON and name in TRANSFORMATIONS
        if name.endswith("Transformation") and not known:
            raise ExportError(
                f"{what} has a {name} of the namespace '{space[1:]}', which SSP 1.0 does not define. Write one of "
                f"{', '.join(TRANSFORMATIONS)} of '{COMMON}'."
            )


def is_true(text: str | None) -> bool:
    """Of a Boolean in XML; False for none."""
    return text in ("true", "1")


def required(node: Any, attribute: str) -> str:
    """An attribute of an XML element that SSP requires. Raises ValueError with the element's line if it is missing."""
    text = node.get(attribute)
    if text is None:
        raise ValueError(f"line {node.sourceline}: {node.tag.rpartition('}')[2]} without '{attribute}'")
    return str(text)


def units_in(node: Any) -> dict[str, Scale]:
    """The units that a document defines, by name; node: what contains its <Units>."""
    found = ((unit.get("name", ""), scale_in(unit)) for group in node.iterfind("{*}Units") for unit in group)
    return {name: scale for name, scale in found if scale is not None}


@dataclass
class Budget:
    """What reading a package has taken so far, of what MOST limits."""

    taken: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MOST, 0))
    _last: tuple[Path, Any] | None = None

    def spend(self, package: Path, what: str, count: int = 1) -> None:
        """Raises ExportError beyond the limit."""
        self.taken[what] += count
        if self.taken[what] > MOST[what]:
            raise ExportError(f"'{package}' has more than {MOST[what]} {what} in all. Make a smaller one.")

    def xml(self, package: Path, source: str, file: Path) -> Any:
        """The root of an XML file; the last one is kept, as many elements may share it."""
        if self._last is None or self._last[0] != file:
            self.spend(package, "bytes of XML", file.stat().st_size)
            self._last = file, parse_xml(package, source, file.read_bytes())
        return self._last[1]


@dataclass(frozen=True)
class Document:
    """A description. package: the file that messages name; folder: where its relative URIs lead; root: its XML."""

    package: Path
    folder: Path
    root: Any
    budget: Budget = field(default_factory=Budget)

    @cached_property
    def units(self) -> dict[str, Scale]:
        return units_in(self.root)

    def file(self, source: str) -> Path:
        """The file that a relative URI names. Raises ExportError for one outside the package."""
        plain = unquote(source)
        if not plain or ".." in PurePosixPath(plain).parts or plain.startswith("/") or set(":\\\0") & set(plain):
            raise ExportError(f"'{self.package}' names '{source}', which is not in the package. Pack it.")
        return self.folder / plain

    def xml(self, source: str, what: str) -> Any:
        """The root of the XML file that a relative URI names; what: it is, for the message that it is missing."""
        file = self.file(source)
        if not file.is_file():
            raise ExportError(f"'{self.package}' has no '{source}', {what}. Pack it.")
        return self.budget.xml(self.package, source, file)


@dataclass(frozen=True)
class Leaf:
    """An FMU in the tree of systems: a <Component>."""

    path: ElementPath
    document: Document
    node: Any
    fmu: Path
    interfaces: dict[Path, Interface]

    @property
    def interface(self) -> Interface:
        """Read once for a file."""
        if self.fmu not in self.interfaces:
            place = self.fmu.relative_to(self.document.folder)
            self.interfaces[self.fmu] = read_interface(self.fmu, self.document.package / place)
        return self.interfaces[self.fmu]


@dataclass(frozen=True)
class Group:
    """A system. references: the components that refer to it, with the documents that these are in."""

    path: ElementPath
    document: Document
    node: Any
    references: tuple[tuple[Document, Any], ...] = ()

    @cached_property
    def connectors(self) -> dict[str, Any]:
        """Their nodes by name, of equal names the first."""
        return self._by_name("ssd:Connectors/ssd:Connector")

    @cached_property
    def stated(self) -> dict[str, Any]:
        """What System.add states beside each FMU, as `System.save` writes it; of equal names the first."""
        return self._by_name("ssd:Annotations/ssc:Annotation/fmumbs:Elements/fmumbs:Element")

    def _by_name(self, path: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for node in self.node.iterfind(path, SPACES):
            found.setdefault(node.get("name"), node)
        return found


@dataclass(frozen=True)
class Hop:
    """One step of a value: it is converted to `unit` unless suppressed or unknown, then becomes factor y + offset."""

    unit: Scale | None
    factor: float = 1.0
    offset: float = 0.0
    suppressed: bool = False

    @property
    def plain(self) -> bool:
        return (self.factor, self.offset, self.suppressed) == (1.0, 0.0, False)


@dataclass(frozen=True)
class Wire:
    """A connection between two places."""

    source: Place
    target: Place
    node: Any


def named(place: Place) -> str:
    """ELEMENT.VARIABLE, for messages."""
    return ".".join((*place[0], place[1]))


@dataclass
class Tree:
    """leaves, groups: by path. units: where the package states one. wires: all connections."""

    leaves: dict[ElementPath, Leaf] = field(default_factory=dict)
    groups: dict[ElementPath, Group] = field(default_factory=dict)
    units: dict[Place, tuple[str, Scale | None]] = field(default_factory=dict)
    wires: list[Wire] = field(default_factory=list)
    _dictionaries: dict[ElementPath, ElementPath] = field(default_factory=dict)
    _documents: dict[str, Document] = field(default_factory=dict)
    _digests: dict[Path, str] = field(default_factory=dict)
    _interfaces: dict[Path, Interface] = field(default_factory=dict)

    @cached_property
    def _incoming(self) -> dict[Place, list[Wire]]:
        found: dict[Place, list[Wire]] = {}
        for wire in self.wires:
            found.setdefault(wire.target, []).append(wire)
        return found

    @cached_property
    def _outgoing(self) -> dict[Place, list[Wire]]:
        found: dict[Place, list[Wire]] = {}
        for wire in self.wires:
            found.setdefault(wire.source, []).append(wire)
        return found

    @cached_property
    def fed(self) -> set[ElementPath]:
        """The elements that a connection ends at."""
        return {wire.target[0] for wire in self.wires}

    @cached_property
    def known_units(self) -> dict[ElementPath, dict[str, str]]:
        """The units that the package states and defines, of each element by variable."""
        found: dict[ElementPath, dict[str, str]] = {}
        for (path, name), (unit, scale) in self.units.items():
            if scale:
                found.setdefault(path, {})[name] = unit
        return found

    @cached_property
    def within(self) -> dict[ElementPath, list[ElementPath]]:
        """The FMUs and systems in each system."""
        found: dict[ElementPath, list[ElementPath]] = {}
        for path in [*self.leaves, *self.groups]:
            found.setdefault(path[:-1], []).append(path)
        found[()].remove(())
        return found

    def _pass_on(self, count: int) -> None:
        document = self.groups[()].document
        document.budget.spend(document.package, "steps along connections", count)

    def route_to(self, target: Place) -> list[Wire]:
        """The connections that feed a place, from the output of an FMU, or from where nothing feeds any more."""
        route: list[Wire] = []
        seen, here = {target}, target
        while feeding := self._incoming.get(here):
            if len(feeding) > 1:
                ends = " and by ".join(f"'{named(wire.source)}'" for wire in feeding[:2])
                raise ExportError(f"'{named(here)}' is fed twice: by {ends}. Leave one of them out.")
            self._pass_on(1)
            route.insert(0, feeding[0])
            here = feeding[0].source
            if here[0] in self.leaves:
                break
            if here in seen:
                raise ExportError(f"connections feed '{named(here)}' in a circle. Leave one of them out.")
            seen.add(here)
        return route

    def routes_from(self, source: Place) -> Iterator[tuple[Place, list[Wire]]]:
        """Each variable of an FMU that a place feeds, with the connections on the way."""
        waiting: list[tuple[Place, list[Wire]]] = [(source, [])]
        seen = {source}
        while waiting:
            here, route = waiting.pop()
            for wire in self._outgoing.get(here, ()):
                self._pass_on(len(route) + 1)
                if wire.target[0] in self.leaves:
                    yield wire.target, [*route, wire]
                elif wire.target not in seen:
                    seen.add(wire.target)
                    waiting.append((wire.target, [*route, wire]))

    def unit(self, place: Place) -> Scale | None:
        """The unit of a place: that of the FMU's variable, else the one that the package states; None if unknown."""
        leaf = self.leaves.get(place[0])
        variable = leaf.interface.variables.get(place[1]) if leaf else None
        if leaf and variable and variable.unit:
            return leaf.interface.scales.get(variable.unit) or scale_of(variable.unit)
        return self.units.get(place, ("", None))[1]

    def hop(self, wire: Wire) -> Hop:
        """Raises ExportError for a transformation that no engine computes."""
        what = f"the connection '{named(wire.source)}' -> '{named(wire.target)}'"
        check_transformations(wire.node, what)
        factor, offset = 1.0, 0.0
        for node in wire.node.iterfind("ssc:LinearTransformation", SPACES):
            factor, offset = number(node.get("factor", "1")), number(node.get("offset", "0"))
        for kind in MAPPED:
            for node in wire.node.iterfind(f"ssc:{kind}MappingTransformation", SPACES):
                if any(one.get("source") != one.get("target") for one in node.iterfind("ssc:MapEntry", SPACES)):
                    raise ExportError(
                        f"{what} has a {kind}MappingTransformation, which no engine computes. Map the values in an FMU."
                    )
        return Hop(self.unit(wire.target), factor, offset, is_true(wire.node.get("suppressUnitConversion")))

    # Reading ---------------------------------------------------------------------------------------------------

    def read(self, document: Document) -> None:
        """Reads a description with all that it refers to."""
        self._read_system(Group((), document, _system_of(document)), ({},), ())

    def _read_system(self, group: Group, scopes: Scopes, above: Nodes) -> None:
        """scopes: signal dictionaries by name, of the enclosing systems first; above: the systems that contain it."""
        path, document, node = group.path, group.document, group.node
        if node in above:
            raise ExportError(f"'{document.package}': the system '{'.'.join(path)}' contains itself. Correct it.")
        if len(above) > MOST_DEEP:
            raise ExportError(f"'{document.package}' has more than {MOST_DEEP} levels of systems. Nest fewer.")
        self.groups[path] = group
        self._state_units(path, node, document)
        scopes = (*scopes, self._read_dictionaries(group))
        for element in node.iterfind("ssd:Elements/*", SPACES):
            kind, inner = element.tag.rpartition("}")[2], (*path, required(element, "name"))
            if inner in self.leaves or inner in self.groups:
                raise ExportError(f"'{document.package}' has two elements '{'.'.join(inner)}'. Rename one.")
            document.budget.spend(document.package, "elements")
            if kind == "System":
                self._read_system(Group(inner, document, element), scopes, (*above, node))
            elif kind == "Component":
                self._read_component(inner, group, element, scopes, (*above, node))
            elif kind == "SignalDictionaryReference":
                wanted = element.get("dictionary")
                place = next((scope[wanted] for scope in reversed(scopes) if wanted in scope), None)
                if place is None:
                    raise ExportError(f"'{document.package}': there is no signal dictionary '{wanted}'. Add it.")
                self._dictionaries[inner] = place
        for wire in node.iterfind("ssd:Connections/ssd:Connection", SPACES):
            ends = [self._place(group, wire, side) for side in _SIDES]
            self.wires.append(Wire(ends[0], ends[1], wire))

    def _place(self, group: Group, wire: Any, side: str) -> Place:
        element, connector = wire.get(f"{side}Element"), required(wire, f"{side}Connector")
        path = (*group.path, element) if element else group.path  # other tools write an empty name for none
        if path not in self.leaves and path not in self.groups and path not in self._dictionaries:
            raise ExportError(f"'{group.document.package}' connects '{'.'.join(path)}', and has no such element.")
        return self._dictionaries.get(path, path), connector

    def _read_component(self, path: ElementPath, group: Group, node: Any, scopes: Scopes, above: Nodes) -> None:
        document, kind, source = group.document, node.get("type", FMU_TYPE), node.get("source") or ""
        name = ".".join(path)
        if node.get("implementation") == "ModelExchange":
            raise ExportError(
                f"'{document.package}': '{name}' is to run by Model Exchange, and no engine does. "
                'Set implementation="CoSimulation", with an FMU that has it.'
            )
        if kind == FMU_TYPE:
            fmu = document.file(source)
            if not fmu.is_file():
                raise ExportError(f"'{document.package}' has no '{source}', the FMU of '{name}'. Pack it.")
            self.leaves[path] = Leaf(path, document, node, fmu, self._interfaces)
            self._state_units(path, node, document)
        elif kind in (DEFINITION_TYPE, PACKAGE_TYPE):
            inner, system = self._referred(document, source, kind)
            self._read_system(Group(path, inner, system, ((document, node),)), scopes, above)
        else:
            raise ExportError(f"'{document.package}': '{name}' is of type {kind}, not an FMU. Replace it.")

    def _referred(self, document: Document, source: str, kind: str) -> tuple[Document, Any]:
        """The system that a component refers to: FILE.ssd, FILE.ssp, FILE.ssp#VARIANT.ssd, or #ID in the same document.

        Each file is read once, so that a system that contains itself is noticed.
        """
        place, _, fragment = source.partition("#")
        if not place:
            for node in document.root.iter(f"{{{STRUCTURE}}}System"):
                if node.get("id") == fragment:
                    return document, node
            raise ExportError(f"'{document.package}' has no system with the id '{fragment}'. Correct '{source}'.")
        file = document.file(place)
        if not file.is_file():
            raise ExportError(f"'{document.package}' has no '{place}', a system. Pack it.")
        if file not in self._digests:
            self._digests[file] = hashlib.sha256(file.read_bytes()).hexdigest()
        key = f"{self._digests[file]} {file.parent if kind == DEFINITION_TYPE else fragment}"
        if key not in self._documents:
            if kind == DEFINITION_TYPE:
                inner = replace(document, folder=file.parent, root=document.budget.xml(document.package, place, file))
            else:
                folder = Path(mkdtemp(dir=document.folder))
                with open_package(file) as archive:
                    document.budget.spend(document.package, "bytes unpacked", sum(archive.sizes.values()))
                    archive.unpack(folder)
                empty = replace(document, folder=folder, root=None)
                inner = replace(empty, root=empty.xml(fragment or SSD, "a system"))
            self._documents[key] = inner
        return self._documents[key], _system_of(self._documents[key])

    def _state_units(self, path: ElementPath, node: Any, document: Document) -> None:
        for connector in node.iterfind("ssd:Connectors/ssd:Connector", SPACES):
            real = connector.find("ssc:Real", SPACES)
            if real is not None and (unit := real.get("unit")):
                self.units[path, required(connector, "name")] = unit, document.units.get(unit) or scale_of(unit)

    def _read_dictionaries(self, group: Group) -> dict[str, ElementPath]:
        """The signal dictionaries of a system: a path for each name, which no element can have."""
        found = {}
        for node in group.node.iterfind("ssd:SignalDictionaries/ssd:SignalDictionary", SPACES):
            name, source = required(node, "name"), node.get("source")
            path = found[name] = (*group.path, "", name)
            what = f"the signal dictionary '{name}'"
            root = node.find("ssb:SignalDictionary", SPACES) if source is None else group.document.xml(source, what)
            units = group.document.units | ({} if root is None else units_in(root))
            for entry in () if root is None else root.iterfind("ssb:DictionaryEntry", SPACES):
                real = entry.find("ssc:Real", SPACES)
                if real is not None and (unit := real.get("unit")):
                    self.units[path, required(entry, "name")] = unit, units.get(unit) or scale_of(unit)
        return found


_SIDES = ("start", "end")


def _system_of(document: Document) -> Any:
    system = document.root.find("ssd:System", SPACES)
    if system is None:
        raise ExportError(f"'{document.package}': {SSD} has no system. Write it by a tool that follows SSP.")
    return system


def carried(unit: Scale | None, hops: list[Hop], what: str) -> tuple[float, float]:
    """Factor and offset of a value of a unit along hops; what: for the message that units do not convert."""
    factor, offset = 1.0, 0.0
    for hop in hops:
        if unit is not None and hop.unit is not None and not hop.suppressed:
            if unit.exponents != hop.unit.exponents:
                raise ExportError(f"{what}: units of different quantities do not convert. Correct one.")
            steps = [unit.conversion(hop.unit), (hop.factor, hop.offset)]
        else:
            steps = [(hop.factor, hop.offset)]
        for by, to in steps:
            factor, offset = by * factor, by * offset + to
        unit = hop.unit or (unit if hop.plain else None)
    return factor, offset
