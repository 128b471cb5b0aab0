"""simulate: one run of a mechanism from its start."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler import ModelImage, compile
from fmumbs.errors import SolverError
from fmumbs.mechanism import Model
from fmumbs.run.result import Result
from fmumbs.run.solver import Solver

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
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Runs a mechanism from 0 to `stop` [s] and keeps its outputs every `interval` [s].

    inputs: constants, or functions of time that are held over each interval; parameters and start values too.
    outputs: names to keep, None for every output. scheme "dopri5" or "rk4", step [s], relative tolerance.
    progress: called with the share done, 0 to 1.
    """
    image = model if isinstance(model, ModelImage) else compile(model)
    if scheme is not None or step is not None or tolerance is not None:
        image = image.with_options(scheme=scheme, step=step, tolerance=tolerance)
    stop = image.default_experiment.stop if stop is None else stop
    interval = image.default_experiment.interval if interval is None else interval
    if stop is None or interval is None or not (0 < stop < np.inf and 0 < interval < np.inf):
        raise SolverError(f"cannot simulate to {stop} s every {interval} s: both must be positive. Give others.")
    solver = Solver(image)
    times = times_of(stop, interval)
    names, references = _chosen(image, outputs)
    values = np.empty((len(times), len(names)))
    given = dict(inputs or {})
    _set(solver, given, 0.0)
    solver.assemble(0.0)
    values[0] = solver.read(references)
    moving = {name: value for name, value in given.items() if callable(value)}
    for i in range(1, len(times)):
        _set(solver, moving, float(times[i - 1]))
        solver.step(float(times[i]))
        values[i] = solver.read(references)
        if progress is not None:
            progress(i / (len(times) - 1))
    units = {name: image.variables[int(r)].unit for name, r in zip(names, references, strict=True)}
    columns = {name: np.ascontiguousarray(values[:, i]) for i, name in enumerate(names)}
    return Result(image.name, times, columns, units)


def times_of(stop: float, interval: float) -> NDArray[np.float64]:
    count = int(np.ceil(stop / interval - 1e-9))
    times = np.arange(count + 1, dtype=np.float64) * interval
    times[-1] = stop
    return times


def _chosen(image: ModelImage, outputs: Sequence[str] | None) -> tuple[list[str], NDArray[np.uint32]]:
    variables = image.variables
    if outputs is None:
        found = [v.index for v in variables if v.causality == "output"]
    else:
        found = []
        for name in outputs:
            references = variables.references(name)
            if not references:
                raise SolverError(f"'{image.name}' has no variable '{name}'. 'fmumbs info' lists them.")
            found.extend(references)
    return [variables.name(i) for i in found], np.array(found, dtype=np.uint32)


def _set(solver: Solver, inputs: Mapping[str, Input], t: float) -> None:
    for name, value in inputs.items():
        solver.set(name, value(t) if callable(value) else value)
