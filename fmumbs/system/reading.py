"""Reads a system structure package (SSP 1.0), by whatever tool, back as a System."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fmumbs._folders import temporary_folder
from fmumbs._tables import number
from fmumbs.errors import ExportError
from fmumbs.play.unpacking import open_package
from fmumbs.system.bindings import starts_in
from fmumbs.system.package import SSD
from fmumbs.system.plan import RECORDED
from fmumbs.system.structure import SPACES, Document, ElementPath, Leaf, Tree, Wire, carried, named, required
from fmumbs.system.system import System


@contextmanager
def open_system(
    path: str | os.PathLike[str], *, stop: float | None = None, step: float | None = None
) -> Iterator[System]:
    """The System in a package, whose FMUs are unpacked as long as the block runs.

    Systems within the system are laid flat: the FMU 'plant' of the system 'left' becomes the element 'left_plant'.
    stop, step [s]: other than in the package. Raises ExportError for a file that is not a package, and for what no
    engine does: FMUs by Model Exchange, mappings of Boolean, Integer and Enumeration in connections, parameters fed by
    outputs, a start time other than 0.
    """
    path = Path(path)
    with temporary_folder() as folder:
        with open_package(path) as archive:
            if SSD not in archive.sizes:
                raise ExportError(f"'{path}' has no {SSD}, so it is not a system structure package. Give one.")
            root = archive.xml(SSD)
            archive.unpack(Path(folder))
        try:
            system = _read(Document(path, Path(folder), root), stop, step)
        except (KeyError, ValueError, AttributeError, TypeError) as error:
            raise ExportError(f"'{path}': {SSD} does not follow SSP 1.0 ({error}). Correct it.") from error
        yield system


def _read(document: Document, stop: float | None, step: float | None) -> System:
    tree = Tree()
    tree.read(document)
    if not tree.leaves:
        raise ExportError(f"'{document.package}' has no FMU, so there is nothing to run. Give another.")
    top = tree.groups[()].node
    system = System(
        _name(top.get("name") or "system", {}),
        stop=_stop(document) if stop is None else stop,
        step=_step(document) if step is None else step,
        description=top.get("description") or "",
    )
    starts, system.notes = starts_in(tree)
    names: dict[ElementPath, str] = {}
    taken: dict[str, int] = {}
    for path, leaf in tree.leaves.items():
        names[path] = _name("_".join(path), taken)
        _add(system, names[path], tree, leaf, starts[path])
    for wire in tree.wires:
        if wire.target[0] in tree.leaves:
            _connect(system, names, tree, wire)
    return system


def _stop(document: Document) -> float:
    experiment = document.root.find("ssd:DefaultExperiment", SPACES)
    if experiment is None or experiment.get("stopTime") is None:
        raise ExportError(f"'{document.package}' has no stop time. Give one with --stop.")
    start = number(experiment.get("startTime", "0"))
    if start != 0.0:
        raise ExportError(
            f"'{document.package}' starts at {start:g} s, and systems start at 0 here. Give the length of the run with "
            "--stop if its FMUs may start at 0."
        )
    return number(experiment.get("stopTime"))


def _step(document: Document) -> float:
    """The communication step [s] in the annotation of libcosim or of OMSimulator."""
    for place, attribute in ((".//osp:FixedStepAlgorithm", "baseStepSize"), (".//oms:FixedStepMaster", "stepSize")):
        node = document.root.find(place, SPACES)
        if node is not None:
            return number(node.get(attribute))
    raise ExportError(f"'{document.package}' has no communication step. Give one with --step.")


def _name(text: str, taken: dict[str, int]) -> str:
    """A name of letters, digits and _ that is not taken. taken: names, and up to which number each is taken."""
    plain = re.sub(r"\W", "_", text, flags=re.ASCII)
    plain = plain if re.match(r"[A-Za-z_]", plain) else f"_{plain}"
    name, count = plain, taken.get(plain, 1)
    while name in taken:
        count += 1
        name = f"{plain}_{count}"
    taken[plain] = count
    taken.setdefault(name, 1)
    return name


def _add(system: System, name: str, tree: Tree, leaf: Leaf, starts: dict[str, Any]) -> None:
    stated = tree.groups[leaf.path[:-1]].stated.get(leaf.path[-1])  # None for other tools' packages
    units = dict(tree.known_units.get(leaf.path, {}))
    if stated is not None:
        units |= {required(node, "of"): required(node, "unit") for node in stated}
    known = leaf.interface.variables
    connectors = leaf.node.iterfind("ssd:Connectors/ssd:Connector", SPACES)
    outputs = [required(connector, "name") for connector in connectors if connector.get("kind") == "output"]
    unlisted = [variable for variable in outputs if variable in known and leaf.interface.acts.get(variable) is None]
    if stated is None and leaf.path in tree.fed and unlisted:
        note = "its FMU lists no dependencies, so its outputs are taken to follow from its last step"
        system.notes.append(f"{name}: {note}")
    unrecorded = {variable for variable in outputs if variable in known and known[variable].kind not in RECORDED}
    system.notes += [f"{name}.{variable}: not recorded, as results have numbers" for variable in sorted(unrecorded)]
    system.add(
        name,
        leaf.fmu,
        starts=starts,
        units={variable: unit for variable, unit in units.items() if variable in known and not known[variable].unit},
        outputs=[variable for variable in outputs if variable not in unrecorded],
        feedthrough=stated is not None and stated.get("feedthrough") != "false",
    )


def _connect(system: System, names: dict[ElementPath, str], tree: Tree, last: Wire) -> None:
    """Connects the FMU's input that a connection ends at, if an FMU feeds it."""
    route = tree.route_to(last.target)
    source, target = route[0].source, last.target
    if source[0] not in tree.leaves:
        return  # a connector of the whole system
    variable = tree.leaves[target[0]].interface.variables.get(target[1])
    if variable is not None and variable.causality == "parameter":
        raise ExportError(
            f"'{named(source)}' feeds '{named(target)}', a parameter, which no engine does. Set its start value."
        )
    system.connect(f"{names[source[0]]}.{source[1]}", f"{names[target[0]]}.{target[1]}")
    hops = [tree.hop(wire) for wire in route]
    inside = [wire.target for wire in route[:-1]]
    if all(hop.plain for hop in hops) and not any(place in tree.units for place in inside):
        return  # the units of both ends tell
    what = f"the connection '{named(source)}' -> '{named(target)}'"
    conversion = carried(tree.unit(source), hops, what)
    end, made = system.connections.popitem()
    system.connections[end] = replace(made, conversion=conversion)
