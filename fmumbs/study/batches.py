"""Which runs are still to do, and how many of them go to a worker at once."""

from collections import deque
from collections.abc import Iterable

LEAST = 0.1  # seconds of a batch, below which its file costs more than workers that finish together save
PATIENCE = 1.0  # seconds that a batch takes, so that the scheduler costs little and a lost worker loses little
LONGEST = 30.0  # seconds of a batch of a long sweep
MOST_BYTES = 32 * 2**20  # of the trajectories of a batch


class Queue:
    """Ranges of runs, taken in order. bytes: of the trajectories of one run."""

    def __init__(self, todo: Iterable[range], bytes_each: int) -> None:
        self._todo = deque(todo)
        self.left = sum(map(len, self._todo))
        self._most = max(1, MOST_BYTES // max(1, bytes_each))
        self._seconds = 0.0
        self._runs = 0

    def __bool__(self) -> bool:
        return self.left > 0

    def take(self, workers: int) -> range:
        """The next runs: about PATIENCE of work, less towards the end so that all workers finish together."""
        size = 1
        if self._runs > 0:
            each = self._seconds / self._runs
            patience = min(LONGEST, max(PATIENCE, self._seconds / (200 * workers)))  # fewer files of a long sweep
            share = self.left // (2 * workers) if workers > 1 else self.left
            least, wanted = (int(time / max(each, 1e-9)) for time in (LEAST, patience))
            size = max(1, min(self._most, wanted, max(share, least)))
        first = self._todo.popleft()
        taken, rest = first[:size], first[size:]
        if rest:
            self._todo.appendleft(rest)
        self.left -= len(taken)
        return taken

    def put_back(self, runs: range) -> None:
        self._todo.appendleft(runs)
        self.left += len(runs)

    def learn(self, runs: int, seconds: float) -> None:
        """How long some runs took."""
        self._runs += runs
        self._seconds += seconds
