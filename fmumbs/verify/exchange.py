"""Checks of an FMU by Model Exchange: each yields a sentence for each problem."""

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, c_double
from typing import Any

import numpy as np

from fmumbs.play.fmu import FINE, Fmu, Instance, Values
from fmumbs.verify.checks import STEPS
from fmumbs.verify.differences import NotCompared, Problems, settled, some

MOST_KNOWNS = 12  # states, and inputs, by which derivatives are taken
WIDEST, SIZES = 1e-2, 8  # the longest step of a difference, of a nominal value, and how many, each a quarter as long
NEAR = 1e-5  # of the largest change, that a run by Model Exchange may be off one by Co-Simulation
ROUND_OFF = 1e-8  # of the largest derivative by a known, that is no dependency
SAFETY = 4.0  # on the error that differences estimate


def answers_alike(fmu: Fmu) -> Problems:
    """States and their derivatives have one value each, by the functions for them and by reference."""
    with _moved(fmu) as one:
        for what, of, read in (
            ("states", _states(fmu), one.slave.getContinuousStates),
            ("derivatives", _rates(fmu), one.slave.getDerivatives),
        ):
            values = _array(read, len(of))
            off = np.abs(one.reals(of) - values) > 1e-9 * (np.abs(values) + np.max(np.abs(values), initial=0.0))
            wrong = [fmu.names[r] for r, bad in zip(of, off, strict=True) if bad]
            if wrong:
                yield f"{some(wrong)}: fmi2GetReal and the function for {what} differ"


def differentiates(fmu: Fmu) -> Problems:
    """Derivatives of the states' rates and the outputs by states and inputs against differences; every dependency."""
    if not fmu.abilities.providesDirectionalDerivative:
        return
    states, rates = _states(fmu), _rates(fmu)
    unknowns = list(dict.fromkeys([*rates, *fmu.outputs]))
    declared = _declared(fmu)
    with _moved(fmu) as one:
        x = _array(one.slave.getContinuousStates, len(states))
        nominals = _array(one.slave.getNominalsOfContinuousStates, len(states))
        inputs = dict(zip(fmu.inputs, one.reals(fmu.inputs), strict=True))
        sizes = dict(zip(states, nominals, strict=True)) | {r: max(1.0, abs(v)) for r, v in inputs.items()}
        for known in (*_some(states), *_some(fmu.inputs)):
            exact = np.array(one.slave.getDirectionalDerivative(unknowns, [known], [1.0]))
            steps = WIDEST * sizes[known] * 0.25 ** np.arange(SIZES)

            def at(move: float, known: int = known) -> Values:
                if known in inputs:
                    one.slave.model.setReal([known], [inputs[known] + move])
                else:
                    _place(one, np.where(np.array(states) == known, x + move, x))
                return one.reals(unknowns)

            found = [(at(step) - at(-step)) / (2.0 * step) for step in steps]
            at(0.0)
            difference, error = settled(np.array(found), steps)
            bound = 1e-5 * np.abs(difference) + SAFETY * error + ROUND_OFF * np.max(np.abs(exact), initial=0.0)
            off = ~(np.abs(exact - difference) <= bound) & (error <= 0.05 * np.fmax(np.abs(exact), np.abs(difference)))
            wrong = [fmu.names[r] for r, bad in zip(unknowns, off, strict=True) if bad]
            if wrong:
                yield f"{some(wrong)} by '{fmu.names[known]}', from fmi2GetDirectionalDerivative and by differences"
            depends = np.abs(exact) > ROUND_OFF * np.max(np.abs(exact), initial=0.0)
            missing = [
                fmu.names[r]
                for r, does in zip(unknowns, depends, strict=True)
                if does and known not in declared.get(r, {known})
            ]
            if missing:
                yield f"{some(missing)} by '{fmu.names[known]}', against the declared dependencies"


def moves_alike(fmu: Fmu) -> Problems:
    """A run by Model Exchange comes to where one by Co-Simulation does, if the FMU is for both."""
    if fmu.description.coSimulation is None:
        return
    values = fmu.excitation()
    with Fmu(fmu.path) as simulated, simulated.started(values, FINE) as other, fmu.started(values, FINE) as one:
        start = other.reals(fmu.outputs)
        other.step(fmu.interval, STEPS)
        try:
            one.step(fmu.interval, STEPS)
        except RuntimeError as error:  # CVODE's; the FMU's refusals are another
            yield NotCompared(f"CVODE does not come to {STEPS * fmu.interval:g} s: {error}")
            return
        a, b = one.reals(fmu.outputs), other.reals(fmu.outputs)
    bound = NEAR * (np.abs(b) + np.abs(b - start) + 1e-3 * np.max(np.abs(b), initial=0.0))
    wrong = [fmu.names[r] for r, bad in zip(fmu.outputs, ~(np.abs(a - b) <= bound), strict=True) if bad]
    if wrong:
        yield NotCompared(f"{some(wrong)} after {one.time:g} s by Model Exchange and by Co-Simulation")
    states = [k for k, r in enumerate(fmu.outputs) if r in set(_states(fmu))]
    scale = np.max(np.abs(b[states]), initial=1e-3)
    if len(states) and not np.max(np.abs(a[states] - b[states])) <= 1e3 * NEAR * scale:
        yield f"states after {one.time:g} s by Model Exchange and by Co-Simulation differ by more than {NEAR:g}"


@contextmanager
def _moved(fmu: Fmu) -> Iterator[Instance]:
    """An instance after some steps; at its start, if CVODE does not come through them."""
    with fmu.started(fmu.excitation()) as one:
        try:
            one.step(fmu.interval, STEPS)
            one.slave.event(one.time)  # dependencies are those of closed loops
        except RuntimeError:
            one.slave.reset()
            one.start(fmu.excitation())
        yield one


def _states(fmu: Fmu) -> list[int]:
    """References of the states, in the order of their derivatives."""
    return [u.variable.derivative.valueReference for u in fmu.description.derivatives]


def _rates(fmu: Fmu) -> list[int]:
    return [u.variable.valueReference for u in fmu.description.derivatives]


def _declared(fmu: Fmu) -> dict[int, set[int]]:
    """The knowns on which outputs and derivatives depend, of those that list them."""
    unknowns = (*fmu.description.derivatives, *fmu.description.outputs)
    return {
        u.variable.valueReference: {v.valueReference for v in u.dependencies}
        for u in unknowns
        if u.dependencies is not None
    }


def _array(read: Any, count: int) -> Values:
    values = np.zeros(count)
    if count:
        read(values.ctypes.data_as(POINTER(c_double)), count)
    return values


def _place(one: Instance, x: Values) -> None:
    at = np.ascontiguousarray(x, float)
    one.slave.setContinuousStates(at.ctypes.data_as(POINTER(c_double)), len(at))


def _some(references: list[int]) -> list[int]:
    return references[:: max(1, len(references) // MOST_KNOWNS)]
