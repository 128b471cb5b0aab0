"""Runs a sweep on Dask: a local cluster of processes, or a scheduler that is running.

Workers get the task once, by a plugin that the scheduler also gives to workers that join or restart later; a batch is
then three numbers. Batches of a worker that dies run again on another. If batches die repeatedly, their runs are run
one at a time while nothing else runs, so that only the run that ends its process is reported.
"""

import multiprocessing
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from fmumbs.errors import SolverError
from fmumbs.study import workers
from fmumbs.study.batches import Queue
from fmumbs.study.runs import Batch, Task, run_batch

WAIT = 30.0  # seconds for a scheduler to answer, and for its first worker
_BUSY = 2  # batches at a time for each thread, so that none waits for the next

_CONFIG = {
    "distributed.scheduler.allowed-failures": 2,  # workers that a batch may lose
    "distributed.comm.timeouts.connect": f"{WAIT:g}s",
    "distributed.admin.large-graph-warning-threshold": "1GB",
}
_DIED = "the process that ran it died, each time: the FMU or the model crashes, or needs more memory than there is"
_MAIN = (
    "a sweep starts processes, which import the script that they were started from. Put the call of fm.sweep() under "
    "`if __name__ == '__main__':`."
)


def on_cluster(
    task: Task, todo: Iterable[range], bytes_each: int, address: str | None, processes: int | None
) -> Iterator[Batch]:
    """Runs the batches on the scheduler at `address`, or on a local cluster of `processes`; yields them as they end.

    Raises SolverError if there is no scheduler, or no worker, or if the workers cannot run fmumbs.
    """
    with _client(address, processes) as (dask, client):
        plugin = _carrier(dask, task, local=address is None)
        client.register_plugin(plugin, name=task.key)
        flying: dict[Any, range] = {}
        try:
            yield from _all(dask, client, task, Queue(todo, bytes_each), flying)
        finally:
            with suppress(Exception):  # the scheduler may be gone
                client.cancel(list(flying), force=True)
                client.unregister_worker_plugin(task.key)


def _all(dask: Any, client: Any, task: Task, queue: Queue, flying: dict[Any, range]) -> Iterator[Batch]:
    """Keeps all workers busy until no run is left. flying: the batches that are running, by their future."""
    suspects: list[int] = []  # runs that were in a process that died

    def submit(runs: range) -> None:
        flying[client.submit(workers.work, task.key, runs.start, runs.stop, pure=False)] = runs

    while queue or flying or suspects:
        threads = max(1, sum(client.nthreads().values()))
        while queue and len(flying) < _BUSY * threads:
            submit(queue.take(threads))
        if not flying:
            run = suspects.pop()
            submit(range(run, run + 1))
        alone = len(flying) == 1 and not queue
        for future in _ended(dask, client, flying):
            runs = flying.pop(future)
            batch = _outcome(dask, future)
            future.release()
            if isinstance(batch, Batch):
                queue.learn(len(runs), batch.seconds)
                yield batch
            elif batch == "lost":
                queue.put_back(runs)
            elif alone and len(runs) == 1:
                yield run_batch(task, None, runs.start, runs.stop, _DIED)
            else:
                suspects.extend(runs)


def _ended(dask: Any, client: Any, flying: dict[Any, range]) -> list[Any]:
    """The batches that have ended, at least one."""
    while True:
        with suppress(dask.TimeoutError):
            return list(dask.wait(list(flying), timeout=1.0, return_when="FIRST_COMPLETED").done)
        if client.status != "running":
            raise SolverError(
                "the connection to the scheduler was lost. Start it, then repeat the command to continue."
            )


def _outcome(dask: Any, future: Any) -> "Batch | str":
    """The batch; "lost" if the scheduler forgot it, "died" if too many workers died."""
    if future.status == "finished":
        with suppress(dask.CancelledError):
            found: Batch = future.result()
            return found
    if future.status != "error":
        return "lost"
    error: BaseException = future.exception()
    if isinstance(error, dask.KilledWorker):
        return "died"
    if isinstance(error, ImportError):
        raise SolverError(f"the workers cannot import fmumbs ({error}). Install the same version for them.") from error
    raise SolverError(f"a worker failed with {type(error).__name__}: {error}. Use the same versions there.") from error


@contextmanager
def _client(address: str | None, processes: int | None) -> Iterator[tuple[Any, Any]]:
    """The module distributed, and a client of the scheduler."""
    try:
        import dask as configuration
        import distributed
    except ImportError as error:
        raise SolverError("sweeps need Dask. Install it with: pip install 'fmumbs[sweep]'.") from error
    dask: Any = distributed
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SolverError(_MAIN)
    with configuration.config.set(_CONFIG):
        if address is not None:
            try:
                client = dask.Client(address, timeout=WAIT)
            except (OSError, ValueError, dask.TimeoutError) as error:
                reason = f"{error}".strip().rstrip(".") or type(error).__name__
                raise SolverError(
                    f"no scheduler answers at '{address}' ({reason}). Start one with `dask scheduler`, or leave out "
                    "--scheduler."
                ) from error
            with client:
                try:
                    client.wait_for_workers(1, timeout=WAIT)
                except dask.TimeoutError as error:
                    what = f"the scheduler at '{address}' has no workers"
                    raise SolverError(f"{what}. Start some with `dask worker {address}`.") from error
                yield dask, client
            return
        try:
            cluster = dask.LocalCluster(
                n_workers=processes, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=60,
                memory_limit="auto",
            )  # fmt: skip
        except RuntimeError as error:
            raise SolverError(f"no local workers could be started: {error}. If this is a script: {_MAIN}") from error
        with cluster, dask.Client(cluster) as client:
            yield dask, client


def _carrier(dask: Any, task: Task, local: bool) -> Any:
    """A plugin that brings the task to a worker."""

    class Carrier(dask.WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: Any) -> None:
            workers.receive(task)
            if local and threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the sweep in the first process

        def teardown(self, worker: Any) -> None:
            workers.forget(task.key)

    return Carrier()
