"""Signals that raise in the main thread: what must not be cut short by them, and those that are ignored."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_AGAIN = 0.01  # seconds after which an ignored signal comes again
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def held() -> Iterator[None]:
    """Within it, a signal whose handler may raise waits until the block has ended; a second one does not wait."""
    if threading.current_thread() is not threading.main_thread():
        yield  # handlers run in the main thread alone
        return
    came: list[int] = []

    def hold(number: int, frame: Any) -> None:
        came.append(number)
        if len(came) > 1:
            before[number](number, frame)

    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    before: dict[int, Any] = {n: signal.getsignal(n) for n in numbers if callable(signal.getsignal(n))}
    for number in before:
        signal.signal(number, hold)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            before[came[0]](came[0], None)


@contextmanager
def repeated(number: Callable[[], int]) -> Iterator[None]:
    """Within it, a KeyboardInterrupt that Python ignores is raised again soon, by the signal `number()`.

    Python ignores exceptions in callbacks of its garbage collector, of weak references and of ctypes, so that a signal
    that comes in one of them would be lost.
    """
    before = sys.unraisablehook

    def hook(ignored: Any) -> None:
        if isinstance(ignored.exc_value, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            again = threading.Timer(_AGAIN, _send, (number(),))
            again.daemon = True
            again.start()
        else:
            before(ignored)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _send(number: int) -> None:
    """Sends a signal to the main thread, which it wakes where the system can."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)
