"""Reads an FMU, or a package of FMUs, from any source, which may be damaged or malicious.

Everything is checked before use: sizes, as a small file can claim very large ones; names, which must stay within the
folder; and the XML.
"""

import io
import math
import re
import shutil
import stat
import zipfile
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from fmumbs._tables import number, whole
from fmumbs.errors import ExportError

DESCRIPTION = "modelDescription.xml"
MOST_ENTRIES = 100_000
MOST_BYTES = 4 * 2**30  # of all entries, unpacked
MOST_XML = 64 * 2**20  # of an XML file
MOST_MARKS = 4_000_000  # of < and = in an XML file: tags and attributes, of which each takes some 100 bytes when read

TYPES: dict[str, Callable[[str], Any]] = {
    "Real": number,
    "Integer": whole,
    "Boolean": lambda text: text in ("true", "1"),
    "String": str,
    "Enumeration": str,
}
TYPES_OF_FMI3 = {
    **dict.fromkeys(("Float64", "Float32"), "Real"),
    **dict.fromkeys(("Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64"), "Integer"),
    **dict.fromkeys(("Binary", "Clock"), "String"),
    **{name: name for name in ("Boolean", "String", "Enumeration")},
}
"""Names of TYPES by those of FMI 3.0."""


class Zip:
    """A zip archive that is open for reading, and can be unpacked safely.

    sizes: unpacked size [bytes] by entry name. Raises ExportError if it is too large or unsafe to unpack.
    """

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self.path, self._file = path, file
        entries = file.infolist()
        self.sizes = {entry.filename: entry.file_size for entry in entries}
        _check_sizes(path, entries)
        for problem in _unsafe(entries):
            raise ExportError(f"'{path}' is unsafe to unpack: {problem}. Get it again from its source.")

    def read(self, name: str) -> bytes:
        """An entry's contents."""
        with _readable(self.path):
            return self._file.read(name)

    def xml(self, name: str) -> Any:
        """The root element (lxml) of an XML file in it; see parse_xml."""
        if self.sizes[name] > MOST_XML:
            raise ExportError(_too_large(self.path, name, f"{self.sizes[name]} bytes, more than {MOST_XML}"))
        return parse_xml(self.path, name, self.read(name))

    def unpack(self, folder: Path, without: Container[str] = ()) -> None:
        """Writes all entries to a folder, without those of these names."""
        with _readable(self.path):
            for entry in self._file.infolist():
                if entry.filename in without:
                    continue
                target = folder / entry.filename
                (target if entry.is_dir() else target.parent).mkdir(parents=True, exist_ok=True)
                if not entry.is_dir():
                    with self._file.open(entry) as source, target.open("xb") as place:
                        shutil.copyfileobj(source, place)


class Archive(Zip):
    """An FMU of FMI 2.0 or 3.0 that is open for reading, and can be unpacked safely.

    description: root element of modelDescription.xml (lxml). Raises ExportError if the file is not such an FMU.
    """

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        super().__init__(path, file)
        if DESCRIPTION not in self.sizes:
            raise ExportError(f"'{path}' has no {DESCRIPTION}, so it is not an FMU. Give an FMU.")
        self.description = self.xml(DESCRIPTION)
        _check_description(path, self.description)


@contextmanager
def open_archive(path: Path, data: bytes | None = None) -> Iterator[Archive]:
    """The FMU at `path`, or of that name with these bytes. Raises ExportError if it cannot be read as an FMU."""
    if data is None and not path.is_file():
        raise ExportError(f"there is no file '{path}'. Make it with `fmumbs export MODEL`.")
    with _open(path, "an FMU", data) as file:
        yield Archive(path, file)


@contextmanager
def open_package(path: Path) -> Iterator[Zip]:
    """The package of a system at `path`. Raises ExportError if it cannot be read as a zip archive."""
    if not path.is_file():
        raise ExportError(f"there is no file '{path}'. Make it with `fmumbs ssp SYSTEM.py`.")
    with _open(path, "a system structure package") as file:
        yield Zip(path, file)


@contextmanager
def _open(path: Path, what: str, data: bytes | None = None) -> Iterator[zipfile.ZipFile]:
    source = path if data is None else io.BytesIO(data)
    if not zipfile.is_zipfile(source):
        raise ExportError(f"'{path}' is not a zip archive, so it is not {what}. Give {what}.")
    with _readable(path):
        file = zipfile.ZipFile(source)
    with file:
        yield file


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turns the many exceptions of zipfile and its decoders for a damaged archive into ExportError."""
    try:
        yield
    except ExportError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.strerror:
            raise ExportError(f"'{path}' cannot be read or unpacked: {error.strerror}.") from error
        raise ExportError(f"'{path}' is damaged: {str(error).strip().rstrip('.') or type(error).__name__}.") from error


def _check_sizes(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    total = sum(entry.file_size for entry in entries)
    if len(entries) > MOST_ENTRIES or total > MOST_BYTES:
        raise ExportError(
            f"'{path}' has {len(entries)} entries of {total} bytes in all; the limits are {MOST_ENTRIES} entries and "
            f"{MOST_BYTES} bytes. Get a smaller one."
        )


def _unsafe(entries: list[zipfile.ZipInfo]) -> Iterator[str]:
    """Reasons why entries cannot be unpacked, or would leave the folder."""
    seen = set()
    for entry in entries:
        name = entry.filename
        if entry.flag_bits & 0x1:
            yield f"'{name}' is encrypted"
        if not name or name.startswith("/") or ".." in PurePosixPath(name).parts or re.search(r"[\\:\x00-\x1f]", name):
            yield f"the name '{name}' of an entry is not a relative path with forward slashes"
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            yield f"'{name}' is a link or a device, not a file"
        if name in seen:
            yield f"'{name}' occurs more than once"
        seen.add(name)


def parse_xml(path: Path, name: str, text: bytes) -> Any:
    """The root element (lxml) of the entry `name` of the archive `path`.

    Raises ExportError if it is not XML, declares a document type, or is larger than MOST_XML or MOST_MARKS.
    """
    from lxml import etree

    if len(text) > MOST_XML:
        raise ExportError(_too_large(path, name, f"{len(text)} bytes, more than {MOST_XML}"))
    marks = text.count(b"<") + text.count(b"=")
    if marks > MOST_MARKS:
        raise ExportError(_too_large(path, name, f"{marks} tags and attributes, more than {MOST_MARKS}"))
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(text, parser)
    except (etree.LxmlError, ValueError, LookupError) as error:
        raise ExportError(f"'{path}' is damaged: {name} cannot be read ({error}).") from error


def _too_large(path: Path, name: str, what: str) -> str:
    return f"'{path}': {name} has {what}. Write it with fewer variables."


def _check_description(path: Path, root: Any) -> None:
    for problem in _problems(root):
        raise ExportError(f"'{path}': {DESCRIPTION} {problem}. Export the FMU again, by a tool that follows FMI.")


def _problems(root: Any) -> Iterator[str]:
    """Reasons why a description cannot be used."""
    if root.getroottree().docinfo.internalDTD is not None:
        yield "declares a document type, which FMI does not allow"
    if root.tag != "fmiModelDescription":
        yield f"has the root element <{root.tag}>, not <fmiModelDescription>"
    if root.get("fmiVersion") not in ("2.0", "3.0"):
        yield f"is of FMI {root.get('fmiVersion') or 'without a version'}, not 2.0 or 3.0"
    for interface in (*root.iterfind("CoSimulation"), *root.iterfind("ModelExchange")):
        identifier = interface.get("modelIdentifier") or ""
        if not identifier or re.search(r"[/\\:\x00-\x1f]", identifier):
            yield f"gives '{identifier[:60]}' as the name of the binary"
    for experiment in root.iterfind("DefaultExperiment"):
        for name, value in experiment.attrib.items():
            if not _is_number(value, positive=name in ("tolerance", "stepSize")):
                yield f"gives '{value[:60]}' as the experiment's {name}"
    names = set()
    table = root.iterfind("ModelVariables/ScalarVariable" if version_of(root) == 2 else "ModelVariables/*")
    for place, variable in enumerate(table, 1):
        name, reference = variable.get("name") or "", variable.get("valueReference") or ""
        if not name or name in names:
            why = "another variable has" if name else "is empty"
            yield f"gives variable {place} the name '{name[:60]}', which {why}"
        if not re.fullmatch(r"[0-9]{1,10}", reference) or int(reference) >= 2**32:
            yield f"gives '{reference[:60]}' as the value reference of '{name[:60]}'"
        typed = [child.tag for child in variable] if version_of(root) == 2 else [variable.tag]
        if sum(tag in (TYPES if version_of(root) == 2 else TYPES_OF_FMI3) for tag in typed) != 1:
            yield f"gives no single type of '{name[:60]}'"
        names.add(name)


def version_of(root: Any) -> int:
    """The version of FMI of a description: 2 or 3."""
    return 3 if str(root.get("fmiVersion", "")).startswith("3.") else 2


def scalars(root: Any) -> Iterator[tuple[Any, str, Any]]:
    """Of each variable of a description the element, the type (of TYPES), and the element with its start and unit."""
    if version_of(root) == 3:
        for variable in root.iterfind("ModelVariables/*"):
            yield variable, TYPES_OF_FMI3[variable.tag], variable
        return
    for variable in root.iterfind("ModelVariables/ScalarVariable"):
        value = next(child for child in variable if child.tag in TYPES)
        yield variable, value.tag, value


def _is_number(text: str, *, positive: bool) -> bool:
    try:
        value = number(text)
    except ValueError:
        return False
    return math.isfinite(value) and (value > 0.0 or not positive)


def start_of(kind: str, text: str | None) -> Any:
    """A start value converted to its type; the text itself if it cannot be converted, or is not finite."""
    try:
        value = text if text is None else TYPES[kind](text)
    except ValueError:
        return text
    return value if not isinstance(value, float) or math.isfinite(value) else text
