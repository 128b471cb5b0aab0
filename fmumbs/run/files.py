"""Files of results, and what is read back from them.

| suffix | format | beside names and numbers |
| --- | --- | --- |
| .csv | as FMPy writes it | nothing |
| .mat | trajectories in MATLAB 4, as Dymola and OpenModelica write them | units, descriptions, parameters |
| .h5, .hdf5 | HDF5 | the same, and the model's name |
| .parquet | Parquet | the same, and the model's name |

All of them keep the bits of every number; only CSV has a single NaN, without sign and payload.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fmumbs import _parquet
from fmumbs._files import whole
from fmumbs._tables import read_table
from fmumbs.errors import SolverError
from fmumbs.run import hdf5
from fmumbs.run.details import Details
from fmumbs.run.plotting import no_place
from fmumbs.run.trajectory import read_trajectory, write_trajectory

Array = NDArray[np.float64]
Writer = Callable[[BinaryIO, Any], None]
Reader = Callable[[Path], dict[str, Any]]


def save(result: Any, target: Path, kind: str) -> Path:
    """Writes a Result in a format of FORMATS; the file appears when it is complete.

    Raises SolverError if it cannot be written.
    """
    try:
        with whole(target) as file:
            FORMATS[kind][0](file, result)
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
    if suffix in _LIBRARIES:
        _LIBRARIES[suffix]()
    return suffix


def load(path: Path) -> dict[str, Any]:
    """The arguments of Result from a file that save() wrote. Raises SolverError if it cannot be read."""
    kind = format_of(path)
    try:
        path.open("rb").close()
    except (OSError, ValueError) as error:  # ValueError: an invalid path
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise SolverError(f"cannot read '{path}': {reason}.") from error
    try:
        return FORMATS[kind][1](path)
    except SolverError:
        raise
    except Exception as error:  # of many types, by the libraries
        what = str(error).strip("'\"").rstrip(".") or type(error).__name__
        raise SolverError(f"'{path}' cannot be read as a result in {kind}: {what}.") from error


def _csv(file: BinaryIO, result: Any) -> None:
    """The bytes of fmpy.util.write_csv(): names in quotes, every number in the fewest digits that give it back."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
    names = (name.replace('"', '""') for name in ("time", *result))
    text.write(",".join(f'"{name}"' for name in names) + "\n")
    series = list(result.values())
    for i, t in enumerate(result.time):
        text.write(",".join(repr(float(v)) for v in (t, *(s[i] for s in series))) + "\n")
    text.flush()
    text.detach()


def _read_csv(path: Path) -> dict[str, Any]:
    """A file of _csv(), or of FMPy: a header whose first name is "time", then rows of numbers."""
    table = read_table(path)
    time, *names = table.names or ("",)
    if time != "time":
        raise ValueError(f"its first column is '{time}', not 'time'")
    if len(set(names)) < len(names):
        raise ValueError("two columns have the same name")
    first, *series = np.ascontiguousarray(table.rows.T)
    return {"name": path.stem, "time": first, "values": dict(zip(names, series, strict=True)), "units": {}}


def _table(file: BinaryIO, result: Any) -> None:
    """A column of times [s] and one of each variable, with unit and description in its field's metadata."""
    if "time" in list(result):
        raise SolverError("a variable is called 'time', as the column of the times is. Write .mat or .h5.")
    about = {
        "model": result.name,
        "parameters": json.dumps(
            {
                name: [value, result.parameter_units.get(name, ""), result.descriptions.get(name, "")]
                for name, value in result.parameters.items()
            }
        ),
    }
    columns = {"time": result.time, **result}
    table = _parquet.table_of(columns, {"time": "s", **result.units}, {}, about, result.descriptions, gaps=False)
    _parquet.write_table(table, file)


def _read_table(path: Path) -> dict[str, Any]:
    columns = _parquet.read_columns(path)
    about, units, _ = _parquet.read_head(path)
    parameters = json.loads(about.get("parameters", "{}"))
    if "time" not in columns:
        raise ValueError("it has no column 'time'")
    time = columns.pop("time")
    descriptions = _parquet.read_descriptions(path) | {name: text for name, (_, _, text) in parameters.items()}
    return {
        "name": about.get("model", path.stem),
        "time": time,
        "values": columns,
        "units": {name: units[name] for name in columns},
        "details": Details(
            {name: text for name, text in descriptions.items() if name != "time"},
            {name: value for name, (value, _, _) in parameters.items()},
            {name: unit for name, (_, unit, _) in parameters.items()},
        ),
    }


FORMATS: Mapping[str, tuple[Writer, Reader]] = {
    ".csv": (_csv, _read_csv),
    ".mat": (write_trajectory, read_trajectory),
    ".h5": (hdf5.write_hdf5, hdf5.read_hdf5),
    ".hdf5": (hdf5.write_hdf5, hdf5.read_hdf5),
    ".parquet": (_table, _read_table),
}
_LIBRARIES = {".h5": hdf5.library, ".hdf5": hdf5.library, ".parquet": _parquet.library}
