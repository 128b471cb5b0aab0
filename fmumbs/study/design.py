"""Which runs a sweep has: all combinations of the grid, each with every point of the sample."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs.errors import SolverError

Array = NDArray[np.float64]
Value = float | int | bool | str

METHODS = ("latin", "halton", "random")
MOST_RUNS = 10**8
_PLAIN = (bool, int, float, str)


@dataclass(frozen=True)
class Design:
    """The values of every run, by its number from 0.

    grid: values by name; the first name changes slowest. ranges: (least, greatest) by name; points: (samples, names)
    the sample in them, which is the same for each combination of the grid and changes fastest. method, seed: that made
    the sample.
    """

    grid: Mapping[str, tuple[Value, ...]]
    ranges: Mapping[str, tuple[float, float]]
    method: str
    seed: int
    points: Array = field(repr=False, compare=False)

    @property
    def names(self) -> list[str]:
        return [*self.grid, *self.ranges]

    @cached_property
    def _sizes(self) -> list[int]:
        return [len(values) for values in self.grid.values()]

    def __len__(self) -> int:
        return math.prod(self._sizes) * max(1, len(self.points))

    def values(self, run: int) -> dict[str, Value]:
        """The values of one run, by name."""
        place, point = divmod(run, max(1, len(self.points)))
        chosen = np.unravel_index(place, self._sizes) if self._sizes else ()
        values: dict[str, Value] = {name: of[int(k)] for (name, of), k in zip(self.grid.items(), chosen, strict=True)}
        if self.ranges:
            values |= zip(self.ranges, self.points[point].tolist(), strict=True)
        return values

    def column(self, name: str) -> list[Value]:
        """The values that a name takes, for checks and types of columns."""
        return list(self.grid[name]) if name in self.grid else list(self.ranges[name])


def make_design(
    grid: Mapping[str, Sequence[Value]] | None,
    ranges: Mapping[str, tuple[float, float]] | None,
    samples: int,
    method: str,
    seed: int,
) -> Design:
    """Checks and completes a design. Raises SolverError."""
    fix = "Give {'crank': [0.08, 0.1]}."
    grid, ranges = (
        {} if given is None else _checks.mapping(given, f"sweep: {what}", fix)
        for what, given in (("grid", grid), ("ranges", ranges))
    )
    _checks.whole(samples, "sweep: samples", 0)
    both = [name for name in grid if name in ranges]
    if both:
        raise SolverError(f"sweep: '{both[0]}' has both a grid and a range. Give one of them.")
    if not grid and not ranges:
        raise SolverError("sweep: nothing is varied. Give a grid such as crank=0.08:0.12:5, or a range and a sample.")
    if ranges and samples < 1:
        raise SolverError(f"sweep: a range needs a sample, which has {samples} points. Give at least 1.")
    if samples > 0 and not ranges:
        raise SolverError(f"sweep: a sample of {samples} points needs ranges. Give one such as A.u0=5:7.")
    if not isinstance(method, str) or method not in METHODS:
        raise SolverError(f"sweep: there is no sample '{method}'. Choose one of: {', '.join(METHODS)}.")
    if not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise SolverError(f"sweep: the seed is {_checks.shown(seed)}. Give a whole number from 0.")
    checked = {name: _values(name, values) for name, values in grid.items()}
    limits = {name: _range(name, given) for name, given in ranges.items()}
    count = math.prod(len(values) for values in checked.values()) * max(1, samples)
    if count > MOST_RUNS:
        raise SolverError(f"sweep: {count} runs exceed {MOST_RUNS:.0e}. Vary less, or in fewer values.")
    return Design(checked, limits, method, seed, _sample(limits, samples, method, seed))


def _values(name: str, values: Sequence[Value]) -> tuple[Value, ...]:
    if isinstance(values, str) or not np.iterable(values):
        raise SolverError(f"sweep: the grid of '{name}' is {_checks.shown(values)}. Give a list of values.")
    plain = tuple(_plain(name, value) for value in values)
    if not plain:
        raise SolverError(f"sweep: the grid of '{name}' has no values. Give at least one.")
    seen: set[Value] = set()
    for value in plain:
        if value in seen:
            raise SolverError(f"sweep: the grid of '{name}' has {value!r} twice. Give each value once.")
        seen.add(value)
    return plain


def _plain(name: str, value: Any) -> Value:
    """A value of a type of Python."""
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, _PLAIN):
        raise SolverError(f"sweep: '{name}' takes the value {value!r}. Give numbers, True and False, or texts.")
    if isinstance(value, int) and abs(value) >= 2**63:
        raise SolverError(f"sweep: '{name}' takes the value {value}. Give integers of up to 63 bits.")
    if isinstance(value, float) and not math.isfinite(value):
        raise SolverError(f"sweep: '{name}' takes the value {value}. Give finite numbers.")
    return value


def _range(name: str, given: Any) -> tuple[float, float]:
    try:
        low, high = (float(value) for value in given)
    except (TypeError, ValueError):
        raise SolverError(
            f"sweep: the range of '{name}' is {_checks.shown(given)}. Give two numbers, such as (5, 7)."
        ) from None
    if not math.isfinite(high - low):
        raise SolverError(f"sweep: the range of '{name}' is {low} to {high}. Give finite numbers.")
    if low >= high:
        why = "empty" if low == high else "reversed"
        raise SolverError(f"sweep: the range of '{name}' is {why}: {low:g} to {high:g}. Give the smaller number first.")
    return low, high


def _sample(ranges: Mapping[str, tuple[float, float]], samples: int, method: str, seed: int) -> Array:
    """(samples, ranges) points in the ranges."""
    if not ranges:
        return np.empty((0, 0))
    if method == "random":
        unit = np.random.default_rng(seed).random((samples, len(ranges)))
    else:
        from scipy.stats import qmc

        kind = qmc.LatinHypercube if method == "latin" else qmc.Halton
        unit = kind(d=len(ranges), **_seeded(kind, seed)).random(samples)
    low, high = np.array(list(ranges.values())).T
    points: Array = low + unit * (high - low)
    return points


def _seeded(kind: type, seed: int) -> dict[str, Any]:
    """The argument that seeds a sampler: `rng`, before SciPy 1.15 `seed`."""
    import inspect

    name = "rng" if "rng" in inspect.signature(kind).parameters else "seed"
    return {name: np.random.default_rng(seed)}
