"""The files of the FMU binaries: what they export and need, how old the system may be, macOS' signature."""

import hashlib
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from fmumbs.export.installed import installed_binaries
from support.fmi_functions import EXPORTED

lief = pytest.importorskip("lief", reason="no lief: pip install lief")

LINKERS_OWN = {"__mh_dylib_header", "___dso_handle"}  # that of zig exports them from every library
CODE_DIRECTORY, AD_HOC = 0xFADE0C02, 0x2  # magic number and flag in <Kernel/kern/cs_blobs.h>


def parsed(name: str, parse: Callable[[str], object]) -> object:
    if name not in installed_binaries():
        pytest.skip(f"no binary for {name}: make platforms")
    return parse(str(installed_binaries()[name]))


@pytest.mark.parametrize("name", ["linux64", "linux32", "aarch64-linux"])
def test_linux(name: str) -> None:
    """The C library of 2012 is enough."""
    file: lief.ELF.Binary = parsed(name, lief.ELF.parse)  # type: ignore[assignment]
    assert {symbol.name for symbol in file.exported_symbols} == EXPORTED
    assert set(file.libraries) <= {"libc.so.6", "libm.so.6"}
    versions = [
        tuple(map(int, version.name.removeprefix("GLIBC_").split(".")))
        for needed in file.symbols_version_requirement
        for version in needed.get_auxiliary_symbols()
    ]
    assert max(versions) <= (2, 17)
    (stack,) = (segment for segment in file.segments if segment.type == lief.ELF.Segment.TYPE.GNU_STACK)
    assert not int(stack.flags) & 1, "the stack is executable"
    assert not [segment for segment in file.segments if segment.type == lief.ELF.Segment.TYPE.TLS]


@pytest.mark.parametrize(("name", "machine"), [("win64", "AMD64"), ("win32", "I386"), ("aarch64-windows", "ARM64")])
def test_windows(name: str, machine: str) -> None:
    """Of Windows 10 without any package: kernel32 and the universal C runtime."""
    file: lief.PE.Binary = parsed(name, lief.PE.parse)  # type: ignore[assignment]
    assert file.header.machine.name == machine
    table = file.get_export()
    assert table is not None
    assert {entry.name for entry in table.entries} == EXPORTED
    needed = {item.name.lower() for item in file.imports}
    assert not [item for item in needed if item != "kernel32.dll" and not item.startswith("api-ms-win-crt-")]
    head = file.optional_header
    assert head.subsystem == lief.PE.OptionalHeader.SUBSYSTEM.WINDOWS_GUI  # no console
    assert head.major_subsystem_version <= 10
    flags = set(head.dll_characteristics_lists)
    kinds = lief.PE.OptionalHeader.DLL_CHARACTERISTICS
    assert {kinds.DYNAMIC_BASE, kinds.NX_COMPAT} <= flags
    if file.has_tls:  # of the compiler's start-up code: nothing is copied for each thread
        assert file.tls is not None
        assert len(bytes(file.tls.data_template)) <= 8


def slices(name: str = "darwin64") -> list[object]:
    file: lief.MachO.FatBinary = parsed(name, lief.MachO.parse)  # type: ignore[assignment]
    return [file.at(i) for i in range(file.size)]


def test_macos_has_both_processors_and_version_11() -> None:
    found = slices()
    kinds = lief.MachO.Header.CPU_TYPE
    assert [one.header.cpu_type for one in found] == [kinds.X86_64, kinds.ARM64]  # type: ignore[attr-defined]
    for one in found:
        version = one.build_version  # type: ignore[attr-defined]
        assert version.platform == lief.MachO.BuildVersion.PLATFORMS.MACOS
        assert version.minos == [11, 0, 0]


def test_macos_exports_the_functions_of_the_standard_and_needs_the_system_alone() -> None:
    for one in slices():
        exported = {symbol.name for symbol in one.symbols if symbol.has_export_info}  # type: ignore[attr-defined]
        assert exported - LINKERS_OWN == {f"_{name}" for name in EXPORTED}
        others = {item.name for item in one.libraries if not item.name.startswith("@rpath/")}  # type: ignore[attr-defined]
        assert others == {"/usr/lib/libSystem.B.dylib"}


def part(at: int, path: Path) -> bytes:
    """The n-th file in a universal one (<mach-o/fat.h>)."""
    data = path.read_bytes()
    magic, count = struct.unpack_from(">2I", data)
    assert (magic, count) == (0xCAFEBABE, 2)
    _, _, offset, size, align = struct.unpack_from(">5I", data, 8 + 20 * at)
    assert offset % (1 << align) == 0
    return data[offset : offset + size]


def test_macos_on_arm_is_signed_ad_hoc_and_every_page_has_its_hash() -> None:
    """Such a processor runs nothing else. <Kernel/kern/cs_blobs.h>: a super blob, in it a code directory."""
    signature = slices()[1].code_signature  # type: ignore[attr-defined]
    file = part(1, installed_binaries()["darwin64"])
    blob = file[signature.data_offset : signature.data_offset + signature.data_size]
    magic, length, count = struct.unpack_from(">3I", blob)
    assert (magic, length <= len(blob)) == (0xFADE0CC0, True)
    places = [struct.unpack_from(">2I", blob, 12 + 8 * i)[1] for i in range(count)]
    (at,) = (place for place in places if struct.unpack_from(">I", blob, place)[0] == CODE_DIRECTORY)
    flags, hashes, _, _, pages, limit = struct.unpack_from(">6I", blob, at + 12)
    size, kind, _, page = struct.unpack_from(">4B", blob, at + 36)
    assert flags & AD_HOC
    assert (size, kind) == (32, 2)  # SHA-256
    assert limit == signature.data_offset
    assert pages == -(-limit >> page)
    for i in range(pages):
        body = file[i << page : min(limit, (i + 1) << page)]
        assert blob[at + hashes + size * i :][:size] == hashlib.sha256(body).digest(), f"page {i}"
