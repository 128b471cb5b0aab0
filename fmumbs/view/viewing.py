"""Views of models and results: the run, if there is one to do, and its page."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fmumbs.compiler import ModelImage
from fmumbs.compiler.kinds import LOAD
from fmumbs.compiler.names import Names
from fmumbs.errors import AssemblyError, FmumbsError, SolverError
from fmumbs.mechanism import Model
from fmumbs.run import Result, simulate
from fmumbs.run.details import Motion
from fmumbs.run.moments import Input
from fmumbs.run.simulate import experiment_times
from fmumbs.view.data import data_of
from fmumbs.view.live import declared_names
from fmumbs.view.motion import image_of, motion_of, structured
from fmumbs.view.page import View
from fmumbs.view.poses import start_positions

_AFFORDED = 4_000_000  # numbers that a run records, 32 MB; beyond that only what pictures need


def view_model(
    model: Model | ModelImage,
    *,
    stop: float | None = None,
    interval: float | None = None,
    inputs: Mapping[str, Input] | None = None,
    progress: Callable[[float], None] | None = None,
    other: Result | None = None,
    called: str | None = None,
    **options: Any,
) -> View:
    """Simulates a mechanism and shows its motion; stop=0 shows it at the start.

    other, called: a second result beside it, see view_result(). The other arguments are those of simulate(). A run that
    fails is shown as far as it came, and a mechanism whose loops do not close at its start values; then there is a
    warning, and the page says why.

    Raises ModelError for a model that cannot be compiled, and SolverError for an unknown name or a refused value.
    """
    image = image_of(model)
    inputs = {structured(model, name): value for name, value in (inputs or {}).items()}
    failure: FmumbsError | None = None
    try:
        span: dict[str, Any] = {"times": [0.0]} if stop == 0 else {"stop": stop, "interval": interval}
        outputs = _outputs(image, 1 if stop == 0 else len(experiment_times(image, stop, interval)))
        result = simulate(image, **span, inputs=inputs, outputs=outputs, progress=progress, **options)
    except AssemblyError as error:
        failure, result = error, _unassembled(image)
    except SolverError as error:
        if error.result is None:
            raise
        failure, result = error, error.result
    if failure is not None:
        warnings.warn(f"'{image.name}' is shown although {failure}", stacklevel=3)
    assert result.motion is not None
    beside = None if other is None else _beside(result, image, other, called)
    return _page(result, result.motion, failure, {"given": inputs, "declared": declared_names(model)}, beside)


def view_result(
    result: Result,
    model: Model | ModelImage | Result | None = None,
    other: Result | None = None,
    called: str | None = None,
) -> View:
    """Shows the motion of a result.

    model: of which the result is; needed unless simulate() made it. other: a second result, of the same model or of
    another one, which is drawn as a ghost, with its curves beside; also as the second argument. called: its name.
    Raises SolverError, naming them, if coordinates of joints are missing.
    """
    if isinstance(model, Result):
        model, other = None, model
    motion = motion_of(result, model)
    if other is None:
        return _page(result, motion, None)
    return _page(result, motion, None, other=_beside(result, motion.image, other, called))


def _beside(result: Result, image: ModelImage, other: Result, called: str | None) -> tuple[Result, Motion, str]:
    """A second result with its motion and name. image: of the first, whose coordinates it has if it knows no other."""
    motion = motion_of(other, None if other.motion is not None else image)
    return other, motion, called or (other.name if other.name != result.name else "the second result")


def _page(
    result: Result,
    motion: Motion,
    failure: FmumbsError | None,
    live: Mapping[str, Any] | None = None,
    other: tuple[Result, Motion, str] | None = None,
) -> View:
    if failure is None:
        note = ""
    elif isinstance(failure, AssemblyError):
        note = f"At its start values, which do not fit together: {failure}"
    else:
        note = f"The run ended at {result.time[-1]:g} s: {failure}"
    return View(motion.image.name, data_of(result, motion, note, live, other), failure)


def _outputs(image: ModelImage, times: int) -> list[str]:
    """Names to record: all outputs and the loads' forces; of large models the coordinates, and reaction forces."""
    variables = image.variables
    loads = [f"{name}.{what}" for name in Names(image.arrays).elements(LOAD) for what in ("force", "torque")]
    everything = variables.outputs()
    if len(everything) * times <= _AFFORDED:
        return variables.names(everything) + loads
    coordinates = variables.names(variables.positions())
    joints = [joint for joint in image.scene.joints if joint.symbols]
    room = max(0, _AFFORDED // times - len(coordinates)) // 3
    return coordinates + [f"{joint.name}.reaction.f" for joint in joints[:room]] + loads


def _unassembled(image: ModelImage) -> Result:
    """One instant: the start values, although loops are open."""
    return Result(image.name, np.zeros(1), {}, {}, motion=Motion(image, start_positions(image)[None]))
