"""An FMU's C file, compiled by the compilers that there are."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import fmumbs as fm
from fmumbs.export import installed
from fmumbs.export.one_file import core_source

HEADERS = Path(fm.__file__).parent / "core" / "fmi"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
QUICK = ["tcc"] if shutil.which("tcc") else ["cc", "-O0"]
"""The compiler that takes the least time."""


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name} here")
    return found


def unpacked(model: fm.Model, folder: Path, **options: Any) -> Path:
    """The files of the model's FMU, with its binary as fmumbs.so and the core of the present sources."""
    shutil.unpack_archive(fm.export_fmu(model, folder / "a.fmu", all_variables=True, **options), folder, "zip")
    (binary,) = (folder / "binaries" / "linux64").iterdir()
    shutil.copyfile(binary, folder / "fmumbs.so")
    (file,) = (folder / "sources").glob("*.c")
    file.write_bytes(file.read_bytes().removesuffix(installed.core()) + core_source())  # not the build's
    return folder


def compiled(command: list[str], source: Path, target: Path, *flags: str) -> Path:
    subprocess.run(
        [program(command[0]), *STRICT, *command[1:], *flags, "-c", str(source), "-o", str(target)], check=True
    )
    return target
