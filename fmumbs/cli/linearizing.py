"""`fmumbs linearize`: the linear model of a mechanism, its modes, and a file of its matrices."""

# ruff: noqa: D301  (\b is click's mark before lines that must not be wrapped)

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fmumbs.cli.options import NewFile, Settings, as_json, setting
from fmumbs.readers import read_model

if TYPE_CHECKING:
    from fmumbs.run.linearize import LinearModel


@click.command()
@click.argument("model")
@setting
@click.option(
    "--at", type=click.Choice(["start", "equilibrium"]), default="start", show_default=True,
    help="The state: where it starts, or the static equilibrium near that.",
)  # fmt: skip
@click.option("--input", "inputs", multiple=True, metavar="NAME", help="By default the declared ones, or all.")
@click.option("--output", "outputs", multiple=True, metavar="NAME", help="An output; by default the declared ones.")
@click.option("-o", "--out", type=NewFile(), help="Writes matrices, names and values: NAME.npz or NAME.mat.")
@click.option("--view", "page", type=NewFile(), help="Writes a page that shows its modes in motion: NAME.html.")
@as_json
def linearize(
    model: str,
    settings: Settings,
    at: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    out: Path | None,
    page: Path | None,
    as_json: bool,
) -> None:
    """Prints the modes of a mechanism's linear model, and writes its matrices.

    \b
    fmumbs linearize double_pendulum --at equilibrium
    fmumbs linearize four_bar --input A.tau --output A.q -o four_bar.mat
    fmumbs linearize crane --at equilibrium --view modes.html
    """
    from fmumbs.run.linearize import linearize as made

    found = made(read_model(model, settings), at, inputs=inputs or None, outputs=outputs or None)  # type: ignore[arg-type]
    if out is not None:
        found.save(out)
    if page is not None:
        found.view().save(page)
    click.echo(json.dumps(_facts(found), indent=2) if as_json else str(found))


def _facts(found: "LinearModel") -> dict[str, Any]:
    modes = found.modes
    numbers, lists = ("A", "B", "C", "D", "f0", "x0", "u0", "y0"), ("states", "inputs", "outputs", "frozen")
    facts: dict[str, Any] = {name: getattr(found, name).tolist() for name in numbers}
    facts |= {name: list(getattr(found, name)) for name in lists}
    return facts | {
        "name": found.name,
        "time": found.time,
        "residual": found.residual,
        "at_rest": found.at_rest,
        "eigenvalues": [[value.real, value.imag] for value in modes.eigenvalues.tolist()],
        "eigenvalue_errors": modes.errors.tolist(),
        "verdicts": list(modes.verdicts),
        "damping": modes.damping.tolist(),
        "kinetic": {name: shares.tolist() for name, shares in modes.kinetic.items()},
        "elastic": {name: shares.tolist() for name, shares in modes.elastic.items()},
    }
