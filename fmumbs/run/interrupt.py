"""Lets Ctrl-C, and any other signal whose handler raises, end a long step.

Python runs signal handlers in its main thread between two bytecode instructions, so none runs during a step of the
core. The core therefore calls back from time to time (fm_interrupt). The callback is a Python function, in which
pending handlers run. An exception that they raise is stored, ends the step, and is raised again when the core returns.
"""

import threading
from typing import Any

from fmumbs.compiler.layout import ffi, lib

_kept = threading.local()


def _keep(kind: object, error: BaseException, trace: object) -> int:
    _kept.error = error
    return 1


@ffi.def_extern(name="fmumbs_interrupted", onerror=_keep)  # type: ignore[untyped-decorator, unused-ignore]
def _go_on(host: object) -> int:
    return 0


def make_interruptible(instance: Any) -> None:
    """Lets signals end the steps of a core instance."""
    lib.fm_interrupt(instance, lib.fmumbs_interrupted, ffi.NULL)


def raise_kept() -> None:
    """Raises the exception that a signal handler raised during the last step, if there is one."""
    error, _kept.error = getattr(_kept, "error", None), None
    if error is not None:
        raise error
