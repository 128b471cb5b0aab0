"""Binaries for other platforms, executed: all models for 1 s, a state restored from bytes, a refused step, unloading.

A C host (host.c) is compiled for the platform and runs there or in an emulator. install.sh installs those.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote
from zipfile import ZipFile

import numpy as np
import pytest
from fmpy import read_model_description
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.export.installed import installed_binaries
from support.scripts import load

HOST = Path(__file__).with_name("host.c")
HEADERS = Path(fm.__file__).parent / "core" / "fmi"
FILES = sorted((Path(__file__).parents[2] / "models").glob("*.py"))
MODELS = [file.stem for file in FILES if file.stem != "__init__"]
STEPS, STEP = 10, 0.1
MOST = 3900  # values of a model
ARM_LIBRARIES = Path("/usr/aarch64-linux-gnu")
NATIVE = "linux64"


@dataclass(frozen=True)
class Platform:
    """How a platform's programs are run here."""

    target: str  # zig's
    runner: tuple[str, ...] = ()  # in front of a program
    needs: tuple[Path, ...] = ()  # files without which it does not start
    path: Callable[[Path], str] = str  # as its programs write paths
    same_bits: bool = False


def dos(path: Path) -> str:
    return f"Z:{path}".replace("/", "\\")


PLATFORMS = {
    "win64": Platform("x86_64-windows-gnu", ("wine",), (), dos, same_bits=True),
    "win32": Platform("x86-windows-gnu", ("wine",), (Path("/usr/lib/i386-linux-gnu/wine"),), dos),
    "linux32": Platform("x86-linux-gnu.2.17", (), (Path("/lib/ld-linux.so.2"),)),
    "aarch64-linux": Platform(
        "aarch64-linux-gnu.2.17", ("qemu-aarch64", "-L", str(ARM_LIBRARIES)), (ARM_LIBRARIES,)
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All models as FMUs, unpacked under a path with a space and letters beyond ASCII."""
    folder = tmp_path_factory.mktemp("FMUs – Größe")
    for name, file in ((file.stem, file) for file in FILES if file.stem in MODELS):
        fmu = fm.export_fmu(load(file).build(), folder / f"{name}.fmu", all_variables=True)
        with ZipFile(fmu) as archive:
            archive.extractall(folder / name)
    return folder


@cache
def references(fmu: Path) -> tuple[str, list[int]]:
    """GUID, and value references of the outputs."""
    description = read_model_description(str(fmu), validate=False)
    outputs = [v.valueReference for v in description.modelVariables if v.causality == "output" and v.type == "Real"]
    return description.guid, outputs[:MOST]


def uri(path: Path, platform: Platform | None) -> str:
    return "file://" + ("/Z:" if platform and platform.path is dos else "") + quote(path.as_posix())


def run(program: list[str], folder: Path, name: str, platform: Platform | None) -> dict[str, NDArray[np.uint64]]:
    """Bits of each model's outputs, (STEPS + 1, number of outputs)."""
    lines = []
    for model in MODELS:
        (library,) = (folder / model / "binaries" / name).iterdir()
        guid, outputs = references(folder / f"{model}.fmu")
        lines += [
            platform.path(library) if platform else str(library),
            uri(folder / model / "resources", platform),
            f"{guid} {STEPS} {STEP} {len(outputs)} {' '.join(map(str, outputs))}",
        ]
    jobs = folder / f"{name}.txt"
    jobs.write_text("\n".join(lines) + "\n", encoding="utf-8")
    environment = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(folder.parent / "wine")}
    done = subprocess.run(
        [*program, platform.path(jobs) if platform else str(jobs)], capture_output=True, text=True, env=environment,
        timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = {}
    for model, part in zip(MODELS, done.stdout.split("job ")[1:], strict=True):
        _, *rows, restored, refused = part.splitlines()
        assert (restored, refused) == ("restored", "refused"), model
        found[model] = np.array([[int(word, 16) for word in row.split()] for row in rows], dtype=np.uint64)
    return found


@pytest.fixture(scope="module")
def native(folder: Path) -> dict[str, NDArray[np.uint64]]:
    program = folder / "host"
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-std=c99", "-I", HEADERS, HOST, "-o", program, "-ldl"], check=True)
    return run([str(program)], folder, NATIVE, None)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the emulators run on Linux")
@pytest.mark.parametrize("name", PLATFORMS)
def test_all_models_run(name: str, folder: Path, native: dict[str, NDArray[np.uint64]]) -> None:
    platform = PLATFORMS[name]
    if name not in installed_binaries():
        pytest.skip(f"no binary for {name}: make platforms")
    if platform.runner and not shutil.which(platform.runner[0]):
        pytest.skip(f"no {platform.runner[0]}: tests/platforms/install.sh")
    if missing := [path for path in platform.needs if not path.exists()]:
        pytest.skip(f"no {missing[0]}: tests/platforms/install.sh")
    pytest.importorskip("ziglang", reason="no ziglang: make platforms")
    program = folder / f"{name}-host.exe"
    subprocess.run(
        [sys.executable, "-m", "ziglang", "cc", "-target", platform.target, "-std=c99", "-I", HEADERS, HOST, "-o", program],  # noqa: E501
        check=True,
    )  # fmt: skip
    found = run([*platform.runner, str(program)], folder, name, platform)
    for model in MODELS:
        here, there = native[model], found[model]
        if platform.same_bits:
            different = np.flatnonzero((here != there).any(0))
            assert not different.size, f"{model}: {different.size} of {here.shape[1]} outputs differ"
            continue
        a, b = here.view(float), there.view(float)
        size = np.abs(a).max(0)
        assert (np.abs(a - b) <= 1e-9 * np.maximum(size, 1.0)).all(), model
