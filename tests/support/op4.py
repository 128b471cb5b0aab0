"""Nastran's OUTPUT4, written from its description: text or binary, dense or sparse, both byte orders."""

import struct
from itertools import product
from typing import Any

import numpy as np

Array = Any
LAYOUTS = ("dense", "strings", "bigmat")
# (layout, text or byte order, four or eight bytes of an integer, digits)
DIGITS = ("double", "single")
FORMATS = [*product(LAYOUTS, ("text",), (4,), DIGITS), *product(LAYOUTS, "<>", (4, 8), DIGITS)]


def strings(column: Array) -> list[tuple[int, Array]]:
    """Runs of entries that are not zero: first row from 0, values."""
    at = np.flatnonzero(column)
    return [(int(run[0]), column[run]) for run in np.split(at, np.flatnonzero(np.diff(at) > 1) + 1) if len(run)]


def op4(matrices: dict[str, Array], layout: str, order: str, word: int, digits: str) -> bytes:
    """The file."""
    write = _text if order == "text" else _binary
    return b"".join(write(name, A, layout, order, word, digits == "double") for name, A in matrices.items())


def _columns(A: Array, layout: str) -> Any:
    for k, column in enumerate(A.T):
        if not column.any():
            continue
        if layout == "dense":
            at = np.flatnonzero(column)
            yield k + 1, [(int(at[0]), column[at[0] : at[-1] + 1])]
        else:
            yield k + 1, strings(column)


def _text(name: str, A: Array, layout: str, _: str, __: int, double: bool) -> bytes:
    rows, columns = A.shape
    kind, words = (2, 2) if double else (1, 1)
    each, width, decimals = (3, 23, 16) if double else (5, 16, 9)
    signed = -rows if layout == "bigmat" else rows
    out = [f"{columns:8d}{signed:8d}{6:8d}{kind:8d}{name:8s}1P,{each}E{width}.{decimals}"]

    def numbers(values: Array) -> None:
        for k in range(0, len(values), each):
            out.append("".join(f"{v:{width}.{decimals}E}" for v in values[k : k + each]))

    for column, runs in _columns(A, layout):
        if layout == "dense":
            first, values = runs[0]
            out.append(f"{column:8d}{first + 1:8d}{len(values):8d}")
            numbers(values)
            continue
        extra = 2 if layout == "bigmat" else 1
        out.append(f"{column:8d}{0:8d}{sum(len(v) * words + extra for _, v in runs):8d}")
        for first, values in runs:
            length = len(values) * words + 1
            out.append(f"{length:8d}{first + 1:8d}" if layout == "bigmat" else f"{first + 1 + 65536 * length:12d}")
            numbers(values)
    out.append(f"{columns + 1:8d}{1:8d}{1:8d}")
    numbers(np.ones(1))
    return ("\n".join(out) + "\n").encode()


def _binary(name: str, A: Array, layout: str, order: str, word: int, double: bool) -> bytes:
    rows, columns = A.shape
    size = 8 if double or word == 8 else 4
    integer, real = order + ("i" if word == 4 else "q"), order + ("d" if size == 8 else "f")
    words = size // word

    def ints(*values: int) -> bytes:
        return b"".join(struct.pack(integer, v) for v in values)

    def record(body: bytes) -> bytes:
        length = struct.pack(order + "i", len(body))
        return length + body + length

    def reals(values: Array) -> bytes:
        return b"".join(struct.pack(real, v) for v in values)

    title = name.ljust(8).encode() if word == 4 else name.ljust(16).encode()
    out = [record(ints(columns, -rows if layout == "bigmat" else rows, 6, 2 if double else 1) + title)]
    for column, runs in _columns(A, layout):
        if layout == "dense":
            first, values = runs[0]
            out.append(record(ints(column, first + 1, len(values) * words) + reals(values)))
            continue
        body = b""
        for first, values in runs:
            length = len(values) * words + 1
            head = ints(length, first + 1) if layout == "bigmat" else ints(first + 1 + 65536 * length)
            body += head + reals(values)
        out.append(record(ints(column, 0, len(body) // word) + body))
    return b"".join(out) + record(ints(columns + 1, 1, words) + reals(np.ones(1)))
