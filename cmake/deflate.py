"""Deflates what FMUs share: python cmake/deflate.py FOLDER, the package's _fmu, at the end of its build.

FOLDER/shared.zip then contains the files that are the same in every FMU, as its archive begins; FOLDER/binaries.zip the
binaries in FOLDER, whose names differ. The modules that write them are loaded without the package around them, which
needs numpy.
"""

import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
for name in ("fmumbs", "fmumbs.export"):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [str(ROOT.joinpath(*name.split(".")))]

from fmumbs.export.archive import BINARIES, OLDEST, zip_archive  # noqa: E402  the packages above come first
from fmumbs.export.installed import SHARED, shared_entries  # noqa: E402

LEVEL = 9  # of compression: the smallest

folder = Path(sys.argv[1])
binaries = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.glob("*/fmumbs.*"))}
shared = shared_entries((ROOT / "LICENSE").read_bytes())
for file, entries in ((BINARIES, binaries), (SHARED, shared)):
    (folder / file.name).write_bytes(zip_archive(entries.items(), OLDEST, level=LEVEL))
