"""Moments: steps a Solver through the times of its results, with what moves its inputs.

    constants   set before assembly
    signals     followed from knot to knot (feed.py): values and derivatives, without an error of their own
    functions   evaluated at each time of the results, and held until the next
    control     called at each sampling time with the outputs there; what it returns is held until the next

A step ends at each time of the results, at each knot of a signal, and at each sampling time. At these, signals and
control are set before the outputs are recorded, so that what jumps is recorded as it is from then on; functions after.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs import _checks
from fmumbs.errors import FmumbsError, ModelError, SolverError
from fmumbs.run.feed import Feed, close
from fmumbs.run.signal import Signal

if TYPE_CHECKING:
    from fmumbs.run.solver import Solver

MOST_TIMES = 10**8
_UPDATES = 100  # of progress, over which rows are spread

Array = NDArray[np.float64]
Input = float | Sequence[float] | Callable[[float], float | Sequence[float]] | Signal | tuple[ArrayLike, ArrayLike]
Controller = Callable[[float, Mapping[str, Any]], Mapping[str, Any] | None]


class Moments:
    """One run of a new Solver: begin(), then record().

    times: (n,) [s], increasing, from 0 on. given: inputs, parameters and start values by name. control,
    control_interval [s]: see simulate(); None: it is called at the times.

    Raises SolverError for names and values that cannot be given so, before the first step.
    """

    def __init__(
        self,
        solver: Solver,
        times: Array,
        given: Mapping[str, Input],
        control: Controller | None = None,
        control_interval: float | None = None,
    ) -> None:
        self._solver = solver
        self._times = times
        self.rows = 0
        signals = {name: signal for name, value in given.items() if (signal := as_signal(name, value)) is not None}
        self._constants: dict[str, Any] = {n: v for n, v in given.items() if n not in signals and not callable(v)}
        self._functions = {n: v for n, v in given.items() if n not in signals and callable(v)}
        references = {name: solver.references(name) for name in signals}
        for name in (*self._functions, *signals):
            _check_moving(solver, name)
        for name, signal in signals.items():
            _check_interpolated(solver, name, signal)
        if signals:
            self._check_given_once(given, signals)
        self._feed = Feed(solver, signals, references)
        self.moving = {*self._functions, *signals}  # names of what changes in the run; control adds to them
        self._control = None
        if control is not None:
            self._control = _Control(solver, control, control_interval, given, times, self.moving)
        elif control_interval is not None:
            raise SolverError("simulate: control_interval needs control. Give control=f, or leave it out.")

    def begin(self) -> None:
        """Sets what is given at time 0, and assembles."""
        self._solver.set_all(self._constants)
        self._set_functions(0.0)
        self._feed.set(0.0)
        self._solver.assemble(0.0)
        if self._control is not None:
            self._control.act(0.0)

    def record(
        self,
        references: NDArray[np.uint32],
        values: Array,
        positions: Array | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        """Steps to each time after the first, and fills the rows of (n - 1, references) values and (n - 1, positions)
        there; `rows` then counts those complete. progress: called with the fraction done, 0 to 1.

        Where nothing is set between the times, the core takes the steps of many rows in one call.
        """
        self.rows, count = 0, len(self._times) - 1
        free = self._control is None and self._feed.is_empty and not self._functions
        size = count if progress is None else max(1, count // _UPDATES)
        while self.rows < count:
            first, last = self.rows, min(self.rows + (size if free else 1), count)
            into = values[first:last], None if positions is None else positions[first:last]
            if free:
                try:
                    self._solver.run(self._times[first + 1 : last + 1], references, *into)
                finally:
                    self.rows += self._solver.rows
            else:
                self._step_to(last)
                into[0][:] = self._solver.read(references)
                if into[1] is not None:
                    into[1][:] = self._solver.positions
                self.rows = last
            if progress is not None:
                progress(last / count)

    def _step_to(self, i: int) -> None:
        """Steps from the time before to time i, with what is set on the way."""
        t, end = float(self._times[i - 1]), float(self._times[i])
        self._set_functions(t)
        for stop in self._stops(t, end):
            self._feed.begin(t)
            self._solver.step(stop)
            t = stop
            self._feed.set(t)
            if self._control is not None:
                self._control.act(t, is_output=t == end)

    def settle(self) -> None:
        """Sets signals to their values where a step has stopped."""
        self._feed.set(self._solver.time)

    def _stops(self, begin: float, end: float) -> list[float]:
        """Where steps end between two times of the results, with the second one."""
        if self._control is None and self._feed.is_empty:
            return [end]
        stops = self._feed.stops(begin, end)
        if self._control is not None:
            merged = np.union1d(stops, self._control.samples(begin, end))
            stops = merged[np.diff(merged, prepend=begin) > 32.0 * np.finfo(float).eps * merged]
        return [*stops.tolist(), end]

    def _set_functions(self, t: float) -> None:
        for name, function in self._functions.items():
            self._solver.set(name, _at(name, function, t))

    def _check_given_once(self, given: Mapping[str, Input], signals: Mapping[str, Signal]) -> None:
        """Raises SolverError where a component of a signal's input is also given under another name."""
        owner: dict[int, str] = {}
        for name in sorted(given, key=lambda n: n not in signals):
            for reference in self._solver.references(name).tolist():
                other = owner.setdefault(reference, name)
                if other != name and other in signals:
                    raise SolverError(
                        f"'{name}' is also a part of '{other}', which follows a signal. Give one of them."
                    )


class _Control:
    """What calls the user's controller, and sets what it returns."""

    def __init__(
        self,
        solver: Solver,
        function: Controller,
        interval: float | None,
        given: Mapping[str, Input],
        times: Array,
        moving: set[str],
    ) -> None:
        if not callable(function):
            raise SolverError(
                f"simulate: control is {_checks.shown(function)}, which is not a function. Give f(t, outputs)."
            )
        self._solver, self._function = solver, function
        self._interval = None if interval is None else _interval(interval, float(times[-1]))
        self._count = 0  # calls so far; the next is at count * interval
        self._outputs = Outputs(solver)
        self._moving, self._checked = moving, set[str]()
        self._given = {reference: name for name in given for reference in solver.references(name).tolist()}

    def samples(self, begin: float, end: float) -> Array:
        """Sampling times [s] after begin and before end, beside the times of the results."""
        if self._interval is None:
            return np.zeros(0)
        first, last = math.floor(begin / self._interval), math.ceil(end / self._interval)
        times = np.arange(first, last + 1, dtype=np.float64) * self._interval
        inside: Array = times[(times > begin + close(begin)) & (times < end - close(end))]
        return inside

    def act(self, t: float, *, is_output: bool = True) -> None:
        """Calls the controller if the time t [s] is a sampling time, and sets what it returns."""
        if self._interval is None:
            if not is_output:
                return
        elif t < self._count * self._interval - close(t):
            return
        self._count += 1
        try:
            inputs = self._function(t, self._outputs)
            if inputs is None:
                return
            if not isinstance(inputs, Mapping):
                raise SolverError(f"it returns {inputs!r}, which is not a mapping. Return values by name, or None.")
            for name, value in inputs.items():
                self._check(name)
                self._solver.set(name, value)
        except FmumbsError as error:
            raise SolverError(f"control at t = {t:.9g} s: {error}") from error
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise SolverError(f"control failed at t = {t:.9g} s with {what}. Fix it.") from error

    def _check(self, name: str) -> None:
        if name in self._checked:
            return
        references = self._solver.references(name)
        if "output" in self._solver.image.variables.causalities(references):
            raise SolverError(f"'{name}' is not an input. Return values of inputs and tunable parameters.")
        for reference in references.tolist():
            if reference in self._given:
                raise SolverError(f"'{name}' is also given by inputs, as '{self._given[reference]}'. Leave one out.")
        self._checked.add(name)
        self._moving.add(name)


class Outputs(Mapping[str, Any]):
    """The present values of a Solver's variables by name, as Solver.get() gives them; it lists the outputs."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver

    def __getitem__(self, name: str) -> Any:
        return self._solver.get(name)

    def __iter__(self) -> Iterator[str]:
        variables = self._solver.image.variables
        return iter(variables.names(variables.outputs()))

    def __len__(self) -> int:
        return len(self._solver.image.variables.outputs())


def as_signal(name: str, value: Any) -> Signal | None:
    """The signal that an input is: a Signal, or a tuple (times, values) of two lists; None for another input."""
    if isinstance(value, Signal):
        return value
    try:
        if isinstance(value, tuple) and len(value) == 2 and all(_is_table(part) for part in value):
            return Signal(*value)
    except SolverError as error:
        raise SolverError(f"'{name}': {error}") from None
    return None


def _is_table(part: Any) -> bool:
    return isinstance(part, Sequence | np.ndarray) and not isinstance(part, str | bytes) and np.ndim(part) > 0


def _check_moving(solver: Solver, name: str) -> None:
    """Raises SolverError for a start value that is given over time."""
    if "output" in solver.image.variables.causalities(solver.references(name)):
        raise SolverError(f"'{name}' is a start value, which cannot be a function of time. Give a constant.")


def _check_interpolated(solver: Solver, name: str, signal: Signal) -> None:
    """Raises SolverError for a parameter with interpolation: only inputs have derivatives."""
    if signal.interpolation != "hold" and "parameter" in solver.image.variables.causalities(solver.references(name)):
        raise SolverError(
            f"'{name}' is a parameter, which is constant in a step and cannot be interpolated. "
            "Give a Signal with interpolation='hold'."
        )


def _interval(given: float, stop: float) -> float:
    try:
        interval = _checks.positive(given, "simulate: control_interval")
    except ModelError as error:
        raise SolverError(str(error)) from None
    if stop / interval > MOST_TIMES:
        raise SolverError(
            f"control every {interval:g} s until {stop:g} s exceeds {MOST_TIMES:.0e} calls. Choose a longer interval."
        )
    return interval


def _at(name: str, value: Any, t: float) -> float | Sequence[float]:
    try:
        found: float | Sequence[float] = value(t)
        return found
    except FmumbsError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise SolverError(f"the function for '{name}' failed at t = {t:g} s with {what}. Fix it.") from error
