"""Plants faults in a copy of the tree, one at a time, and tells which the tests that are there for them do not see.

    python tests/faults/run.py [WORD ...] [--survivors] [--check]

A fault is an entry of the lists beside this file: the property that it breaks, the file, what is replaced by what,
and the tests that should see it, in the order in which they are run, with -x. WORDs select those that have all of
them in their list's name, file or property; --survivors those that the last run found alive; --check only looks
whether every fault still fits the code. The copy is in build/faults/tree; it is compiled with -O1, and a fault costs
the compilation of one file and its tests up to the first that fails. Results are kept in build/faults/results.json,
and docs/faults.md is written from all of them.
"""

import argparse
import fcntl
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WORK = ROOT / "build" / "faults"
TREE, RESULTS, TABLE = WORK / "tree", WORK / "results.json", ROOT / "docs" / "faults.md"
LIMIT = 400  # [s] for the tests of one fault: what takes longer hangs, and is seen

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
        """What a result belongs to: the fault itself, whatever its tests."""
        return hashlib.sha256("\0".join((self.file, self.old, self.new)).encode()).hexdigest()[:12]

    def stale(self) -> str:
        """Why it cannot be planted any more, or nothing."""
        path = ROOT / self.file
        found = path.read_text().count(self.old) if path.exists() else 0
        if found != 1:
            return f"the text to replace stands {found} times in {self.file}"
        missing = [test for test in self.tests if not (ROOT / test.split("::")[0]).exists()]
        return f"there is no {missing[0]}" if missing else ""


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
    """Compiles the copy; what the compiler said where it cannot be."""
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


def run_tests(tests: tuple[str, ...]) -> tuple[str, str]:
    """The first test that fails, "" if none does, "it hangs" after the limit; and the end of what pytest said."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests]
    child = subprocess.Popen(
        command, cwd=TREE, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        said, _ = child.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        said, _ = child.communicate()
        return "it hangs", said[-2000:]
    if child.returncode == 0:
        return "", said[-2000:]
    for line in said.splitlines():
        if line.startswith(("FAILED ", "ERROR ")):
            return line.split(" - ")[0].split(" ", 1)[1], said[-2000:]
    return f"pytest ended with {child.returncode}", said[-2000:]


def plant(fault: Fault) -> dict[str, object]:
    path = TREE / fault.file
    whole = path.read_text()
    begun = time.monotonic()
    try:
        path.write_text(whole.replace(fault.old, fault.new))
        compiled = path.suffix in {".c", ".h", ".inc"}
        said = build() if compiled else ""
        caught, tail = ("it does not compile", said) if said else run_tests(fault.tests)
    finally:
        path.write_text(whole)
    (WORK / "said").mkdir(exist_ok=True)
    (WORK / "said" / fault.key).write_text(tail)
    return {"caught": caught, "tests": list(fault.tests), "seconds": round(time.monotonic() - begun, 1)}


def table(faults: list[Fault], results: dict[str, dict]) -> str:
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
        lines += [f"| `{f.file}` | {f.breaks} | {f.why or 'no test sees it yet'} |" for f in alive]
    else:
        lines += ["Nothing."]
    for room in dict.fromkeys(f.room for f in faults):
        lines += ["", f"## {room.replace('_', ' ').capitalize()}", ""]
        lines += ["| where | property that it breaks | seen by |", "| --- | --- | --- |"]
        for f in (f for f in faults if f.room == room):
            found = results.get(f.key, {}).get("caught")
            by = "not run" if found is None else f"`{found.split('[')[0]}`" if found else "**nothing**"
            lines.append(f"| `{f.file}` | {f.breaks} | {by} |")
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
    alone = (WORK / "lock").open("w")  # one at a time: there is one copy
    fcntl.flock(alone, fcntl.LOCK_EX)
    copy_tree()
    if said := build():
        print(said, file=sys.stderr)
        return 1
    for number, fault in enumerate(asked, 1):
        print(f"[{number}/{len(asked)}] {fault.file}: {fault.breaks} ... ", end="", flush=True)
        results[fault.key] = found = plant(fault)
        print(f"{found['caught'] or 'SURVIVES'} ({found['seconds']} s)", flush=True)
        RESULTS.write_text(json.dumps(results, indent=1))
    if said := build():  # the copy as it was
        print(said, file=sys.stderr)
        return 1
    TABLE.write_text(table(faults, results))
    alive = [f for f in asked if not results[f.key]["caught"] and not f.why]
    print(f"{len(asked) - len(alive)} of {len(asked)} faults are seen or explained")
    return bool(alive or stale)


if __name__ == "__main__":
    sys.exit(main())
