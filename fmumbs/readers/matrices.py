"""Stiffness and mass of finite elements from the files of other programs: CalculiX, Abaqus, Nastran, Exudyn.

What a file has is put into one order: nodes by ascending number, and of each node its three translations, or six
freedoms. What is missing, double or cut off is refused with the file and the line; nothing is filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.readers import abaqus, calculix, exudyn, nastran
from fmumbs.readers.freedoms import FileError, Freedoms, Raw

Array = NDArray[np.float64]
Sparse = Any

_REFUSED = {
    ".mnf": "a modal neutral file, whose format is not public. Write K and M of the finite element program instead",
    ".op2": "a Nastran op2 file. Write KGG and MGG as an op4 file (OUTPUT4) instead",
    ".sim": "a binary file of Abaqus. Write matrices as text, by *MATRIX OUTPUT, FORMAT=COORDINATE",
    ".hdf5": "not read. Save as .npz by FEMinterface.SaveToFile instead",
    ".pkl": "not read. Save as .npz by FEMinterface.SaveToFile instead",
    ".npy": "not read. Save as .npz by FEMinterface.SaveToFile instead",
}


@dataclass(frozen=True, eq=False)
class Matrices:
    """Stiffness and mass of finite elements, as `fm.ModalBody.from_matrices` takes them.

    K: (freedoms, freedoms) sparse [N/m, ...]. M: the same [kg, ...]. nodes: (nodes, 3) coordinates [m].
    numbers: (nodes,) of the nodes in the file, ascending.
    """

    K: Sparse
    M: Sparse
    nodes: Array
    numbers: NDArray[np.int64]

    def at(self, numbers: int | Iterable[int]) -> list[int]:
        """Rows of `nodes`, as interfaces name them, of nodes by their numbers in the file.

        Raises ModelError for a number that the file does not have.
        """
        wanted = np.atleast_1d(np.asarray([numbers] if isinstance(numbers, int) else list(numbers)))
        places = np.searchsorted(self.numbers, wanted)
        found = self.numbers[np.minimum(places, len(self.numbers) - 1)] == wanted
        if not found.all():
            missing = wanted[np.argmin(found)]
            raise ModelError(
                f"There is no node {missing}; numbers are {self.numbers[0]} to {self.numbers[-1]}. Give another."
            )
        listed: list[int] = places.tolist()
        return listed


def read_matrices(
    path: str | Path,
    *,
    mass: str | Path | None = None,
    nodes: str | Path | ArrayLike | None = None,
    names: Sequence[str] = ("KGG", "MGG"),
    units: Sequence[float] = (1.0, 1.0),
) -> Matrices:
    """Stiffness and mass that a finite element program has written, for `fm.ModalBody.from_matrices`.

    path: by its ending
        .sti: CalculiX, `*FREQUENCY, SOLVER=MATRIXSTORAGE`; with .mas, .dof and .inp of the same name beside it.
        .mtx: Abaqus, `*MATRIX GENERATE, STIFFNESS, MASS` and `*MATRIX OUTPUT, STIFFNESS, MASS`, with FORMAT=MATRIX
            INPUT or COORDINATE; job_STIF1.mtx, with job_MASS1.mtx and job.inp beside it. Rows of FORMAT=COORDINATE
            count the freedoms of nodes in ascending order.
        .op4: Nastran, text or binary, dense or sparse; nodes from the GRID entries of a .bdf, .dat or .nas of the same
            name. Rotations that neither matrix has, as of solids, are left out.
        .npz: Exudyn, FEMinterface.SaveToFile.
    mass: the file of the mass matrix, of .sti and .mtx, if it has another name.
    nodes: the file of the nodes, a deck, or their coordinates (nodes, 3) in ascending order of their numbers.
    names: of stiffness and mass in an .op4 file.
    units: metres of the file's unit of length, and kilograms of its unit of mass: (0.001, 1000) for mm, N and tonnes.
        Seconds are seconds.

    Raises ModelError, with the file and its line, for what is damaged, cut off, supported, double or of another kind.
    """
    where = _checks.path(path, "read_matrices: path")
    length, heavy = (
        _checks.positive(u, "read_matrices: units") for u in _checks.numbers(units, 2, "read_matrices: units")
    )
    kind = where.suffix.lower()
    if kind in _REFUSED:
        raise ModelError(f"read_matrices: '{where}' is {_REFUSED[kind]}.")
    if kind not in _READERS:
        known = ", ".join(_READERS)
        raise ModelError(f"read_matrices: '{where}' has the ending '{kind}', but {known} are read. Give one of them.")
    beside = None if mass is None else _checks.path(mass, "read_matrices: mass")
    deck = _checks.path(nodes, "read_matrices: nodes") if isinstance(nodes, str | Path) else None
    given = None if nodes is None or deck is not None else _checks.array(nodes, "read_matrices: nodes")
    try:
        raw = _READERS[kind](where, beside, deck, given, tuple(_checks.names(names, "read_matrices: names")))
        return _ordered(raw, given, length, heavy)
    except FileError as error:
        raise ModelError(f"read_matrices: {error}") from None
    except OSError as error:
        what = f"'{error.filename or where}' cannot be read: {error.strerror}"
        raise ModelError(f"read_matrices: {what}. Give the file.") from None
    except MemoryError:
        what = f"'{where}' does not fit into memory"
        raise ModelError(f"read_matrices: {what}. It may be damaged: write it again.") from None


_READERS: dict[str, Callable[..., Raw]] = {
    ".sti": calculix.read,
    ".mtx": abaqus.read,
    ".op4": nastran.read,
    ".npz": exudyn.read,
}


def _ordered(raw: Raw, given: Array | None, length: float, mass: float) -> Matrices:
    """In ascending order of nodes, in SI units."""
    numbers, each, row = _rows(raw.freedoms)
    if given is not None:
        if given.shape != (len(numbers), 3) or not np.isfinite(given).all():
            raise FileError(
                raw.path, f"it has {len(numbers)} nodes, but nodes= has the shape {given.shape}",
                f"Give ({len(numbers)}, 3) finite numbers",
            )  # fmt: skip
        places = given
    else:
        missing = next((int(n) for n in numbers if int(n) not in raw.places), None)
        if missing is not None:
            raise FileError(
                raw.deck, f"it has no coordinates of node {missing}, whose freedoms '{raw.path}' has",
                "Give the deck of this run as nodes=",
            )  # fmt: skip
        places = np.array([raw.places[int(n)] for n in numbers])
    size = each * len(numbers)
    of = np.full(each, 1.0)
    of[:3] = length
    scale = sparse.diags_array(np.tile(1.0 / of, len(numbers)))
    order = sparse.csr_array((np.ones(size), (row, np.arange(size))), shape=(size, size))
    back = scale @ order
    K, M = (sparse.csr_array(mass * length**2 * (back @ A @ back.T)) for A in (raw.K, raw.M))
    return Matrices(K, M, places * length, numbers)


def _rows(freedoms: Freedoms) -> tuple[NDArray[np.int64], int, NDArray[np.int64]]:
    """Numbers of the nodes, freedoms of each, and the new row of each freedom."""
    number, direction = freedoms.nodes, freedoms.directions
    if len(number) == 0:
        raise FileError(freedoms.path, "it has no freedoms", "Write it again")
    odd = (direction < 1) | (direction > 6)
    if odd.any():
        k = int(np.argmax(odd))
        raise FileError(
            freedoms.path, f"freedom {direction[k]} of node {number[k]} is neither a translation nor a rotation",
            "Write the matrices of a mechanical step", freedoms.line(k),
        )  # fmt: skip
    numbers, node = np.unique(number, return_inverse=True)
    each = 6 if direction.max() > 3 else 3
    row = each * node + direction - 1
    count = np.bincount(row, minlength=each * len(numbers))
    if (count != 1).any():
        k = int(np.argmax(count != 1))
        what = f"freedom {k % each + 1} of node {numbers[k // each]}"
        if count[k] > 1:
            raise FileError(freedoms.path, f"it has {what} twice", "Write it again")
        raise FileError(
            freedoms.path, f"it lacks {what}",
            "Remove supports, couplings and equations from the deck, and nodes with other freedoms",
        )  # fmt: skip
    return numbers, each, row
