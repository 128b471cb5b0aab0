"""The copy of the tree in which faults are planted: its files, its build, and commands that run in it.

All limits are processor time, as others may use the machine: only what sleeps for ever ends by the clock.
"""

import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from faults.lists import COMPILED, HERE, ROOT

WORK = ROOT / "build" / "faults"
HANGS = 300  # [s] of processor time for one command: what takes longer hangs
PATIENCE = 10  # times as long by the clock, for what waits and uses no processor
forking: dict[Path, "subprocess.Popen[str]"] = {}  # site/forking.py, of each tree
forked = [0.0]  # processor time of its forks [s]


def copy_tree(tree: Path) -> None:
    """The files that git knows or would add, as they are now; what did not change keeps its time."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    names = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
    for name in names:
        text = (ROOT / name).read_bytes()
        if name == "CMakeLists.txt":  # a fault may leave something unused
            text = text.replace(b" -Werror", b"")
        to = tree / name
        if not to.exists() or to.read_bytes() != text:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(text)
    for folder in ("fmumbs", "tests", "models", "examples"):
        for path in (tree / folder).rglob("*"):
            if path.suffix in {".py", ".txt", *COMPILED} and str(path.relative_to(tree)) not in names:
                path.unlink()
    if not (tree / "fmumbs" / "_models").exists():
        (tree / "fmumbs" / "_models").symlink_to(tree / "models")


def environment(tree: Path) -> dict[str, str]:
    paths = [HERE / "site", tree, tree / "tests"]
    cache = {"CMAKE_C_COMPILER_LAUNCHER": "ccache"} if shutil.which("ccache") else {}
    return os.environ | cache | {
        "CCACHE_BASEDIR": str(WORK),
        "CCACHE_NOHASHDIR": "1",
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONPYCACHEPREFIX": str(tree.with_name(f"{tree.name}.pyc")),
        "HYPOTHESIS_PROFILE": "unshrunk",  # that a test fails is enough
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip


def build(tree: Path, options: str = "-O1", linked: str = "") -> str:
    """Compiles a copy, as fast to compile as can be; what the compiler printed if it fails."""
    folder = tree.with_name(f"{tree.name}.built")
    steps = []
    if not (folder / "build.ninja").exists():
        steps.append(["cmake", "-G", "Ninja", "-S", str(tree), "-B", str(folder), "-DCMAKE_BUILD_TYPE=None",
                      f"-DFMUMBS_OPTIMIZATION={options}", f"-DCMAKE_MODULE_LINKER_FLAGS={linked}",
                      "-DSKBUILD_STATE=editable", f"-DPython_EXECUTABLE={sys.executable}"])  # fmt: skip
    steps += [["cmake", "--build", str(folder), "-j", "2"], ["cmake", "--install", str(folder)]]
    for step in steps:
        done = subprocess.run(step, env=environment(tree), capture_output=True, text=True, check=False)
        if done.returncode:
            return (done.stdout + done.stderr)[-2000:]
    return ""


def spent() -> float:
    """Processor time of this process and all that ended below it [s]."""
    return sum(os.times()[:4]) + forked[0]


def limit_time(seconds: int | None) -> None:
    """And hears Ctrl-C and hanging up, which a shell and nohup let a process ignore: some tests send them."""
    if seconds is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def run(command: list[str], tree: Path, seconds: int | None = HANGS, **variables: str) -> tuple[int | None, str]:
    """The exit code, None if it hangs; and what it printed. seconds: of processor time at most."""
    child = subprocess.Popen(
        command, cwd=tree, env=environment(tree) | variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True, preexec_fn=lambda: limit_time(seconds),
    )  # fmt: skip
    try:
        output, _ = child.communicate(timeout=None if seconds is None else PATIENCE * seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        return None, child.communicate()[0]
    return None if child.returncode in (-signal.SIGXCPU, -signal.SIGKILL) else child.returncode, output


def run_pytest(arguments: list[str], tree: Path, seconds: int = HANGS, **variables: str) -> tuple[int | None, str]:
    """As `run` does with pytest's command line, in a fork of a process that has imported what no fault changes."""
    if tree not in forking or forking[tree].poll() is not None:
        forking[tree] = subprocess.Popen(
            [sys.executable, HERE / "site" / "forking.py"], cwd=tree, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment(tree) | {"OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}, text=True,
            start_new_session=True, preexec_fn=lambda: limit_time(None),
        )  # fmt: skip
    process, printed = forking[tree], tree.with_name(f"{tree.name}.printed")
    assert process.stdin and process.stdout
    asked = {"arguments": arguments, "variables": variables, "seconds": seconds, "output": str(printed)}
    process.stdin.write(json.dumps(asked) + "\n")
    process.stdin.flush()
    child = int(process.stdout.readline())
    if not select.select([process.stdout], [], [], PATIENCE * seconds)[0]:
        os.killpg(child, signal.SIGKILL)
    code, used = json.loads(process.stdout.readline())
    forked[0] += used
    return None if code in (-signal.SIGXCPU, -signal.SIGKILL) else code, printed.read_text(errors="replace")
