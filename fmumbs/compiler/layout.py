"""Packs and unpacks images; their layout is defined once, by the core's table (core/image/table.h)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fmumbs._core as _core  # type: ignore[import-not-found, unused-ignore]
from fmumbs.errors import ModelError

ffi: Any = _core.ffi
lib: Any = _core.lib

Arrays = dict[str, NDArray[Any]]

HEADER: int = ffi.sizeof("fm_header")
_TYPES: dict[str, "np.dtype[Any]"] = {
    "i": np.dtype(np.int32),
    "d": np.dtype(np.float64),
    "b": np.dtype(np.uint8),
}


@dataclass(frozen=True)
class Column:
    """One array of the image: name, element type, columns, and the name of the size that counts its rows."""

    name: str
    dtype: "np.dtype[Any]"
    columns: int
    rows: str
    section: str

    @cached_property
    def empty(self) -> NDArray[Any]:
        """The array without rows."""
        return np.zeros((0, self.columns) if self.columns > 1 else 0, self.dtype)

    def shaped(self, values: NDArray[Any]) -> NDArray[Any]:
        """(rows, columns) values, or (rows,) of one column."""
        if values.ndim == (1 if self.columns == 1 else 2) and values.shape[1:] in ((), (self.columns,)):
            return values
        return values.reshape(-1, self.columns) if self.columns > 1 else values.reshape(-1)


@cache
def size_names() -> tuple[str, ...]:
    """The names of the sizes that count the rows of the arrays, in the image's order, from the core."""
    return tuple(ffi.string(lib.fm_size_name(i)).decode() for i in range(lib.fm_size_count()))


@cache
def table() -> tuple[Column, ...]:
    """Every array of the image in order, from the core."""
    columns = []
    for i in range(lib.fm_array_count()):
        a = lib.fm_array(i)
        name, rows, section = (ffi.string(s).decode() for s in (a.name, a.rows, a.section))
        columns.append(Column(name, _TYPES[a.type.decode()], a.columns, rows, section))
    return tuple(columns)


def counted(arrays: Mapping[str, Any]) -> dict[str, int]:
    """The sizes, from the number of rows of each array."""
    sizes = dict.fromkeys(size_names(), 0)
    return sizes | {column.rows: arrays[column.name].size // column.columns for column in table()}


def pack(sizes: Mapping[str, int], arrays: Mapping[str, Any]) -> bytes:
    """The bytes of an image with these sizes and arrays; every array has rows x columns values."""
    plan = _plan(tuple(sizes[name] for name in size_names()))
    image = bytearray(plan.size)
    for at, mark in plan.marks:
        image[at : at + len(mark)] = mark
    for name, size in plan.sizes:
        if arrays[name].size != size:
            raise AssertionError(f"{name} has {arrays[name].size} values")
    for column, at, _ in plan.filled:
        values = np.ascontiguousarray(arrays[column.name], column.dtype)
        image[at : at + values.nbytes] = values.data.cast("B")
    body = memoryview(image)[HEADER:]
    image[:HEADER] = _header(body, lib.fm_checksum(ffi.from_buffer(body), len(body)))
    return bytes(image)


def _header(body: bytes | memoryview, checksum: int) -> bytes:
    header = ffi.new("fm_header *")
    header.magic = ffi.string(lib.FM_IMAGE_MAGIC)
    header.version, header.byte_order = lib.fm_image_version(), lib.FM_BYTE_ORDER
    header.size, header.checksum = HEADER + len(body), checksum
    ffi.memmove(header.hash, hashlib.sha256(body).digest(), len(header.hash))
    return bytes(ffi.buffer(header))


def image_hash(image: bytes) -> str:
    """The hash that the header carries, in hexadecimal."""
    return bytes(ffi.from_buffer("fm_header *", image).hash).hex()


def hash_fits(image: bytes) -> bool:
    """Whether that is the SHA-256 of the bytes after the header."""
    return hashlib.sha256(memoryview(image)[HEADER:]).hexdigest() == image_hash(image)


def unpack(image: bytes) -> tuple[dict[str, int], Arrays]:
    """Sizes and arrays of an image that the core has checked; the arrays are read-only views."""
    counts = np.frombuffer(image, np.int32, len(size_names()), HEADER)
    sizes = dict(zip(size_names(), counts.tolist(), strict=True))
    plan = _plan(tuple(sizes.values()))
    arrays: Arrays = plan.empty.copy()
    for column, at, count in plan.filled:
        arrays[column.name] = column.shaped(np.frombuffer(image, column.dtype, count, at))
    return sizes, arrays


def extents(sizes: Mapping[str, int]) -> tuple[tuple[Column, int, int], ...]:
    """Each array of an image with these sizes, the byte where it begins, and the number of its values."""
    return _plan(tuple(sizes[name] for name in size_names())).extents


@dataclass(frozen=True)
class _Plan:
    """Images with the same sizes, of `size` bytes. marks: the sizes and the names of the sections, with the bytes where
    they begin; extents: of all arrays, filled: of those with values; sizes: numbers of values; empty: arrays without.
    """

    size: int
    marks: list[tuple[int, bytes]]
    extents: tuple[tuple[Column, int, int], ...]
    filled: list[tuple[Column, int, int]]
    sizes: list[tuple[str, int]]
    empty: Arrays


@lru_cache(maxsize=8)
def _plan(counts: tuple[int, ...]) -> _Plan:
    sizes, found = dict(zip(size_names(), counts, strict=True)), []
    marks = [(HEADER, np.array(counts, np.int32).tobytes())]
    at = HEADER + (4 * len(counts) + 7) // 8 * 8
    section = None
    for column in table():
        if column.section != section:
            section = column.section
            marks.append((at, section.encode().ljust(8)))
            at += 8
        count = sizes[column.rows] * column.columns
        found.append((column, at, count))
        at += (count * column.dtype.itemsize + 7) // 8 * 8
    return _Plan(
        at, marks, tuple(found), [one for one in found if one[2]], [(column.name, n) for column, _, n in found],
        {column.name: column.empty for column, _, _ in found},
    )  # fmt: skip


def text_at(text: bytes, offset: int) -> str:
    """The string at an offset of an image's text."""
    return text[offset : text.index(b"\0", offset)].decode()


def open_instance(image: bytes, derivatives: bool = False) -> Any:
    """A new instance of the core, closed by the garbage collector; with what exact derivatives need, if asked.

    Raises ModelError if the core refuses the image.
    """
    out = ffi.new("fm_instance **")
    message = ffi.new("char[]", 512)
    opened = lib.fm_open_with_derivatives if derivatives else lib.fm_open
    if opened(ffi.from_buffer(image), len(image), out, message, 512) != lib.FM_OK:
        raise ModelError(f"{ffi.string(message).decode()}.")
    return ffi.gc(out[0], lib.fm_close)


def open_where_given(arrays: Arrays) -> Any:
    """An instance of the image of these arrays that is assembled at its start values, not in equilibrium."""
    options = arrays["options"].copy()
    options.flat[lib.FM_OPTION_EQUILIBRIUM] = 0.0
    given = arrays | {"options": options}
    return open_instance(pack(counted(given), given))
