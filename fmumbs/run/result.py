"""Result: the time series of a simulation, by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs._late import later
from fmumbs.compiler.names import nearest, split_component
from fmumbs.errors import SolverError
from fmumbs.run.details import Details, Motion

Array = NDArray[np.float64]


_SHOWN = 8  # names in repr(), variables in a plot by default


class UnknownVariable(SolverError, KeyError):
    """A Result has no variable of this name. Also a KeyError, as for any mapping."""

    __str__ = Exception.__str__  # KeyError would show the repr


class Result(Mapping[str, Array]):
    """Time series of a simulation: a mapping from variable names to arrays.

    Made by simulate(). name: of the model. time: (n,) [s]. values, units: by the variables' names, (n,) and texts.
    result.time: (n,) [s]. result["A.q"]: (n,); result["b.r"]: (n, 3), all components of a vector. result.units: by
    name. list(result) or result.names: every variable, vectors by component: "b.r[1]", "b.r[2]", ...

    result.parameters: by name the values of all parameters, fixed and tunable, that had one value in the whole run;
    result.parameter_units: theirs. result.descriptions: of variables and parameters.

    details: what these return, or a function that returns it when one of them is first asked for. motion: the image
    and the positions of all joints, for pictures; None where they are unknown.
    """

    def __init__(
        self,
        name: str,
        time: Array,
        values: Mapping[str, Array],
        units: Mapping[str, str],
        details: Details | Callable[[], Details] | None = None,
        motion: Motion | None = None,
    ) -> None:
        self.name = name
        self.time = time
        self.units = dict(units)
        self._values = dict(values)
        self.motion = motion
        self._given = details

    def __repr__(self) -> str:
        stems = list(dict.fromkeys(split_component(name)[0] for name in self._values))
        names = ", ".join([*stems[:_SHOWN], *["..."] * (len(stems) > _SHOWN)])
        count = f"{len(self._values)} variables: {names}" if names else "no variables"
        times = f"{len(self.time)} times to {self.time[-1]:g} s" if len(self.time) else "no times"
        return f"Result({self.name!r}, {times}, {count})"

    def __getitem__(self, name: str) -> Array:
        """(n,) values of a variable, or (n, components) of a vector. Raises UnknownVariable."""
        if isinstance(name, str) and name in self._values:
            return self._values[name]
        parts: list[Array] = []
        while f"{name}[{len(parts) + 1}]" in self._values:
            parts.append(self._values[f"{name}[{len(parts) + 1}]"])
        if not parts:
            raise UnknownVariable(f"the result has no variable '{name}'. {nearest(str(name), self._values)}")
        return np.stack(parts, axis=1)

    def _ipython_key_completions_(self) -> list[str]:
        """Vectors and variables, as a notebook completes them: r["A.<tab>."""
        return list(dict.fromkeys(part for name in self._values for part in (split_component(name)[0], name)))

    def _repr_html_(self) -> str:
        """What a notebook shows: a table of the variables, and the motion."""
        return str(later("view").result_html(self))

    def __contains__(self, name: object) -> bool:
        """Whether there is a variable or a vector of this name."""
        return name in self._values or f"{name}[1]" in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        """The number of variables, counting components; the number of times is len(result.time)."""
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return self is other  # a mapping would compare element by element

    __hash__ = object.__hash__

    @property
    def names(self) -> list[str]:
        """The names of all variables, in the order of the columns that save() writes."""
        return list(self._values)

    @property
    def descriptions(self) -> Mapping[str, str]:
        """What each variable and parameter is, by name; without those that have no description."""
        return self._details.descriptions

    @property
    def parameters(self) -> Mapping[str, float]:
        """Values of the parameters by name."""
        return self._details.parameters

    @property
    def parameter_units(self) -> Mapping[str, str]:
        """Units of the parameters by name."""
        return self._details.parameter_units

    @cached_property
    def _details(self) -> Details:
        return self._given() if callable(self._given) else self._given or Details()

    def to_pandas(self) -> Any:
        """A pandas DataFrame: a column for each variable, the times [s] as the index.

        Its attrs have the model's name, and units and descriptions by column. Raises SolverError if pandas is missing.
        """
        from fmumbs.run import tables  # late, as all that leads out of a result

        return tables.to_pandas(self)

    def to_xarray(self) -> Any:
        """An xarray Dataset: each variable over the coordinate `time` [s], with the attributes units and long_name.

        Its own attributes are the model's name and the parameters. Raises SolverError if xarray is missing, and for
        a variable that is called time.
        """
        from fmumbs.run import tables

        return tables.to_xarray(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the times and all variables to `path`; the file appears when it is complete.

        The suffix selects the format: .csv as FMPy writes it; .mat, a trajectory file in MATLAB 4 as Dymola and
        OpenModelica write it, in which the time is called Time; .h5 or .hdf5; .parquet. All but CSV also hold units,
        descriptions and parameters. Without a suffix, and to a device, CSV.

        Raises SolverError for another suffix, if it cannot be written, and if a library for it is missing.
        """
        from fmumbs.run import files

        place = _checks.path(path, "save: path")
        return files.save(self, place, files.format_of(place))

    def save_csv(self, path: str | os.PathLike[str]) -> Path:
        """Writes CSV to `path`, whatever its suffix, as save() does. Raises SolverError if it cannot be written."""
        from fmumbs.run import files

        return files.save(self, _checks.path(path, "save_csv: path"), ".csv")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A result from the file at `path`, which save() wrote, bit for bit, or from a .mat of Dymola or OpenModelica.

        A CSV has names and numbers only, and its NaNs have no sign. `.csv` and `.mat` do not hold the model's name: it
        is then that of the file. Raises SolverError for a file that cannot be read.
        """
        from fmumbs.run import files

        return cls(**files.load(_checks.path(path, "load: path")))

    def view(self, model: Any = None, other: Result | None = None, called: str | None = None) -> Any:
        """A picture of the motion: one HTML page, which a notebook shows; see Model.view().

        model: the Model or ModelImage of which the result is; needed unless simulate() made it. other: a second result
        to compare with, of the same model or of another one: `result.view(other)`. It is drawn as a ghost, with its
        curves beside. called: what the page calls it. Raises SolverError if coordinates of joints are missing.
        """
        return later("view").view_result(self, model, other, called)

    def plot(self, *names: str, path: str | os.PathLike[str] | None = None, show: bool | None = None) -> Any:
        """Plots variables over time and returns the matplotlib figure; those with the same unit share axes.

        names: of variables or vectors, by default the first eight. path: file for the picture; its suffix selects the
        format, such as .png. show: opens a window and waits until it is closed; by default only without a path. In a
        notebook the returned figure is shown. Warns if there is no display.

        Raises SolverError for an unknown name, a file that cannot be written, and if matplotlib is missing.
        """
        from fmumbs.run.plotting import plot

        chosen = names or tuple(self._values)[:_SHOWN]
        return plot(self, chosen, None if path is None else Path(path), path is None if show is None else show)

    def animate(
        self,
        path: str | os.PathLike[str],
        *,
        fps: float = 25.0,
        speed: float = 1.0,
        model: Any = None,
    ) -> Path:
        """Writes the motion as a film: .gif, or .mp4, which needs ffmpeg. Returns the path.

        path: the file. fps: pictures in a second of the film. speed: seconds of motion in a second of the film. model:
        the Model or ModelImage that the result is of; needed unless simulate() made it.

        A progress bar appears on a terminal after two seconds. Raises SolverError for another suffix, a file that
        cannot be written, a result that lacks coordinates of joints, and if matplotlib or ffmpeg is missing.
        """
        later("view").animate(self, path, fps=fps, speed=speed, model=model)
        return Path(path)
