"""The exceptions of fmumbs.

Every message says what is wrong, where, the nearest fact and one fix, in whole sentences.

    FmumbsError
    ├── ModelError      the model is invalid
    ├── AssemblyError   the loops cannot be closed near the start values
    ├── EquilibriumError  there is no static equilibrium near the start, or an indifferent one
    ├── SolverError     a call was refused, or a step failed
    └── ExportError     an FMU could not be written or read

    KeyboardInterrupt
    └── Interrupted     Ctrl-C ended a simulation

    UserWarning
    ├── StartWarning    given start values were changed, look like degrees, or are an unstable equilibrium
    ├── InputWarning    an FMU cannot follow inputs as they are given
    ├── MeshWarning     triangles of a mesh were turned
    ├── DeformationWarning  a deformation left the linear range
    ├── CavitationWarning   oil in a cylinder cavitated
    └── ContactWarning  a step missed a contact
"""

from typing import Any


class FmumbsError(Exception):
    """Base of all errors that fmumbs raises deliberately."""


class ModelError(FmumbsError):
    """A model, or an element of it, is invalid."""


class AssemblyError(FmumbsError):
    """The loops cannot be closed near the given positions or velocities."""


class EquilibriumError(FmumbsError):
    """There is no static equilibrium near the start, or one that is indifferent to the motion of a free mode."""


class SolverError(FmumbsError):
    """The core refused a call, or a step failed.

    time, result: if a run failed, the time that it reached [s] and the results so far; else None.
    """

    time: "float | None" = None
    result: Any = None


class ExportError(FmumbsError):
    """An FMU could not be written, or a file is not a valid FMU."""


class StartWarning(UserWarning):
    """A start may not be what a user meant.

    Loops or couplings changed given values, an angle looks like degrees, or the equilibrium is unstable.
    """


class InputWarning(UserWarning):
    """An FMU cannot follow inputs over time as they are given."""


class MeshWarning(UserWarning):
    """Triangles of a mesh had their inner side out and were turned."""


class DeformationWarning(UserWarning):
    """A flexible body, or an element of a flexible link, was deformed beyond `solver.deformation`."""


class CavitationWarning(UserWarning):
    """The pressure of a chamber of an fm.Cylinder fell below its `vapour`."""


class ContactWarning(UserWarning):
    """A contact began and ended within a step of a scheme with fixed steps, or of a host, between two looks."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a simulation at `time` [s]; `result` has the results so far."""

    def __init__(self, time: float, result: Any) -> None:
        super().__init__(f"interrupted at t = {time:g} s")
        self.time = time
        self.result = result
