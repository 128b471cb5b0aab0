"""Pieces of seventh degree for paths whose law is no polynomial: sines on a line, and exponentials.

Over a piece of length h the polynomial has the law's value and first three derivatives at both ends. With
f = sum_k f_k x^k about the start of the piece, in units of h, and r_n the n-th derivative at x = 1 of the terms of
fourth and higher power, the coefficients beyond the third are

    c4 = 35 r0 - 15 r1 + 5/2 r2 - 1/6 r3       c6 =  70 r0 - 34 r1 + 13/2 r2 - 1/2 r3
    c5 = -84 r0 + 39 r1 - 7 r2 + 1/2 r3        c7 = -20 r0 + 10 r1 -    2 r2 + 1/6 r3

The series gives r_n without cancellation, so the acceleration has no more round-off than the law itself. Of a sine in
pieces of 0.1 rad, the position is off by 1e-15 of its amplitude, and the acceleration by 3e-12.
"""

import math
from collections.abc import Callable
from typing import Literal

STEP = 2.0 * math.pi / 64  # [rad] of a sine, or e-folds of an exponential, in a piece
_TERMS = 20  # of a series, whose terms fall faster than STEP^k / k!

Row = tuple[float, ...]
Derivative = Callable[[int], float]

_FIT = (
    (35.0, -15.0, 5.0 / 2.0, -1.0 / 6.0),
    (-84.0, 39.0, -7.0, 1.0 / 2.0),
    (70.0, -34.0, 13.0 / 2.0, -1.0 / 2.0),
    (-20.0, 10.0, -2.0, 1.0 / 6.0),
)


def fitted(derivative: Derivative, h: float) -> Row:
    """(8,) coefficients over a piece of length h; derivative(k): the law's k-th at its start, k = 0 for its value."""
    terms = [derivative(k) * h**k / math.factorial(k) for k in range(_TERMS)]
    rest = [sum(math.perm(k, n) * terms[k] for k in range(4, _TERMS)) for n in range(4)]
    scaled = [*terms[:4], *(sum(a * r for a, r in zip(row, rest, strict=True)) for row in _FIT)]
    return tuple(c / h**k for k, c in enumerate(scaled))


def line_and_sine(
    begin: float, end: float, position: float, rate: float, amplitude: float, omega: float, phase: float
) -> tuple[list[float], list[Row]]:
    """Breaks and coefficients of position + rate x + amplitude sin(omega x + phase) with x = t - begin, until `end`."""
    count = math.ceil(abs(omega) * (end - begin) / STEP)
    breaks = [begin + (end - begin) * i / count for i in range(count)]
    rows = []
    for i in range(count):
        x = (end - begin) * i / count

        def derivative(k: int, x: float = x) -> float:
            sine = amplitude * omega**k * math.sin(omega * x + phase + k * math.pi / 2.0)
            return sine + (position + rate * x if k == 0 else rate if k == 1 else 0.0)

        rows.append(fitted(derivative, (end - begin) / count))
    return breaks, rows


def exponential(duration: float, rate: float, growth: float) -> tuple[list[float], list[Row]]:
    """Breaks and coefficients of (rate / growth) (exp(growth t) - 1) from 0 to a duration."""
    count = math.ceil(abs(growth) * duration / STEP)
    breaks = [duration * i / count for i in range(count)]
    rows = []
    for t in breaks:

        def derivative(k: int, t: float = t) -> float:
            return rate / growth * math.expm1(growth * t) if k == 0 else rate * growth ** (k - 1) * math.exp(growth * t)

        rows.append(fitted(derivative, duration / count))
    return breaks, rows


# Cams: a rise from 0 to 1 in unit time, by its pieces (begin, coefficients) ----------------------------------------

Rise = tuple[list[float], list[Row]]


def _polynomial(*coefficients: float) -> Rise:
    return [0.0], [coefficients]


def _cycloidal() -> Rise:
    """The law s = x - sin(2 pi x) / (2 pi)."""
    return line_and_sine(0.0, 1.0, 0.0, 1.0, -0.5 / math.pi, 2.0 * math.pi, 0.0)


def _modified_sine() -> Rise:
    """The law of Path.cam(), integrated piece by piece."""
    pi, rate = math.pi, math.pi / (4.0 + math.pi)  # A / (4 pi)
    quick, slow = rate / (4.0 * pi), 9.0 * rate / (4.0 * pi)  # A over the squares of the frequencies
    first = line_and_sine(0.0, 0.125, 0.0, rate, -quick, 4.0 * pi, 0.0)
    start = rate / 8.0 - quick + slow
    middle = line_and_sine(0.125, 0.875, start, rate, -slow, 4.0 * pi / 3.0, pi / 2.0)
    last = line_and_sine(0.875, 1.0, 1.0 - 0.125 * rate, rate, -quick, 4.0 * pi, 3.5 * pi)
    return first[0] + middle[0] + last[0], first[1] + middle[1] + last[1]


RiseLaw = Literal["cycloidal", "modified sine", "3-4-5", "4-5-6-7"]

RISES: dict[RiseLaw, Callable[[], Rise]] = {
    "cycloidal": _cycloidal,
    "modified sine": _modified_sine,
    "3-4-5": lambda: _polynomial(0.0, 0.0, 0.0, 10.0, -15.0, 6.0),
    "4-5-6-7": lambda: _polynomial(0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0),
}


def cam_stroke(law: RiseLaw, begin: float, duration: float, start: float, lift: float) -> tuple[list[float], list[Row]]:
    """Breaks and coefficients of a stroke from `start` by `lift`, up or down, from `begin` [s] for a duration [s]."""
    breaks, rows = RISES[law]()
    scaled = [tuple(lift * c / duration**k + (start if k == 0 else 0.0) for k, c in enumerate(row)) for row in rows]
    return [begin + duration * x for x in breaks], scaled
