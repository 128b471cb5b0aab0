"""fmumbs sweep: its options, and what it prints."""

# ruff: noqa: D301  (\b is click's mark before lines that must not be wrapped)

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from fmumbs._progress import progress_bar
from fmumbs._tables import number, whole
from fmumbs.cli.options import (
    NewFile,
    Positive,
    Settings,
    inputs_over_time,
    integration,
    interpolation,
    literal,
    setting,
)  # fmt: skip
from fmumbs.cli.terminal import MOST, counted, new_table, show, show_rest

if TYPE_CHECKING:
    from fmumbs.study import Sweep

METHODS = ("latin", "halton", "random")
MOST_VALUES = 10**7


def _assignments(ctx: Any, param: Any, given: tuple[str, ...], form: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in given:
        name, equals, text = (part.strip() for part in one.partition("="))
        if not equals or not name or not text:
            raise click.BadParameter(f"'{one}' is not {form}.", ctx, param)
        if name in found:
            raise click.BadParameter(f"'{name}' is given twice. Give it once.", ctx, param)
        found[name] = text
    return found


def _number(text: str, name: str, ctx: Any, param: Any) -> float:
    try:
        value = number(text)
    except ValueError:
        raise click.BadParameter(
            f"'{text}' for '{name}' is not a number. Give a number in the variable's unit, without the unit, as in "
            "0.08:0.12:5.", ctx, param,
        ) from None  # fmt: skip
    if not math.isfinite(value):
        raise click.BadParameter(f"'{text}' for '{name}' is not finite. Give a number.", ctx, param)
    return value


def parse_grid(ctx: Any, param: Any, given: tuple[str, ...]) -> dict[str, list[Any]]:
    """Values by name from NAME=LOW:HIGH:COUNT, with :log for equal ratios, or NAME=VALUE,VALUE,..."""
    grid = {}
    for name, text in _assignments(ctx, param, given, "NAME=LOW:HIGH:COUNT, such as crank=0.08:0.12:5").items():
        grid[name] = _spread(name, text, ctx, param) if ":" in text else [literal(v) for v in text.split(",")]
    return grid


def _spread(name: str, text: str, ctx: Any, param: Any) -> list[Any]:
    parts = [part.strip() for part in text.split(":")]
    logarithmic = parts[-1] == "log"
    if len(parts) != 3 + logarithmic:
        raise click.BadParameter(
            f"'{name}={text}' is not NAME=LOW:HIGH:COUNT. Add the number of values, as in {name}=0:1:5, or use --range "
            "with --sample.", ctx, param,
        )  # fmt: skip
    low, high = (_number(part, name, ctx, param) for part in parts[:2])
    try:
        count = whole(parts[2])
    except ValueError:
        raise click.BadParameter(f"'{parts[2]}' values for '{name}': give a whole number.", ctx, param) from None
    if not 2 <= count <= MOST_VALUES:
        raise click.BadParameter(
            f"{count} values for '{name}'. Give 2 to {MOST_VALUES}, or list them: {name}={parts[0]}.", ctx, param
        )
    if low >= high:
        raise click.BadParameter(f"'{name}' goes from {low:g} to {high:g}. Give the smaller one first.", ctx, param)
    if logarithmic:
        if low <= 0.0:
            raise click.BadParameter(f"'{name}' begins at {low:g}, which has no logarithm.", ctx, param)
        return list(np.geomspace(low, high, count).tolist())
    values = list(np.linspace(low, high, count).tolist())
    integers = all(_is_whole(part) for part in parts[:2]) and all(v == int(v) for v in values)
    return [int(v) for v in values] if integers else values


def _is_whole(text: str) -> bool:
    try:
        whole(text)
    except ValueError:
        return False
    return True


def parse_ranges(ctx: Any, param: Any, given: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """(least, greatest) by name from NAME=LOW:HIGH."""
    ranges = {}
    for name, text in _assignments(ctx, param, given, "NAME=LOW:HIGH, such as A.qd=5:7").items():
        parts = text.split(":")
        if len(parts) != 2:
            raise click.BadParameter(f"'{name}={text}' is not NAME=LOW:HIGH, such as {name}=5:7.", ctx, param)
        ranges[name] = (_number(parts[0], name, ctx, param), _number(parts[1], name, ctx, param))
    return ranges


def parse_sample(ctx: Any, param: Any, given: str | None) -> tuple[int, str]:
    """The number of points and the method from N or N:METHOD."""
    if given is None:
        return 0, METHODS[0]
    count, _, method = given.partition(":")
    if not _is_whole(count) or int(count) < 1 or (method or METHODS[0]) not in METHODS:
        raise click.BadParameter(
            f"'{given}' is not N:METHOD, such as 1000:latin. N is at least 1, METHOD one of {', '.join(METHODS)}.",
            ctx, param,
        )  # fmt: skip
    return int(count), method or METHODS[0]


def _names(ctx: Any, param: Any, given: str | None) -> list[str] | None:
    return None if given is None else [name.strip() for name in given.split(",") if name.strip() not in ("", "all")]


@click.command()
@click.argument("target", metavar="MODEL|FMU|SSP")
@click.option("-o", "--out", type=NewFile(), required=True, help="The Parquet file to write.")
@click.option(
    "--grid", metavar="NAME=LOW:HIGH:COUNT", multiple=True, callback=parse_grid,
    help="Values at equal distances, with :log at equal ratios; or a list NAME=VALUE,VALUE. Can be repeated: all "
    "combinations are run.",
)  # fmt: skip
@click.option(
    "--range", "ranges", metavar="NAME=LOW:HIGH", multiple=True, callback=parse_ranges,
    help="A range in which --sample takes points; can be repeated.",
)  # fmt: skip
@click.option(
    "--sample", metavar="N[:METHOD]", callback=parse_sample,
    help="N points in the ranges, for each combination of the grid: latin (hypercube, the default), halton or random.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Seed of the sample.")
@setting
@click.option(
    "--keep", metavar="SUMMARY:NAME", multiple=True,
    help="Also keeps the start, min, max, absmax, mean or rms of a variable, such as max:A.tau; can be repeated.",
)  # fmt: skip
@click.option(
    "--save", metavar="NAMES|all", callback=_names,
    help="Saves trajectories, of variables such as A.q,B.q or of all outputs, in a folder beside the output.",
)  # fmt: skip
@click.option("--stop", type=Positive(), help="Stop time of each run [s].")
@click.option("--interval", type=Positive(), help="Interval between two results of a run [s].")
@integration
@inputs_over_time
@interpolation
@click.option(
    "--engine", type=click.Choice(["libcosim", "fmpy", "omsimulator"]), default="libcosim", show_default=True,
    help="The engine that runs a system.",
)  # fmt: skip
@click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler, such as tcp://host:8786.")
@click.option(
    "--workers", type=click.IntRange(0, 4096),
    help="Processes on this machine, by default one for each processor; 0 runs everything in one process.",
)  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Removes another sweep that OUT holds.")
@click.option("--plot", type=NewFile(), help="Plots the results over what was varied.")
def sweep(
    target: str,
    out: Path,
    grid: dict[str, list[Any]],
    ranges: dict[str, tuple[float, float]],
    sample: tuple[int, str],
    seed: int,
    settings: Settings,
    keep: tuple[str, ...],
    save: list[str] | None,
    scheduler: str | None,
    workers: int | None,
    overwrite: bool,
    plot: Path | None,
    **options: Any,
) -> None:
    """Runs a MODEL, an FMU or a system many times with other values, and writes a row for each run to a Parquet file.

    NAME is a parameter of the model's build(), or a variable: a start value, an input, which then stays constant over a
    run, or a parameter. `fmumbs info` lists the variables with their units; for an FMU they are all there is. In the
    package of a system (.ssp) they are ELEMENT.VARIABLE.

    \b
    fmumbs sweep four_bar --grid crank=0.08:0.12:5 --keep max:D.q -o a.parquet
    fmumbs sweep double_pendulum.fmu --range A.qd=1:3 --range A.tau=0:0.1 --sample 20:latin -o b.parquet
    fmumbs sweep double_pendulum.fmu --grid A.tau=0,0.05,0.1 --save A.q,B.q --plot c.png -o c.parquet

    The runs go to all processors of this machine, or with --scheduler tcp://node1:8786 to a Dask cluster that is
    running, whose workers have fmumbs installed; a model's file must have the same path there, an FMU is sent.

    Columns of OUT: run, what is varied, seed, end:NAME for each output, the summaries, seconds, warning, error. Units
    are in the metadata of the fields. A run that fails is a row with its error. If the sweep is interrupted, the same
    command continues it. pandas.read_parquet() reads OUT, and the folder of trajectories.

    Exit status: 1 if runs failed.
    """
    from fmumbs.study import sweep as run_sweep

    if scheduler is not None and workers is not None:
        raise click.UsageError("--workers starts processes on this machine, and --scheduler uses others. Give one.")
    with progress_bar(f"sweeping {target}") as progress:
        done = run_sweep(
            target, out, grid=grid, ranges=ranges, samples=sample[0], method=sample[1], seed=seed, settings=settings,
            keep=keep, save=save, scheduler=scheduler, workers=workers, overwrite=overwrite, progress=progress,
            **options,
        )  # fmt: skip
    if plot is not None:
        done.plot(path=plot)
    print_sweep(done)
    for path in (done.path, done.trajectories, plot):
        if path is not None:
            click.echo(f"{path}")
    if len(done.failed):
        sys.exit(1)


def print_sweep(done: "Sweep") -> None:
    """The least, mean and greatest number of each column, and how many runs failed."""
    table = new_table(None, "column", "unit", "least", "in run", "mean", "greatest", "in run")
    columns = done.summary()
    for column in columns[:MOST]:
        numbers = (f"{column.least:.6g}", str(column.least_at), f"{column.mean:.6g}", f"{column.greatest:.6g}")
        table.add_row(column.name, column.unit, *numbers, str(column.greatest_at))
    show(table)
    show_rest(len(columns) - MOST, f"{done.path} has them all")
    warnings = [text for text in done["warning"] if text is not None]
    if warnings:
        click.secho("warning: ", fg="yellow", nl=False)
        click.echo(f"in {counted(len(warnings), 'run')}, such as: {warnings[0]}")
    if len(done.failed):
        click.secho("failed: ", fg="red", nl=False)
        click.echo(
            f"{len(done.failed)} of {counted(done.runs, 'run')}, such as run {done.failed[0]}: {_first_error(done)}"
        )
    else:
        click.echo(f"{counted(done.runs, 'run')}, none failed")


def _first_error(done: "Sweep") -> str:
    return str(done["error"][done.failed[0]])
