"""Wheels for Linux that a package index accepts, from one that was built on this machine.

    python cmake/wheels.py WHEEL FOLDER [PROCESSOR ...]

WHEEL: as `pip wheel` builds it, with the FMU's binaries. FOLDER: receives a wheel for each processor, by default x86_64
and aarch64, with the tag manylinux_2_17 (PEP 600): its extension module needs the C library of 2012 and no other. That
of this machine's processor keeps the module of its compiler. For another one zig links it from the objects of which
cmake/platforms.py made that FMU's binary, so that nothing but the interface of Python is compiled.
"""

import base64
import hashlib
import platform
import re
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

from deflate import ROOT

from platforms import BUILT, TARGETS, is_made, run, zig

GLIBC = (2, 17)
NEEDED = {b"libc.so.6", b"libm.so.6"}  # of those that PEP 600 allows
MACHINES = {"x86_64": 0x3E, "aarch64": 0xB7}  # in the header of an ELF file
FOLDERS = {"x86_64": "linux64", "aarch64": "aarch64-linux"}
MODULE = "fmumbs/_core.abi3.so"


def check(module: bytes, processor: str) -> None:
    """Exits if an extension module is of another processor, or needs what not every Linux since 2012 has."""
    (machine,) = memoryview(module)[18:20].cast("H")
    newest = max((tuple(map(int, found)) for found in re.findall(rb"\0GLIBC_(\d+)\.(\d+)", module)), default=(0, 0))
    others = set(re.findall(rb"\0(lib[\w+.-]+\.so[.\d]*)(?=\0)", module)) - NEEDED
    if module[:4] != b"\x7fELF" or machine != MACHINES[processor]:
        sys.exit(f"the extension module is not one for {processor}. Build the wheel on such a machine, or with zig.")
    if newest > GLIBC or others:
        what = f"GLIBC_{newest[0]}.{newest[1]}" if newest > GLIBC else b", ".join(sorted(others)).decode()
        sys.exit(f"the extension module needs {what}, which manylinux_{GLIBC[0]}_{GLIBC[1]} does not have.")


def linked(processor: str) -> bytes:
    """The extension module for a processor, from the objects of the FMU's binary. Exits if they are not there."""
    (target,) = TARGETS[FOLDERS[processor]]
    objects = sorted((BUILT / target).glob("CMakeFiles/core.dir/**/*.o"))
    if not objects or not is_made(BUILT / FOLDERS[processor]):
        sys.exit(f"no objects for {processor}: python cmake/platforms.py fmumbs {FOLDERS[processor]}")
    with tempfile.TemporaryDirectory() as folder:
        source, module = Path(folder, "_core.c"), Path(folder, "_core.abi3.so")
        run(sys.executable, "-m", "cffi.gen_src", "exec-python", ROOT / "cmake" / "core_module.py", source)
        flags = ["-shared", "-fPIC", "-O2", "-s", "-w", "-DPy_LIMITED_API=0x030B0000", "-Wl,-Bsymbolic"]
        headers = [f"-I{ROOT / 'fmumbs' / 'core'}", f"-I{sysconfig.get_path('include')}"]
        old = ["-include", ROOT / "cmake" / "old_glibc.h"]
        run(zig(), "cc", "-target", target, *flags, *headers, *old, source, *objects, "-lm", "-o", module)
        return module.read_bytes()


def tagged(wheel: Path, folder: Path, processor: str) -> Path:
    """The wheel for a processor, in a folder; the same bytes each time."""
    glibc = f"{GLIBC[0]}_{GLIBC[1]}"
    tags = [f"manylinux_{glibc}_{processor}", f"manylinux2014_{processor}"]  # the latter for an older pip
    with zipfile.ZipFile(wheel) as archive:
        files = {entry.filename: (entry, archive.read(entry)) for entry in archive.infolist()}
    entry, module = files[MODULE]
    if processor != platform.machine():
        module = linked(processor)
    check(module, processor)
    files[MODULE] = entry, module
    (info,) = {name.partition("/")[0] for name in files if name.endswith(".dist-info/WHEEL")}
    entry, text = files[f"{info}/WHEEL"]
    lines = [line for line in text.decode().splitlines() if line and not line.startswith("Tag:")]
    text = "\n".join([*lines, *(f"Tag: cp311-abi3-{tag}" for tag in tags), ""]).encode()
    files[f"{info}/WHEEL"] = entry, text
    record = [f"{name},{hashed(data)},{len(data)}" for name, (_, data) in files.items() if name != f"{info}/RECORD"]
    entry, _ = files.pop(f"{info}/RECORD")
    files[f"{info}/RECORD"] = entry, "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    made = folder / f"{'-'.join(wheel.stem.split('-')[:4])}-{'.'.join(tags)}.whl"
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in files.values():
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return made


def hashed(data: bytes) -> str:
    """As RECORD has it (PEP 376)."""
    return f"sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')}"


if __name__ == "__main__":
    for chosen in sys.argv[3:] or MACHINES:
        print(tagged(Path(sys.argv[1]), Path(sys.argv[2]), chosen))
