"""A progress bar on the terminal."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 2.0  # seconds after which it appears


@contextmanager
def progress_bar(text: str) -> Iterator[Callable[[float], None]]:
    """A progress bar that appears after PATIENCE; the function that it yields takes the fraction done, 0 to 1."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda part: None
        return
    bar = Progress(console=console, transient=True)
    task = bar.add_task(escape(text), total=1.0)
    timer = threading.Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda part: bar.update(task, completed=part)
    finally:
        timer.cancel()
        timer.join()
        if bar.live.is_started:
            bar.stop()
