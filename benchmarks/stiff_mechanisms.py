"""The mechanisms of stiff.py, and its beam in Exudyn."""

import time
from typing import Any

import numpy as np

import fmumbs as fm

LENGTH, MASS, BENDING, DELAY = 1.0, 0.5, 50.0, 1e-4  # of the beam: m, kg, N.m2, damping over stiffness [s]
GRAVITY = 9.81


def link(n: int, length: float) -> fm.FlexibleLink:
    """A slender beam that bends in the vertical plane, of n spring-damper elements."""
    mass = MASS * length / LENGTH
    return fm.FlexibleLink("beam", length=length, EIy=BENDING, mass=mass, damping=DELAY, elements=n, plane="xz")


def beam(n: int) -> fm.Model:
    """A cantilever that is let go from the horizontal: all its frequencies are in the motion."""
    model, part = fm.Model("beam"), link(n, LENGTH)
    model.add(part, fm.Weld("wall", model.ground.at(), part.base))
    return model


def driven_beam(n: int, length: float = LENGTH) -> fm.Model:
    """The same without gravity on a hinge that turns by a radian in a second, slowly beside the frequencies."""
    model, part = fm.Model("driven_beam", gravity=(0, 0, 0)), link(n, length)
    turn = fm.Turn("y", role="excited", path=fm.Path.quintic([0.0, 1.0], [0.0, 1.0]))
    model.add(part, fm.Joint("hinge", model.ground.at(), part.base, modes=[turn]))
    return model


def exudyn_beam(n: int, stop: float = 1.0, steps: tuple[int, ...] = (2000, 4000, 8000)) -> list[tuple[Any, ...]]:
    """The beam that is let go, by the generalised-alpha method; errors beside a run of 4 times as many steps."""
    try:
        import exudyn
        from exudyn import itemInterface as items
    except ImportError:
        return []
    exact, _ = _exudyn_run(exudyn, items, n, stop, 4 * steps[-1])
    found = []
    for count in steps:
        angles, seconds = _exudyn_run(exudyn, items, n, stop, count)
        error = float(np.abs(angles - exact).max())
        found.append((f"beam of {n} let go, 1 s", f"Exudyn alpha {stop / count:g} s", count, np.nan, error, seconds))
    return found


def _exudyn_run(exudyn: Any, items: Any, n: int, stop: float, steps: int) -> tuple[np.ndarray, float]:
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    size, mass = LENGTH / n, MASS / n
    ground = system.AddNode(items.NodePointGround(referenceCoordinates=[0, 0, 0]))
    wall = system.AddObject(items.ObjectGround())
    before = system.AddMarker(items.MarkerBodyPosition(bodyNumber=wall, localPosition=[size / 2, 0, 0]))
    angle_before = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
    nodes = []
    for i in range(n):  # the first rigid element is in the wall; it and the last are half as long
        long, heavy = (size, mass) if i < n - 1 else (size / 2, mass / 2)
        node = system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[(i + 0.5) * size + long / 2, 0, 0]))
        body = system.AddObject(items.ObjectRigidBody2D(mass=heavy, inertia=heavy * long**2 / 12, nodeNumber=node))
        left, right = (
            system.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[x, 0, 0]))
            for x in (-long / 2, long / 2)
        )
        angle = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=2))
        centre = system.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        k = BENDING / size
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=[before, left]))
        system.AddObject(
            items.CoordinateSpringDamper(markerNumbers=[angle_before, angle], stiffness=k, damping=DELAY * k)
        )
        system.AddLoad(items.LoadMassProportional(markerNumber=centre, loadVector=[0, -GRAVITY, 0]))
        before, angle_before = right, angle
        nodes.append(node)
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.solutionSettings.writeSolutionToFile = False
    settings.timeIntegration.endTime, settings.timeIntegration.numberOfSteps = stop, steps
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.linearSolverType = exudyn.LinearSolverType.EigenSparse
    start = time.process_time()
    system.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.GeneralizedAlpha)
    seconds = time.process_time() - start
    angles = np.array([system.GetNodeOutput(node, exudyn.OutputVariableType.Coordinates)[2] for node in nodes])
    return np.diff(angles, prepend=0.0), seconds
