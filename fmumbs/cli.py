"""The command line: verbs that call the library and print what it returns.

Exit status: 0 all is well, 1 problems were found, 2 wrong use, 130 after Ctrl-C. FMPy, rich, SciPy and
matplotlib are imported by the verb that needs them.
"""

# ruff: noqa: D301  (\b is click's own mark before lines that are not to be filled)

import errno
import io
import json
import math
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fmumbs.errors import FmumbsError, Interrupted, SolverError, StartWarning
from fmumbs.readers import NoSuchModel, read_model

if TYPE_CHECKING:
    from fmumbs.analysis import ToolName

PATIENCE = 2.0  # seconds after which a progress bar shows
INTERRUPTED = 130  # the exit status after Ctrl-C
MOST = 40  # rows of a table, lines of a tree
MOST_IN_A_ROW = 12  # levels of a tree, names in a sentence


Settings = dict[str, Any]


def _settings(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> Settings:
    """NAME=VALUE, each value a Python literal, or else text."""
    import ast

    settings = {}
    for one in given:
        name, equals, text = (part.strip() for part in one.partition("="))
        if not equals or not name:
            raise click.BadParameter(f"'{one}' is no NAME=VALUE. Give it as in --set length=0.5.", ctx, param)
        try:
            settings[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            settings[name] = text
    return settings


def _correction(ctx: click.Context, param: click.Parameter, given: str | None) -> str | tuple[float, float] | None:
    """direct, off, or two numbers."""
    if given is None or given in ("direct", "off"):
        return given
    try:
        alpha, beta = (float(part) for part in given.split(","))
    except ValueError:
        raise click.BadParameter(
            f"'{given}' is no way to keep loops closed. Give direct, off, or two numbers as in 20,20.", ctx, param
        ) from None
    return alpha, beta


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
    """A file to write when all is computed: what cannot be one is refused before."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        folder, name = os.path.split(value)
        if not name:
            self.fail(f"'{value}' is a folder. Name a file in it.", param, ctx)
        if not os.path.isdir(folder or "."):
            self.fail(f"there is no folder '{folder}'. Make it, or name another.", param, ctx)
        return super().convert(value, param, ctx)


class Verbs(click.Group):
    """Turns the library's errors into messages and exit statuses, and keeps the verbs in the order of use."""

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # a name that the terminal's encoding lacks is no error
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except NoSuchModel as error:
            raise click.UsageError(str(error), ctx) from error
        except FmumbsError as error:
            raise click.ClickException(str(error)) from error
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # what reads the output wants no more of it
            raise click.ClickException(f"{error.filename or 'a file'}: {error.strerror or error}") from error
        except MemoryError as error:
            raise click.ClickException("there is not enough memory. Make the model or the run smaller.") from error
        except KeyboardInterrupt as error:
            click.echo(str(error) or "interrupted", err=True)
            if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
                sys.stdout.flush()
                os._exit(INTERRUPTED)  # an FMU is amid a call that may never return
            ctx.exit(INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Begin with `fmumbs demo`. Each verb explains itself: `fmumbs export --help`.",
)
@click.version_option(package_name="fmumbs")
def main() -> None:
    """Multibody mechanisms in Python, exported as FMI 2.0 co-simulation FMUs.

    \b
    fmumbs check double_pendulum                      what the mechanism is, and what may be wrong
    fmumbs run double_pendulum --stop 5 --plot a.png  simulate it here
    fmumbs export double_pendulum --verify            write double_pendulum.fmu and try it out
    fmumbs run double_pendulum.fmu --out a.csv        simulate the FMU, by FMPy

    MODEL is the path of a Python file with a function build() that returns a Model, or the stem of one that
    ships with fmumbs, such as double_pendulum. --set NAME=VALUE gives a parameter of its build().

    Exit status: 0 fine, 1 problems found, 2 wrong use, 130 stopped by Ctrl-C.
    """


setting = click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    callback=_settings,
    help="Sets a parameter of the model; repeat for more.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Prints JSON instead of tables.")
scheme = click.option(
    "--scheme",
    type=click.Choice(["dopri5", "rk4"]),
    help="Integration: with error control, or with fixed step.",
)
step = click.option("--step", type=Positive(), help="Its step [s].")
tolerance = click.option("--tol", "tolerance", type=Positive(), help="Its relative tolerance.")
correction = click.option(
    "--correction",
    metavar="direct|off|ALPHA,BETA",
    callback=_correction,
    help="How loops are kept closed: by direct correction, not at all, or by Baumgarte's stabilisation [1/s].",
)
closure = click.option(
    "--closure",
    type=Positive(),
    help="What the direct correction leaves of a violation, over the model's length.",
)


@main.command()
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo"),
    show_default=True,
    help="Where the FMU, the results and the plot go.",
)
def demo(folder: Path) -> None:
    """Exports a mechanism, runs its FMU in FMPy, prints a table and writes a plot.

    \b
    fmumbs demo
    """
    from fmumbs.export import demo as story

    with _progress("double_pendulum.fmu") as tell:
        told = story.demo(folder, progress=tell)
    _print_demo(told)
    if told.missing:
        click.echo(told.missing, err=True)


@main.command()
@click.argument("model")
@setting
@click.option("--set-of", metavar="JOINTS", help="Looks at the reactions of these joints together, such as A,C,E.")
@click.option(
    "--tool", type=click.Choice(["rank", "qr", "svd", "nullspace"]),
    help="Looks at them by divide and conquer too, with this tool, and tells its steps.",
)  # fmt: skip
@click.option("--all", "everything", is_flag=True, help=f"Also what is beyond {MOST} rows.")
@as_json
def check(
    model: str, settings: Settings, set_of: str | None, tool: "ToolName | None", everything: bool, as_json: bool
) -> None:
    """Tells a mechanism's topology and mobility, which of its reactions are unique, and what may be wrong with it.

    \b
    fmumbs check four_bar
    fmumbs check branch_chain --set bodies=50 --json
    fmumbs check parallelogram_pendulum --set-of A,C,E,G
    """
    from fmumbs.export.inspection import check_model

    chosen = [name.strip() for name in (set_of or "").split(",") if name.strip()]
    facts = check_model(read_model(model, settings), chosen, tool)
    if as_json:
        click.echo(json.dumps(facts, indent=2))
    else:
        _print_check(facts, None if everything else MOST)
    if facts["problems"]:
        sys.exit(1)


@main.command()
@click.argument("target", metavar="MODEL|FMU")
@setting
@as_json
def info(target: str, settings: Settings, as_json: bool) -> None:
    """Lists the variables with their units, and tells sizes and capabilities.

    \b
    fmumbs info double_pendulum
    fmumbs info double_pendulum.fmu --json
    """
    from fmumbs.export.inspection import fmu_info, image_info

    if _is_fmu(target):
        _refuse_settings(settings)
        facts = fmu_info(target)
    else:
        from fmumbs.compiler import compile

        facts = image_info(compile(read_model(target, settings)))
    if as_json:
        click.echo(json.dumps(facts, indent=2))
    else:
        _print_info(facts)


@main.command()
@click.argument("models", metavar="MODEL...", nargs=-1, required=True)
@click.option(
    "-o", "--output", type=click.Path(),
    help="The FMU to write, or a folder such as fmus/; without it, NAME.fmu here.",
)  # fmt: skip
@click.option(
    "--backend", type=click.Choice(["native", "pythonfmu"]), default="native", show_default=True,
    help="What runs in it: a binary that needs nothing else, or the Python of its host.",
)  # fmt: skip
@scheme
@step
@tolerance
@correction
@closure
@setting
@click.option(
    "--start", "starts", metavar="NAME=VALUE", multiple=True, callback=_settings,
    help="A start value of an input, a state or a parameter, such as A.tau=0.05; repeat for more.",
)  # fmt: skip
@click.option("--all", "all_variables", is_flag=True, help="Also with more than 2000 variables.")
@click.option("--verify", "verifies", is_flag=True, help="Tries each FMU out, as `fmumbs verify` does.")
def export(
    models: tuple[str, ...],
    output: str | None,
    backend: str,
    scheme: str | None,
    step: float | None,
    tolerance: float | None,
    correction: str | tuple[float, float] | None,
    closure: float | None,
    settings: Settings,
    starts: Settings,
    all_variables: bool,
    verifies: bool,
) -> None:
    """Writes an FMI 2.0 co-simulation FMU of each MODEL.

    \b
    fmumbs export double_pendulum
    fmumbs export pendulum arm6 -o fmus/
    fmumbs export pendulum --set length=0.5 -o short.fmu --scheme rk4 --step 1e-3 --verify
    """
    from fmumbs.export import export_fmu

    if output and len(models) > 1 and output.endswith(".fmu"):
        raise click.UsageError(f"several models do not fit into '{output}'. Give -o a folder.")
    if output and (len(models) > 1 or os.path.isdir(output)):
        output = os.path.join(output, "")
    failed = False
    for name in models:
        model = read_model(name, settings)
        path = export_fmu(
            model, output or f"{model.name}.fmu", backend=backend, scheme=scheme, step=step, tolerance=tolerance,
            correction=correction, closure=closure, starts=starts, all_variables=all_variables,
        )  # fmt: skip
        click.echo(f"{path}  {path.stat().st_size / 1024:.0f} kB")
        failed |= verifies and _verify(path, None)
    if failed:
        sys.exit(1)


@main.command()
@click.argument("target", metavar="MODEL|FMU")
@click.option("--stop", type=Positive(), help="Until when [s].")
@click.option("--interval", type=Positive(), help="Between two results [s].")
@scheme
@step
@tolerance
@correction
@closure
@setting
@click.option(
    "--input",
    "inputs",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A CSV file: time, then inputs by name.",
)
@click.option("--out", type=NewFile(), help="Writes the results as CSV.")
@click.option("--plot", type=NewFile(), help="Draws the joints' positions.")
def run(
    target: str,
    stop: float | None,
    interval: float | None,
    scheme: str | None,
    step: float | None,
    tolerance: float | None,
    correction: str | tuple[float, float] | None,
    closure: float | None,
    settings: Settings,
    inputs: Path | None,
    out: Path | None,
    plot: Path | None,
) -> None:
    """Simulates a MODEL here, or an FMU in FMPy, and tells where it ends.

    For an FMU, --set gives a start value or a parameter by its name.

    \b
    fmumbs run double_pendulum --stop 5 --out motion.csv --plot motion.png
    fmumbs run double_pendulum.fmu --input torques.csv --set solver.tolerance=1e-9
    """
    from fmumbs.export import play

    options = play.Options(stop, interval, scheme, step, tolerance, inputs, correction, closure)
    failure: SolverError | Interrupted | None = None
    with _told_of_starts(), _progress(f"running {target}") as tell:
        try:
            if _is_fmu(target):
                result = play.run_fmu(target, options, settings, progress=tell)
            else:
                result = play.run_model(read_model(target, settings), options, progress=tell)
        except (SolverError, Interrupted) as error:
            if error.result is None:
                raise
            failure, result = error, error.result
    if out is not None:
        result.save_csv(out)
        click.echo(f"{out}")
    if plot is not None:
        play.plot(result, plot)
        click.echo(f"{plot}")
    _print_summary(play.summary(result))
    if failure is not None:
        click.echo(f"The run ended early: all of this reaches only to t = {failure.time:g} s.", err=True)
        raise failure


@main.command()
@click.argument("fmu", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--against", metavar="MODEL", help="The model that it should have been made from.")
@setting
def verify(fmu: Path, against: str | None, settings: Settings) -> None:
    """Checks an FMU: schema, FMPy's validation, every declared capability, parity with the Solver.

    \b
    fmumbs verify double_pendulum.fmu
    fmumbs verify double_pendulum.fmu --against double_pendulum --set mass=1.0
    """
    if against is None:
        _refuse_settings(settings)
    model = None if against is None else read_model(against, settings)
    if _verify(fmu, model):
        sys.exit(1)


def _verify(path: Path, model: Any) -> bool:
    """Whether there are findings; prints them."""
    from fmumbs.export.verify import CHECKS, Finding, verify_fmu

    begun: list[str] = []
    notes: list[Finding] = []
    with _progress(f"verifying {path}") as tell:

        def begin(name: str) -> None:
            begun.append(name)
            tell(CHECKS.index(name) / len(CHECKS))

        findings = verify_fmu(path, model, progress=begin, notes=notes.append)
    for note in notes:
        click.echo(f"{note.check}, not judged: {note.message}")
    for finding in findings:
        click.secho(f"{finding.check}: ", fg="red", nl=False)
        click.echo(finding.message)
    click.echo(f"{path}  {len(begun)} of {len(CHECKS)} checks, {_count(len(findings), 'problem')}")
    return bool(findings)


def _is_fmu(target: str) -> bool:
    return target.lower().endswith(".fmu")


def _refuse_settings(settings: Settings) -> None:
    if settings:
        raise click.UsageError("--set gives the parameters of a model's build(). Leave it out, or name the model.")


# What is printed ------------------------------------------------------------------------------------------


def _print_demo(told: Any) -> None:
    table = _new_table(f"{told.fmu.name}: in FMPy and here", "variable", "unit", "start", "end", "Solver's end")
    for row in told.rows:
        table.add_row(row.name, row.unit, f"{row.start:.6f}", f"{row.end:.6f}", f"{row.solver:.6f}")
    _show(table)
    same = "the same bits as" if told.same_bits else "NOT the same bits as"
    click.echo(
        f"exported in {1e3 * told.export_seconds:.0f} ms, {told.stop:g} s simulated in "
        f"{told.run_seconds:.2f} s; {same} the Solver"
    )
    for path in told.files:
        click.echo(f"wrote {path}")


def _print_check(facts: dict[str, Any], most: int | None) -> None:
    _print_tree(facts, most)
    table = _new_table(None, "", "")
    table.show_header = False
    mobility = "depends on the loops' rank" if facts["mobility"] is None else str(facts["mobility"])
    if facts.get("gruebler", facts["mobility"]) != facts["mobility"]:
        mobility += f", by Grübler's count {facts['gruebler']}"
    table.add_row("bodies, joints", f"{facts['bodies']}, {facts['joint_count']}")
    table.add_row("springs, loads, force laws", f"{facts['springs']}, {facts['loads']}, {facts['laws']}")
    if facts["couplings"]:
        table.add_row("couplings", str(facts["couplings"]))
    table.add_row("on the ground, longest chain", f"{facts['roots']}, {facts['depth']}")
    table.add_row("mobility", mobility)
    table.add_row("loops", f"{facts['loops']} {_names(facts['cuts'], most)}")
    if not facts["redundant"]:
        table.add_row("reactions", f"{facts['rows']}" + (", all unique" if facts["rank"] is not None else ""))
    else:
        table.add_row("rows of constraint", f"{facts['rows']}, of which {facts['rank']} are independent")
        table.add_row("degree of indeterminacy", str(facts["redundant"]))
        values = facts["singular_values"]
        gap = f"{values['smallest_kept']:.1e} is the least that counts, {values['largest_dropped']:.1e} the next"
        table.add_row("singular values", gap)
    if facts["variables"] is not None:
        table.add_row("variables", str(facts["variables"]))
    _show(table)
    if facts["redundant"]:
        _print_reactions(facts, most)
    if "set" in facts:
        _print_set(facts["set"])
    if "divide_and_conquer" in facts:
        _print_steps(facts["divide_and_conquer"], most)
    for kind, colour in (("problems", "red"), ("warnings", "yellow")):
        for message in facts[kind]:
            click.secho(f"{kind[:-1]}: ", fg=colour, nl=False)
            click.echo(message)


def _print_tree(facts: dict[str, Any], most: int | None) -> None:
    """The bodies and what each hangs by: the first `most`, and no more levels than are read with ease."""
    from rich.text import Text
    from rich.tree import Tree

    nodes, levels = {"ground": Tree(Text.assemble((facts["name"], "bold"), ": ground"))}, {"ground": 0}
    for branch in facts["branches"]:
        body, parent = branch["body"], branch["parent"]
        levels[body] = levels[parent] + 1
        if most is not None and (len(nodes) > most or levels[body] > MOST_IN_A_ROW):
            continue
        joint = f"{branch['kind']} {branch['joint']}, {_count(branch['freedoms'], 'freedom')}"
        text = Text.assemble(body, "  ", (joint, "dim"))
        nodes[body] = nodes[parent].add(text)
    _show(nodes["ground"])
    _tell_rest(len(levels) - len(nodes))


def _print_reactions(facts: dict[str, Any], most: int | None) -> None:
    """Which reactions can be trusted, and the mend."""
    from rich.text import Text

    yes, no, space = Text("yes", "green"), Text("no", "red"), Text(" ")
    columns = "joint", "unique", "f x y z", "t x y z", "indeterminate directions"
    table = _new_table("reactions at M in F's axes", *columns)
    for joint in facts["joints"][:most]:
        marks = [yes if one else no for one in joint["components_unique"]]
        unique = yes if joint["unique"] else no
        count = str(joint["indeterminate_dimension"])
        table.add_row(joint["joint"], unique, space.join(marks[:3]), space.join(marks[3:]), count)
    _show(table)
    _tell_rest(len(facts["joints"]) - len(facts["joints"][:most]))
    mends = facts["mend"]
    for free in mends["free"][:most]:
        name, directions = free["joint"], free["directions"]
        mend = f"free joint '{name}' of {directions} (in its F's axes)" if directions else f"leave out '{name}'"
        click.echo(f"mend: {mend}")
    _tell_rest(len(mends["free"]) - len(mends["free"][:most]))
    flexible, rigid = (_names(mends[what], most) or "none" for what in ("make_flexible", "may_stay_rigid"))
    click.echo(f"or make flexible: {flexible}; may stay rigid: {rigid}")


def _names(names: list[str], most: int | None) -> str:
    shown = names if most is None else names[:MOST_IN_A_ROW]
    rest = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return ", ".join(shown) + rest


def _tell_rest(count: int, how: str = "--all shows them") -> None:
    if count > 0:
        click.echo(f"... and {count} more; {how}")


def _print_set(told: dict[str, Any]) -> None:
    total, parts = ("unique" if told[what] else "not unique" for what in ("unique", "components_unique"))
    click.echo(
        f"joints {', '.join(told['joints'])} together: in total {total}, components {parts}, "
        f"{_count(told['indeterminate_dimension'], 'indeterminate direction')}"
    )


def _print_steps(told: dict[str, Any], most: int | None) -> None:
    """The steps of divide and conquer, in the order in which they found what."""
    if "reason" in told:
        click.echo(f"divide and conquer: {told['reason']}")
        return
    for one in told["connections"]:
        of_G = f"G has rank {one['rank']} of {one['size']} ({told['tool']})"
        click.echo(f"on the ground by {_names(one['joints'], most)}: {of_G}")
    table = _new_table("divide and conquer", "step", "", "unique", "not unique")
    for step in told["steps"]:
        shown = [one for one in step["found"] if step["step"] <= 2 or not one[0].startswith("assembly ")]
        found: dict[bool, list[str]] = {True: [], False: []}
        for at, joint, unique in shown:
            found[unique].append(f"{at} {joint or 'empty'}")
        table.add_row(str(step["step"]), step["title"], _names(found[True], most), _names(found[False], most))
    _show(table)


def _print_info(facts: dict[str, Any]) -> None:
    table = _new_table(None, "variable", "", "unit", "start", "meaning")
    for v in facts["variables"]:
        start = "" if v["start"] is None else f"{v['start']:g}" if isinstance(v["start"], float | int) else v["start"]
        table.add_row(v["name"], v["causality"], v["unit"], start, v["description"])
    _show(table)
    about = _new_table(f"{facts['name']}  {facts['guid']}", "", "")
    about.show_header = False
    if facts["description"]:
        about.add_row("description", facts["description"])
    if facts["kind"] == "fmu":
        about.add_row("made by", facts["tool"])
        about.add_row("platforms", ", ".join(facts["platforms"]) or "none: source code only")
    about.add_row("variables", str(len(facts["variables"])))
    about.add_row("bytes", ", ".join(f"{name} {size}" for name, size in facts["bytes"].items()))
    about.add_row("experiment", ", ".join(f"{name} {value:g}" for name, value in facts["experiment"].items()))
    for name, value in facts["capabilities"].items():
        about.add_row(name, value)
    _show(about)


def _print_summary(rows: list[Any]) -> None:
    table = _new_table(None, "variable", "unit", "start", "end", "least", "greatest")
    for row in rows[:MOST]:
        numbers = (f"{value:.6g}" for value in (row.start, row.end, row.least, row.greatest))
        table.add_row(row.name, row.unit, *numbers)
    _show(table)
    _tell_rest(len(rows) - MOST, "--out FILE.csv has them all")


def _new_table(title: str | None, *columns: str) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for column in columns:
        numeric = column in ("start", "end", "Solver's end", "least", "greatest")
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    return table


def _show(renderable: Any) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)  # names are names, [b] or not
    if not console.is_terminal:
        console.width = 10_000  # a pipe has no width; what reads it wants whole lines
    console.print(renderable)


@contextmanager
def _progress(text: str) -> Iterator[Callable[[float], None]]:
    """A bar on the terminal once PATIENCE is over; the function given tells the part that is done, 0 to 1."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda part: None
        return
    bar = Progress(console=console, transient=True)
    task = bar.add_task(escape(text), total=1.0)
    timer = threading.Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda part: bar.update(task, completed=part)
    finally:
        timer.cancel()
        timer.join()
        if bar.live.is_started:
            bar.stop()


@contextmanager
def _told_of_starts() -> Iterator[None]:
    """Prints what a run tells of start values that could not hold."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", StartWarning)
        yield
    for one in seen:
        if issubclass(one.category, StartWarning):
            click.secho("warning: ", fg="yellow", nl=False, err=True)
            click.echo(str(one.message), err=True)
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


if __name__ == "__main__":
    main()
