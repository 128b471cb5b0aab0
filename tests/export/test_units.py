"""Units are what SI says, whatever order they are written in."""

import math

import pytest

from fmumbs.errors import ExportError
from fmumbs.export.units import unit


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
    with pytest.raises(ExportError, match="is no unit"):
        unit(name)
