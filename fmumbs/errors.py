"""The exceptions of fmumbs.

Every message says what is wrong, where, the nearest fact and one mend, in whole sentences.

    FmumbsError
    ├── ModelError      what the user said makes no mechanism
    ├── AssemblyError   no consistent start exists near the guesses
    ├── SolverError     a simulation could not go on
    └── ExportError     an FMU could not be written or failed its verification
"""


class FmumbsError(Exception):
    """Base of all errors that fmumbs raises on purpose."""


class ModelError(FmumbsError):
    """A mechanism, or a part of it, is not valid."""


class AssemblyError(FmumbsError):
    """The joints cannot be brought together near the given positions or velocities."""


class SolverError(FmumbsError):
    """The core refused a call or a step failed."""


class ExportError(FmumbsError):
    """An FMU could not be written or is not what it should be."""
