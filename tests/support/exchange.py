"""A host for Model Exchange: opens an FMU of FMI 2.0 or 3.0 through FMPy, and integrates it with SciPy."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import POINTER, c_double
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Model
from fmpy.fmi3 import FMU3Model
from numpy.typing import NDArray
from scipy.integrate import DOP853

from fmumbs.play.fmi3 import AsFmi2

Array = NDArray[np.float64]


def _pointer(values: Array) -> Any:
    return values.ctypes.data_as(POINTER(c_double))


class Exchange:
    """An instance for Model Exchange in continuous-time mode at time 0. next: time of the announced event."""

    def __init__(self, folder: Path, values: dict[str, float] | None = None) -> None:
        self.description = fmpy.read_model_description(folder, validate=False)
        self.reference = {v.name: v.valueReference for v in self.description.modelVariables}
        self.messages: list[str] = []
        second = self.description.fmiVersion.startswith("2")
        self.fmu: Any = (FMU2Model if second else FMU3Model)(
            guid=self.description.guid if second else self.description.instantiationToken,
            unzipDirectory=str(folder),
            modelIdentifier=self.description.modelExchange.modelIdentifier,
            instanceName="one",
        )
        self.fmu.instantiate()
        self.fmu = self.fmu if second else AsFmi2(self.fmu, {})
        self.fmu.setupExperiment(startTime=0.0)
        self.set(values or {})
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        self.states = self.description.numberOfContinuousStates
        self.indicators = self.description.numberOfEventIndicators
        self.evaluations = self.events = 0
        self.next = np.inf
        self.update()

    def set(self, values: dict[str, float]) -> None:
        if values:
            self.fmu.setReal([self.reference[name] for name in values], list(values.values()))

    def get(self, *names: str) -> Array:
        return np.array(self.fmu.getReal([self.reference[name] for name in names]))

    def update(self) -> None:
        """Updates the events, and goes to continuous-time mode."""
        needed = True
        while needed:
            needed, _, _, _, defined, following = self.fmu.newDiscreteStates()
        self.next = following if defined else np.inf
        self.events += 1
        self.fmu.enterContinuousTimeMode()

    def event(self) -> None:
        self.fmu.enterEventMode()
        self.update()

    @property
    def x(self) -> Array:
        values = np.empty(self.states)
        self.fmu.getContinuousStates(_pointer(values), self.states)
        return values

    def place(self, t: float, x: Array) -> None:
        self.fmu.setTime(t)
        self.fmu.setContinuousStates(_pointer(np.ascontiguousarray(x)), self.states)

    def rates(self, t: float, x: Array) -> Array:
        self.place(t, x)
        values = np.empty(self.states)
        self.fmu.getDerivatives(_pointer(values), self.states)
        self.evaluations += 1
        return values

    def z(self) -> Array:
        values = np.empty(self.indicators)
        self.fmu.getEventIndicators(_pointer(values), self.indicators)
        return values

    def run(
        self,
        end: float,
        tolerance: float = 1e-11,
        inputs: Callable[[float], dict[str, float]] | None = None,
        completed: bool = False,
    ) -> None:
        """Integrates to `end` by DOP853 with inputs set at every evaluation; without indicators. completed: with a
        completed step after each of its steps.
        """

        def f(t: float, x: Array) -> Array:
            if inputs:
                self.set(inputs(t))
            return self.rates(t, x)

        t = 0.0
        while t < end:
            steps = DOP853(f, t, self.x, min(end, self.next), rtol=max(tolerance, 3e-14), atol=tolerance)
            asked = False
            while steps.status == "running" and not asked:
                failure = steps.step()
                assert steps.status != "failed", failure
                if completed:
                    self.place(steps.t, steps.y)
                    asked, _ = self.fmu.completedIntegratorStep()
            t = steps.t
            self.place(t, steps.y)
            if asked or t == self.next:
                self.event()

    def free(self) -> None:
        self.fmu.terminate()
        self.fmu.freeInstance()


@contextmanager
def exchange(path: Path, values: dict[str, float] | None = None) -> Iterator[Exchange]:
    """An FMU's instance for Model Exchange, unpacked for the time of the block."""
    folder = fmpy.extract(str(path))
    one = Exchange(Path(folder), values)
    try:
        yield one
    finally:
        one.free()
        shutil.rmtree(folder)
