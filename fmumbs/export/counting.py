"""The floating-point operations of integration steps, counted by the core itself in numbers that count.

    python -m fmumbs.export.counting

builds the counting core with g++, some minutes at most, where the installation has none: the core as one file between
the two parts of counting.inc. Its results are those of the core, bit for bit.
"""

import ctypes
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fmumbs.errors import ExportError
from fmumbs.export.one_file import core_source

_PARTS = Path(__file__).with_name("counting.inc")
FOLDER = Path(__file__).parents[1] / "_fmu"
"""Of the package, where the library is."""
_FLAGS = (
    "-std=gnu++20", "-O1", "-ffp-contract=off", "-fpermissive", "-w", "-fno-exceptions", "-fno-threadsafe-statics",
    "-fvisibility=hidden", "-fPIC", "-shared", "-s", "-Wl,-Bsymbolic",
)  # fmt: skip

_TABLE = r"const (?:fm_kind_info|fm_force_element|fm_kernels|fm_scheme) "
_DECLARED = re.compile(rf"\bFM_ONE_FILE (?={_TABLE}(?!\*)[\w#, \[\]]+;)")
_DEFINED = re.compile(rf"^static (?={_TABLE}\w+(?:\[\w+\])? = )", re.MULTILINE)
_LISTED = re.compile(r"\((?:const )?(double|int32_t)\[\d*\]\)\{([^}]*)\}")
_MEMBERS = re.compile(r"const (fm_counts|fm_force_element) (\w+) = \{(\s*\..*?)\};", re.DOTALL)
_MEMBER = re.compile(r"\.(\w+) = (.*?),?(?=\s*\.\w+ = |\s*$)", re.DOTALL)


def _assigned(found: re.Match[str]) -> str:
    """Members in any order, which C++ wants in that of the structure."""
    kind, name, members = found.groups()
    each = "".join(f" n.{member} = {value};" for member, value in _MEMBER.findall(members))
    capture = "&" if kind == "fm_counts" else ""
    return f"const {kind} {name} = [{capture}] {{ {kind} n{{}};{each} return n; }}();"


def source() -> str:
    """In C++. Raises ExportError if a file of the core is missing."""
    before, after = _PARTS.read_text(encoding="utf-8").split("/* the core */\n")
    core = core_source().decode().replace("#if defined(__GNUC__) && defined(__AVX__)", "#if 0")
    core = core.replace("#elif defined(__GNUC__)\n#define FM_PAIRS", "#elif 0\n#define FM_PAIRS")
    core = _DEFINED.sub("", _DECLARED.sub("extern ", core))
    core = _MEMBERS.sub(_assigned, _LISTED.sub(r"listed<\1>{{\2}}.at()", core))
    return before + core + after


@cache
def library(folder: Path = FOLDER) -> Path:
    """Where the counting core of this very core is, or would be."""
    return folder / f"counting-{sha256(source().encode()).hexdigest()[:16]}.so"


def build(folder: Path = FOLDER) -> Path:
    """Builds it unless it is there. Raises ExportError without g++, or if that fails."""
    made, compiler = library(folder), shutil.which("g++")
    if made.exists():
        return made
    if compiler is None:
        raise ExportError("operations are counted by a core in C++, and g++ is not on the PATH. Install it.")
    with TemporaryDirectory(dir=folder) as place:
        command = [compiler, *_FLAGS, "-x", "c++", "-", "-o", f"{place}/new", "-lm"]
        done = subprocess.run(command, input=source(), text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise ExportError(f"g++ does not compile the counting core: {done.stderr.strip()[:500]}")
        for old in folder.glob("counting-*.so"):
            old.unlink()
        Path(place, "new").rename(made)
    return made


@cache
def _function(path: Path) -> Any:
    found = ctypes.CDLL(str(path)).fm_count_operations
    found.restype, size, pointer = ctypes.c_int64, ctypes.c_size_t, ctypes.c_void_p
    found.argtypes = [ctypes.c_char_p, size, ctypes.c_double, ctypes.c_int64, pointer, pointer, size]
    return found


@dataclass(frozen=True)
class Counted:
    """Operations of each step, and the tree state after the last one."""

    operations: list[int]
    state: list[float]


def counted(image: bytes, step: float, steps: int, size: int) -> Counted | None:
    """Steps [s] from the assembled start, which the core takes without a failure; size: of the tree state.

    None where the installation has no counting core.
    """
    if not library().exists():
        return None
    each, y = (ctypes.c_uint64 * steps)(), (ctypes.c_double * size)()
    failed = _function(library())(image, len(image), step, steps, each, y, size)
    if failed:
        raise ExportError(f"step {failed} fails in the counting core alone: remove {library()} and build it again.")
    return Counted(list(each), list(y))


if __name__ == "__main__":
    try:
        print(build())
    except ExportError as error:
        sys.exit(str(error))
