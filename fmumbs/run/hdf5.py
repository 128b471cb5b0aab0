"""Results in HDF5, by h5py, which is optional.

/time and /variables/NAME are datasets of numbers, /parameters/NAME of one number, in the order of the result, with the
attributes unit and description. The name of a dataset has no slash, which would make groups: the attribute `name` has
the whole name. The attribute `model` of the file is the result's name.
"""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from fmumbs.errors import SolverError
from fmumbs.run.details import Details


def library() -> Any:
    """The module h5py. Raises SolverError if it is missing."""
    try:
        import h5py
    except ImportError as error:
        raise SolverError("HDF5 files need h5py. Install it with: pip install 'fmumbs[results]'.") from error
    return h5py


def write_hdf5(file: BinaryIO, result: Any) -> None:
    """Writes a Result to an open file."""
    buffer = io.BytesIO()
    with library().File(buffer, "w", libver="latest") as root:
        root.attrs["model"] = result.name
        root.create_dataset("time", data=result.time).attrs["unit"] = "s"
        _group(root, "variables", result, result.units, result.descriptions)
        _group(root, "parameters", result.parameters, result.parameter_units, result.descriptions)
    file.write(buffer.getbuffer())


def _group(
    root: Any, name: str, values: Mapping[str, Any], units: Mapping[str, str], descriptions: Mapping[str, str]
) -> None:
    group = root.create_group(name, track_order=True)
    for one, data in values.items():
        key = one.replace("/", "|")
        while key in group or key in ("", "."):
            key += "_"
        attributes = group.create_dataset(key, data=data).attrs
        attributes["name"], attributes["unit"] = one, units.get(one, "")
        attributes["description"] = descriptions.get(one, "")


def read_hdf5(path: Path) -> dict[str, Any]:
    """The arguments of Result from a file that write_hdf5() wrote. Raises OSError or KeyError for another."""
    with library().File(path, "r") as root:
        sets = {kind: {one.attrs["name"]: one for one in root[kind].values()} for kind in ("variables", "parameters")}
        texts = {
            what: {name: one.attrs[what] for name, one in both.items()}
            for what, both in (("description", sets["variables"] | sets["parameters"]), ("unit", sets["variables"]))
        }
        return {
            "name": root.attrs["model"],
            "time": root["time"][()],
            "values": {name: one[()] for name, one in sets["variables"].items()},
            "units": texts["unit"],
            "details": Details(
                texts["description"],
                {name: float(np.asarray(one[()])) for name, one in sets["parameters"].items()},
                {name: one.attrs["unit"] for name, one in sets["parameters"].items()},
            ),
        }
