"""Algebraic loops: connections along which a value would have to be known before it is computed.

Within an FMU an input acts on an output at once if the output lists it among its dependencies, or has no list (FMI
2.0.4, section 2.2.8).
"""

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from fmumbs.errors import ModelError
from fmumbs.system.described import Described
from fmumbs.system.interface import Interface
from fmumbs.system.plan import End, Link


def check_loops(system: Described, interfaces: Mapping[str, Interface], links: list[Link]) -> None:
    """Raises ModelError with the connections along a loop, if there is one."""
    feeds: dict[str, list[End]] = {}
    for link in links:
        feeds.setdefault(link.target.element, []).append(link.target)
    graph: dict[End, set[End]] = {}
    for link in links:
        graph.setdefault(link.target, set()).add(link.source)
        graph.setdefault(link.source, set()).update(_acting(system, interfaces, link.source, feeds))
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        ends: list[End] = error.args[1]
        raise ModelError(_message(system, interfaces, ends)) from None


def _acting(
    system: Described, interfaces: Mapping[str, Interface], output: End, feeds: Mapping[str, list[End]]
) -> set[End]:
    """The connected inputs that act on an output at once. feeds: those of each element."""
    element = system.elements[output.element]
    listed = interfaces[output.element].acts.get(output.variable)
    if listed is None and not element.feedthrough:
        return set()
    return {end for end in feeds.get(output.element, ()) if listed is None or end.variable in listed}


def _message(system: Described, interfaces: Mapping[str, Interface], ends: list[End]) -> str:
    outputs = {end for end in ends if end.variable in interfaces[end.element].named("output")}
    passed = [f"'{a}' -> '{b}'" for a, b in pairwise(ends) if a in outputs and b not in outputs]
    unlisted = sorted(
        {end.element for end in outputs if interfaces[end.element].acts.get(end.variable) is None}
        & {name for name, element in system.elements.items() if element.feedthrough}
    )
    if unlisted:
        fix = (
            f"The FMU of '{unlisted[0]}' does not list on which inputs its outputs depend; if they follow from its "
            "last step only, as in a controller in discrete time, add it with feedthrough=False."
        )
    else:
        fix = "Put an element between them whose output follows from its last step."
    return f"the connections {', '.join(passed)} form an algebraic loop. {fix}"
