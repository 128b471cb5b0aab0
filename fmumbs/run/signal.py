"""Signal: an input over time, given by a table (times, values).

    u(t) = sum_k c[i][k] (t - breaks[i])^k     for breaks[i] <= t < breaks[i + 1],  k = 0 to 3

with straight lines, a cubic spline or constants between the times. Before the first time and after the last one the
first and the last value hold. Two equal times are a jump: the later row applies from that time on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs import _checks
from fmumbs.errors import FmumbsError, SolverError

Array = NDArray[np.float64]

Interpolation = Literal["linear", "cubic", "hold"]
INTERPOLATIONS: tuple[Interpolation, ...] = get_args(Interpolation)
POWERS = 4
_MEETS = 1e-9  # of the largest value: what a spline may miss a row by


@dataclass(frozen=True, eq=False)
class Signal:
    """An input over time, from a table. `simulate` follows it exactly, by integration steps that end at its times.

    times: (n,) [s], n >= 1, increasing; two equal times are a jump.
    values: (n,), or (n, components) for a vector, in the input's unit.
    interpolation: "linear" between the rows; "cubic", a spline with continuous second derivative between jumps
        (not-a-knot at its ends; through two rows a line, through three a parabola); "hold", each row until the next.

    breaks: (pieces,) start of each piece [s]; the first piece also applies before it. coefficients: (pieces, 4,
    components) of the powers of the time since the piece's break.

    Before the first and after the last time, the first and the last value hold. Of a smooth input sampled every h,
    the error of "hold" is of order h, of "linear" h^2 and of "cubic" h^4. Raises SolverError for a table that is not
    one.
    """

    times: ArrayLike
    values: ArrayLike
    interpolation: Interpolation = "linear"
    breaks: Array = field(init=False, repr=False)
    coefficients: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.interpolation, str) or self.interpolation not in INTERPOLATIONS:
            known = ", ".join(INTERPOLATIONS)
            raise SolverError(f"Signal: interpolation is {_checks.shown(self.interpolation)}. Give one of {known}.")
        times, values = _numbers(self.times, "times"), _numbers(self.values, "values")
        _check(times, values)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)
        breaks, coefficients = _pieces(times, values.reshape(len(times), -1), self.interpolation)
        if not np.isfinite(coefficients).all():
            steep = int(np.flatnonzero(~np.isfinite(coefficients).all(axis=(1, 2)))[0])
            raise SolverError(
                f"Signal: after {breaks[steep]:.9g} s its slope is not finite. Give two equal times for a jump."
            )
        for array in (times, values, breaks, coefficients):
            array.flags.writeable = False
        object.__setattr__(self, "breaks", breaks)
        object.__setattr__(self, "coefficients", coefficients)

    @classmethod
    def sample(
        cls, function: Callable[[float], ArrayLike], times: ArrayLike, interpolation: Interpolation = "cubic"
    ) -> Signal:
        """A table of a function of time.

        function: returns the value at a time [s]. times: (n,) [s]. interpolation: as of the class.

        Use it instead of the function where the function is smooth: `simulate` holds the value of a function from one
        output time to the next, with an error of first order in the interval.
        """
        return cls(times, np.array([_sampled(function, float(t)) for t in _numbers(times, "times")]), interpolation)

    @property
    def width(self) -> int:
        """The number of components."""
        return int(self.coefficients.shape[2])

    def __call__(self, t: float) -> Any:
        """The value at the time t [s]; (components,) for a vector. At a jump, the later one."""
        i = max(int(np.searchsorted(self.breaks, t, "right")) - 1, 0)
        with _checks.in_range(f"Signal at {t:g} s", SolverError):
            found = taylor(self.coefficients[i], t - self.breaks[i], 0)[0]
        return float(found[0]) if np.ndim(self.values) == 1 else found

    def __reduce__(self) -> Any:
        return type(self), (self.times, self.values, self.interpolation)


def taylor(c: Array, x: float, order: int) -> list[Array]:
    """The value and derivatives up to an order <= 3 of pieces c: (4, components), at x [s] after their break."""
    found = [c[0] + x * (c[1] + x * (c[2] + x * c[3]))]
    if order > 0:
        found.append(c[1] + x * (2.0 * c[2] + x * (3.0 * c[3])))
    if order > 1:
        found += [2.0 * c[2] + x * (6.0 * c[3]), 6.0 * c[3]][: order - 1]
    return found


def _sampled(function: Callable[[float], ArrayLike], t: float) -> ArrayLike:
    try:
        return function(t)
    except FmumbsError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise SolverError(f"Signal.sample: the function failed at t = {t:g} s with {what}. Fix it.") from error


def _numbers(given: ArrayLike, what: str) -> Array:
    try:
        found = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SolverError(f"Signal: {what} are not a table of numbers. Give a list or an array.") from None
    bad = np.argwhere(~np.isfinite(found))
    if len(bad):
        place = ", ".join(str(k) for k in bad[0])
        raise SolverError(f"Signal: {what}[{place}] is {found[tuple(bad[0])]:g}, but must be finite. Give a number.")
    return found


def _check(times: Array, values: Array) -> None:
    """Raises SolverError unless times (n,) do not decrease and values have as many rows."""
    if times.ndim != 1 or len(times) < 1:
        shape = " by ".join(map(str, times.shape)) or "a single number"
        raise SolverError(f"Signal: times are {shape}, but must be a list. Give at least one time.")
    if values.ndim not in (1, 2) or len(values) != len(times) or 0 in values.shape:
        shape = " by ".join(map(str, values.shape)) or "a single number"
        raise SolverError(f"Signal: values are {shape}, but there are {len(times)} times. Give a row for each time.")
    with np.errstate(over="ignore"):
        step = np.diff(times)
    if not np.isfinite(step).all():
        raise SolverError(f"Signal: times from {times[0]:g} to {times[-1]:g} s span more than numbers can. Give fewer.")
    if (step < 0.0).any():
        k = int(np.flatnonzero(step < 0.0)[0])
        raise SolverError(
            f"Signal: times decrease from {times[k]:.9g} s to {times[k + 1]:.9g} s at row {k + 1}. Sort the table."
        )
    if ((step[1:] == 0.0) & (step[:-1] == 0.0)).any():
        k = int(np.flatnonzero((step[1:] == 0.0) & (step[:-1] == 0.0))[0])
        raise SolverError(
            f"Signal: the time {times[k]:.9g} s is given more than twice, from row {k} on. "
            "Give two rows for a jump: before and after it."
        )


def _pieces(times: Array, values: Array, interpolation: Interpolation) -> tuple[Array, Array]:
    """Breaks (pieces,) and coefficients (pieces, 4, components) of a table with values (n, components).

    The first piece has the value before the first time, the last piece that after the last one.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        rows = np.zeros((len(times), POWERS, values.shape[1]))
        rows[:, 0] = values
        ends = [*(np.flatnonzero(np.diff(times) == 0.0) + 1).tolist(), len(times)]
        begin = 0
        for end in ends:
            if end - begin > 1 and interpolation != "hold":
                rows[begin : end - 1] = _smooth(times[begin:end], values[begin:end], interpolation)
            begin = end
    last_before_jump = np.append(np.diff(times) == 0.0, False)
    breaks, rows = times[~last_before_jump], rows[~last_before_jump]
    first = np.zeros((1, *rows.shape[1:]))
    first[0, 0] = values[0]
    return np.concatenate([breaks[:1], breaks]), np.concatenate([first, rows])


def _smooth(times: Array, values: Array, interpolation: Interpolation) -> Array:
    """(n - 1, 4, components) coefficients between n >= 2 rows without a jump."""
    rows = np.zeros((len(times) - 1, POWERS, values.shape[1]))
    step = np.diff(times)[:, None]
    slope = np.diff(values, axis=0) / step
    if interpolation == "linear" or len(times) == 2 or not np.isfinite(slope).all():
        rows[:, 1] = slope
    elif len(times) == 3:
        bend = (slope[1] - slope[0]) / (times[2] - times[0])
        rows[:, 1], rows[:, 2] = slope[0] + bend * step[0] * ((-1.0,), (1.0,)), bend
    else:
        rows[:] = _spline(times, values)
    rows[:, 0] = values[:-1]
    return rows


def _spline(times: Array, values: Array) -> Array:
    """(n - 1, 4, components) coefficients of the cubic spline through n >= 4 rows; SolverError if doubles have none."""
    from scipy.interpolate import CubicSpline

    try:
        rows: Array = np.moveaxis(CubicSpline(times, values).c[::-1], 0, 1)
        ends = [taylor(c, h, 0)[0] for c, h in zip(rows, np.diff(times), strict=True)]
        if np.abs(ends - values[1:]).max() <= _MEETS * np.abs(values).max():
            return rows
    except ValueError:  # SciPy's word for slopes that overflow
        pass
    raise SolverError(
        "Signal: its times are too unevenly spaced for a cubic spline in floating-point numbers. "
        "Give interpolation='linear', or leave out times that lie too close together."
    )
