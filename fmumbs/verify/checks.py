"""Checks of an FMU by two runs that must give the same bits.

Each check yields a sentence for each problem. Checks that compare two different computations of a number are in
differences.py.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fmumbs.play.fmu import Fmu, Values
from fmumbs.verify.differences import Problems, some

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage

STEPS = 8  # communication steps that a check takes
LONGEST = 2 * STEPS  # no check takes more; an FMU that fails before is not checked further


def runs(fmu: Fmu) -> Problems:
    """It starts and steps, every value is finite, and a second instance computes the same values."""
    from fmpy.fmi1 import FMICallException

    with fmu.started(fmu.excitation()) as one, fmu.started(fmu.excitation()) as other:
        try:
            one.step(fmu.interval, LONGEST)
        except FMICallException as error:
            yield f"{error.function} from {one.time:g} s by {fmu.interval:g} s fails. {one.last_message}".strip()
            return
        other.step(fmu.interval, LONGEST)
        values = one.reals(fmu.readable)
        bad = [fmu.names[r] for r, v in zip(fmu.readable, values, strict=True) if not np.isfinite(v)]
        if bad:
            yield f"{some(bad)} not finite after {one.time:g} s"
        yield from _same(fmu, one.everything(), other.everything(), "of two instances in one process")
        values_read = one.slave.getBoolean(list(fmu.constants)) if fmu.constants else []
        if list(map(bool, values_read)) != list(fmu.constants.values()):
            yield "some Boolean constants differ from the description"


def starts_as_described(fmu: Fmu) -> Problems:
    """Start values of inputs, parameters, constants and exact outputs in description and binary are equal."""
    started = [v for v in fmu.description.modelVariables if v.start is not None and v.initial != "approx"]
    with fmu.instance() as one:
        one.begin()
        for kind, read in _READ.items():
            chosen = [v for v in started if v.type == kind]
            references = [v.valueReference for v in chosen]
            values = getattr(one.slave, f"get{kind}")(references) if references else []
            pairs = [(v.name, float(value), read(v.start)) for v, value in zip(chosen, values, strict=True)]
            wrong = [(name, a, b) for name, a, b in pairs if not abs(a - b) <= 1e-9 * max(1.0, abs(b))]
            if wrong:
                name, a, b = wrong[0]
                yield f"{some([w[0] for w in wrong])} from the binary and as described: '{name}' is {a:.9g} and {b:.9g}"


_READ: dict[str, Callable[[str], float]] = {
    "Real": float,
    "Integer": float,
    "Boolean": lambda text: float(text in ("true", "1")),
}


def stops_in_time(fmu: Fmu) -> Problems:
    """The default experiment is valid, and a step beyond the stop time of fmi2SetupExperiment is refused."""
    from fmpy.fmi1 import FMICallException

    if fmu.exchanges:
        return
    experiment = fmu.description.defaultExperiment
    if experiment is not None:
        start, stop = float(experiment.startTime or 0.0), experiment.stopTime
        if stop is not None and not start < float(stop) < np.inf:
            yield f"the default experiment goes from {start:g} s to {stop} s"
    with fmu.instance() as one:
        one.begin(stop=2.0 * fmu.interval)
        one.slave.exitInitializationMode()
        one.step(fmu.interval, 2)
        try:
            one.step(fmu.interval)
        except FMICallException:
            return
        yield f"a step from the stop time, {2.0 * fmu.interval:g} s, to {one.time:g} s is not refused"


def resets(fmu: Fmu) -> Problems:
    """fmi2Reset resets to the initial state, bit for bit."""
    with fmu.started(fmu.excitation()) as one:
        one.step(fmu.interval, STEPS)
        first = one.everything()
        one.slave.reset()
        one.start(fmu.excitation())
        one.step(fmu.interval, STEPS)
        yield from _same(fmu, first, one.everything(), "of a new instance and one that was reset")


def keeps_its_state(fmu: Fmu) -> Problems:
    """canGetAndSetFMUstate: from a restored state the run continues bit for bit."""
    if not fmu.abilities.canGetAndSetFMUstate:
        return
    with fmu.started(fmu.excitation()) as one:
        one.step(fmu.interval, STEPS // 2)
        state, time = one.slave.getFMUstate(), one.time
        one.step(fmu.interval, STEPS)
        first = one.everything()
        one.set(dict.fromkeys(fmu.movable, 0.5))
        one.slave.setFMUstate(state)
        one.time = time
        one.step(fmu.interval, STEPS)
        yield from _same(fmu, first, one.everything(), "before and after fmi2SetFMUstate")
        one.slave.freeFMUstate(state)


def serialises_its_state(fmu: Fmu) -> Problems:
    """canSerializeFMUstate: from the bytes another instance continues bit for bit."""
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
            yield "a deserialised state has other bytes when it is serialised again"
        other.slave.freeFMUstate(again)
        other.time = one.time
        one.step(fmu.interval, STEPS)
        other.step(fmu.interval, STEPS)
        yield from _same(fmu, one.everything(), other.everything(), "before and after serialisation")


def equals_the_solver(fmu: Fmu, image: "ModelImage") -> Problems:
    """The FMU and the Solver give the same values, bit for bit."""
    from fmumbs.run import Solver

    if fmu.exchanges:
        return
    solver = Solver(image)
    excitation = fmu.excitation()
    integers = {v.valueReference: v.name for v in fmu.description.modelVariables if v.type == "Integer"}
    table = [place for place, r in enumerate(fmu.readable) if r < len(image.variables)]  # without states of their own
    table += range(len(fmu.readable), len(fmu.readable) + len(fmu.integers))
    shown = [fmu.names[r] for r in fmu.readable if r < len(image.variables)] + [integers[r] for r in fmu.integers]
    names = [str(fmu.structured.get(name, name)) for name in shown]
    missing = [name for name in names if image.variables.find(name) is None]
    if missing:
        yield f"{some(missing)} not among the variables of the model"
        return
    for reference, value in excitation.items():
        solver.set(fmu.structured.get(fmu.names[reference], fmu.names[reference]), value)
    solver.assemble(0.0)
    with fmu.started(excitation) as one:
        for _ in range(STEPS):
            one.step(fmu.interval)
            solver.step(one.time)
            values = np.array([solver.get(name) for name in names], float)
            problems = list(_differing(shown, one.everything()[table], values, f"at {one.time:g} s in FMU and Solver"))
            if problems:
                yield from problems
                return


def _same(fmu: Fmu, a: Values, b: Values, what: str) -> Problems:
    """Yields a problem unless a and b, of Instance.everything(), have the same bits."""
    labels = [fmu.names[r] for r in fmu.readable] + [f"integer {r}" for r in fmu.integers]
    yield from _differing(labels, a, b, what)


def _differing(labels: list[str], a: Values, b: Values, what: str) -> Problems:
    differ = [label for label, x, y in zip(labels, a, b, strict=True) if x.tobytes() != y.tobytes()]
    if differ:
        worst = float(np.max(np.abs(a - b)))
        yield f"the bits {what} differ by up to {worst:.3g}: {some(differ)}"
