"""Runs of a sweep, a batch at a time: a row for each, also for one that fails."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs.errors import FmumbsError
from fmumbs.play import Options
from fmumbs.play.simulation import Series
from fmumbs.study.design import Design
from fmumbs.study.targets import Recorded, Source, Target

Array = NDArray[np.float64]

Summary = Callable[[Array, Array], float]


def _mean(times: Array, values: Array) -> float:
    duration = times[-1] - times[0]
    return float(np.trapezoid(values, times) / duration) if duration > 0.0 else float(values[-1])


SUMMARIES: Mapping[str, Summary] = {  # of the values (n,) at the times (n,) [s] of the results
    "start": lambda times, values: float(values[0]),
    "min": lambda times, values: float(values.min()),
    "max": lambda times, values: float(values.max()),
    "absmax": lambda times, values: float(np.abs(values).max()),
    "mean": _mean,
    "rms": lambda times, values: float(np.sqrt(_mean(times, values**2))),
}


@dataclass(frozen=True)
class Kept:
    """A summary of a variable, such as the maximum of A.tau."""

    what: str
    name: str

    @property
    def label(self) -> str:
        return f"{self.what}:{self.name}"


@dataclass(frozen=True)
class Task:
    """All that a worker needs for any run of the sweep.

    settings: fixed values by name; series: inputs over time; ends: names of the outputs whose last value is kept;
    saved: names of the variables whose trajectories are kept; key: identifies the sweep.
    """

    source: Source
    design: Design
    settings: Mapping[str, Any]
    series: Series
    options: Options
    ends: Sequence[str]
    kept: Sequence[Kept]
    saved: Sequence[str]
    key: str


@dataclass(frozen=True)
class Batch:
    """Rows of the runs first to last, without last. columns: (runs,) by name; trajectories: the same for all times of
    the runs that did not fail; seconds: they took, without opening the model or FMU.
    """

    first: int
    last: int
    columns: Mapping[str, Sequence[Any]]
    trajectories: Mapping[str, Array] | None
    seconds: float


def run_batch(task: Task, target: Target | None, first: int, last: int, error: str | None = None) -> Batch:
    """The runs first to last, without last; error: what to write for all of them without running."""
    record = list(dict.fromkeys([kept.name for kept in task.kept] + list(task.saved)))
    rows: list[dict[str, Any]] = []
    trajectories: list[tuple[int, Recorded]] = []
    begin = time.perf_counter()
    for run in range(first, last):
        values = task.design.values(run)
        row: dict[str, Any] = {
            "run": run,
            **{column_of(name): value for name, value in values.items()},
            "seed": task.design.seed,
        }
        since = time.perf_counter()
        done: Recorded | None = None
        row["error"] = error
        if target is not None and error is None:
            done, row["error"] = _run(target, {**task.settings, **values}, record, task)
        row |= _numbers(task, record, done)
        row["seconds"] = time.perf_counter() - since
        row["warning"] = _remark(task, done)
        rows.append(row)
        if task.saved and done is not None:
            trajectories.append((run, done))
    columns = {name: [row[name] for row in rows] for name in columns_of(task)}
    saved = _joined(task, record, trajectories) if task.saved else None
    return Batch(first, last, columns, saved, time.perf_counter() - begin)


def columns_of(task: Task) -> list[str]:
    """The names of the columns, in order."""
    varied = [column_of(name) for name in task.design.names]
    ends = [f"end:{name}" for name in task.ends]
    return ["run", *varied, "seed", *ends, *(kept.label for kept in task.kept), "seconds", "warning", "error"]


def column_of(name: str) -> str:
    """The column of what is varied: its name, or set:NAME if a column of another meaning has that name."""
    return f"set:{name}" if name in ("run", "seed", "seconds", "warning", "error") else name


def _run(
    target: Target, values: Mapping[str, Any], record: list[str], task: Task
) -> tuple[Recorded | None, str | None]:
    """What a run recorded, or why it failed."""
    try:
        return target.run(values, record, task.options, task.series), None
    except FmumbsError as error:
        return None, str(error)
    except Exception as error:  # of an FMU or a function that a user wrote
        return None, f"{type(error).__name__}: {error}"


def _numbers(task: Task, record: list[str], done: Recorded | None) -> dict[str, float]:
    """End values and summaries; NaN for a run that failed, and for an output that its mechanism does not have."""
    if done is None:
        return dict.fromkeys([*(f"end:{name}" for name in task.ends), *(k.label for k in task.kept)], float("nan"))
    found = {f"end:{name}": done.ends.get(name, float("nan")) for name in task.ends}
    for kept in task.kept:
        found[kept.label] = SUMMARIES[kept.what](done.times, done.series[:, record.index(kept.name)])
    return found


def _remark(task: Task, done: Recorded | None) -> str | None:
    """A warning of the run, and that it has other outputs than the first one."""
    if done is None:
        return None
    more, fewer = len(done.ends.keys() - set(task.ends)), len(set(task.ends) - done.ends.keys())
    other = (
        f"The first run's model has {fewer} outputs that this one has not, and lacks {more}." if more or fewer else ""
    )
    return " ".join(filter(None, (done.remark, other))) or None


def _joined(task: Task, record: list[str], trajectories: list[tuple[int, Recorded]]) -> dict[str, Array]:
    """Columns run, time and the saved variables."""
    places = [record.index(name) for name in task.saved]
    runs = [np.full(len(done.times), run) for run, done in trajectories]
    times = [done.times for _, done in trajectories]
    series = [done.series[:, places] for _, done in trajectories]
    table = np.concatenate(series) if series else np.empty((0, len(places)))
    return {
        "run": np.concatenate(runs) if runs else np.empty(0, int),
        "time": np.concatenate(times) if times else np.empty(0),
        **dict(zip(task.saved, table.T, strict=True)),
    }
