"""The group of commands: turns errors into messages and exit statuses."""

import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click

from fmumbs._folders import remove_folders
from fmumbs._signals import repeated
from fmumbs.errors import FmumbsError
from fmumbs.readers import NoSuchModel

ENDED_BY = 128  # exit status after a signal: this, plus the signal's number


class Ending:
    """Signals that end a command as Ctrl-C does, so that it keeps results and leaves no files behind.

    status: the exit status after the last of them, or after Ctrl-C.
    """

    def __init__(self) -> None:
        self.status = ENDED_BY + signal.SIGINT

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.status = ENDED_BY + number
        raise KeyboardInterrupt(f"ended by {signal.Signals(number).name}")

    @contextmanager
    def by_signals(self) -> Iterator[None]:
        """Within it, these signals raise KeyboardInterrupt in the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread may handle signals
            return
        numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
        before = {n: signal.signal(n, self._end) for n in numbers if signal.getsignal(n) == signal.SIG_DFL}
        try:
            with repeated(lambda: self.status - ENDED_BY):
                yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class Commands(click.Group):
    """Commands in the order in which they are defined, whose errors become messages and exit statuses."""

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # escape characters that the terminal's encoding lacks
                stream.reconfigure(errors="backslashreplace")
        ending = Ending()
        try:
            with ending.by_signals():
                return super().invoke(ctx)
        except NoSuchModel as error:
            raise click.UsageError(str(error), ctx) from error
        except FmumbsError as error:
            raise click.ClickException(str(error)) from error
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # the reader of the output has closed the pipe; click exits quietly
            raise click.ClickException(f"{error.filename or 'a file'}: {error.strerror or error}") from error
        except MemoryError as error:
            raise click.ClickException("there is not enough memory. Make the model or the run smaller.") from error
        except KeyboardInterrupt as error:
            click.echo(str(error) or "interrupted", err=True)
            if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
                sys.stdout.flush()
                remove_folders()
                os._exit(ending.status)  # a thread is inside an FMU call that may never return
            ctx.exit(ending.status)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)
