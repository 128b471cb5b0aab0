"""Kilograms, meters and seconds four, sixteen, 1024 times as large: the same steps and the same digits.

Powers of four multiply numbers and their square roots exactly. So whatever compares a number that has a unit with one
that has another unit, or none, shows in the last digits.
"""

from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.readers import read_model
from support.agreement import draws, each, of_mechanics
from support.drawing.mechanism import Drawn, Refused, draw
from support.drawing.scaling import Units, scaled

SCHEMES = ("dopri5", "dop853", "radau", "auto", "rk4")
STEPS = 64
"""Fixed steps in a run."""
POWERS = (-5, -3, -2, -1, 1, 2, 3, 5)
"""Of four."""
ROUNDED = 1e-9
"""Of an angle [rad]: what a thousand steps make of the last digits of every number."""
FLUSHED = 1e-290
"""Numbers below have no digits to compare: products of them are subnormal, which the core takes as zero."""
VIOLATIONS = ("solver.position_violation", "solver.velocity_violation")
"""The statistics that have units: the largest of angles and lengths, and of their rates."""


class Run:
    """All outputs of a model at its start and its end by name, and what the integrator counts."""

    def __init__(self, model: fm.Model, stop: float, **options: Any) -> None:
        image = fm.compile(model, everything=True)
        solver = fm.Solver(image.with_options(step=stop / STEPS, **options))
        solver.assemble()
        names, variables = image.variables.names(), image.variables
        shown = [i for i in variables.outputs().tolist() if not names[i].startswith("P_")]
        self.of = [i for i in shown if of_mechanics(names[i])]
        self.units = {names[i]: unit for i, unit in zip(self.of, variables.units(self.of), strict=True)}
        self.start = self.read(solver)
        solver.step(stop)
        self.end = self.read(solver)
        self.counts = {names[i]: solver.get(names[i]) for i in shown if i not in set(self.of)}

    def read(self, solver: fm.Solver) -> dict[str, float]:
        return dict(zip(self.units, solver.read(np.array(self.of, np.uint32)).tolist(), strict=True))


def runs(drawn: Drawn, units: tuple[float, float, float], options: dict[str, Any]) -> list[Run]:
    """Both; raises Refused where both fail."""
    made, errors = [], []
    for model, time in ((drawn.model, 1.0), (scaled(drawn.model, units), units[2])):
        try:
            made.append(Run(model, drawn.stop * time, **options))
        except fm.FmumbsError as error:
            errors.append(error)
    if len(errors) == 2:
        raise Refused(f"{errors[0]}")
    assert not errors, f"draw {drawn.seed}: only one of the two fails: {errors[0]}"
    return made


def same(a: float, b: float, size: float = 0.0) -> bool:
    """Whether they have the same digits, or differ by round-off of a number of this size."""
    near = abs(a - b) <= ROUNDED * size
    return near or bool(np.array_equal(a, b, equal_nan=True)) or max(abs(a), abs(b)) < FLUSHED


def sizes(values: dict[str, float], units: dict[str, str]) -> dict[str, float]:
    """The largest number of each unit."""
    found: dict[str, float] = {}
    for name, unit in units.items():
        found[unit] = max(found.get(unit, 0.0), abs(values[name]))
    return found


def check(seed: int, units: tuple[float, float, float] | None = None) -> None:
    drawn, rng = draw(seed), np.random.default_rng([seed, 1])
    options = {"scheme": str(rng.choice(SCHEMES)), "dynamics": str(rng.choice(("riccati", "copcod")))}
    mass, length, time = units or (float(unit) for unit in 4.0 ** rng.choice(POWERS, 3))
    units = mass, length, time
    first, second = runs(drawn, units, options)
    by = Units(units)
    # one of the two may start with a zero in its place, which needs no correction; a correction changes last digits
    exact = not any(0.0 < abs(value) < FLUSHED for run in (first, second) for value in run.start.values())
    for when in ("start", "end"):
        a, b = getattr(first, when), getattr(second, when)
        size = {} if exact else sizes(b, second.units)
        a = {name: by.output(name, unit, a[name]) for name, unit in first.units.items()}
        wrong = [f"{name}: {a[name]!r}, {b[name]!r}" for name, unit in first.units.items()
                 if not same(a[name], b[name], size.get(unit, 0.0))]  # fmt: skip
        assert not wrong, f"draw {seed}, {options}, {units}: {len(wrong)} at the {when}\n" + "\n".join(wrong[:8])
    for name in first.counts.keys() - set(VIOLATIONS) if exact else ():
        assert first.counts[name] == second.counts[name], f"draw {seed}, {options}, {units}: {name}"


@draws(relation=13)
def test_units_leave_the_digits(seeds: range) -> None:
    each(seeds, check)


@pytest.mark.parametrize(
    ("seed", "units"),
    [
        (1300433, (64.0, 1.0, 1.0)),  # pivots were read from a matrix that the last evaluation had not factored
        (1300046, (1.0, 4.0, 1.0)),  # the rank nearby was sought along motions of 1 m/s
        (1300158, (1.0, 0.25, 1.0)),  # slides of a Skate counted in rad
        (1300020, (1.0, 64.0, 1.0)),  # gaps of loops in rad and in m had one bound
        (1300062, (0.25, 64.0, 0.015625)),  # impulses of laws acted as forces for 1 s
        (1300113, (64.0, 16.0, 0.25)),  # pivots of a joint's modes compared rad with m
        (1300226, (0.015625, 4.0, 1024.0)),  # radau: trial forces of 1 N and 1 N.m
        (1300388, (1.0, 0.25, 1.0)),  # radau: the mobility of bodies without mass had one bound for turns and slides
        (1400372, (1.0, 0.0009765625, 1.0)),  # radau and copcod: the same
        (1300330, (16.0, 1024.0, 0.0625)),  # gaps in a plane counted in m
        (24703041, (1024.0, 64.0, 0.0009765625)),  # radau and copcod: pivots compared rad with m
        (1510380, (1.0, 4.0, 1.0)),  # responses to normal forces of 1 N and 1 N.m
        (1500301, (1.0, 1024.0, 1.0)),  # the same, in joints that turn and joints that slide
        (24703041, (1.0, 4.0, 1.0)),  # the same, in a loop under radau and copcod
        (1500278, (0.0009765625, 0.015625, 0.25)),  # velocities of 1e-307 at the start
        (73300000, (4.0, 1024.0, 0.0625)),  # the same: a correction changed the digits of one of the two
        (2018, (0.0625, 0.25, 4.0)),  # axes of pulleys were differences of places 1 m apart
        (73300000, (1.0, 1.0, 0.0625)),  # the same: round-off of them was a conflict
    ],
)
def test_draws_that_had_a_unit_built_in(seed: int, units: tuple[float, float, float]) -> None:
    check(seed, units)


@pytest.mark.parametrize("name", ["pendulum", "four_bar"])
@pytest.mark.parametrize("scheme", ["dopri5", "radau"])
def test_milliseconds_are_as_good_as_seconds(name: str, scheme: str) -> None:
    """The same steps, and angles that differ by the round-off of the conversion alone."""
    found = []
    for per_second in (1.0, 1e3, 1e6):
        image = fm.compile(scaled(read_model(name), (1.0, 1.0, per_second)), everything=True)
        solver = fm.Solver(image.with_options(scheme=scheme, step=1e-3 * per_second))
        solver.assemble()
        solver.step(2.0 * per_second)
        found.append((solver.get("solver.steps"), solver.get("A.q")))
    assert len({steps for steps, _ in found}) == 1
    assert np.ptp([q for _, q in found]) < ROUNDED
