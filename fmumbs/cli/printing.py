"""What each command prints, from the facts that the library returns."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fmumbs.cli.terminal import MOST, MOST_IN_A_ROW, counted, joined, new_list, new_table, show, show_rest, show_rows

if TYPE_CHECKING:
    from fmumbs.cli.demo import Demo
    from fmumbs.play import Row
    from fmumbs.system import Plan
    from fmumbs.verify import Finding

Facts = dict[str, Any]
Table = tuple[tuple[str, ...], list[tuple[str, ...]]]  # headings and rows


def print_demo(done: "Demo") -> None:
    """The table of the variables, the times, and the files that were written."""
    table = new_table(f"{done.fmu.name}: FMPy and Solver", "variable", "unit", "start", "end", "Solver's end")
    for row in done.rows:
        table.add_row(row.name, row.unit, f"{row.start:.6f}", f"{row.end:.6f}", f"{row.solver:.6f}")
    show(table)
    same = "the same bits as" if done.same_bits else "NOT the same bits as"
    click.echo(
        f"exported in {1e3 * done.export_seconds:.0f} ms, {done.stop:g} s simulated in "
        f"{done.run_seconds:.2f} s; {same} the Solver"
    )
    for path in done.files:
        what = ": open it in a browser, and drag the pendulum" if path.suffix == ".html" else ""
        click.echo(f"wrote {path}{what}")


def print_check(facts: Facts, most: int | None) -> None:
    """Tree, counts, reactions, problems and warnings of check_model(); most: rows of a table, None for all."""
    _print_tree(facts, most)
    show(_counts(facts, most))
    if facts["redundant"]:
        _print_reactions(facts, most)
    if "set" in facts:
        _print_set(facts["set"])
    if "divide_and_conquer" in facts:
        _print_steps(facts["divide_and_conquer"], most)
    if facts.get("equilibrium"):
        _print_equilibrium(facts["equilibrium"], most)
    if facts["reading"]:
        _print_reading(facts["reading"], most)
    for kind, colour in (("problems", "red"), ("warnings", "yellow")):
        for message in facts[kind]:
            click.secho(f"{kind[:-1]}: ", fg=colour, nl=False)
            click.echo(message)


def _print_reading(found: Facts, most: int | None) -> None:
    """How much of a file was taken, and what was changed or left out."""
    rows = {what: [row for row in found["rows"] if row["what"] == what] for what in ("taken", "changed", "left out")}
    click.echo(f"read from {found['file']}: {', '.join(f'{len(some)} {what}' for what, some in rows.items())}")
    told = rows["changed"] + rows["left out"]
    for row in told[:most]:
        line = "" if row["line"] is None else f"line {row['line']}, "
        click.echo(f"  {row['what']}: {line}{row['element']}: {row['text']}")
    show_rest(len(told) - len(told[:most]))


def _print_equilibrium(found: Facts, most: int | None) -> None:
    """Verdict, positions and frequencies."""
    click.echo(found["text"])
    named = [f"{name} = {value:.6g}" for name, value in found["positions"].items()]
    click.echo(f"positions: {joined(named, most)}")
    click.echo(f"angular frequencies [rad/s]: {joined([f'{value:.6g}' for value in found['frequencies']], most)}")


def _counts(facts: Facts, most: int | None) -> Any:
    table = new_list(None)
    mobility = "depends on the loops' rank" if facts["mobility"] is None else str(facts["mobility"])
    if facts.get("gruebler", facts["mobility"]) != facts["mobility"]:
        mobility += f", by Grübler's count {facts['gruebler']}"
    table.add_row("bodies, joints", f"{facts['bodies']}, {facts['joint_count']}")
    table.add_row("springs, loads, force laws", f"{facts['springs']}, {facts['loads']}, {facts['laws']}")
    if facts["ropes"]:
        table.add_row("ropes", str(facts["ropes"]))
    if facts["couplings"]:
        table.add_row("couplings", str(facts["couplings"]))
    if facts["programs"]:
        table.add_row("programs", str(facts["programs"]))
    table.add_row("bodies on the ground, longest chain", f"{facts['roots']}, {facts['depth']}")
    table.add_row("mobility", mobility)
    table.add_row("loops", f"{facts['loops']} {joined(facts['cuts'], most)}")
    if facts["across"]:
        table.add_row("joints that constrain nothing", f"{len(facts['across'])} {joined(facts['across'], most)}")
    if not facts["redundant"]:
        table.add_row("reactions", f"{facts['rows']}" + (", all unique" if facts["rank"] is not None else ""))
    else:
        table.add_row("constraint rows", f"{facts['rows']}, {facts['rank']} of them independent")
        table.add_row("degree of redundancy", str(facts["redundant"]))
        values = facts["singular_values"]
        gap = f"smallest counted {values['smallest_kept']:.1e}, largest dropped {values['largest_dropped']:.1e}"
        table.add_row("singular values", gap)
    for one in facts["unstiffened"]:
        load = "" if one["load"] is None else f" or a thrust of {one['load']:.4g} N"
        matters = f"matters above {one['speed']:.4g} rad/s{load}: stiffening=True"
        table.add_row(f"geometric stiffness of {one['body']}, which has none", matters)
    if facts["variables"] is not None:
        table.add_row("variables", str(facts["variables"]))
    return table


def _print_tree(facts: Facts, most: int | None) -> None:
    """The spanning tree: the first `most` bodies, down to level MOST_IN_A_ROW."""
    from rich.text import Text
    from rich.tree import Tree

    nodes, levels = {"ground": Tree(Text.assemble((facts["name"], "bold"), ": ground"))}, {"ground": 0}
    for branch in facts["branches"]:
        body, parent = branch["body"], branch["parent"]
        levels[body] = levels[parent] + 1
        if most is not None and (len(nodes) > most or levels[body] > MOST_IN_A_ROW):
            continue
        joint = f"{branch['kind']} {branch['joint']}, {branch['dof']} DOF"
        text = Text.assemble(body, "  ", (joint, "dim"))
        nodes[body] = nodes[parent].add(text)
    show(nodes["ground"])
    show_rest(len(levels) - len(nodes))


def _print_reactions(facts: Facts, most: int | None) -> None:
    """Which reactions are unique, and what would make all of them so."""
    from rich.text import Text

    yes, no, space = Text("yes", "green"), Text("no", "red"), Text(" ")
    columns = "joint", "unique", "f x y z", "t x y z", "indeterminate directions"
    table = new_table("reactions at M in F's axes", *columns)
    for joint in facts["joints"][:most]:
        marks = [yes if one else no for one in joint["components_unique"]]
        unique = yes if joint["unique"] else no
        count = str(joint["indeterminate_dimension"])
        table.add_row(joint["joint"], unique, space.join(marks[:3]), space.join(marks[3:]), count)
    show(table)
    show_rest(len(facts["joints"]) - len(facts["joints"][:most]))
    fixes = facts["fix"]
    for one in fixes["free"][:most]:
        name, directions = one["joint"], one["directions"]
        fix = f"free joint '{name}' of {directions} (in its F's axes)" if directions else f"leave out '{name}'"
        click.echo(f"fix: {fix}")
    show_rest(len(fixes["free"]) - len(fixes["free"][:most]))
    flexible, rigid = (joined(fixes[what], most) or "none" for what in ("make_flexible", "may_stay_rigid"))
    click.echo(f"or make flexible: {flexible}; may stay rigid: {rigid}")


def _print_set(found: Facts) -> None:
    total, parts = ("unique" if found[what] else "not unique" for what in ("unique", "components_unique"))
    click.echo(
        f"joints {', '.join(found['joints'])} together: in total {total}, components {parts}, "
        f"{counted(found['indeterminate_dimension'], 'indeterminate direction')}"
    )


def _print_steps(found: Facts, most: int | None) -> None:
    """The steps of divide and conquer, each with what it found."""
    if "reason" in found:
        click.echo(f"divide and conquer: {found['reason']}")
        return
    for one in found["connections"]:
        rank = f"G has rank {one['rank']} of {one['size']} ({found['tool']})"
        click.echo(f"connected to the ground by {joined(one['joints'], most)}: {rank}")
    table = new_table("divide and conquer", "step", "", "unique", "not unique")
    for step in found["steps"]:
        shown = [one for one in step["found"] if step["step"] <= 2 or one["body"] is not None]
        names: dict[bool, list[str]] = {True: [], False: []}
        for one in shown:
            at = f"assembly {one['number']}" if one["body"] is None else one["body"]
            names[one["unique"]].append(f"{at} {one['joint'] or 'empty'}")
        table.add_row(str(step["step"]), step["title"], joined(names[True], most), joined(names[False], most))
    show(table)


def print_info(facts: Facts, modes: "dict[str, Table]") -> None:
    """The variables of image_info() or fmu_info(), the tables of modes_info(), then sizes and capabilities."""
    rows = [
        (name, v["causality"], v["unit"], starts, v["description"]) for name, v, starts in folded(facts["variables"])
    ]
    show_rows(("variable", "", "unit", "start", "meaning"), rows)
    for body, (headings, rows_of_modes) in modes.items():
        click.echo(f"\nmodes of {body}")
        show_rows(headings, rows_of_modes)
    about = new_list(f"{facts['name']}  {facts['guid']}")
    if facts["description"]:
        about.add_row("description", facts["description"])
    if facts["kind"] == "fmu":
        about.add_row("generated by", facts["tool"])
        about.add_row("platforms", ", ".join(facts["platforms"]) or "none: source code only")
    for name, value in facts["solver"].items():
        about.add_row(name, value)
    about.add_row("variables", str(len(facts["variables"])))
    if facts["terminals"]:
        named = (f"{name} ({', '.join(members.values())})" for name, members in facts["terminals"].items())
        about.add_row("terminals", "; ".join(named))
    about.add_row("bytes", ", ".join(f"{name} {size}" for name, size in facts["bytes"].items()))
    about.add_row("experiment", ", ".join(f"{name} {value:g}" for name, value in facts["experiment"].items()))
    for name, value in facts["capabilities"].items():
        about.add_row(name, value)
    show(about)


def _start(value: Any) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float | int) else str(value)


def folded(variables: "list[Facts]") -> "Iterator[tuple[str, Facts, str]]":
    """Name, the first variable and the start values of each run of components: B.r[1..3] for B.r[1], B.r[2], B.r[3]."""
    run: list[Facts] = []
    for variable in [*variables, None]:
        if run and (variable is None or not _follows(run[-1], variable)):
            name, last = run[0]["name"], run[-1]["name"]
            if len(run) > 1:
                name = f"{name[:-1]}..{last[last.rindex('[') + 1 :]}"
            starts = [_start(one["start"]) for one in run]
            yield name, run[0], starts[0] if len(set(starts)) == 1 else ", ".join(starts)
            run = []
        if variable is not None:
            run.append(variable)


def _follows(one: "Facts", other: "Facts") -> bool:
    """Whether `other` is the next component of the array that `one` is a component of."""
    first, second = (re.fullmatch(r"(.*)\[([0-9]+)\]", variable["name"]) for variable in (one, other))
    if first is None or second is None or first[1] != second[1] or int(second[2]) != int(first[2]) + 1:
        return False
    return all(one[what] == other[what] for what in ("causality", "variability", "type", "unit", "description"))


def print_summary(rows: "list[Row]") -> None:
    """What each variable did over a run."""
    table = new_table(None, "variable", "unit", "start", "end", "least", "greatest")
    for row in rows[:MOST]:
        numbers = (f"{value:.6g}" for value in (row.start, row.end, row.least, row.greatest))
        table.add_row(row.name, row.unit, *numbers)
    show(table)
    show_rest(len(rows) - MOST, "--out FILE.csv has them all")


def print_findings(path: Path, findings: "list[Finding]", notes: "list[Finding]", checks: str) -> None:
    """What verify_fmu() found, and what it could not judge."""
    for note in notes:
        click.echo(f"{note.check}, not judged: {note.message}")
    for finding in findings:
        click.secho(f"{finding.check}: ", fg="red", nl=False)
        click.echo(finding.message)
    click.echo(f"{path}  {checks}, {counted(len(findings), 'problem')}")


def print_notes(notes: Iterable[str]) -> None:
    """What a user should know of a system, a line each."""
    for note in notes:
        click.secho("note: ", fg="yellow", nl=False)
        click.echo(note)


def print_system(path: Path, plan: "Plan") -> None:
    """The package, the elements of the system, its connections, and what could not be checked."""
    table = new_table(None, "connection", "conversion")
    for link in plan.links:
        table.add_row(str(link), f"{link.factor:g} y + {link.offset:g}" if link.converts else "")
    show(table)
    print_notes(plan.notes)
    sizes = f"{counted(len(plan.parts), 'FMU')}, {counted(len(plan.links), 'connection')}"
    click.echo(f"{path}  {sizes}, {plan.count} steps of {plan.seconds:g} s, {path.stat().st_size / 1024:.0f} kB")
