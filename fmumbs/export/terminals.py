"""Terminals of an FMU, and their file terminalsAndIcons/terminalsAndIcons.xml (FMI 3.0.2, section 2.4.9).

A terminal is the flange of a joint's free mode: its position, a signal, and its generalised force, which flows in. FMI
standardises no mechanical terminal; kinds and members have the names of Modelica's flanges, which mean the same. FMI
2.0 allows the file.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fmumbs.compiler.kinds import JOINT, kinds
from fmumbs.compiler.links import JOINT_NONHOLONOMIC
from fmumbs.export.xml import DECLARATION, element

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage, Variable

PLACE = "terminalsAndIcons/terminalsAndIcons.xml"

_MODELICA = "Modelica.Mechanics.{}.Interfaces.Flange_a"
# By the unit of the position: the domain, and the members' names
_DOMAINS = {"rad": ("Rotational", "phi", "tau"), "m": ("Translational", "s", "f")}


@dataclass(frozen=True)
class Terminal:
    """One flange. kind: of terminal; position, effort: names of member and of variable."""

    name: str
    kind: str
    position: tuple[str, str]
    effort: tuple[str, str]


def terminals(image: "ModelImage", variables: "Sequence[Variable]") -> list[Terminal]:
    """Those of the free modes of which both members are among the image's variables, here with the FMU's names.

    Quaternions are no positions of modes, and nonholonomic joints have other positions than modes.
    """
    members = dict(_members(image))
    joints = image.variables.structured.elements(JOINT)
    found = []
    for (kind, joint, component), place in members.items():
        effort = members.get(("effort", joint, component))
        if kind != "position" or effort is None:
            continue
        domain, *names = _DOMAINS[variables[place].unit]
        name = joints[joint] if component < 0 else f"{joints[joint]}[{component + 1}]"
        pairs = [(member, variables[at].name) for member, at in zip(names, (place, effort), strict=True)]
        found.append(Terminal(name, _MODELICA.format(domain), pairs[0], pairs[1]))
    return found


def _members(image: "ModelImage") -> Iterator[tuple[tuple[str, int, int], int]]:
    """Positions and efforts of free modes by joint and component, and their places in the table."""
    roles: Mapping[int, str] = {
        kind.index: "position" if kind.suffix == "q" else "effort"
        for kind in kinds()
        if kind.owner == JOINT and kind.suffix in ("q", "tau", "f") and not kind.quaternion
    }
    columns = ("variable_kind", "variable_object", "variable_component")
    holonomic = (image.arrays["joint_kind"] != JOINT_NONHOLONOMIC).tolist()
    rows = zip(*(image.arrays[name].tolist() for name in columns), strict=True)
    for place, (kind, joint, component) in enumerate(rows):
        if kind in roles and holonomic[joint]:
            yield (roles[kind], joint, component), place


def terminals_xml(of: Sequence[Terminal]) -> bytes:
    """The file's bytes; of: at least one."""
    written = "".join(
        element(
            2,
            "Terminal",
            {"name": one.name, "matchingRule": "plug", "terminalKind": one.kind},
            "".join(
                element(
                    3, "TerminalMemberVariable", {"variableName": name, "memberName": member, "variableKind": kind}
                )
                for kind, (member, name) in (("signal", one.position), ("inflow", one.effort))
            ),
        )
        for one in of
    )
    root = element(0, "fmiTerminalsAndIcons", {"fmiVersion": "3.0"}, element(1, "Terminals", {}, written))
    return f"{DECLARATION}{root}".encode()
