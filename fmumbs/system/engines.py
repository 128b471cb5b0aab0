"""Runs a system in one of the engines, with the same Result whichever it is.

An engine is a function that takes the plan, an empty folder, the rows to fill and a function that is called with the
number of steps done. It adds a row at time 0 and one after each step.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fmumbs import _checks
from fmumbs._folders import temporary_folder
from fmumbs.errors import SolverError
from fmumbs.run.rows import Rows
from fmumbs.system.plan import Plan
from fmumbs.system.with_fmpy import run_with_fmpy
from fmumbs.system.with_libcosim import run_with_libcosim
from fmumbs.system.with_omsimulator import run_with_omsimulator

if TYPE_CHECKING:
    from fmumbs.run import Result

Engine = Callable[[Plan, Path, Rows, Callable[[int], None]], None]

RUNNERS: dict[str, Engine] = {
    "libcosim": run_with_libcosim,
    "fmpy": run_with_fmpy,
    "omsimulator": run_with_omsimulator,
}


def run(plan: Plan, engine: str, progress: Callable[[float], None] | None) -> "Result":
    """Runs a plan; see System.run."""
    if engine not in RUNNERS:
        raise SolverError(f"there is no engine '{engine}'. {_checks.nearest(engine, RUNNERS)}")
    times = np.arange(plan.count + 1) * plan.step / 1e9
    rows = Rows(plan.name, times, plan.recorded())

    def done(steps: int) -> None:
        if progress is not None:
            progress(steps / plan.count)

    with temporary_folder() as folder, rows.kept_if_it_fails():
        RUNNERS[engine](plan, Path(folder), rows, done)
    return rows.result()
