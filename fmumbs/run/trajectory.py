"""Trajectory files in MATLAB 4, as Dymola and OpenModelica write and open them ("dsres", version 1.1).

Aclass: what the file is. name, description: a text for each variable, the unit in brackets at the description's end.
dataInfo: (4, n) for each variable the number of its matrix, its row there from 1 (negative: the row with the opposite
sign), 0 for linear interpolation, and -1 if it is not defined beyond its last time, 0 if it stays. data_1: the first
and the last time, and a row for each parameter; data_2: the times, and a row for each variable.

These are the shapes of a "binTrans" file; in a "binNormal" file all matrices are transposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fmumbs.errors import SolverError
from fmumbs.run.details import Details

MOST = 2**31 - 1  # bytes of a matrix, which readers count in 32 bits

_UNIT = re.compile(r"(.*?) ?\[([^\[\]]*)\]", re.DOTALL)


def write_trajectory(file: BinaryIO, result: Any) -> None:
    """Writes a Result. Raises SolverError if it is too large for the format."""
    from scipy.io import savemat

    parameters = result.parameters
    names = _characters(["Time", *result, *parameters])
    units = {**result.units, **result.parameter_units}
    described = [_described(result.descriptions.get(name, ""), units.get(name, "")) for name in (*result, *parameters)]
    texts = _characters(["Time in [s]", *described])
    if max((len(result) + 1) * len(result.time) * 8, names.size, texts.size) > MOST:
        raise SolverError(
            f"{len(result)} variables at {len(result.time)} times exceed the 2 GB of a MATLAB 4 matrix. Record fewer "
            "variables, or write .h5 or .parquet."
        )
    count = len(result) + 1
    info = np.zeros((4, count + len(parameters)), np.int32)
    info[0, 1:count] = 2
    info[1, :count] = np.arange(1, count + 1)
    info[3, :count] = -1
    info[0, count:] = 1
    info[1, count:] = np.arange(2, len(parameters) + 2)
    ends = result.time[[0, -1]] if len(result.time) else np.zeros(2)
    matrices: Mapping[str, Any] = {
        "Aclass": _characters(["Atrajectory", "1.1", "", "binTrans"]),
        "name": names.T,
        "description": texts.T,
        "dataInfo": info,
        "data_1": np.vstack([ends, *(np.full(2, value) for value in parameters.values())]),
        "data_2": np.vstack([result.time, *result.values()]),
    }
    savemat(file, matrices, format="4")


def _described(description: str, unit: str) -> str:
    """A description with its unit; without one, brackets at the end of the description are not taken for a unit."""
    if unit or _UNIT.fullmatch(description):
        return f"{description} [{unit}]".strip()
    return description


def _characters(texts: Iterable[str]) -> NDArray[np.bytes_]:
    """(texts, length) matrix of bytes, in UTF-8, with spaces behind shorter texts."""
    rows = [text.encode() for text in texts]
    width = max(1, max(map(len, rows)))
    return np.frombuffer(b"".join(row.ljust(width) for row in rows), "S1").reshape(len(rows), width)


def read_trajectory(path: Path) -> dict[str, Any]:
    """The arguments of Result from a trajectory file of fmumbs, Dymola or OpenModelica; `name` is the file's.

    Raises ValueError for another file.
    """
    from scipy.io import loadmat

    found = loadmat(path, chars_as_strings=False)
    kind = _texts(found["Aclass"]) if "Aclass" in found else []
    if kind[:2] != ["Atrajectory", "1.1"] or len(kind) < 4 or kind[3] not in ("binTrans", "binNormal"):
        raise ValueError("it is not a trajectory file of version 1.1, as Dymola and OpenModelica write them")
    turned = kind[3] == "binTrans"
    names, described = (_texts(found[key].T if turned else found[key]) for key in ("name", "description"))
    info = (found["dataInfo"] if turned else found["dataInfo"].T).astype(np.int64)
    data = {block: _matrix(found, block, turned) for block in {1, 2, *info[0, 1:].tolist()} - {0}}
    values: dict[str, NDArray[np.float64]] = {}
    constants: dict[str, float] = {}
    for name, block, row in zip(names[1:], *info[:2, 1:].tolist(), strict=True):
        series = np.ascontiguousarray(data[block][abs(row) - 1]) * (1.0 if row > 0 else -1.0)
        if block == 1:
            constants[name] = float(series[0])
        elif series.shape == data[2][0].shape:
            values[name] = series
        else:
            raise ValueError(f"'{name}' has other times than the rest")
    parts = {name: _parts(text) for name, text in zip(names, described, strict=True)}
    units = {name: unit for name, (_, unit) in parts.items()}
    return {
        "name": path.stem,
        "time": np.ascontiguousarray(data[2][0]),
        "values": values,
        "units": {name: units[name] for name in values},
        "details": Details(
            {name: text for name, (text, _) in parts.items() if name in values or name in constants},
            constants,
            {name: units[name] for name in constants},
        ),
    }


def _matrix(found: Mapping[str, Any], block: int, turned: bool) -> NDArray[np.float64]:
    data = np.asarray(found[f"data_{block}"], np.float64)
    return data if turned else data.T


def _texts(matrix: NDArray[np.str_]) -> list[str]:
    """The texts in the rows of a matrix of characters, each of which stands for a byte in UTF-8."""
    rows = ("".join(row).rstrip(" \0").encode("latin-1") for row in matrix.tolist())
    return [row.decode("utf-8", "replace") for row in rows]


def _parts(text: str) -> tuple[str, str]:
    """Description and unit; a second unit behind a bar, which Dymola displays, is left out."""
    match = _UNIT.fullmatch(text)
    return (match[1], match[2].partition("|")[0]) if match else (text, "")
