"""Packs and unpacks images; their layout is defined once, by the core's table (core/image/table.h)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from io import BytesIO
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


@cache
def _counting() -> tuple[Column, ...]:
    """An array for each size that counts rows."""
    return tuple({column.rows: column for column in table()}.values())


def counted(arrays: Mapping[str, Any]) -> dict[str, int]:
    """The sizes, from the number of rows of an array of each; pack() finds one that has others."""
    sizes = dict.fromkeys(size_names(), 0)
    return sizes | {column.rows: arrays[column.name].size // column.columns for column in _counting()}


def pack(sizes: Mapping[str, int], arrays: Mapping[str, Any]) -> bytes:
    """The bytes of an image with these sizes and arrays; every array has rows x columns values."""
    plan = _plan(tuple(sizes[name] for name in size_names()))
    for name, size in plan.sizes:
        if arrays[name].size != size:
            raise AssertionError(f"{name} has {arrays[name].size} values")
    out = BytesIO()  # the only copy
    out.write(bytes(HEADER))
    for mark, column in plan.parts:
        out.write(mark)
        if column is not None:
            out.write(np.ascontiguousarray(arrays[column.name], column.dtype).data)
    with out.getbuffer() as image, image[HEADER:] as body:
        header = _header(body)
    out.seek(0)
    out.write(header)
    return out.getvalue()


def _header(body: memoryview) -> bytes:
    header = ffi.new("fm_header *")
    header.magic = ffi.string(lib.FM_IMAGE_MAGIC)
    header.version, header.byte_order = lib.fm_image_version(), lib.FM_BYTE_ORDER
    header.size = HEADER + len(body)
    with ffi.from_buffer(body) as start:
        header.checksum = lib.fm_checksum(start, len(body))
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
    words = len(image) // 8  # arrays begin at multiples of 8 bytes
    whole = {name: np.frombuffer(image, dtype, words * (8 // dtype.itemsize)) for name, dtype in _TYPES.items()}
    for name, kind, where, columns in plan.views:
        values = whole[kind][where]
        arrays[name] = values.reshape(-1, columns) if columns > 1 else values
    return sizes, arrays


def extents(sizes: Mapping[str, int]) -> tuple[tuple[Column, int, int], ...]:
    """Each array of an image with these sizes, the byte where it begins, and the number of its values."""
    return _plan(tuple(sizes[name] for name in size_names())).extents


@dataclass(frozen=True)
class _Plan:
    """Images with the same sizes. parts: each array with values behind the bytes before it: sizes, names of sections
    and padding; extents: of all arrays; views: of those with values, name, key of _TYPES, elements and columns; sizes:
    numbers of values; empty: arrays without.
    """

    parts: list[tuple[bytes, Column | None]]
    extents: tuple[tuple[Column, int, int], ...]
    views: list[tuple[str, str, slice, int]]
    sizes: list[tuple[str, int]]
    empty: Arrays


@lru_cache(maxsize=8)
def _plan(counts: tuple[int, ...]) -> _Plan:
    sizes, found, parts = dict(zip(size_names(), counts, strict=True)), [], []
    mark = np.array(counts, np.int32).tobytes()
    mark += bytes(-len(mark) % 8)
    at = HEADER + len(mark)
    section = None
    for column in table():
        if column.section != section:
            section = column.section
            mark += section.encode().ljust(8)
            at += 8
        count = sizes[column.rows] * column.columns
        found.append((column, at, count))
        if count:
            parts.append((mark, column))
            size = count * column.dtype.itemsize
            mark = bytes(-size % 8)
            at += size + len(mark)
    return _Plan(
        [*parts, (mark, None)], tuple(found), [_view(*one) for one in found if one[2]],
        [(column.name, n) for column, _, n in found], {column.name: column.empty for column, _, _ in found},
    )  # fmt: skip


def _view(column: Column, at: int, count: int) -> tuple[str, str, slice, int]:
    kind = next(name for name, dtype in _TYPES.items() if dtype == column.dtype)
    first = at // column.dtype.itemsize
    return column.name, kind, slice(first, first + count), column.columns


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


def values_of(instance: Any, references: NDArray[Any]) -> NDArray[np.float64]:
    """(n,) values of an instance by (n,) references. Raises ModelError if the core does not give them."""
    asked, values = references.astype(np.uint32), np.empty(len(references))
    into = ffi.from_buffer("double[]", values)
    if lib.fm_get(instance, ffi.from_buffer("uint32_t[]", asked), len(asked), into) != lib.FM_OK:
        raise ModelError(f"{ffi.string(lib.fm_message(instance)).decode()}.")
    return values


def open_where_given(arrays: Arrays) -> Any:
    """An instance of the image of these arrays that is assembled at its start values, not in equilibrium."""
    options = arrays["options"].copy()
    options.flat[lib.FM_OPTION_EQUILIBRIUM] = 0.0
    given = arrays | {"options": options}
    return open_instance(pack(counted(given), given))
