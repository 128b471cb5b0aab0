"""sweep: many runs of a model or an FMU with other values, on all processors or on a cluster."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from fmumbs import _checks
from fmumbs.compiler.options import RunOptions, given, takes_options
from fmumbs.errors import FmumbsError, SolverError
from fmumbs.play import Options
from fmumbs.play.simulation import inputs_of
from fmumbs.run.signal import Interpolation
from fmumbs.study.design import Design, Value, make_design
from fmumbs.study.result import Sweep
from fmumbs.study.runs import SUMMARIES, Batch, Kept, Task, column_of, columns_of
from fmumbs.study.sources import source_of
from fmumbs.study.store import Store
from fmumbs.study.systems import SystemTarget
from fmumbs.study.targets import ModelTarget, Target

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage
    from fmumbs.mechanism import Model
    from fmumbs.system import System

_TRIED = 20  # runs whose values may make the first mechanism, if those of the first run do not


@takes_options
def sweep(
    target: str | os.PathLike[str] | Model | ModelImage | Callable[..., Model] | System,
    out: str | os.PathLike[str],
    *,
    grid: Mapping[str, Sequence[Value]] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    samples: int = 0,
    method: str = "latin",
    seed: int = 0,
    settings: Mapping[str, Value] | None = None,
    keep: Sequence[str] = (),
    save: Sequence[str] | None = None,
    stop: float | None = None,
    interval: float | None = None,
    inputs: str | os.PathLike[str] | None = None,
    interpolation: Interpolation = "linear",
    engine: str = "libcosim",
    scheduler: str | None = None,
    workers: int | None = None,
    overwrite: bool = False,
    progress: Callable[[float], None] | None = None,
    **options: Unpack[RunOptions],
) -> Sweep:
    """Runs a model or an FMU with all combinations of some values, and writes a row for each run to a Parquet file.

        fm.sweep("four_bar", "a.parquet", grid={"crank": np.linspace(0.08, 0.12, 5)}, keep=["max:D.q"])
        fm.sweep("four_bar.fmu", "b.parquet", ranges={"A.tau": (0.0, 0.1)}, samples=1000, settings={"A.qd": 5.0})

    target: an FMU, the name or file of a model, a Model, a function that returns one, a System, or its package (.ssp),
        whose names are ELEMENT.VARIABLE.
    out: the file. Beside it, OUT.parts holds the batches that are done until all are; a call with the same arguments
        continues there. If the sweep is complete, nothing runs.
    grid: values by name; each combination is run. ranges, samples, method, seed: a sample of so many points in ranges
        (least, greatest) by name, by a Latin hypercube ("latin"), a Halton sequence ("halton") or independently
        ("random"); each point is run with each combination of the grid. Names are parameters of build(), or else
        variables: start values, inputs, which stay constant over a run, and parameters, in their unit.
    settings: values of other such names, the same in all runs.
    keep: summaries, such as "max:A.tau": start, min, max, absmax, mean or rms of a variable at the times of the
        results; mean and rms over time by the trapezoidal rule.
    save: names of variables whose trajectories are saved, in a folder beside `out`; an empty list for all outputs.
    stop, interval [s]: of the results, by default those of the model or FMU. inputs: CSV file of inputs over time,
        the same in all runs; interpolation between its rows: "linear", "cubic" or "hold", see Signal.
    {options}
    engine: of a system, see System.run(). Its stop and interval are those of the communication.
    scheduler: address of a Dask scheduler, such as "tcp://host:8786"; its workers need fmumbs, and a model's file under
        the same path; an FMU is sent to them. None: a local cluster of `workers` processes, by default one for each
        processor; 0 for none but this process. A script calls sweep() under `if __name__ == "__main__":`.
    overwrite: removes another sweep, or file, that is in the way.
    progress: called with the fraction done, 0 to 1.

    Columns: run, from 0; what is varied; seed; end:NAME, the value of each output at the end; the summaries; seconds
    that it took; warning; error, why a run failed, else null. Outputs are those of the first run's model.

    Raises SolverError for names, values and files that do not fit, before anything is run; ModelError, ExportError for
    a model or an FMU that cannot be opened. KeyboardInterrupt after Ctrl-C; the same call then continues.
    """
    path = _checks.path(out, "sweep: out")
    _parquet_path(path)
    settings = _checks.mapping({} if settings is None else settings, "sweep: settings", "Give {'crank': 0.1}.")
    design = make_design(grid, ranges, samples, method, seed)
    run = _options(stop, interval, inputs, interpolation, options)
    series = inputs_of(run)
    source = source_of(target, engine)
    first = source.open()
    try:
        if isinstance(first, SystemTarget):
            first.use(run)
        if isinstance(first, ModelTarget):
            _build_first(first, design, settings, run)
        kept, saved = _kept(first, keep), _saved(first, save)
        _check_names(first, design, settings, list(series))
        task = Task(
            source, design, dict(settings or {}), series, replace(run, inputs=None), first.outputs, kept, saved, "",
        )  # fmt: skip
        task = replace(task, key=_fingerprint(task, getattr(first, "fingerprint", "")))
        count = first.count(run)
        store = Store(path, task.key, len(design), _units(first, task), _types(design), _about(first, task))
    finally:
        first.close()
    bytes_each = 8 * count * (2 + len(saved)) if saved else 0
    with store.opened(overwrite, bool(saved)) as todo:
        left = sum(map(len, todo))
        _check_room(path, left * (bytes_each + 8 * len(columns_of(task))))
        if todo:
            _run(store, _batches(task, todo, bytes_each, scheduler, workers), len(design), left, progress)
        store.finish()
    return Sweep(path)


def _options(
    stop: float | None,
    interval: float | None,
    inputs: str | os.PathLike[str] | None,
    interpolation: Interpolation,
    options: RunOptions,
) -> Options:
    for what, time in (("stop", stop), ("interval", interval)):
        if time is not None:
            _checks.positive(time, f"sweep: {what}")
    file = None if inputs is None else _checks.path(inputs, "sweep: inputs")
    return Options(stop, interval, inputs=file, interpolation=interpolation, run=given(options))


def _batches(
    task: Task, todo: Sequence[range], bytes_each: int, scheduler: str | None, workers: int | None
) -> Iterator[Batch]:
    if scheduler is None and workers == 0:
        from fmumbs.study.workers import in_this_process

        return in_this_process(task, todo, bytes_each)
    from fmumbs.study.cluster import on_cluster

    return on_cluster(task, todo, bytes_each, scheduler, workers)


def _run(
    store: Store, batches: Iterator[Batch], total: int, left: int, progress: Callable[[float], None] | None
) -> None:
    """Stores the batches as they come."""
    try:
        for batch in batches:
            store.add(batch.first, batch.last, batch.columns, batch.trajectories)
            left -= batch.last - batch.first
            if progress is not None:
                progress(1.0 - left / total)
    except KeyboardInterrupt as error:
        what = f"interrupted after {total - left} of {total} runs"
        raise KeyboardInterrupt(f"{what}. The same command continues the sweep.") from error
    finally:
        batches.close()  # type: ignore[attr-defined]


# Checks -----------------------------------------------------------------------------------------------------------


def _parquet_path(path: Path) -> None:
    if path.suffix.lower() != ".parquet":
        raise SolverError(
            f"sweep: the output '{path}' is not a Parquet file. Give a name such as '{path.stem}.parquet'."
        )
    if not path.parent.is_dir():
        raise SolverError(f"there is no folder '{path.parent}'. Create it, or name another.")


def _build_first(target: ModelTarget, design: Design, settings: Mapping[str, Any], options: Options) -> None:
    """Compiles the mechanism of the first run, or of the first that can be compiled.

    A combination that makes no mechanism is a run that fails; if none of the first few makes one, its error is raised.
    """
    failure: FmumbsError | None = None
    for run in range(min(_TRIED, len(design))):
        try:
            target.use({**settings, **design.values(run)}, options)
            return
        except FmumbsError as error:
            failure = failure or error
    if failure is not None:
        raise failure


def _check_names(target: Target, design: Design, settings: Mapping[str, Any], inputs: Sequence[str]) -> None:
    meanings: dict[Any, str] = {}
    named = {name: design.column(name) for name in design.names}
    for kind, names in (("varied", named), ("set", settings), ("in the file of inputs", inputs)):
        for name in names:
            values = named[name] if kind == "varied" else [settings[name]] if kind == "set" else []
            meaning = target.check(name, values)
            if meaning in meanings:
                twice = f"'{name}' is {kind}, but '{meanings[meaning]}' gives it a value, too"
                raise SolverError(f"sweep: {twice}. Leave one of them out.")
            meanings[meaning] = name


def _kept(target: Target, keep: Sequence[str]) -> list[Kept]:
    if isinstance(keep, str):
        raise SolverError(f"sweep: keep is '{keep}', which is not a list. Give ['{keep}'].")
    kept: list[Kept] = []
    for one in _checks.names(keep, "sweep: keep"):
        what, colon, name = one.partition(":")
        if not colon or not name:
            raise SolverError(f"sweep: '{one}' is not a summary. Write SUMMARY:NAME, such as max:{target.outputs[0]}.")
        if what not in SUMMARIES:
            raise SolverError(f"sweep: there is no summary '{what}'. Choose one of: {', '.join(SUMMARIES)}.")
        kept.extend(Kept(what, part) for part in target.components(name))
    labels = [one.label for one in kept]
    twice = next((label for k, label in enumerate(labels) if label in labels[:k]), None)
    if twice is not None:
        raise SolverError(f"sweep: the summary '{twice}' is asked for twice. Leave one out.")
    return kept


def _saved(target: Target, save: Sequence[str] | None) -> list[str]:
    if save is None:
        return []
    if isinstance(save, str):
        raise SolverError(f"sweep: save is '{save}', which is not a list. Give ['{save}'].")
    names = _checks.names(save, "sweep: save") or target.outputs
    return list(dict.fromkeys(part for name in names for part in target.components(name)))


def _check_room(path: Path, size: int) -> None:
    """The largest that the files can become, and twice the rows as they are joined; compression makes them smaller."""
    free = shutil.disk_usage(path.parent).free
    if size > free:
        raise SolverError(
            f"the sweep needs up to {size / 1e9:.3g} GB, but the disk of '{path}' has {free / 1e9:.3g} GB left. Save "
            "fewer variables, with a longer interval, or elsewhere."
        )


# What is written ----------------------------------------------------------------------------------------------------


def _fingerprint(task: Task, mechanism: str) -> str:
    """Of all that decides about the rows."""
    series = {name: (one.breaks.tobytes().hex(), one.coefficients.tobytes().hex()) for name, one in task.series.items()}
    parts = (
        task.source.fingerprint, mechanism, dict(task.design.grid), dict(task.design.ranges), task.design.method,
        task.design.seed, task.design.points.tobytes().hex(), dict(task.settings), series, task.options, task.kept,
        task.ends, task.saved,
    )  # fmt: skip
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _units(target: Target, task: Task) -> dict[str, str]:
    units = {column_of(name): target.unit(name) for name in task.design.names}
    units |= {f"end:{name}": target.unit(name) for name in task.ends}
    units |= {kept.label: target.unit(kept.name) for kept in task.kept}
    return {**units, **{name: target.unit(name) for name in task.saved}, "time": "s", "seconds": "s"}


def _types(design: Design) -> dict[str, str]:
    types = {"run": "int", "seed": "int", "warning": "text", "error": "text"}
    for name in design.grid:
        found = {type(value) for value in design.grid[name]}
        kind = "bool" if found == {bool} else "int" if found == {int} else "float" if found <= {int, float} else "text"
        types[column_of(name)] = kind
    return types


def _about(target: Target, task: Task) -> dict[str, str]:
    return {
        "target": target.name,
        "varied": "\n".join(map(column_of, task.design.names)),
        "settings": repr(dict(task.settings)),
        "sample": f"{len(task.design.points)}:{task.design.method}" if task.design.ranges else "",
    }
