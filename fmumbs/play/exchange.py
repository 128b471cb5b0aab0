"""An FMU for Model Exchange with an integrator, so that it is stepped as one for Co-Simulation is.

The integrator is CVODE, which FMPy carries. Inputs follow the polynomials that are set for a step; where they jump, the
FMU's events are updated and the integrator begins afresh.
"""

from collections.abc import Sequence
from math import factorial
from typing import Any

import numpy as np
from fmpy.sundials import CVodeSolver

MOST_STEPS = 1_000_000  # of the integrator in one communication step
OF_TOLERANCE, LEAST_TOLERANCE = 1e-2, 1e-12  # of the integrator, relative to the tolerance of the run; its least
REACHED = 1e-9  # of a time: an event this near has come
JUMP = 1e-9  # relative change of an input that is no round-off of its polynomial


class _Inputs:
    """Polynomials of inputs about the start of a step; CVodeSolver calls apply()."""

    def __init__(self, slave: "ExchangeSlave") -> None:
        self.slave = slave
        self.start = 0.0
        self.values: dict[int, float] = {}
        self.orders: dict[int, dict[int, float]] = {}

    def at(self, t: float, reference: int) -> float:
        terms = self.orders.get(reference, {}).items()
        return self.values[reference] + sum(d * (t - self.start) ** n / factorial(n) for n, d in terms)

    def apply(self, t: float, **_: Any) -> None:
        if self.orders:
            references = list(self.orders)
            self.slave.model.setReal(references, [self.at(t, reference) for reference in references])


class _Solver(CVodeSolver):  # type: ignore[misc]  # FMPy has no types
    """CVODE; a call that the FMU refuses makes its step shorter, not wrong."""

    def f(self, t: float, y: Any, ydot: Any, data: Any) -> int:
        try:
            self.input.apply(t)
            return int(super().f(t, y, ydot, data))
        except Exception:  # FMPy's, for every status above fmi2Warning
            return 1

    def g(self, t: float, y: Any, gout: Any, data: Any) -> int:
        try:
            return int(super().g(t, y, gout, data))
        except Exception:
            return 1


class ExchangeSlave:
    """FMPy's FMU2Slave over an FMU for Model Exchange, as far as an Instance calls it.

    model: FMPy's FMU2Model, or what is called as it is. states, indicators: their numbers. tolerance: relative, of the
    integration.
    """

    def __init__(self, model: Any, states: int, indicators: int, tolerance: float) -> None:
        self.model = model
        self.states, self.indicators, self.tolerance = states, indicators, tolerance
        self.inputs = _Inputs(self)
        self._begin_again()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def _begin_again(self) -> None:
        self._solver: _Solver | None = None
        self._next = np.inf
        self._jumped = False
        self.inputs.values.clear()
        self.inputs.orders.clear()

    def setupExperiment(self, tolerance: float | None = None, **kwargs: Any) -> None:
        self.tolerance = tolerance or self.tolerance
        self.model.setupExperiment(tolerance=tolerance, **kwargs)

    def exitInitializationMode(self) -> None:
        self.model.exitInitializationMode()
        self._update()

    def reset(self) -> None:
        self.model.reset()
        self._begin_again()

    def getFMUstate(self) -> Any:
        """Begins afresh from here, as the integrator does that takes it over."""
        self._jumped = True
        return self.model.getFMUstate()

    def setFMUstate(self, state: Any) -> None:
        self.model.setFMUstate(state)
        self._jumped = True

    def setReal(self, references: Sequence[int], values: Sequence[float]) -> None:
        self.model.setReal(references, values)
        for reference, value in zip(references, values, strict=True):
            before = self.inputs.values.get(reference)
            self._jumped |= before is None or abs(value - before) > JUMP * max(abs(value), abs(before))
            self.inputs.values[reference] = value

    def setRealInputDerivatives(
        self, references: Sequence[int], orders: Sequence[int], values: Sequence[float]
    ) -> None:
        for reference, order, value in zip(references, orders, values, strict=True):
            self.inputs.orders.setdefault(reference, {})[order] = value

    def _update(self) -> None:
        """Updates events, and goes to continuous-time mode."""
        needed = True
        while needed:
            needed, stops, _, _, defined, following = self.newDiscreteStates()
            if stops:
                raise RuntimeError("the FMU asks for the end of the simulation")
        self._next = following if defined else np.inf
        self.enterContinuousTimeMode()

    def event(self, t: float) -> None:
        """Updates the events at time t [s], which corrects the loops, and begins afresh."""
        self.enterEventMode()
        self._update()
        if self._solver is not None:
            self._solver.reset(t)

    def _integrator(self, t: float) -> _Solver:
        """BDF: over a run its errors become some hundred times those of a step, which count in a tolerance."""
        return _Solver(
            nx=self.states,
            nz=self.indicators,
            get_x=self.getContinuousStates,
            set_x=self.setContinuousStates,
            get_dx=self.getDerivatives,
            get_z=self.getEventIndicators,
            get_nominals=self.getNominalsOfContinuousStates,
            set_time=self.setTime,
            startTime=t,
            maxStep=0.0,
            relativeTolerance=max(self.tolerance * OF_TOLERANCE, LEAST_TOLERANCE),
            input=self.inputs,
            maxNumSteps=MOST_STEPS,
        )

    def doStep(self, t: float, step: float) -> None:
        """Integrates from time t [s] by a step."""
        end, self.inputs.start = t + step, t
        if self._jumped or self._solver is None:
            self.event(t)
            self._jumped = False
        self._solver = self._solver or self._integrator(t)
        while t < end:
            goal = min(end, self._next)
            crossed = False
            if goal - t > 1e-13 * max(abs(goal), step):
                crossed, _, t = self._solver.step(t, goal)
            else:
                t = goal
            self.setTime(t)
            self.inputs.apply(t)
            event, stops = self.completedIntegratorStep()
            if stops:
                raise RuntimeError("the FMU asks for the end of the simulation")
            if crossed or event or self._next - t <= REACHED * abs(t):
                self.event(t)
        for reference in self.inputs.orders:
            self.inputs.values[reference] = self.inputs.at(end, reference)
        self.inputs.orders.clear()
