"""Roads, by their height over the way: what wheels and balls roll on in an fm.Contact."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.bodies import Point
from fmumbs.mechanism.placed import Placed, store

__all__ = ["Road"]

_CLASSES = {name: 16e-6 * 4.0**k for k, name in enumerate("ABCDEFGH")}  # [m3] at _MEAN, in the middle of the class
_MEAN, _LONGEST, _SHORTEST = 0.1, 0.011, 2.83  # [1/m] of ISO 8608: at which roughness is given, and its range
_MOST_POINTS = 1_000_000
_SERIES = 11  # terms of cosine and sine up to 45 degrees, to the last bit

Knot = tuple[float, float]


@dataclass(frozen=True)
class Road(Placed):
    """A road whose height z is a function of x, in the axes of the point `at`, the same at every y.

    >>> road = fm.Road(model.ground.at(), [(0.0, 0.0), (4.0, 0.0), (5.0, 0.08), (6.0, 0.0), (20.0, 0.0)])

    profile: at least two (x, z) with increasing x [m]. Between them z is the natural cubic spline, whose second
        derivative is continuous; beyond the ends the road is straight.

    Raises ModelError for x that do not increase.
    """

    profile: tuple[Knot, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        what = "Road: profile"
        rows = _checks.items(self.profile, what, "Give points such as (0.0, 0.0), (1.0, 0.02).")
        knots = [tuple(_checks.numbers(row, 2, f"{what}[{i}]")) for i, row in enumerate(rows)]
        if len(knots) < 2:
            raise ModelError(f"{what} has {len(knots)} points, but must have at least 2. Give (x, z).")
        for i, ((x, _), (after, _)) in enumerate(pairwise(knots)):
            if after <= x:
                raise ModelError(
                    f"{what}[{i + 1}] is at {after:g} m, not beyond the one before, {x:g} m. Sort them by x."
                )
        store(self, "profile", tuple(knots))

    @classmethod
    def iso8608(cls, at: Point, roughness: str | float, length: float, step: float = 0.1, seed: int = 0) -> Road:
        """A random road of ISO 8608, with the spectral density roughness (n/0.1)^-2 at n waves a metre.

        roughness: a class from "A", a good road, to "H", whose middle is taken, or the density at 0.1 waves a metre,
            above 0 [m^3].
        length: [m], at least two steps. step: between its points [m]. seed: an integer, which gives the same road on
            every machine.

        The profile is a sum of sines with random phases, of k/length waves a metre for integers k, from 0.011 to 2.83
        waves a metre, and not above 1/(4 step): shorter waves than four steps have no points to show them.
        """
        where = "Road.iso8608"
        if isinstance(roughness, str):
            if roughness not in _CLASSES:
                known = ", ".join(_CLASSES)
                raise ModelError(f"{where}: roughness is {roughness!r}. Give one of {known}, or a density.")
            roughness = _CLASSES[roughness]
        density = _checks.positive(roughness, f"{where}: roughness")
        step, length = _checks.size(step, f"{where}: step"), _checks.size(length, f"{where}: length")
        points = round(length / step) if length / step < 2.0 * _MOST_POINTS else 2 * _MOST_POINTS
        if not 2 <= points <= _MOST_POINTS:
            raise ModelError(
                f"{where}: length is {length:g} m with steps of {step:g} m, but must have 2 to {_MOST_POINTS} steps. "
                "Give another step."
            )
        heights = _random_heights(density, points, step, _checks.whole(seed, f"{where}: seed", 0))
        return cls(at, tuple((i * step, z) for i, z in enumerate(heights)))

    @cached_property
    def slopes(self) -> tuple[float, ...]:
        """(n,) of the spline at its points, with the same bits everywhere."""
        x, z = zip(*self.profile, strict=True)
        wide = [b - a for a, b in pairwise(x)]
        mean = [(b - a) / w for (a, b), w in zip(pairwise(z), wide, strict=True)]
        between = zip(pairwise(wide), pairwise(mean), strict=True)
        right = [3.0 * mean[0], *(3.0 * (b * m + a * n) for (a, b), (m, n) in between), 3.0 * mean[-1]]
        before, after = [*wide[1:], 1.0], [1.0, *wide[:-1]]  # entries beside the middle of a matrix of three diagonals
        middle = [2.0, *(2.0 * (a + b) for a, b in pairwise(wide)), 2.0]
        for i, entry in enumerate(before):
            part = entry / middle[i]
            middle[i + 1] -= part * after[i]
            right[i + 1] -= part * right[i]
        slopes = [right[-1] / middle[-1]]
        for i in reversed(range(len(after))):
            slopes.append((right[i] - after[i] * slopes[-1]) / middle[i])
        return tuple(reversed(slopes))

    @cached_property
    def sharpest(self) -> tuple[float, float]:
        """Where its second derivative is largest [m], and how large it is there [1/m]."""
        bends, (x, z), s = [0.0], zip(*self.profile, strict=True), self.slopes
        for i in range(len(x) - 1):
            w = x[i + 1] - x[i]
            bends.append((2.0 * s[i] + 4.0 * s[i + 1] - 6.0 * (z[i + 1] - z[i]) / w) / w)
        largest = max(bends)
        return x[bends.index(largest)], largest


def _random_heights(density: float, points: int, step: float, seed: int) -> list[float]:
    """(points + 1,) heights [m] of a road of ISO 8608.

    Only sums, products, quotients and roots, which are the same everywhere, of each point by itself; and of
    random.Random the numbers that Python promises never to change.
    """
    length, source = points * step, random.Random(seed)
    cosine, sine = _turns(np.arange(points) / points)
    heights, along = np.zeros(points), np.arange(points)
    first, last = max(1, math.ceil(_LONGEST * length)), math.floor(min(_SHORTEST, 0.25 / step) * length)
    for k in range(first, last + 1):
        size = math.sqrt(2.0 * density * (_MEAN * length / k) ** 2 / length)
        c, s = (float(one[0]) for one in _turns(np.array([source.random()])))
        at = k * along % points
        heights = heights + size * (c * cosine[at] - s * sine[at])
    return [*heights.tolist(), float(heights[0])]


def _turns(parts: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cosine and sine of parts of a turn, from 0 to 1."""
    quarters = np.floor(4.0 * parts + 0.5)
    x = 2.0 * math.pi * (parts - 0.25 * quarters)
    c, s, square = np.ones_like(x), np.ones_like(x), x * x
    for k in range(_SERIES, 0, -1):
        c = 1.0 - square * c / (2 * k * (2 * k - 1))
        s = 1.0 - square * s / (2 * k * (2 * k + 1))
    s = x * s
    quarter = quarters.astype(int) % 4
    return np.choose(quarter, [c, -s, -c, s]), np.choose(quarter, [s, c, -s, -c])
