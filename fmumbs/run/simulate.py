"""simulate: one run of a mechanism from its initial state."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs.compiler import ModelImage, compile
from fmumbs.errors import FmumbsError, ModelError, SolverError, StartWarning
from fmumbs.mechanism import Model
from fmumbs.run.details import details_later
from fmumbs.run.result import Result
from fmumbs.run.rows import Rows
from fmumbs.run.solver import Solver
from fmumbs.run.start import describe

MOST_TIMES = 10**8

Input = float | Sequence[float] | Callable[[float], float | Sequence[float]]


def simulate(
    model: Model | ModelImage,
    *,
    stop: float | None = None,
    interval: float | None = None,
    inputs: Mapping[str, Input] | None = None,
    outputs: Sequence[str] | None = None,
    scheme: str | int | None = None,
    step: float | None = None,
    tolerance: float | None = None,
    correction: str | tuple[float, float] | None = None,
    closure: float | None = None,
    equilibrium: bool | None = None,
    dynamics: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Simulates a mechanism from 0 to `stop` [s] and records its outputs every `interval` [s].

    inputs: by name, constants or functions of time, which are evaluated at the start of each interval and held over
        it: `{"A.tau": 0.05, "L.force": lambda t: (0, 0, sin(t))}`. A vector takes one number for each component.
        Constants may also be parameters and start values, such as `{"A.q": 0.3}`; functions also tunable parameters.
    outputs: names of variables or vectors to record; None for every output.
    scheme, step [s], tolerance (relative) of the integration, correction, closure, equilibrium, dynamics: see
        ModelImage.with_options. None: as stored in the image.
    progress: called with the fraction done, 0 to 1.

    Warns with a StartWarning if loops change given start values.
    Raises ModelError for a model that cannot be compiled, AssemblyError if assembly fails, SolverError for an unknown
    name, a refused value, or a step that fails; then the error has the `time` [s] and the `result` so far. Ctrl-C
    raises Interrupted, which has both, too.
    """
    image = model if isinstance(model, ModelImage) else compile(model)
    chosen = (scheme, step, tolerance, correction, closure, equilibrium, dynamics)
    if any(option is not None for option in chosen):
        image = image.with_options(
            scheme=scheme, step=step, tolerance=tolerance, correction=correction, closure=closure,
            equilibrium=equilibrium, dynamics=dynamics,
        )  # fmt: skip
    times = experiment_times(image, stop, interval)
    references = _chosen(image, outputs)
    given = _given(inputs)
    solver = Solver(image)
    run = moments(solver, times, given)
    next(run)
    changes = solver.start_changes
    if changes:
        warnings.warn(describe(image.name, changes), StartWarning, stacklevel=2)
    names, units = image.variables.names(references), image.variables.units(references)
    rows = Rows(image.name, times, dict(zip(names, units, strict=True)))
    rows.follow(image, lambda: solver.positions)
    rows.add(solver.read(references))
    rows.details = details_later(solver, references, [name for name, value in given.items() if callable(value)])
    with rows.kept_if_it_fails(lambda: (solver.time, solver.read(references))):
        for i in run:
            rows.add(solver.read(references))
            if progress is not None:
                progress(i / (len(times) - 1))
    return rows.result()


def moments(solver: Solver, times: NDArray[np.float64], given: Mapping[str, Input]) -> Iterator[int]:
    """Starts a new Solver with these values and steps to (n,) times [s]; yields the index of each when it is there."""
    moving = {name: value for name, value in given.items() if callable(value)}
    _set(solver, given, 0.0)
    _check_moving(solver.image, moving)
    solver.assemble(0.0)
    yield 0
    for i in range(1, len(times)):
        _set(solver, moving, float(times[i - 1]))
        solver.step(float(times[i]))
        yield i


def experiment_times(image: ModelImage, stop: float | None, interval: float | None) -> NDArray[np.float64]:
    """(n,) times [s] of the results; None: as in the image's default experiment. Raises SolverError."""
    given = image.default_experiment
    return times_of(_seconds(stop, given.stop, "stop"), _seconds(interval, given.interval, "interval"))


def times_of(stop: float, interval: float) -> NDArray[np.float64]:
    """(n,) communication points [s]: every `interval` from 0, and `stop`, without a last interval of round-off size."""
    count = np.ceil(stop / interval - 1e-9)
    if count > MOST_TIMES:
        raise SolverError(
            f"results every {interval:g} s until {stop:g} s exceed {MOST_TIMES:.0e}. Choose a longer interval."
        )
    times = np.arange(max(1, int(count)) + 1, dtype=np.float64) * interval
    times[-1] = stop
    return times


def _seconds(given: float | None, default: float | None, what: str) -> float:
    try:
        return _checks.positive(default if given is None else given, f"simulate: {what}")
    except ModelError as error:
        raise SolverError(str(error)) from None


def _chosen(image: ModelImage, outputs: Sequence[str] | None) -> NDArray[np.uint32]:
    """Value references of the outputs to record."""
    variables = image.variables
    if outputs is None:
        return variables.outputs()
    if isinstance(outputs, str):
        raise SolverError(f"simulate: outputs is '{outputs}', which is not a list of names. Give ['{outputs}'].")
    if not isinstance(outputs, Iterable) or not all(isinstance(name, str) for name in outputs):
        raise SolverError(f"simulate: outputs is {outputs!r}, which is not a list of names. Give one such as ['A.q'].")
    found: list[int] = []
    for name in outputs:
        references = variables.references(name)
        if not references:
            raise SolverError(f"'{image.name}' {variables.unknown(name)}")
        found.extend(references)
    return np.array(list(dict.fromkeys(found)), dtype=np.uint32)


def _given(inputs: Mapping[str, Input] | None) -> dict[str, Input]:
    if inputs is not None and not isinstance(inputs, Mapping):
        raise SolverError("simulate: inputs is not a mapping. Give values by name, such as {'A.tau': 0.05}.")
    return dict(inputs or {})


def _check_moving(image: ModelImage, moving: Mapping[str, Input]) -> None:
    """Raises SolverError for a start value that is given as a function of time."""
    for name in moving:
        if "output" in image.variables.causalities(image.variables.references(name)):
            raise SolverError(f"'{name}' is a start value, which cannot be a function of time. Give a constant.")


def _set(solver: Solver, inputs: Mapping[str, Input], t: float) -> None:
    for name, value in inputs.items():
        solver.set(name, _at(name, value, t) if callable(value) else value)


def _at(name: str, value: Callable[[float], float | Sequence[float]], t: float) -> float | Sequence[float]:
    try:
        return value(t)
    except FmumbsError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise SolverError(f"the function for '{name}' failed at t = {t:g} s with {what}. Fix it.") from error
