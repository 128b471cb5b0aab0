"""FMPy's own SSP runner (fmpy.ssp.simulation), with some of its functions replaced in a copy of the module.

The runner takes elements by the first letters of their names, starts connected inputs at zero, and labels values with
the time before the step. Here the elements get names of which none begins with another, the start values are set by
exact names, connected inputs start at their start values, and the rows are those of all engines. The runner itself
opens the package, instantiates, steps and exchanges values; initial outputs are not passed on to the inputs.
"""

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from types import ModuleType
from typing import Any

import numpy as np

from fmumbs._signals import held
from fmumbs.errors import SolverError
from fmumbs.export.archive import OLDEST, zip_archive
from fmumbs.play.fmi3 import AsFmi2, name_as_fmi2
from fmumbs.play.host import host_library
from fmumbs.play.unpacking import open_archive, version_of
from fmumbs.run.rows import Rows
from fmumbs.system.package import SSD, fmu_files
from fmumbs.system.plan import RECORDED, End, Link, Plan
from fmumbs.system.ssp import structure


def run_with_fmpy(plan: Plan, folder: Path, rows: Rows, done: Callable[[int], None]) -> None:
    """Runs the plan; see engines. Raises SolverError for a connection that converts units, and for a failed call."""
    for link in plan.links:
        if link.converts:
            units = [
                next(part for part in plan.parts if part.name == end.element).interface.variables[end.variable].unit
                for end in (link.source, link.target)
            ]
            raise SolverError(
                f"FMPy passes values on as they are, but '{link.source}' [{units[0]}] feeds '{link.target}' "
                f"[{units[1]}] as {link.factor:g} y + {link.offset:g}. Take the engine libcosim."
            )
    run = _Run(plan, folder, rows, done)
    package = folder / "system.ssp"
    package.write_bytes(_package(plan, run.names))
    try:
        run.module.simulate_ssp(str(package), stop_time=plan.stop - plan.seconds / 2, step_size=plan.seconds)
    except SolverError:
        raise
    except Exception as error:  # of FMPy, for a status above fmi2Warning, or a binary that cannot be loaded
        why = run.messages[-1] if run.messages else str(error).rstrip(".")
        raise SolverError(f"'{plan.name}' stopped at {run.time:g} s in '{run.present}': {why.rstrip('.')}.") from error
    finally:
        run.free()


def _package(plan: Plan, names: dict[str, str]) -> bytes:
    """The package with other names of the elements."""
    files = fmu_files(plan)
    sources = {names[part.name]: f"resources/{files[part.interface.path]}" for part in plan.parts}
    entries = [(SSD, structure(_renamed(plan, names), sources, {}))]
    entries += [(f"resources/{name}", fmu.read_bytes()) for fmu, name in files.items()]
    return zip_archive(entries, OLDEST, level=0)


def _renamed(plan: Plan, names: dict[str, str]) -> Plan:
    def end(one: End) -> End:
        return End(names[one.element], one.variable)

    def link(one: Link) -> Link:
        return replace(one, source=end(one.source), target=end(one.target))

    parts = tuple(replace(part, name=names[part.name]) for part in plan.parts)
    return replace(plan, parts=parts, links=tuple(map(link, plan.links)))


class _Run:
    """One run of FMPy's runner: what its replaced functions need.

    names: the elements' names for FMPy; time [s]; present: the element whose call runs; messages: of the FMUs; version:
    of FMI, of the FMU that is instantiated next.
    """

    def __init__(self, plan: Plan, folder: Path, rows: Rows, done: Callable[[int], None]) -> None:
        width = len(str(len(plan.parts)))
        self.names = {part.name: f"e{i:0{width}}_{part.name}" for i, part in enumerate(plan.parts)}
        self.plan, self.folder, self.rows, self.done = plan, folder, rows, done
        self.parts = {self.names[part.name]: part for part in plan.parts}
        self.components: dict[str, Any] = {}
        self.time, self.steps, self.present = 0.0, 0, plan.parts[0].name
        self.messages: list[str] = []
        self.version = 2
        self.module = self._runner()

    def _runner(self) -> ModuleType:
        """A copy of the module, so that other users of FMPy keep theirs as it is."""
        found = importlib.util.find_spec("fmpy.ssp.simulation")
        assert found is not None and found.loader is not None  # FMPy is required
        copy = importlib.util.module_from_spec(found)
        module: Any = copy
        found.loader.exec_module(module)
        extract, instantiate, do_step = module.extract, module.instantiate_fmu, module.do_step
        free = module.free_fmu
        slaves = {2: self._logging(module.FMU2Slave), 3: self._slave3}
        module.FMU2Slave = lambda **kwargs: slaves[self.version](**kwargs)
        module.read_model_description = self._read
        module.extract = lambda path: extract(path, unzipdir=mkdtemp(dir=self.folder))

        def instantiate_fmu(component: Any, place: str, start: float, stop: float, values: Any = None) -> None:
            part = self.parts[component.name]
            self.present, self.components[component.name] = part.name, component
            instantiate(component, place, start, stop, values or part)
            for connector in component.connectors:
                variable = part.interface.variables[connector.name]
                if connector.kind == "output":
                    connector.value = module.get_value(component, connector.name)
                else:
                    connector.value = part.starts.get(connector.name, variable.start) or 0.0

        def step(component: Any, time: float, step_size: float) -> None:
            self.present, self.time = self.parts[component.name].name, time
            if self.rows.count == 0:
                self.rows.add(self._values())
            do_step(component, time, step_size)
            if component is list(self.components.values())[-1]:
                self.steps += 1
                self.rows.add(self._values())
                self.done(self.steps)

        def free_fmu(component: Any) -> None:
            self.components.pop(component.name)
            free(component)

        module.instantiate_fmu, module.do_step, module.free_fmu = instantiate_fmu, step, free_fmu
        module.set_parameters = lambda component, part: set_starts(component.fmu, component.variables, part.starts)
        return copy

    def _read(self, path: str, validate: bool = False) -> Any:
        """An FMU's description under FMI 2.0's names; the FMU is the next to be instantiated."""
        from fmpy import read_model_description

        description = read_model_description(path, validate=validate)
        with open_archive(Path(path)) as archive:
            self.version = version_of(archive.description)
            if self.version == 3:
                name_as_fmi2(description, archive.description)
        return description

    def _slave3(self, unzipDirectory: str, modelIdentifier: str, **others: Any) -> Any:
        """An FMU of FMI 3.0, called as FMPy's FMU2Slave is."""
        from fmpy.fmi3 import FMU3Slave

        messages = self.messages

        def log(_: Any, status: int, category: bytes | None, message: bytes) -> None:
            if status > 1:  # above fmi3Warning
                messages.append(message.decode("utf-8", "replace"))

        class Slave(AsFmi2):
            def instantiate(self) -> None:
                with held():
                    self.model.instantiate(loggingOn=True, logMessage=log)

            def doStep(self, currentCommunicationPoint: float, communicationStepSize: float) -> None:
                super().doStep(currentCommunicationPoint, communicationStepSize)

        library = host_library(Path(unzipDirectory), modelIdentifier)
        return Slave(
            FMU3Slave(unzipDirectory=unzipDirectory, modelIdentifier=modelIdentifier, libraryPath=library, **others), {}
        )

    def _logging(self, kind: Any) -> Any:
        """The slave's class with a logger that keeps the messages."""
        from fmpy import calloc, fmi2, free

        messages = self.messages

        def log(_: Any, name: bytes, status: int, category: bytes | None, message: bytes) -> None:
            if status > 1:  # above fmi2Warning
                messages.append(message.decode("utf-8", "replace"))

        class FMU2Slave(kind):  # type: ignore[misc]  # FMPy looks at the name
            def __init__(self, unzipDirectory: str, modelIdentifier: str, **others: Any) -> None:
                library = host_library(Path(unzipDirectory), modelIdentifier)
                super().__init__(
                    unzipDirectory=unzipDirectory, modelIdentifier=modelIdentifier, libraryPath=library, **others
                )

            def instantiate(self) -> None:
                callbacks = fmi2.fmi2CallbackFunctions()
                callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(log)
                callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
                callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
                with held():  # an FMU that runs in Python would take a signal for its own failure
                    super().instantiate(callbacks=callbacks)

        return FMU2Slave

    def _values(self) -> np.ndarray:
        """All recorded outputs, as FMPy has read them."""
        values: list[float] = []
        for name, part in self.parts.items():
            read = {c.name: c.value for c in self.components[name].connectors if c.kind == "output"}
            values += [float(read[v.name]) for v in part.outputs if v.kind in RECORDED]
        return np.array(values)

    def free(self) -> None:
        """Frees what the runner left when a call failed."""
        for component in self.components.values():
            slave = getattr(component, "fmu", None)
            if slave is not None and getattr(slave, "component", None):
                slave.freeInstance()


def set_starts(slave: Any, variables: Mapping[str, Any], starts: Mapping[str, Any]) -> None:
    """Sets start values of an FMPy slave by exact names."""
    for name, value in starts.items():
        reference = [variables[name].valueReference]
        setters = {
            "Real": slave.setReal,
            "Boolean": slave.setBoolean,
            "String": lambda refs, values: slave.setString(refs, [str(v) for v in values]),
        }
        setters.get(variables[name].type, slave.setInteger)(reference, [value])
