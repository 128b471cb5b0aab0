"""Builds the FMU's binary for other platforms with the PyPI package ziglang.

    python cmake/platforms.py PACKAGE [PLATFORM ...]

PACKAGE: the folder of the installed package, whose _fmu receives them. Platforms: all but the host's if none is named.
Everything is kept in build/platforms, where a second run builds what changed. The flags are those of CMakeLists.txt.
"""

import shutil
import struct
import subprocess
import sys
from pathlib import Path

from deflate import ROOT, STAMP, deflate, digest

TARGETS = {  # zig's names; of Linux with the oldest C library, of macOS with the oldest version
    "win64": ("x86_64-windows-gnu",),
    "win32": ("x86-windows-gnu",),
    "linux64": ("x86_64-linux-gnu.2.17",),
    "linux32": ("x86-linux-gnu.2.17",),
    "aarch64-linux": ("aarch64-linux-gnu.2.17",),
    "darwin64": ("x86_64-macos.11.0", "aarch64-macos.11.0"),
}
SUFFIX = {"win": ".dll", "darwin": ".dylib"}
PROCESSORS = {"x86_64": (0x01000007, 3), "aarch64": (0x0100000C, 0)}  # type and subtype in <mach/machine.h>
PAGE = 14  # macOS aligns the parts of a universal file to 2^14 bytes


def built(target: str) -> bytes:
    """The binary for one of zig's targets."""
    folder = ROOT / "build" / "platforms" / target
    cmake = Path(sys.executable).with_name("cmake")
    options = {
        "CMAKE_TOOLCHAIN_FILE": ROOT / "cmake" / "zig.cmake",
        "CMAKE_BUILD_TYPE": "Release",
        "FMUMBS_TARGET": target,
        "FMUMBS_PYTHON": sys.executable,
        "FMUMBS_BINARY_ONLY": "ON",
    }
    subprocess.run(
        [cmake, "-G", "Ninja", "-S", ROOT, "-B", folder, *(f"-D{name}={value}" for name, value in options.items())],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    subprocess.run([cmake, "--build", folder], check=True, stdout=subprocess.DEVNULL)
    (file,) = (file for file in folder.glob("fmumbs.*") if file.suffix in (".so", ".dll", ".dylib"))
    return file.read_bytes()


def universal(parts: dict[str, bytes]) -> bytes:
    """One Mach-O file of several, by target (<mach-o/fat.h>)."""
    header, body = struct.pack(">2I", 0xCAFEBABE, len(parts)), b""
    at = 1 << PAGE
    for target, part in parts.items():
        header += struct.pack(">5I", *PROCESSORS[target.partition("-")[0]], at, len(part), PAGE)
        body += part + bytes(-len(part) % (1 << PAGE))
        at += len(part) + -len(part) % (1 << PAGE)
    return header.ljust(1 << PAGE, b"\0") + body


def build(platform: str, package: Path) -> None:
    """Builds the binary of a platform and puts it into a package."""
    parts = {target: built(target) for target in TARGETS[platform]}
    suffix = SUFFIX.get(platform.rstrip("0123456789"), ".so")
    folder = package / "_fmu" / platform
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / f"fmumbs{suffix}").write_bytes(universal(parts) if len(parts) > 1 else next(iter(parts.values())))
    (folder / STAMP).write_text(digest())
    print(f"{platform}: {folder / f'fmumbs{suffix}'}", flush=True)


def is_native(folder: Path) -> bool:
    """Whether the host's compiler made the binary."""
    return any(folder.glob("fmumbs.*")) and not (folder / STAMP).exists()


if __name__ == "__main__":
    package, named = Path(sys.argv[1]), sys.argv[2:]
    if unknown := set(named) - set(TARGETS):
        sys.exit(f"platform '{unknown.pop()}' is unknown. Choose from: {', '.join(TARGETS)}.")
    for platform in named or [name for name in TARGETS if not is_native(package / "_fmu" / name)]:
        build(platform, package)
    deflate(package / "_fmu")
