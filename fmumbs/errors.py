"""The exceptions of fmumbs.

Every message says what is wrong, where, the nearest fact and one mend, in whole sentences.

    FmumbsError
    ├── ModelError      what the user said makes no mechanism
    ├── AssemblyError   no consistent start exists near the guesses
    ├── SolverError     a simulation could not go on
    └── ExportError     an FMU could not be written or failed its verification

    KeyboardInterrupt
    └── Interrupted     Ctrl-C ended a simulation

    UserWarning
    └── StartWarning    start values that were given could not hold
"""

from typing import Any


class FmumbsError(Exception):
    """Base of all errors that fmumbs raises on purpose."""


class ModelError(FmumbsError):
    """A mechanism, or a part of it, is not valid."""


class AssemblyError(FmumbsError):
    """The joints cannot be brought together near the given positions or velocities."""


class SolverError(FmumbsError):
    """The core refused a call or a step failed.

    time, result: if a run failed on its way, where it got to [s], and its fmumbs.Result until there; else None.
    """

    time: "float | None" = None
    result: Any = None


class ExportError(FmumbsError):
    """An FMU could not be written or is not what it should be."""


class StartWarning(UserWarning):
    """Loops or couplings changed start values that a user gave."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a simulation at `time` [s]; `result` is its fmumbs.Result until there."""

    def __init__(self, time: float, result: Any) -> None:
        super().__init__(f"interrupted at t = {time:g} s")
        self.time = time
        self.result = result
