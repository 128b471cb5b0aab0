"""What an FMU takes from the installed package: binaries, the core as C, version and licences.

importlib.metadata is not used: importing it takes longer than an export.
"""

import re
import sys
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from fmumbs.errors import ExportError
from fmumbs.export.archive import DEFLATED, EXECUTABLE
from fmumbs.export.one_file import core_source

LICENCE = "BSD-3-Clause AND BSD-2-Clause"
"""Of what an FMU contains: fmumbs, and the headers of FMI that its sources include."""
PLATFORMS = ("linux64", "linux32", "aarch64-linux", "win64", "win32", "aarch64-windows", "darwin64")
"""Those that cmake/platforms.py can build, by the names of FMI 2.0; those for ARM by the names of FMI 3.0."""
WEBASSEMBLY = "wasm32-wasi"
"""Another that it can build, which pages use too. FMI 2.0 has no name for it; an FMU carries it only on request."""
CORE = "core.c"
"""The core's C file in archive.DEFLATED."""


def installed_binaries() -> dict[str, Path]:
    """The file of each FMU binary in the package, by platform.

    Raises ExportError if there is none.
    """
    folder = Path(__file__).parents[1] / "_fmu"
    files = sorted(file for file in folder.glob("*/fmumbs.*") if file.suffix in EXECUTABLE)
    if not files:
        raise ExportError(f"there is no FMU binary in {folder}. Reinstall fmumbs with a C compiler.")
    return {file.parent.name: file for file in files}


def missing_platforms() -> list[str]:
    """Those of PLATFORMS for which the package has no binary."""
    files = installed_binaries()
    return [name for name in PLATFORMS if name not in files]


def binaries(platforms: Sequence[str] | None = None) -> dict[str, tuple[str, bytes]]:
    """Suffix and contents of native FMU binaries by platform, that is by the name of their folder in an FMU.

    platforms: their names, each "NAME", or "FOLDER=NAME" for another folder than its own; None: all that there are
    but WEBASSEMBLY.
    Raises ExportError for an unknown platform, one without a binary, and a folder that is given twice or is not a valid
    name.
    """
    files = installed_binaries()
    if platforms is not None:
        from fmumbs import _checks  # late: it loads the core, and the build of the core loads this file

        platforms = _checks.names(platforms, "platforms")
    chosen = {} if platforms else {name: file for name, file in files.items() if name != WEBASSEMBLY}
    for platform in platforms or ():
        folder, _, name = platform.rpartition("=")
        if name not in (*PLATFORMS, WEBASSEMBLY):
            raise ExportError(f"platform '{platform}' is unknown. {_checks.nearest(name, (*PLATFORMS, WEBASSEMBLY))}")
        if name not in files:
            raise ExportError(
                f"platform '{platform}': this installation has binaries for {', '.join(files)} only. Install a wheel "
                "of fmumbs with all platforms, or run `make platforms` in its source tree."
            )
        if folder and not re.fullmatch(r"[\w-]+", folder, re.ASCII):
            raise ExportError(f"platform '{platform}': '{folder}' is not a folder. Give one such as linux64={name}.")
        if (folder or name) in chosen:
            raise ExportError(f"platform '{platform}': folder '{folder or name}' is taken. Name each folder once.")
        chosen[folder or name] = files[name]
    return {folder: (file.suffix, file.read_bytes()) for folder, file in sorted(chosen.items())}


def licences() -> dict[str, bytes]:
    """The texts of LICENCE, by name in the archive."""
    headers = Path(__file__).parents[1] / "core" / "fmi" / "fmi.LICENSE.txt"
    return {"documentation/licenses/license.txt": licence(), "documentation/licenses/fmi.txt": headers.read_bytes()}


@cache
def core() -> bytes:
    """The core as one C file, which the build wrote; made here if the package was not built."""
    if not DEFLATED.is_file():
        return core_source()
    with zipfile.ZipFile(DEFLATED) as archive:
        return archive.read(CORE)


@cache
def casadi_functions() -> bytes:
    """The C behind the core in files for CasADi. Raises ExportError if it is missing."""
    file = Path(__file__).with_name("casadi_functions.inc")
    try:
        return file.read_bytes()
    except OSError as error:
        raise ExportError(f"there is no {file}. Reinstall fmumbs.") from error


@cache
def metadata(package: str) -> Path | None:
    """The folder NAME-VERSION.dist-info of an installed package, None if there is none."""
    found = (folder for entry in sys.path for folder in Path(entry).glob(f"{package}-*.dist-info"))
    return next(found, None)


@cache
def tool(package: str = "fmumbs") -> str:
    """Name and version of an installed package."""
    folder = metadata(package)
    return f"{package} {folder.stem.partition('-')[2]}" if folder else package


@cache
def licence() -> bytes:
    """The licence's text: from the installed package's metadata, or from the source tree beside it."""
    folder = metadata("fmumbs")
    places = [folder / "licenses" / "LICENSE"] if folder else []
    for place in (*places, Path(__file__).parents[2] / "LICENSE"):
        if place.is_file():
            return place.read_bytes()
    return f"{LICENCE}\n".encode()
