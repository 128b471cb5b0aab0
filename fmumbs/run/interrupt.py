"""Ctrl-C, and any other signal whose handler raises, ends a step that takes long.

Python runs signal handlers in its main thread, between two of its own instructions; a step of the core has none. So
the core asks now and then whether it shall go on (fm_interrupt). The answer is a Python function, where pending
handlers run. What they raise is kept, ends the step, and is raised once the core has returned.
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
    """Lets signals end the steps of an instance of the core."""
    lib.fm_interrupt(instance, lib.fmumbs_interrupted, ffi.NULL)


def raise_kept() -> None:
    """Raises what a signal handler raised within the step that has just ended, if it was that."""
    error, _kept.error = getattr(_kept, "error", None), None
    if error is not None:
        raise error
