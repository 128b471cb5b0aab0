"""Matrices of Exudyn: FEMinterface.SaveToFile writes a .npz whose arrays are pickled dictionaries and SciPy matrices.

A pickle can run any code. Here it can name arrays, their types and SciPy's sparse matrices, and nothing else.
"""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from fmumbs.readers.freedoms import Array, FileError, Freedoms, Raw, symmetric

_NAMES = {
    "copyreg": {"_reconstructor"},
    "builtins": {"object"},
    "numpy": {"ndarray", "dtype"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "numpy.core.numeric": {"_frombuffer"},
    "scipy.sparse._csr": {"csr_matrix", "csr_array"},
}


class _Reading(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name not in _NAMES.get(module, ()):
            raise pickle.UnpicklingError(f"{module}.{name}")
        return super().find_class(module, name)


def read(path: Path, mass: Path | None, deck: Path | None, given: Array | None, _: tuple[str, ...]) -> Raw:
    """The matrices of a .npz file."""
    if mass is not None or deck is not None or given is not None:
        raise FileError(path, "it has its own masses and nodes", "Leave out mass= and nodes=")
    try:
        with zipfile.ZipFile(path) as archive:
            nodes, stiff, heavy = (_item(path, archive, name) for name in ("nodes", "stiffnessMatrix", "massMatrix"))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error):
        raise FileError(path, "it is damaged, or not a .npz file", "Save it again") from None
    places = _places(path, nodes)
    size = 3 * len(places)
    K, M = (_matrix(path, name, found, size) for name, found in (("stiffnessMatrix", stiff), ("massMatrix", heavy)))
    numbers = np.arange(len(places))
    freedoms = Freedoms(path, np.repeat(numbers, 3), np.tile([1, 2, 3], len(places)))
    return Raw(path, K, M, freedoms, path, {k: (x, y, z) for k, (x, y, z) in enumerate(places.tolist())})


def _item(path: Path, archive: zipfile.ZipFile, name: str) -> Any:
    """What an array of no dimensions and of type object holds."""
    try:
        data = archive.read(f"{name}.npy")
    except KeyError:
        raise FileError(path, f"it has no {name}", "Save a FEMinterface by SaveToFile") from None
    try:
        stream = io.BytesIO(data)
        version = np.lib.format.read_magic(stream)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, kind = header(stream)
        if shape != () or not kind.hasobject:
            raise FileError(path, f"{name} is an array of the shape {shape}", "Save a FEMinterface by SaveToFile")
        found = _Reading(stream).load()
        return found.item() if isinstance(found, np.ndarray) and found.shape == () else found
    except FileError:
        raise
    except pickle.UnpicklingError as error:
        raise FileError(path, f"{name} is damaged, or has what is not read: {error}", "Save it again") from None
    except Exception:  # a damaged pickle raises any
        raise FileError(path, f"{name} is damaged", "Save it again") from None


def _places(path: Path, nodes: Any) -> Array:
    if not isinstance(nodes, dict) or list(nodes) != ["Position"]:
        what = ", ".join(map(str, nodes)) if isinstance(nodes, dict) else type(nodes).__name__
        what = f"its nodes have {what[:80]}, but must have Position alone"
        raise FileError(path, what, "Give K, M and nodes as arrays")
    try:
        places = np.array(nodes["Position"], float)
    except (TypeError, ValueError):
        places = np.zeros(0)
    if places.ndim != 2 or places.shape[1] != 3 or not len(places) or not np.isfinite(places).all():
        raise FileError(path, "its positions are not (nodes, 3) finite numbers", "Save it again")
    return places


def _matrix(path: Path, name: str, found: Any, size: int) -> Any:
    try:
        if not sparse.issparse(found):
            raise TypeError
        rows = np.repeat(np.arange(size), np.diff(np.array(found.indptr, np.int64)).astype(np.int64))
        columns, values = np.array(found.indices, np.int64), np.array(found.data, float)
        fits = tuple(found.shape) == (size, size) and rows.shape == columns.shape == values.shape
    except Exception:  # attributes of a damaged pickle are anything
        raise FileError(path, f"{name} is not a sparse matrix", "Save it again") from None
    if not fits or not np.isfinite(values).all():
        raise FileError(path, f"{name} is not a matrix of {size} freedoms with finite entries", "Save it again")
    return symmetric(path, (rows, columns), values, size)
