"""Files of results: CSV as FMPy writes it, trajectories in MATLAB 4 as Dymola and OpenModelica write them, Parquet."""

import io
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fmumbs import _parquet
from fmumbs._files import whole
from fmumbs.errors import SolverError
from fmumbs.run.plotting import no_place

Array = NDArray[np.float64]
Writer = Callable[[BinaryIO, Any], None]

MOST_MAT = 2**31 - 1  # bytes of a matrix, which readers count in 32 bits


def save(result: Any, target: Path, kind: str) -> Path:
    """Writes a Result in a format of FORMATS; the file appears when it is complete.

    Raises SolverError if it cannot be written.
    """
    try:
        with whole(target) as file:
            FORMATS[kind](file, result)
    except (OSError, ValueError) as error:
        raise no_place(target, error) from error
    return target


def format_of(target: Path) -> str:
    """The format that a file's suffix selects: CSV without one, and for a device such as /dev/stdout.

    Raises SolverError for an unknown suffix.
    """
    suffix = target.suffix.lower()
    if suffix in ("", ".txt") or (target.exists() and not target.is_file()):
        return ".csv"
    if suffix not in FORMATS:
        raise SolverError(f"'{target}' has an unknown format of results. Give one of {', '.join(FORMATS)}.")
    if suffix == ".parquet":
        _parquet.library()
    return suffix


def _csv(file: BinaryIO, result: Any) -> None:
    """The bytes of fmpy.util.write_csv(): names in quotes, every number in the fewest digits that give it back."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
    text.write(",".join(f'"{name}"' for name in ("time", *result)) + "\n")
    series = list(result.values())
    for i, t in enumerate(result.time):
        text.write(",".join(repr(float(v)) for v in (t, *(s[i] for s in series))) + "\n")
    text.flush()
    text.detach()


def _mat(file: BinaryIO, result: Any) -> None:
    """A trajectory file of Dymola ("dsres", version 1.1, binTrans): the matrices below in this order.

    dataInfo: (4, n) for each variable the number of its matrix, its row there from 1, linear interpolation, and that
    it is not defined beyond its last time. data_1 has constants, of which there are none; data_2: (n, times).
    """
    from scipy.io import savemat

    if (len(result) + 1) * len(result.time) * 8 > MOST_MAT:
        raise SolverError(
            f"{len(result)} variables at {len(result.time)} times exceed the 2 GB of a MATLAB 4 matrix. Record fewer "
            "variables, or write .parquet."
        )
    count = len(result) + 1
    info = np.zeros((4, count), np.int32)
    info[0, 1:] = 2
    info[1] = np.arange(1, count + 1)
    info[3] = -1
    described = ["Time in [s]", *(f"[{unit}]" if (unit := result.units.get(name)) else "" for name in result)]
    matrices: Mapping[str, Any] = {
        "Aclass": _characters(["Atrajectory", "1.1", "", "binTrans"]),
        "name": _characters(["Time", *result]).T,
        "description": _characters(described).T,
        "dataInfo": info,
        "data_1": np.array([[result.time[0], result.time[-1]]]),
        "data_2": np.vstack([result.time, *result.values()]),
    }
    savemat(file, matrices, format="4")


def _characters(texts: Iterable[str]) -> NDArray[np.bytes_]:
    """(texts, length) matrix of bytes, in UTF-8, with spaces behind shorter texts."""
    rows = [text.encode() for text in texts]
    width = max(1, max(map(len, rows)))
    return np.frombuffer(b"".join(row.ljust(width) for row in rows), "S1").reshape(len(rows), width)


def _table(file: BinaryIO, result: Any) -> None:
    """A column of times [s] and one of each variable, with the unit in its field's metadata."""
    columns = {"time": result.time, **result}
    _parquet.write_table(_parquet.table_of(columns, {"time": "s", **result.units}, {}, {"model": result.name}), file)


FORMATS: Mapping[str, Writer] = {".csv": _csv, ".mat": _mat, ".parquet": _table}
