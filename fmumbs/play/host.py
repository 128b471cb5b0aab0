"""Which of an FMU's binaries this host executes, and whether they can be loaded.

FMI 2.0 names six folders, such as linux64, and FMPy opens linux64 on ARM, too. FMUs of fmumbs carry the binary for
ARM in folders that are named as in FMI 3.0, such as aarch64-linux; here such a folder comes first.
"""

import struct
from collections.abc import Iterable
from pathlib import Path
from pathlib import PurePosixPath as Entry

from fmumbs.errors import ExportError
from fmumbs.play.unpacking import Zip

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


def check_binaries(archive: Zip) -> None:
    """Raises ExportError for a library of this host that is truncated: loading it would end the process."""
    others = other_binaries(archive.sizes)
    for name in archive.sizes:
        if name.endswith(".so") and name not in others and _is_cut_short(archive.read(name)):
            raise ExportError(f"'{archive.path}' is damaged: '{Entry(name).name}' in it is truncated. Export it again.")


def _is_cut_short(binary: bytes) -> bool:
    """Whether a 64-bit ELF library ends before its segments do; loading it would end the process with a bus error."""
    if not binary.startswith(b"\x7fELF\x02\x01"):
        return False  # the loader reads or refuses other formats safely
    try:
        (first,), (size, count) = struct.unpack_from("<Q", binary, 32), struct.unpack_from("<HH", binary, 54)
        segments = [struct.unpack_from("<8xQ16xQ", binary, first + size * k) for k in range(count)]
    except struct.error:
        return True
    return any(at + length > len(binary) for at, length in segments)


def host_library(folder: Path, identifier: str) -> str | None:
    """The path of an unpacked FMU's binary for this host; None if there is none."""
    own = executed(path.parent.name for path in (folder / "binaries").glob("*/*"))
    files = (folder / "binaries" / own).glob("*") if own else iter(())
    return next((str(file) for file in files if file.stem == identifier and file.suffix in SUFFIXES), None)
