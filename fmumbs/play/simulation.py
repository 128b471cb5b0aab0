"""One simulation: of a model with the Solver, or of an FMU with FMPy, with the same Result.

Both follow inputs in the same steps (fmumbs/run/feed.py), so that a model and its FMU give the same numbers.
"""

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from fmumbs._tables import read_table
from fmumbs.compiler import compile
from fmumbs.compiler.options import OPTIONS, RunOptions, given
from fmumbs.compiler.options import settings_of as settings_by_name
from fmumbs.errors import DeformationWarning, InputWarning, SolverError, StartWarning
from fmumbs.play.unpacking import start_of
from fmumbs.run import Result, Signal, simulate
from fmumbs.run.details import Details
from fmumbs.run.feed import Feed
from fmumbs.run.moments import Input
from fmumbs.run.rows import Rows
from fmumbs.run.signal import Interpolation
from fmumbs.run.simulate import kind_of_warning, times_of

if TYPE_CHECKING:
    from fmumbs.mechanism import Model
    from fmumbs.play.fmu import Fmu, Instance

Array = NDArray[np.float64]
Progress = Callable[[float], None]
Series = dict[str, Signal]

MOST_INPUT = 2**28  # characters of a file of inputs

_POSITION = re.compile(r"[._]q(\[\d+\]|_\d+)?$")
_STATE = re.compile(r"[._](q|qd)(\[\d+\]|_\d+)?$")


@dataclass(frozen=True)
class Options:
    """What a run is; None for the default of the model or the FMU.

    stop, interval [s]; inputs: a CSV file with columns `time` and inputs by name; interpolation: between its rows,
    "linear", "cubic" or "hold", see Signal; run: options of simulate() by name, such as {"scheme": "radau"}.
    """

    stop: float | None = None
    interval: float | None = None
    inputs: str | os.PathLike[str] | None = None
    interpolation: Interpolation = "linear"
    run: RunOptions = field(default_factory=RunOptions)


@dataclass(frozen=True)
class Row:
    """Start, end, least and greatest value of a variable over a run."""

    name: str
    unit: str
    start: float
    end: float
    least: float
    greatest: float


def run_model(model: "Model", options: Options, *, progress: Progress | None = None) -> Result:
    """Simulates a model. Raises as simulate(), and SolverError for a file of inputs that cannot be read."""
    series = inputs_of(options)
    return simulate(
        model, stop=options.stop, interval=options.interval, inputs=series, progress=progress, **options.run
    )


def replay(model: "Model", path: "str | os.PathLike[str]", *, progress: Progress | None = None, **run: Any) -> Result:
    """Simulates a model as a page ran it live, bit for bit.

    path: the CSV file that the page saved, with a row for each of its steps. Its columns are `time` [s] and what was
        changed: inputs, parameters, and BODY.pull.force [N] and BODY.pull.torque [N.m], what the hand that pulled a
        body did at the origin of its frame, in world axes. The result has these rows, too.
    run: options of simulate(), those with which the page was made. progress: called with the fraction done, 0 to 1.

    Raises as simulate(), and SolverError for a file that cannot be read.
    """
    series = read_inputs(Path(path), "hold")
    times = next(iter(series.values())).times
    inputs: dict[str, Input] = {}
    for name, signal in series.items():
        values = np.asarray(signal.values)
        inputs[name] = signal if np.ptp(values) else float(values[0])  # a start value is constant
    image = compile(model, everything=True, **run)
    return simulate(image, times=times, inputs=inputs, progress=progress)


def settings_of(options: Options) -> dict[str, float]:
    """The parameters of an FMU for the integration and for keeping loops closed. Raises ModelError for values that an
    option cannot have, and SolverError for those that are fixed in an FMU.
    """
    for name, value in given(options.run).items():
        if kept := OPTIONS[name].kept:
            first = value if isinstance(value, str) else cast(Sequence[str], value)[0]
            raise SolverError(
                f"{name} {first!r}: an FMU keeps the {kept} that it was exported with. Export the model with "
                f"--{name} {first}."
            )
    values: dict[str, float] = {}
    for setting, numbers in settings_by_name("FMU", options.run).items():
        names = [setting] if len(numbers) == 1 else [f"{setting}[{i + 1}]" for i in range(len(numbers))]
        values |= zip(names, numbers, strict=True)
    return values


def run_fmu(
    path: "str | os.PathLike[str]",
    options: Options,
    settings: Mapping[str, Any] | None = None,
    *,
    progress: Progress | None = None,
) -> Result:
    """Simulates an FMI 2.0 FMU through FMPy: by Co-Simulation, or, if it is for Model Exchange alone, by CVODE.

    settings: start values and parameters by name. progress: called with the fraction done, 0 to 1. Raises ExportError
    for a file that is not an FMU, SolverError for an unknown name, for `dynamics`, which is fixed in an FMU, and, with
    the FMU's message, for a refused call.
    """
    from fmumbs.play.fmu import Fmu

    series = inputs_of(options)
    values = {**(settings or {}), **settings_of(options)}
    with Fmu(Path(path)) as fmu, fmu.instance() as one:
        if remark := not_followed(fmu, series):
            warnings.warn(remark, InputWarning, stacklevel=2)
        return _run(fmu, one, communication_points(fmu, options), values, series, progress)


def communication_points(fmu: "Fmu", options: Options) -> Array:
    """(n,) times [s] of the results: of the options, else of the FMU's default experiment."""
    experiment = fmu.description.defaultExperiment
    stop = options.stop or float(getattr(experiment, "stopTime", None) or 1.0)
    return times_of(stop, options.interval or fmu.interval)


def _run(
    fmu: "Fmu",
    one: "Instance",
    times: Array,
    settings: Mapping[str, Any],
    series: Series,
    progress: Progress | None,
) -> Result:
    outputs = [v for v in fmu.description.modelVariables if v.causality == "output" and v.type in READ]
    real = [v.valueReference for v in outputs if v.type == "Real"]
    whole = [v.valueReference for v in outputs if v.type == "Integer"]
    units = {v.name: v.unit or "" for kind in READ for v in outputs if v.type == kind}
    rows = Rows(fmu.description.modelName, times, units)
    run = moments(fmu, one, times, settings, series)

    def begin() -> None:
        next(run)
        rows.add(one.read(real, whole))

    def go_on() -> None:
        for i in run:
            rows.add(one.read(real, whole))
            if progress is not None:
                progress(i / (len(times) - 1))

    with rows.kept_if_it_fails(), failures(fmu, one):
        one.do(begin)
        rows.details = _details(fmu, outputs, settings, series)
        before = len(one.messages)
        for message in one.messages:
            warnings.warn(message, kind_of_warning(message, StartWarning), stacklevel=3)
        one.do(go_on)
        for message in one.messages[before:]:
            warnings.warn(message, kind_of_warning(message, DeformationWarning), stacklevel=3)
    return rows.result()


def _details(fmu: "Fmu", outputs: list[Any], settings: Mapping[str, Any], series: Series) -> Details:
    """Descriptions, and the parameters as they are exported or set, but for those that move."""
    parameters = [v for v in fmu.description.modelVariables if v.causality == "parameter" and v.type in READ]
    parameters = [v for v in parameters if v.name not in series]
    starts = {v.name: settings.get(v.name, start_of(v.type, v.start)) for v in parameters}
    return Details(
        {v.name: v.description or "" for v in (*outputs, *parameters)},
        {name: float(value) for name, value in starts.items() if isinstance(value, int | float)},
        {v.name: v.unit or "" for v in parameters if isinstance(starts[v.name], int | float)},
    )


def moments(fmu: "Fmu", one: "Instance", times: Array, settings: Mapping[str, Any], series: Series) -> Iterator[int]:
    """Initialises a new instance with these start values and parameters, and steps to (n,) times [s]; yields the index
    of each when it is there. Ends early when the instance is abandoned.
    """
    feed = _feed(fmu, one, series)
    one.slave.setupExperiment(startTime=0.0, tolerance=fmu.tolerance, stopTime=float(times[-1]))
    _apply(fmu, one, settings)
    one.slave.enterInitializationMode()
    feed.set(0.0)
    one.slave.exitInitializationMode()
    yield 0
    for i, (begin, end) in enumerate(pairwise(times.tolist()), 1):
        one.time = begin
        stops = feed.stops(begin, end).tolist() if fmu.varies_step else []
        for stop in (*stops, end):
            if one.abandoned:
                return
            feed.begin(one.time)
            one.step_to(stop)
            feed.set(stop)
        yield i


def _feed(fmu: "Fmu", one: "Instance", series: Series) -> Feed:
    """What gives an instance its inputs. Raises SolverError for a name that is no input, nor a tunable parameter that
    is constant between the rows.
    """
    references = {}
    for name, signal in series.items():
        tunable = getattr(fmu.variables.get(name), "variability", None) == "tunable"
        parameter = tunable and signal.interpolation == "hold"
        references[name] = np.array([fmu.reference(name, None if parameter else "input")], np.uint32)
    return Feed(one, series, references, derivatives=fmu.follows_inputs)


def not_followed(fmu: "Fmu", series: Series) -> str:
    """Why an FMU does not follow inputs as they are given, "" if it does."""
    smooth = any(signal.interpolation != "hold" for signal in series.values())
    if smooth and not fmu.follows_inputs:
        why = "canInterpolateInputs is false" if fmu.version == 2 else "FMI 3.0 has no derivatives of inputs"
        return (
            f"'{fmu.path}' cannot interpolate inputs ({why}): each keeps its value over a step. Choose a shorter "
            "interval."
        )
    if series and not fmu.varies_step:
        return (
            f"'{fmu.path}' takes steps of one size only, which cannot end at the times of the inputs. Choose an "
            "interval that divides these times."
        )
    return ""


@contextmanager
def failures(fmu: "Fmu", one: "Instance") -> Iterator[None]:
    """A status above fmi2Warning, for which FMPy raises Exception, becomes a SolverError with the FMU's message."""
    try:
        yield
    except (SolverError, StartWarning):
        raise
    except Exception as error:
        what = f"'{fmu.path}' stopped at {one.time:g} s"
        raise SolverError(f"{what}. {one.reason or error}") from error


READ = ("Real", "Integer")  # types of the variables that become columns


def _apply(fmu: "Fmu", one: "Instance", settings: Mapping[str, Any]) -> None:
    """Sets start values and parameters before initialisation."""
    for name, value in settings.items():
        reference = fmu.reference(name)
        if not isinstance(value, int | float):
            raise SolverError(f"'{name}' is set to {value!r}, which is not a number. Give a number.")
        if fmu.find(name).type == "Integer":
            if value != value // 1 or abs(value) >= 2**31:
                raise SolverError(f"'{name}' is set to {value!r}, but is an integer. Give a whole number.")
            one.slave.setInteger([reference], [int(value)])
        else:
            one.slave.setReal([reference], [float(value)])


def inputs_of(options: Options) -> Series:
    """The inputs over time of the options' file."""
    return {} if options.inputs is None else read_inputs(options.inputs, options.interpolation)


def read_inputs(path: str | os.PathLike[str], interpolation: Interpolation = "linear") -> Series:
    """Inputs over time, by name, from a CSV file whose first column is `time` [s].

    interpolation: between the rows, see Signal; two rows of one time are a jump. Raises SolverError, with the line,
    for a file that cannot be read.
    """
    try:
        table = read_table(Path(path), MOST_INPUT)
    except (OSError, ValueError) as error:
        raise SolverError(
            f"'{path}' cannot be read as inputs: {error}. Give a CSV file with a header 'time,NAME,...' and rows of as "
            "many numbers."
        ) from error
    names, rows = tuple(name.strip() for name in table.names), table.rows
    if names[:1] != ("time",) or len(names) < 2 or not len(rows):
        first = names[0] if names else ""
        raise SolverError(f"'{path}' begins with '{first}'. Give a header 'time,NAME,...' and rows.")
    if not np.all(np.isfinite(rows)):
        line = table.lines[~np.isfinite(rows).all(axis=1)][0]
        raise SolverError(f"'{path}', line {line}: all numbers must be finite. Fix this line.")
    if np.any(np.diff(rows[:, 0]) < 0.0):
        line = table.lines[1:][np.diff(rows[:, 0]) < 0.0][0]
        raise SolverError(f"'{path}', line {line}: times must not decrease. Sort the lines.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SolverError(f"'{path}' has two columns '{twice}'. Leave one out.")
    try:
        return {name: Signal(rows[:, 0], rows[:, k], interpolation) for k, name in enumerate(names) if k > 0}
    except SolverError as error:
        raise SolverError(f"'{path}': {error}") from None


def summary(result: Result) -> list[Row]:
    """Start, end, least and greatest value of the joints' positions and velocities, or else of all variables."""
    names = [name for name in result.names if _STATE.search(name)] or result.names
    rows = []
    for name in names:
        v = result[name]
        unit = result.units.get(name, "")
        rows.append(Row(name, unit, float(v[0]), float(v[-1]), float(v.min()), float(v.max())))
    return rows


def plot(result: Result, path: str | os.PathLike[str]) -> None:
    """Plots the joints' positions. Raises SolverError if matplotlib is missing."""
    names = [name for name in result.names if _POSITION.search(name)] or result.names
    result.plot(*names[:8], path=path)
