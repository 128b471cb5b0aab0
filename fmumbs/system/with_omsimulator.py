"""OMSimulator, where the program is installed: it reads the package and writes a CSV file of twelve digits.

It writes two rows at every communication point, before and after the inputs are passed on, and may end with a step of
round-off size. FMUs of pythonfmu need Python's library in a program that is not Python.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fmumbs._tables import read_table
from fmumbs.errors import SolverError
from fmumbs.run.rows import Rows
from fmumbs.system.package import save
from fmumbs.system.plan import Plan

PROGRAM = "OMSimulator"
PYTHON_FMU = "resources/slavemodule.txt"  # an entry of each FMU of pythonfmu


def run_with_omsimulator(plan: Plan, folder: Path, rows: Rows, done: Callable[[int], None]) -> None:
    """Runs the plan; see engines. Raises SolverError if the program is missing or fails."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise SolverError(f"the engine omsimulator needs the program {PROGRAM} on the path. Take the engine libcosim.")
    results = folder / "results.csv"
    options = {
        "stopTime": repr(plan.stop),
        "intervals": str(plan.count),
        "tolerance": repr(min(part.interface.tolerance for part in plan.parts)),  # it passes one to each FMU
        "stripRoot": "true",
        "resultFile": str(results),
        "tempDir": str(folder),
    }
    command = [program, *(f"--{name}={value}" for name, value in options.items()), str(save(plan, folder / "s.ssp"))]
    ended = subprocess.run(
        command, cwd=folder, env=_environment(plan), capture_output=True, text=True, errors="replace"
    )
    errors = [line for line in (ended.stdout + ended.stderr).splitlines() if line.startswith("error:")]
    if ended.returncode != 0 or errors or not results.is_file():
        why = errors[0].removeprefix("error:").strip() if errors else f"it ended with status {ended.returncode}"
        raise SolverError(f"{PROGRAM} cannot run '{plan.name}': {why.rstrip('.')}.")
    for values in _read(results, plan, rows):
        rows.add(values)
    done(plan.count)


def _environment(plan: Plan) -> dict[str, str]:
    """That of the child process, with Python's library if an FMU runs in Python."""
    environment = dict(os.environ)
    for path in {part.interface.path for part in plan.parts}:
        with zipfile.ZipFile(path) as fmu:
            if PYTHON_FMU not in fmu.namelist():
                continue
        library = Path(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("INSTSONAME") or "")
        if library.is_file():
            environment["LD_PRELOAD"] = os.pathsep.join(filter(None, [os.environ.get("LD_PRELOAD"), str(library)]))
        environment["PYTHONHOME"] = sys.base_prefix
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        break
    return environment


def _read(file: Path, plan: Plan, rows: Rows) -> np.ndarray:
    """(times, variables) at 0 and at each communication point: the row after the inputs are passed on."""
    try:
        found = read_table(file)
    except ValueError as error:
        raise SolverError(f"the results of {PROGRAM} cannot be read: {error}. Take the engine libcosim.") from None
    names, table = [name.strip() for name in found.names], found.rows
    try:
        columns = [names.index(name) for name in plan.recorded()]
    except ValueError as error:
        raise SolverError(f"the results of {PROGRAM} lack a variable: {error}. Take the engine libcosim.") from None
    first = np.searchsorted(table[:, 0], rows.times - 1e-3 * plan.seconds)
    after = np.minimum(first + 1, len(table) - 1)
    same = np.abs(table[after, 0] - rows.times) < 1e-3 * plan.seconds
    chosen = table[np.where(same, after, np.minimum(first, len(table) - 1))]
    if np.any(np.abs(chosen[:, 0] - rows.times) > 1e-3 * plan.seconds):
        raise SolverError(f"the results of {PROGRAM} lack some communication points. Take the engine libcosim.")
    return np.asarray(chosen[:, columns])
