"""What a checked system consists of: the one form that packages are written from and engines run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fmumbs.system.interface import Interface, Variable


@dataclass(frozen=True)
class End:
    """One end of a connection: a variable of an element."""

    element: str
    variable: str

    def __str__(self) -> str:
        return f"{self.element}.{self.variable}"


@dataclass(frozen=True)
class Part:
    """An element.

    starts: start values by name, of the variables' types; outputs: the variables that are recorded; inputs: those that
    are connected; units: what the user states beside the FMU.
    """

    name: str
    interface: Interface
    starts: Mapping[str, Any]
    outputs: tuple[Variable, ...]
    inputs: tuple[Variable, ...]
    units: Mapping[str, str]
    feedthrough: bool


@dataclass(frozen=True)
class Link:
    """A connection. The input takes factor y + offset, y: the value of the output; kind: the type of both."""

    source: End
    target: End
    kind: str
    factor: float = 1.0
    offset: float = 0.0

    @property
    def converts(self) -> bool:
        return (self.factor, self.offset) != (1.0, 0.0)

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}"


@dataclass(frozen=True)
class Plan:
    """A checked system. step: [ns]; count: of steps; notes: what could not be checked."""

    name: str
    description: str
    step: int
    count: int
    parts: tuple[Part, ...]
    links: tuple[Link, ...]
    notes: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """The communication step [s]."""
        return self.step / 1e9

    @property
    def stop(self) -> float:
        """[s]"""
        return self.step * self.count / 1e9

    def recorded(self) -> dict[str, str]:
        """The unit of each recorded variable, by its name in the results."""
        return {f"{part.name}.{v.name}": v.unit for part in self.parts for v in part.outputs if v.kind in RECORDED}


RECORDED = ("Real", "Integer", "Boolean")
"""Types of outputs that results have; a Boolean as 0 and 1."""
