"""Rows: the results of a run as they accumulate; they are kept if the run fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler import ModelImage
from fmumbs.errors import Interrupted, SolverError
from fmumbs.run.details import Details, Motion
from fmumbs.run.result import Result

if TYPE_CHECKING:
    from fmumbs.run.moments import Moments

MOST_NUMBERS = 10**9  # 8 GB

Array = NDArray[np.float64]


class Rows:
    """One row of values for each time. times: (n,) [s]; units: by the names of the columns.

    details: of the result; may be set until result() is called.
    """

    _AFFORDED = 10**7  # numbers of positions beyond those of the columns: 80 MB

    def __init__(self, name: str, times: Array, units: Mapping[str, str]) -> None:
        self.name, self.times, self.units = name, times, units
        self.details: Details | Callable[[], Details] | None = None
        self._followed: tuple[ModelImage, Callable[[], Array], Array] | None = None
        self.count = 0
        if len(times) * len(units) > MOST_NUMBERS:
            raise SolverError(
                f"{len(times)} times of {len(units)} variables exceed {MOST_NUMBERS:.0e} numbers. "
                "Choose a longer interval, or fewer outputs."
            )
        try:
            self.values = np.empty((len(units), len(times))).T  # columns, which a Result has, lie in one piece
        except MemoryError as error:
            what = f"{len(times)} times of {len(units)} variables"
            raise SolverError(f"not enough memory for {what}. Choose a longer interval, or fewer outputs.") from error

    def follow(self, image: ModelImage, positions: Callable[[], Array]) -> None:
        """Also records the positions of the tree with each row from now on, for pictures, unless they are many more
        numbers than the columns. positions: returns (positions,), as Solver.positions.
        """
        count = len(self.times) * int(image.sizes["positions"])
        if count <= max(self.values.size, self._AFFORDED):
            self._followed = image, positions, np.empty((len(self.times), int(image.sizes["positions"])))

    def add(self, values: Array) -> None:
        """Appends the values at the next time."""
        self.values[self.count] = values
        if self._followed is not None:
            _, positions, found = self._followed
            found[self.count] = positions()
        self.count += 1

    def fill(
        self, moments: Moments, references: NDArray[np.uint32], progress: Callable[[float], None] | None = None
    ) -> None:
        """Adds the values at the times that are left, as moments.record() writes them."""
        first = self.count
        positions = None if self._followed is None else self._followed[2][first:]
        try:
            moments.record(references, self.values[first:], positions, progress)
        finally:
            self.count += moments.rows

    def result(self) -> Result:
        """The rows so far."""
        count = self.count  # another thread may still add rows
        values = dict(zip(self.units, self.values[:count].T, strict=True))
        motion = None if self._followed is None else Motion(self._followed[0], self._followed[2][:count])
        return Result(self.name, self.times[:count], values, self.units, self.details, motion)

    @contextmanager
    def kept_if_it_fails(self, present: Callable[[], tuple[float, Array]] | None = None) -> Iterator[None]:
        """Attaches time and results so far to a SolverError; turns Ctrl-C into Interrupted with both.

        present: returns the time [s] and the values where a step has stopped; they become the last row.
        """
        try:
            yield
        except SolverError as error:
            if self.count > 0 or present is not None:
                error.time, error.result = self._end(present)
                error.add_note(f"The results up to t = {error.time:g} s are in the error's `result`.")
            raise
        except KeyboardInterrupt as error:
            if self.count == 0 and present is None:
                raise
            stopped = Interrupted(*self._end(present))
            stopped.add_note(f"The results up to t = {stopped.time:g} s are in the exception's `result`.")
            raise stopped from error

    def _end(self, present: Callable[[], tuple[float, Array]] | None) -> tuple[float, Result]:
        if present is not None:
            with suppress(SolverError):
                time, last = present()
                if self.count == 0 or time > self.times[self.count - 1]:
                    self.times[self.count] = time
                    self.add(last)
        result = self.result()
        return float(result.time[-1]) if self.count else 0.0, result
