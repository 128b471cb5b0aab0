"""Runs a sweep on Dask: a local cluster of processes, or a scheduler that is running.

Workers get the task once, by a plugin that the scheduler also gives to workers that join or restart later; a batch is
then three numbers. What the processes of a local cluster unpack is in a folder of the first process, which removes it
even if they are killed. Batches of a worker that dies run again on another. A batch that lost several workers is run
while nothing else runs, and halved, so that only the run that ends its process is reported.
"""

import multiprocessing
import signal
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from fmumbs._folders import temporary_folder
from fmumbs._signals import held
from fmumbs.errors import SolverError
from fmumbs.study import workers
from fmumbs.study.batches import Queue
from fmumbs.study.runs import Batch, Task, run_batch

WAIT = 30.0  # seconds for a scheduler to answer, and for its first worker
_FORGOTTEN = 5  # times that all that runs may be lost, as by a scheduler that starts again, before one batch ends
_BUSY = 2  # batches at a time for each thread, so that none waits for the next

_LOCAL = {  # of a local cluster; what Dask notes about itself would grow for an hour
    "distributed.scheduler.allowed-failures": 2,  # workers that a batch may lose
    "distributed.deploy.lost-worker-timeout": "1h",  # to start again, on a machine that is busy
    "distributed.worker.profile.enabled": False,
    "distributed.admin.low-level-log-length": 100,
    "distributed.admin.system-monitor.log-length": 100,
}
_LOST = "the connection to the scheduler was lost. Start it again, then repeat the command, which continues the sweep."
_FORGETS = (
    "the scheduler lost {} batches of runs in a row without ending one. See its log, start it again, then repeat the "
    "command, which continues the sweep."
)
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
    with _client(address, processes) as (dask, client, folder):
        plugin = _carrier(dask, task, folder)
        client.register_plugin(plugin, name=task.key)
        flying: dict[Any, range] = {}
        try:
            yield from _all(dask, client, task, Queue(todo, bytes_each), flying)
        except (OSError, RuntimeError, dask.TimeoutError, dask.CancelledError) as error:  # of Dask's connections
            raise SolverError(_LOST) from error
        finally:
            with suppress(Exception):  # the scheduler may be gone
                client.cancel(list(flying), force=True)
                client.unregister_worker_plugin(task.key)


def _all(dask: Any, client: Any, task: Task, queue: Queue, flying: dict[Any, range]) -> Iterator[Batch]:
    """Keeps all workers busy until no run is left. flying: the batches that are running, by their future."""
    suspects: list[range] = []  # batches that were in processes that died
    alone: Any = None  # a batch that was begun while nothing else ran
    lost = 0  # batches in a row

    def submit(runs: range) -> Any:
        future = client.submit(workers.work, task.key, runs.start, runs.stop, pure=False)
        flying[future] = runs
        return future

    while queue or flying or suspects:
        threads = max(1, sum(client.nthreads().values()))
        while queue and len(flying) < _BUSY * threads:
            submit(queue.take(threads))
        if not flying:
            alone = submit(suspects.pop())
        for future in _ended(dask, client, flying):
            runs = flying.pop(future)
            outcome = _outcome(dask, future)
            if isinstance(outcome, Batch):
                lost = 0
                queue.learn(len(runs), outcome.seconds)
                yield outcome
            elif outcome == "lost":
                lost += 1
                if lost > _FORGOTTEN * _BUSY * threads:
                    raise SolverError(_FORGETS.format(lost))
                queue.put_back(runs)
            elif future is not alone:
                suspects.append(runs)
            elif len(runs) == 1:
                yield run_batch(task, None, runs.start, runs.stop, _DIED)
            else:
                half = len(runs) // 2
                suspects += [runs[half:], runs[:half]]


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
def _client(address: str | None, processes: int | None) -> Iterator[tuple[Any, Any, str | None]]:
    """The module distributed, a client of the scheduler, and the folder of a local cluster."""
    try:
        import dask as configuration
        import distributed
    except ImportError as error:
        raise SolverError("sweeps need Dask. Install it with: pip install 'fmumbs[sweep]'.") from error
    dask: Any = distributed
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SolverError(_MAIN)
    with configuration.config.set({**_LOCAL, "distributed.comm.timeouts.connect": WAIT}):
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
                yield dask, client, None
            return
        with temporary_folder() as folder, ExitStack() as stack:
            stack.enter_context(configuration.config.set({"temporary-directory": folder}))
            yield dask, stack.enter_context(dask.Client(_local_cluster(dask, processes, stack))), folder


def _local_cluster(dask: Any, processes: int | None, stack: ExitStack) -> Any:
    """A cluster of processes on this machine, which the stack closes."""
    with held():  # one that is interrupted before it stands cannot be closed
        try:
            cluster = dask.LocalCluster(
                n_workers=processes, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
                silence_logs=60,
            )  # fmt: skip
        except RuntimeError as error:
            raise SolverError(f"no local workers could be started: {error}. If this is a script: {_MAIN}") from error
        stack.callback(_close, cluster)
        return cluster


def _close(cluster: Any) -> None:
    with suppress(Exception):  # about processes that just started or died, which end with this one
        cluster.close()


def _carrier(dask: Any, task: Task, folder: str | None) -> Any:
    """A plugin that brings the task to a worker. folder: for what a worker of a local cluster unpacks."""

    class Carrier(dask.WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: Any) -> None:
            workers.receive(task)
            if folder is None:
                return
            tempfile.tempdir = folder
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the sweep in the first process

        def teardown(self, worker: Any) -> None:
            workers.forget(task.key)

    return Carrier()
