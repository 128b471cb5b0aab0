"""Modes that are too few for a load, and the speeds and thrusts at which a beam's missing stiffening matters."""

from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.analysis.bending_range import too_few_modes, unstiffened
from fmumbs.cli.inspection import check_model
from support.commands import fmumbs

LENGTH, MASS, EI = 1.2, 0.7, 30.0


def beam(**changes: Any) -> fm.ModalBody:
    options: dict[str, Any] = {"length": LENGTH, "EI": EI, "mass": MASS, "modes": 3} | changes
    return fm.ModalBody.beam("b", **options)


def model(body: fm.ModalBody, x: float, **start: Any) -> fm.Model:
    made = fm.Model("m")
    made.add(body, fm.Revolute("J", made.ground.at(), body.at(), axis="z"), fm.Load("L", body.at(x)))
    return made


@pytest.mark.parametrize(("boundary", "factor"), [("clamped-free", 0.25), ("pinned-pinned", 1.0)])
@pytest.mark.parametrize("along", ["x", "-y"])
def test_the_thrust_is_a_tenth_of_the_load_of_euler(boundary: str, factor: float, along: str) -> None:
    body = beam(boundary=boundary, along=along, modes=6)
    (found,) = unstiffened(model(body, 0.0))
    assert found.load == pytest.approx(0.1 * factor * np.pi**2 * EI / LENGTH**2, rel=1e-3)
    assert found.speed == pytest.approx(body.frequencies[0] / np.sqrt(10.0))


def test_in_space_the_softer_direction_buckles_first() -> None:
    (found,) = unstiffened(model(beam(plane=None, EI=(3 * EI, EI), axial_inertia=1e-3, modes=6), 0.0))
    assert found.load == pytest.approx(0.1 * 0.25 * np.pi**2 * EI / LENGTH**2, rel=2e-3)


def test_bodies_that_stiffen_are_not_told() -> None:
    assert unstiffened(model(beam(stiffening=True), 0.0)) == ()
    assert check_model(model(beam(stiffening=True), 0.0))["unstiffened"] == ()
    assert check_model(model(beam(), 0.0))["unstiffened"][0]["body"] == "b"


def kept(boundary: str, modes: int, x: float) -> float:
    """Closed forms of the static deflection under a force: L^3 / 3 at the free end, L^3 / 48 halfway between pins."""
    b = np.array([1.875104069, 4.694091133, 7.854757438])[:modes]
    if boundary == "clamped-free":
        return float((4.0 / b**4).sum() * 3.0)
    return float(sum(2.0 / (k * np.pi) ** 4 * np.sin(k * np.pi * x / LENGTH) ** 2 for k in range(1, modes + 1)) * 48.0)


@pytest.mark.parametrize(
    ("boundary", "modes", "x"),
    [("clamped-free", 1, LENGTH), ("clamped-free", 3, LENGTH), ("pinned-pinned", 1, LENGTH / 2)],
)
def test_modes_that_have_the_deflection_are_enough(boundary: str, modes: int, x: float) -> None:
    from fmumbs.analysis.bending_range import _kept

    body = beam(boundary=boundary, modes=modes)
    assert _kept(body, body.at(x))[0] == pytest.approx(kept(boundary, modes, x), rel=1e-5)
    assert list(too_few_modes(model(body, x))) == []


def test_too_few_modes_are_told_where_something_acts() -> None:
    """Near the clamped end of a beam, and at a quarter of one between pins, one mode has little of the deflection."""
    told = list(too_few_modes(model(beam(modes=1), 0.3)))
    assert len(told) == 1 and "by a force 0.3 m along it" in told[0] and "Give more modes=" in told[0]
    assert list(too_few_modes(model(beam(modes=8), 0.3))) == []
    assert any("% of the deflection" in one for one in check_model(model(beam(modes=1), 0.3))["warnings"])


def test_a_start_beyond_the_linear_range_is_told() -> None:
    text = "leaves the linear range at the start: its mode 1 makes a rotation or strain of"
    bent = beam(q0=(0.4, 0.0, 0.0))
    assert any(text in one for one in check_model(model(bent, LENGTH))["warnings"])
    assert not any("linear range" in one for one in check_model(model(beam(q0=(0.1, 0, 0)), LENGTH))["warnings"])


def test_an_equilibrium_beyond_the_linear_range_is_told() -> None:
    soft = beam(EI=2.0)
    made = fm.Model("m", gravity=(0, -9.81, 0))
    made.add(soft, fm.Weld("W", made.ground.at(), soft.base))
    facts = check_model(made, statics=True)
    assert any("leaves the linear range in the equilibrium" in one for one in facts["warnings"])
    assert not any("at the start" in one for one in facts["warnings"])


def test_the_command_prints_where_stiffening_matters() -> None:
    text = fmumbs("check", "four_link_flexible").output
    assert "geometric stiffness of coupler, which has none" in text
    assert "rad/s or a thrust of" in text


def test_between_clamps_one_mode_has_what_its_closed_form_says() -> None:
    """L^3 / 192 halfway, and W^2 over its mean square 1.58815^2 there."""
    from fmumbs.analysis.bending_range import _kept

    body = beam(boundary="clamped-clamped", modes=1)
    found, x = _kept(body, body.at(LENGTH / 2))
    assert found == pytest.approx(192.0 * 1.58815**2 / 4.730040744862704**4, rel=2e-5)
    assert x == pytest.approx(LENGTH / 2)
