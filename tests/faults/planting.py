"""One fault in one copy of the tree: planted, built, and shown to its tests up to the first that fails."""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from faults.covering import costs, in_files, nearest_first
from faults.lists import Fault
from faults.tree import WORK, build, run, run_pytest, spent

PYTEST = ["-q", "--no-header", "-p", "no:cacheprovider", "-x"]


def failures(output: str) -> list[str]:
    lines = [line for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return [line.split(" - ")[0].split(" ", 1)[1] for line in lines]


def affordable(tests: list[str], seconds: dict[str, float], most: float) -> list[str]:
    """The first of them, and then those that fit into the time that is left: no file is read in vain."""
    kept, total = tests[:1], 0.0
    for test in tests[1:]:
        if (total := total + seconds.get(test, 0.0)) > most:
            break
        kept.append(test)
    return kept


def run_tests(tests: list[str], tree: Path, most: float, *options: str) -> tuple[str, int, str]:
    """The first of these test functions that fails, in their order; how many cases ran, and the end of the output."""
    if not tests:
        return "", 0, ""
    seconds = costs()
    tests = affordable(tests, seconds, most)
    chosen, now = tree.with_name(f"{tree.name}.chosen"), tree.with_name(f"{tree.name}.ran")
    chosen.write_text(json.dumps({"tests": {t: seconds.get(t, 1.0) for t in tests}, "most": most, "now": str(now)}))
    now.write_text("[]")
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    code, output = run_pytest([*PYTEST, "-p", "chosen", *options, *files], tree, FAULTS_CHOSEN=str(chosen))
    ran = json.loads(now.read_text())
    failed = failures(output)
    if code is None:
        failed = [ran[-1] if ran else "it hangs"]
    elif code not in (0, 2, 5) and not failed:  # 2: no more time, 5: none is left
        failed = [f"pytest ended with {code}"]
    return (failed[0] if failed else ""), len(ran), output[-2000:]


def run_c_tests(tests: Iterable[str], tree: Path) -> tuple[str, int, str]:
    """The first C test that fails under the sanitizers, how many ran, and the end of its output."""
    count, output = 0, ""
    for count, test in enumerate(tests, 1):
        target = f"build/sanitize/{Path(test).relative_to('tests/core').with_suffix('.passed')}"
        (tree / target).unlink(missing_ok=True)
        built = [f"--old-file={name}" for name in ("build/images/list.txt", ".venv/.tools")]
        code, output = run(["make", f"BIN={Path(sys.executable).parent}", *built, target], tree)
        if code != 0:
            return test, count, output[-2000:]
    return "", count, output[-2000:]


def rounds(fault: Fault, before: str, first: bool) -> Iterator[tuple[list[str], list[str]]]:
    """Tests, and pytest's options: near ones in two cases, then in all, then others.

    first: those of the list, or, if it names none, the nearest in two cases.
    """
    briefly = ["-p", "briefly"]
    if first and fault.tests:
        cases = [one for one in fault.tests if "[" in one]
        places = [one for one in fault.tests if one not in cases]
        yield cases + sorted(in_files(places), key=lambda test: (placed(test, places), test)), briefly
        return
    near, rest = nearest_first(fault, before)
    if first:
        yield near or rest, briefly
        return
    yield near, briefly
    yield near, []
    yield rest, briefly


def placed(test: str, places: Sequence[str]) -> int:
    return next((i for i, place in enumerate(places) if test.startswith(place)), len(places))


def c_tests(fault: Fault, first: bool) -> list[str]:
    """Those of the list, which cost a build of their own: at a quick look only if it names no others."""
    in_c = [test for test in fault.tests if test.endswith(".c")]
    return in_c if not first or len(in_c) == len(fault.tests) else []


def see(fault: Fault, before: str, tree: Path, most: float, first: bool) -> tuple[str, int, str]:
    """The first test that fails, "" if none does."""
    ran = 0
    for tests, options in rounds(fault, before, first):
        failed, count, output = run_tests(tests, tree, most, *options)
        ran += count
        if failed:
            return failed, ran, output
    failed, count, output = run_c_tests(c_tests(fault, first), tree)
    return failed, ran + count, output


def plant(fault: Fault, before: str, tree: Path, most: float, first: bool = False) -> dict[str, Any]:
    """What saw it, how many cases of tests ran, and the processor time of all [s]."""
    path = tree / fault.file
    whole, times = path.read_text(), path.stat()
    begun, ran = spent(), 0
    try:
        path.write_text(whole.replace(fault.old, fault.new))
        output = build(tree) if fault.compiled else ""
        caught, ran, tail = ("it does not compile", 0, output) if output else see(fault, before, tree, most, first)
    finally:
        path.write_text(whole)
        if not fault.compiled:  # what Python compiled of it is still right; ninja has to see a change
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    (WORK / "output").mkdir(exist_ok=True)
    (WORK / "output" / fault.key).write_text(tail)
    return {"caught": caught, "ran": ran, "seconds": round(spent() - begun, 1)}
