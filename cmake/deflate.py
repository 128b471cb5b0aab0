"""Deflates the files that all FMUs share: python cmake/deflate.py FOLDER, the package's _fmu, at the end of its build.

FOLDER/deflated.zip then contains the binaries in FOLDER, the core's sources as FMUs ship them, and the licence. The
modules that list them are loaded without the package around them, which needs numpy.
"""

import sys
import zipfile
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
for name in ("fmumbs", "fmumbs.export"):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [str(ROOT.joinpath(*name.split(".")))]

from fmumbs.export.sources import core_sources  # noqa: E402  the packages above come first

folder = Path(sys.argv[1])
entries = [(path.relative_to(folder).as_posix(), path.read_bytes()) for path in sorted(folder.glob("*/fmumbs.*"))]
entries += [("LICENSE", (ROOT / "LICENSE").read_bytes()), *core_sources().files]
with zipfile.ZipFile(folder / "deflated.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for name, data in entries:
        info = zipfile.ZipInfo(name)  # of 1980, so that the same files make the same bytes
        info.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(info, data, compresslevel=9)
