"""Errors in an FMU's archive or description are reported in one sentence by run, info and verify."""

import io
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from fmumbs.cli.inspection import fmu_info
from fmumbs.errors import ExportError, FmumbsError
from fmumbs.play import unpacking
from fmumbs.play.simulation import Options, run_fmu
from fmumbs.verify.verifying import verify_fmu

DOORS: dict[str, Callable[[Path], object]] = {
    "info": fmu_info,
    "run": lambda path: run_fmu(path, Options(stop=0.02, interval=0.01)),
    "verify": verify_fmu,
}


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest) -> Callable[[Path], object]:
    return DOORS[request.param]


def entry(name: str, data: bytes = b"", mode: int = 0, compression: int = zipfile.ZIP_DEFLATED) -> Any:
    """Adds one entry to an archive."""

    def add(file: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo(name)
        info.external_attr, info.compress_type = mode << 16, compression
        file.writestr(info, data)

    return add


def twice(file: zipfile.ZipFile) -> None:
    for _ in range(2):
        entry("resources/data.txt")(file)


def field(offset: int, form: str, value: int) -> Callable[[bytearray], None]:
    """Changes a field of every entry in the directory; and in the entries' own headers, if they have it."""

    def change(data: bytearray) -> None:
        for at in (k for k in range(len(data) - 46) if data[k : k + 4] == b"PK\x01\x02"):
            struct.pack_into(form, data, at + offset, value)

    return change


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("add", "message"),
    [
        (entry("/etc/evil"), r"the name '/etc/evil' of an entry is not a relative path"),
        (entry("../evil"), r"the name '\.\./evil' of an entry"),
        (entry("resources/../../evil"), r"the name 'resources/\.\./\.\./evil' of an entry"),
        (entry("resources\\evil"), r"of an entry is not a relative path with forward slashes"),
        (entry("C:evil"), r"the name 'C:evil' of an entry"),
        (entry("resources/evil\nname"), r"of an entry is not a relative path"),
        (entry("resources/link", b"/etc/passwd", stat.S_IFLNK | 0o777), r"'resources/link' is a link or a device"),
        (entry("resources/disk", b"", stat.S_IFBLK | 0o666), r"'resources/disk' is a link or a device"),
        (twice, r"'resources/data\.txt' occurs more than once"),
    ],
)
def test_entries_outside_the_folder_are_refused(
    add: Callable[[zipfile.ZipFile], None],
    message: str,
    door: Callable[[Path], object],
    pendulum_fmu: Path,
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.fmu"
    path.write_bytes(pendulum_fmu.read_bytes())
    with zipfile.ZipFile(path, "a") as file:
        add(file)
    with pytest.raises(ExportError, match=message):
        door(path)


def test_entries_of_folders_are_unpacked(pendulum_fmu: Path, tmp_path: Path) -> None:
    """As other tools write them; one has nothing in it."""
    path, folder = tmp_path / "a.fmu", tmp_path / "unpacked"
    path.write_bytes(pendulum_fmu.read_bytes())
    with zipfile.ZipFile(path, "a") as file:
        for name in ("resources/", "extra/", "extra/empty/"):
            file.writestr(name, b"")
    with unpacking.open_archive(path) as archive:
        archive.unpack(folder)
    assert (folder / "extra" / "empty").is_dir()
    assert (folder / unpacking.DESCRIPTION).is_file()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (field(8, "<H", 1), r"'.*' is encrypted"),
        (field(10, "<H", 99), r"is damaged: That compression method is not supported"),
        (field(16, "<I", 1), r"is damaged: Bad CRC-32 for file 'modelDescription\.xml'"),
        (field(20, "<I", 7), r"is damaged"),
        (field(24, "<I", 2**32 - 2), r"has \d+ entries of \d+ bytes in all; the limits are"),
        (field(42, "<I", 3), r"is damaged"),
        (field(42, "<I", 2**31), r"is damaged|cannot be read"),
    ],
)
def test_archives_that_are_damaged_or_claim_too_much_are_reported(
    change: Callable[[bytearray], None],
    message: str,
    door: Callable[[Path], object],
    pendulum_fmu: Path,
    tmp_path: Path,
) -> None:
    data = bytearray(pendulum_fmu.read_bytes())
    change(data)
    path = tmp_path / "a.fmu"
    path.write_bytes(data)
    with pytest.raises(ExportError, match=message):
        door(path)


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_is_reported_for_every_compression(
    compression: int, door: Callable[[Path], object], pendulum_fmu: Path, tmp_path: Path
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(pendulum_fmu) as good, zipfile.ZipFile(packed, "w", compression) as bad:
        for name in good.namelist():
            bad.writestr(name, good.read(name))
    data = bytearray(packed.getvalue())
    at = data.index(b"modelDescription.xml") + 40
    data[at : at + 200] = bytes(200)
    path = tmp_path / "a.fmu"
    path.write_bytes(data)
    with pytest.raises(ExportError, match="is damaged"):
        door(path)


def test_the_unpacked_size_is_limited(
    door: Callable[[Path], object], pendulum_fmu: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "MOST_BYTES", 10_000)
    with pytest.raises(ExportError, match="the limits are 100000 entries and 10000 bytes"):
        door(pendulum_fmu)
    monkeypatch.undo()
    monkeypatch.setattr(unpacking, "MOST_ENTRIES", 3)
    with pytest.raises(ExportError, match="the limits are 3 entries"):
        door(pendulum_fmu)
    monkeypatch.undo()
    monkeypatch.setattr(unpacking, "MOST_XML", 1000)
    with pytest.raises(ExportError, match=r"modelDescription\.xml has \d+ bytes, more than 1000"):
        door(pendulum_fmu)
    monkeypatch.undo()
    monkeypatch.setattr(unpacking, "MOST_MARKS", 100)
    with pytest.raises(ExportError, match=r"modelDescription\.xml has \d+ tags and attributes, more than 100"):
        door(pendulum_fmu)


# The description -----------------------------------------------------------------------------------------------


def described(good: Path, place: Path, change: Callable[[bytes], bytes]) -> Path:
    with zipfile.ZipFile(good) as old, zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, change(data) if name == unpacking.DESCRIPTION else data)
    return place


def edit(path: str, act: Callable[[Any], object]) -> Callable[[bytes], bytes]:
    """Acts on the first element that the path finds."""

    def change(text: bytes) -> bytes:
        root = etree.fromstring(text)
        act(root if path == "." else root.find(path))
        return bytes(etree.tostring(root))

    return change


def attribute(path: str, name: str, value: str | None) -> Callable[[bytes], bytes]:
    return edit(path, lambda one: one.attrib.pop(name) if value is None else one.set(name, value))


VARIABLE = "ModelVariables/ScalarVariable"
DTD = b'<!DOCTYPE fmiModelDescription [<!ENTITY e "ha">]>'
LAUGHS = b'<!DOCTYPE a [<!ENTITY a "ha">%b]><a>&k;</a>' % b"".join(
    b'<!ENTITY %c "%b">' % (98 + k, b"&%c;" % (97 + k) * 10) for k in range(10)
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: b"", "is damaged: modelDescription.xml cannot be read"),
        (lambda text: text[:2000], "is damaged: modelDescription.xml cannot be read"),
        (lambda text: text.replace(b"UTF-8", b"UTF-77"), "is damaged: modelDescription.xml cannot be read"),
        (lambda text: text.replace(b"?>", b"?>" + DTD), "declares a document type"),
        (lambda text: LAUGHS, "is damaged: modelDescription.xml cannot be read|declares a document type"),
        (lambda text: b"<a/>", "has the root element <a>"),
        (attribute(".", "fmiVersion", "1.0"), r"is of FMI 1\.0, not 2\.0 or 3\.0"),
        (attribute(".", "fmiVersion", None), "is of FMI without a version"),
        (attribute("CoSimulation", "modelIdentifier", "../up"), r"gives '\.\./up' as the name of the binary"),
        (attribute("CoSimulation", "modelIdentifier", None), "gives '' as the name of the binary"),
        (attribute("DefaultExperiment", "stepSize", "abc"), "gives 'abc' as the experiment's stepSize"),
        (attribute("DefaultExperiment", "stepSize", "0"), "gives '0' as the experiment's stepSize"),
        (attribute("DefaultExperiment", "stopTime", "inf"), "gives 'inf' as the experiment's stopTime"),
        (attribute("DefaultExperiment", "tolerance", "-1"), "gives '-1' as the experiment's tolerance"),
        (attribute(VARIABLE, "name", None), "gives variable 1 the name '', which is empty"),
        (attribute(VARIABLE, "name", "B.q"), r"gives variable \d+ the name 'B\.q', which another variable has"),
        (attribute(VARIABLE, "valueReference", None), "gives '' as the value reference of "),
        (attribute(VARIABLE, "valueReference", "-1"), "gives '-1' as the value reference of "),
        (attribute(VARIABLE, "valueReference", "9" * 99), "gives '9{60}' as the value reference of "),
        (edit(VARIABLE, lambda one: one.remove(one[0])), "gives no single type of "),
        (edit(VARIABLE, lambda one: one.append(etree.Element("Real"))), "gives no single type of "),
    ],
)
def test_unusable_descriptions_are_reported(
    change: Callable[[bytes], bytes],
    message: str,
    door: Callable[[Path], object],
    pendulum_fmu: Path,
    tmp_path: Path,
) -> None:
    with pytest.raises(ExportError, match=message):
        door(described(pendulum_fmu, tmp_path / "a.fmu", change))


def with_comments(text: bytes) -> bytes:
    root = etree.fromstring(text)
    for element in list(root.iter(etree.Element)):
        element.insert(0, etree.Comment("first"))
        element.insert(0, etree.ProcessingInstruction("and", "this"))
    return bytes(etree.tostring(root))


def test_comments_are_allowed_anywhere(pendulum_fmu: Path, tmp_path: Path) -> None:
    path = described(pendulum_fmu, tmp_path / "a.fmu", with_comments)
    whole, good = fmu_info(path), fmu_info(pendulum_fmu)
    assert whole | {"bytes": 0} == good | {"bytes": 0}
    options = Options(stop=0.1)
    assert list(run_fmu(path, options)["A.q"]) == list(run_fmu(pendulum_fmu, options)["A.q"])


@pytest.mark.parametrize("start", ["abc", "nan", "INF", "", "[/b]"])
def test_a_start_that_is_not_a_number_is_shown_unchanged(start: str, pendulum_fmu: Path, tmp_path: Path) -> None:
    change = edit(f"{VARIABLE}[@causality='parameter']", lambda one: one[0].set("start", start))
    facts = fmu_info(described(pendulum_fmu, tmp_path / "a.fmu", change))
    assert start in [variable["start"] for variable in facts["variables"]]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("solver.scheme", 1.5, "is an integer"),
        ("solver.scheme", float("nan"), "is an integer"),
        ("solver.scheme", 1e300, "is an integer"),
        ("solver.scheme", 2**31, "is an integer"),
        ("solver.scheme", -(2.0**31) - 1.0, "is an integer"),
        ("solver.scheme", 10**400, "stopped at 0 s|is an integer"),
        ("A.q", 10**400, "stopped at 0 s"),
        ("A.q", float("inf"), "A.q"),
    ],
)
def test_settings_of_a_wrong_type_are_refused(name: str, value: float, message: str, pendulum_fmu: Path) -> None:
    with pytest.raises(FmumbsError, match=message):
        run_fmu(pendulum_fmu, Options(stop=0.01), {name: value})
