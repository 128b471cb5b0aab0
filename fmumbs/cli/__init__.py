"""The command line: commands that call the library, and the printing of what it returns."""

from fmumbs.cli.commands import main

__all__ = ["main"]
