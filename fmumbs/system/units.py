"""Units of connected variables: whether one converts to the other, and how (FMI 2.0.4, section 2.2.2).

The value in base units is factor v + offset. Units are those that an FMU defines, or by their names: SI units as
fmumbs writes them, and their display units.
"""

from dataclasses import dataclass
from typing import Any

from fmumbs._tables import number, whole
from fmumbs.errors import ExportError
from fmumbs.export.units import BASE, display_units, unit


@dataclass(frozen=True)
class Scale:
    """A unit. exponents: of the base units, without zeros."""

    exponents: tuple[tuple[str, int], ...]
    factor: float = 1.0
    offset: float = 0.0

    def conversion(self, target: "Scale") -> tuple[float, float]:
        """Factor and offset from values in this unit to values in `target`, which has the same base units."""
        return self.factor / target.factor, (self.offset - target.offset) / target.factor


def scale_in(node: Any) -> Scale | None:
    """The unit that an element <Unit> of FMI or SSP defines; None if it has no base units that can be read."""
    base = next((child for child in node if child.tag.rpartition("}")[2] == "BaseUnit"), None)
    if base is None:
        return None
    try:
        exponents = tuple((name, power) for name in BASE if (power := whole(base.get(name, "0"))))
        factor, offset = number(base.get("factor", "1")), number(base.get("offset", "0"))
    except ValueError:
        return None
    return Scale(exponents, factor, offset) if factor else None


def scale_of(name: str) -> Scale | None:
    """The unit of a name, such as "N.m" or "deg"; None if it is unknown."""
    try:
        return Scale(unit(name).exponents)
    except ExportError:
        pass
    for base, count in display_units(name):
        return Scale(unit(base).exponents, 1.0 / count)
    return None
