"""The command fmumbs, called in this process, and files of models for it."""

from click.testing import CliRunner, Result

from fmumbs.cli import main


def fmumbs(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)
