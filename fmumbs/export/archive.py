"""Writes a zip archive of deflated entries (PKWARE's application note 6.3.3).

What is the same in every FMU is not deflated here: the build (cmake/deflate.py) writes _fmu/deflated.zip, from which
the data of binaries and of the core's C file are copied. Python's zipfile cannot add data that is already deflated, nor
join it with other data to one entry.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from posixpath import splitext

from fmumbs.errors import ExportError

DEFLATED = Path(__file__).parents[1] / "_fmu" / "deflated.zip"
EXECUTABLE = {".so", ".dll", ".dylib", ".wasm"}

_LEVEL = 3  # of compression: twice as fast as the default 6, and 7 % larger
_LOCAL = struct.Struct("<4s5H3I2H")  # signature, version, flags, method, time, date, CRC, two sizes, two lengths
_CENTRAL = struct.Struct("<4s6H3I5H2I")  # the same with the system's version, then offsets and attributes
_END = struct.Struct("<4s4H2IH")
_VERSION, _UNIX, _UTF8, _DEFLATE = 20, 3, 0x800, 8
_LARGEST, _MOST = 0xFFFFFFFE, 0xFFFE  # bytes and entries of an archive without zip64 extensions

Key = tuple[int, int]  # number of bytes, CRC
Contents = bytes | tuple[bytes, ...]  # of an entry, or its parts
Date = tuple[int, int, int, int, int, int]
OLDEST: Date = (1980, 1, 1, 0, 0, 0)  # the first date that a zip can hold


def zip_archive(entries: Iterable[tuple[str, Contents]], date: Date, level: int = _LEVEL) -> bytes:
    """The archive's bytes, which depend on the arguments only.

    entries: name and contents, in order; date: year from 1980 on, month, day, hour, minute, second; level: of
    compression. Raises ExportError for more than 4 GiB.
    """
    stamp = (date[3] << 11 | date[4] << 5 | date[5] // 2, (date[0] - 1980) << 9 | date[1] << 5 | date[2])
    parts, central, at, count = list[bytes](), list[bytes](), 0, 0
    for name, contents in entries:
        title, (packed, size, check) = name.encode(), _packed(contents, level)
        flags = 0 if title.isascii() else _UTF8
        common = (_VERSION, flags, _DEFLATE, *stamp, check, len(packed), size, len(title), 0)
        if max(at + len(packed), size) > _LARGEST or count == _MOST:
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


def _packed(contents: Contents, level: int) -> tuple[bytes, int, int]:
    """An entry as stored in a zip, its number of bytes and its CRC. Each part is deflated by itself."""
    *before, last = contents if isinstance(contents, tuple) else (contents,)
    packed, size, check = list[bytes](), 0, 0
    for part in before:
        packed.append(deflated(part, level, zlib.Z_SYNC_FLUSH))
        size, check = size + len(part), zlib.crc32(part, check)
    alone = _check_of(last) if before else zlib.crc32(last)
    packed.append(_ready().get((len(last), alone)) or deflated(last, level))
    return b"".join(packed), size + len(last), zlib.crc32(last, check) if before else alone


_check_of = lru_cache(maxsize=1)(zlib.crc32)  # of what stands behind other parts: the core, in every archive


def deflated(data: bytes, level: int, end: int = zlib.Z_FINISH) -> bytes:
    """Raw deflate data, as stored in a zip. end: of zlib's flush; with Z_SYNC_FLUSH other data may follow."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush(end)


@cache
def _ready() -> dict[Key, bytes]:
    """Deflated data of _fmu/deflated.zip, by size and CRC of the contents; empty if the package was not built."""
    if not DEFLATED.is_file():
        return {}
    whole = DEFLATED.read_bytes()
    found = {}
    with zipfile.ZipFile(DEFLATED) as archive:
        for info in archive.infolist():
            name, extra = struct.unpack_from("<2H", whole, info.header_offset + _LOCAL.size - 4)
            first = info.header_offset + _LOCAL.size + name + extra
            found[info.file_size, info.CRC] = whole[first : first + info.compress_size]
    return found
