"""OMSimulator, where the program is installed: it reads the package and writes a CSV file."""

import shutil
from collections.abc import Callable
from pathlib import Path

from fmumbs.errors import SolverError
from fmumbs.run.rows import Rows
from fmumbs.system.plan import Plan

PROGRAM = "OMSimulator"


def run_with_omsimulator(plan: Plan, folder: Path, rows: Rows, done: Callable[[int], None]) -> None:
    """Runs the plan; see engines. Raises SolverError if the program is missing or fails."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise SolverError(f"the engine omsimulator needs the program {PROGRAM} on the path. Take --engine libcosim.")
