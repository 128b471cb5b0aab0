"""The commands of `fmumbs`. Each calls the library and hands what it returns to printing.py.

FMPy, rich, SciPy and matplotlib are imported by the command that needs them.
"""

# ruff: noqa: D301  (\b is click's mark before lines that must not be wrapped)

import json
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fmumbs._progress import progress_bar
from fmumbs.cli import printing
from fmumbs.cli.exporting import export_for_casadi
from fmumbs.cli.group import Commands
from fmumbs.cli.linearizing import linearize
from fmumbs.cli.options import (
    NewFile,
    Positive,
    ResultFile,
    Settings,
    as_json,
    inputs_over_time,
    integration,
    interpolation,
    parse_settings,
    setting,
)  # fmt: skip
from fmumbs.cli.sweeping import sweep
from fmumbs.cli.terminal import MOST, run_warnings
from fmumbs.cli.viewing import say_if_recorded_only, view
from fmumbs.compiler.options import given
from fmumbs.errors import Interrupted, SolverError, StartWarning
from fmumbs.readers import read_model
from fmumbs.run.signal import Interpolation
from fmumbs.system import ENGINES

if TYPE_CHECKING:
    from fmumbs.analysis.tools import ToolName
    from fmumbs.mechanism import Model
    from fmumbs.run import Result


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with `fmumbs demo`. Each command has its own help: `fmumbs export --help`.",
)
@click.version_option(package_name="fmumbs")
def main() -> None:
    """Multibody mechanisms in Python, exported as FMUs of FMI 2.0 and 3.0.

    \b
    fmumbs check double_pendulum                      what the mechanism is, and what may be wrong
    fmumbs run double_pendulum --stop 5 --plot a.png  simulate the model
    fmumbs view double_pendulum --open                see it move in a browser
    fmumbs export double_pendulum --verify            write double_pendulum.fmu and verify it
    fmumbs run double_pendulum.fmu --out a.csv        simulate the FMU with FMPy
    fmumbs cosim speed_control.ssp                    run a system of FMUs in a co-simulation engine
    fmumbs sweep pendulum --grid length=1:2:9 -o a.parquet   run it with nine lengths

    MODEL is the path of a Python file with a function build() that returns a Model, or the name of a model that
    ships with fmumbs, such as double_pendulum. --set NAME=VALUE sets a parameter of its build().
    It may also be a robot's file, .urdf, .xacro or .xml (MJCF), whose parameters are those of fm.read_urdf() and
    fm.read_mjcf(): --set base=free.

    Exit status: 0 no problems, 1 problems found, 2 wrong usage, 130 interrupted by Ctrl-C.
    """


@main.command()
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo"),
    show_default=True,
    help="Folder for the FMU, the results, the plot and the page.",
)
def demo(folder: Path) -> None:
    """Exports a double pendulum, runs the FMU in FMPy, prints a table, writes a plot and a page that moves it.

    \b
    fmumbs demo
    """
    from fmumbs.cli import demo as example

    with progress_bar("double_pendulum.fmu") as progress:
        done = example.demo(folder, progress=progress)
    printing.print_demo(done)
    say_if_recorded_only()
    if done.missing:
        click.echo(done.missing, err=True)


@main.command()
@click.argument("model")
@setting
@click.option("--set-of", metavar="JOINTS", help="Examines the reactions of these joints together, such as A,C,E.")
@click.option(
    "--tool", type=click.Choice(["rank", "qr", "svd", "nullspace"]),
    help="Also examines them by divide and conquer with this tool, and prints the steps.",
)  # fmt: skip
@click.option("--statics", is_flag=True, help="Also looks for a static equilibrium near the start.")
@click.option("--all", "everything", is_flag=True, help=f"Prints all rows, not only the first {MOST}.")
@as_json
def check(
    model: str,
    settings: Settings,
    set_of: str | None,
    tool: "ToolName | None",
    statics: bool,
    everything: bool,
    as_json: bool,
) -> None:
    """Prints topology, mobility, the uniqueness of reactions, and problems of a mechanism.

    \b
    fmumbs check four_bar
    fmumbs check branch_chain --set bodies=50 --json
    fmumbs check parallelogram_pendulum --set-of A,C,E,G
    fmumbs check cantilever --statics
    """
    from fmumbs.cli.inspection import check_model

    chosen = [name.strip() for name in (set_of or "").split(",") if name.strip()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StartWarning)  # the structure tells of angles in degrees
        built = read_model(model, settings)
    facts = check_model(built, chosen, tool, statics=statics)
    if as_json:
        click.echo(json.dumps(facts, indent=2))
    else:
        printing.print_check(facts, None if everything else MOST)
    if facts["problems"]:
        sys.exit(1)


@main.command()
@click.argument("target", metavar="MODEL|FMU")
@setting
@as_json
def info(target: str, settings: Settings, as_json: bool) -> None:
    """Lists the variables with their units, the sizes and the capabilities.

    \b
    fmumbs info double_pendulum
    fmumbs info double_pendulum.fmu --json
    """
    from fmumbs.cli.inspection import fmu_info, image_info, modes_info

    if _is_fmu(target):
        _refuse_settings(settings)
        facts = fmu_info(target)
    else:
        from fmumbs.compiler import compile

        facts = image_info(compile(read_model(target, settings)))
    if as_json:
        click.echo(json.dumps(facts, indent=2))
    else:
        printing.print_info(facts, modes_info(facts))


@main.command()
@click.argument("models", metavar="MODEL...", nargs=-1, required=True)
@click.option(
    "-o", "--output", type=click.Path(),
    help="The FMU to write, or a folder such as fmus/; the default is NAME.fmu in the current folder.",
)  # fmt: skip
@click.option(
    "--for", "purpose", type=click.Choice(["fmu", "casadi"]), default="fmu", show_default=True,
    help="casadi: C functions NAME_x_dot, NAME_y and NAME_x_next, a step of rk4, with derivatives, in NAME.c and a "
    "library that CasADi's external() loads; only --states, --set, --start and --source-only go with it.",
)  # fmt: skip
@click.option("--source-only", is_flag=True, help="With --for casadi: NAME.c alone, without the library.")
@click.option(
    "--backend", type=click.Choice(["native", "pythonfmu"]), default="native", show_default=True,
    help="native: a binary without dependencies; pythonfmu: runs in the host's Python.",
)  # fmt: skip
@click.option(
    "--fmi", type=click.Choice(["2", "3"]), default="2", show_default=True,
    help="Version of FMI: 2.0, or 3.0, whose importers may see each integration step and end a step early.",
)  # fmt: skip
@click.option(
    "--kind", type=click.Choice(["cs+me", "cs", "me"]),
    help="cs: for Co-Simulation, with its own integrator; me: for Model Exchange, which the importer integrates; the "
    "default is both, and cs with --backend pythonfmu.",
)  # fmt: skip
@click.option(
    "--states", type=click.Choice(["tree", "independent"]), default="tree", show_default=True,
    help="States of loops in Model Exchange: those of the tree, or as many as there are degrees of freedom, from which "
    "the others follow, which is the default for CasADi.",
)  # fmt: skip
@click.option("--arrays", is_flag=True, help="With --fmi 3: vectors are arrays, such as J.reaction.f with 3 values.")
@click.option(
    "--naming", type=click.Choice(["structured", "flat"]), default="structured", show_default=True,
    help="Names of the FMU's variables: S.w[2], of which some tools make buses, or S_w_2.",
)  # fmt: skip
@integration
@setting
@click.option(
    "--start", "starts", metavar="NAME=VALUE", multiple=True, callback=parse_settings,
    help="Start value of an input, a state or a parameter, such as A.tau=0.05; can be repeated.",
)  # fmt: skip
@click.option(
    "--platform", "platforms", metavar="NAME", multiple=True,
    help="Only the binary for linux64, win64, darwin64, ...; can be repeated. linux64=aarch64-linux puts the one for "
    "ARM where linux64's would be.",
)  # fmt: skip
@click.option("--all", "all_variables", is_flag=True, help="Exports more than 2000 variables.")
@click.option("--scene", is_flag=True, help="Adds the page of `fmumbs view` to the FMU's documentation.")
@click.option(
    "--inverse", is_flag=True,
    help="An FMU of inverse dynamics, without states: positions, velocities and accelerations in, forces and reactions "
    "out.",
)  # fmt: skip
@click.option(
    "--actuated", "actuated", metavar="NAME", multiple=True,
    help="With --inverse, an input that exerts the forces, as A.tau; one for each degree of freedom. Loops need it.",
)  # fmt: skip
@click.option(
    "--realtime", is_flag=True,
    help="For real-time computers: fixed steps (rk4, --step), with what the worst one takes in the documentation.",
)  # fmt: skip
@click.option("--verify", "verifies", is_flag=True, help="Verifies each FMU, as `fmumbs verify` does.")
def export(
    models: tuple[str, ...],
    output: str | None,
    purpose: str,
    source_only: bool,
    backend: str,
    settings: Settings,
    starts: Settings,
    platforms: tuple[str, ...],
    fmi: str,
    kind: str | None,
    states: str,
    arrays: bool,
    naming: str,
    all_variables: bool,
    scene: bool,
    inverse: bool,
    actuated: tuple[str, ...],
    realtime: bool,
    verifies: bool,
    **integration: Any,
) -> None:
    """Writes an FMU for each MODEL, or C functions for CasADi.

    \b
    fmumbs export double_pendulum
    fmumbs export pendulum arm6 -o fmus/
    fmumbs export pendulum --fmi 3
    fmumbs export pendulum --set length=0.5 -o short.fmu --scheme rk4 --step 1e-3 --verify
    fmumbs export four_bar --kind me --states independent
    fmumbs export arm6 --inverse -o feed_forward.fmu
    fmumbs export arm6 --realtime --step 5e-4
    fmumbs export four_bar --inverse --actuated A.tau -o crank.fmu
    fmumbs export four_bar --for casadi
    """
    if purpose == "casadi":
        export_for_casadi(models, output, settings, starts, states, source_only)
        return
    if source_only:
        raise click.UsageError("--source-only is for --for casadi: an FMU has its C file in sources/ anyway.")
    from fmumbs.export import export_fmu
    from fmumbs.export.installed import missing_platforms

    if output and len(models) > 1 and output.endswith(".fmu"):
        raise click.UsageError(f"several models do not fit into '{output}'. Give a folder with -o.")
    if output and (len(models) > 1 or os.path.isdir(output)):
        output = os.path.join(output, "")
    failed = False
    for name in models:
        model = read_model(name, settings)
        path = export_fmu(
            model, output or f"{model.name}.fmu", fmi=int(fmi), kind=kind, backend=backend, starts=starts,
            platforms=platforms or None, naming=naming, all_variables=all_variables, scene=scene,
            inverse=inverse, actuated=actuated or None, arrays=arrays, realtime=realtime, states=states, **integration,
        )  # fmt: skip
        click.echo(f"{path}  {path.stat().st_size / 1024:.0f} kB{_scene_size(path) if scene else ''}")
        _tell_of_reading(model)
        failed |= verifies and _verify(path, None)
    if backend == "native" and not platforms and (missing := missing_platforms()):
        click.echo(f"without binaries for {', '.join(missing)}, which this installation does not have", err=True)
    if scene:
        say_if_recorded_only()
    if failed:
        sys.exit(1)


@main.command()
@click.argument("target", metavar="MODEL|FMU")
@click.option("--stop", type=Positive(), help="Stop time [s].")
@click.option("--interval", type=Positive(), help="Interval between two results [s].")
@integration
@setting
@inputs_over_time
@interpolation
@click.option(
    "--replay", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="CSV file that the page of `fmumbs view` saved: the same live run of a MODEL, bit for bit.",
)  # fmt: skip
@click.option(
    "-o", "--out", "--output", "out", type=ResultFile(),
    help="Writes the results: .csv, .mat (MATLAB 4, as Dymola's), .h5 or .parquet.",
)  # fmt: skip
@click.option("--plot", type=NewFile(), help="Plots the joints' positions.")
def run(
    target: str,
    stop: float | None,
    interval: float | None,
    settings: Settings,
    inputs: Path | None,
    interpolation: Interpolation,
    replay: Path | None,
    out: Path | None,
    plot: Path | None,
    **integration: Any,
) -> None:
    """Simulates a MODEL with the Solver, or an FMU with FMPy, and prints start and end values.

    For an FMU, --set gives a start value or a parameter by its name.

    \b
    fmumbs run double_pendulum --stop 5 --out motion.csv --plot motion.png
    fmumbs run double_pendulum.fmu --input torques.csv --set solver.tolerance=1e-9 -o motion.mat
    """
    from fmumbs import play

    if replay is not None and (stop or interval or inputs or _is_fmu(target)):
        what = "an FMU" if _is_fmu(target) else "--stop, --interval and --input"
        raise click.UsageError(f"--replay does not go with {what}: its file has the times and inputs of a MODEL.")
    chosen = given(integration)
    options = play.Options(stop=stop, interval=interval, inputs=inputs, interpolation=interpolation, run=chosen)
    with run_warnings(), progress_bar(f"running {target}") as progress:
        if _is_fmu(target):
            result, failure = _as_far_as(lambda: play.run_fmu(target, options, settings, progress=progress))
        else:
            model = read_model(target, settings)
            if replay is not None:
                result, failure = _as_far_as(lambda: play.replay(model, replay, progress=progress, **chosen))
            else:
                result, failure = _as_far_as(lambda: play.run_model(model, options, progress=progress))
    _report(result, out, plot)
    printing.print_summary(play.summary(result))
    _tell_of_schemes(options.run.get("scheme"), result)
    _fail(failure)


def _tell_of_schemes(scheme: object, result: "Result") -> None:
    """How many steps auto took by radau, if the result has that."""
    for names in (("solver.implicit", "solver.steps"), ("solver_implicit", "solver_steps")):  # the latter: flat
        if scheme == "auto" and set(names) <= set(result.names):
            implicit, steps = (result[name][-1] for name in names)
            click.echo(f"auto took radau for {implicit:.0f} of {steps:.0f} steps.")


def _as_far_as(run: "Callable[[], Result]") -> "tuple[Result, SolverError | Interrupted | None]":
    """The result of a run, or what it had when it failed, with the error; raises an error that has no result."""
    try:
        return run(), None
    except (SolverError, Interrupted) as error:
        if error.result is None:
            raise
        return error.result, error


def _report(result: "Result", out: Path | None, plot: Path | None) -> None:
    """Writes the files that the options ask for."""
    from fmumbs import play

    if out is not None:
        result.save(out)
        click.echo(f"{out}")
    if plot is not None:
        play.plot(result, plot)
        click.echo(f"{plot}")


def _fail(failure: SolverError | Interrupted | None) -> None:
    """Raises the error of a run that stopped early, whose results are printed."""
    if failure is not None:
        click.echo(f"The run stopped early: these results end at t = {failure.time:g} s.", err=True)
        raise failure


@main.command()
@click.argument("file", metavar="SYSTEM.py")
@click.option(
    "-o", "--output", type=NewFile(), help="The package to write; the default is NAME.ssp in the current folder."
)
@setting
def ssp(file: str, output: Path | None, settings: Settings) -> None:
    """Writes a system of FMUs as a System Structure and Parameterization package (SSP 1.0).

    SYSTEM.py has a function build() that returns a System: FMUs, their connections and start values. Units are checked
    at every connection. The package also has an OspSystemStructure.xml for libcosim.

    \b
    fmumbs ssp speed_control.py -o speed_control.ssp
    fmumbs ssp speed_control.py --set step=1e-4
    """
    from fmumbs.readers import read_built
    from fmumbs.system import System

    system = read_built(file, settings, System)
    plan = system.check()
    path = system.save(output or Path(f"{system.name}.ssp"))
    printing.print_system(path, plan)


@main.command()
@click.argument("package", metavar="SSP", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--engine", type=click.Choice(ENGINES), default="libcosim", show_default=True,
    help="libcosim, of the Open Simulation Platform; FMPy's own SSP runner; OMSimulator, if it is installed.",
)  # fmt: skip
@click.option("--stop", type=Positive(), help="Stop time [s]; by default that of the package.")
@click.option("--step", type=Positive(), help="Communication step [s]; by default that of the package.")
@click.option(
    "-o", "--out", "--output", "out", type=ResultFile(),
    help="Writes the results: .csv, .mat (MATLAB 4, as Dymola's), .h5 or .parquet.",
)  # fmt: skip
@click.option("--plot", type=NewFile(), help="Plots the joints' positions.")
def cosim(
    package: Path, engine: str, stop: float | None, step: float | None, out: Path | None, plot: Path | None
) -> None:
    """Runs a system of FMUs (SSP 1.0) in a co-simulation engine, and prints start and end values.

    All engines give the same columns, named ELEMENT.VARIABLE. In the first step libcosim passes the initial outputs on
    to the inputs, FMPy takes the inputs' start values; with start values that agree, the results agree.

    \b
    fmumbs cosim speed_control.ssp --out run.csv --plot run.png
    fmumbs cosim speed_control.ssp --engine fmpy --step 1e-4
    """
    from fmumbs import play
    from fmumbs.system import open_system

    with open_system(package, stop=stop, step=step) as system, progress_bar(f"{package} in {engine}") as progress:
        result, failure = _as_far_as(lambda: system.run(engine, progress=progress))
        notes = system.notes
    printing.print_notes(notes)
    _report(result, out, plot)
    printing.print_summary(play.summary(result))
    _fail(failure)


@main.command()
@click.argument("fmu", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--against", metavar="MODEL", help="The model that the FMU should match.")
@setting
def verify(fmu: Path, against: str | None, settings: Settings) -> None:
    """Verifies an FMU: schema, FMPy's validation, every declared capability, parity with the Solver.

    \b
    fmumbs verify double_pendulum.fmu
    fmumbs verify double_pendulum.fmu --against double_pendulum --set mass=1.0
    """
    if against is None:
        _refuse_settings(settings)
    if _verify(fmu, None if against is None else read_model(against, settings)):
        sys.exit(1)


main.add_command(linearize)
main.add_command(sweep)
main.add_command(view)


def _tell_of_reading(model: "Model") -> None:
    """Says that a reader changed or left out something."""
    if model.reading is None:
        return
    changed, left_out = (len(model.reading.of(what)) for what in ("changed", "left out"))
    if changed or left_out:
        click.echo(
            f"{model.reading.file}: {changed} changed, {left_out} left out; `fmumbs check` lists them", err=True
        )


def _scene_size(path: Path) -> str:
    """How much of an FMU its page is."""
    from zipfile import ZipFile

    with ZipFile(path) as archive:
        size = archive.getinfo("documentation/scene.html").compress_size
    return f", of which the scene {size / 1024:.0f} kB"


def _verify(path: Path, model: "Model | None") -> bool:
    """Verifies an FMU and prints the findings; returns whether there are any."""
    from fmumbs.verify import CHECKS, Finding, not_executed, verify_fmu

    begun: list[str] = []
    notes: list[Finding] = []
    with progress_bar(f"verifying {path}") as progress:

        def begin(name: str) -> None:
            begun.append(name)
            progress(CHECKS.index(name) / len(CHECKS))

        findings = verify_fmu(path, model, progress=begin, notes=notes.append)
    printing.print_findings(path, findings, notes, f"{len(begun)} of {len(CHECKS)} checks")
    if others := not_executed(path):
        click.echo(f"not executed, as this host cannot: the binaries for {', '.join(others)}")
    return bool(findings)


def _is_fmu(target: str) -> bool:
    return target.lower().endswith(".fmu")


def _refuse_settings(settings: Settings) -> None:
    if settings:
        raise click.UsageError("--set sets parameters of a model's build(). Leave it out, or name the model.")
