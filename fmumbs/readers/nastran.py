"""Matrices of Nastran: OUTPUT4 as text or binary, and the GRID entries of bulk data.

A matrix is a header (columns, rows, form, type, name) and records of a column each: number, first row, count of
words, values. Where the first row is 0 the column is strings of entries that follow one another, each after its length
and first row, packed in one word, or, if the matrix has a negative or large number of rows (BIGMAT), in two. A record
of the column after the last ends a matrix. Binary records stand between their lengths in bytes; integers have four or
eight.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fmumbs.readers.freedoms import Array, FileError, Places, Raw, check_diagonal, counted, nodes_of, symmetric

Index = NDArray[np.int64]

_BIG = 65536  # rows from which strings have two words
_FORMS = {1: "square", 2: "rectangular", 6: "symmetric"}
_TYPES = {1: (4, False), 2: (8, False), 3: (4, True), 4: (8, True)}  # bytes of a real number; complex


def read(path: Path, mass: Path | None, deck: Path | None, given: Array | None, names: tuple[str, ...]) -> Raw:
    """The matrices of an .op4 file."""
    if mass is not None:
        raise FileError(path, "it has both matrices", "Leave out mass=, and give their names as names=")
    if len(names) != 2:
        raise FileError(path, f"names= are {len(names)}", "Give those of stiffness and mass")
    found = read_op4(path)
    for name in names:
        count = sum(matrix.name == name.upper() for matrix in found)
        if count != 1:
            listed = ", ".join(matrix.name for matrix in found) or "none"
            raise FileError(path, f"it has {count} matrices {name}; its matrices are {listed}", "Give names=")
    stiff, heavy = (next(matrix for matrix in found if matrix.name == name.upper()) for name in names)
    for matrix in (stiff, heavy):
        if matrix.complex or matrix.form not in _FORMS or matrix.shape[0] != matrix.shape[1]:
            what = f"{matrix.name} is complex, not square, or of the form {matrix.form}"
            raise FileError(path, what, "Write real symmetric matrices of all freedoms (the g-set)")
    decks, fix = [f"{path.stem}{e}" for e in (".bdf", ".dat", ".nas")], "Give the file, or coordinates, as nodes="
    deck, places = nodes_of(path, deck, given, decks, "the bulk data", fix, bulk_nodes)
    count = len(places) or len(given if given is not None else ())
    if stiff.shape != heavy.shape or stiff.shape[0] not in (3 * count, 6 * count):
        raise FileError(
            path, f"{stiff.name} has {stiff.shape[0]} rows and {heavy.name} {heavy.shape[0]}, but {count} nodes have "
            f"{6 * count}", "Write both for all freedoms (the g-set), and give the nodes of this run",
        )  # fmt: skip
    size = stiff.shape[0]
    K, M = (symmetric(path, *matrix.entries(), size) for matrix in (stiff, heavy))
    numbers = np.array(sorted(places) if places else range(1, count + 1), np.int64)
    each = size // count
    if each == 6:
        turns = np.tile(np.arange(6) > 2, count)
        if not (abs(K)[turns].sum() or abs(M)[turns].sum()):  # solids
            K, M, each = K[~turns][:, ~turns], M[~turns][:, ~turns], 3
    freedoms = counted(path, numbers, each)
    check_diagonal(path, K, lambda row: f"freedom {row % each + 1} of node {numbers[row // each]}")
    return Raw(path, K, M, freedoms, deck, places)


@dataclass
class Op4:
    """A matrix of an .op4 file, by its strings of entries, each (first row, column, values) from 0."""

    name: str
    shape: tuple[int, int]
    form: int
    complex: bool
    strings: list[tuple[int, int, Array]] = field(default_factory=list)

    def entries(self) -> tuple[tuple[Index, Index], Array]:
        """Rows and columns, and values, of real entries that are not zero."""
        none = np.zeros(0)
        rows = np.concatenate([none, *(r + np.arange(len(v)) for r, _, v in self.strings)]).astype(np.int64)
        columns = np.repeat([c for _, c, _ in self.strings], [len(v) for *_, v in self.strings]).astype(np.int64)
        values = np.concatenate([none, *(v for *_, v in self.strings)])
        kept = values != 0.0
        return (rows[kept], columns[kept]), values[kept]


def read_op4(path: Path) -> list[Op4]:
    """All matrices of a file, their names in capitals."""
    data = path.read_bytes()
    if not data:
        raise FileError(path, "it is empty", "Write it again")
    return list(_binary(path, data) if 0 in data[:4] else _text(path, data))


def _started(
    refuse: Callable[[str], FileError], columns: int, rows: int, form: int, kind: int, name: str
) -> tuple[Op4, int]:
    """A matrix without entries, and the bytes of its numbers."""
    if kind not in _TYPES or columns < 1 or rows == 0 or max(columns, abs(rows)) >= 2**31:
        raise refuse(f"{columns} columns, {rows} rows and type {kind} are no header of a matrix")
    size, complex_ = _TYPES[kind]
    return Op4(name.strip(" \0").upper(), (abs(rows), columns), form, complex_), size


def _add(matrix: Op4, refuse: Callable[[str], FileError], row: int, column: int, values: Array) -> None:
    count = len(values) // (2 if matrix.complex else 1)
    if row < 0 or row + count > matrix.shape[0]:
        raise refuse(f"entries of column {column + 1} of {matrix.name} end in row {row + count} of {matrix.shape[0]}")
    if not np.isfinite(values).all():
        raise refuse(f"an entry of column {column + 1} of {matrix.name} is not finite")
    if not matrix.complex:
        matrix.strings.append((row, column, values))


def _next_column(matrix: Op4, refuse: Callable[[str], FileError], column: int, last: int) -> bool:
    """Whether a record is of another column; else it ends the matrix."""
    if not last < column <= matrix.shape[1] + 1:
        raise refuse(f"column {column} of {matrix.name} comes after column {last}, of {matrix.shape[1]}")
    return column <= matrix.shape[1]


class _Lines:
    """Lines of a text file, with the number of the last one."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path, self.lines, self.number = path, data.decode("latin-1").splitlines(), 0
        if not data.endswith(b"\n"):
            raise FileError(path, "it is cut off in its last line", "Write it again", len(self.lines))

    def refuse(self, what: str) -> FileError:
        return FileError(self.path, what, "Write it again", self.number)

    def more(self) -> bool:
        return any(line.strip() for line in self.lines[self.number : self.number + 1])

    def next(self) -> str:
        if self.number == len(self.lines):
            raise self.refuse("it is cut off after this line")
        self.number += 1
        return self.lines[self.number - 1]

    def integers(self, count: int, width: int = 8) -> list[int]:
        line = self.next()
        try:
            return [int(line[width * k : width * (k + 1)]) for k in range(count)]
        except ValueError:
            raise self.refuse(f"'{line[:40]}' does not begin with {count} integers of {width} columns") from None

    def numbers(self, count: int, each: int, width: int) -> Array:
        """`count` numbers, `each` a line."""
        found: list[float] = []
        while len(found) < count:
            line = self.next()
            try:
                found += [
                    float(line[width * k : width * (k + 1)].upper().replace("D", "E"))
                    for k in range(min(each, count - len(found)))
                ]
            except ValueError:
                raise self.refuse(f"'{line[:40]}' is not a line of numbers of {width} columns") from None
        return np.array(found)


def _text(path: Path, data: bytes) -> Iterator[Op4]:
    lines = _Lines(path, data)
    while lines.more():
        head = lines.next().rstrip()
        lines.number -= 1
        width = 16 if head.endswith("|I16") else 8
        columns, rows = lines.integers(2, width)
        try:
            form, kind = (int(head[2 * width + 8 * k : 2 * width + 8 * (k + 1)]) for k in range(2))
        except ValueError:
            raise lines.refuse(f"'{head[:60]}' is no header of a matrix") from None
        rest = head[2 * width + 16 :].removesuffix("|I16")
        format_ = re.search(r"(\d+)[ED](\d+)\.\d+", rest[8:].upper())
        if format_ is None and rest[8:].strip():
            raise lines.refuse(f"'{rest[8:]}' is no format of numbers")
        each, long = (5, 16) if format_ is None else (int(format_[1]), int(format_[2]))
        if not (0 < each < 100 and 0 < long < 100):
            raise lines.refuse(f"'{rest[8:]}' is no format of numbers")
        matrix, _ = _started(lines.refuse, columns, rows, form, kind, rest[:8])
        words = 1 if kind in (1, 3) else 2  # of a real number
        last = 0
        while True:
            column, row, count = lines.integers(3)
            if not _next_column(matrix, lines.refuse, column, last):
                if count:
                    lines.numbers(1, each, long)
                break
            last = column
            if row > 0:
                _add(matrix, lines.refuse, row - 1, column - 1, lines.numbers(count, each, long))
                continue
            while count > 0:
                if rows < 0 or rows >= _BIG:
                    length, first = lines.integers(2)
                    count -= length + 1
                else:
                    packed = lines.integers(1, 16)[0]
                    length, first = packed // _BIG, packed % _BIG
                    count -= length
                if length < 2 or count < 0:
                    raise lines.refuse(f"a string of column {column} of {matrix.name} does not fit into its record")
                _add(matrix, lines.refuse, first - 1, column - 1, lines.numbers((length - 1) // words, each, long))
        yield matrix


class _Records:
    """Fortran's records of a binary file."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path, self.data, self.at = path, data, 0
        self.order = "<" if struct.unpack("<i", (data + b"\0\0\0\0")[:4])[0] in (24, 48) else ">"
        self.start = 0

    def refuse(self, what: str) -> FileError:
        return FileError(self.path, f"byte {self.start + 1}: {what}", "Write it again")

    def next(self) -> bytes:
        self.start = self.at
        try:
            (length,) = struct.unpack_from(self.order + "i", self.data, self.at)
            found = self.data[self.at + 4 : self.at + 4 + length]
            (again,) = struct.unpack_from(self.order + "i", self.data, self.at + 4 + max(length, 0))
        except struct.error:
            raise self.refuse("it is cut off in this record") from None
        if length < 0 or again != length:
            raise self.refuse("a record does not end with its length")
        self.at += 8 + length
        return found


def _binary(path: Path, data: bytes) -> Iterator[Op4]:
    records = _Records(path, data)
    while records.at < len(data):
        head = records.next()
        if len(head) not in (24, 48):
            raise records.refuse(f"a header of {len(head)} bytes is no header of a matrix")
        long = len(head) == 48
        word = 8 if long else 4
        integer = records.order + ("i8" if long else "i4")
        columns, rows, form, kind = (int(k) for k in np.frombuffer(head[: 4 * word], integer))
        matrix, size = _started(records.refuse, columns, rows, form, kind, head[4 * word :].decode("latin-1"))
        size = max(size, word)  # with long integers single precision takes eight bytes, too
        last = 0
        while True:
            record = records.next()
            if len(record) < 3 * word:
                raise records.refuse("a record is too short for a column")
            column, row, count = (int(k) for k in np.frombuffer(record[: 3 * word], integer))
            if not _next_column(matrix, records.refuse, column, last):
                break
            last, rest = column, record[3 * word :]
            if len(rest) != count * word:
                raise records.refuse(f"column {column} of {matrix.name} has {len(rest)} bytes for {count} words")
            at = 0
            while at < len(rest):
                if row > 0:
                    first, length = row, count
                elif rows < 0 or rows >= _BIG:
                    pair = np.frombuffer(rest[at : at + 2 * word].ljust(2 * word, b"\0"), integer)
                    length, first = int(pair[0]), int(pair[1])
                    length, at = length - 1, at + 2 * word
                else:
                    packed = int(np.frombuffer(rest[at : at + word], integer)[0])
                    length, first, at = packed // _BIG - 1, packed % _BIG, at + word
                if length < 1 or at + length * word > len(rest) or (length * word) % size:
                    raise records.refuse(f"a string of column {column} of {matrix.name} does not fit into its record")
                values = np.frombuffer(rest[at : at + length * word], f"{records.order}f{size}").astype(float)
                _add(matrix, records.refuse, first - 1, column - 1, values)
                at += length * word
        yield matrix


_REAL = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[EDed]?([+-]?\d+))?")
_OTHER = ("INCLUDE", "SPOINT", "EPOINT", "GRDSET", "SEQGP")


def bulk_nodes(path: Path) -> Places:
    """Coordinates by number, of the GRID entries of bulk data: free, small and large fields."""
    found: dict[int, tuple[float, float, float]] = {}
    with path.open(encoding="latin-1") as file:
        lines = [line.split("$")[0].rstrip().expandtabs(8) for line in file]
    for k, line in enumerate(lines):
        entry = re.match(r"[A-Za-z0-9]*\*?", line.lstrip())[0].upper()  # type: ignore[index]
        if entry in _OTHER:
            raise FileError(path, f"{entry} is not read", "Give coordinates as nodes=", k + 1)
        if entry.rstrip("*") != "GRID":
            continue
        follows = lines[k + 1] if entry.endswith("*") and k + 1 < len(lines) else ""
        number, system, x, y, z, own = _grid(line, follows)
        try:
            place = (_real(x), _real(y), _real(z))
            key = int(number)
        except ValueError:
            what = f"'{line[:72]}' is not a GRID with a number and coordinates"
            raise FileError(path, what, "Correct it", k + 1) from None
        if system not in ("", "0") or own not in ("", "0"):
            raise FileError(
                path, f"node {key} has its own coordinate system", "Give coordinates in the basic system as nodes=",
                k + 1,
            )  # fmt: skip
        if key in found:
            raise FileError(path, f"node {key} stands twice", "Remove one", k + 1)
        found[key] = place
    if not found:
        raise FileError(path, "it has no GRID", "Give the bulk data with the nodes, or coordinates, as nodes=")
    return found


def _grid(line: str, follows: str) -> list[str]:
    """Number, coordinate system, three coordinates, system of displacements."""
    if "," in line:
        parts = line.split(",")[1:7]
        if line.lstrip().upper().startswith("GRID*") and len(line.split(",")) < 7:
            parts = line.split(",")[1:5] + follows.split(",")[1:3]
    elif line[:8].upper().startswith("GRID*"):
        parts = [line[8 + 16 * k : 24 + 16 * k] for k in range(4)] + [follows[8:24], follows[24:40]]
    else:
        parts = [line[8 * k : 8 * (k + 1)] for k in range(1, 7)]
    return [part.strip() for part in (parts + [""] * 6)[:6]]


def _real(text: str) -> float:
    """A number as Nastran writes it: 1.5-3 is 0.0015; a blank one is 0."""
    if not text:
        return 0.0
    parts = _REAL.fullmatch(text)
    if parts is None:
        raise ValueError(text)
    return float(parts[1]) if parts[2] is None else float(f"{parts[1]}e{parts[2]}")
