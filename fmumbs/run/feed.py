"""Feed: gives signals to a Solver or an FMU, as values and derivatives of inputs at the start of each step.

Between two times of a table an input is a polynomial of at most third degree, which the derivatives of order 1 to 3
describe exactly. So a step that does not pass such a time integrates the input without an error of its own; stops()
are the times at which steps have to end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fmumbs.errors import SolverError
from fmumbs.run.signal import Signal, taylor

Array = NDArray[np.float64]
References = NDArray[np.uint32]
Orders = NDArray[np.int32]

_CLOSE = 32.0 * float(np.finfo(float).eps)


class Port(Protocol):
    """What takes inputs by value reference: a Solver, or an instance of an FMU."""

    def write(self, references: References, values: Array) -> None:
        """Sets (n,) values."""

    def write_input_derivatives(self, references: References, orders: Orders, values: Array) -> None:
        """Sets (n,) derivatives of (n,) orders for the next step."""


def close(t: float) -> float:
    """Times closer to t than this [s] are equal to it: 0.1 + 0.2 and 0.3 are the same time."""
    return _CLOSE * abs(t)


def piece_of(breaks: Array, t: float) -> int:
    """The piece of a table with these breaks that begins at or before the time t [s]; the first one before it."""
    return max(int(np.searchsorted(breaks, t + close(t), "right")) - 1, 0)


def duration(begin: float, end: float) -> float:
    """The step [s] that leads from begin to end when it is added to begin in floating point, as FMI does; if there is
    none, the nearest.
    """
    step = end - begin
    for other in (step, math.nextafter(step, math.inf), math.nextafter(step, 0.0)):
        if begin + other == end:
            return other
    return step


def _between(begin: float, end: float) -> float:
    """A time that duration() reaches from begin, and from which it reaches end.

    The time's distances to both are exact: to begin since it is less than twice as late, to end since both are
    multiples of the last digit of end.
    """
    digit = math.ulp(end)
    return max(round(1.5 * begin / digit), math.ceil(begin / digit)) * digit


def _apart(times: list[Array]) -> Array:
    """(n,) the times of all these arrays, once each, without those that are equal to the one before."""
    knots = np.unique(np.concatenate(times))
    found: Array = knots[np.diff(knots, prepend=-np.inf) > _CLOSE * np.abs(knots)]
    return found


class Feed:
    """Inputs that follow signals. signals: by name; references: (n,) of each name.

    derivatives: False for an FMU that cannot interpolate inputs; they are then constant over each step.
    Raises SolverError where a signal does not have as many components as the input.
    """

    def __init__(
        self,
        port: Port,
        signals: Mapping[str, Signal],
        references: Mapping[str, References],
        *,
        derivatives: bool = True,
    ) -> None:
        for name, signal in signals.items():
            if signal.width != len(references[name]):
                raise SolverError(
                    f"'{name}' takes {len(references[name])} numbers, not {signal.width}. "
                    f"Give {len(references[name])} in each row of its table."
                )
        tables: dict[tuple[bytes, bytes], list[str]] = {}  # signals with the same times are one table
        for name, signal in signals.items():
            tables.setdefault((signal.breaks.tobytes(), signal.interpolation.encode()), []).append(name)
        self._tables = [
            _Table(port, [signals[n] for n in names], np.concatenate([references[n] for n in names]), derivatives)
            for names in tables.values()
        ]
        self._knots = _apart([signal.breaks for signal in signals.values()]) if signals else np.zeros(0)

    @property
    def is_empty(self) -> bool:
        """Whether there are no signals."""
        return not self._tables

    def stops(self, begin: float, end: float) -> Array:
        """(n,) times [s] between begin and end, neither included, at which a step has to end.

        Where the sum of a time and a step cannot give the next time, one between them is added.
        """
        k = self._knots
        first, last = np.searchsorted(k, begin + close(begin), "right"), np.searchsorted(k, end - close(end), "left")
        inside: Array = k[first:last]
        before, after = np.append(begin, inside), np.append(inside, end)
        for i in np.flatnonzero(before + (after - before) != after)[::-1].tolist():
            a, b = float(before[i]), float(after[i])
            if a + duration(a, b) != b and a < _between(a, b) < b:
                inside = np.insert(inside, i, _between(a, b))
        return inside

    def set(self, t: float) -> None:
        """Sets the inputs to their values at the time t [s]; at a jump to those after it."""
        for table in self._tables:
            table.set(t)

    def begin(self, t: float) -> None:
        """Sets the inputs' derivatives for the step that begins at the time t [s]."""
        for table in self._tables:
            table.begin(t)


class _Table:
    """Signals with the same times, one after the other."""

    def __init__(self, port: Port, signals: list[Signal], references: References, derivatives: bool) -> None:
        self._port, self._references = port, references
        self._breaks = signals[0].breaks
        self._coefficients = np.concatenate([signal.coefficients for signal in signals], axis=2)
        used = self._coefficients.any(axis=2)  # (pieces, 4)
        self._order = (used * np.arange(used.shape[1])).max(axis=1)  # degree of each piece
        self._derivatives = derivatives
        count = len(references)
        self._asked = [  # references and orders of all derivatives of a piece of this degree
            (np.tile(references, k), np.repeat(np.arange(1, k + 1, dtype=np.int32), count)) for k in range(4)
        ]
        self._piece = -1

    def _place(self, t: float) -> tuple[int, float]:
        """The piece of the time t, and the time since its break [s]."""
        i = piece_of(self._breaks, t)
        return i, max(t - float(self._breaks[i]), 0.0)

    def set(self, t: float) -> None:
        i, x = self._place(t)
        if i == self._piece and self._order[i] == 0:
            return  # it is constant; the integration may go on with the step that it has
        self._port.write(self._references, taylor(self._coefficients[i], x, 0)[0])
        self._piece = i

    def begin(self, t: float) -> None:
        i, x = self._place(t)
        if self._derivatives and self._order[i]:
            order = int(self._order[i])
            values = taylor(self._coefficients[i], x, order)[1:]
            self._port.write_input_derivatives(*self._asked[order], np.concatenate(values))
