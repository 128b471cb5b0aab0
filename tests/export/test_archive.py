"""The archive: any reader of zips opens it, and constant entries are deflated once, by the build."""

import io
import shutil
import subprocess
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fmumbs.compiler import ModelImage
from fmumbs.errors import ExportError
from fmumbs.export import archive, export_fmu, installed
from fmumbs.export.archive import zip_archive
from fmumbs.export.one_file import core_source
from fmumbs.export.sources import source

DATE = (2023, 11, 14, 22, 13, 20)
NAMES = st.text("abcdefg/._äλ", min_size=1, max_size=20)


@given(st.dictionaries(NAMES, st.binary(max_size=3000), max_size=8))
def test_an_archive_holds_its_entries(entries: dict[str, bytes]) -> None:
    with zipfile.ZipFile(io.BytesIO(zip_archive(entries.items(), DATE))) as found:
        assert found.testzip() is None
        assert {name: found.read(name) for name in found.namelist()} == entries
        assert {info.compress_type for info in found.infolist()} <= {zipfile.ZIP_DEFLATED}
        assert {info.date_time for info in found.infolist()} <= {DATE}


@given(st.lists(st.lists(st.binary(max_size=3000), min_size=1, max_size=4).map(tuple), max_size=4))
def test_an_entry_of_parts_holds_their_bytes_one_after_another(entries: list[tuple[bytes, ...]]) -> None:
    named = {f"{i}": parts for i, parts in enumerate(entries)}
    with zipfile.ZipFile(io.BytesIO(zip_archive(named.items(), DATE))) as found:
        assert found.testzip() is None
        assert [found.read(name) for name in named] == [b"".join(parts) for parts in entries]


def test_libraries_are_executable_and_nothing_else_is() -> None:
    with zipfile.ZipFile(io.BytesIO(zip_archive([("a.so", b"1"), ("b.c", b"2")], DATE))) as found:
        assert [info.external_attr >> 16 for info in found.infolist()] == [0o755, 0o644]


def test_unzip_finds_no_fault(fmu: Path) -> None:
    unzip = shutil.which("unzip")
    if unzip is None:
        pytest.skip("there is no unzip here")
    subprocess.run([unzip, "-tqq", str(fmu)], check=True)


def test_only_what_belongs_to_the_model_is_deflated_by_an_export(
    pendulum: ModelImage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def counted(data: bytes, *options: int) -> bytes:
        sizes.append(len(data))
        return deflated(data, *options)

    deflated = archive.deflated
    monkeypatch.setattr(archive, "deflated", counted)
    path = export_fmu(pendulum, tmp_path / "a.fmu")
    terminals = "terminalsAndIcons/terminalsAndIcons.xml"
    own = ("modelDescription.xml", "model.png", terminals, "resources/model.fmb", "documentation/index.html")
    with zipfile.ZipFile(path) as found:
        names = [*installed.licences(), *own]
        head = found.getinfo(f"sources/{pendulum.name}.c").file_size - len(installed.core())
        assert sizes == [*(found.getinfo(name).file_size for name in names), head]


def test_the_builds_deflated_entries_are_right(pendulum_fmu: Path) -> None:
    with zipfile.ZipFile(archive.DEFLATED) as built:
        assert built.testzip() is None
    for (size, check), packed in archive._ready().items():
        data = zlib.decompress(packed, -zlib.MAX_WBITS)
        assert (len(data), zlib.crc32(data)) == (size, check)


def test_the_build_keeps_the_c_file_of_the_present_sources(pendulum_fmu: Path, pendulum: ModelImage) -> None:
    assert installed.core() == core_source(), "make .venv/.core"
    with zipfile.ZipFile(pendulum_fmu) as found:
        assert found.read(f"sources/{pendulum.name}.c") == b"".join(source(pendulum.name, pendulum.bytes))


def test_without_what_the_build_deflated_an_fmu_has_the_same_contents(
    pendulum: ModelImage, pendulum_fmu: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "_ready", dict)
    monkeypatch.setattr(installed, "DEFLATED", tmp_path / "none.zip")
    monkeypatch.setattr(installed, "core", installed.core.__wrapped__)
    path = export_fmu(pendulum, tmp_path / "a.fmu")
    assert path.read_bytes() != pendulum_fmu.read_bytes()
    with zipfile.ZipFile(path) as one, zipfile.ZipFile(pendulum_fmu) as other:
        assert one.namelist() == other.namelist()
        assert all(one.read(name) == other.read(name) for name in one.namelist())


@pytest.mark.parametrize(("limit", "value"), [("_LARGEST", 10), ("_MOST", 1)])
def test_sizes_beyond_a_zip_are_refused(limit: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, limit, value)
    with pytest.raises(ExportError, match="'b' does not fit"):
        zip_archive([("a", b""), ("b", bytes(1000))], DATE)
