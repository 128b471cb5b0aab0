"""What files of matrices have in common: columns of numbers, triangles, decks with nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
Sparse = Any
Places = Mapping[int, tuple[float, float, float]]

_SAME = 1e-9  # relative: two triangles of one matrix, written with ten digits
_MOST_INCLUDES = 20  # decks within decks
_LARGE = 1e12  # beyond numbers of nodes
NO_DECK = "Give the deck, or coordinates, as nodes="


class FileError(Exception):
    """What is wrong with a file, and one fix."""

    def __init__(self, path: Path, what: str, fix: str, line: int | None = None) -> None:
        place = f"'{path}'" if line is None else f"'{path}', line {line}"
        super().__init__(f"{place}: {what}. {fix}.")


@dataclass(frozen=True, eq=False)
class Freedoms:
    """Of each row of the matrices the number of its node and its direction, 1 to 6. path: the file that says so;
    lines: whether row k stands in its line k + 1.
    """

    path: Path
    nodes: NDArray[np.int64]
    directions: NDArray[np.int64]
    lines: bool = False

    def line(self, row: int) -> int | None:
        """The line of a row."""
        return row + 1 if self.lines else None


@dataclass(frozen=True, eq=False)
class Raw:
    """Matrices in the order and the units of a file. path: of K; deck: of the coordinates `places` by number."""

    path: Path
    K: Sparse
    M: Sparse
    freedoms: Freedoms
    deck: Path
    places: Places


def beside(path: Path, names: list[str], what: str, fix: str) -> Path:
    """The first of these files that is in the folder of `path`."""
    for name in names:
        if (found := path.with_name(name)).exists():
            return found
    raise FileError(path, f"{what} is not beside it: there is no {' or '.join(repr(n) for n in names)}", fix)


def nodes_of(
    path: Path, deck: Path | None, given: Array | None, names: list[str], what: str, fix: str,
    read: Callable[[Path], Places],
) -> tuple[Path, Places]:  # fmt: skip
    """The deck, by default the first of `names` beside `path`, and the nodes that `read` finds there; none if their
    coordinates are given.
    """
    if given is not None:
        return deck or path, {}
    deck = deck or beside(path, names, what, fix)
    return deck, read(deck)


def counted(path: Path, numbers: NDArray[np.int64], each: int) -> Freedoms:
    """Rows that count the freedoms of nodes, `each` of each."""
    return Freedoms(path, np.repeat(numbers, each), np.tile(np.arange(1, each + 1), len(numbers)))


def columns(path: Path, counts: tuple[int, ...], whole: int) -> Array:
    """(rows, columns) finite numbers of a text file with one of these counts of columns, the first of `whole` of each
    count integers; separated by blanks, or by commas. Lines that begin with ** are comments.
    """
    _check_end(path)
    with path.open("rb") as file:
        first = next((line for line in file if line.strip() and not line.startswith(b"**")), b"")
    delimiter = "," if b"," in first else None
    try:
        found = np.loadtxt(path, delimiter=delimiter, ndmin=2, comments="**", encoding="latin-1")
    except (ValueError, IndexError):
        raise _first_bad(path, delimiter, counts) from None
    if found.size == 0:
        raise FileError(path, "it has no numbers", "Write it again")
    if found.shape[1] not in counts:
        raise _first_bad(path, delimiter, counts)
    integers = found[:, : whole if found.shape[1] == counts[0] else found.shape[1] - 1]
    whole_ones = (integers == np.floor(integers)) & (abs(integers) < _LARGE)
    bad = ~np.isfinite(found).all(axis=1) | ~whole_ones.all(axis=1)
    if bad.any():
        raise FileError(
            path, "a number of a row is not whole, or an entry not finite", "Write it again",
            _line_of(path, int(np.argmax(bad))),
        )  # fmt: skip
    return found


def _check_end(path: Path) -> None:
    with path.open("rb") as file:
        file.seek(0, 2)
        if file.tell() == 0:
            raise FileError(path, "it is empty", "Write it again")
        file.seek(-1, 2)
        if file.read(1) != b"\n":
            raise FileError(path, "it is cut off in its last line", "Write it again")


def _data_lines(path: Path) -> Iterator[tuple[int, str]]:
    with path.open(encoding="latin-1") as file:
        for number, line in enumerate(file, 1):
            if (text := line.split("**")[0].strip()) != "":
                yield number, text


def _line_of(path: Path, row: int) -> int:
    return next(number for k, (number, _) in enumerate(_data_lines(path)) if k == row)


def _first_bad(path: Path, delimiter: str | None, counts: tuple[int, ...]) -> FileError:
    wanted = None
    for number, text in _data_lines(path):
        parts = text.split(delimiter)
        try:
            numbers = [float(part) for part in parts]
        except ValueError:
            return FileError(path, f"'{text[:40]}' is not a row of numbers", "Write it again", number)
        if len(numbers) not in counts or wanted not in (None, len(numbers)):
            these = " or ".join(str(c) for c in counts) if wanted is None else str(wanted)
            return FileError(path, f"it has {len(numbers)} numbers, but must have {these}", "Write it again", number)
        wanted = len(numbers)
    return FileError(path, "it is not a table of numbers", "Write it again")


def symmetric(path: Path, places: tuple[Any, Any], values: Array, size: int) -> Sparse:
    """A symmetric matrix from its entries, at rows and columns from 0: one triangle or both, each entry once."""
    rows, columns = places
    for index in (rows, columns):
        outside = (index < 0) | (index >= size)
        if outside.any():
            k = int(np.argmax(outside))
            raise FileError(
                path, f"it has row {rows[k] + 1}, column {columns[k] + 1}, but there are {size} freedoms",
                "Write both matrices and the deck in one run",
            )  # fmt: skip
    _, first, count = np.unique(rows.astype(np.int64) * size + columns, return_index=True, return_counts=True)
    if (count > 1).any():
        k = int(first[np.argmax(count > 1)])
        raise FileError(path, f"it has row {rows[k] + 1}, column {columns[k] + 1} twice", "Write it again")
    one = sparse.csr_array((values, (rows, columns)), shape=(size, size))
    low, high = np.sort([rows, columns], axis=0)
    if len(np.unique(low.astype(np.int64) * size + high)) == len(rows):  # one triangle, in the order of the file
        return sparse.csr_array(one + one.T - sparse.diags_array(one.diagonal()))
    apart = abs(one - one.T)
    if apart.max() > _SAME * abs(values).max(initial=0.0):
        row, column = (int(k) for k in np.unravel_index(int(apart.argmax()), apart.shape))
        raise FileError(
            path, f"it is not symmetric: row {row + 1}, column {column + 1} differs from what is transposed",
            "Write symmetric matrices, all of them",
        )  # fmt: skip
    return one


def check_diagonal(path: Path, K: Sparse, name: Any) -> None:
    """A file that is cut off between two lines lacks the last diagonal; `name` names a row."""
    missing = K.diagonal() <= 0.0
    if missing.any():
        raise FileError(
            path, f"the stiffness of {name(int(np.argmax(missing)))} on the diagonal is missing or not positive",
            "It may be cut off: write it again",
        )  # fmt: skip


_MOVES = ("NGEN", "NFILL", "NCOPY", "SYSTEM", "NMAP")


def deck_nodes(path: Path) -> Places:
    """Coordinates by number, of the *NODE entries of a deck of Abaqus or CalculiX."""
    found: dict[int, tuple[float, float, float]] = {}
    keyword = ""
    for file, line, text in _deck(path, 0):
        if text.startswith("*"):
            keyword = "".join(text[1:].split(",")[0].split()).upper()
            if keyword in _MOVES or (keyword == "NODE" and _option(text, "SYSTEM") not in (None, "R")):
                raise FileError(file, f"*{keyword} is not read", "Give coordinates as nodes=", line)
        elif keyword == "INSTANCE":
            raise FileError(file, "it moves an instance, which is not read", "Give coordinates as nodes=", line)
        elif keyword == "NODE":
            number, place = _node(file, line, text)
            if found.get(number, place) != place:
                raise FileError(file, f"node {number} has two places", "Give coordinates as nodes=", line)
            found[number] = place
    if not found:
        raise FileError(path, "it has no *NODE", "Give the deck with the nodes, or coordinates, as nodes=")
    return found


def _deck(path: Path, depth: int) -> Iterator[tuple[Path, int, str]]:
    with path.open(encoding="latin-1") as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if not text or text.startswith("**"):
                continue
            if text.upper().replace(" ", "").startswith("*INCLUDE"):
                inner = _option(text, "INPUT")
                if inner is None or depth == _MOST_INCLUDES:
                    raise FileError(path, "*INCLUDE names no file, or itself", "Give coordinates as nodes=", number)
                yield from _deck(path.parent / inner, depth + 1)
            else:
                yield path, number, text


def _option(text: str, name: str) -> str | None:
    for part in text.split(",")[1:]:
        key, equals, value = part.partition("=")
        if equals and key.strip().upper() == name:
            return value.strip().strip('"')
    return None


def _node(path: Path, line: int, text: str) -> tuple[int, tuple[float, float, float]]:
    parts = [part.strip() for part in text.split(",")]
    try:
        x, y, z = ((float(part) if part else 0.0) for part in [*parts[1:], "", "", ""][:3])
        number = int(parts[0])
    except ValueError:
        raise FileError(path, f"'{text[:40]}' is not a node: number, x, y, z", "Correct it", line) from None
    if not all(map(math.isfinite, (x, y, z))):
        raise FileError(path, f"a coordinate of node {number} is not finite", "Correct it", line)
    return number, (x, y, z)
