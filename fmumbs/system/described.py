"""A system as a user describes it, before anything is checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fmumbs.system.plan import End


@dataclass(frozen=True)
class Element:
    """An FMU in a system; see System.add."""

    name: str
    fmu: Path
    starts: Mapping[str, Any] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[str, ...] | None = None
    feedthrough: bool = True


@dataclass(frozen=True)
class Connection:
    """A connection; see System.connect. conversion: factor and offset, None where the units tell them."""

    source: End
    target: End
    conversion: tuple[float, float] | None = None


@dataclass
class Described:
    """stop, step [s]; elements: by name; connections: by target; notes: what a package says that does not count; see
    System.
    """

    name: str
    stop: float
    step: float
    description: str = ""
    elements: dict[str, Element] = field(default_factory=dict)
    connections: dict[End, Connection] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
