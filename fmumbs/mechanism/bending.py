"""Bending modes of a uniform Euler-Bernoulli beam between two supports.

With b = beta L and s = x / L every mode is

    W(s) = A cos bs + B sin bs + C exp(-bs) + D exp(-b (1 - s)),

which stays accurate for high modes, as there are no hyperbolic functions. Each end has two conditions: clamped
W = W' = 0, pinned W = W'' = 0, free W'' = W''' = 0, sliding W' = W''' = 0. The eigenvalues b are the zeros of the
determinant of the four conditions. Rigid motions (b = 0) are left out: they belong to the floating frame. Each mode is
scaled so that its largest deflection is 1, and is positive at the tip; if the tip does not move, near the base.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ENDS = {"clamped": (0, 1), "pinned": (0, 2), "free": (2, 3), "sliding": (1, 3)}
"""Orders of the derivatives of W that are zero at an end, by the kind of support."""

_LEAST, _STEP = 0.5, 0.05  # of the search for b: the lowest b of all is pi / 2, and two are at least 1 apart


@dataclass(frozen=True)
class Bending:
    """One mode: b and the coefficients A, B, C, D; `ends`: orders of the derivatives that are zero at base and tip."""

    b: float
    coefficients: tuple[float, ...]
    ends: tuple[tuple[int, ...], tuple[int, ...]]

    @property
    def square(self) -> float:
        """The integral of W^2 over s."""
        x, weights = np.polynomial.legendre.leggauss(2 * math.ceil(self.b) + 10)
        return float(weights @ [self.derivative(0, s) ** 2 for s in ((x + 1.0) / 2).tolist()]) / 2

    def derivative(self, order: int, s: float) -> float:
        """The derivative of W with respect to s of that order, 0 to 3; exactly zero where a support demands it."""
        if (s == 0.0 and order in self.ends[0]) or (s == 1.0 and order in self.ends[1]):
            return 0.0
        return float(_row(order, self.b, s) @ np.array(self.coefficients)) * self.b**order


@dataclass(frozen=True)
class Axial:
    """A mode of torsion or extension, zero at the base and free at the tip: sin(b s), b = (k - 1/2) pi."""

    b: float

    def derivative(self, order: int, s: float) -> float:
        """The derivative by s of that order; exactly zero where an end's condition says so."""
        if (s == 0.0 and order % 2 == 0) or (s == 1.0 and order % 2 == 1):
            return 0.0
        return self.b**order * math.sin(self.b * s + order * math.pi / 2)


def axial(count: int) -> tuple[Axial, ...]:
    """The lowest modes of torsion or extension."""
    return tuple(Axial((k + 0.5) * math.pi) for k in range(count))


def modes(count: int, base: str, tip: str) -> tuple[Bending, ...]:
    """The lowest `count` modes; base, tip: the supports, keys of ENDS."""
    return _modes(count, ENDS[base], ENDS[tip])


def of_ends(count: int, like: Bending) -> tuple[Bending, ...]:
    """The lowest modes of the beam that has one of them."""
    return _modes(count, *like.ends)


@lru_cache(maxsize=64)
def _modes(count: int, base: tuple[int, ...], tip: tuple[int, ...]) -> tuple[Bending, ...]:
    found: list[Bending] = []
    low, before = _LEAST, _determinant(_LEAST, base, tip)
    while len(found) < count:  # there is one root in about every pi, at any b
        high = low + _STEP
        after = _determinant(high, base, tip)
        if before * after <= 0.0:
            found.append(_mode(_root(low, high, before, base, tip), base, tip))
        low, before = high, after
    return tuple(found)


def _row(order: int, b: float, s: float) -> Array:
    """(4,) the derivatives of the four functions at s, divided by b to the power of the order."""
    c, sn, out, back = math.cos(b * s), math.sin(b * s), math.exp(-b * s), math.exp(-b * (1.0 - s))
    return np.array(((c, sn, out, back), (-sn, c, -out, back), (-c, -sn, out, back), (sn, -c, -out, back))[order])


def _conditions(b: float, base: tuple[int, ...], tip: tuple[int, ...]) -> Array:
    return np.array([_row(order, b, 0.0) for order in base] + [_row(order, b, 1.0) for order in tip])


def _determinant(b: float, base: tuple[int, ...], tip: tuple[int, ...]) -> float:
    return float(np.linalg.det(_conditions(b, base, tip)))


def _root(low: float, high: float, at_low: float, base: tuple[int, ...], tip: tuple[int, ...]) -> float:
    """The zero of the determinant between low and high, by bisection to the last bit."""
    while True:  # at most 64 times: the interval is halved each time
        middle = 0.5 * (low + high)
        if middle in (low, high):
            return middle
        value = _determinant(middle, base, tip)
        if value == 0.0:
            return middle
        if (value > 0.0) == (at_low > 0.0):
            low = middle
        else:
            high = middle


def _mode(b: float, base: tuple[int, ...], tip: tuple[int, ...]) -> Bending:
    raw = np.linalg.svd(_conditions(b, base, tip))[2][-1]
    mode = Bending(b, tuple(raw.tolist()), (base, tip))
    signs = (mode.derivative(0, 1.0), mode.derivative(1, 0.0) / b, mode.derivative(2, 0.0) / b**2)
    sign = next(math.copysign(1.0, value) for value in signs if abs(value) > 1e-3)
    return Bending(b, tuple((sign / _largest(mode) * raw).tolist()), (base, tip))


def _largest(mode: Bending) -> float:
    """The largest deflection: at an end, or where the slope is zero."""
    grid = np.linspace(0.0, 1.0, 40 * math.ceil(mode.b) + 1)
    values = [abs(mode.derivative(0, s)) for s in grid.tolist()]
    best = int(np.argmax(values))
    s = float(grid[best])
    for _ in range(4 if 0 < best < len(grid) - 1 else 0):
        s -= mode.derivative(1, s) / mode.derivative(2, s)
    return abs(mode.derivative(0, s))
