"""The motion of a mechanism: from a run, or from the joints' coordinates in a result that was read from a file."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler import ModelImage, compile
from fmumbs.compiler.kinds import all_variables
from fmumbs.compiler.layout import counted, pack
from fmumbs.compiler.names import split_component
from fmumbs.errors import SolverError
from fmumbs.mechanism import Model
from fmumbs.run import Result
from fmumbs.run.details import Motion

Array = NDArray[np.float64]

_LARGEST = float(np.finfo(np.float32).max)  # pages and pictures have single precision
_NAMED = 3  # missing coordinates that a message names


def image_of(model: "Model | ModelImage") -> ModelImage:
    """The image with all variables, also of an image that shows declared variables only."""
    if isinstance(model, Model):
        return compile(model, everything=True)
    arrays = model.arrays | all_variables(model.arrays)
    return ModelImage(pack(counted(arrays), arrays))


def structured(model: "Model | ModelImage", name: str) -> str:
    """The name of a variable in image_of() that a model or image shows under this name, perhaps a declared one."""
    if isinstance(model, Model):
        return next((variable.target for variable in model.declared if variable.name == name), name)
    variables, arrays = model.variables, model.arrays
    places = [
        tuple(int(arrays[f"variable_{column}"][i]) for column in ("kind", "object", "component"))
        for i in variables.references(name)
    ]
    if not places:
        return name
    full = [variables.structured.name(*place) for place in places]
    return full[0] if variables.is_scalar(name) else split_component(full[0])[0]


def motion_of(result: Result, model: "Model | ModelImage | None" = None) -> Motion:
    """The image and the positions of all joints; by the joints' coordinates in a result that has only those.

    model: of which the result is; needed unless simulate() made the result. Raises SolverError for a result that lacks
    coordinates, or has some that are no finite numbers.
    """
    if model is None:
        if result.motion is None:
            raise SolverError(
                f"the result of '{result.name}' does not know its mechanism, since it was not made by simulate(). "
                "Give its model: result.view(model), or fmumbs view FILE --model MODEL."
            )
        return result.motion
    image = image_of(model)
    return Motion(image, positions_of(result, image))


def drawable(result: Result, name: str) -> Array:
    """A variable of a result over time. Raises SolverError, with the time, for a number that no picture can show."""
    values: Array = result[name]
    bad = np.flatnonzero(~(np.abs(values.reshape(len(result.time), -1)) <= _LARGEST).all(axis=1))
    if len(bad):
        worst = next(float(x) for x in np.atleast_1d(values[bad[0]]).flat if not abs(x) <= _LARGEST)
        raise SolverError(
            f"'{name}' is {worst:g} at {result.time[bad[0]]:.9g} s, which cannot be drawn. "
            "Leave that time out of the result, or find out where the number came from."
        )
    return values


def positions_of(result: Result, image: ModelImage) -> Array:
    """(times, positions) of the tree by the names of coordinates. Raises SolverError if some are missing."""
    names = image.variables.names(image.variables.positions())
    missing = [name for name in names if name not in result.names]
    if missing:
        rest = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        raise SolverError(
            f"the result of '{result.name}' has no coordinates {', '.join(missing[:_NAMED])}{rest} of '{image.name}', "
            "so its bodies cannot be placed. Record them: simulate(compile(model, everything=True)), or view the model "
            "or the FMU itself."
        )
    columns: list[Any] = [drawable(result, name) for name in names]
    return np.stack(columns, axis=1) if columns else np.zeros((len(result.time), 0))
