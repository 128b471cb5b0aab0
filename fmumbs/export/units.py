"""Units of an FMU: base-unit exponents, display units and type definitions.

Units are written as in FMI and Modelica, "N.m.s/rad": factors are separated by points, all factors after the slash
divide, a trailing integer is an exponent. All units are SI with radians, so every factor to base units is 1.
"""

import math
import re
from dataclasses import dataclass
from functools import cache

from fmumbs.errors import ExportError

BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")

_SYMBOLS: dict[str, dict[str, int]] = {
    **{name: {name: 1} for name in BASE},
    "N": {"kg": 1, "m": 1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
    "V": {"kg": 1, "m": 2, "s": -3, "A": -1},
    "Ohm": {"kg": 1, "m": 2, "s": -3, "A": -2},
    "H": {"kg": 1, "m": 2, "s": -2, "A": -2},
    "Pa": {"kg": 1, "m": -1, "s": -2},
    "Hz": {"s": -1},
    "1": {},
}
_FACTOR = re.compile(r"([A-Za-z]+|1)(-?\d+)?")

_DEGREE = 180.0 / math.pi
# unit: display units, and how many of each make one unit
_DISPLAY: dict[str, dict[str, float]] = {
    "rad": {"deg": _DEGREE},
    "rad/s": {"deg/s": _DEGREE, "rpm": 30.0 / math.pi},
    "rad/s2": {"deg/s2": _DEGREE},
    "m": {"mm": 1e3, "cm": 1e2},
    "m/s": {"mm/s": 1e3, "km/h": 3.6},
    "m/s2": {"mm/s2": 1e3},
    "kg": {"g": 1e3},
    "kg.m2": {"kg.mm2": 1e6, "g.mm2": 1e9},
    "N": {"kN": 1e-3},
    "N.m": {"N.mm": 1e3, "kN.m": 1e-3},
    "N/m": {"N/mm": 1e-3},
    "N.s/m": {"N.s/mm": 1e-3},
    "N.m/rad": {"N.m/deg": math.pi / 180.0},
    "N.m.s/rad": {"N.m.s/deg": math.pi / 180.0},
    "J": {"kJ": 1e-3},
    "s": {"ms": 1e3},
}
# unit: quantity, and the default display unit
_QUANTITY: dict[str, tuple[str, str]] = {
    "rad": ("Angle", "deg"),
    "rad/s": ("AngularVelocity", "deg/s"),
    "rad/s2": ("AngularAcceleration", "deg/s2"),
    "m": ("Length", ""),
    "m/s": ("Velocity", ""),
    "m/s2": ("Acceleration", ""),
    "kg": ("Mass", ""),
    "kg.m2": ("MomentOfInertia", ""),
    "N": ("Force", ""),
    "N.m": ("Torque", ""),
    "N/m": ("TranslationalSpringConstant", ""),
    "N.s/m": ("TranslationalDampingConstant", ""),
    "N.m/rad": ("RotationalSpringConstant", ""),
    "N.m.s/rad": ("RotationalDampingConstant", ""),
    "J": ("Energy", ""),
    "s": ("Time", ""),
}


@dataclass(frozen=True)
class Unit:
    """One unit, as defined in modelDescription.xml.

    exponents: of the base units, without zeros; displays: (name, how many of it make one unit); quantity: "" if the
    unit has no type definition; display: the default display unit, or "".
    """

    name: str
    exponents: tuple[tuple[str, int], ...]
    displays: tuple[tuple[str, float], ...]
    quantity: str
    display: str

    @property
    def type_name(self) -> str:
        """Name of the type definition, "" for none. The dot distinguishes it from every variable's name."""
        return f"SI.{self.quantity}" if self.quantity else ""


@cache
def unit(name: str) -> Unit:
    """The unit of that name. Raises ExportError if it is unknown."""
    quantity, display = _QUANTITY.get(name, ("", ""))
    displays = tuple(_DISPLAY.get(name, {}).items())
    return Unit(name, _exponents(name), displays, quantity, display)


def display_units(name: str) -> list[tuple[str, float]]:
    """The units that have the display unit `name`, each with how many of it make one: [("rad", 57.3)] for "deg"."""
    return [(base, count[name]) for base, count in _DISPLAY.items() if name in count]


def _exponents(name: str) -> tuple[tuple[str, int], ...]:
    total = dict.fromkeys(BASE, 0)
    for side, part in zip((1, -1), name.split("/", 1), strict=False):
        for factor in part.split("."):
            match = _FACTOR.fullmatch(factor)
            if match is None or match[1] not in _SYMBOLS:
                known = ", ".join(_SYMBOLS)
                raise ExportError(f"unit '{name}': '{factor}' is not a unit. Use one of {known}.")
            for base, power in _SYMBOLS[match[1]].items():
                total[base] += side * power * int(match[2] or 1)
    return tuple((base, power) for base, power in total.items() if power)
