"""The files of a sweep: finished batches at once, in a folder beside the output; the output when all are there.

out.parquet                       a row for each run
out.parquet.parts/                while the sweep is not complete: plan.json, and FIRST-LAST.parquet for each batch
out.trajectories/                 if trajectories are saved: FIRST-LAST.parquet, the runs of a batch, without LAST
"""

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fmumbs import _parquet
from fmumbs._files import whole
from fmumbs.errors import SolverError

_PART = re.compile(r"(\d+)-(\d+)\.parquet")
KEY = "fmumbs.sweep"  # in the metadata of the output: the sweep's fingerprint


class Store:
    """Where the rows of a sweep go, and which are there already.

    key: fingerprint of the sweep; total: number of runs; units: of all columns; types: of those that are not float;
    about: metadata of the output.
    """

    def __init__(
        self, out: Path, key: str, total: int, units: Mapping[str, str], types: Mapping[str, str],
        about: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.out, self.key, self.total = out, key, total
        self.units, self.types, self.about = units, types, {**about, KEY: key}
        self.parts = out.with_name(f"{out.name}.parts")
        self.trajectories = trajectories_of(out)

    @contextmanager
    def opened(self, overwrite: bool, saves: bool) -> Iterator[list[range]]:
        """The runs that are still to do. Raises SolverError if the output belongs to another sweep.

        overwrite: removes another sweep. Only one process at a time can write the same output.
        """
        if self.out.is_file() and self._key_of_output() == self.key and (not saves or self.trajectories.is_dir()):
            shutil.rmtree(self.parts, ignore_errors=True)  # left by what ended just then
            yield []
            return
        self._refuse_others(overwrite)
        self.parts.mkdir(exist_ok=True)
        with _locked(self.parts / "plan.json", self.out) as plan:
            if not plan.read_text():
                plan.write_text(json.dumps({"sweep": self.key, "runs": self.total, **self.about}, indent=1))
            done = self._done()
            if saves:
                self.trajectories.mkdir(exist_ok=True)
                self._forget_trajectories(done)
            yield _missing(done, self.total)

    def _key_of_output(self) -> str | None:
        try:
            return _parquet.read_head(self.out)[0].get(KEY)
        except SolverError:
            return None

    def _refuse_others(self, overwrite: bool) -> None:
        plan = self.parts / "plan.json"
        same = plan.is_file() and f'"{self.key}"' in plan.read_text()
        found = [self.out] if self.out.exists() else []
        if not same:
            found += [place for place in (self.parts, self.trajectories) if place.exists()]
        if not found:
            return
        if overwrite:
            for place in found:
                shutil.rmtree(place) if place.is_dir() else place.unlink()
            return
        what = "holds another sweep" if self._key_of_output() or found[0] != self.out else "is not of a sweep"
        if found[0] == self.parts:
            what = "holds an unfinished sweep with other settings"
        raise SolverError(f"'{found[0]}' {what}. Give another output with -o, or --overwrite.")

    def _done(self) -> list[range]:
        """The runs of the batches that are there; one that is damaged is removed."""
        done = []
        for path in sorted(self.parts.glob("*.parquet")):
            match = _PART.fullmatch(path.name)
            runs = range(int(match[1]), int(match[2])) if match else range(0)
            try:
                if _parquet.read_head(path)[2] == len(runs) > 0:
                    done.append(runs)
                    continue
            except SolverError:
                pass
            path.unlink()
        return done

    def _forget_trajectories(self, done: Sequence[range]) -> None:
        names = {_part(runs.start, runs.stop) for runs in done}
        for path in self.trajectories.glob("*.parquet"):
            if path.name not in names:
                path.unlink()

    def add(self, first: int, last: int, columns: Mapping[str, Any], trajectories: Mapping[str, Any] | None) -> None:
        """Writes a finished batch; its rows last, as they say that it is there."""
        if trajectories is not None:
            self._write(self.trajectories / _part(first, last), trajectories, {"run": "int"})
        self._write(self.parts / _part(first, last), columns, self.types)

    def _write(self, path: Path, columns: Mapping[str, Any], types: Mapping[str, str]) -> None:
        with whole(path) as file:
            table = _parquet.table_of(columns, self.units, types, self.about)
            _parquet.write_table(table, file, briefly=path.parent == self.parts)

    def finish(self) -> None:
        """Writes the output, in the order of the runs, and removes the parts."""
        if not self.parts.is_dir():
            return
        parts = sorted(self.parts.glob("*.parquet"), key=lambda path: int(path.name.partition("-")[0]))
        with whole(self.out) as file:
            _parquet.join(parts, file)
        shutil.rmtree(self.parts)


def trajectories_of(out: Path) -> Path:
    """The folder of a sweep's trajectories."""
    return out.with_name(f"{out.stem}.trajectories")


def _part(first: int, last: int) -> str:
    return f"{first:08d}-{last:08d}.parquet"


def _missing(done: Sequence[range], total: int) -> list[range]:
    """The runs that are in none of the ranges."""
    missing, at = [], 0
    for runs in sorted(done, key=lambda runs: runs.start):
        if runs.start > at:
            missing.append(range(at, runs.start))
        at = max(at, runs.stop)
    return [*missing, *([range(at, total)] if at < total else [])]


@contextmanager
def _locked(plan: Path, out: Path) -> Iterator[Path]:
    """Holds the plan of a sweep against another process."""
    descriptor = os.open(plan, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass  # a system without such locks
        except OSError as error:
            raise SolverError(f"another process is running the sweep to '{out}'. Wait for it, or end it.") from error
        yield plan
    finally:
        os.close(descriptor)
