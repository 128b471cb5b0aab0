"""The group of commands: turns errors into messages and exit statuses."""

import errno
import io
import os
import sys
import threading
from typing import Any

import click

from fmumbs.errors import FmumbsError
from fmumbs.readers import NoSuchModel

INTERRUPTED = 130  # exit status after Ctrl-C


class Commands(click.Group):
    """Commands in the order in which they are defined, whose errors become messages and exit statuses."""

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # escape characters that the terminal's encoding lacks
                stream.reconfigure(errors="backslashreplace")
        try:
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
                os._exit(INTERRUPTED)  # a thread is inside an FMU call that may never return
            ctx.exit(INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)
