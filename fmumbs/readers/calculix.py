"""Matrices of CalculiX: .sti and .mas have the upper triangles, row, column and value a line; .dof has the freedom of
each row, node.direction.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fmumbs.readers.freedoms import (
    NO_DECK,
    Array,
    FileError,
    Freedoms,
    Raw,
    beside,
    check_diagonal,
    columns,
    deck_nodes,
    nodes_of,
    symmetric,
)  # fmt: skip


def read(path: Path, mass: Path | None, deck: Path | None, given: Array | None, _: tuple[str, ...]) -> Raw:
    """The matrices of a .sti file."""
    job, fix = path.stem, "Copy all files that *FREQUENCY, SOLVER=MATRIXSTORAGE writes"
    mas = mass or beside(path, [f"{job}.mas"], "the mass matrix", fix)
    dof = beside(path, [f"{job}.dof"], "the list of freedoms", fix)
    freedoms = _freedoms(dof)
    size = len(freedoms.nodes)
    stiff, heavy = (columns(file, (3,), 2) for file in (path, mas))
    if stiff.shape != heavy.shape or (stiff[:, :2] != heavy[:, :2]).any():
        raise FileError(mas, f"its entries are not those of '{path.name}'", "Write both in one run")
    rows, columns_ = stiff[:, :2].T.astype(np.int64) - 1
    K, M = (symmetric(file, (rows, columns_), found[:, 2], size) for file, found in ((path, stiff), (mas, heavy)))
    check_diagonal(path, K, lambda row: f"row {row + 1}")
    return Raw(
        path, K, M, freedoms,
        *nodes_of(path, deck, given, [f"{job}.inp"], "the deck with the nodes", NO_DECK, deck_nodes),
    )  # fmt: skip


def _freedoms(path: Path) -> Freedoms:
    """From node.direction, a line each; the direction is one digit."""
    nodes, directions = [], []
    with path.open(encoding="latin-1") as file:
        for line, text in enumerate(file, 1):
            number, dot, direction = text.strip().partition(".")
            if not (number.isdecimal() and dot and len(direction) == 1 and direction.isdecimal()) or len(number) > 15:
                raise FileError(path, f"'{text.strip()[:40]}' is not node.direction", "Write it again", line)
            nodes.append(int(number))
            directions.append(int(direction))
    return Freedoms(path, np.array(nodes, np.int64), np.array(directions, np.int64), lines=True)
