"""Which tests execute the line of a fault, the nearest first.

Every test that is not slow runs once, of each parametrized one six cases, in a copy whose C code tells which of its
basic blocks are entered (site/trace.c) and whose Python code runs under coverage.py. What is kept is a set of tests for
each line, and their processor times. A fault's tests are those that execute its line or, where no block begins on it,
the last line before it in the same function that anything executes; then the others that enter its function, and those
of its room that enter its file, since another case of theirs may execute it.
"""

import ast
import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from functools import cache, reduce
from operator import or_
from os.path import normpath
from pathlib import Path

import numpy as np

from faults.lists import HERE, ROOT, Fault
from faults.tree import WORK, build, copy_tree, run

TRACED, COLLECTED, COVERING = WORK / "traced", WORK / "collected", WORK / "covering.json"
OPTIONS = "-O1;-g1;-fsanitize-coverage=trace-pc"
LIBRARIES = {"core": "_core.abi3.so", "fmu": "fmumbs.so"}
Line = tuple[str, int]  # a file, and a line of it from 1


def collect(processes: int) -> None:
    """Some ten minutes of two processors; the map of lines is in build/faults/covering.json."""
    shutil.rmtree(COLLECTED, ignore_errors=True)
    COLLECTED.mkdir(parents=True)
    copy_tree(TRACED)
    trace = WORK / "trace.o"
    subprocess.run(["cc", "-O2", "-fPIC", "-c", HERE / "site" / "trace.c", "-o", trace], check=True)
    if output := build(TRACED, OPTIONS, str(trace)):
        sys.exit(output)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "briefly", "-p", "collecting"]
    places = {"FAULTS_CASES": "6", "FAULTS_COLLECT": str(COLLECTED), "FAULTS_SOURCE": str(TRACED / "fmumbs" / "*")}
    _, output = run([*command, "-n", str(processes), "--dist", "worksteal"], TRACED, seconds=None, **places)
    print(output[-2000:])
    write_map()


def write_map() -> None:
    seconds: dict[str, float] = {}
    by_number: dict[str, str] = {}
    for path in COLLECTED.glob("*.json"):
        found = json.loads(path.read_text())
        by_number |= {f"{path.stem}-{i}": test for i, test in enumerate(found)}
        seconds |= {test: max(found[test], seconds.get(test, 0.0)) for test in found}
    number = {test: i for i, test in enumerate(seconds)}
    lines: dict[Line, int] = defaultdict(int)  # bits of the tests that execute it
    for line, test in [*in_c(by_number), *in_python()]:
        lines[line] |= 1 << number[test] if test in number else 0
    files: dict[str, dict[int, str]] = defaultdict(dict)
    for (file, at), tests in sorted(lines.items()):
        files[file][at] = hex(tests)
    COVERING.write_text(json.dumps({"seconds": seconds, "files": files}))


def in_c(by_number: dict[str, str]) -> list[tuple[Line, str]]:
    found: list[tuple[Line, str]] = []
    for kind, library in LIBRARIES.items():
        entered = {path: np.unique(np.fromfile(path, np.uint32)) for path in COLLECTED.glob(f"*.{kind}")}
        places = np.unique(np.concatenate([*entered.values(), np.zeros(0, np.uint32)]))
        command = ["addr2line", "-e", str(TRACED.with_name("traced.built") / library)]
        asked = "\n".join(hex(at - 1) for at in places.tolist())
        answers = subprocess.run(command, input=asked, text=True, capture_output=True, check=True).stdout.splitlines()
        line_of = {at: line(answer) for at, answer in zip(places.tolist(), answers, strict=True)}
        for path, those in entered.items():
            test = by_number.get(path.stem, "")
            found += [(at, test) for at in {line_of[one] for one in those.tolist()} if at]
    return found


def line(answer: str) -> Line | None:
    """Headers are included as ../ROOM/NAME."""
    match = re.match(r".*/(fmumbs/core/\S+):(\d+)", answer)
    return (normpath(match[1]), int(match[2])) if match else None


def in_python() -> list[tuple[Line, str]]:
    import coverage

    found = []
    for path in COLLECTED.glob("lines.*"):
        data = coverage.CoverageData(str(path))
        data.read()
        for file in data.measured_files():
            own = Path(file).relative_to(TRACED).as_posix()
            by_line = data.contexts_by_lineno(file)
            found += [((own, at), test) for at, tests in by_line.items() for test in tests if test]
    return found


@cache
def covering() -> tuple[list[str], dict[str, float], dict[str, dict[int, int]]]:
    """Test functions, what each costs [s], and the bits of those that execute each line of each file."""
    if not COVERING.exists():
        sys.exit("which tests execute which lines is unknown. Collect it first: python tests/faults/run.py --collect")
    found = json.loads(COVERING.read_text())
    files = {file: {int(at): int(bits, 16) for at, bits in those.items()} for file, those in found["files"].items()}
    return list(found["seconds"]), found["seconds"], files


def costs() -> dict[str, float]:
    """Of each test, as far as they are known [s]."""
    return covering()[1] if COVERING.exists() else {}


def function_around(text: str, at: int, *, python: bool) -> tuple[int, int]:
    """First and last line of the function that holds a line; the line alone outside of all functions."""
    if python:
        nodes = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
        spans = [(n.lineno, n.end_lineno or n.lineno) for n in nodes]
    else:
        opened, spans = 0, []
        for i, one in enumerate(text.splitlines(), 1):
            if one.startswith("{") or (one[:1].isalpha() and one.endswith("{")):
                opened = i
            elif one.startswith("}") and opened:
                spans.append((opened, i))
                opened = 0
    around = [span for span in spans if span[0] <= at <= span[1]]
    return min(around, key=lambda span: span[1] - span[0], default=(at, at))


def executing(fault: Fault) -> tuple[set[str], set[str]]:
    """The tests that execute the fault's line, and those that execute anything of its function, or of its file."""
    names, _, files = covering()
    lines = files.get(fault.file, {})
    if not lines:  # a script of the page, a list of files, a header of macros
        return set(names), set()
    text = (TRACED / fault.file).read_text() if (TRACED / fault.file).exists() else ""
    if text.count(fault.old) == 1:
        first, last = function_around(text, at := fault.line(TRACED), python=fault.file.endswith(".py"))
    else:  # changed since the lines were collected
        first, at, last = 1, 0, len(text.splitlines())
    within = {one: tests for one, tests in lines.items() if first <= one <= last}
    if not within:
        within, at = lines, 0
    on = within.get(max((one for one in within if one <= at), default=0), 0)
    return members(on, names), members(reduce(or_, within.values(), 0), names)


def members(bits: int, names: list[str]) -> set[str]:
    return {name for i, name in enumerate(names) if bits >> i & 1}


def nearest_first(fault: Fault, before: str) -> tuple[list[str], list[str]]:
    """The tests of the fault's room, or of its list, that execute it or anything of its file; and all others of it.

    First the test that saw it the last time, then those that are newer than the collection, then those whose files
    import the fault's module by its name, as they may read no more than its tables; each by their costs.
    """
    names, seconds, files = covering()
    on, around = executing(fault)
    inside = members(reduce(or_, files.get(fault.file, {}).values(), 0), names) or set(names)
    places = [one.split("[")[0] for one in fault.tests] + [mirrored(fault.file)]

    def rank(test: str) -> tuple[bool, bool, float]:
        return test != before.split("[")[0], test not in places, seconds.get(test, 0.0)

    def sort(*groups: set[str]) -> list[str]:
        return list(dict.fromkeys(test for group in groups for test in sorted(group, key=rank)))

    direct, new = in_files(importing(fault.file)), in_files(places) - set(names)
    near = {test for test in on | around | inside if test.startswith(tuple(places))} | direct
    first = sort(near & {before.split("[")[0]}, new, direct & on, near & on, direct, near & around, near)
    if fault.file in files or near:
        on = on if fault.file in files else set()
        return first, [test for test in sort(on, around) if test not in near]
    return first, sort(set(names))


def importing(file: str) -> list[str]:
    """The files of tests that import a module of the package by its own name."""
    if not file.endswith(".py"):
        return []
    name = re.escape(".".join(Path(file).with_suffix("").parts))
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    named = [one for one in paths if re.search(rf"^ *(from|import) {name} ", one.read_text(), re.MULTILINE)]
    return [path.relative_to(ROOT).as_posix() for path in named]


def in_files(places: list[str]) -> set[str]:
    """The test functions in files, folders, or by their own names."""
    found = set()
    for place in places:
        path = ROOT / place.partition("::")[0]
        for file in [path] if path.is_file() else sorted(path.rglob("test_*.py")):
            name = file.relative_to(ROOT).as_posix()
            found |= {f"{name}::{test}" for test in re.findall(r"^def (test_\w+)\(", file.read_text(), re.MULTILINE)}
    return {test for test in found if test.startswith(tuple(places))}


def mirrored(file: str) -> str:
    """The folder of tests that mirrors a file's room."""
    parts = Path(file).parts
    depth = 3 if parts[1] == "core" else 2
    folder = Path("tests", *parts[1:depth])
    return folder.as_posix() if (ROOT / folder).is_dir() else "tests/none"
