"""Runs FMU binaries of other platforms here: a C host (tests/platforms/host.c), compiled by zig, in an emulator.

tests/platforms/install.sh installs the emulators and C libraries.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

import pytest
from fmpy import read_model_description

import fmumbs as fm
from fmumbs.export.installed import installed_binaries

ROOT = Path(__file__).parents[2]
HOST = ROOT / "tests" / "platforms" / "host.c"
HEADERS = ROOT / "fmumbs" / "core" / "fmi"
KEPT = ROOT / "build" / "platforms" / "tests"  # hosts, and what Windows programs find
WINE = KEPT / "wine"
ARM_LIBRARIES = Path("/usr/aarch64-linux-gnu")
MOST = 3900  # values of a model that the host takes
NATIVE = "native"
SECONDS = 600


def dos(path: Path) -> str:
    """As programs for Windows write the path."""
    return f"Z:{path}".replace("/", "\\")


@dataclass(frozen=True)
class Platform:
    """How a platform's programs are run here."""

    target: str  # zig's
    runner: tuple[str, ...] = ()  # in front of a program
    needs: tuple[Path, ...] = ()  # files without which it does not start
    path: Callable[[Path], str] = str
    locale: str = "de_DE.UTF-8"  # with a decimal comma


PLATFORMS = {
    "linux64": Platform("x86_64-linux-gnu.2.17"),
    "linux32": Platform("x86-linux-gnu.2.17", (), (Path("/lib/ld-linux.so.2"),)),
    "aarch64-linux": Platform(
        "aarch64-linux-gnu.2.17", ("qemu-aarch64", "-L", str(ARM_LIBRARIES)), (ARM_LIBRARIES,)
    ),
    "win64": Platform("x86_64-windows-gnu", ("wine",), (), dos, "de-DE"),
    "win32": Platform("x86-windows-gnu", ("wine",), (Path("/usr/lib/i386-linux-gnu/wine"),), dos, "de-DE"),
}  # fmt: skip


def need(name: str) -> Platform:
    """The platform; skips the test where its programs or its binary are absent."""
    platform = PLATFORMS[name]
    if sys.platform != "linux":
        pytest.skip("the emulators run on Linux")
    if name not in installed_binaries():
        pytest.skip(f"no binary for {name}: make platforms")
    if platform.runner and not shutil.which(platform.runner[0]):
        pytest.skip(f"no {platform.runner[0]}: tests/platforms/install.sh")
    if missing := [path for path in platform.needs if not path.exists()]:
        pytest.skip(f"no {missing[0]}: tests/platforms/install.sh")
    pytest.importorskip("ziglang", reason="no ziglang: make platforms")
    return platform


@contextmanager
def locked() -> Iterator[None]:
    """One process at a time compiles hosts or makes wine's folder."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@cache
def environment() -> dict[str, str]:
    """Wine's own folder with a decimal comma in Linux's locales, too."""
    found = {
        **os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(WINE), "WINEDLLOVERRIDES": "mscoree,mshtml=",
        "LOCPATH": str(KEPT / "locales"), "LC_ALL": "C.UTF-8",
    }  # fmt: skip
    found.pop("DISPLAY", None)
    return found


def start_wine() -> None:
    """Makes wine's folder."""
    with locked():
        if not (WINE / "system.reg").exists():
            subprocess.run(["wineboot", "--init"], env=environment(), capture_output=True, timeout=SECONDS, check=True)
            subprocess.run(["wineserver", "--wait"], env=environment(), timeout=SECONDS, check=True)


def compiled(name: str) -> Path:
    """The host for a platform; NATIVE: by the C compiler of this machine."""
    mark = hashlib.sha256(HOST.read_bytes()).hexdigest()[:12]
    program = KEPT / f"{name}-{mark}.exe"
    compiler = [os.environ.get("CC", "cc")]
    if name != NATIVE:
        compiler = [sys.executable, "-m", "ziglang", "cc", "-target", PLATFORMS[name].target]
    with locked():
        if not program.exists():
            new = program.with_suffix(".new")
            options = ["-std=gnu99", "-O1", "-Wno-deprecated-declarations", "-I", str(HEADERS), str(HOST)]
            libraries = [] if name.startswith("win") else ["-ldl"]
            subprocess.run([*compiler, *options, "-o", str(new), *libraries], check=True, timeout=SECONDS)
            new.rename(program)
    return program


def by_zig() -> Path:
    """The binary for linux64 by zig, in a package folder of its own: the installed one is by the host's compiler."""
    with locked():
        (KEPT / "package" / "_fmu").mkdir(parents=True, exist_ok=True)
        build = [sys.executable, str(ROOT / "cmake" / "platforms.py"), str(KEPT / "package"), "linux64"]
        subprocess.run(build, check=True, timeout=SECONDS, stdout=subprocess.DEVNULL)
    return KEPT / "package" / "_fmu" / "linux64" / "fmumbs.so"


def library(name: str, folder: Path) -> Path:
    """A copy of a platform's FMU binary below `folder`; of NATIVE the installed one, of "linux64" zig's."""
    source = by_zig() if name == "linux64" else installed_binaries()["linux64" if name == NATIVE else name]
    target = folder / "binaries" / name / source.name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return target


def uri(path: Path, name: str) -> str:
    drive = "/Z:" if name.startswith("win") else ""
    return f"file://{drive}{quote(path.as_posix())}"


def unpacked(model: fm.Model | fm.ModelImage, folder: Path, **options: object) -> Path:
    """The FMU's description and resources; no binaries."""
    file = fm.export_fmu(model, folder.with_suffix(".fmu"), all_variables=True, platforms=["linux64"], **options)  # type: ignore[arg-type]
    shutil.unpack_archive(file, folder, "zip")
    return folder


@cache
def references(folder: Path) -> tuple[str, tuple[tuple[int, ...], ...]]:
    """GUID, and the value references of a job: outputs, inputs, tunable parameters, Integers, Booleans."""
    description = read_model_description(str(folder), validate=False)
    groups: dict[str, list[int]] = {kind: [] for kind in ("output", "input", "tunable", "Integer", "Boolean")}
    for v in description.modelVariables:
        if v.type == "Real" and v.causality in groups:
            groups[v.causality].append(v.valueReference)
        elif v.type == "Real" and v.variability == "tunable":
            groups["tunable"].append(v.valueReference)
        elif v.type == "Boolean" or (v.type == "Integer" and v.causality == "parameter"):
            groups[v.type].append(v.valueReference)
    return description.guid, tuple(tuple(group[:MOST]) for group in groups.values())


def job(name: str, binary: Path, folder: Path, resources: str = "", steps: int = 10, step: float = 0.1) -> str:
    """A job of the host: the FMU in `folder` with a binary; `resources`: another URI than its own."""
    guid, lists = references(folder)
    path = PLATFORMS[name].path if name != NATIVE else str
    numbers = " ".join(f"{len(one)} {' '.join(map(str, one))}" for one in lists)
    return f"{path(binary)}\n{resources or uri(folder / 'resources', name)}\n{guid} {steps} {step} {numbers}\n"


def call(name: str, command: str, jobs: Sequence[str], *rest: str) -> subprocess.CompletedProcess[str]:
    """Runs the host with jobs."""
    platform = None if name == NATIVE else PLATFORMS[name]
    if platform and platform.path is dos:
        start_wine()
    KEPT.mkdir(parents=True, exist_ok=True)
    file = KEPT / f"{name}-{command}-{os.getpid()}.txt"  # its path, unlike theirs, in the letters of every code page
    file.write_text("".join(jobs), encoding="utf-8")
    path = platform.path if platform else str
    return subprocess.run(
        [*(platform.runner if platform else ()), str(compiled(name)), command, path(file), *rest],
        capture_output=True, encoding="utf-8", errors="replace", env=environment(), timeout=SECONDS, check=False,
    )  # fmt: skip


def answers(name: str, command: str, jobs: Sequence[str], *rest: str) -> list[list[str]]:
    """The lines of each job, without the first, which names it."""
    done = call(name, command, jobs, *rest)
    assert done.returncode == 0, done.stderr + done.stdout[-500:]
    return [part.splitlines()[1:] for part in done.stdout.split("job ")[1:]]
