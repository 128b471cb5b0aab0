"""Rows, ranks and mobilities of overconstrained mechanisms, beside those of their Jacobian's singular values."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from references import msl
from references.figures import carried

Pin = Callable[[str, fm.Point, fm.Point], fm.Joint]
EXPECTED: dict[str, dict[str, Any]] = carried("reaction_uniqueness")["values"]
ROWS = {fm.Revolute: 5, fm.Spherical: 3}


def revolute(name: str, F: fm.Point, M: fm.Point) -> fm.Joint:
    return fm.Revolute(name, F, M, axis="y")


def four_bar(pin: Pin) -> fm.Model:
    """The Modelica library's, its plane turned to x z."""
    model = msl.model("four_bar")
    bodies = [msl.box(name, r, 0.05, 0.05) for name, r in (("a", (0.4, 0, 0)), ("b", (0.1, 0, 1.1)))]
    a, b, c = *bodies, msl.box("c", (0.65, 0, 0.1), 0.05, 0.05)
    model.add(a, b, c, revolute("A", model.ground.at(), a.at()), revolute("B", a.at(0.4, 0, 0), b.at()))
    model.add(revolute("D", model.ground.at(-0.15, 0, 1), c.at()), pin("C", b.at(0.1, 0, 1.1), c.at(0.65, 0, 0.1)))
    return model


def platform(feet: list[tuple[float, float]], pins: list[tuple[Pin, Pin]]) -> fm.Model:
    """On upright cranks of 1 m, by pins at their bases and at the platform."""
    model = fm.Model("platform")
    plate = fm.Body("plate", mass=4.0, com=(1, 0.5, 0), inertia=(1, 1, 2))
    model.add(plate)
    for i, ((x, y), (below, above)) in enumerate(zip(feet, pins, strict=True)):
        crank = fm.Body.rod(f"crank{i}", length=1.0, mass=1.0, radius=0.02, along="z")
        model.add(crank, below(f"base{i}", model.ground.at(x, y, 0), crank.base))
        model.add(above(f"top{i}", crank.tip, plate.at(x, y, 0)))
    return model


def bricard() -> fm.Model:
    """Six links of 1 m whose axes are across one another, in turn to the left and to the right."""
    model = fm.Model("bricard")
    links = [fm.Body(f"link{i}", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.2, 0.15)) for i in range(1, 6)]
    ends = [model.ground, *links, model.ground]
    odd, even = np.arccos(0.3), -np.arccos(-0.3 / 1.3)
    model.add(*links)
    for i, (before, after) in enumerate(pairwise(ends)):
        twist = fm.Rotation.about("x", np.pi / 2 * (1 if i % 2 else -1))
        F = before.at(1.0, 0, 0, rotation=twist)
        model.add(fm.Revolute(f"J{i + 1}", F, after.at(), axis="z", q0=float(odd if i % 2 else even)))
    return model


TWO, THREE, FOUR = [(0, 0), (2, 0)], [(0, 0), (2, 0), (1, 1)], [(0, 0), (2, 0), (2, 1), (0, 1)]
MECHANISMS = {
    "planar_fourbar_4R": lambda: four_bar(revolute),
    "planar_fourbar_RRSR": lambda: four_bar(fm.Spherical),
    "bricard_6R": bricard,
    "parallelogram_2cranks_coplanar_RR": lambda: platform(TWO, 2 * [(revolute, revolute)]),
    "parallelogram_3cranks_RR": lambda: platform(THREE, 3 * [(revolute, revolute)]),
    "parallelogram_4cranks_RR": lambda: platform(FOUR, 4 * [(revolute, revolute)]),
    "parallelogram_4cranks_2RR_2SS": lambda: platform(
        FOUR, 2 * [(revolute, revolute)] + 2 * [(fm.Spherical, fm.Spherical)]
    ),
    "parallelogram_3cranks_RS": lambda: platform(THREE, 3 * [(revolute, fm.Spherical)]),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_rows_rank_and_mobility(name: str) -> None:
    model, expected = MECHANISMS[name](), EXPECTED[name]
    solver = fm.Solver(model)
    solver.assemble()
    rows = sum(ROWS[type(joint)] for joint in model.joints)
    assert rows == expected["rows"]
    assert (solver.redundant_rows, solver.mobility) == (expected["redundant"], expected["dof"])
    assert rows - solver.redundant_rows == expected["rank"]
