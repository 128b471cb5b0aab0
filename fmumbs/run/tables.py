"""A Result as a table of pandas or a data set of xarray, which are optional."""

from typing import Any

from fmumbs.errors import SolverError


def to_pandas(result: Any) -> Any:
    """The DataFrame of Result.to_pandas()."""
    try:
        import pandas
    except ImportError as error:
        raise _missing("pandas") from error
    frame = pandas.DataFrame(dict(result), index=pandas.Index(result.time, name="time"))
    frame.attrs = {"model": result.name, "units": dict(result.units), "descriptions": _known(result)}
    return frame


def to_xarray(result: Any) -> Any:
    """The Dataset of Result.to_xarray()."""
    try:
        import xarray
    except ImportError as error:
        raise _missing("xarray") from error
    if "time" in list(result):
        raise SolverError("a variable is called 'time', as the coordinate is. Use to_pandas(), which takes both.")
    descriptions = result.descriptions
    attributes = {
        name: {"units": result.units.get(name, ""), "long_name": descriptions.get(name, "")} for name in result
    }
    series = {name: ("time", values, attributes[name]) for name, values in result.items()}
    time = ("time", result.time, {"units": "s", "long_name": "time"})
    return xarray.Dataset(series, coords={"time": time}, attrs={**result.parameters, "model": result.name})


def _known(result: Any) -> dict[str, str]:
    return {name: result.descriptions.get(name, "") for name in result}


def _missing(name: str) -> SolverError:
    return SolverError(f"to_{name}() needs {name}. Install it with: pip install 'fmumbs[results]'.")
