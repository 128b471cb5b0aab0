"""A host that integrates a Solver's mechanism by itself, through the core's functions for Model Exchange."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import DOP853

import fmumbs as fm
from fmumbs.compiler.layout import ffi, lib
from fmumbs.run.coordinates import pointer

Array = NDArray[np.float64]

MOST_EVENTS = 2000


def by_reference(
    solver: fm.Solver, function: Any, unknowns: ArrayLike, knowns: ArrayLike, seed: Array, count: int
) -> Array:
    """(count,) derivatives by one of the core's functions, of unknowns by knowns beyond the table of variables too."""
    result = np.empty(count)
    a, b = (np.ascontiguousarray(one, np.uint32) for one in (unknowns, knowns))
    solver.call(
        function, ffi.from_buffer("uint32_t[]", a), len(a), ffi.from_buffer("uint32_t[]", b), len(b),
        pointer(np.ascontiguousarray(seed)), pointer(result),
    )  # fmt: skip
    return result


class Host:
    """Takes over an assembled Solver, and completes no step: what stays right does so by the rates alone."""

    def __init__(self, solver: fm.Solver) -> None:
        self.solver = solver
        self._events = ffi.new("fm_events *")
        self.update()
        self.states = int(lib.fm_continuous_count(solver.instance))
        self.indicators = int(lib.fm_indicator_count(solver.instance))

    @property
    def next(self) -> float:
        """Time of the announced event [s]."""
        return float(self._events.next)

    @property
    def x(self) -> Array:
        values = np.empty(self.states)
        lib.fm_get_continuous(self.solver.instance, pointer(values))
        return values

    def place(self, t: float, x: Array) -> None:
        self.solver.call(lib.fm_set_continuous, t, pointer(np.array(x)))

    def rates(self, t: float, x: Array) -> Array:
        """NaN where there are none: a shorter step may avoid it."""
        values = np.full(self.states, np.nan)
        if not np.isfinite(x).all():  # what a stage without rates leads to
            return values
        self.place(t, x)
        status = lib.fm_continuous_rates(self.solver.instance, pointer(values))
        assert status != lib.FM_ERROR
        return values if status == lib.FM_OK else np.full(self.states, np.nan)

    def least(self, t: float, x: Array) -> float:
        """The smallest indicator: a mode of a law is wrong below zero."""
        values = np.empty(self.indicators)
        self.place(t, x)
        self.solver.call(lib.fm_indicators, pointer(values))
        return float(values.min(initial=1.0))

    def update(self) -> None:
        self.solver.call(lib.fm_update_events, self._events)

    def run(self, end: float, tolerance: float) -> None:
        """Goes to `end` [s], with events at the zeros of indicators and at announced times."""
        t, events = self.solver.time, 0
        while t < end:
            t = self._to(t, min(end, self.next), tolerance)
            if t < end or t == self.next:
                self.update()
                events += 1
                assert events < MOST_EVENTS, f"{events} events until {t} s"

    def _to(self, t: float, until: float, tolerance: float) -> float:
        """Goes on to a time or to an event before it; the time that was reached."""
        size = np.empty(self.states)
        lib.fm_nominals(self.solver.instance, pointer(size))

        def f(t: float, z: Array) -> Array:
            return self.rates(t, z * size) / size

        scheme = DOP853(f, t, self.x / size, until, rtol=tolerance, atol=tolerance)
        while scheme.status == "running":
            scheme.step()
            if scheme.status == "failed":
                raise fm.SolverError(f"the step became too small at {scheme.t} s")
            if self.indicators and self.least(scheme.t, scheme.y * size) <= 0.0:
                return self._cross(scheme, size)
        self.place(scheme.t, scheme.y * size)
        return float(scheme.t)

    def _cross(self, scheme: DOP853, size: Array) -> float:
        """Goes just beyond the first zero of the smallest indicator within the last step."""
        along = scheme.dense_output()
        low, high = float(scheme.t_old), float(scheme.t)
        while True:
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            if self.least(middle, along(middle) * size) <= 0.0:
                high = middle
            else:
                low = middle
        self.place(high, along(high) * size)
        return high
