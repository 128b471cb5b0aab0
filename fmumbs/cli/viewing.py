"""`fmumbs view`: the page of a model, an FMU or a file of results."""

# ruff: noqa: D301  (\b is click's mark before lines that must not be wrapped)

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fmumbs import _checks
from fmumbs._progress import progress_bar
from fmumbs.cli.options import NewFile, Positive, Settings, integration, interpolation, setting
from fmumbs.cli.terminal import run_warnings
from fmumbs.compiler.options import given
from fmumbs.errors import ExportError
from fmumbs.readers import read_model
from fmumbs.run.signal import Interpolation

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage
    from fmumbs.view import View

_RESULTS = (".csv", ".mat", ".parquet", ".h5", ".hdf5")


class NotNegative(click.FloatRange):
    """A number of at least zero."""

    def __init__(self) -> None:
        super().__init__(0)


@click.command()
@click.argument("target", metavar="MODEL|FMU|RESULT")
@click.option("-o", "--out", type=NewFile(), help="The page to write; the default is NAME.html in the current folder.")
@click.option("--model", "of", metavar="MODEL|FMU", help="Of which a file of results is.")
@click.option("--stop", type=NotNegative(), help="Stop time [s]; 0 shows the start.")
@click.option("--interval", type=Positive(), help="Interval between two pictures [s].")
@integration
@setting
@click.option(
    "--input",
    "inputs",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="CSV file of inputs: a column `time`, then one column for each input.",
)
@interpolation
@click.option(
    "--compare", metavar="RESULT", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A second result of the same mechanism, shown as a ghost, with its curves beside.",
)  # fmt: skip
@click.option(
    "--vibrations", is_flag=True,
    help="Shows small vibrations about the static equilibrium, each with its frequency, in place of a run.",
)  # fmt: skip
@click.option(
    "--modes", metavar="BODY",
    help="Shows the eigenmodes of a flexible body, each with its frequency, in place of a run.",
)  # fmt: skip
@click.option("--open", "opens", is_flag=True, help="Opens the page in a browser.")
def view(
    target: str,
    out: Path | None,
    of: str | None,
    stop: float | None,
    interval: float | None,
    settings: Settings,
    inputs: Path | None,
    interpolation: Interpolation,
    compare: Path | None,
    vibrations: bool,
    modes: str | None,
    opens: bool,
    **integration: Any,
) -> None:
    """Writes a picture of a mechanism in motion: one HTML page, which any browser opens without a network.

    A MODEL is simulated, and so is the mechanism in an FMU of fmumbs; --set gives a parameter of the model, or a start
    value or parameter of the FMU by its name. A RESULT (.csv, .mat, .parquet, .h5) needs --model, and must have the
    coordinates of all joints, as `fmumbs run MODEL -o` writes them.

    The page plays the motion, follows a body, shows reactions (green where the model determines them, red where not)
    and plots; press ? in it for its keys. `Run live` in it steps the mechanism itself, with sliders for its inputs and
    parameters.

    \b
    fmumbs view engine --open
    fmumbs view crane --stop 0 -o start.html
    fmumbs view crane --vibrations
    fmumbs view solid_engine --modes rod
    fmumbs view double_pendulum.fmu --set A.q=1.2 --stop 5
    fmumbs view motion.csv --model double_pendulum -o motion.html
    fmumbs view motion.csv --model double_pendulum --compare motion.csv
    """
    from fmumbs.run import Result

    second: dict[str, Any] = {} if compare is None else {"other": Result.load(compare), "called": compare.name}
    kind = Path(target).suffix.lower()
    if vibrations or modes is not None:
        refused = {"--stop": stop, "--interval": interval, "--input": inputs, "--compare": compare, "--model": of}
        others: dict[str, Any] = refused | given(integration)
        if modes is None:
            made = _of_equilibrium(target, settings, others)
        else:
            made = _of_body(target, modes, settings, others | {"--vibrations": vibrations or None})
        _written(made, out, opens)
        return
    with run_warnings(), progress_bar(f"running {target}") as progress:
        if kind in _RESULTS:
            refused = {"--stop": stop, "--interval": interval, "--input": inputs}
            made = _of_results(target, of, settings, refused, second)
        elif of is not None:
            raise click.UsageError(f"--model belongs to a file of results, not to '{target}'. Leave it out.")
        else:
            options = {"stop": stop, "interval": interval, "progress": progress, **given(integration), **second}
            made = _of_mechanism(target, settings, inputs, interpolation, options)
    _written(made, out, opens)
    if made.failure is not None:
        raise made.failure


def _written(made: "View", out: Path | None, opens: bool) -> None:
    """Writes a page, says where it is, and opens it if it shall."""
    path = made.save(out or f"{made.name}.html")
    click.echo(f"{path}  {path.stat().st_size / 1024:.0f} kB" if path.is_file() else f"{path}")
    say_if_recorded_only()
    if opens:
        made.open(path)


def say_if_recorded_only() -> None:
    """Says that pages are not live, where this installation cannot make live ones."""
    from fmumbs.view.live import CORE, WITHOUT

    if not CORE.is_file():
        click.echo(WITHOUT, err=True)


def _of_mechanism(
    target: str, settings: Settings, inputs: Path | None, interpolation: Interpolation, options: dict[str, Any]
) -> "View":
    from fmumbs.play.simulation import read_inputs
    from fmumbs.view import view_model

    values: dict[str, Any] = {} if inputs is None else dict(read_inputs(inputs, interpolation))
    is_fmu = target.lower().endswith(".fmu")
    model = _image(target) if is_fmu else read_model(target, settings)
    if is_fmu:
        values = {**settings, **values}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* is shown although ")  # the error comes after the page
        return view_model(model, inputs=values, **options)


def _of_equilibrium(target: str, settings: Settings, others: dict[str, Any]) -> "View":
    from fmumbs.run.equilibrium import equilibrium

    _refuse_others("--vibrations", target, others)
    made: View = equilibrium(read_model(target, settings)).view()
    return made


def _of_body(target: str, name: str, settings: Settings, others: dict[str, Any]) -> "View":
    from fmumbs.mechanism import ModalBody

    _refuse_others("--modes", target, others)
    bodies = {body.name: body for body in read_model(target, settings).bodies if isinstance(body, ModalBody)}
    if name not in bodies:
        raise click.UsageError(f"'{target}' has no flexible body '{name}'. {_checks.nearest(name, bodies)}")
    made: View = bodies[name].view()
    return made


def _refuse_others(what: str, target: str, others: dict[str, Any]) -> None:
    """Refuses options of a run, and what is no model, beside an option that makes no run."""
    for name, value in others.items():
        if value is not None:
            option = name if name.startswith("--") else f"--{name}"
            raise click.UsageError(f"{option} belongs to a run, which {what} does not make. Leave it out.")
    if Path(target).suffix.lower() in (*_RESULTS, ".fmu"):
        raise click.UsageError(f"{what} needs a model, not '{target}'.")


def _of_results(
    target: str, of: str | None, settings: Settings, refused: dict[str, Any], second: dict[str, Any]
) -> "View":
    from fmumbs.run import Result
    from fmumbs.view import view_result

    for name, value in refused.items():
        if value is not None:
            raise click.UsageError(f"{name} belongs to a run, but '{target}' is the result of one. Leave it out.")
    if of is None:
        raise click.UsageError(f"'{target}' does not say of which mechanism it is. Give its model with --model.")
    model = _image(of) if of.lower().endswith(".fmu") else read_model(of, settings)
    return view_result(Result.load(target), model, **second)


def _image(path: str) -> "ModelImage":
    """The image in an FMU."""
    from fmumbs.compiler import ModelImage
    from fmumbs.play.fmu import IMAGE
    from fmumbs.play.unpacking import open_archive

    with open_archive(Path(path)) as archive:
        if IMAGE not in archive.sizes:
            raise ExportError(f"'{path}' does not say what it looks like: it is not an FMU of fmumbs. Give its model.")
        return ModelImage(archive.read(IMAGE))
