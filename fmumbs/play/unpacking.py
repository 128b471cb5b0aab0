"""Reading an FMU: a zip archive from anywhere, which may be damaged or hostile.

Nothing in it is believed before it is checked: neither sizes, of which a small file can claim very large ones, nor
names, which must stay within the folder that they are unpacked to, nor the XML.
"""

import math
import re
import shutil
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from fmumbs.errors import ExportError

DESCRIPTION = "modelDescription.xml"
MOST_ENTRIES = 100_000
MOST_BYTES = 4 * 2**30  # of all entries, unpacked
MOST_XML = 64 * 2**20  # of modelDescription.xml

TYPES: dict[str, Callable[[str], Any]] = {
    "Real": float,
    "Integer": int,
    "Boolean": lambda text: text in ("true", "1"),
    "String": str,
    "Enumeration": str,
}


class Archive:
    """An FMU that is open for reading; its entries can be unpacked safely, and its description is an FMI 2.0 one.

    sizes: by the entries' names, unpacked [bytes]; description: the root element of modelDescription.xml (lxml).
    Raises ExportError where this is no such FMU.
    """

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self.path, self._file = path, file
        entries = file.infolist()
        self.sizes = {entry.filename: entry.file_size for entry in entries}
        _check_sizes(path, entries)
        for problem in _unsafe(entries):
            raise ExportError(f"'{path}' is no FMU to be unpacked: {problem}. Ask for it from where it was made.")
        if DESCRIPTION not in self.sizes:
            raise ExportError(f"'{path}' holds no {DESCRIPTION}, so it is no FMU.")
        if self.sizes[DESCRIPTION] > MOST_XML:
            raise ExportError(f"'{path}': {DESCRIPTION} has {self.sizes[DESCRIPTION]} bytes, beyond {MOST_XML}.")
        self.description = _description(path, self.read(DESCRIPTION))

    def read(self, name: str) -> bytes:
        """An entry's contents."""
        with _readable(self.path):
            return self._file.read(name)

    def unpack(self, folder: Path) -> None:
        """Writes all entries to a folder."""
        with _readable(self.path):
            for entry in self._file.infolist():
                target = folder / entry.filename
                (target if entry.is_dir() else target.parent).mkdir(parents=True, exist_ok=True)
                if not entry.is_dir():
                    with self._file.open(entry) as source, target.open("xb") as place:
                        shutil.copyfileobj(source, place)


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """The FMU at `path`. Raises ExportError where there is none."""
    if not path.is_file():
        raise ExportError(f"there is no file '{path}'. Make it with `fmumbs export MODEL`.")
    if not zipfile.is_zipfile(path):
        raise ExportError(f"'{path}' is no zip archive, so it is no FMU.")
    with _readable(path):
        file = zipfile.ZipFile(path)
    with file:
        yield Archive(path, file)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """ExportError in place of whatever zipfile and its decoders raise for a damaged archive, which is much."""
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
            f"'{path}' claims {len(entries)} entries of {total} bytes; no FMU of more than {MOST_ENTRIES} entries or "
            f"{MOST_BYTES} bytes is unpacked."
        )


def _unsafe(entries: list[zipfile.ZipInfo]) -> Iterator[str]:
    """Why entries cannot be unpacked, or would be elsewhere than in the folder."""
    seen = set()
    for entry in entries:
        name = entry.filename
        if entry.flag_bits & 0x1:
            yield f"'{name}' is encrypted"
        if not name or name.startswith("/") or ".." in PurePosixPath(name).parts or re.search(r"[\\:\x00-\x1f]", name):
            yield f"the name '{name}' of an entry is no relative path with forward slashes"
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            yield f"'{name}' is no file but a link or a device"
        if name in seen:
            yield f"'{name}' is there more than once"
        seen.add(name)


def _description(path: Path, text: bytes) -> Any:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(text, parser)
    except (etree.LxmlError, ValueError, LookupError) as error:
        raise ExportError(f"'{path}' is damaged: {DESCRIPTION} cannot be read ({error}).") from error
    for problem in _problems(root):
        raise ExportError(f"'{path}': {DESCRIPTION} {problem}. Export the FMU again, by a tool that follows FMI 2.0.")
    return root


def _problems(root: Any) -> Iterator[str]:
    """What makes a description one that cannot be worked with."""
    if root.getroottree().docinfo.internalDTD is not None:
        yield "declares a document type, which FMI does not"
    if root.tag != "fmiModelDescription":
        yield f"describes no FMU but is a <{root.tag}>"
    if root.get("fmiVersion") != "2.0":
        yield f"is of FMI {root.get('fmiVersion') or 'without a version'}, not 2.0"
    for interface in root.iterfind("CoSimulation"):
        identifier = interface.get("modelIdentifier") or ""
        if not identifier or re.search(r"[/\\:\x00-\x1f]", identifier):
            yield f"gives '{identifier[:60]}' as the name of the binary"
    for experiment in root.iterfind("DefaultExperiment"):
        for name, value in experiment.attrib.items():
            if not _is_number(value, positive=name in ("tolerance", "stepSize")):
                yield f"gives '{value[:60]}' as the experiment's {name}"
    names = set()
    for number, variable in enumerate(root.iterfind("ModelVariables/ScalarVariable"), 1):
        name, reference = variable.get("name") or "", variable.get("valueReference") or ""
        if not name or name in names:
            yield f"calls variable {number} '{name[:60]}', which is {'another one, too' if name else 'no name'}"
        if not re.fullmatch(r"[0-9]{1,10}", reference) or int(reference) >= 2**32:
            yield f"gives '{reference[:60]}' as the value reference of '{name[:60]}'"
        if sum(child.tag in TYPES for child in variable) != 1:
            yield f"gives no type of '{name[:60]}'"
        names.add(name)


def _is_number(text: str, *, positive: bool) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return math.isfinite(value) and (value > 0.0 or not positive)


def start_of(kind: str, text: str | None) -> Any:
    """A start value in its own type; the text itself if it is not of that type, or not finite."""
    try:
        value = text if text is None else TYPES[kind](text)
    except ValueError:
        return text
    return value if not isinstance(value, float) or math.isfinite(value) else text
