"""Writes a zip archive of deflated entries (PKWARE's application note 6.3.3).

What is the same in every FMU is not deflated here: the build (cmake/deflate.py) writes _fmu/shared.zip, with which an
FMU's archive begins, and _fmu/binaries.zip, from which the data of binaries is copied. Python's zipfile cannot add data
that is already deflated.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from posixpath import splitext

from fmumbs.errors import ExportError

BINARIES = Path(__file__).parents[1] / "_fmu" / "binaries.zip"
EXECUTABLE = {".so", ".dll", ".dylib", ".wasm"}

_LEVEL = 3  # of compression: twice as fast as the default 6, and 7 % larger
_LOCAL = struct.Struct("<4s5H3I2H")  # signature, version, flags, method, time, date, CRC, two sizes, two lengths
_CENTRAL = struct.Struct("<4s6H3I5H2I")  # the same with the system's version, then offsets and attributes
_END = struct.Struct("<4s4H2IH")
_STAMP = struct.Struct("<2H")  # time and date
_LOCAL_STAMP, _CENTRAL_STAMP = 10, 12  # where they are in a local header and in a record of the directory [bytes]
_VERSION, _UNIX, _UTF8, _DEFLATE = 20, 3, 0x800, 8
_LARGEST, _MOST = 0xFFFFFFFE, 0xFFFE  # bytes and entries of an archive without zip64 extensions

Key = tuple[int, int]  # number of bytes, CRC
Date = tuple[int, int, int, int, int, int]
OLDEST: Date = (1980, 1, 1, 0, 0, 0)  # the first date that a zip can hold


def zip_archive(entries: Iterable[tuple[str, bytes]], date: Date, start: bytes = b"", level: int = _LEVEL) -> bytes:
    """The archive's bytes, which depend on the arguments only.

    entries: name and contents, in order; date: year from 1980 on, month, day, hour, minute, second; start: an archive
    from this function, whose entries come first, as they are but with this date; level: of compression. Raises
    ExportError for more than 4 GiB.
    """
    stamp = (date[3] << 11 | date[4] << 5 | date[5] // 2, (date[0] - 1980) << 9 | date[1] << 5 | date[2])
    data, directory, count = _dated(start, stamp) if start else (b"", b"", 0)
    parts, central, at = [data], [directory], len(data)
    for name, content in entries:
        title, check = name.encode(), zlib.crc32(content)
        packed = _ready().get((len(content), check)) or deflated(content, level)
        flags = 0 if title.isascii() else _UTF8
        common = (_VERSION, flags, _DEFLATE, *stamp, check, len(packed), len(content), len(title), 0)
        if max(at + len(packed), len(content)) > _LARGEST or count == _MOST:
            raise ExportError(f"'{name}' does not fit: an FMU has at most 4 GiB and {_MOST} files. Make it smaller.")
        mode = 0o755 if splitext(name)[1] in EXECUTABLE else 0o644
        place = (0, 0, 0, mode << 16, at)
        parts += (_LOCAL.pack(b"PK\3\4", *common), title, packed)
        central += (_CENTRAL.pack(b"PK\1\2", _UNIX << 8 | _VERSION, *common, *place), title)
        at += _LOCAL.size + len(title) + len(packed)
        count += 1
    size = sum(map(len, central))
    end = _END.pack(b"PK\5\6", 0, 0, count, count, size, at, 0)
    return b"".join((*parts, *central, end))


@lru_cache(maxsize=1)
def _dated(archive: bytes, stamp: tuple[int, int]) -> tuple[bytes, bytes, int]:
    """The entries of an archive from zip_archive, their directory and their number, with another time and date."""
    *_, count, size, first, _ = _END.unpack_from(archive, len(archive) - _END.size)
    data, at = bytearray(archive), first
    for _ in range(count):
        *_, title, _, _, _, _, _, entry = _CENTRAL.unpack_from(data, at)
        _STAMP.pack_into(data, entry + _LOCAL_STAMP, *stamp)
        _STAMP.pack_into(data, at + _CENTRAL_STAMP, *stamp)
        at += _CENTRAL.size + title
    return bytes(data[:first]), bytes(data[first : first + size]), count


def deflated(data: bytes, level: int) -> bytes:
    """Raw deflate data, as stored in a zip."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


@cache
def _ready() -> dict[Key, bytes]:
    """Deflated data of _fmu/binaries.zip, by size and CRC of the contents; empty if the package was not built."""
    if not BINARIES.is_file():
        return {}
    whole = BINARIES.read_bytes()
    found = {}
    with zipfile.ZipFile(BINARIES) as archive:
        for info in archive.infolist():
            name, extra = struct.unpack_from("<2H", whole, info.header_offset + _LOCAL.size - 4)
            first = info.header_offset + _LOCAL.size + name + extra
            found[info.file_size, info.CRC] = whole[first : first + info.compress_size]
    return found
