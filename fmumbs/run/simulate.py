"""simulate: one run of a mechanism from its initial state."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs import _checks
from fmumbs.compiler import ModelImage, image_of
from fmumbs.compiler.layout import ffi, lib
from fmumbs.compiler.options import RunOptions, takes_options
from fmumbs.compiler.pulls import with_pulls
from fmumbs.compiler.starts import ask_if_degrees
from fmumbs.errors import CavitationWarning, ContactWarning, DeformationWarning, ModelError, SolverError, StartWarning
from fmumbs.mechanism import Model
from fmumbs.run.details import details_later
from fmumbs.run.moments import MOST_TIMES, Controller, Input, Moments
from fmumbs.run.result import Result
from fmumbs.run.rows import Rows
from fmumbs.run.solver import Solver
from fmumbs.run.start import start_warnings


@takes_options
def simulate(
    model: Model | ModelImage,
    *,
    stop: float | None = None,
    interval: float | None = None,
    times: ArrayLike | None = None,
    inputs: Mapping[str, Input] | None = None,
    control: Controller | None = None,
    control_interval: float | None = None,
    outputs: Sequence[str] | None = None,
    progress: Callable[[float], None] | None = None,
    **options: Unpack[RunOptions],
) -> Result:
    """Simulates a mechanism from 0 to `stop` [s] and records its outputs every `interval` [s], or at given times.

    times: (n,) [s], increasing and not negative, in place of `stop` and `interval`: the result has exactly these times.
        The run always begins at 0.
    inputs: by name, `{"A.tau": 0.05, "road.eta_in": fm.Signal(times, values, "cubic"), "L.force": (times, forces)}`:
        constants; a vector takes one number for each component. Also parameters and start values: `{"A.q": 0.3}`.
        tables: a Signal, or a tuple (times, values), which is linear between its times. Integration steps end at its
            times, so that the table is followed within the tolerance, whatever the interval.
        functions of time: evaluated at the start of each interval and held over it, which makes a staircase with an
            error of first order in the interval. For a smooth function give Signal.sample(function, times).
        Parameters that are tunable take functions, and signals with interpolation="hold".
        BODY.pull.force [N] and BODY.pull.torque [N.m] load any rigid body at the origin of its frame, in world axes,
        BODY.POINT.pull.force and .torque a flexible body at a named point.
    control: a function f(t, outputs) that returns inputs by name, or None to keep them. It is called at time 0 after
        assembly and every control_interval [s], by default at the times of the results; what it returns is held until
        the next call, as by a digital controller. outputs: a mapping with the value of any variable, `outputs["A.q"]`.
        At the time of a call, as at that of a jump of a table, results have the values after it.
    control_interval: sampling time of control [s].
    outputs: names of variables or vectors to record; None for every output.
    progress: called with the fraction done, 0 to 1.
    {options}

    Warns with a StartWarning if loops change given start values, and if it starts in an unstable equilibrium; with a
    DeformationWarning if a deformation leaves the linear range, a CavitationWarning if oil cavitates, and a
    ContactWarning if a fixed step misses a contact.
    Raises ModelError for a model that cannot be compiled, AssemblyError if assembly fails, SolverError for an unknown
    name, a refused value, or a step that fails; then the error has the `time` [s] and the `result` so far. Ctrl-C
    raises Interrupted, which has both, too.
    """
    given = _given(inputs)
    if progress is not None and not callable(progress):
        raise SolverError(f"simulate: progress is {_checks.shown(progress)}. Give a function of the fraction done.")
    image = with_pulls(image_of(model, **options), given)
    recorded = experiment_times(image, stop, interval) if times is None else given_times(times, stop, interval)
    unseen = int(recorded[0] > 0.0)  # a start that is not recorded
    points = np.concatenate([np.zeros(unseen), recorded])
    references = _chosen(image, outputs)
    names, units = image.variables.names(references), image.variables.units(references)
    solver = Solver(image)
    ask_if_degrees(image.name, image.variables, given)
    moments = Moments(solver, points, given, control, control_interval)
    moments.begin()
    for message in start_warnings(image.name, solver.start_changes, solver.departure):
        warnings.warn(message, StartWarning, stacklevel=2)
    rows = Rows(image.name, recorded, dict(zip(names, units, strict=True)))
    rows.follow(image, lambda: solver.positions)
    rows.details = details_later(solver, references, moments.moving)

    def present() -> tuple[float, NDArray[np.float64]]:
        moments.settle()
        return solver.time, solver.read(references)

    if not unseen:
        rows.add(solver.read(references))
    try:
        with rows.kept_if_it_fails(present):
            rows.fill(moments, references, progress)
    finally:
        if message := solver.deformation:
            warnings.warn(message, DeformationWarning, stacklevel=2)
        if message := solver.cavitation:
            warnings.warn(message, CavitationWarning, stacklevel=2)
        if message := solver.missed_contact:
            warnings.warn(message, ContactWarning, stacklevel=2)
    return rows.result()


def kind_of_warning(message: str, otherwise: type[UserWarning]) -> type[UserWarning]:
    """What a warning in the log of an FMU is in Python, by the words that the core begins such sentences with."""
    known = ((lib.FM_OIL_CAVITATES, CavitationWarning), (lib.FM_CONTACT_MISSED, ContactWarning))
    return next((kind for words, kind in known if ffi.string(words).decode() in message), otherwise)


def _describe_method() -> None:
    """Model.simulate, which a lower layer declares, has the arguments and the description of simulate()."""
    signature = inspect.signature(simulate)
    parameters = list(signature.parameters.values())[1:]
    of_model = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    Model.simulate.__signature__ = signature.replace(parameters=[of_model, *parameters])  # type: ignore[attr-defined]
    Model.simulate.__doc__ = simulate.__doc__


_describe_method()


def experiment_times(image: ModelImage, stop: float | None, interval: float | None) -> NDArray[np.float64]:
    """(n,) times [s] of the results; None: as in the image's default experiment. Raises SolverError."""
    given = image.default_experiment
    return times_of(_seconds(stop, given.stop, "stop"), _seconds(interval, given.interval, "interval"))


def given_times(times: ArrayLike, stop: float | None, interval: float | None) -> NDArray[np.float64]:
    """(n,) times [s] that the user chose. Raises SolverError unless they increase from 0 on."""
    if stop is not None or interval is not None:
        raise SolverError("simulate: times are given beside stop or interval. Give either times, or stop and interval.")
    try:
        found = np.array(times, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SolverError(
            f"simulate: times is {_checks.shown(times)}, which is not a list of numbers. Give times in s."
        ) from None
    if found.ndim != 1 or not 0 < len(found) <= MOST_TIMES:
        shape = " by ".join(map(str, found.shape)) or "a single number"
        raise SolverError(f"simulate: times are {shape}, but must be a list of 1 to {MOST_TIMES:.0e} times.")
    if not np.isfinite(found).all() or found[0] < 0.0:
        bad = found[~np.isfinite(found) | (found < 0.0)][0]
        raise SolverError(f"simulate: times have {bad:g} s, but a run begins at 0. Give finite times from 0 on.")
    if (np.diff(found) <= 0.0).any():
        k = int(np.flatnonzero(np.diff(found) <= 0.0)[0])
        raise SolverError(
            f"simulate: times do not increase from {found[k]:.9g} s to {found[k + 1]:.9g} s, at {k} and {k + 1}. "
            "Sort them, and leave out what is double."
        )
    return found


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
        raise SolverError(
            f"simulate: outputs is {_checks.shown(outputs)}, which is not a list of names. Give one such as ['A.q']."
        )
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
    for name in inputs or {}:
        if not isinstance(name, str):
            raise SolverError(f"simulate: inputs has {name!r}, which is not a name. Give one such as 'A.tau'.")
    return dict(inputs or {})
