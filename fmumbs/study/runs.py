"""Runs of a sweep, a batch at a time: a row for each, also for one that fails."""

from __future__ import annotations

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
from fmumbs.study.sources import Source
from fmumbs.study.targets import Recorded, Target

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
    ends: list[str]
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
    begin = time.perf_counter()
    count, ends = last - first, len(task.ends)
    varied = [task.design.values(run) for run in range(first, last)]
    numbers = np.full((ends + len(task.kept), count), np.nan)
    seconds, warnings, errors = [0.0] * count, [""] * count, [error] * count
    trajectories: list[tuple[int, Recorded]] = []
    for k in range(count):
        since = time.perf_counter()
        if target is not None and error is None:
            done, errors[k] = _run(target, {**task.settings, **varied[k]}, record, task)
            if done is not None:
                warnings[k] = _put(task, record, done, numbers[:, k])
                if task.saved:
                    trajectories.append((first + k, done))
        seconds[k] = time.perf_counter() - since
    parts = [
        list(range(first, last)), *([values[name] for values in varied] for name in task.design.names),
        [task.design.seed] * count, *numbers, seconds, [text or None for text in warnings], errors,
    ]  # fmt: skip
    saved = _joined(task, record, trajectories) if task.saved else None
    return Batch(first, last, dict(zip(columns_of(task), parts, strict=True)), saved, time.perf_counter() - begin)


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


def _put(task: Task, record: list[str], done: Recorded, column: Array) -> str:
    """Writes end values and summaries of a run; returns its warning, also that it has other outputs than the first run.

    An output that its mechanism does not have stays NaN.
    """
    remark, ends = done.remark, len(task.ends)
    if done.outputs == task.ends:
        column[:ends] = done.ends
    else:
        found = dict(zip(done.outputs, done.ends.tolist(), strict=True))
        column[:ends] = [found.get(name, float("nan")) for name in task.ends]
        more, fewer = len(found.keys() - set(task.ends)), len(set(task.ends) - found.keys())
        other = f"The first run's model has {fewer} outputs that this one has not, and lacks {more} of this one's."
        remark = f"{remark} {other}".strip()
    for k, kept in enumerate(task.kept):
        column[ends + k] = SUMMARIES[kept.what](done.times, done.series[:, record.index(kept.name)])
    return remark


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
