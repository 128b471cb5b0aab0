"""libcosim, through libcosimpy: its fixed-step algorithm on an OspSystemStructure.xml.

Before the first step libcosim passes the outputs on to the inputs, as many times as there are FMUs, so that the first
step sees the initial outputs; start values of connected inputs are overwritten.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fmumbs.errors import SolverError
from fmumbs.run.rows import Rows
from fmumbs.system.package import fmu_files
from fmumbs.system.plan import RECORDED, Plan
from fmumbs.system.ssp import osp_structure


def run_with_libcosim(plan: Plan, folder: Path, rows: Rows, done: Callable[[int], None]) -> None:
    """Runs the plan; see engines. Raises SolverError if libcosimpy is missing or a step fails."""
    try:
        from libcosimpy import CosimEnums, CosimExecution, CosimLogging, CosimObserver, _internal
    except ImportError as error:
        raise SolverError(
            "the engine libcosim needs libcosimpy. Install it with: pip install 'fmumbs[cosim]', or take --engine fmpy."
        ) from error
    CosimLogging.log_output_level(CosimLogging.CosimLogLevel.FATAL)
    execution = _execution(plan, folder, CosimExecution.CosimExecution)
    last = CosimObserver.CosimObserver.create_last_value()
    first = CosimObserver.CosimObserver.create_time_series(2)  # the only observer that tells the values at time 0
    execution.add_observer(last)
    execution.add_observer(first)
    types = {"Real": CosimEnums.CosimVariableType.REAL, "Integer": CosimEnums.CosimVariableType.INTEGER}
    columns = _columns(plan, execution)
    series = [(slave, reference, types[kind]) for slave, kind, reference in columns if kind in types]
    for one in series:
        first.start_time_series(*one)
    for step in range(1, plan.count + 1):
        if not execution.step():
            raise SolverError(_failure(plan, step - 1, _internal.get_last_error_message()))
        if step == 1:
            rows.add(_at_start(first, columns))
            for one in series:
                first.stop_time_series(*one)
        rows.add(_values(last, columns))
        done(step)


Column = tuple[int, str, int]  # slave, type, value reference


def _execution(plan: Plan, folder: Path, kind: Any) -> Any:
    sources: dict[str, str] = {}
    for path, name in fmu_files(plan).items():
        shutil.copyfile(path, folder / name)
        sources |= {part.name: name for part in plan.parts if part.interface.path == path}
    (folder / "OspSystemStructure.xml").write_bytes(osp_structure(plan, sources))
    try:
        return kind.from_osp_config_file(str(folder))
    except AssertionError as error:  # with libcosim's message
        raise SolverError(f"libcosim cannot load system '{plan.name}': {str(error).rstrip('.')}.") from error


def _columns(plan: Plan, execution: Any) -> list[Column]:
    """Where libcosim has each recorded variable."""
    found: list[Column] = []
    for part in plan.parts:
        slave = execution.slave_index_from_instance_name(part.name)
        references = {v.name.decode(): v.reference for v in execution.slave_variables(slave_index=slave)}
        found += [(slave, v.kind, references[v.name]) for v in part.outputs if v.kind in RECORDED]
    return found


def _at_start(observer: Any, columns: list[Column]) -> np.ndarray:
    """The values at time 0: the first of the two samples, which libcosimpy returns after their times and steps.

    libcosim has no series of Booleans, so theirs are NaN.
    """
    read = {"Real": observer.time_series_real_samples, "Integer": observer.time_series_integer_samples}
    return np.array([read[k](slave, at, 0, 2)[2][0] if k in read else np.nan for slave, k, at in columns], float)


def _values(observer: Any, columns: list[Column]) -> np.ndarray:
    """The columns' values, with one call for each slave and type."""
    values = np.empty(len(columns))
    read = {
        "Real": observer.last_real_values,
        "Integer": observer.last_integer_values,
        "Boolean": observer.last_boolean_values,
    }
    wanted: dict[tuple[int, str], list[int]] = {}
    for k, (slave, kind, _) in enumerate(columns):
        wanted.setdefault((slave, kind), []).append(k)
    for (slave, kind), places in wanted.items():
        references = [columns[k][2] for k in places]
        values[places] = list(read[kind](slave, references))
    return values


def _failure(plan: Plan, steps: int, message: str) -> str:
    return f"'{plan.name}' stopped at {steps * plan.seconds:g} s: {' '.join(message.split()).rstrip('.')}."
