"""Sweeps in the process that runs them: what it has opened, ready for the next batch."""

import threading
from collections.abc import Iterable, Iterator

from fmumbs.errors import FmumbsError
from fmumbs.study.batches import Queue
from fmumbs.study.runs import Batch, Task, run_batch
from fmumbs.study.targets import Target

_tasks: dict[str, Task] = {}
_idle: dict[str, list[Target]] = {}
_lock = threading.Lock()


def receive(task: Task) -> None:
    """Makes this process ready to work on a sweep."""
    with _lock:
        _tasks[task.key] = task
        _idle.setdefault(task.key, [])


def forget(key: str) -> None:
    """Frees what a sweep has opened."""
    with _lock:
        _tasks.pop(key, None)
        idle = _idle.pop(key, [])
    for target in idle:
        target.close()


def work(key: str, first: int, last: int) -> Batch:
    """The runs first to last, without last, of a sweep that was received; each thread uses a target of its own."""
    with _lock:
        task = _tasks[key]
        target = _idle[key].pop() if _idle[key] else None
    try:
        target = target or task.source.open()
    except FmumbsError as error:
        return run_batch(task, None, first, last, str(error))
    try:
        batch = run_batch(task, target, first, last)
    except BaseException:  # such as Ctrl-C, after which the process may end at once
        target.close()
        raise
    with _lock:
        if key in _idle:
            _idle[key].append(target)
            return batch
    target.close()
    return batch


def in_this_process(task: Task, todo: Iterable[range], bytes_each: int) -> Iterator[Batch]:
    """Runs the batches one after the other."""
    queue = Queue(todo, bytes_each)
    receive(task)
    try:
        while queue:
            runs = queue.take(1)
            batch = work(task.key, runs.start, runs.stop)
            queue.learn(len(runs), batch.seconds)
            yield batch
    finally:
        forget(task.key)
