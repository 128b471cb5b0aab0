"""docs/faults.md, from the lists and the results."""

import re
from collections import Counter
from pathlib import Path

from faults.lists import ROOT, Fault, Results

PAGE = ROOT / "docs" / "faults.md"
NOT_RUN, NOTHING = "not run", "**nothing**"


def write(faults: list[Fault], results: Results, path: Path = PAGE) -> None:
    path.write_text(page(faults, results))


def page(faults: list[Fault], results: Results) -> str:
    run = [f for f in faults if f.key in results]
    alive = [f for f in run if not results[f.key]["caught"]]
    commits = Counter(results[f.key].get("commit", "") for f in run)
    on = ", ".join(f"{count} on {f'`{c}`' if c else 'earlier commits'}" for c, count in commits.most_common())
    lines = [
        "# Faults planted in the code, and the tests that see them",
        "",
        "`make faults` plants each of these in a copy of the tree, builds it, and runs the tests that execute its line",
        "(`tests/faults/`); it writes this file. A fault that no test sees is a claim without a test.",
        "",
        f"{len(faults)} faults: {len(run) - len(alive)} are seen, {len(alive)} survive, {len(faults) - len(run)} have "
        "not been run.",
        f"Each was run on the commit that its result names in `tests/faults/results.json`: {on}. "
        "A + is for files of tests that were not committed yet.",
        "The first test that failed is named; what survives passed as many tests that execute its line as a",
        "limit of processor time allows, the nearest ones in all their cases, or, if there is a reason for which it",
        "changes nothing, at least those of its list.",
        "",
        "## What survives, and why",
        "",
    ]
    if alive:
        lines += ["| where | property | why |", "| --- | --- | --- |"]
        lines += [f"| `{f.file}` | {cell(f.breaks)} | {cell(f.why) or 'no test sees it yet'} |" for f in alive]
    else:
        lines += ["Nothing."]
    for room in dict.fromkeys(f.room for f in faults):
        lines += ["", f"## {room.replace('_', ' ').capitalize()}", ""]
        lines += ["| where | property that it breaks | seen by |", "| --- | --- | --- |"]
        for f in (f for f in faults if f.room == room):
            found = results.get(f.key, {}).get("caught")
            by = NOT_RUN if found is None else f"`{found.split('[')[0]}`" if found else NOTHING
            lines.append(f"| `{f.file}` | {cell(f.breaks)} | {by} |")
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """Text in a table, in which Markdown reads no links, emphasis or tags outside of code between backquotes."""
    parts = text.split("`")
    plain = [re.sub(r"[\\\[\]*<]", r"\\\g<0>", part) if i % 2 == 0 else part for i, part in enumerate(parts)]
    return "`".join(plain).replace("|", "\\|")
