"""Checks of an FMU by two different computations of a number.

The allowed difference is estimated from the numbers: a run is repeated with a coarser integration, and the step of a
finite difference is halved until two neighbours agree. No estimate uses the distance between the two numbers. If the
estimate of an output is too large for a decision, the output is not judged, and the check yields a NotCompared.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fmumbs.play.fmu import COARSE, FINE, Fmu, Instance, Resolution, Values

STEPS = 8  # communication steps before derivatives are compared
MOST_INPUTS = 24  # number of inputs that are checked one by one
SAFETY = 10.0  # factor from an error estimate to the bound
ROUND_OFF = 1e-6  # of a signal's change over the longest step, at most: what else is in it is motion
HALVINGS = 14  # of the step of a time difference: down to 1/32768 of the communication interval
GRADING = 3  # exponent of the times of the parts with constant inputs, from the end
ORDERS = (1, 2, 3)  # of input derivatives, all of which an FMU with a model image supports


class NotCompared(str):
    """A sentence about something that could not be judged."""


Problems = Iterator[str]


def varies_the_step(fmu: Fmu) -> Problems:
    """canHandleVariableCommunicationStepSize: the same results with other communication points."""
    if not fmu.varies_step:
        return
    even, uneven = (1.0, 1.0, 1.0, 1.0), (0.25, 1.5, 0.125, 2.125)
    a, path = _after(fmu, even, FINE)
    b, _ = _after(fmu, uneven, FINE)
    moved = np.maximum(np.abs(a - _after(fmu, even, COARSE)[0]), _moved(b, _after(fmu, uneven, COARSE)[0]))
    error = SAFETY * moved
    bound = 1e-6 * _scale(a) + error
    clear = error <= 0.1 * np.ptp(path, axis=0) + 1e-6 * _scale(a)
    yield from _near(fmu, fmu.outputs, a, b, bound, "with even and uneven communication steps", clear)


def differentiates_by_inputs(fmu: Fmu) -> Problems:
    """Compares directional derivatives and declared dependencies with central differences."""
    if fmu.exchanges or not fmu.abilities.providesDirectionalDerivative or not fmu.movable or not fmu.outputs:
        return  # by Model Exchange exchange.py does it, for states too
    depends = _dependencies(fmu)
    with fmu.started(fmu.excitation()) as one:
        one.step(fmu.interval, STEPS)
        values = fmu.excitation()
        chosen = fmu.movable[:: max(1, len(fmu.movable) // MOST_INPUTS)]
        each = np.array([one.slave.getDirectionalDerivative(fmu.outputs, [known], [1.0]) for known in chosen])
        loudest = np.zeros(len(fmu.outputs))
        for known, exact in zip(chosen, each, strict=True):
            difference, error, noise = _by_input(one, values, known)
            loudest = np.maximum(loudest, noise)
            bound = 1e-6 * np.abs(difference) + np.maximum(error, noise)
            clear = error <= np.maximum(0.05 * np.fmax(np.abs(exact), np.abs(difference)), noise)
            where = f"by '{fmu.names[known]}', from fmi2GetDirectionalDerivative and by differences"
            yield from _near(fmu, fmu.outputs, exact, difference, bound, where, clear)
            wrong = [
                fmu.names[unknown]
                for unknown, slope, off in zip(fmu.outputs, difference, np.maximum(error, noise), strict=True)
                if abs(slope) > off and known not in depends.get(unknown, fmu.inputs)
            ]
            if wrong:
                yield f"{some(wrong)} by '{fmu.names[known]}', against the declared dependencies"
        seed = np.linspace(-1.0, 1.0, len(chosen))
        together = np.array(one.slave.getDirectionalDerivative(fmu.outputs, chosen, list(seed)))
        size = np.abs(seed) @ np.abs(each)
        bound = 1e-9 * size + 1e-12 * np.fmax.reduce(size) + loudest  # the last two matter if terms cancel
        yield from _near(fmu, fmu.outputs, together, seed @ each, bound, "along all inputs and summed over each")


def follows_input_derivatives(fmu: Fmu) -> Problems:
    """canInterpolateInputs: compares a polynomial input in one step with many steps with constant inputs."""
    if not fmu.follows_inputs or not fmu.inputs or not fmu.outputs:
        return
    for order in ORDERS:
        values = fmu.excitation()
        slope = {r: 5.0 * v / fmu.interval**order for r, v in values.items()}
        with fmu.started(values, FINE) as one, fmu.started(values, FINE) as held:
            refusal = _refusal(one, order, slope)
            if refusal:
                yield refusal
                return
            one.step(fmu.interval)
            held.step(fmu.interval)
            end = _polynomial(values, slope, order, fmu.interval)
            one.set(end)
            held.set(end)
            a, c = one.reals(fmu.outputs), held.reals(fmu.outputs)
        fine, coarse = _sampled(fmu, values, slope, order, 100, FINE), _sampled(fmu, values, slope, order, 50, COARSE)
        # the error of inputs that are constant over each part is of second order in the number of parts
        error, effect = SAFETY * np.abs(fine - coarse), np.abs(c - fine)
        bound = 1e-8 * _scale(fine) + 1e-3 * effect + error
        clear = error <= 0.2 * effect + 1e-6 * _scale(fine)
        yield from _near(fmu, fmu.outputs, a, fine, bound, f"with input derivatives of order {order}", clear)


def differentiates_by_time(fmu: Fmu) -> Problems:
    """maxOutputDerivativeOrder: against declared derivatives, and against differences on both sides of a time."""
    if not int(getattr(fmu.abilities, "maxOutputDerivativeOrder", None) or 0) or not fmu.outputs:
        return
    with fmu.started(fmu.excitation(), FINE) as one, fmu.started(fmu.excitation(), COARSE) as other:
        one.step(fmu.interval, STEPS)
        other.step(fmu.interval, STEPS)
        yield from _declared(fmu, one)
        answered, values = one.output_derivatives(fmu.outputs), one.reals(fmu.outputs)
        moved = _moved(answered, other.output_derivatives(fmu.outputs))
    vectors = [fmu.structured.get(fmu.names[r], "").partition("[")[0] for r in fmu.outputs]
    difference, error = settled(*_by_time(fmu, FINE))
    coarse, _ = settled(*_by_time(fmu, COARSE))  # the dense output's own error is in every difference
    # derivatives along the flow have the errors of the states, times the cube of the frequency of a fast mode
    error = SAFETY * (error + np.abs(difference - coarse) + _largest(vectors, moved))
    slope, value = _largest(vectors, np.abs(difference)), _largest(vectors, _scale(values))
    # where large forces cancel, what is left is as exact as they are
    bound = error + 1e-3 * slope + 1e-4 * value + 1e-6 * _largest([fmu.units[r] for r in fmu.outputs], slope)
    clear = error <= np.maximum(0.05 * np.fmax(slope, np.abs(answered)), 1e-3 * value)
    yield from _near(fmu, fmu.outputs, answered, difference, bound, "by time, answered and by differences", clear)


def settled(estimates: Values, steps: Values) -> tuple[Values, Values]:
    """The best of the estimates with decreasing steps, and its estimated error.

    estimates: (steps, n); steps: (steps,), at least three. Returns (n,) and (n,). A long step has a truncation error,
    or misses a fast oscillation; a short one has round-off, which the shortest steps show. The error of an estimate is
    therefore its distance from the one before it, and from every later one minus their round-off. What the shortest
    steps show is no round-off if it is more than ROUND_OFF of the signal's change: it is too fast for all but them, or
    for them too, and may then change by as much within the shortest step.
    """
    with np.errstate(invalid="ignore"):
        apart = np.abs(estimates[:, None] - estimates)  # (steps, steps, n)
        apart[~np.isfinite(apart)] = np.inf
        neighbours = np.array([apart[k, k + 1] for k in range(len(steps) - 1)])
        shortest = (neighbours * steps[1:, None])[-5:]
        shortest[:-2][~np.isfinite(shortest[:-2])] = 0.0  # ignore steps without finite values
        noise = np.max(shortest, axis=0)
        change = np.max(np.nan_to_num(np.abs(estimates) * steps[:, None], nan=0.0, posinf=0.0), axis=0)
        round_off = noise / steps[:, None]
        beyond = np.nan_to_num(apart - 4.0 * round_off, nan=np.inf, posinf=np.inf)
    later = np.array([np.max(beyond[k, k + 1 :], axis=0) for k in range(1, len(steps) - 1)])
    error = np.maximum(np.maximum(neighbours[:-1], later), round_off[1:-1])
    error = np.maximum(error, np.where(noise > ROUND_OFF * change, noise / steps[-1], 0.0))
    best, column = np.argmin(error, axis=0), np.arange(estimates.shape[1])
    return estimates[best + 1, column], error[best, column]


def _moved(fine: Values, coarse: Values) -> Values:
    """(n,) changes of values with the resolution; 0 if one is not finite, which no resolution excuses."""
    change = np.abs(fine - coarse)
    return np.where(np.isfinite(change), change, 0.0)


def _after(fmu: Fmu, parts: Sequence[float], resolution: Resolution) -> tuple[Values, Values]:
    """(outputs,) after communication steps of these parts of the interval, and (points, outputs) at all points."""
    with fmu.started(fmu.excitation(), resolution) as one:
        path = [one.reals(fmu.outputs)]
        for part in parts:
            one.step(part * fmu.interval)
            path.append(one.reals(fmu.outputs))
    return path[-1], np.array(path)


def _by_time(fmu: Fmu, resolution: Resolution) -> tuple[Values, Values]:
    """(steps, outputs) central differences by time after STEPS intervals, and (steps,) their steps; from one run."""
    widths = np.array([fmu.interval / 2.0**k for k in range(1, HALVINGS + 2)])
    rows = []
    with fmu.started(fmu.excitation(), resolution) as one:
        one.step(fmu.interval, STEPS - 1)
        middle = one.time + fmu.interval
        for offset in (*-widths, *widths[::-1]):
            one.step_to(middle + offset)
            rows.append(one.reals(fmu.outputs))
    low, high = np.split(np.array(rows), 2)
    central: Values = (high[::-1] - low) / (2.0 * widths[:, None])
    return central, widths


def _by_input(one: Instance, values: dict[int, float], known: int) -> tuple[Values, Values, Values]:
    """Central difference of the outputs by an input, its likely error, and what round-off makes of the widest one.

    Accelerations and reactions are linear in the inputs, piece by piece: widths are reduced until both sides lie on
    one piece. What inverse dynamics gives is not linear in positions and velocities, nor tensions of ropes in their
    lengths: widths are small at once.
    """
    outputs = one.fmu.outputs
    small = one.fmu.is_inverse or one.fmu.lengths[known] != 0.0
    widest = 0.02 if small else max(1.0, abs(values[known]))
    widths = np.array([widest / 4.0**k for k in range(8)])
    found: list[Values] = []
    for count, width in enumerate(widths, 1):
        one.set({known: values[known] + width})
        high = one.reals(outputs)
        one.set({known: values[known] - width})
        low = one.reals(outputs)
        found.append((high - low) / (2.0 * width))
        if count == 1:  # 1e-10: round-off of a long chain's accelerations, relative to the largest of them
            noise = 1e-10 * (np.abs(high) + np.abs(low) + np.max(np.abs(high)) * 1e-2) / width
        if count >= 3:
            difference, error = settled(np.array(found), widths[:count])
            if np.all(SAFETY * error <= 4.0**2 * noise):  # round-off alone of the third
                break
    one.set({known: values[known]})
    return difference, SAFETY * error, noise


def _refusal(one: Instance, order: int, slope: dict[int, float]) -> str:
    """Sets the inputs' derivatives; returns the problem if that is refused, else ""."""
    from fmpy.fmi1 import FMICallException

    inputs = one.fmu.inputs
    try:
        one.slave.setRealInputDerivatives(inputs, [order] * len(inputs), list(slope.values()))
    except FMICallException as error:
        problem = f"fmi2SetRealInputDerivatives refuses order {order}. {one.last_message}".strip()
        promised = order == 1 or one.fmu.has_image or error.status not in (DISCARD, ERROR)
        return problem if promised else NotCompared(f"{problem} The standard leaves that open.")
    return ""


DISCARD, ERROR = 2, 3  # fmi2Status


def _polynomial(values: dict[int, float], slope: dict[int, float], order: int, t: float) -> dict[int, float]:
    factor = t**order / (1.0, 1.0, 2.0, 6.0)[order]
    return {reference: value + factor * slope[reference] for reference, value in values.items()}


def _sampled(
    fmu: Fmu, values: dict[int, float], slope: dict[int, float], order: int, parts: int, resolution: Resolution
) -> Values:
    """(outputs,) after one interval in parts, with inputs constant at the value at each part's midpoint.

    The parts become shorter towards the end: fast modes, which forget the rest, then see inputs without steps as well.
    In equal parts longer than their time scale they come to rest, but a steady change of the inputs keeps them moving.
    """
    times = fmu.interval * (1.0 - (1.0 - np.arange(parts + 1) / parts) ** GRADING)
    with fmu.started(values, resolution) as one:
        for begin, end in pairwise(times):
            one.set(_polynomial(values, slope, order, (begin + end) / 2.0))
            one.step_to(float(end))
        one.set(_polynomial(values, slope, order, fmu.interval))
        return one.reals(fmu.outputs)


def _declared(fmu: Fmu, one: Instance) -> Problems:
    """Compares output derivatives with the variables that are declared as these derivatives."""
    declared = {
        v.derivative.valueReference: v.valueReference
        for v in fmu.description.modelVariables
        if v.derivative is not None and v.derivative.valueReference in fmu.outputs
    }
    states = list(declared)
    if states:
        exact = one.reals(list(declared.values()))
        got, bound = one.output_derivatives(states), 1e-12 * _scale(exact)
        yield from _near(fmu, states, got, exact, bound, "and the declared derivative")


def _dependencies(fmu: Fmu) -> dict[int, set[int]]:
    """The declared inputs of each output with a list of dependencies."""
    declared: dict[int, set[int]] = {}
    for unknown in fmu.description.outputs:
        listed: list[Any] | None = unknown.dependencies
        if listed is not None:
            declared[unknown.variable.valueReference] = {v.valueReference for v in listed}
    return declared


def _near(
    fmu: Fmu, references: list[int], a: Values, b: Values, bound: Values, what: str, clear: Any = True
) -> Problems:
    """Tells where a and b differ by more than the bound. clear: (references,) where that is small enough to judge."""
    off = ~(np.abs(a - b) <= bound) & clear
    if np.any(off):
        names = [fmu.names[r] for r, bad in zip(references, off, strict=True) if bad]
        k = int(np.argmax(np.where(off, np.abs(a - b) / (bound + 1e-300), 0.0)))
        yield f"{some(names)} {what}: '{fmu.names[references[k]]}' is {a[k]:.9g} and {b[k]:.9g}"
    if not np.all(clear):
        names = [fmu.names[r] for r, seen in zip(references, np.atleast_1d(clear), strict=True) if not seen]
        yield NotCompared(f"{some(names)} {what}: the integration does not resolve them well enough to tell")


def _largest(groups: list[str], sizes: Values) -> Values:
    """(n,) for each of n sizes the largest in its group."""
    group = np.unique(groups, return_inverse=True)[1]
    largest = np.zeros(len(sizes))
    np.fmax.at(largest, group, sizes)
    return largest[group]


def _scale(values: Values) -> Values:
    """(n,) scales of deviations: the magnitude of each value, at least 1."""
    return np.maximum(np.abs(values), 1.0)


def some(names: list[str]) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(f"'{name}'" for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
