"""What `fmumbs export --for casadi` does."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from fmumbs.readers import read_model

_TOGETHER = ("models", "output", "purpose", "source_only", "settings", "starts", "states")


def export_for_casadi(
    models: Sequence[str],
    output: str | None,
    settings: Mapping[str, Any],
    starts: Mapping[str, Any],
    states: str,
    source_only: bool,
) -> None:
    """Writes the C functions of each model. Raises click.UsageError for an option that is for FMUs."""
    from fmumbs.export.casadi import export_casadi

    context = click.get_current_context()
    given = [name for name in context.params if context.get_parameter_source(name) == ParameterSource.COMMANDLINE]
    if other := [name for name in given if name not in _TOGETHER]:
        names = {parameter.name: parameter.opts[-1] for parameter in context.command.params}
        raise click.UsageError(f"{names[other[0]]} is for an FMU. Leave it out with --for casadi.")
    if output and len(models) > 1 and output.endswith(".c"):
        raise click.UsageError(f"several models do not fit into '{output}'. Give a folder with -o.")
    folder = os.path.join(output, "") if output and not os.path.splitext(output)[1] else output
    for name in models:
        chosen = states if "states" in given else "independent"
        made = export_casadi(
            read_model(name, dict(settings)), folder or "", starts=dict(starts), states=chosen, library=not source_only
        )
        of = {"x": made.x, "u": made.u, "p": made.p, "y": made.y}
        sizes = ", ".join(f"{what}({len(names)})" for what, names in of.items())
        click.echo(f"{made.source}{f'  {made.library}' if made.library else ''}  {sizes}")
