"""A run that Python integrates, with the states and rates of Model Exchange: what fm.sensitivities differentiates.

Between two events the rates are smooth, as force laws keep their modes and paths their pieces. Steps are those of
Dormand and Prince's pair of order 5(4) with error control. Each ends at the next recorded time, knot of a signal, or
piece of a path, or where the first force law leaves its mode, found by halving. What the run was made of is kept in
order: `Step`, `Event`, and `Record` at recorded times, so that it can be gone through again, forwards or backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler import ModelImage
from fmumbs.compiler.continuous import continuous
from fmumbs.compiler.kinds import LAW
from fmumbs.compiler.layout import ffi, lib
from fmumbs.errors import SolverError
from fmumbs.run.coordinates import pointer
from fmumbs.run.feed import Feed, close, piece_of
from fmumbs.run.moments import Input, Moments, as_signal
from fmumbs.run.signal import Signal, taylor
from fmumbs.run.solver import Solver

Array = NDArray[np.float64]
References = NDArray[np.uint32]

_AT_END = 1e-9  # of its own unit: the margin of a law that is at the end of its mode
_AT_ONCE, _FLURRY = 1e-7, 100  # of the run: events closer than this; so many, and two a law, are without end
_LOOKS = 5  # within a step, for the least margin of a law
_SMALLEST = 1e-13  # of a step: where it is not halved any more


@dataclass(frozen=True, eq=False)
class Event:
    """At time t [s], at the end of the step from `began`, the state x went over to x_after. before, after: the instance
    there, as it was saved. laws: those that left their modes, whose instant depends on the motion.
    """

    began: float
    t: float
    x: Array
    x_after: Array
    before: bytes
    after: bytes
    laws: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Step:
    """From the state x at t by h [s], in the modes of the last event."""

    t: float
    h: float
    x: Array
    since: Event


@dataclass(frozen=True, eq=False)
class Record:
    """At the row-th recorded time [s]."""

    row: int
    t: float
    x: Array
    since: Event


Item = Record | Step | Event


class Host:
    """A Solver that is integrated from outside. given: as the inputs of simulate(), without functions of time."""

    def __init__(self, image: ModelImage, given: Mapping[str, Input]) -> None:
        for name, value in given.items():
            if callable(value) and not isinstance(value, Signal):
                raise SolverError(
                    f"sensitivities: '{name}' is a function of time, which simulate() makes a staircase of. Give "
                    "fm.Signal.sample(function, times)."
                )
        self.image, self.solver = image, Solver(image, derivatives=True)
        self._moments = Moments(self.solver, np.zeros(1), given)
        self._moments.begin()
        signals = {name: one for name, value in given.items() if (one := as_signal(name, value)) is not None}
        self._constants: dict[str, Any] = {name: value for name, value in given.items() if name not in signals}
        self._signals = [(self.solver.references(name), one) for name, one in signals.items()]
        self.following = {int(r) for references, _ in self._signals for r in references}
        self._feed = Feed(self.solver, signals, {name: self.solver.references(name) for name in signals})
        found = continuous(image)
        self.states, self.rates_of = (np.array(one, np.uint32) for one in (found.states, found.rates))
        self.nominal = np.array(found.nominals)
        self.laws, self._next, self.piece = found.indicators, np.inf, 0.0
        self.offsets: dict[int, float] = {}  # of inputs that follow a signal

    @cached_property
    def law_names(self) -> list[str]:
        return self.image.variables.structured.elements(LAW)

    # The instance --------------------------------------------------------------------------------------------------

    def start(self, moved: int, change: float) -> Array:
        """The state after assembly at time 0 with a change of one value, by its reference, that is given before."""
        self.solver = Solver(self.image)
        self.solver.set_all(self._constants)
        self._write(0.0, 0.0)
        at = np.array([moved], np.uint32)
        self.solver.write(at, self.solver.read(at) + change)
        self.solver.call(lib.fm_assemble, 0.0)  # without rules on several values, which an inertia may break
        self.update()
        return self.state()

    def state(self) -> Array:
        x = np.zeros(len(self.states))
        lib.fm_get_continuous(self.solver.instance, pointer(x))
        return x

    def update(self) -> None:
        """Updates the events at the present state, which may move onto the constraints."""
        events = ffi.new("fm_events *")
        self.solver.call(lib.fm_update_events, events)
        self._next = float(events.next)

    def load(self, saved: bytes, t: float) -> None:
        """Goes to an instance that was saved; signals are in the piece of the time t [s]."""
        self.solver.state_load(saved)
        self.piece = t

    def move(self, reference: int, change: float) -> None:
        """Adds to an input or a parameter."""
        if reference in self.following:
            self.offsets[reference] = self.offsets.get(reference, 0.0) + change
            return
        at = np.array([reference], np.uint32)
        self.solver.write(at, self.solver.read(at) + change)

    def go(self, t: float, x: Array) -> None:
        """To the state x at t [s], with signals in the piece in which the present step began."""
        self._write(t, self.piece)
        self.solver.call(lib.fm_set_continuous, t, pointer(np.ascontiguousarray(x)) if len(x) else ffi.NULL)

    def rates(self, t: float, x: Array) -> Array:
        self.go(t, x)
        found = np.zeros(len(x))
        if len(x):
            self.solver.call(lib.fm_continuous_rates, pointer(found))
        return found

    def indicators(self) -> Array:
        """(laws,) at the present state: negative where a law leaves its mode."""
        found = np.zeros(self.laws)
        if self.laws:
            self.solver.call(lib.fm_indicators, pointer(found))
        return found

    def _write(self, t: float, piece: float) -> None:
        for references, signal in self._signals:
            i = piece_of(signal.breaks, piece)
            values = taylor(signal.coefficients[i], max(t - float(signal.breaks[i]), 0.0), 0)[0]
            self.solver.write(references, values + [self.offsets.get(int(r), 0.0) for r in references])

    # Steps ---------------------------------------------------------------------------------------------------------

    def stages(self, step: Step, pair: Pair) -> tuple[list[Array], list[Array]]:
        """States of the stages and their rates."""
        states, rates = list[Array](), list[Array]()
        for a, c in zip(pair.A, pair.C, strict=True):
            states.append(step.x + step.h * sum((k * f for k, f in zip(a, rates, strict=False)), np.zeros(len(step.x))))
            rates.append(self.rates(step.t + c * step.h, states[-1]))
        return states, rates

    def run(self, times: Array, tolerance: float, progress: Callable[[float], None] | None) -> list[Item]:
        """From 0 through the recorded times [s]."""
        self.update()
        x, t, items = self.state(), 0.0, list[Item]()
        saved = self.solver.state_save()
        event = Event(0.0, 0.0, x, x, saved, saved, ())
        ends = np.concatenate([self._feed.stops(0.0, float(times[-1])), times])
        ends = np.unique(ends[ends > 0.0])
        pair, h, flurry = Pair(), 0.0, 0
        if times[0] == 0.0:
            items.append(Record(0, 0.0, x, event))
        row = len(items)
        while row < len(times):
            end = min(float(ends[np.searchsorted(ends, t + close(t), "right")]), self._next)
            h = h or self._first_step(t, x, end)
            step, x, h, laws = self._step(Step(t, min(h, end - t), x, event), pair, tolerance)
            items.append(step)
            t = end if step.h == end - step.t else step.t + step.h
            if laws or self._must_update(t, x, end):
                flurry = flurry + 1 if laws and t - event.t <= _AT_ONCE * times[-1] else 0
                event = self._event(step.t, t, x, laws)
                if flurry > _FLURRY + 2 * self.laws:
                    raise SolverError(
                        f"sensitivities: at t = {t:.9g} s force law '{self.law_names[event.laws[0]]}' leaves its modes "
                        "without end. Add damping, or end the run before."
                    )
                items.append(event)
                x = event.x_after
            if t + close(t) >= times[row]:
                items.append(Record(row, t, x, event))
                row += 1
                if progress is not None:
                    progress(row / len(times))
        return items

    def _must_update(self, t: float, x: Array, end: float) -> bool:
        """Completes a step; whether what is constant between events changes at its end."""
        asked = ffi.new("int32_t *")
        self.go(t, x)
        self.solver.call(lib.fm_completed_step, asked)
        knot = t == end and any(np.any(np.abs(signal.breaks - t) <= close(t)) for _, signal in self._signals)
        return bool(asked[0]) or t >= self._next or knot

    def _event(self, began: float, t: float, x: Array, laws: tuple[int, ...]) -> Event:
        self.go(t, x)
        before = self.solver.state_save()
        laws = laws or tuple(np.flatnonzero(self.indicators() < _AT_END).tolist())  # which a completed step may end
        self.piece = t
        self.go(t, x)  # signals after their jump
        self.update()
        return Event(began, t, x, self.state(), before, self.solver.state_save(), laws)

    def _first_step(self, t: float, x: Array, end: float) -> float:
        sizes = np.maximum(np.abs(x), self.nominal)
        fastest = float(np.abs(self.rates(t, x) / sizes).max(initial=0.0))
        return min(end - t, 0.01 / fastest) if fastest > 0.0 else end - t

    def _step(self, step: Step, pair: Pair, tolerance: float) -> tuple[Step, Array, float, tuple[int, ...]]:
        """The step that was taken, at most the one that is given; its end, the next step's length, laws that leave."""
        self.piece = step.t
        while True:
            try:
                end, error = self._trial(step, pair)
                size = tolerance * np.maximum(self.nominal, np.maximum(np.abs(step.x), np.abs(end)))
                ratio = float(np.sqrt(np.mean((error / size) ** 2))) if len(error) else 0.0
                laws = self._leaving(step, end) if ratio <= 1.0 else ()
                if ratio <= 1.0 and not laws and self._left_inside(step, end):
                    ratio = np.inf
            except SolverError:
                ratio = np.inf
                if not step.h * 0.25 > _SMALLEST * max(abs(step.t), step.h):
                    raise
            if not np.isfinite(ratio):
                step = Step(step.t, 0.25 * step.h, step.x, step.since)
            elif ratio > 1.0:
                step = Step(step.t, max(0.2, 0.9 * ratio**-0.2) * step.h, step.x, step.since)
            else:
                break
            if step.t + step.h == step.t:
                raise SolverError(
                    f"sensitivities: at t = {step.t:.9g} s the step size became too small for the tolerance "
                    f"{tolerance:g}. Give a larger tolerance."
                )
        following = step.h * (5.0 if ratio == 0.0 else min(5.0, max(0.2, 0.9 * ratio**-0.2)))
        if laws:
            step, end, laws = self._located(step, pair)
        return step, end, following, laws

    def _trial(self, step: Step, pair: Pair) -> tuple[Array, Array]:
        """The end of a step, and its error."""
        _, rates = self.stages(step, pair)
        end = step.x + step.h * sum((b * f for b, f in zip(pair.B, rates, strict=True)), np.zeros(len(step.x)))
        last = self.rates(step.t + step.h, end)
        return end, step.h * sum((e * f for e, f in zip(pair.E, [*rates, last], strict=True)), np.zeros(len(step.x)))

    def _leaving(self, step: Step, end: Array) -> tuple[int, ...]:
        self.go(step.t + step.h, end)
        return tuple(np.flatnonzero(self.indicators() < 0.0).tolist())

    def _left_inside(self, step: Step, end: Array) -> bool:
        """Whether a law has left within a step and come back: where its margin is least on the cubic of both ends."""
        from scipy.optimize import minimize_scalar  # late, as in Pair

        if not self.laws or step.h <= 1e-6 * max(abs(step.t), step.h):
            return False
        rates = self.rates(step.t, step.x), self.rates(step.t + step.h, end)

        def margins(part: float) -> Array:
            a, b = 1.0 - part, part
            bent = step.h * a * b * (a * rates[0] - b * rates[1])
            self.go(step.t + part * step.h, a * a * (a + 3 * b) * step.x + b * b * (b + 3 * a) * end + bent)
            return self.indicators()

        seen = np.array([margins(k / _LOOKS) for k in range(_LOOKS + 1)])
        if (seen[1:-1] < 0.0).any():
            return True
        least = (seen[1:-1] < seen[:-2]) & (seen[1:-1] < seen[2:])
        for k, law in np.argwhere(least).tolist():
            found = minimize_scalar(
                lambda part, law=law: margins(part)[law], bounds=(k / _LOOKS, (k + 2) / _LOOKS), method="bounded",
                options={"xatol": 1e-9},
            )  # fmt: skip
            if found.fun < 0.0:
                return True
        return False

    def _located(self, step: Step, pair: Pair) -> tuple[Step, Array, tuple[int, ...]]:
        """The step to where the first law leaves its mode, just behind that."""
        lower, upper = 0.0, step.h
        while upper - lower > _SMALLEST * max(step.h, abs(step.t)) and lower < 0.5 * (lower + upper) < upper:
            middle = 0.5 * (lower + upper)
            part = Step(step.t, middle, step.x, step.since)
            if self._leaving(part, self._trial(part, pair)[0]):
                upper = middle
            else:
                lower = middle
        found = Step(step.t, upper, step.x, step.since)
        end = self._trial(found, pair)[0]
        return found, end, self._leaving(found, end)


class Pair:
    """Dormand and Prince's pair: A, B, C of order 5 in six stages, E of the error with the rates at the end."""

    def __init__(self) -> None:
        from scipy.integrate import RK45  # late: of all who import fmumbs few need it

        self.A, self.B, self.C, self.E = (np.asarray(one) for one in (RK45.A, RK45.B, RK45.C, RK45.E))
