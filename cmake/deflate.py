"""Deflates what FMUs share: python cmake/deflate.py FOLDER, the package's _fmu, at the end of its build.

FOLDER/deflated.zip then contains the binaries in FOLDER and the core as one C file. Binaries for other platforms that
cmake/platforms.py made from other sources are removed. The modules that write archives are loaded without the package
around them, which needs numpy.
"""

import hashlib
import shutil
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
for name in ("fmumbs", "fmumbs.export"):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [str(ROOT.joinpath(*name.split(".")))]

from fmumbs.export.archive import DEFLATED, OLDEST, zip_archive  # noqa: E402  the packages above come first
from fmumbs.export.installed import CORE  # noqa: E402
from fmumbs.export.one_file import core_files, core_source  # noqa: E402

LEVEL = 9  # of compression: the smallest
STAMP = "sources.sha256"  # in the folder of a platform: what its binary was made from


def digest() -> str:
    """Of all that a binary for another platform is made from."""
    build = ("CMakeLists.txt", "cmake/zig.cmake", "cmake/platforms.py", "cmake/old_glibc.h")
    files = {name: (ROOT / name).read_bytes() for name in build}
    files |= {name: text.encode() for name, text in core_files().items()}
    return hashlib.sha256(b"".join(f"{name} {len(text)}\n".encode() + text for name, text in files.items())).hexdigest()


def is_stale(folder: Path) -> bool:
    """Whether the folder holds a binary for another platform that was made from other sources."""
    stamp = folder / STAMP
    return stamp.is_file() and stamp.read_text() != digest()


def deflate(folder: Path) -> None:
    """Writes the archive of a package's _fmu."""
    for stale in filter(is_stale, folder.iterdir()):
        print(f"{stale.name}: made from other sources, removed; `make platforms` builds it")
        shutil.rmtree(stale)
    binaries = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.glob("*/fmumbs.*"))}
    entries = [*binaries.items(), (CORE, core_source())]
    (folder / DEFLATED.name).write_bytes(zip_archive(entries, OLDEST, level=LEVEL))


if __name__ == "__main__":
    deflate(Path(sys.argv[1]))
