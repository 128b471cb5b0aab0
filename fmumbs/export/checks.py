"""What an FMU declares, tried out: each check is a generator of sentences, one for each thing that is wrong.

A check that compares two runs of the same calls wants the same bits. Where two ways of computing one number
are compared, the tolerance is that of the coarser way and named beside it.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fmumbs.export.probe import Fmu, Instance, Values

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage

Problems = Iterator[str]

STEPS = 8  # communication steps that a check takes
FINE = 1e-10  # relative tolerance of the integration where a finite difference is the yardstick
MOST_INPUTS = 24  # as many inputs are tried one by one


def runs(fmu: Fmu) -> Problems:
    """It starts, steps, and every value is finite; what it computes, a second instance computes again."""
    with fmu.started(fmu.excitation()) as one, fmu.started(fmu.excitation()) as other:
        for _ in range(STEPS):
            one.step(fmu.interval)
            other.step(fmu.interval)
        values = one.reals(fmu.readable)
        bad = [fmu.names[r] for r, v in zip(fmu.readable, values, strict=True) if not np.isfinite(v)]
        if bad:
            yield f"{_some(bad)} not finite after {one.time:g} s"
        yield from _same(fmu, one.everything(), other.everything(), "of two instances in one process")
        told = one.slave.getBoolean(list(fmu.constants)) if fmu.constants else []
        if list(map(bool, told)) != list(fmu.constants.values()):
            yield "some Boolean constants are not what the description says"


def resets(fmu: Fmu) -> Problems:
    """fmi2Reset gives the bits of a new instance."""
    with fmu.started(fmu.excitation()) as one:
        one.step(fmu.interval, STEPS)
        first = one.everything()
        one.slave.reset()
        one.start(fmu.excitation())
        one.step(fmu.interval, STEPS)
        yield from _same(fmu, first, one.everything(), "of a new instance and one that was reset")


def varies_the_step(fmu: Fmu) -> Problems:
    """canHandleVariableCommunicationStepSize: other communication points, the same results."""
    if not fmu.abilities.canHandleVariableCommunicationStepSize:
        return
    with fmu.started(fmu.excitation(), FINE) as even, fmu.started(fmu.excitation(), FINE) as uneven:
        even.step(fmu.interval, 4)
        for part in (0.25, 1.5, 0.125, 2.125):
            uneven.step(part * fmu.interval)
        a, b = even.reals(fmu.outputs), uneven.reals(fmu.outputs)
        # 1e-6: the error of the coarsest fixed-step scheme in sensible use
        yield from _near(fmu, fmu.outputs, a, b, 1e-6 * _scale(a), "with even and uneven communication steps")


def keeps_its_state(fmu: Fmu) -> Problems:
    """canGetAndSetFMUstate: the run goes on bit for bit from where the state was taken."""
    if not fmu.abilities.canGetAndSetFMUstate:
        return
    with fmu.started(fmu.excitation()) as one:
        one.step(fmu.interval, STEPS // 2)
        state, time = one.slave.getFMUstate(), one.time
        one.step(fmu.interval, STEPS)
        first = one.everything()
        one.set(dict.fromkeys(fmu.inputs, 0.5))
        one.slave.setFMUstate(state)
        one.time = time
        one.step(fmu.interval, STEPS)
        yield from _same(fmu, first, one.everything(), "before and after fmi2SetFMUstate")
        one.slave.freeFMUstate(state)


def serialises_its_state(fmu: Fmu) -> Problems:
    """canSerializeFMUstate: another instance goes on bit for bit from the bytes."""
    if not fmu.abilities.canSerializeFMUstate:
        return
    with fmu.started(fmu.excitation()) as one, fmu.started() as other:
        one.step(fmu.interval, STEPS // 2)
        state = one.slave.getFMUstate()
        data = one.slave.serializeFMUstate(state)
        one.slave.freeFMUstate(state)
        again = other.slave.deSerializeFMUstate(data)
        other.slave.setFMUstate(again)
        if other.slave.serializeFMUstate(again) != data:
            yield "a state that was read from bytes has other bytes"
        other.slave.freeFMUstate(again)
        other.time = one.time
        one.step(fmu.interval, STEPS)
        other.step(fmu.interval, STEPS)
        yield from _same(fmu, one.everything(), other.everything(), "before and after serialisation")


def differentiates_by_inputs(fmu: Fmu) -> Problems:
    """Directional derivatives and the declared dependencies, against central differences."""
    if not fmu.abilities.providesDirectionalDerivative or not fmu.inputs or not fmu.outputs:
        return
    depends = _dependencies(fmu)
    with fmu.started(fmu.excitation()) as one:
        one.step(fmu.interval, STEPS)
        values = fmu.excitation()
        chosen = fmu.inputs[:: max(1, len(fmu.inputs) // MOST_INPUTS)]
        for known in chosen:
            exact = np.array(one.slave.getDirectionalDerivative(fmu.outputs, [known], [1.0]))
            difference, noise = _difference(one, values, known)
            # the accelerations of a mechanism are linear in its inputs, so that only round-off is left
            where = f"by '{fmu.names[known]}', from fmi2GetDirectionalDerivative and by differences"
            yield from _near(fmu, fmu.outputs, exact, difference, 1e-6 * np.abs(exact) + noise, where)
            wrong = [
                fmu.names[unknown]
                for unknown, slope, error in zip(fmu.outputs, difference, noise, strict=True)
                if abs(slope) > error and known not in depends.get(unknown, fmu.inputs)
            ]
            if wrong:
                yield f"{_some(wrong)} by '{fmu.names[known]}', against the declared dependencies"
        seed = np.linspace(-1.0, 1.0, len(chosen))
        each = [one.slave.getDirectionalDerivative(fmu.outputs, [known], [1.0]) for known in chosen]
        together = np.array(one.slave.getDirectionalDerivative(fmu.outputs, chosen, list(seed)))
        total = seed @ np.array(each)
        size = np.abs(seed) @ np.abs(np.array(each))
        bound = 1e-9 * size + 1e-12 * np.max(size)  # the second where terms cancel
        yield from _near(fmu, fmu.outputs, together, total, bound, "along all inputs and summed over each")


def follows_input_derivatives(fmu: Fmu) -> Problems:
    """canInterpolateInputs: a polynomial input in one step, against many steps with held inputs."""
    if not fmu.abilities.canInterpolateInputs or not fmu.inputs or not fmu.outputs:
        return
    for order in (1, 2, 3):
        values = fmu.excitation()
        slope = {r: 5.0 * v / fmu.interval**order for r, v in values.items()}
        with fmu.started(values, FINE) as one, fmu.started(values, FINE) as held:
            try:
                one.slave.setRealInputDerivatives(fmu.inputs, [order] * len(fmu.inputs), list(slope.values()))
            except Exception:
                if order == 1:
                    yield f"fmi2SetRealInputDerivatives refuses order 1. {one.last_message}"
                return  # the standard leaves higher orders open
            one.step(fmu.interval)
            held.step(fmu.interval)
            fine = _sampled(fmu, values, slope, order)
            end = _polynomial(values, slope, order, fmu.interval)
            one.set(end)
            held.set(end)
            a, c = one.reals(fmu.outputs), held.reals(fmu.outputs)
            # midpoint sampling errs by 1e-4 of what the inputs' change does in the step
            bound = 1e-2 * np.abs(c - fine) + 1e-8 * _scale(fine)
            yield from _near(fmu, fmu.outputs, a, fine, bound, f"with input derivatives of order {order}")


def differentiates_by_time(fmu: Fmu) -> Problems:
    """maxOutputDerivativeOrder: against differences over a short step, and against declared derivatives."""
    if not int(fmu.abilities.maxOutputDerivativeOrder or 0) or not fmu.outputs:
        return
    first = [1] * len(fmu.outputs)
    with fmu.started(fmu.excitation(), FINE) as one:
        one.step(fmu.interval, STEPS)
        short = fmu.interval / 64.0
        before, slope = (
            one.reals(fmu.outputs),
            np.array(one.slave.getRealOutputDerivatives(fmu.outputs, first)),
        )
        declared = {
            v.derivative.valueReference: v.valueReference
            for v in fmu.description.modelVariables
            if v.derivative is not None and v.derivative.valueReference in fmu.outputs
        }
        states = list(declared)
        if states:
            exact = one.reals(list(declared.values()))
            got = np.array(one.slave.getRealOutputDerivatives(states, [1] * len(states)))
            yield from _near(fmu, states, got, exact, 1e-12 * _scale(exact), "and the declared derivative")
        one.step(short)
        after = np.array(one.slave.getRealOutputDerivatives(fmu.outputs, first))
        difference = (one.reals(fmu.outputs) - before) / short
        mean = 0.5 * (slope + after)
        # the trapezoidal rule errs by (short)^2 / 12 of the third derivative: a small part of the slope's own change
        bound = 1e-3 * np.maximum(_scale(mean), _scale(before)) + 1e-2 * np.abs(after - slope)
        yield from _near(fmu, fmu.outputs, mean, difference, bound, "by time, answered and by differences")


def equals_the_solver(fmu: Fmu, image: "ModelImage") -> Problems:
    """The FMU's numbers are the Solver's, bit for bit."""
    from fmumbs.run import Solver

    solver = Solver(image)
    excitation = fmu.excitation()
    integers = {v.valueReference: v.name for v in fmu.description.modelVariables if v.type == "Integer"}
    names = [fmu.names[r] for r in fmu.readable] + [integers[r] for r in fmu.integers]
    missing = [name for name in names if image.variables.find(name) is None]
    if missing:
        yield f"{_some(missing)} not among the variables of the model"
        return
    for reference, value in excitation.items():
        solver.set(fmu.names[reference], value)
    solver.assemble(0.0)
    with fmu.started(excitation) as one:
        for _ in range(STEPS):
            one.step(fmu.interval)
            solver.step(one.time)
            values = np.array([solver.get(name) for name in names], float)
            problems = list(_same(fmu, one.everything(), values, f"at {one.time:g} s in FMU and Solver"))
            if problems:
                yield from problems
                return


def _difference(one: Instance, values: dict[int, float], known: int) -> tuple[Values, Values]:
    """Central difference of the outputs by an input, and what round-off may make of it."""
    fmu = one.fmu
    width = max(1.0, abs(values[known]))
    one.set({known: values[known] + width})
    high = one.reals(fmu.outputs)
    one.set({known: values[known] - width})
    low = one.reals(fmu.outputs)
    one.set({known: values[known]})
    # 1e-10: round-off of a long chain's accelerations, relative to the largest of them
    noise = 1e-10 * (np.abs(high) + np.abs(low) + np.max(np.abs(high)) * 1e-2) / width
    return (high - low) / (2.0 * width), noise


def _polynomial(values: dict[int, float], slope: dict[int, float], order: int, t: float) -> dict[int, float]:
    factor = t**order / (1.0, 1.0, 2.0, 6.0)[order]
    return {reference: value + factor * slope[reference] for reference, value in values.items()}


def _sampled(fmu: Fmu, values: dict[int, float], slope: dict[int, float], order: int) -> Values:
    """(outputs,) after one interval in 100 parts, each with its inputs held at the part's midpoint."""
    parts = 100
    with fmu.started(values, FINE) as one:
        part = fmu.interval / parts
        for k in range(parts):
            one.set(_polynomial(values, slope, order, (k + 0.5) * part))
            one.step(part)
        one.set(_polynomial(values, slope, order, fmu.interval))
        return one.reals(fmu.outputs)


def _dependencies(fmu: Fmu) -> dict[int, set[int]]:
    """The declared inputs of each output that names any."""
    declared: dict[int, set[int]] = {}
    for unknown in fmu.description.outputs:
        listed: list[Any] | None = unknown.dependencies
        if listed is not None:
            declared[unknown.variable.valueReference] = {v.valueReference for v in listed}
    return declared


def _same(fmu: Fmu, a: Values, b: Values, what: str) -> Problems:
    """Equal bits, where a and b are Instance.everything()."""
    labels = [fmu.names[r] for r in fmu.readable] + [f"integer {r}" for r in fmu.integers]
    differ = [label for label, x, y in zip(labels, a, b, strict=True) if x.tobytes() != y.tobytes()]
    if differ:
        worst = float(np.max(np.abs(a - b)))
        yield f"the bits {what} differ by up to {worst:.3g}: {_some(differ)}"


def _near(fmu: Fmu, references: list[int], a: Values, b: Values, bound: Values, what: str) -> Problems:
    off = ~(np.abs(a - b) <= bound)
    if np.any(off):
        names = [fmu.names[r] for r, bad in zip(references, off, strict=True) if bad]
        k = int(np.argmax(np.where(off, np.abs(a - b) / (bound + 1e-300), 0.0)))
        yield f"{_some(names)} {what}: '{fmu.names[references[k]]}' is {a[k]:.9g} and {b[k]:.9g}"


def _scale(values: Values) -> Values:
    """What a deviation is measured by: each value, and 1 for the small ones."""
    return np.maximum(np.abs(values), 1.0)


def _some(names: list[str]) -> str:
    """The first few names, and how many more."""
    shown = ", ".join(f"'{name}'" for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
