"""Declared inputs, outputs and parameters of a model, and its default experiment."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from fmumbs import _checks
from fmumbs.errors import ModelError

Causality = Literal["input", "output", "parameter"]

_PART = r"[A-Za-z_][A-Za-z0-9_]*(\[[1-9][0-9]*\])?"
_VARIABLE = re.compile(rf"{_PART}(\.{_PART})*")


@dataclass(frozen=True)
class DeclaredVariable:
    """A variable of the mechanism under a name that the user chooses, as an input, output or parameter of the FMU.

    name: in the FMU; target: the structured name, such as "A.tau"; causality: its role in the FMU. start: initial
    value of an input; one number, or one for each component.
    """

    name: str
    target: str
    causality: Causality
    start: float | tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.start, Iterable) and not isinstance(self.start, str):
            start = tuple(_checks.number(v, f"Model.input '{self.name}': start") for v in self.start)
            object.__setattr__(self, "start", start)
        elif self.start is not None:
            object.__setattr__(self, "start", _checks.number(self.start, f"Model.input '{self.name}': start"))
        for what, value in (("name", self.name), ("target", self.target)):
            if not isinstance(value, str) or not _VARIABLE.fullmatch(value):
                raise ModelError(
                    f"Model.{self.causality}: {what} is {value!r}, which is not a variable name. "
                    "Give letters, digits and _ separated by dots, such as 'A.tau' or 'B.r[3]'."
                )


@dataclass(frozen=True)
class DefaultExperiment:
    """The proposed simulation: stop time and interval [s], relative tolerance; None for the default."""

    stop: float | None = None
    interval: float | None = None
    tolerance: float | None = None

    def __post_init__(self) -> None:
        for field in ("stop", "interval"):
            value = getattr(self, field)
            if value is not None:
                object.__setattr__(self, field, _checks.positive(value, f"Model.experiment: {field}"))
        if self.tolerance is not None:
            where = "Model.experiment: tolerance"
            object.__setattr__(
                self, "tolerance", _checks.parameter("model", "solver.tolerance", self.tolerance, where)
            )
