"""libcosim, through libcosimpy: its fixed-step algorithm on an OspSystemStructure.xml.

Before the first step libcosim passes the outputs on to the inputs, as many times as there are FMUs, so that the first
step sees the initial outputs; start values of connected inputs are overwritten.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fmumbs.errors import SolverError
from fmumbs.play.fmu import Fmu, Instance
from fmumbs.run.rows import Rows
from fmumbs.system.package import fmu_files
from fmumbs.system.plan import RECORDED, Part, Plan
from fmumbs.system.ssp import osp_structure
from fmumbs.system.with_fmpy import set_starts

SERIES = ("Real", "Integer")  # types of which it keeps the values at time 0

_STDOUT = 1  # file descriptor


def run_with_libcosim(plan: Plan, folder: Path, rows: Rows, done: Callable[[int], None]) -> None:
    """Runs the plan; see engines. Raises SolverError if libcosimpy is missing or a step fails."""
    try:
        from libcosimpy import CosimEnums, CosimExecution, CosimLogging, CosimObserver, _internal
    except ImportError as error:
        raise SolverError(
            "the engine libcosim needs libcosimpy. Install it with: pip install 'fmumbs[cosim]', or take --engine fmpy."
        ) from error
    for part in plan.parts:
        if part.interface.version != 2:
            raise SolverError(f"libcosim runs FMUs of FMI 2.0, but '{part.name}' is of FMI 3.0. Take the engine fmpy.")
    _check_initialisation(plan)
    log = _Log(folder / "log", CosimLogging)
    execution = _execution(plan, folder, CosimExecution.CosimExecution, log)
    last = CosimObserver.CosimObserver.create_last_value()
    first = CosimObserver.CosimObserver.create_time_series(2)  # the only observer that tells the values at time 0
    execution.add_observer(last)
    execution.add_observer(first)
    types = {kind: getattr(CosimEnums.CosimVariableType, kind.upper()) for kind in SERIES}
    columns = _columns(plan, execution)
    series = [(slave, reference, types[kind]) for slave, kind, reference in columns if kind in types]
    for one in series:
        first.start_time_series(*one)
    for step in range(1, plan.count + 1):
        with log.kept():
            goes_on = execution.step()
        if not goes_on:
            raise SolverError(_failure(plan, step - 1, _internal.get_last_error_message(), log.reason()))
        if step == 1:
            rows.add(_at_start(first, columns))
            for one in series:
                first.stop_time_series(*one)
        rows.add(_values(last, columns))
        done(step)


def _check_initialisation(plan: Plan) -> None:
    """Initialises the FMUs by FMPy with the values that libcosim sets, in its order: if one refuses, libcosim would end
    the whole process.

    It reads the outputs of all FMUs before it sets inputs; then as many times as there are FMUs and conversions it sets
    inputs, reads outputs and passes these on; and once more when initialisation has ended.
    """
    with ExitStack() as stack:
        running: dict[str, _Starting] = {}
        for part in plan.parts:
            with _refusals(plan, part.name, running):
                fmu = stack.enter_context(Fmu(part.interface.path))
                running[part.name] = one = _Starting(plan, part, fmu, stack.enter_context(fmu.instance()))
                one.begin(plan.stop)
            with _refusals(plan, part.name, running, ", before libcosim sets its inputs"):
                one.read()
        for _ in range(len(plan.parts) + sum(link.converts for link in plan.links)):
            for name, one in running.items():
                with _refusals(plan, name, running):
                    one.set_and_read()
            for link in plan.links:
                value = running[link.source.element].values[link.source.variable]
                value = link.factor * value + link.offset if link.converts else value
                running[link.target.element].inputs[link.target.variable] = value
        for name, one in running.items():
            with _refusals(plan, name, running):
                one.end()


class _Starting:
    """An FMU in its initialisation. inputs: to be set next; values: of the outputs that libcosim reads."""

    def __init__(self, plan: Plan, part: Part, fmu: Fmu, instance: Instance) -> None:
        known = part.interface.variables
        self._variables, self.instance = fmu.variables, instance
        self._parameters = {n: v for n, v in part.starts.items() if known[n].causality != "input"}
        self.inputs = {n: v for n, v in part.starts.items() if known[n].causality == "input"}
        self.values: dict[str, Any] = {}
        read = {link.source.variable for link in plan.links if link.source.element == part.name}
        read |= {v.name for v in part.outputs if v.kind in SERIES}
        self._names = {kind: [n for n in sorted(read) if known[n].kind == kind] for kind in RECORDED}

    def begin(self, stop: float) -> None:
        set_starts(self.instance.slave, self._variables, self._parameters)
        self.instance.begin(stop=stop)

    def set_and_read(self) -> None:
        set_starts(self.instance.slave, self._variables, self.inputs)
        self.read()

    def end(self) -> None:
        set_starts(self.instance.slave, self._variables, self.inputs)
        self.instance.slave.exitInitializationMode()
        self.read()

    def read(self) -> None:
        for kind, names in self._names.items():
            if names:
                get = getattr(self.instance.slave, f"get{kind}")
                self.values |= zip(names, get([self._variables[n].valueReference for n in names]), strict=True)


@contextmanager
def _refusals(plan: Plan, name: str, running: Mapping[str, _Starting], when: str = "") -> Iterator[None]:
    """Raises SolverError with an FMU's own reason if it refuses a call."""
    try:
        yield
    except Exception as error:  # of FMPy
        last = running[name].instance.last_message if name in running else ""
        raise SolverError(_failure(plan, 0, f"in '{name}'{when}", last or str(error))) from error


class _Log:
    """What libcosim writes to the standard output: the messages of FMUs are nowhere else."""

    _MESSAGE = re.compile(r"\[FMI status=(?:warning|discard|error|fatal), category=[^\]]*\] *(.*)")

    def __init__(self, path: Path, logging: Any) -> None:
        self._path = path
        self._set, levels = logging.log_output_level, logging.CosimLogLevel
        self._some, self._none = levels.DEBUG, levels.FATAL  # it logs as DEBUG what an FMU says when it discards a step
        self._set(self._none)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keeps what is written within it, in place of what was kept before."""
        stdout = os.dup(_STDOUT)
        with self._path.open("wb") as file:
            os.dup2(file.fileno(), _STDOUT)
        self._set(self._some)
        try:
            yield
        finally:
            self._set(self._none)
            os.dup2(stdout, _STDOUT)
            os.close(stdout)

    def reason(self) -> str:
        """The last message of an FMU that was more than a note; "" if there was none."""
        found = self._MESSAGE.findall(self._path.read_text("utf-8", "replace"))
        return found[-1] if found else ""


Column = tuple[int, str, int]  # slave, type, value reference


def _execution(plan: Plan, folder: Path, kind: Any, log: _Log) -> Any:
    sources: dict[str, str] = {}
    for path, name in fmu_files(plan).items():
        shutil.copyfile(path, folder / name)
        sources |= {part.name: name for part in plan.parts if part.interface.path == path}
    (folder / "OspSystemStructure.xml").write_bytes(osp_structure(plan, sources))
    try:
        with log.kept():
            return kind.from_osp_config_file(str(folder))
    except AssertionError as error:  # with libcosim's message
        message = _joined(str(error), log.reason())
        raise SolverError(f"libcosim cannot load system '{plan.name}': {message}.") from error


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


def _failure(plan: Plan, steps: int, message: str, reason: str) -> str:
    return f"'{plan.name}' stopped at {steps * plan.seconds:g} s: {_joined(message, reason)}."


def _joined(*texts: str) -> str:
    """In one line, without the full stop at their ends."""
    return ": ".join(" ".join(text.split()).rstrip(".") for text in texts if text.strip())
