"""Published figures: the samples in this repository, and all rows if they are available.

data/CASE.json holds {"source", "licence", "curves": {CURVE: {"columns", "rows"}}}, with rows taken from the
published curves as printed, or {"source", "licence", "values"} where a case is no curve. The full curves are
CASE/CURVE.csv in the folder that FMUMBS_REFERENCES names, by default ../shared/references beside the
repository. sample.py takes the one from the other.
"""

import csv
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

import fmumbs as fm

DATA = Path(__file__).with_name("data")
FULL = Path(os.environ.get("FMUMBS_REFERENCES") or Path(__file__).parents[3] / "shared" / "references")

INTEGRATION = 1e-11
"""Tolerance of our own integration: far below the deviation of every published curve."""


@dataclass(frozen=True)
class Curve:
    """Columns over time; `curve["w"]` is (rows,), or (rows, n) of the columns w[1] to w[n]."""

    columns: tuple[str, ...]
    rows: np.ndarray

    @property
    def time(self) -> np.ndarray:
        return self["time"]

    def __getitem__(self, name: str) -> np.ndarray:
        if name in self.columns:
            return self.rows[:, self.columns.index(name)]
        parts = [i for i, column in enumerate(self.columns) if column.rpartition("[")[0] == name]
        if not parts:
            raise KeyError(f"no column {name!r}; there are {', '.join(self.columns)}")
        return self.rows[:, parts]

    def stack(self, names: str) -> np.ndarray:
        """(rows, names) columns side by side, their names with blanks between."""
        return np.stack([self[name] for name in names.split()], axis=1)


def carried(case: str) -> dict[str, Any]:
    """The contents of data/CASE.json."""
    found: dict[str, Any] = json.loads((DATA / f"{case}.json").read_text(encoding="utf-8"))
    return found


def sampled(case: str, name: str = "reference") -> Curve:
    """The sampled rows in this repository."""
    curve = carried(case)["curves"][name]
    return Curve(tuple(curve["columns"]), np.array(curve["rows"]))


def full(case: str, name: str = "reference") -> Curve:
    """All rows, as published."""
    with (FULL / case / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        columns, *rows = csv.reader(file)
    return Curve(tuple(columns), np.array(rows, dtype=float))


def started(model: fm.Model, tolerance: float = INTEGRATION) -> fm.Solver:
    solver = fm.Solver(fm.compile(model).with_options(tolerance=tolerance))
    solver.assemble()
    return solver


def run(
    model: fm.Model, times: np.ndarray, names: Iterable[str], tolerance: float = INTEGRATION
) -> dict[str, np.ndarray]:
    """(times,) or (times, n) values of each variable along a run from the model's start."""
    solver = started(model, tolerance)
    values: dict[str, list[Any]] = {name: [] for name in names}
    for time in times:
        if time > 0.0:
            solver.step(time)
        for name, column in values.items():
            column.append(solver.get(name))
    return {name: np.array(column) for name, column in values.items()}


def assert_follows(
    model: fm.Model, curve: Curve, expected: Mapping[str, tuple[str, float]], tolerance: float = INTEGRATION
) -> None:
    """Runs the model beside the curve; expected: {variable: (column, absolute tolerance)}."""
    found = run(model, curve.time, expected, tolerance)
    for name, (column, allowed) in expected.items():
        assert_allclose(found[name], curve[column], rtol=0, atol=allowed, err_msg=f"{name} and {column}")


def in_body_axes(quaternions: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """(n, 3) vectors in world axes, turned into those of a body with (n, 4) quaternions."""
    pairs = zip(quaternions, vectors, strict=True)
    return np.array([fm.Rotation.quaternion(*q).inverse() @ v for q, v in pairs])
