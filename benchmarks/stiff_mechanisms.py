"""The mechanisms of stiff.py, and its beam in Exudyn."""

import time
from typing import Any

import numpy as np

import fmumbs as fm

LENGTH, MASS, BENDING, DELAY = 1.0, 0.5, 50.0, 1e-4  # of the beam: m, kg, N.m2, damping over stiffness [s]
GRAVITY = 9.81


def governor(stiffness: float = 8e5, damping: float = 4e4) -> fm.Model:
    """Benchmark A05 of IFToMM's technical committee: a slider is held by springs to the arms of two balls."""
    model = fm.Model("governor")
    axle = fm.Body.box("axle", size=(0.01, 0.01, 1.0), density=3000.0, along="-z")
    sleeve = fm.Body.box("slider", size=(0.1, 0.1, 0.1), mass=3.0, along="z")
    model.add(axle, fm.Revolute("A", model.ground.at(), axle.base, axis="z", u0=2 * np.pi))
    model.add(sleeve, fm.Prismatic("S", axle.base, sleeve.base, axis="z", q0=-np.cos(np.pi / 6)))
    for side, sign in (("left", -1.0), ("right", 1.0)):
        arm = fm.Body.box(f"arm_{side}", size=(0.01, 0.01, 1.0), density=3000.0, along="-z")
        ball = fm.Body.sphere(f"ball_{side}", radius=0.1, mass=5.0)
        model.add(arm, fm.Revolute(f"H_{side}", axle.base, arm.base, axis="y", q0=-sign * np.pi / 6))
        model.add(ball, fm.Weld(f"W_{side}", arm.tip, ball.at()))
        link = {"stiffness": stiffness, "damping": damping, "free_length": 0.5}
        model.add(fm.Spring(f"link_{side}", arm.at(0, 0, -0.5), sleeve.base, **link))
    return model


def add_beam(model: fm.Model, base: Any, n: int, length: float = LENGTH) -> None:
    """Rods in a row with springs between them, half an element's at the clamped end."""
    size, mass = length / n, MASS * length / LENGTH / n
    for i in range(n):
        rod = fm.Body(f"b{i}", mass=mass, com=(size / 2, 0, 0), inertia=(mass * size**2 / 12,) * 3)
        k = BENDING / size * (2 if i == 0 else 1)
        model.add(rod, fm.Revolute(f"J{i}", base, rod.at(), axis="y", stiffness=k, damping=DELAY * k))
        base = rod.at(size, 0, 0)


def beam(n: int) -> fm.Model:
    """A cantilever that is let go from the horizontal: all its frequencies are in the motion."""
    model = fm.Model("beam")
    add_beam(model, model.ground.at(), n)
    return model


def driven_beam(n: int, length: float = LENGTH) -> fm.Model:
    """The same without gravity on a hub that turns by a radian in a second, slowly beside the frequencies."""
    model = fm.Model("driven_beam", gravity=(0, 0, 0))
    hub = fm.Body("hub", mass=1.0, inertia=(0.1,) * 3)
    turn = fm.Turn("y", role="excited", path=fm.Path.quintic([0.0, 1.0], [0.0, 1.0]))
    model.add(hub, fm.Joint("base", model.ground.at(), hub.at(), modes=[turn]))
    add_beam(model, hub.at(), n, length)
    return model


def crane(elements: int = 6) -> fm.Model:
    """A boom that bends in two planes on a turntable on soft ground, with a load on a rope that a hoist shortens."""
    model = fm.Model("crane")
    frame = fm.Body("frame", mass=8000.0, com=(0, 0, 0.6), inertia=(8e3, 8e3, 14e3))
    table = fm.Body("table", mass=3000.0, com=(-0.8, 0, 0.4), inertia=(2e3, 4e3, 4e3))
    load = fm.Body("load", mass=1000.0, com=(0, 0, -1.0), inertia=(107.0,) * 3)
    feet = fm.Joint("feet", model.ground.at(), frame.at(), modes=[fm.Slide("z"), fm.Turn("x"), fm.Turn("y")],
                    stiffness=(2e7, 8e7, 8e7), damping=(2e5, 8e5, 8e5))  # fmt: skip
    slew = fm.Turn("z", role="excited", path=fm.Path.quintic([0.0, 2.5], [0.0, 0.6]))
    hoist = fm.Slide("z", role="excited", path=fm.Path.quintic([0.0, 2.5], [-6.0, -4.5]))
    model.add(frame, feet, table, fm.Joint("slewing", frame.at(0, 0, 1.5), table.at(), modes=[slew]))
    size, bending = 12.0 / elements, 210e9 * np.pi * 0.2**3 * 0.006
    base = table.at(0.5, 0, 0.5, rotation=fm.Rotation.about("y", -0.7))
    for i in range(elements):
        mass = 7850.0 * 2 * np.pi * 0.2 * 0.006 * size
        rod = fm.Body(
            f"b{i}", mass=mass, com=(size / 2, 0, 0), inertia=(mass * 0.04, mass * size**2 / 12, mass * size**2 / 12)
        )
        k = bending / size * (2 if i == 0 else 1)
        joint = fm.Joint(
            f"J{i}", base, rod.at(), modes=[fm.Turn("y"), fm.Turn("z")], stiffness=(k, k), damping=(5e-3 * k, 5e-3 * k)
        )
        model.add(rod, joint)
        base = rod.at(size, 0, 0)
    rope = fm.Joint("rope", rod.at(size, 0, 0, rotation=fm.Rotation.about("y", 0.7)), load.at(),
                    modes=[fm.Turn("x"), fm.Turn("y"), hoist], damping=(50.0, 50.0))  # fmt: skip
    model.add(load, rope)
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
    before = system.AddMarker(items.MarkerBodyPosition(bodyNumber=system.AddObject(items.ObjectGround())))
    angle_before = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
    nodes = []
    for i in range(n):
        node = system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[(i + 0.5) * size, 0, 0]))
        body = system.AddObject(items.ObjectRigidBody2D(mass=mass, inertia=mass * size**2 / 12, nodeNumber=node))
        left, right = (
            system.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[x, 0, 0]))
            for x in (-size / 2, size / 2)
        )
        angle = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=2))
        centre = system.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        k = BENDING / size * (2 if i == 0 else 1)
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
