"""Writes a zip archive of deflated entries (PKWARE's application note 6.3.3).

Constant files, such as the binary and the core's sources, were deflated when the package was built (cmake/deflate.py)
and are copied from _fmu/deflated.zip. All others are deflated here. Python's zipfile cannot add data that is already
deflated.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from fmumbs.errors import ExportError

DEFLATED = Path(__file__).parents[1] / "_fmu" / "deflated.zip"
EXECUTABLE = {".so", ".dll", ".dylib"}

_LEVEL = 3  # of compression: twice as fast as the default 6, and 7 % larger
_LOCAL = struct.Struct("<4s5H3I2H")  # signature, version, flags, method, time, date, CRC, two sizes, two lengths
_CENTRAL = struct.Struct("<4s6H3I5H2I")  # the same with the system's version, then offsets and attributes
_END = struct.Struct("<4s4H2IH")
_VERSION, _UNIX, _UTF8, _DEFLATE = 20, 3, 0x800, 8
_LARGEST, _MOST = 0xFFFFFFFE, 0xFFFE  # bytes and entries of an archive without zip64 extensions

Date = tuple[int, int, int, int, int, int]
Key = tuple[int, int]  # number of bytes, CRC


def zip_archive(entries: Iterable[tuple[str, bytes]], date: Date) -> bytes:
    """The archive's bytes, which depend on entries and date only.

    entries: name and contents, in order; date: year from 1980 on, month, day, hour, minute, second. Raises ExportError
    for more than 4 GiB.
    """
    parts: list[bytes] = []
    central: list[bytes] = []
    at = 0
    stamp = (date[3] << 11 | date[4] << 5 | date[5] // 2, (date[0] - 1980) << 9 | date[1] << 5 | date[2])
    for name, data in entries:
        title, check = name.encode(), zlib.crc32(data)
        packed = _ready().get((len(data), check)) or deflated(data, _LEVEL)
        flags = 0 if title.isascii() else _UTF8
        common = (_VERSION, flags, _DEFLATE, *stamp, check, len(packed), len(data), len(title), 0)
        if max(at + len(packed), len(data)) > _LARGEST or len(central) // 2 == _MOST:
            raise ExportError(f"'{name}' does not fit: an FMU has at most 4 GiB and {_MOST} files. Make it smaller.")
        mode = 0o755 if Path(name).suffix in EXECUTABLE else 0o644
        place = (0, 0, 0, mode << 16, at)
        parts += (_LOCAL.pack(b"PK\3\4", *common), title, packed)
        central += (_CENTRAL.pack(b"PK\1\2", _UNIX << 8 | _VERSION, *common, *place), title)
        at += _LOCAL.size + len(title) + len(packed)
    directory, count = b"".join(central), len(central) // 2
    end = _END.pack(b"PK\5\6", 0, 0, count, count, len(directory), at, 0)
    return b"".join((*parts, directory, end))


def deflated(data: bytes, level: int) -> bytes:
    """Raw deflate data, as stored in a zip."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


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
