"""Numbers in text, and CSV tables of them: what float() takes beside plain decimal numbers is refused.

A number has the digits 0 to 9, a point, a sign and an exponent, or is nan, inf or infinity; spaces may be around it.
A table has a header of names and rows as long as it; empty lines are left out.
"""

import csv
import io
import math
import re
from array import array
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_DECIMAL = re.compile(r"[ \t]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t]*")
_SPECIAL = re.compile(r"[ \t]*[+-]?(?:nan|inf|infinity)[ \t]*", re.IGNORECASE)
_WHOLE = re.compile(r"[ \t]*[+-]?[0-9]+[ \t]*")


def number(text: str) -> float:
    """The number that a text states. Raises ValueError for any other text, and for one beyond the range of doubles."""
    if _DECIMAL.fullmatch(text):
        value = float(text)
        if math.isinf(value):
            raise ValueError(f"'{_short(text)}' is beyond the largest number, 1.8e308")
        return value
    if _SPECIAL.fullmatch(text):
        return float(text)
    raise ValueError(f"'{_short(text)}' is not a number")


def whole(text: str) -> int:
    """The whole number that a text states. Raises ValueError for any other text."""
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"'{_short(text)}' is not a whole number")
    return int(text)


@dataclass(frozen=True)
class Table:
    """names: of the columns. rows: (n, columns) numbers. lines: (n,) where each row ends in the file, from 1."""

    names: tuple[str, ...]
    rows: NDArray[np.float64]
    lines: NDArray[np.int64]


def read_table(path: Path, most: int | None = None) -> Table:
    """The table in a CSV file in UTF-8; most: its longest length [characters].

    Raises ValueError, with the number of the line, for a row of another length than the header and for a cell that is
    not a number; OSError.
    """
    with path.open(newline="", encoding="utf-8-sig") as file:
        text = file.read() if most is None else file.read(most + 1)
    if most is not None and len(text) > most:
        raise ValueError(f"it is longer than {most} characters")
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    names: list[str] = []
    cells, lines = array("d"), array("q")
    try:
        for row in reader:
            if not row:
                continue
            if not names:
                names = row
                continue
            if len(row) != len(names):
                raise ValueError(f"it has {len(row)} cells, but the header {len(names)}")
            cells.extend(map(number, row))
            lines.append(reader.line_num)
    except (ValueError, csv.Error) as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None
    return Table(tuple(names), np.array(cells).reshape(-1, max(len(names), 1)), np.array(lines, np.int64))


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
