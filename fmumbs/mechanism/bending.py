"""How a uniform beam bends: the modes of Euler and Bernoulli between two supports.

With b = beta L and s = x / L every mode is

    W(s) = A cos bs + B sin bs + C exp(-bs) + D exp(-b (1 - s)),

which no hyperbolic function makes inaccurate for high modes. Each end has two conditions: clamped W = W' = 0, pinned
W = W'' = 0, free W'' = W''' = 0, sliding W' = W''' = 0; b is where the determinant of the four vanishes. Motions of
the undeformed beam (b = 0) are no modes: they are the floating frame's. Modes are scaled to 1 at their largest
deflection, and are positive at the tip, or where they begin if the tip stays.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ENDS = {"clamped": (0, 1), "pinned": (0, 2), "free": (2, 3), "sliding": (1, 3)}
"""Which derivatives of W vanish at such an end."""

_LEAST, _STEP = 0.5, 0.05  # where b is looked for: the lowest of all is pi / 2, and two are never nearer than 1


@dataclass(frozen=True)
class Bending:
    """One mode: b and the coefficients A, B, C, D; `ends`: the derivatives that vanish at base and tip."""

    b: float
    coefficients: tuple[float, ...]
    ends: tuple[tuple[int, ...], tuple[int, ...]]

    def derivative(self, order: int, s: float) -> float:
        """The derivative of W of that order by s; exactly zero where an end's condition says so."""
        if (s == 0.0 and order in self.ends[0]) or (s == 1.0 and order in self.ends[1]):
            return 0.0
        return float(_row(order, self.b, s) @ np.array(self.coefficients)) * self.b**order


def modes(count: int, base: str, tip: str) -> tuple[Bending, ...]:
    """The lowest modes between two ends, which are among ENDS."""
    return _modes(count, ENDS[base], ENDS[tip])


@lru_cache(maxsize=64)
def _modes(count: int, base: tuple[int, ...], tip: tuple[int, ...]) -> tuple[Bending, ...]:
    found: list[Bending] = []
    low, before = _LEAST, _determinant(_LEAST, base, tip)
    while len(found) < count:
        high = low + _STEP
        after = _determinant(high, base, tip)
        if before * after <= 0.0:
            found.append(_mode(_root(low, high, before, base, tip), base, tip))
        low, before = high, after
    return tuple(found)


def _row(order: int, b: float, s: float) -> Array:
    """What the four functions' derivatives are, over b to that power."""
    c, sn, out, back = math.cos(b * s), math.sin(b * s), math.exp(-b * s), math.exp(-b * (1.0 - s))
    return np.array(((c, sn, out, back), (-sn, c, -out, back), (-c, -sn, out, back), (sn, -c, -out, back))[order])


def _conditions(b: float, base: tuple[int, ...], tip: tuple[int, ...]) -> Array:
    return np.array([_row(order, b, 0.0) for order in base] + [_row(order, b, 1.0) for order in tip])


def _determinant(b: float, base: tuple[int, ...], tip: tuple[int, ...]) -> float:
    return float(np.linalg.det(_conditions(b, base, tip)))


def _root(low: float, high: float, at_low: float, base: tuple[int, ...], tip: tuple[int, ...]) -> float:
    """By bisection, to the last bit."""
    while True:
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
    """The largest deflection: at an end, or where the slope vanishes."""
    grid = np.linspace(0.0, 1.0, 40 * math.ceil(mode.b) + 1)
    values = [abs(mode.derivative(0, s)) for s in grid.tolist()]
    best = int(np.argmax(values))
    s = float(grid[best])
    for _ in range(4 if 0 < best < len(grid) - 1 else 0):
        s -= mode.derivative(1, s) / mode.derivative(2, s)
    return abs(mode.derivative(0, s))
