"""Which of an FMU's binaries this host executes.

FMI 2.0 names six folders, such as linux64, and FMPy opens linux64 on ARM, too. FMUs of fmumbs carry the binary for
ARM in a folder that is named as in FMI 3.0, aarch64-linux; here such a folder comes first.
"""

from collections.abc import Iterable
from pathlib import Path
from pathlib import PurePosixPath as Entry

SUFFIXES = (".so", ".dll", ".dylib")


def host_platforms() -> tuple[str, str]:
    """This host's names of folders in binaries/, the first of which that is there is taken."""
    from fmpy import platform, platform_tuple

    return platform_tuple, platform


def executed(platforms: Iterable[str]) -> str | None:
    """The folder in binaries/, of these, that this host takes; None if there is none for it."""
    found = set(platforms)
    return next((name for name in host_platforms() if name in found), None)


def other_binaries(names: Iterable[str]) -> dict[str, str]:
    """The binaries of an FMU that this host does not execute: their folder by their name in the archive."""
    binaries = {
        name: Entry(name).parts[1]
        for name in names
        if name.startswith("binaries/") and len(Entry(name).parts) == 3 and Entry(name).suffix in SUFFIXES
    }
    own = executed(binaries.values())
    return {name: folder for name, folder in binaries.items() if folder != own}


def host_library(folder: Path, identifier: str) -> str | None:
    """The path of an unpacked FMU's binary for this host; None if there is none."""
    own = executed(path.parent.name for path in (folder / "binaries").glob("*/*"))
    files = (folder / "binaries" / own).glob("*") if own else iter(())
    return next((str(file) for file in files if file.stem == identifier and file.suffix in SUFFIXES), None)
