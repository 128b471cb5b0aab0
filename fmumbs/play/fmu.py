"""An unpacked FMU, whose instances are started, stepped and read through FMPy.

FMPy raises an exception for every status above fmi2Warning; the errors here carry the FMU's last message.
"""

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs._folders import temporary_folder
from fmumbs._naming import FLAT, flat_names
from fmumbs._signals import held
from fmumbs.errors import ExportError, SolverError
from fmumbs.play.host import check_binaries, host_library, other_binaries
from fmumbs.play.unpacking import DESCRIPTION, open_archive, start_of, version_of
from fmumbs.run.feed import duration

Values = NDArray[np.float64]

STEP = "solver.step"
IMAGE = "resources/model.fmb"
PATIENCE = 1.0  # [s] that an FMU call may take to return after Ctrl-C
ABRUPT = 1e3  # largest jump of an output by the excitation, in its unit, such as [rad/s2]


@dataclass(frozen=True)
class Resolution:
    """Resolution of an integration: relative tolerance with error control, steps in an interval with a fixed step."""

    tolerance: float
    parts: int


FINE = Resolution(1e-10, 400)  # for reference values
COARSE = Resolution(1e-9, 200)  # for estimating the error of FINE


class Fmu:
    """An unpacked FMU of FMI 2.0 or 3.0; a context manager that removes the unpacked files.

    Of its binaries only this host's is unpacked. It runs by Co-Simulation if it is made for that, else by Model
    Exchange with an integrator of FMPy's.

    exchange: it is to run by Model Exchange. data: its bytes, if they are in memory; then `path` is only its name.

    version: of FMI, 2 or 3. exchanges: it runs by Model Exchange. abilities: its capabilities as FMPy describes them.
    varies_step, follows_inputs: it takes steps of any length, and derivatives of inputs.

    inputs, outputs: value references of the real inputs, and of the real continuous outputs; readable: of all
    real variables; integers: of the integer outputs; constants: Boolean constants with their values; names, units: by
    value reference; interval: step size of the default experiment [s]; has_image: it contains a model image, as FMUs of
    fmumbs do; step: value reference and start value [s] of the step of a fixed-step scheme, None if there is none.

    Raises ExportError if the file is not such an FMU.
    """

    def __init__(self, path: Path, data: bytes | None = None, *, exchange: bool = False) -> None:
        self.path = path
        self._folder = temporary_folder()
        self.folder = Path(self._folder.name)
        try:
            self.version, self.description = self._read(path, data)
            self.exchanges = exchange or self.description.coSimulation is None
            exchanged, simulated = self.description.modelExchange, self.description.coSimulation
            self.abilities: Any = exchanged if self.exchanges else simulated
            if self.abilities is None:
                raise ExportError(f"'{path}' is neither for Co-Simulation nor for Model Exchange. Export it again.")
        except BaseException:
            self._folder.cleanup()
            raise
        variables = self.description.modelVariables
        self.variables: dict[str, Any] = {v.name: v for v in variables}
        real = [v for v in variables if v.type == "Real"]
        self.names: dict[int, str] = {v.valueReference: v.name for v in real}
        self.units: dict[int, str] = {v.valueReference: v.unit or "" for v in real}
        self.inputs = [v.valueReference for v in real if v.causality == "input"]
        self.outputs = [v.valueReference for v in real if v.causality == "output" and v.variability == "continuous"]
        self.readable = sorted({v.valueReference for v in real})
        self.integers = [v.valueReference for v in variables if v.type == "Integer" and v.causality == "output"]
        self.constants = {v.valueReference: v.start == "true" for v in variables if v.type == "Boolean"}
        experiment = self.description.defaultExperiment
        self.varies_step = self.exchanges or bool(self.abilities.canHandleVariableCommunicationStepSize)
        self.follows_inputs = self.exchanges or bool(self.abilities.canInterpolateInputs)
        self.interval = float(getattr(experiment, "stepSize", None) or 0.01)
        self.tolerance = float(getattr(experiment, "tolerance", None) or 1e-6)
        self.has_image = (self.folder / IMAGE).is_file()
        step = self.find(STEP)
        start = start_of(step.type, step.start) if step is not None else None
        self.step = (step.valueReference, start) if step is not None and isinstance(start, float) else None

    def _read(self, path: Path, data: bytes | None) -> tuple[int, Any]:
        """Unpacks the FMU and reads its version, and its description with FMPy, after removing comments, which FMPy
        cannot read. Variables of FMI 3.0 have the types of FMI 2.0 in it, and elements are in place of arrays.

        A binary is given the place of resources/ alone, so that hundreds of files of sources need not be written.
        """
        import fmpy
        from lxml import etree

        with open_archive(path, data) as archive:
            check_binaries(archive)
            unread = {name for name in archive.sizes if name.startswith(("sources/", "documentation/"))}
            archive.unpack(self.folder, without=unread | set(other_binaries(archive.sizes)))
            (self.folder / DESCRIPTION).write_bytes(etree.tostring(archive.description))
            root = archive.description
        try:
            description = fmpy.read_model_description(self.folder, validate=False)
        except Exception as error:  # of many types
            raise ExportError(f"'{path}' cannot be read as an FMU: {str(error).rstrip('.')}.") from error
        self.elements: Mapping[int, Any] = {}
        if version_of(root) == 3:
            from fmumbs.play.fmi3 import name_as_fmi2

            self.elements = name_as_fmi2(description, root)
        return version_of(root), description

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.cleanup()

    @cached_property
    def is_inverse(self) -> bool:
        """Whether it is an FMU of fmumbs for inverse dynamics: it has no scheme of integration."""
        return self.has_image and self.find("solver.scheme") is None

    @cached_property
    def movable(self) -> list[int]:
        """The inputs that may have any values: all but the motion of inverse dynamics, which must close its loops."""
        if not self.is_inverse:
            return self.inputs
        from fmumbs.compiler import ModelImage
        from fmumbs.compiler.kinds import kind_columns

        image = ModelImage.load((self.folder / IMAGE).read_bytes())
        given = kind_columns().of_inverse[image.arrays["variable_kind"]]
        return [one for one in self.inputs if not given[one]] if image.sizes["rows"] else self.inputs

    @cached_property
    def structured(self) -> dict[str, str]:
        """Structured names by those of the FMU, which are the same unless it is an FMU of fmumbs with flat names."""
        if self.description.variableNamingConvention != FLAT or not self.has_image:
            return {name: name for name in self.variables}
        from fmumbs.compiler import ModelImage

        names = [v.name for v in ModelImage.load((self.folder / IMAGE).read_bytes()).variables]
        return dict(zip(flat_names(names), names, strict=True))

    def find(self, name: str) -> Any:
        """FMPy's description of a variable, under its name in the FMU or its structured name; None if there is none."""
        found = self.variables.get(name)
        if found is None and self.description.variableNamingConvention == FLAT:
            found = next((self.variables.get(flat) for flat, own in self.structured.items() if own == name), None)
        return found

    def reference(self, name: str, causality: str | None = None) -> int:
        """The value reference of a name. Raises SolverError, with the nearest name, if it is unknown."""
        found = self.find(name)
        if found is None or causality not in (None, found.causality):
            known = {n: v for n, v in self.variables.items() if causality in (None, v.causality)}
            what = f"has no {causality or 'variable'} '{name}'"
            raise SolverError(f"'{self.description.modelName}' {what}. {_checks.nearest(name, known)}")
        return int(found.valueReference)

    @contextmanager
    def instance(self) -> Iterator["Instance"]:
        """A new instance, which is freed at the end of the block."""
        one = Instance(self)
        try:
            yield one
        finally:
            one.free()

    @contextmanager
    def started(
        self, values: Mapping[int, float] | None = None, resolution: Resolution | None = None
    ) -> Iterator["Instance"]:
        """A new instance, initialised at time 0 with these inputs and start values."""
        with self.instance() as one:
            one.start(values, resolution)
            yield one

    def excitation(self) -> dict[int, float]:
        """Small inputs, all different, of lengths small changes: value by value reference."""
        return {reference: self._part * value + self.lengths[reference] for reference, value in self._pushes().items()}

    def _pushes(self) -> dict[int, float]:
        return {reference: 0.02 * ((7 * k + 3) % 11 - 5) for k, reference in enumerate(self.movable)}

    @cached_property
    def lengths(self) -> dict[int, float]:
        """The start values of inputs that are lengths, of ropes or of what follows a position; 0 of all others."""
        inputs = {v.valueReference: v for v in self.description.modelVariables if v.causality == "input"}
        return {i: float(one.start or 0.0) if one.unit == "m" else 0.0 for i, one in inputs.items()}

    @cached_property
    def _part(self) -> float:
        """Factor on the pushes for which no output jumps by more than ABRUPT: thin rods would spin too fast."""
        pushes = {reference: value + self.lengths[reference] for reference, value in self._pushes().items()}
        with self.started() as still, self.started(pushes) as pushed:
            jumps = np.abs(pushed.reals(self.outputs) - still.reals(self.outputs))
        return float(min(1.0, ABRUPT / np.max(jumps[np.isfinite(jumps)], initial=ABRUPT)))


class BackgroundCall:
    """Work in another thread, so that Ctrl-C ends the wait for an FMU call that does not return.

    abandoned: Ctrl-C was pressed before it ended; stuck: it did not end within PATIENCE after that.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self.abandoned = self.stuck = False
        self._work = work
        self._errors: list[BaseException] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:
            self._errors.append(error)
        finally:
            self._ended.set()

    def wait(self) -> None:
        """Does the work and waits for its end; raises its exception, if there is one."""
        try:
            self._thread.start()  # a signal may end this too, with the thread running
            self._ended.wait()  # not Thread.join, which returns early when a signal interrupts it (3.11)
        except BaseException:
            self.abandoned = self.stuck = True  # also if another signal ends what follows
            self.stuck = not self._ended.wait(PATIENCE)
            if not self.stuck:
                self._thread.join()  # nothing is left of it, so the process may end in the usual way
            raise
        if self._errors:
            raise self._errors[0]


def _slave(fmu: Fmu, **kwargs: Any) -> Any:
    """FMPy's FMU2Slave, or for FMI 3.0, or Model Exchange, what is called as it is."""
    from fmpy import fmi2, fmi3

    from fmumbs.play.fmi3 import AsFmi2

    made: Any
    if fmu.version == 2:
        made = (fmi2.FMU2Model if fmu.exchanges else fmi2.FMU2Slave)(**kwargs)
    else:
        made = AsFmi2((fmi3.FMU3Model if fmu.exchanges else fmi3.FMU3Slave)(**kwargs), fmu.elements)
    if not fmu.exchanges:
        return made
    from fmumbs.play.exchange import ExchangeSlave

    sizes = fmu.description.numberOfContinuousStates, fmu.description.numberOfEventIndicators
    return ExchangeSlave(made, *sizes, fmu.tolerance)


class Instance:
    """One instance of an FMU. time: communication point [s]; messages: warnings and errors that it logged.

    abandoned: Ctrl-C was pressed during do(). Raises ExportError if the binary cannot be loaded or instantiated.
    """

    def __init__(self, fmu: Fmu) -> None:
        from fmpy import platform

        self.fmu = fmu
        self.time = 0.0
        self.messages: list[str] = []
        self.abandoned = False
        self._stuck = False
        try:
            with chdir("."):  # FMPy changes to the binary's folder, and stays there if it cannot be loaded
                self.slave: Any = _slave(
                    fmu,
                    guid=fmu.description.guid,
                    unzipDirectory=str(fmu.folder),
                    modelIdentifier=fmu.abilities.modelIdentifier,
                    instanceName=fmu.description.modelName,
                    libraryPath=host_library(fmu.folder, fmu.abilities.modelIdentifier),
                )
        except Exception as error:  # of FMPy if there is no library, of the system if it cannot be loaded
            raise ExportError(f"the FMU's binary for {platform} cannot be loaded: {str(error).rstrip('.')}.") from error
        try:
            with held():  # an FMU that runs in Python would take a signal for its own failure
                self._instantiate()
        except Exception as error:
            self.slave.freeLibrary()
            raise ExportError(f"the FMU cannot be instantiated. {self.reason}".strip()) from error

    def _instantiate(self) -> None:
        from fmpy import calloc, fmi2, free

        if self.fmu.version == 3:
            self.slave.instantiate(loggingOn=True, logMessage=self._log)
            return
        callbacks = fmi2.fmi2CallbackFunctions()
        callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(lambda environment, _, *rest: self._log(environment, *rest))
        callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
        callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
        self.slave.instantiate(callbacks=callbacks, loggingOn=True)

    @property
    def last_message(self) -> str:
        return self.messages[-1] if self.messages else ""

    @property
    def reason(self) -> str:
        """The last message, without the name of the C function."""
        return re.sub(r"^fmi[23]\w+: ", "", self.last_message)

    def _log(self, _: Any, status: int, category: bytes | None, message: bytes) -> None:
        if status > 0:  # above fmi2OK
            self.messages.append(message.decode("utf-8", "replace"))

    def start(self, values: Mapping[int, float] | None = None, resolution: Resolution | None = None) -> None:
        """Initialises at time 0. resolution: of the integration, None as exported."""
        self.begin(resolution.tolerance if resolution else None)
        if resolution and self.fmu.step:
            reference, exported = self.fmu.step
            self.set({reference: min(exported, self.fmu.interval / resolution.parts)})
        self.set(values or {})
        self.slave.exitInitializationMode()

    def begin(self, tolerance: float | None = None, stop: float | None = None) -> None:
        """Enters initialization mode at time 0."""
        self.time = 0.0
        self.slave.setupExperiment(startTime=0.0, tolerance=tolerance, stopTime=stop)
        self.slave.enterInitializationMode()

    def set(self, values: Mapping[int, float]) -> None:
        if values:
            self.slave.setReal(list(values), list(values.values()))

    def step(self, step: float, times: int = 1) -> None:
        for _ in range(times):
            self.slave.doStep(self.time, step)
            self.time += step

    def step_to(self, time: float) -> None:
        """One step to a time [s], to its last bit."""
        self.slave.doStep(self.time, duration(self.time, time))
        self.time = time

    def write(self, references: NDArray[np.uint32], values: Values) -> None:
        """Sets (n,) real variables by value reference."""
        self.slave.setReal(references.tolist(), values.tolist())

    def write_input_derivatives(
        self, references: NDArray[np.uint32], orders: NDArray[np.int32], values: Values
    ) -> None:
        """Sets (n,) derivatives of (n,) orders of inputs at the start of the next step."""
        self.slave.setRealInputDerivatives(references.tolist(), orders.tolist(), values.tolist())

    def reals(self, references: Sequence[int]) -> Values:
        """(n,) values of (n,) real variables."""
        return np.array(self.slave.getReal(references) if references else [], float)

    def output_derivatives(self, references: Sequence[int]) -> Values:
        """(n,) first time derivatives of (n,) outputs, from the FMU."""
        return np.array(self.slave.getRealOutputDerivatives(references, [1] * len(references)), float)

    def read(self, real: Sequence[int], whole: Sequence[int]) -> Values:
        """Values of real variables, then of integer variables."""
        integers = self.slave.getInteger(whole) if whole else []
        return np.concatenate([self.reals(real), np.array(integers, float)])

    def reader(self, real: Sequence[int], whole: Sequence[int]) -> Callable[[], Values]:
        """A function that reads as read() does, faster if called often; its array changes with the next call."""
        from fmpy.fmi2 import fmi2Real, fmi2ValueReference

        if not real or whole:
            return lambda: self.read(real, whole)
        slave, two = self.slave, self.fmu.version == 2
        layout = None if two else slave.layout(real)
        asked, count = (real, len(real)) if layout is None else (layout.references, layout.count)
        references, values = (fmi2ValueReference * len(asked))(*asked), (fmi2Real * count)()
        view = np.frombuffer(values)
        places = np.array(layout.places) if self.fmu.elements and layout is not None else None
        get = slave.fmi2GetReal if two else slave.fmi3GetFloat64
        after = () if two else (count,)

        def read() -> Values:
            get(slave.component, references, len(asked), values, *after)
            return view if places is None else view[places]

        return read

    def everything(self) -> Values:
        """All real variables, then all integer outputs, for comparing two runs bit for bit."""
        return self.read(self.fmu.readable, self.fmu.integers)

    def do(self, work: Callable[[], None]) -> None:
        """Calls the FMU in another thread, so that Ctrl-C ends the wait for a call that does not return."""
        call = BackgroundCall(work)
        try:
            call.wait()
        finally:
            self.abandoned, self._stuck = call.abandoned, call.stuck

    def free(self) -> None:
        """Frees the instance, unless a call is still running; then it stays until the process ends."""
        if not self._stuck:
            self.slave.freeInstance()
