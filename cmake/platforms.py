"""Builds the FMU's binary for other platforms with the PyPI package ziglang.

    python cmake/platforms.py PACKAGE [PLATFORM ...]

PACKAGE: the folder of the installed package, whose _fmu receives them. Platforms: all if none is named, but on Linux
the binary of the host's compiler stays. A platform whose binary was made from the same files is not built again; it is
kept in build/platforms. The flags are those of CMakeLists.txt; the environment's, such as CFLAGS, are ignored.
"""

import importlib.metadata
import importlib.util
import os
import shutil
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from deflate import ROOT, STAMP, deflate, digest

BUILT = ROOT / "build" / "platforms"
ZIG = "0.17.1"  # the bits depend on it; pyproject.toml names the same
TARGETS = {  # zig's names; of Linux with the oldest C library, of macOS with the oldest version
    "win64": ("x86_64-windows-gnu",),
    "win32": ("x86-windows-gnu",),
    "aarch64-windows": ("aarch64-windows-gnu",),
    "linux64": ("x86_64-linux-gnu.2.17",),
    "linux32": ("x86-linux-gnu.2.17",),
    "aarch64-linux": ("aarch64-linux-gnu.2.17",),
    "darwin64": ("x86_64-macos.11.0", "aarch64-macos.11.0"),
    "wasm32-wasi": ("wasm32-wasi-musl",),
}
SUFFIX = {"win": ".dll", "aarch64-windows": ".dll", "darwin": ".dylib", "wasm32-wasi": ".wasm"}
PROCESSORS = {"x86_64": (0x01000007, 3), "aarch64": (0x0100000C, 0)}  # type and subtype in <mach/machine.h>
PAGE = 14  # macOS aligns the parts of a universal file to 2^14 bytes
IGNORED = ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS", "ARCHFLAGS", "SDKROOT", "MACOSX_DEPLOYMENT_TARGET")
AT_ONCE = 2  # targets: the end of one has work for one processor only


def zig() -> Path:
    """The program in the package ziglang. Exits if the package is absent or has another version."""
    package = importlib.util.find_spec("ziglang")
    found = importlib.metadata.version("ziglang") if package else "none"
    if package is None or package.origin is None or found != ZIG:
        sys.exit(f"binaries for other platforms need ziglang {ZIG}, here is {found}: pip install ziglang=={ZIG}")
    return Path(package.origin).with_name("zig.exe" if sys.platform == "win32" else "zig")


def program(name: str) -> str:
    """Of this Python's environment, else of the path."""
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name) or name


def compiled(target: str) -> bytes:
    """The binary for one of zig's targets."""
    folder = BUILT / target
    options = {
        "CMAKE_TOOLCHAIN_FILE": ROOT / "cmake" / "zig.cmake",
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_MAKE_PROGRAM": program("ninja"),
        "FMUMBS_TARGET": target,
        "FMUMBS_ZIG": zig(),
        "FMUMBS_BINARY_ONLY": "ON",
    }
    defined = [f"-D{name}={value}" for name, value in options.items()]
    run(program("cmake"), "--fresh", "-G", "Ninja", "-S", ROOT, "-B", folder, *defined)
    run(program("cmake"), "--build", folder)
    (file,) = (file for file in folder.glob("fmumbs.*") if file.suffix in (".so", ".dll", ".dylib", ".wasm"))
    return file.read_bytes()


def run(*command: str | Path) -> None:
    """Runs a command, whose output appears if it fails: a warning of the compiler is an error."""
    environment = {name: value for name, value in os.environ.items() if name not in IGNORED}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stdout}\nfailed: {' '.join(map(str, command))}")


def universal(parts: dict[str, bytes]) -> bytes:
    """One Mach-O file of several, by target (<mach-o/fat.h>)."""
    header, body = struct.pack(">2I", 0xCAFEBABE, len(parts)), b""
    at = 1 << PAGE
    for target, part in parts.items():
        header += struct.pack(">5I", *PROCESSORS[target.partition("-")[0]], at, len(part), PAGE)
        body += part + bytes(-len(part) % (1 << PAGE))
        at += len(part) + -len(part) % (1 << PAGE)
    return header.ljust(1 << PAGE, b"\0") + body


def build(platform: str, sources: str) -> Path:
    """Builds the binary of a platform from the files with this digest; returns its folder."""
    folder = BUILT / platform
    if not is_made(folder):
        parts = {target: compiled(target) for target in TARGETS[platform]}
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        file = folder / f"fmumbs{SUFFIX.get(platform.rstrip('0123456789'), '.so')}"
        file.write_bytes(universal(parts) if len(parts) > 1 else next(iter(parts.values())))
        (folder / STAMP).write_text(sources)
    return folder


def is_made(folder: Path, native: bool = False) -> bool:
    """Whether a platform's binary is there: from the same sources, or, where that will do, from the host's compiler."""
    stamp = folder / STAMP
    return any(folder.glob("fmumbs.*")) and (stamp.read_text() == digest() if stamp.exists() else native)


def main(package: Path, named: list[str]) -> None:
    """Builds what is not there."""
    if unknown := sorted(set(named) - set(TARGETS)):
        sys.exit(f"platform '{unknown[0]}' is unknown. Choose from: {', '.join(TARGETS)}.")
    native = sys.platform == "linux" and not named  # on macOS it is not universal, on Windows it may need more
    missing = [name for name in named or TARGETS if not is_made(package / "_fmu" / name, native)]
    if missing:
        zig()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for folder in pool.map(build, missing, [digest()] * len(missing)):
            target = package / "_fmu" / folder.name
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(folder, target)
            print(*target.glob("fmumbs.*"), flush=True)
    deflate(package / "_fmu")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
