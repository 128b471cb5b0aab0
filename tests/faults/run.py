"""Plants faults in a copy of the tree, one at a time, and lists those that no test detects.

    python tests/faults/run.py [WORD ...] [--new] [--survivors] [--first] [--most N] [--jobs N]
    python tests/faults/run.py --check | --table | --collect

A fault is an entry of the lists beside this file: the property that it breaks, the file, what is replaced by what, and
the tests that were made for it. WORDs select those that have all of them in their list's name, file or property; --new
those without a result; --survivors those that the last run found alive; --most the first N of them. --check only looks
whether every fault still fits the code; --table only writes docs/faults.md, and drops results of what is not listed.

--first is for a quick look at many: each runs only the tests that its list names, or near ones in two cases if it names
none (these are left out before --collect); what these do not see keeps the result that it has, unless its list has a
reason for which it changes nothing. With --survivors it leaves out what has a reason.

--collect finds out once which tests execute which lines (covering.py); a fault then runs those that execute its line,
the nearest first, up to the first that fails. It costs the compilation of one file, through ccache if that is there,
and a few seconds of tests, in a fork of a process that has imported what no fault changes; one that survives costs
--seconds of processor time for its near tests in a few cases, as much for the others, and again for all cases of the
near ones. At the end the tests that failed run once more on the unplanted copy: what a test "saw" that fails there as
well counts as not run. Results are kept in results.json beside this file, with the commit that they belong to, and
docs/faults.md is written from all of them.
"""

import argparse
import fcntl
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import Queue, get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from faults import page
from faults.covering import COVERING, collect
from faults.lists import ROOT, Fault, Results, all_faults, keep, read_results
from faults.planting import PYTEST, c_tests, failures, plant, run_c_tests
from faults.tree import WORK, build, copy_tree, run, run_pytest

SECONDS = 15.0
trees: list[Path] = []  # that of this process


def commit() -> str:
    """Of the tree that is copied, with + behind it where files differ from it."""
    paths = ["fmumbs", "models", "examples", "tests", ":!tests/faults"]
    short, dirty = (
        subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        for command in (["rev-parse", "--short=8", "HEAD"], ["status", "--porcelain", *paths])
    )
    return short + ("+" if dirty else "")


def prepare(tree: Path) -> None:
    copy_tree(tree)
    if output := build(tree):
        sys.exit(output)


def take_tree(free: "Queue[Path]") -> None:
    trees.append(free.get())


def planted(fault: Fault, before: str, seconds: float, first: bool) -> dict[str, Any]:
    return plant(fault, before, trees[0], seconds, first)


def run_all(
    asked: list[Fault], results: Results, seconds: float, jobs: int, first: bool
) -> Iterator[tuple[Fault, dict[str, Any]]]:
    """As they are done; one tree for each process."""
    free: Queue[Path] = get_context().Queue()
    for i in range(jobs):
        prepare(WORK / f"tree{i}")
        free.put(WORK / f"tree{i}")
    if any(c_tests(fault, first) for fault in asked):
        for i in range(jobs):
            if run([sys.executable, "tests/core/write_images.py", "build/images"], WORK / f"tree{i}")[0] != 0:
                sys.exit("tests/core/write_images.py failed")
    with ProcessPoolExecutor(jobs, initializer=take_tree, initargs=(free,)) as pool:
        befores = [str(results.get(f.key, {}).get("caught", "")) for f in asked]
        found = pool.map(partial(planted, seconds=seconds, first=first), asked, befores)
        yield from zip(asked, found, strict=True)
    for i in range(jobs):
        prepare(WORK / f"tree{i}")  # as they were


def take_back(asked: list[Fault], results: Results) -> list[Fault]:
    """Takes back the results that come from a test which fails on the unplanted copy too; of which faults."""
    tree = WORK / "tree0"
    by = {str(results[f.key]["caught"]) for f in asked}
    named = sorted(test for test in by if test.startswith("tests/") and not test.split("::")[0].endswith(".c"))
    _, output = run_pytest([one for one in PYTEST if one != "-x"] + named, tree, 3000) if named else (0, "")
    failed = failures(output)
    failed += [test for test in sorted(by) if test.endswith(".c") and run_c_tests([test], tree)[0]]
    wrong = [f for f in asked if results[f.key]["caught"] in failed]
    for fault in wrong:
        print(f"{results[fault.key]['caught']} fails without a fault too: {fault.breaks}", file=sys.stderr)
        results.pop(fault.key, None)
    return wrong


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--survivors", action="store_true")
    parser.add_argument("--new", action="store_true", help="only those without a result")
    parser.add_argument("--first", action="store_true", help="only the first round of tests")
    parser.add_argument("--most", type=int, help="the first so many")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="processor time for each round of tests")
    parser.add_argument("--jobs", type=int, default=1, help="copies of the tree, side by side")
    parser.add_argument("--collect", action="store_true", help="only finds which tests execute which lines")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", action="store_true", help="only writes docs/faults.md")
    return parser.parse_args()


def main() -> int:
    chosen = arguments()
    faults, kept = all_faults(), read_results()
    results = {f.key: kept[f.key] for f in faults if f.key in kept}
    stale = [(f, why) for f in faults if (why := f.stale())]
    for fault, why in stale:
        print(f"cannot be planted: {fault.breaks}: {why}", file=sys.stderr)
    if chosen.table:
        keep(results)
        page.write(faults, results)
    if chosen.check or chosen.table:
        return bool(stale)
    WORK.mkdir(parents=True, exist_ok=True)
    alone = (WORK / ("collecting" if chosen.collect else "running")).open("w")
    fcntl.flock(alone, fcntl.LOCK_EX)
    if chosen.collect:
        collect(chosen.jobs)
        return 0
    asked = [
        f
        for f in faults
        if all(word.lower() in f"{f.room} {f.file} {f.breaks}".lower() for word in chosen.words)
        and not (chosen.survivors and (f.key not in results or results[f.key]["caught"]))
        and not (chosen.survivors and chosen.first and f.why)
        and not (chosen.new and f.key in results)
        and not (chosen.first and not f.tests and not COVERING.exists())
        and not f.stale()
    ][: chosen.most]
    # one file after another; last what much of the core includes
    asked.sort(key=lambda f: (f.file.endswith((".h", ".inc")), not any("::" in test for test in f.tests), f.file))
    here = commit()
    every = run_all(asked, results, chosen.seconds, chosen.jobs, chosen.first)
    for number, (fault, found) in enumerate(every, 1):
        seen = found["caught"] or f"SURVIVES {found['ran']} cases"
        print(f"[{number}/{len(asked)}] {fault.file}: {fault.breaks} ... {seen} ({found['seconds']} s)", flush=True)
        if found["caught"] or fault.why or not chosen.first:
            results[fault.key] = found | {"commit": here}
            keep(results)
    asked = [f for f in asked if f.key in results]
    wrong = take_back(asked, results)
    keep(results)
    page.write(faults, results)
    alive = [f for f in asked if f in wrong or not (results[f.key]["caught"] or f.why)]
    print(f"{len(asked) - len(alive)} of {len(asked)} faults are seen or explained")
    return bool(alive or stale)


if __name__ == "__main__":
    sys.exit(main())
