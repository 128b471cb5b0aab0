"""Wheels for Linux, Windows and macOS that a package index accepts, from one that was built on this machine.

    python cmake/wheels.py WHEEL FOLDER [PLATFORM ...]

WHEEL: as `pip wheel` builds it on Linux, with the FMU's binaries. FOLDER: receives a wheel for each platform of WHEELS.
Those for Linux have the tag manylinux_2_17 (PEP 600): their extension module needs the C library of 2012 and no other.
That of this machine's processor keeps the module of its compiler. For another platform zig links it from the objects of
which cmake/platforms.py made that FMU's binary, so that nothing but the interface of Python is compiled; on macOS for
both processors in one, on Windows against python3.dll, whose names come from the module itself.
"""

import base64
import hashlib
import platform
import re
import struct
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

from deflate import ROOT

from platforms import BUILT, TARGETS, is_made, run, universal, zig

GLIBC = (2, 17)
NEEDED = {b"libc.so.6", b"libm.so.6"}  # of those that PEP 600 allows
MACHINES = {"x86_64": 0x3E, "aarch64": 0xB7}  # in the header of an ELF file
MODULE = "fmumbs/_core.abi3.so"
WINDOWS = "fmumbs/_core.pyd"  # there the name says nothing of the stable interface
LINUX = {name: (f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{name}", f"manylinux2014_{name}") for name in MACHINES}
WHEELS = {  # platform: the folder of its binary in an FMU, tags, the latter of Linux for an older pip
    "x86_64": ("linux64", LINUX["x86_64"]),
    "aarch64": ("aarch64-linux", LINUX["aarch64"]),
    "macos": ("darwin64", ("macosx_11_0_universal2",)),
    "win_amd64": ("win64", ("win_amd64",)),
    "win_arm64": ("aarch64-windows", ("win_arm64",)),
}
DLLTOOL = {"win_amd64": "i386:x86-64", "win_arm64": "arm64"}


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


def linked(name: str) -> bytes:
    """The extension module for a platform, from the objects of the FMU's binary. Exits if they are not there."""
    folder, _ = WHEELS[name]
    objects = {target: sorted((BUILT / target).glob("CMakeFiles/core.dir/**/*.o*")) for target in TARGETS[folder]}
    if not all(objects.values()) or not is_made(BUILT / folder):
        sys.exit(f"no objects for {name}: python cmake/platforms.py fmumbs {folder}")
    with tempfile.TemporaryDirectory() as place:
        source = Path(place, "_core.c")
        run(sys.executable, "-m", "cffi.gen_src", "exec-python", ROOT / "cmake" / "core_module.py", source)
        made = {target: _module(name, target, source, files) for target, files in objects.items()}
    return universal(made) if len(made) > 1 else next(iter(made.values()))


def _module(name: str, target: str, source: Path, objects: list[Path]) -> bytes:
    """The extension module for one of zig's targets. source: in a folder that may be written to."""
    module, compiled = source.with_name(f"{target}.module"), source.with_suffix(".o")
    flags = ["-O2", "-w", "-DPy_LIMITED_API=0x030B0000"]
    headers = [f"-I{ROOT / 'fmumbs' / 'core'}", f"-I{sysconfig.get_path('include')}"]
    if name in DLLTOOL:
        flags += ["-include", ROOT / "cmake" / "pyconfig_windows.h"]
        ends: list[str | Path] = [source.with_suffix(".lib")]
    elif name == "macos":
        flags, ends = [*flags, "-fPIC"], ["-Wl,-undefined,dynamic_lookup", "-Wl,-install_name,@rpath/_core.abi3.so"]
    else:
        flags, ends = [*flags, "-fPIC", "-include", ROOT / "cmake" / "old_glibc.h"], ["-Wl,-Bsymbolic", "-lm"]
    run(zig(), "cc", "-target", target, *flags, *headers, "-c", source, "-o", compiled)
    if name in DLLTOOL:
        definition = source.with_suffix(".def")
        definition.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *imported(compiled.read_bytes())]) + "\n")
        run(zig(), "dlltool", "-m", DLLTOOL[name], "-d", definition, "-l", ends[0])
    run(zig(), "cc", "-target", target, "-shared", "-s", compiled, *objects, *ends, "-o", module)
    return module.read_bytes()


def imported(file: bytes) -> list[str]:
    """Names of Python's interface that an object file for Windows needs (COFF), those of data marked."""
    table, count = struct.unpack_from("<8x2I", file)
    names, skip = {}, 0
    for i in range(count):
        short, offset, section, storage, more = struct.unpack_from("<4sI4xhxxBB", file, table + 18 * i)
        skip, is_own = max(skip - 1, 0), skip == 0
        if not is_own:
            continue  # an auxiliary record of the symbol before it
        skip = more
        start = table + 18 * count + offset if short == bytes(4) else table + 18 * i
        text = file[start : file.index(b"\0", start) if short == bytes(4) else start + 8].rstrip(b"\0").decode()
        name = text.removeprefix("__imp_")
        if section == 0 and storage == 2 and re.match("_?Py", name):
            names[name] = " DATA" if name.endswith(("Struct", "_Type")) or name.startswith("PyExc_") else ""
    return [name + kind for name, kind in sorted(names.items())]


def tagged(wheel: Path, folder: Path, name: str) -> Path:
    """The wheel for a platform, in a folder; the same bytes each time."""
    tags = WHEELS[name][1]
    with zipfile.ZipFile(wheel) as archive:
        files = {entry.filename: (entry, archive.read(entry)) for entry in archive.infolist()}
    entry, module = files.pop(MODULE)
    if name != platform.machine():
        module = linked(name)
    if name in MACHINES:
        check(module, name)
    entry.filename = WINDOWS if name in DLLTOOL else MODULE
    files[entry.filename] = entry, module
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
    if unknown := sorted(set(sys.argv[3:]) - set(WHEELS)):
        sys.exit(f"there is no wheel for '{unknown[0]}'. Choose from: {', '.join(WHEELS)}.")
    for chosen in sys.argv[3:] or WHEELS:
        print(tagged(Path(sys.argv[1]), Path(sys.argv[2]), chosen))
