"""Exudyn's fastest step of a closed planar mechanism.

Rigid bodies with three coordinates each, revolute joints in the plane, the solvers for constraints of index 2 and 3
with modified Newton, dense matrices; the faster solver counts. Its start-up, in Python, is subtracted by timing a
second run of twice the length.
"""

import contextlib
import io
import sys
from importlib import metadata
from types import ModuleType
from typing import Any

import numpy as np
from common import processor_seconds
from engines import Unavailable
from loops import Mechanism, placed
from trees import GRAVITY, ROD_END, ROD_INERTIA, ROD_MASS

SOLVERS = ("GeneralizedAlpha", "TrapezoidalIndex2")


class ExudynSteps:
    """A mechanism at rest, without torques."""

    def __init__(self, mechanism: Mechanism, step: float) -> None:
        self._exudyn, self._items = _modules()
        self.version = metadata.version("exudyn")
        self._mechanism, self._step = mechanism, step

    def seconds(self, steps: int) -> float:
        """Of one step, by the faster solver."""
        return min(self._seconds(2 * steps, solver) - self._seconds(steps, solver) for solver in SOLVERS) / steps

    def turned(self, steps: int) -> float:
        """By how much the first body turns in so many steps [rad]."""
        run = self._prepared(steps, SOLVERS[0])
        run()
        coordinates = run.system.systemData.GetODE2Coordinates()
        return -float(coordinates[2])  # Exudyn's plane is seen from the other side

    def _seconds(self, steps: int, solver: str) -> float:
        return processor_seconds(self._prepared(steps, solver))

    def _prepared(self, steps: int, solver: str) -> "_Run":
        system = self._system()
        settings = self._exudyn.SimulationSettings()
        settings.solutionSettings.writeSolutionToFile = False
        integration = settings.timeIntegration
        integration.endTime, integration.numberOfSteps, integration.verboseMode = steps * self._step, steps, 0
        integration.newton.useModifiedNewton = True
        return _Run(system, settings, getattr(self._exudyn.DynamicSolverType, solver))

    def _system(self) -> Any:
        items = self._items
        self._container = self._exudyn.SystemContainer()
        system = self._container.AddSystem()
        tree, _ = self._mechanism
        ground = system.AddObject(items.ObjectGround())
        bodies = []
        for angle, upper in zip(*placed(self._mechanism), strict=True):
            centre = upper - 0.5 * np.array([np.sin(angle), np.cos(angle)])
            node = system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[*centre, -angle]))
            inertia = ROD_INERTIA[1]
            body = system.AddObject(items.ObjectRigidBody2D(mass=ROD_MASS, inertia=inertia, nodeNumber=node))
            marker = system.AddMarker(items.MarkerBodyMass(bodyNumber=body))
            system.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=[0, GRAVITY[2], 0]))
            bodies.append(body)

        def point(body: int, place: Any) -> int:  # Exudyn's bodies have their centre of mass at the origin
            at = [place[0], place[2] + 0.5, 0] if body >= 0 else [place[0], place[2], 0]
            number = bodies[body] if body >= 0 else ground
            return int(system.AddMarker(items.MarkerBodyPosition(bodyNumber=number, localPosition=at)))

        hung = zip(tree.parent, tree.hinge, strict=True)
        pins = [(k, (0, 0, 0), parent, hinge) for k, (parent, hinge) in enumerate(hung)]
        pins += [(k, ROD_END, other, pin) for (k, other), pin in zip(tree.closing, tree.pin, strict=True)]
        for first, place, second, other in pins:
            markers = [point(second, other), point(first, place)]
            system.AddObject(items.RevoluteJoint2D(markerNumbers=markers))
        system.Assemble()
        return system


class _Run:
    """One simulation, ready to start."""

    def __init__(self, system: Any, settings: Any, solver: Any) -> None:
        self.system, self._settings, self._solver = system, settings, solver

    def __call__(self) -> None:
        self.system.SolveDynamic(self._settings, solverType=self._solver)


def _modules() -> tuple[ModuleType, ModuleType]:
    sys.exudynFast = True  # type: ignore[attr-defined]  # its build without checks
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # it says which of its builds it is
            import exudyn
            import exudyn.itemInterface as items
    except ImportError as reason:
        raise Unavailable(f"not installed: pip install exudyn ({reason})") from None
    exudyn.SetWriteToConsole(False)
    return exudyn, items
