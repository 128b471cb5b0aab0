"""Options that several commands share, and the types of their values."""

import ast
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from fmumbs._tables import number
from fmumbs.compiler.options import OPTIONS, TYPES, Option
from fmumbs.errors import SolverError
from fmumbs.run.files import format_of
from fmumbs.run.signal import INTERPOLATIONS

Settings = dict[str, Any]
Command = Callable[..., Any]


class Positive(click.FloatRange):
    """A finite number above zero."""

    def __init__(self) -> None:
        super().__init__(0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{number} is not finite. Give a number.", param, ctx)
        return number


class NewFile(click.Path):
    """A file that is written at the end of a run; an impossible path is refused before the run."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        folder, name = os.path.split(value)
        if not name:
            self.fail(f"'{value}' is a folder. Name a file in it.", param, ctx)
        if not os.path.isdir(folder or "."):
            self.fail(f"there is no folder '{folder}'. Create it, or name another.", param, ctx)
        return super().convert(value, param, ctx)


class ResultFile(NewFile):
    """A file of results, whose suffix selects the format."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        try:
            format_of(path)
        except SolverError as error:
            self.fail(str(error), param, ctx)
        return path


def literal(text: str) -> Any:
    """The value of a Python literal; any other text itself, and a number that is written as no table has it: 1_000."""
    text = text.strip()
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return text if isinstance(value, int | float) and "_" in text else value


def parse_settings(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> Settings:
    """Values by name from NAME=VALUE; a value that is not a Python literal is taken as text."""
    settings = {}
    for one in given:
        name, equals, text = (part.strip() for part in one.partition("="))
        if not equals or not name:
            raise click.BadParameter(f"'{one}' is not NAME=VALUE. Write it as in --set length=0.5.", ctx, param)
        settings[name] = literal(text)
    return settings


def parse_correction(ctx: click.Context, param: click.Parameter, given: str | None) -> str | tuple[float, float] | None:
    """direct, off, or two numbers."""
    if given is None or given in ("direct", "off"):
        return given
    try:
        alpha, beta = (number(part) for part in given.split(","))
    except ValueError:
        raise click.BadParameter(
            f"'{given}' is not a loop correction. Give direct, off, or two numbers as in 20,20.", ctx, param
        ) from None
    return alpha, beta


setting = click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    callback=parse_settings,
    help="Sets a parameter of the model; can be repeated.",
)
inputs_over_time = click.option(
    "--input",
    "inputs",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="CSV file of inputs: a column `time` [s], then one column for each input. Two rows of one time are a jump.",
)
interpolation = click.option(
    "--interpolation",
    type=click.Choice(list(INTERPOLATIONS)),
    default="linear",
    show_default=True,
    help="How inputs go on between two rows of the file: hold keeps each row until the next.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Prints JSON instead of tables.")


def _of_run(name: str, option: Option) -> Command:
    """The option of a command that stands for one of simulate(); it has no value where it is not given."""
    text = f"{option.help[0].upper()}{option.help[1:]}"
    kind = TYPES[name]
    fixed = " Part of an FMU, so that it is chosen at export." if option.kept else ""
    if name == "correction":
        return click.option(f"--{name}", metavar="direct|off|ALPHA,BETA", callback=parse_correction, help=text)
    if option.choices:
        return click.option(f"--{name}", type=click.Choice(list(option.choices)), help=text + fixed)
    if kind == Sequence[str] | None:
        return click.option(f"--{name}", multiple=True, metavar="NAME", help=f"{text} Can be repeated.{fixed}")
    if kind == bool | None:
        return click.option(f"--{name}/--no-{name}", default=None, help=text)
    return click.option(_SHORT.get(name, f"--{name}"), name, type=Positive(), help=text)


_SHORT = {"tolerance": "--tol"}


def integration(command: Command) -> Command:
    """Adds the options of a run, as simulate() has them; None where one is not given."""
    for name, option in reversed(OPTIONS.items()):
        command = _of_run(name, option)(command)
    return command
