"""Sensitivities of a run: derivatives of outputs over time with respect to parameters, inputs and start values.

With x' = f(t, x, p), y = g(t, x, p), X = dx/dp and the stages k of a step of the run (host_run.py), whose length stays
as it is,

    dk_i = f_x (X + h sum_j a_ij dk_j) + f_p,   X+ = X + h sum_i b_i dk_i,   dy/dp = g_x X + g_p,

where a law leaves its mode at m(x, p) = 0, the instant moves by dt = -(m_x X + m_p) / m', and

    X+ = X + (f- - f+) dt.

At an impact x+ = R(x, p) at that instant, and X+ = R_x (X + f- dt) + R_p - f+ dt, by extrapolated differences of the
core's jump along ways on which the stop stays touched.

The adjoint goes through the same steps backwards, with l = (dJ/dx)^T of J = sum w y at the end of each step,

    s_i = h (b_i l + sum_{j>i} a_ji f_x^T s_j),   l- = l + sum_i f_x^T s_i,   dJ/dp += sum_i f_p^T s_i.

Derivatives of the start, which assembly closes, are extrapolated differences (extrapolation.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs import _checks
from fmumbs.compiler import ModelImage, image_of
from fmumbs.compiler.layout import ffi, lib
from fmumbs.compiler.options import RunOptions
from fmumbs.errors import AssemblyError, ModelError, SolverError
from fmumbs.mechanism import Model
from fmumbs.run.coordinates import pointer
from fmumbs.run.extrapolation import extrapolated
from fmumbs.run.host_run import Event, Host, Item, Pair, Record, Step
from fmumbs.run.moments import Input
from fmumbs.run.simulate import experiment_times, given_times
from fmumbs.run.solver import Solver

Array = NDArray[np.float64]
References = NDArray[np.uint32]

_FIRST = 0.05  # step of differences, of the values
_SCALES = (1.0, 1e-3, 1e-6)  # of the first step, where values may not change by as much
_JUMP = 1e-9  # of the rates: what they may change by where laws leave their modes together
_AT_STOP = (1e-6, 1e-12)  # of the first step to where a stop is struck, or of the time in which states move: is there
_GRAZES = 1e-3  # of its own unit, in the time in which the states move: the rate of a margin that passes zero


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """A run and its derivatives, made by sensitivities().

    name: of the model. time: (n,) [s]. outputs, knowns: names; output_units, known_units: theirs. values: (n, outputs).
    switches: [s] instants at which force laws left their modes.
    _derivatives, _items: what both derivatives follow from.
    """

    name: str
    time: Array
    outputs: tuple[str, ...]
    knowns: tuple[str, ...]
    output_units: tuple[str, ...]
    known_units: tuple[str, ...]
    values: Array
    switches: tuple[float, ...]
    _derivatives: _Derivatives = field(repr=False)
    _items: list[Item] = field(repr=False)

    @cached_property
    def forward(self) -> Array:
        """(n, outputs, knowns) derivatives of each output at each time by each known, in their units."""
        return self._derivatives.forward(self._items, len(self.time))

    def adjoint(self, weights: ArrayLike) -> Array:
        """(knowns,) derivatives of the sum of weights * values.

        weights: (n, outputs), such as 2 (values - measured) of a sum of squares. Raises SolverError for another size.
        """
        given = np.asarray(weights, float)
        if given.shape != self.values.shape or not np.isfinite(given).all():
            size = " by ".join(map(str, given.shape))
            raise SolverError(
                f"Sensitivities: weights are {size}. Give finite numbers, times by outputs, {len(self.time)} by "
                f"{len(self.outputs)}."
            )
        return self._derivatives.adjoint(self._items, given)

    def __getitem__(self, names: tuple[str, str]) -> Array:
        """(n,) derivatives of one output by one known: s["A.q", "rod.mass"]."""
        if not isinstance(names, tuple) or len(names) != 2:
            raise SolverError(f"Sensitivities: {names!r:.60} is not an output and a known. Give s['A.q', 'rod.mass'].")
        places = []
        for name, known, what in zip(names, (self.outputs, self.knowns), ("output", "known"), strict=True):
            if name not in known:
                raise SolverError(f"Sensitivities: '{name}' is not among the {what}s. {_checks.nearest(name, known)}")
            places.append(known.index(name))
        return np.asarray(self.forward[:, places[0], places[1]])


def sensitivities(
    model: Model | ModelImage,
    outputs: Sequence[str],
    knowns: Sequence[str],
    *,
    stop: float | None = None,
    interval: float | None = None,
    times: ArrayLike | None = None,
    inputs: Mapping[str, Input] | None = None,
    progress: Callable[[float], None] | None = None,
    **options: Unpack[RunOptions],
) -> Sensitivities:
    """Derivatives of the outputs of a run by parameters, inputs and start values, forward and adjoint.

    model: a Model or a ModelImage. outputs: names of outputs or vectors.
    knowns: names of tunable parameters such as "rod.mass" and "A.damping", of
        inputs such as "A.tau" (by a constant that is added over the whole run), and of start values of states such as
        "A.q"; a vector means all its components. What assembly makes of the other start values moves with them.
    stop, interval, times, inputs: as of simulate(), without functions of time.
    progress: called with the fraction done.
    options: `tolerance`, and others of simulate() that do not say how to integrate: the run is integrated from outside,
        as by a tool with Model Exchange, with Dormand and Prince's pair of order 5; what is stiff takes many steps.

    Returns Sensitivities: `forward` is computed at its first use, at a cost that grows with the knowns;
    `adjoint(weights)` is the gradient of one sum over the run. The steps of the run stay as they are, so both are
    derivatives of the numbers that it has, and those of the motion within some tolerances. Where a force law leaves its
    mode or a stop with a restitution is struck, the instant moves with the knowns.

    Raises ModelError, AssemblyError and SolverError as simulate() does; SolverError also for what is no output or no
    known, and where there is no derivative: two laws that leave together and make rates jump, or stops that are struck
    together, or one that is grazed.
    """
    for name in ("scheme", "step"):
        if options.get(name) is not None:
            raise SolverError(
                f"sensitivities: {name} is given, but the run is integrated by Dormand and Prince's pair with error "
                f"control. Leave {name} out, and give tolerance=."
            )
    image = image_of(model, **options)
    recorded = experiment_times(image, stop, interval) if times is None else given_times(times, stop, interval)
    host = Host(image, dict(inputs or {}))
    chosen = [_chosen(host.solver, *one) for one in ((outputs, "outputs"), (knowns, "knowns"))]
    derivatives = _Derivatives(host, dict(inputs or {}), *chosen)
    items = host.run(recorded, float(host.solver.get("solver.tolerance")), progress)
    variables, y, p = image.variables, derivatives.outputs, derivatives.knowns
    return Sensitivities(
        image.name, recorded, tuple(variables.names(y)), tuple(variables.names(p)), tuple(variables.units(y)),
        tuple(variables.units(p)), derivatives.values(items, len(recorded)),
        tuple(item.t for item in items if isinstance(item, Event) and item.laws), derivatives, items,
    )  # fmt: skip


def _chosen(solver: Solver, names: Sequence[str], what: str) -> References:
    """References of names, each once. Raises SolverError for what has no derivative."""
    found: list[int] = []
    variables = solver.image.variables
    for name in _checks.names(names, f"sensitivities: {what}"):
        references = solver.references(name).tolist()
        wrong = [c for c in variables.causalities(references) if c != "output"] if what == "outputs" else []
        if wrong:
            raise SolverError(f"sensitivities: '{name}' is a {wrong[0]}, not an output. Name an output, such as 'A.q'.")
        found += references
    if not found:
        raise SolverError(f"sensitivities: there are no {what}. Give at least one name.")
    return np.array(list(dict.fromkeys(found)), np.uint32)


class _Derivatives:
    """Derivatives of one run of a host."""

    def __init__(self, host: Host, given: Mapping[str, Input], outputs: References, knowns: References) -> None:
        self.host, self.given, self.outputs, self.knowns = host, given, outputs, knowns
        self.pair = Pair()
        variables = host.image.variables
        starts = variables.states(knowns)
        for reference in knowns[~starts].tolist():
            if variables.causalities([reference])[0] == "output":
                raise SolverError(
                    f"sensitivities: '{variables.names([reference])[0]}' is computed from the states. Give knowns that "
                    "are inputs, tunable parameters or start values."
                )
        self.acting = np.flatnonzero(~starts)  # places of knowns that act during the run
        self._columns = np.concatenate([host.states, knowns[self.acting]]).astype(np.uint32)
        self._direction(outputs[:0], np.ones(len(self._columns)))  # refuses what is no known
        self._present: Event | None = None

    def values(self, items: list[Item], count: int) -> Array:
        """(count, outputs)."""
        found = np.zeros((count, len(self.outputs)))
        for item in items:
            if isinstance(item, Record):
                self._go(item.since, item.t, item.t, item.x)
                found[item.row] = self.host.solver.read(self.outputs)
        return found

    def forward(self, items: list[Item], count: int) -> Array:
        """(count, outputs, knowns)."""
        found = np.zeros((count, len(self.outputs), len(self.knowns)))
        X = self._start
        for item in items:
            if isinstance(item, Step):
                X = self._step(item, X)
            elif isinstance(item, Record):
                self._go(item.since, item.t, item.t, item.x)
                found[item.row] = self._along(self.outputs, X)
            elif (over := self._switch(item)) is not None:
                X, n = over[:, : len(X)] @ X, len(X)
                X[:, self.acting] += over[:, n:]
        return found

    def adjoint(self, items: list[Item], weights: Array) -> Array:
        """(knowns,)."""
        n, found = len(self.host.states), np.zeros(len(self.knowns))
        back = np.zeros(n)
        for item in reversed(items):
            if isinstance(item, Step):
                back, more = self._step_back(item, back)
                found[self.acting] += more
            elif isinstance(item, Record):
                self._go(item.since, item.t, item.t, item.x)
                whole = self._back(self.outputs, weights[item.row])
                back, found[self.acting] = back + whole[:n], found[self.acting] + whole[n:]
            elif (over := self._switch(item)) is not None:
                whole = back @ over
                back, found[self.acting] = whole[:n], found[self.acting] + whole[n:]
        return np.asarray(found + back @ self._start)

    # Steps ---------------------------------------------------------------------------------------------------------

    def _go(self, since: Event, began: float, t: float, x: Array) -> None:
        """To a state in the modes of an event, in a step that began at a time [s]."""
        if since is not self._present:
            self.host.load(since.after, began)
            self._present = since
        self.host.piece = began
        self.host.go(t, x)

    def _stages(self, step: Step) -> list[Array]:
        self._go(step.since, step.t, step.t, step.x)
        return self.host.stages(step, self.pair)[0]

    def _step(self, step: Step, X: Array) -> Array:
        turns = list[Array]()
        for x, a, c in zip(self._stages(step), self.pair.A, self.pair.C, strict=True):
            self.host.go(step.t + c * step.h, x)
            turns.append(self._along(self.host.rates_of, X + step.h * _sum(a, turns, X.shape)))
        return X + step.h * _sum(self.pair.B, turns, X.shape)

    def _step_back(self, step: Step, back: Array) -> tuple[Array, Array]:
        n, A = len(back), self.pair.A
        wholes: list[Array] = []  # of the last stage first
        for i, x in reversed(list(enumerate(self._stages(step)))):
            self.host.go(step.t + self.pair.C[i] * step.h, x)
            later = [(A[j, i], whole[:n]) for j, whole in zip(range(len(A) - 1, i, -1), wholes, strict=True)]
            seed = self.pair.B[i] * back + sum((a * one for a, one in later), np.zeros(n))
            wholes.append(self._back(self.host.rates_of, step.h * seed))
        total = sum(wholes, np.zeros(len(self._columns)))
        return back + total[:n], total[n:]

    def _direction(self, unknowns: References, seed: Array) -> Array:
        """(unknowns,) their derivatives along a direction of the states and the knowns that act."""
        found = np.zeros(len(unknowns))
        u, c = (ffi.from_buffer("uint32_t[]", one) for one in (unknowns, self._columns))
        self.host.solver.call(
            lib.fm_directional_derivative, u, len(unknowns), c, len(self._columns), pointer(seed), pointer(found)
        )
        return found

    def _along(self, unknowns: References, X: Array) -> Array:
        """(unknowns, knowns) f_x X + f_p."""
        acts = (self.acting[:, None] == np.arange(len(self.knowns))).astype(float)
        return np.array([self._direction(unknowns, seed) for seed in np.ascontiguousarray(np.vstack([X, acts]).T)]).T

    def _back(self, unknowns: References, seed: Array) -> Array:
        """(states + knowns that act,) the transposed Jacobian times a seed, by columns where there is no adjoint."""
        found = np.zeros(len(self._columns))
        if not seed.any():
            return found
        u, c = (ffi.from_buffer("uint32_t[]", one) for one in (unknowns, self._columns))
        into = u, len(unknowns), c, len(self._columns), pointer(np.ascontiguousarray(seed)), pointer(found)
        try:
            self.host.solver.call(lib.fm_adjoint_derivative, *into)
        except SolverError:
            return np.array([seed @ self._direction(unknowns, one) for one in np.eye(len(self._columns))])
        return found

    # Where laws leave their modes ----------------------------------------------------------------------------------

    def _switch(self, event: Event) -> Array | None:
        """(states, states + knowns that act) derivatives of the state after an event; None: it is that before."""
        if not event.laws:
            return None
        sizes = np.maximum(np.abs(event.x), self.host.nominal)
        self._return(event)
        lost = self.host.rates(event.t, event.x)
        self._present = None
        self._go(event, event.t, event.t, event.x_after)
        gained = self.host.rates(event.t, event.x_after)
        jump, fastest = lost - gained, float(np.abs([lost / sizes, gained / sizes]).max(initial=0.0))
        hard = self.host.image.arrays["law_hard"][list(event.laws)].any()
        struck = bool(hard and (np.abs(event.x_after - event.x) > _JUMP * sizes).any())
        if not struck and float(np.abs(jump / sizes).max(initial=0.0)) <= _JUMP * fastest:
            return None
        names = [self.host.law_names[law] for law in event.laws]
        if len(names) > 1:
            raise SolverError(
                f"sensitivities: at t = {event.t:.9g} s force laws leave their modes together: {', '.join(names)}. "
                "Which is first decides how the motion goes on, so it has no derivative. Move a start value a little."
            )
        passing = self._margin(event, lambda s: self.host.go(event.t + s, event.x + s * lost), 1.0 / fastest)
        if not abs(passing) > _GRAZES * fastest:
            raise SolverError(
                f"sensitivities: at t = {event.t:.9g} s force law '{names[0]}' only grazes the end of its mode, where "
                "the motion has no derivative. Move a start value a little."
            )
        ways = [(partial(self._shift, event, one), size) for one, size in zip(np.eye(len(sizes)), sizes, strict=True)]
        ways += [(partial(self._move, event, r), self._size(r)) for r in self.knowns[self.acting].tolist()]
        if struck:
            near = min(1.0, abs(passing) / fastest)  # what is struck slowly is moved little
            rates = lost, gained, passing, fastest
            return np.array([self._struck(event, move, near * size, *rates) for move, size in ways]).T
        instant = -np.array([self._margin(event, move, size) for move, size in ways]) / passing
        return np.asarray(np.eye(*(len(sizes), len(ways))) + np.outer(jump, instant))

    def _struck(
        self,
        event: Event,
        move: Callable[..., None],
        size: float,
        lost: Array,
        gained: Array,
        passing: float,
        fastest: float,
    ) -> Array:
        """(states,) the derivative of the state after an impact along a way that `move` goes."""
        law, places = event.laws[0], np.isin(self.host.states, self.host.image.variables.positions())

        def at(s: float, later: float) -> float:
            """Goes to what the motion is by a time later; the loops are closed there, as the core will do it."""
            self._return(event)
            move(s, later, lost)
            x = self.host.state()
            self.host.update()
            x[places] = self.host.state()[places]  # an impact leaves positions
            self._return(event)
            move(s, later, lost)
            self.host.go(event.t + later, x)
            return float(self.host.indicators()[law] - here)

        def after(s: float) -> Array:
            """The state behind the impact, back at the time of the one that the run has."""
            later, first, last = 0.0, None, np.inf
            while abs(change := at(s, later) / passing) < 0.5 * last:
                later, last = later - change, abs(change)
                first = last if first is None else first
            if not abs(change) <= max(_AT_STOP[0] * (first or 0.0), _AT_STOP[1] / fastest):
                raise SolverError("sensitivities: the stop is not reached along this way.")
            self.host.update()
            return self.host.state() - later * gained

        self._return(event)
        self.host.go(event.t, event.x)
        here = self.host.indicators()[law]
        found = _derivative(after, size)
        self._return(event)
        if found is None:
            raise SolverError(
                f"sensitivities: at t = {event.t:.9g} s the impact at '{self.host.law_names[law]}' cannot be moved to "
                "either side, so it has no derivative. Move a start value a little."
            )
        return found

    def _return(self, event: Event) -> None:
        """To the instance as it was before an event."""
        self.host.offsets.clear()
        self.host.load(event.before, event.began)
        self._present = None

    def _shift(self, event: Event, direction: Array, by: float, later: float = 0.0, rates: Array | float = 0.0) -> None:
        self.host.go(event.t + later, event.x + by * direction + later * rates)

    def _move(
        self, event: Event, reference: int, change: float, later: float = 0.0, rates: Array | float = 0.0
    ) -> None:
        self.host.move(reference, change)
        self.host.go(event.t + later, event.x + later * rates)

    def _margin(self, event: Event, move: Callable[[float], None], size: float) -> float:
        """The derivative of the indicator of the law that leaves, along a way that `move` goes."""

        def at(s: float) -> Array:
            self._return(event)
            move(s)
            return self.host.indicators()[list(event.laws)]

        found = _derivative(at, size)
        self._return(event)
        self.host.go(event.t, event.x)
        return np.nan if found is None else float(found[0])

    # The start -----------------------------------------------------------------------------------------------------

    @cached_property
    def _start(self) -> Array:
        """(states, knowns) derivatives of the state at the start."""
        host = Host(self.host.image, self.given)
        columns = []
        for reference in self.knowns.tolist():
            column = _derivative(partial(host.start, reference), self._size(reference))
            if column is None:
                name = host.image.variables.names([reference])[0]
                raise SolverError(
                    f"sensitivities: '{name}' cannot be moved to either side of its start. Move the start away from "
                    "a singular position."
                )
            columns.append(column)
        return np.array(columns).reshape(len(columns), -1).T

    def _size(self, reference: int) -> float:
        """By which a known is moved: its value, or, of zero, one."""
        at = np.array([reference], np.uint32)
        return abs(float(self.host.solver.read(at)[0])) or 1.0


def _sum(factors: Array, parts: list[Array], shape: tuple[int, ...]) -> Array:
    return sum((k * one for k, one in zip(factors, parts, strict=False)), np.zeros(shape))


def _derivative(function: Callable[[float], Array], size: float) -> Array | None:
    """(n,) at zero, by central differences or, at a bound of what may be given, to one side; None for none."""

    def between(a: float, b: float) -> Array | None:
        try:
            return np.asarray((function(b) - function(a)) / (b - a))
        except (AssemblyError, ModelError, SolverError):
            return None

    for behind, ahead in ((-1.0, 1.0), (0.0, 1.0), (-1.0, 0.0)):

        def way(h: float, behind: float = behind, ahead: float = ahead) -> Array | None:
            return between(behind * h, ahead * h)

        order = 2 if behind == -ahead else 1
        for first in (_FIRST * size * scale for scale in _SCALES):
            row = way(first)
            if row is None:
                continue
            found = row if not row.any() else extrapolated(way, first, order)[0]
            if len(found) == len(row):
                return found
    return None
