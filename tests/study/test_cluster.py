"""Sweeps on processes: workers that die, runs that end their process, and schedulers that are not there."""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import fmumbs as fm
from fmumbs import play
from fmumbs.readers import read_model
from fmumbs.study import cluster as clusters
from fmumbs.study.batches import Queue
from fmumbs.study.runs import Batch
from support.commands import fmumbs
from support.sweep_rows import rows
from support.sweeps import first

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytest.importorskip("pyarrow.parquet")
pytestmark = [pytest.mark.xdist_group("dask"), pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two processes. A batch may not lose a worker, so that one that ends its process is found at once."""
    with dask.config.set({**clusters._LOCAL, "distributed.scheduler.allowed-failures": 0}):
        started = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=60, memory_limit=0
        )
        with started:
            yield started


@pytest.fixture(scope="module")
def fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fm.export_fmu(read_model("four_bar"), tmp_path_factory.mktemp("fmus") / "four_bar.fmu")


def pids(cluster: Any) -> list[int]:
    return [nanny.process.pid for nanny in cluster.workers.values() if nanny.process is not None]


def test_a_worker_that_is_killed_loses_nothing(cluster: Any, fmu: Path, tmp_path: Path) -> None:
    arguments: dict[str, Any] = {
        "ranges": {"A.qd": (4.0, 8.0), "A.tau": (0.0, 0.05)}, "samples": 120, "keep": ["max:A.reaction.f"], "stop": 0.2,
    }  # fmt: skip
    killed: list[int] = []

    def kill_one(part: float) -> None:
        if part > 0.3 and not killed:
            killed.append(pids(cluster)[0])
            os.kill(killed[0], signal.SIGKILL)

    address = cluster.scheduler_address
    done = fm.sweep(fmu, tmp_path / "a.parquet", scheduler=address, progress=kill_one, **arguments)
    assert killed and done.runs == 120 and not len(done.failed)
    alone = fm.sweep(fmu, tmp_path / "b.parquet", workers=0, **arguments)
    assert rows(done) == rows(alone)
    for k in (0, 60, 119):
        settings = {name: float(done[name][k]) for name in done.varied}
        assert done["end:A.q"][k] == play.run_fmu(fmu, play.Options(stop=0.2), settings)["A.q"][-1]


def test_a_run_that_ends_its_process_is_a_row_with_its_error(cluster: Any, tmp_path: Path) -> None:
    def build(length: float = 1.0) -> fm.Model:
        if length == 6.0:
            os._exit(1)
        model = fm.Model("pendulum", gravity=(0, 0, -9.81))
        body = fm.Body.rod("rod", length=length, mass=1.0)
        model.add(body, fm.Revolute("A", model.ground.at(), body.base, axis="y", q0=0.5))
        return model

    lengths = [float(k) for k in range(1, 11)]
    out = tmp_path / "a.parquet"
    done = fm.sweep(build, out, grid={"length": lengths}, stop=0.1, scheduler=cluster.scheduler_address)
    assert done.failed.tolist() == [5] and "the process that ran it died" in done["error"][5]
    assert np.isfinite(done["end:A.q"]).tolist() == [length != 6.0 for length in lengths]


def test_an_interrupted_sweep_continues_elsewhere(cluster: Any, tmp_path: Path) -> None:
    out, grid = tmp_path / "a.parquet", {"length": [1.0 + 0.1 * k for k in range(20)]}

    def stop(part: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="The same command continues"):
        fm.sweep("pendulum", out, grid=grid, stop=0.1, scheduler=cluster.scheduler_address, progress=stop)
    first: list[float] = []
    done = fm.sweep("pendulum", out, grid=grid, stop=0.1, workers=0, progress=first.append)
    assert first[0] > 0.05
    assert rows(done) == rows(fm.sweep("pendulum", tmp_path / "b.parquet", grid=grid, stop=0.1, workers=0))


def test_no_scheduler_and_no_worker_are_told(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "WAIT", 1.0)
    grid = {"length": [1.0, 2.0]}
    with pytest.raises(fm.SolverError, match=r"no scheduler answers at 'tcp://127\.0\.0\.1:9'.*dask scheduler"):
        fm.sweep("pendulum", tmp_path / "a.parquet", grid=grid, scheduler="tcp://127.0.0.1:9")
    with pytest.raises(fm.SolverError, match="no scheduler answers at 'nowhere:x'"):
        fm.sweep("pendulum", tmp_path / "a.parquet", grid=grid, scheduler="nowhere:x")
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", silence_logs=60) as empty,
        pytest.raises(fm.SolverError, match=r"has no workers\. Start some with `dask worker"),
    ):
        fm.sweep("pendulum", tmp_path / "a.parquet", grid=grid, scheduler=empty.scheduler_address)


def test_a_scheduler_that_ends_is_told_and_what_was_done_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "WAIT", 1.0)
    out, grid = tmp_path / "a.parquet", {"length": [1.0 + 0.1 * k for k in range(20)]}
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0", silence_logs=60
        ) as own,
        pytest.raises(fm.SolverError, match="connection to the scheduler was lost"),
    ):
        fm.sweep("pendulum", out, grid=grid, scheduler=own.scheduler_address, progress=lambda part: own.close())
    assert any((tmp_path / "a.parquet.parts").glob("*.parquet"))


def test_a_scheduler_that_forgets_every_batch_is_told() -> None:
    """Batches that it forgets run again, but not for ever: as often as all at a time five times over."""
    futures = [type("Future", (), {"status": "cancelled"})() for _ in range(100)]
    client = mock.Mock()
    client.nthreads.return_value = {"one": 3}
    client.submit.side_effect = futures
    dask = mock.Mock()
    dask.wait.side_effect = lambda flying, **_: mock.Mock(done=set(flying))
    flying: dict[Any, range] = {}
    with pytest.raises(fm.SolverError, match="lost 31 batches of runs in a row"):
        list(clusters._all(dask, client, mock.Mock(key="k"), Queue([range(1000)], 8), flying))
    assert client.submit.call_count == 36


def test_batches_that_lost_too_many_workers_are_halved_down_to_the_run_that_ends_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A scheduler whose workers die at run 5; every other run is done once."""

    def submit(work: Any, key: str, first: int, last: int, pure: bool) -> Any:
        future = mock.Mock(status="error" if 5 in range(first, last) else "finished")
        future.exception.return_value = distributed.KilledWorker("task", None, 2)
        future.result.return_value = Batch(first, last, {}, None, 1e-3)
        return future

    client = mock.Mock()
    client.nthreads.return_value = {"one": 1}
    client.submit.side_effect = submit
    module = mock.Mock(KilledWorker=distributed.KilledWorker, CancelledError=distributed.CancelledError)
    module.wait.side_effect = lambda flying, **_: mock.Mock(done=set(flying))
    died: list[tuple[int, int]] = []

    def write(task: Any, target: None, first: int, last: int, error: str) -> Batch:
        died.append((first, last))
        return Batch(first, last, {}, None, 0.0)

    monkeypatch.setattr(clusters, "run_batch", write)
    queue = Queue([range(64)], 8)
    queue.learn(1, 0.1)  # batches of ten runs
    done = [run for batch in clusters._all(module, client, mock.Mock(key="k"), queue, {})
            for run in range(batch.first, batch.last)]  # fmt: skip
    assert sorted(done) == list(range(64)) and died == [(5, 6)]


def test_batches_become_shorter_towards_the_end_unless_they_are_short_or_one_worker_takes_all() -> None:
    def sizes(workers: int, each: float) -> list[int]:
        queue = Queue([range(1000)], 8)
        queue.learn(100, 100 * each)
        found = []
        while queue:
            found.append(len(queue.take(workers)))
        return found

    assert sizes(2, 0.1) == [10] * 97 + [7, 5, 4, 3, 2, 2, *[1] * 7] and sizes(1, 0.1) == [10] * 100
    assert sizes(2, 1e-3) == [250, 187, 140, 105, 100, 100, 100, 18] and sizes(1, 1e-3) == [1000]


def test_the_command_starts_processes_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = fmumbs(
        "sweep", "pendulum", "--grid", "length=1:2:3", "--stop", "0.1", "--keep", "max:A.q", "--workers", "1",
        "-o", "a.parquet",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "3 runs, none failed" in result.output
    assert fm.Sweep("a.parquet")["length"].tolist() == [1.0, 1.5, 2.0]


def test_a_script_that_a_worker_imports_is_told_how_to_be_written(
    fmu: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before processes are started, which would each import it again."""
    monkeypatch.setattr(multiprocessing.current_process(), "_inheriting", True, raising=False)
    with pytest.raises(fm.SolverError, match=r"^a sweep starts processes, which import the script"):
        fm.sweep(fmu, tmp_path / "a.parquet", grid={"A.qd": [4.0, 5.0]}, workers=2)


@pytest.mark.skipif(os.name == "nt", reason="no SIGTERM")
@pytest.mark.parametrize("moment", first(1, ["a process has unpacked it", "the processes start"]))
def test_a_sweep_that_is_terminated_leaves_nothing(moment: str, fmu: Path, tmp_path: Path) -> None:
    """Neither while its processes start nor when they are killed with an FMU open; nor does Dask say anything."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    code = f"""
import os, signal, sys
from fmumbs.cli import main
if __name__ == "__main__":
    import distributed
    start = distributed.Nanny.start_unsafe
    async def starts(nanny):
        os.kill(os.getpid(), signal.SIGTERM)
        return await start(nanny)
    from fmumbs.study import store
    class Killing(store.Store):
        def add(self, *batch):
            for child in multiprocessing.active_children():
                os.kill(child.pid, signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGTERM)
            super().add(*batch)
    if {moment!r} == "the processes start":
        distributed.Nanny.start_unsafe = starts
    else:
        from fmumbs.study import sweeping
        import multiprocessing
        sweeping.Store = Killing
    main(["sweep", {str(fmu)!r}, "--grid", "A.tau=0:1:1000", "--workers", "1", "-o", "out.parquet"])
"""
    (tmp_path / "sweep.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "sweep.py"], cwd=tmp_path, env=os.environ | {"TMPDIR": str(folder)}, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    assert "of 1000 runs. The same command continues the sweep." in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(folder.iterdir())
