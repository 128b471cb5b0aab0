"""Sweep: the rows of a sweep in a Parquet file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks, _parquet
from fmumbs.errors import SolverError
from fmumbs.study.store import KEY, trajectories_of

OWN = ("run", "seed", "seconds", "warning", "error")  # columns that are neither varied nor results


@dataclass(frozen=True)
class Column:
    """What a number does over a sweep. least_at, greatest_at: numbers of the runs."""

    name: str
    unit: str
    varied: bool
    least: float
    mean: float
    greatest: float
    least_at: int
    greatest_at: int


class Sweep(Mapping[str, NDArray[Any]]):
    """The finished sweep in a file: a mapping from columns to (runs,) arrays, which are read when asked for.

    path: of the file.

    len(sweep["run"]) or sweep.runs: number of runs. sweep.varied: names of what was varied; sweep["end:A.q"]: values at
    the end of each run, sweep["max:A.tau"]: summaries, NaN for runs that failed; sweep["error"]: why, else None.
    sweep.units: by column. sweep.trajectories: folder of the saved trajectories, None if there are none.
    pandas.read_parquet(sweep.path) is a table of all.

    Raises SolverError for a file that is not of a sweep, and for an unknown column.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise SolverError(f"there is no file '{self.path}'. Make it with `fmumbs sweep`.")
        about, self.units, self.runs = _parquet.read_head(self.path)
        if KEY not in about:
            raise SolverError(f"'{self.path}' is not of a sweep. Give a file that `fmumbs sweep` wrote.")
        self.name = about.get("target", "")
        self.varied = tuple(filter(None, about.get("varied", "").split("\n")))
        folder = trajectories_of(self.path)
        self.trajectories = folder if folder.is_dir() else None

    def __repr__(self) -> str:
        return f"Sweep('{self.path}', {self.runs} runs over {', '.join(self.varied)})"

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self.units:
            raise SolverError(f"'{self.path}' has no column '{name}'. {_checks.nearest(str(name), self.units)}")
        return _parquet.read_columns(self.path, [name])[name]

    def __contains__(self, name: object) -> bool:
        return name in self.units

    def __iter__(self) -> Iterator[str]:
        return iter(self.units)

    def __len__(self) -> int:
        """The number of columns; that of runs is sweep.runs."""
        return len(self.units)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    @cached_property
    def failed(self) -> NDArray[np.int64]:
        """Numbers of the runs that failed."""
        errors = self["error"]
        return np.flatnonzero([error is not None for error in errors])

    @property
    def results(self) -> list[str]:
        """Names of the columns of results: summaries, then end values."""
        names = [name for name in self.units if name not in self.varied and name not in OWN]
        return sorted(names, key=lambda name: name.startswith("end:"))

    def summary(self) -> list[Column]:
        """What was varied and what came out, for each column of numbers that is not empty."""
        rows = []
        for name in [*self.varied, *self.results]:
            values = self[name]
            if values.dtype == object or not np.isfinite(values.astype(float)).any():
                continue
            v = values.astype(float)
            low, high = int(np.nanargmin(v)), int(np.nanargmax(v))
            rows.append(
                Column(
                    name,
                    self.units[name],
                    name in self.varied,
                    float(v[low]),
                    float(np.nanmean(v)),
                    float(v[high]),
                    low,
                    high,
                )
            )
        return rows

    def plot(self, *names: str, path: str | os.PathLike[str] | None = None, show: bool | None = None) -> Any:
        """Plots results over what was varied, one point for each run; returns the matplotlib figure.

        names: columns of results, by default the kept summaries, else the first end values. path, show: as of
        Result.plot(). Raises SolverError for an unknown column, and if matplotlib is missing.
        """
        from fmumbs.run.plotting import scatter

        kept = sum(not name.startswith("end:") for name in self.results)
        chosen = list(names) or self.results[: min(kept, 4) or 4]
        over = [name for name in self.varied if self[name].dtype != object][:4]
        return scatter(self, over, chosen, None if path is None else Path(path), path is None if show is None else show)
