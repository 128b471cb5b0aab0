"""What a Result knows beside its series: descriptions, the parameters of the run, and the motion for pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage
    from fmumbs.run.solver import Solver


@dataclass(frozen=True)
class Details:
    """By name: descriptions of variables and parameters, and the values and units of the parameters.

    A parameter has one value during the whole run; one that was moved, or recorded as a variable, is not among them.
    """

    descriptions: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    parameter_units: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        described = {name: text for name, text in self.descriptions.items() if text}
        object.__setattr__(self, "descriptions", described)


@dataclass(frozen=True)
class Motion:
    """Of a run: its image, and the positions of the tree (times, positions) as Solver.positions gives them."""

    image: ModelImage
    positions: NDArray[np.float64]


def details_later(solver: Solver, references: NDArray[np.uint32], moving: Iterable[str]) -> partial[Details]:
    """A function that returns the Details of a run; the parameters' values are read at once, all names when called.

    references: value references of the recorded variables. moving: names of what the run changes, as known at its end.
    """
    parameters = solver.image.variables.parameters(references)
    return partial(_details, solver.image, references, parameters, solver.read(parameters), moving)


def _details(
    image: ModelImage,
    references: NDArray[np.uint32],
    parameters: NDArray[np.uint32],
    values: NDArray[np.float64],
    moving: Iterable[str],
) -> Details:
    variables = image.variables
    kept = ~np.isin(parameters, [one for name in moving for one in variables.references(name)])
    parameters, values = parameters[kept], values[kept]
    names = variables.names(parameters)
    recorded = dict(zip(variables.names(references), variables.descriptions(references), strict=True))
    return Details(
        recorded | dict(zip(names, variables.descriptions(parameters), strict=True)),
        dict(zip(names, values.tolist(), strict=True)),
        dict(zip(names, variables.units(parameters), strict=True)),
    )
