"""Matrices of Abaqus as text: node, direction, node, direction, value of one triangle (FORMAT=MATRIX INPUT), or row,
column, value of both (FORMAT=COORDINATE).
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fmumbs.readers.freedoms import (
    NO_DECK,
    Array,
    FileError,
    Freedoms,
    Places,
    Raw,
    beside,
    check_diagonal,
    columns,
    counted,
    deck_nodes,
    nodes_of,
    symmetric,
)  # fmt: skip

_PART = 8  # directions of a node: numbers of its freedoms are below


def read(path: Path, mass: Path | None, deck: Path | None, given: Array | None, _: tuple[str, ...]) -> Raw:
    """The matrices of a _STIF.mtx file."""
    with path.open("rb") as file:
        if file.read(14) == b"%%MatrixMarket":
            raise FileError(path, "it is a file of Matrix Market", "Give scipy.io.mmread(path) to from_matrices")
    named = re.fullmatch(r"(.*?)_?STIF(\d*)", path.stem)
    job, step = (path.stem, "") if named is None else named.groups()
    if mass is None:
        if named is None:
            raise FileError(path, "its name does not end with _STIF and a number", "Give the mass matrix as mass=")
        mass = beside(path, [path.name.replace(f"STIF{step}", f"MASS{step}")], "the mass matrix", "Give it as mass=")
    deck, places = nodes_of(path, deck, given, [f"{job}.inp"], "the deck with the nodes", NO_DECK, deck_nodes)
    stiff, heavy = columns(path, (5, 3), 4), columns(mass, (5, 3), 4)
    if stiff.shape[1] != heavy.shape[1]:
        raise FileError(mass, f"its format is not that of '{path.name}'", "Write both in one run")
    if stiff.shape[1] == 5:
        freedoms, rows = _labelled(path, mass, stiff, heavy)
    else:
        freedoms, rows = _counted(path, stiff, len(given) if given is not None else 0, places), None
    size = len(freedoms.nodes)
    K, M = (
        symmetric(file, _indices(found, rows), found[:, -1], size) for file, found in ((path, stiff), (mass, heavy))
    )
    check_diagonal(path, K, lambda row: f"freedom {freedoms.directions[row]} of node {freedoms.nodes[row]}")
    last = freedoms.nodes == freedoms.nodes.max()
    if not M.diagonal()[last].any():
        what = f"node {freedoms.nodes.max()}, the last one, has no mass"
        raise FileError(mass, what, "It may be cut off: write it again")
    return Raw(path, K, M, freedoms, deck, places)


def _labelled(path: Path, mass: Path, stiff: Array, heavy: Array) -> tuple[Freedoms, NDArray[np.int64]]:
    """The freedoms of K, ascending, and their keys; M may have no others."""
    keys = np.unique(_keys(stiff))
    strange = np.setdiff1d(_keys(heavy), keys)
    if len(strange):
        raise FileError(
            mass, f"freedom {strange[0] % _PART} of node {strange[0] // _PART} has mass, but no stiffness",
            "Write both in one run",
        )  # fmt: skip
    for file, found in ((path, stiff), (mass, heavy)):
        odd = (found[:, [1, 3]] < 1) | (found[:, [1, 3]] >= _PART)
        if odd.any():
            row = int(np.argmax(odd.any(axis=1)))
            raise FileError(
                file, f"entry {row + 1} has a freedom that is neither a translation nor a rotation",
                "Write the matrices of a mechanical step",
            )  # fmt: skip
    return Freedoms(path, keys // _PART, keys % _PART), keys


def _keys(found: Array) -> NDArray[np.int64]:
    pairs = found[:, :4].astype(np.int64)
    return np.concatenate([_PART * pairs[:, 0] + pairs[:, 1], _PART * pairs[:, 2] + pairs[:, 3]])


def _indices(found: Array, keys: NDArray[np.int64] | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if keys is None:
        rows, columns_ = found[:, :2].T.astype(np.int64) - 1
        return rows, columns_
    rows, columns_ = np.searchsorted(keys, _keys(found)).reshape(2, -1)
    return rows, columns_


def _counted(path: Path, stiff: Array, count: int, places: Places) -> Freedoms:
    """Rows that count the freedoms of all nodes in ascending order, three or six of each."""
    numbers = np.array(range(1, count + 1) if count else sorted(places), np.int64)
    size = int(stiff[:, :2].max())
    each = 6 if size > 3 * len(numbers) else 3
    if size != each * len(numbers):
        raise FileError(
            path, f"it has {size} rows, but {len(numbers)} nodes have {3 * len(numbers)} or {6 * len(numbers)}",
            "Write FORMAT=MATRIX INPUT, which names the nodes",
        )  # fmt: skip
    return counted(path, numbers, each)
