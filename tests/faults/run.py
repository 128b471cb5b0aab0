"""Plants faults in a copy of the tree, one at a time, and lists those that no test detects.

    python tests/faults/run.py [WORD ...] [--new] [--survivors] [--check] [--table]

A fault is an entry of the lists beside this file: the property that it breaks, the file, what is replaced by what,
and the tests that should see it, in the order in which they are run, with -x. WORDs select those that have all of
them in their list's name, file or property; --new those without a result; --survivors those that the last run found
alive; --check only looks whether every fault still fits the code; --table only writes docs/faults.md. The copy is in
build/faults/tree; it is compiled with -O1, and a fault costs the compilation of one file and its tests up to the
first that fails. At first only the test that saw it the last time is run, or two cases of each test of the first file;
then, for what that does not see, all of them, those in C too. At the end the tests that failed run once more on the
unplanted copy: what a test "saw" that fails there as well counts as not run. Results are kept in results.json beside
this file, and docs/faults.md is written from all of them.
"""

import argparse
import fcntl
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WORK = ROOT / "build" / "faults"
TREE, RESULTS, TABLE = WORK / "tree", HERE / "results.json", ROOT / "docs" / "faults.md"
LIMIT = 300  # [s] of processor time for the tests of one fault: what takes longer hangs, and is seen
PATIENCE = 5  # times as long by the clock, for what waits, on a machine that others use too


@dataclass(frozen=True)
class Fault:
    """`old` stands once in `file`; `why`: the reason for which a fault that survives changes nothing."""

    room: str
    breaks: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    why: str = ""

    @property
    def key(self) -> str:
        """What a result belongs to: the fault itself, whatever its tests and wherever its file is moved."""
        return hashlib.sha256("\0".join((Path(self.file).name, self.old, self.new)).encode()).hexdigest()[:12]

    def stale(self) -> str:
        """Why it cannot be planted any more, or nothing."""
        path = ROOT / self.file
        found = path.read_text().count(self.old) if path.exists() else 0
        if found != 1:
            return f"the text to replace stands {found} times in {self.file}"
        missing = [test for test in self.tests if not is_there(test)]
        return f"there is no {missing[0]}" if missing else ""


def is_there(test: str) -> bool:
    path, _, name = test.partition("::")
    if not (ROOT / path).exists():
        return False
    return not name or f"def {name.split('[')[0]}(" in (ROOT / path).read_text()


def all_faults() -> list[Fault]:
    found = []
    for path in sorted(HERE.glob("*.toml")):
        document = tomllib.loads(path.read_text())
        tests = document.get("tests", [])
        for one in document["fault"]:
            one["tests"] = tuple(one.get("tests", tests))
            found.append(Fault(room=path.stem, **one))
    return found


def copy_tree() -> None:
    """The files that git knows or would add, as they are now; what did not change keeps its time."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    names = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
    for name in names:
        text = (ROOT / name).read_bytes()
        if name == "CMakeLists.txt":  # as fast to compile as can be; a fault may leave something unused
            text = text.replace(b"-O3", b"-O1").replace(b" -Werror", b"")
        to = TREE / name
        if not to.exists() or to.read_bytes() != text:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(text)
    for folder in ("fmumbs", "tests", "models", "examples"):
        for path in (TREE / folder).rglob("*"):
            if path.suffix in {".py", ".c", ".h", ".inc", ".txt"} and str(path.relative_to(TREE)) not in names:
                path.unlink()
    if not (TREE / "fmumbs" / "_models").exists():
        (TREE / "fmumbs" / "_models").symlink_to(TREE / "models")


def environment() -> dict[str, str]:
    paths = [HERE / "site", TREE, TREE / "tests"]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_PROFILE": "unshrunk",  # that a test fails is enough
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }


def build() -> str:
    """Compiles the copy; what the compiler printed if it fails."""
    folder = WORK / "build"
    steps = []
    if not (folder / "build.ninja").exists():
        steps.append(["cmake", "-G", "Ninja", "-S", str(TREE), "-B", str(folder), "-DCMAKE_BUILD_TYPE=None",
                      "-DSKBUILD_STATE=editable", f"-DPython_EXECUTABLE={sys.executable}"])  # fmt: skip
    steps += [["cmake", "--build", str(folder), "-j", "2"], ["cmake", "--install", str(folder)]]
    for step in steps:
        done = subprocess.run(step, env=environment(), capture_output=True, text=True, check=False)
        if done.returncode:
            return (done.stdout + done.stderr)[-2000:]
    return ""


def limit_time() -> None:
    """And hears Ctrl-C, which a shell lets a process in the background ignore: some tests send it."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(command: list[str]) -> tuple[int | None, str]:
    """The exit code, None if it hangs; and what it printed."""
    child = subprocess.Popen(
        command, cwd=TREE, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True, preexec_fn=limit_time,
    )  # fmt: skip
    try:
        output, _ = child.communicate(timeout=PATIENCE * LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        return None, child.communicate()[0]
    return None if child.returncode in (-signal.SIGXCPU, -signal.SIGKILL) else child.returncode, output


def run_tests(tests: Iterable[str], *options: str) -> tuple[list[str], str]:
    """The tests that fail, and the end of its output."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider"]
    code, output = run([*command, *options, *tests])
    if code is None:
        return ["it hangs"], output[-2000:]
    if "ERROR: not found: " in output:
        sys.exit(output)
    lines = [line for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    failed = [line.split(" - ")[0].split(" ", 1)[1] for line in lines]
    return failed or ([f"pytest ended with {code}"] if code else []), output[-2000:]


def run_c_tests(tests: Iterable[str]) -> tuple[list[str], str]:
    """The first of tests/core/*.c that fails under the sanitizers, and the end of its output."""
    for test in tests:
        target = f"build/sanitize/{Path(test).stem}.passed"
        (TREE / target).unlink(missing_ok=True)
        built = [f"--old-file={name}" for name in ("build/images/list.txt", ".venv/.tools")]
        code, output = run(["make", f"BIN={Path(sys.executable).parent}", *built, target])
        if code != 0:
            return [test], output[-2000:]
    return [], ""


def see(fault: Fault, before: str, *, briefly: bool) -> tuple[str, str]:
    """The first test that fails, "" if none does; briefly: of the one that saw it before, or of the first file."""
    c_tests = [test for test in fault.tests if test.endswith(".c")]
    if not briefly:
        in_python = [test for test in fault.tests if test not in c_tests]
        failed, output = run_tests(in_python, "-x") if in_python else ([], "")
        if not failed:
            failed, output = run_c_tests(c_tests)
    elif "::" in before and is_there(before):
        failed, output = run_tests([before])
    elif fault.tests[0] in c_tests:
        failed, output = run_c_tests(fault.tests[:1])
    else:
        failed, output = run_tests(fault.tests[:1], "-x", "-p", "briefly")
    return (failed[0] if failed else ""), output


def plant(fault: Fault, before: str, *, briefly: bool) -> dict[str, object]:
    path = TREE / fault.file
    whole = path.read_text()
    begun = time.monotonic()
    try:
        path.write_text(whole.replace(fault.old, fault.new))
        compiled = path.suffix in {".c", ".h", ".inc"}
        output = build() if compiled else ""
        caught, tail = ("it does not compile", output) if output else see(fault, before, briefly=briefly)
    finally:
        path.write_text(whole)
    (WORK / "output").mkdir(exist_ok=True)
    (WORK / "output" / fault.key).write_text(tail)
    return {"caught": caught, "seconds": round(time.monotonic() - begun, 1)}


def take_back(asked: list[Fault], results: dict[str, dict[str, Any]]) -> list[Fault]:
    """Takes back the results that come from a test which fails on the unplanted copy too; of which faults."""
    by = {str(results[f.key]["caught"]) for f in asked}
    named = sorted(test for test in by if test.startswith("tests/") and not test.endswith(".c"))
    failed = run_tests(named)[0] if named else []
    failed += [test for test in sorted(by) if test.endswith(".c") and run_c_tests([test])[0]]
    wrong = [f for f in asked if results[f.key]["caught"] in failed]
    for fault in wrong:
        print(f"{results[fault.key]['caught']} fails without a fault too: {fault.breaks}", file=sys.stderr)
        results.pop(fault.key, None)
    return wrong


def keep(results: dict[str, dict[str, Any]]) -> None:
    """A line for each."""
    lines = [f"{json.dumps(key)}: {json.dumps(results[key])}" for key in sorted(results)]
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def in_table(text: str) -> str:
    return text.replace("|", "\\|")


def table(faults: list[Fault], results: dict[str, dict[str, Any]]) -> str:
    alive = [f for f in faults if f.key in results and not results[f.key]["caught"]]
    seen = sum(bool(results[f.key]["caught"]) for f in faults if f.key in results)
    lines = [
        "# Faults planted in the code, and the tests that see them",
        "",
        "`make faults` plants each of these in a copy of the tree, builds it, and runs the tests that are there for it",
        "(`tests/faults/`); it writes this file. A fault that no test sees is a claim without a test.",
        "",
        f"{len(faults)} faults: {seen} are seen, {len(alive)} survive"
        + (f", {len(faults) - seen - len(alive)} have not been run." if seen + len(alive) < len(faults) else "."),
        "",
        "## What survives, and why",
        "",
    ]
    if alive:
        lines += ["| where | property | why |", "| --- | --- | --- |"]
        lines += [f"| `{f.file}` | {in_table(f.breaks)} | {f.why or 'no test sees it yet'} |" for f in alive]
    else:
        lines += ["Nothing."]
    for room in dict.fromkeys(f.room for f in faults):
        lines += ["", f"## {room.replace('_', ' ').capitalize()}", ""]
        lines += ["| where | property that it breaks | seen by |", "| --- | --- | --- |"]
        for f in (f for f in faults if f.room == room):
            found = results.get(f.key, {}).get("caught")
            by = "not run" if found is None else f"`{found.split('[')[0]}`" if found else "**nothing**"
            lines.append(f"| `{f.file}` | {in_table(f.breaks)} | {by} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--survivors", action="store_true")
    parser.add_argument("--new", action="store_true", help="only those without a result")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", action="store_true", help="only writes docs/faults.md")
    chosen = parser.parse_args()
    faults = all_faults()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    stale = [(f, why) for f in faults if (why := f.stale())]
    for fault, why in stale:
        print(f"cannot be planted: {fault.breaks}: {why}", file=sys.stderr)
    if chosen.check or chosen.table:
        if chosen.table:
            TABLE.write_text(table(faults, results))
        return bool(stale)
    asked = [
        f
        for f in faults
        if all(word.lower() in f"{f.room} {f.file} {f.breaks}".lower() for word in chosen.words)
        and not (chosen.survivors and (f.key not in results or results[f.key]["caught"]))
        and not (chosen.new and f.key in results)
        and not f.stale()
    ]
    WORK.mkdir(parents=True, exist_ok=True)
    with_images = any(test.endswith(".c") for f in asked for test in f.tests)
    alone = (WORK / "lock").open("w")  # one at a time: there is one copy
    fcntl.flock(alone, fcntl.LOCK_EX)
    copy_tree()
    if output := build():
        print(output, file=sys.stderr)
        return 1
    if with_images and run([sys.executable, "tests/core/write_images.py", "build/images"])[0] != 0:
        print("tests/core/write_images.py failed", file=sys.stderr)
        return 1
    unseen: list[Fault] = []
    for briefly, those in ((True, asked), (False, unseen)):
        for number, fault in enumerate(those, 1):
            print(f"[{number}/{len(those)}] {fault.file}: {fault.breaks} ... ", end="", flush=True)
            before = str(results.get(fault.key, {}).get("caught", ""))
            found = plant(fault, before, briefly=briefly)
            seen = found["caught"] or ("unseen so far" if briefly else "SURVIVES")
            print(f"{seen} ({found['seconds']} s)", flush=True)
            if briefly and not found["caught"]:
                unseen.append(fault)
                continue
            results[fault.key] = found
            keep(results)
    if output := build():  # the copy as it was
        print(output, file=sys.stderr)
        return 1
    wrong = take_back(asked, results)
    keep({f.key: results[f.key] for f in faults if f.key in results})
    TABLE.write_text(table(faults, results))
    alive = [f for f in asked if f in wrong or not (results[f.key]["caught"] or f.why)]
    print(f"{len(asked) - len(alive)} of {len(asked)} faults are seen or explained")
    return bool(alive or stale)


if __name__ == "__main__":
    sys.exit(main())
