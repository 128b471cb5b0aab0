"""Units are those of SI, in whatever order they are written."""

import math

import pytest

from fmumbs.errors import ExportError
from fmumbs.export.units import _DISPLAY, _QUANTITY, unit

# What is no SI base unit, as base units and a number of them; the dimensions of derived ones by their definitions
ATOMS = {"deg": ("rad", math.pi / 180), "rpm": ("rad/s", math.pi / 30), "h": ("s", 3600.0), "g": ("kg", 1e-3)}
PREFIXES = {"k": 1e3, "c": 1e-2, "m": 1e-3}
DEFINITIONS = {"N": "kg.m/s2", "J": "N.m", "W": "J/s", "Pa": "N/m2", "Hz": "1/s"}


def size(name: str) -> tuple[float, str]:
    """How many of an SI unit a unit is, and that one."""
    number, sides = 1.0, []
    for sign, side in zip((1, -1), name.split("/"), strict=False):
        factors = []
        for factor in side.split("."):
            letters, power = factor.rstrip("0123456789"), int(factor[-1]) if factor[-1].isdigit() else 1
            if letters in ATOMS:
                letters, one = ATOMS[letters]
            elif len(letters) > 1 and letters not in ("kg", "rad"):
                prefix, rest = PREFIXES[letters[0]], letters[1:]
                letters, one = ATOMS.get(rest, (rest, 1.0))
                one *= prefix
            else:
                one = 1.0
            number *= one ** (sign * power)
            factors.append(letters + (str(power) if power > 1 else ""))
        sides.append(".".join(factors))
    return number, "/".join(sides)


def exponents(name: str) -> dict[str, int]:
    return dict(unit(name).exponents)


def test_a_torque_is_an_energy_by_its_base_units() -> None:
    assert exponents("N.m") == exponents("J") == {"kg": 1, "m": 2, "s": -2}


def test_everything_after_the_slash_divides() -> None:
    assert exponents("N.m.s/rad") == {"kg": 1, "m": 2, "s": -1, "rad": -1}
    assert exponents("m/s2") == {"m": 1, "s": -2}


def test_an_inertia_is_a_torque_by_an_angular_acceleration_but_for_the_radians() -> None:
    assert exponents("kg.m2") == {"kg": 1, "m": 2}


def test_a_display_unit_counts_how_many_of_it_make_one_unit() -> None:
    shown = dict(unit("rad/s").displays)
    assert 2.0 * math.pi * shown["rpm"] == pytest.approx(60.0, rel=1e-15)
    assert math.pi * dict(unit("rad").displays)["deg"] == pytest.approx(180.0, rel=1e-15)
    assert unit("rad").display == "deg"


def test_a_unit_without_a_quantity_has_no_type() -> None:
    assert unit("N.m.s2/rad").type_name == ""
    assert unit("N.m").type_name == "SI.Torque"


@pytest.mark.parametrize("name", ["furlong", "N..m", "m^2"])
def test_a_unit_that_cannot_be_read_is_refused_by_name(name: str) -> None:
    with pytest.raises(ExportError, match="is not a unit"):
        unit(name)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_derived_units_are_what_defines_them(name: str) -> None:
    assert exponents(name) == exponents(DEFINITIONS[name])


@pytest.mark.parametrize("name", _DISPLAY)
def test_every_display_unit_counts_how_many_of_it_make_one(name: str) -> None:
    """By prefixes, degrees, revolutions, hours and grams; it is also of the same dimension."""
    for shown, factor in unit(name).displays:
        number, of = size(shown)
        assert number * factor == pytest.approx(1.0, rel=1e-14), shown
        assert exponents(of) == exponents(name), shown


def test_every_quantity_has_a_name_of_its_own_and_a_display_unit_that_there_is() -> None:
    names = [quantity for quantity, _ in _QUANTITY.values()]
    assert len(set(names)) == len(names)
    for name, (_, preferred) in _QUANTITY.items():
        assert preferred in ("", *dict(unit(name).displays))
