"""Contacts beside MuJoCo, Drake and Exudyn: evaluations, processor time and error of a ball, a block and 20 spheres.

    python benchmarks/contact.py

ball: 0.1 m, falls 0.5 m on an undamped floor of 1e6 N/m; the error is that of its height after it came up again. block:
on a slope of 0.3 rad with mu = 0.5 for 10 s; the error is how far it creeps after the first second. spheres: 20, of
0.05 m and 0.5 kg, fall on a plane within four walls, 2 s; how deep the deepest one is pressed into the floor at rest
[m]. MuJoCo and Drake take fixed steps of 1 ms (MuJoCo's Euler, Drake's discrete solver); their contact laws are their
own, with the same stiffness where they have one. Evaluations are steps there. Exudyn takes fixed steps of 1 ms by the
classical Runge-Kutta method, with four evaluations each, and the stiffness of two surfaces in series; its block stands
on small spheres at its corners.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import fmumbs as fm

G, STEP, STIFF, SLOPE, MU = 9.81, 1e-3, 1e6, 0.3, 0.5
MASS, RADIUS, DROP = 4.0, 0.1, 0.5
RISES = 2 * math.sqrt(2 * DROP / G)  # [s], and half a period of the contact, until the ball is up again
PLACES = [(-0.15 + 0.11 * (i % 4), -0.15 + 0.11 * (i // 4 % 4), 0.1 + 0.15 * (i // 16) + 0.01 * i) for i in range(20)]
WALLS = (("y", 0.5, -0.3, 0.0), ("y", -0.5, 0.3, 0.0), ("x", -0.5, 0.0, -0.3), ("x", 0.5, 0.0, 0.3))
Found = tuple[float, float, float]  # evaluations, seconds, error


def until(acceleration: float) -> float:
    """When the ball is up again, for a contact of this stiffness over its mass [1/s2]."""
    return RISES + math.pi / math.sqrt(acceleration)


# fmumbs -----------------------------------------------------------------------------------------------------------


def free(model: fm.Model, name: str, mass: float, inertia: float, place: Any) -> fm.Body:
    body = fm.Body(name, mass=mass, inertia=(inertia,) * 3)
    model.add(body, fm.Free(f"{name}_f", model.ground.at(*place), body.at()))
    return body


def run(model: fm.Model, stop: float, **options: Any) -> tuple[fm.Result, float]:
    start = time.process_time()
    result = model.simulate(stop=stop, **options)
    return result, time.process_time() - start


def ours_ball() -> Found:
    model = fm.Model("ball", gravity=(0, 0, -G))
    body = free(model, "b", MASS, 0.4 * MASS * RADIUS**2, (0, 0, RADIUS + DROP))
    model.add(fm.Contact("c", fm.Sphere(body.at(), RADIUS), fm.Plane(model.ground.at()), fm.Press(STIFF)))
    result, seconds = run(model, until(STIFF / MASS), interval=until(STIFF / MASS))
    return result["solver.evaluations"][-1], seconds, abs(result["b_f.r[3]"][-1])


def ours_block() -> Found:
    model = fm.Model("block", gravity=(G * math.sin(SLOPE), 0, -G * math.cos(SLOPE)))
    body = free(model, "b", MASS, 0.04 * MASS / 6, (0, 0, 0.1))
    press, hold = fm.Press(STIFF, damping=1.0), fm.Coulomb(MU, stiffness=STIFF)
    model.add(fm.Contact("c", fm.Box(body.at(), (0.2,) * 3), fm.Plane(model.ground.at()), press, hold))
    result, seconds = run(model, 10.0, interval=1.0)
    return result["solver.evaluations"][-1], seconds, abs(result["b_f.r[1]"][-1] - result["b_f.r[1]"][1])


def ours_spheres() -> Found:
    model = fm.Model("spheres", gravity=(0, 0, -G))
    press, rub = fm.Press(1e5, damping=1.0), fm.Coulomb(MU, stiffness=5e4)
    turns = [fm.Rotation.about(axis, by * math.pi) for axis, by, _, _ in WALLS]
    planes = [fm.Plane(model.ground.at(x, y, 0, rotation=R)) for R, (_, _, x, y) in zip(turns, WALLS, strict=True)]
    planes.append(fm.Plane(model.ground.at()))
    balls = [fm.Sphere(free(model, f"b{i}", 0.5, 5e-4, at).at(), 0.05) for i, at in enumerate(PLACES)]
    for i, ball in enumerate(balls):
        for k, plane in enumerate(planes):
            model.add(fm.Contact(f"w{i}_{k}", ball, plane, press, rub))
        for k in range(i):
            model.add(fm.Contact(f"c{k}_{i}", ball, balls[k], press, rub))
    result, seconds = run(model, 2.0, interval=0.1)
    deepest = 0.05 - min(PLACES[i][2] + result[f"b{i}_f.r[3]"][-1] for i in range(20))
    return result["solver.evaluations"][-1], seconds, deepest


# MuJoCo -----------------------------------------------------------------------------------------------------------

FREE = '<body pos="{x} {y} {z}"><freejoint/><geom type="{kind}" size="{size}" mass="{mass}"/></body>'


def mujoco_run(gravity: str, contact: str, bodies: str, stop: float, noted: float = 0.0) -> tuple[Any, Any, float, int]:
    import mujoco

    text = f"""<mujoco><option gravity="{gravity}" timestep="{STEP}"/>
        <default><geom friction="{MU}" {contact}/></default>
        <worldbody><geom type="plane" size="5 5 1"/>{bodies}</worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    before, start, steps = data.qpos.copy(), time.process_time(), round(stop / STEP)
    for k in range(steps):
        mujoco.mj_step(model, data)
        if k == round(noted / STEP):
            before = data.qpos.copy()
    return data.qpos, before, time.process_time() - start, steps


def mujoco_ball() -> Found:
    one = FREE.format(x=0, y=0, z=RADIUS + DROP, kind="sphere", size=RADIUS, mass=MASS)
    law = f'solref="{-STIFF / MASS} 0" solimp="0.99 0.99 0.001"'
    q, _, seconds, steps = mujoco_run(f"0 0 {-G}", law, one, until(0.99 * STIFF / MASS))
    return steps, seconds, abs(q[2] - RADIUS - DROP)


def mujoco_block() -> Found:
    one = FREE.format(x=0, y=0, z=0.1, kind="box", size="0.1 0.1 0.1", mass=MASS)
    gravity = f"{G * math.sin(SLOPE)} 0 {-G * math.cos(SLOPE)}"
    q, before, seconds, steps = mujoco_run(gravity, "", one, 10.0, 1.0)
    return steps, seconds, abs(q[0] - before[0])


def mujoco_spheres() -> Found:
    some = [FREE.format(x=x, y=y, z=z, kind="sphere", size=0.05, mass=0.5) for x, y, z in PLACES]
    sides = ("-0.3 0 0", "1 0 0"), ("0.3 0 0", "-1 0 0"), ("0 -0.3 0", "0 1 0"), ("0 0.3 0", "0 -1 0")
    some += [f'<geom type="plane" size="5 5 1" pos="{pos}" zaxis="{axis}"/>' for pos, axis in sides]
    q, _, seconds, steps = mujoco_run(f"0 0 {-G}", "", "".join(some), 2.0)
    return steps, seconds, 0.05 - min(q[2::7])


# Drake ------------------------------------------------------------------------------------------------------------


def drake_run(
    shapes: list[tuple[Any, float, Any]], gravity: Any, stiff: float, stop: float, damping: float, noted: float = 0.0,
    walls: bool = False,
) -> tuple[Any, Any, float]:  # fmt: skip
    """shapes: of each body its shape, mass and place. Positions at the end and at `noted`, and the time."""
    import pydrake.geometry as geometry
    from pydrake.math import RigidTransform, RotationMatrix
    from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction, DiscreteContactApproximation
    from pydrake.multibody.tree import SpatialInertia, UnitInertia
    from pydrake.systems.analysis import Simulator
    from pydrake.systems.framework import DiagramBuilder

    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, STEP)
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kLagged)
    plant.mutable_gravity_field().set_gravity_vector(gravity)
    law = geometry.ProximityProperties()
    geometry.AddContactMaterial(
        dissipation=damping, point_stiffness=2 * stiff, friction=CoulombFriction(MU, MU), properties=law
    )
    turns = [(0.0, 0.0, "x", 0.0), *((x, y, axis, by) for axis, by, x, y in (WALLS if walls else ()))]
    for i, (x, y, axis, by) in enumerate(turns):
        R = RotationMatrix.MakeXRotation(by * math.pi) if axis == "x" else RotationMatrix.MakeYRotation(by * math.pi)
        pose = RigidTransform(R, [x, y, 0.0])
        plant.RegisterCollisionGeometry(plant.world_body(), pose, geometry.HalfSpace(), f"wall{i}", law)
    bodies = []
    for i, (shape, mass, _) in enumerate(shapes):
        size = UnitInertia.SolidSphere(shape.radius()) if hasattr(shape, "radius") else UnitInertia.SolidCube(0.2)
        bodies.append(plant.AddRigidBody(f"b{i}", SpatialInertia(mass, [0, 0, 0], size)))
        plant.RegisterCollisionGeometry(bodies[-1], RigidTransform(), shape, f"g{i}", law)
    plant.Finalize()
    simulator = Simulator(builder.Build())
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    for body, (_, _, at) in zip(bodies, shapes, strict=True):
        plant.SetFreeBodyPose(context, body, RigidTransform(list(at)))
    simulator.Initialize()

    def places() -> Any:
        return np.array([plant.EvalBodyPoseInWorld(context, body).translation() for body in bodies])

    start = time.process_time()
    simulator.AdvanceTo(noted)
    before = places()
    simulator.AdvanceTo(stop)
    return places(), before, time.process_time() - start


def drake_ball() -> Found:
    import pydrake.geometry as geometry

    stop = until(STIFF / MASS)
    ball = [(geometry.Sphere(RADIUS), MASS, (0, 0, RADIUS + DROP))]
    at, _, seconds = drake_run(ball, [0, 0, -G], STIFF, stop, 0.0)
    return round(stop / STEP), seconds, abs(at[0, 2] - RADIUS - DROP)


def drake_block() -> Found:
    import pydrake.geometry as geometry

    gravity = [G * math.sin(SLOPE), 0, -G * math.cos(SLOPE)]
    at, before, seconds = drake_run([(geometry.Box(0.2, 0.2, 0.2), MASS, (0, 0, 0.1))], gravity, STIFF, 10.0, 1.0, 1.0)
    return 10.0 / STEP, seconds, abs(at[0, 0] - before[0, 0])


def drake_spheres() -> Found:
    import pydrake.geometry as geometry

    balls = [(geometry.Sphere(0.05), 0.5, at) for at in PLACES]
    at, _, seconds = drake_run(balls, [0, 0, -G], 1e5, 2.0, 1.0, walls=True)
    return 2.0 / STEP, seconds, 0.05 - at[:, 2].min()


# Exudyn -----------------------------------------------------------------------------------------------------------

QUADS = (
    ((-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)),
    ((-0.3, -1, -1), (-0.3, 1, -1), (-0.3, 1, 1), (-0.3, -1, 1)),
    ((0.3, 1, -1), (0.3, -1, -1), (0.3, -1, 1), (0.3, 1, 1)),
    ((1, -0.3, -1), (-1, -0.3, -1), (-1, -0.3, 1), (1, -0.3, 1)),
    ((-1, 0.3, -1), (1, 0.3, -1), (1, 0.3, 1), (-1, 0.3, 1)),
)
Spheres = list[tuple[Any, float]]


def exudyn_run(
    shapes: list[tuple[Any, Spheres, Any]], gravity: Any, stiff: float, stop: float, damping: float, noted: float = 0.0,
    walls: bool = False,
) -> tuple[Any, Any, float]:  # fmt: skip
    """shapes: of each body its inertia, its spheres by centre and radius, and its place. Positions at the end and at
    `noted`, and the time; stiff and damping [N.s/m] are those of both surfaces together.
    """
    import exudyn
    from exudyn import itemInterface as items

    system = exudyn.SystemContainer().AddSystem()
    ground = system.AddMarker(items.MarkerBodyRigid(bodyNumber=system.CreateGround(), localPosition=[0, 0, 0]))
    contact = system.AddGeneralContact()
    contact.SetFrictionPairings(MU * np.eye(1))
    contact.frictionProportionalZone = 1e-3  # [m/s]: below, friction is a damping
    contact.SetSearchTreeCellSize([4, 4, 4])
    law = {"contactStiffness": 2.0 * stiff, "contactDamping": 2.0 * damping, "frictionMaterialIndex": 0}
    for quad in QUADS if walls else QUADS[:1]:
        corners, halves = [list(corner) for corner in quad], [[0, 1, 2], [0, 2, 3]]
        contact.AddTrianglesRigidBodyBased(
            rigidBodyMarkerIndex=ground, pointList=corners, triangleList=halves, **law
        )
    bodies = []
    for inertia, spheres, place in shapes:
        made = {"referencePosition": list(place), "inertia": inertia, "gravity": gravity}
        bodies.append(system.CreateRigidBody(nodeType=exudyn.NodeType.RotationRotationVector, **made))
        for centre, radius in spheres:
            at = system.AddMarker(items.MarkerBodyRigid(bodyNumber=bodies[-1], localPosition=list(centre)))
            contact.AddSphereWithMarker(at, radius=radius, **law)
    system.Assemble()

    def places() -> Any:
        return np.array([system.GetObjectOutputBody(b, exudyn.OutputVariableType.Position, [0, 0, 0]) for b in bodies])

    def advance(start: float, end: float) -> float:
        settings = exudyn.SimulationSettings()
        settings.solution.file.write = False
        integration = settings.timeIntegration
        integration.startTime, integration.endTime, integration.verboseMode = start, end, 0
        integration.numberOfSteps = round((end - start) / STEP)
        before = time.process_time()
        system.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.RK44, updateInitialValues=True)
        return time.process_time() - before

    seconds = advance(0.0, noted) if noted > 0.0 else 0.0
    before = places()
    seconds += advance(noted, stop)
    return places(), before, seconds


def exudyn_ball() -> Found:
    from exudyn.rigidBodyUtilities import InertiaSphere

    stop = until(STIFF / MASS)
    ball = [(InertiaSphere(MASS, RADIUS), [((0, 0, 0), RADIUS)], (0, 0, RADIUS + DROP))]
    at, _, seconds = exudyn_run(ball, [0, 0, -G], STIFF, stop, 0.0)
    return 4 * round(stop / STEP), seconds, abs(at[0, 2] - RADIUS - DROP)


def exudyn_block() -> Found:
    from exudyn.rigidBodyUtilities import InertiaCuboid

    corners = [((x, y, -0.099), 1e-3) for x in (-0.099, 0.099) for y in (-0.099, 0.099)]
    block = [(InertiaCuboid(MASS / 0.2**3, [0.2] * 3), corners, (0, 0, 0.1))]
    gravity = [G * math.sin(SLOPE), 0, -G * math.cos(SLOPE)]
    at, before, seconds = exudyn_run(block, gravity, STIFF, 10.0, 100.0, 1.0)
    return 4 * 10.0 / STEP, seconds, abs(at[0, 0] - before[0, 0])


def exudyn_spheres() -> Found:
    from exudyn.rigidBodyUtilities import InertiaSphere

    balls = [(InertiaSphere(0.5, 0.05), [((0, 0, 0), 0.05)], at) for at in PLACES]
    at, _, seconds = exudyn_run(balls, [0, 0, -G], 1e5, 2.0, 50.0, walls=True)
    return 4 * 2.0 / STEP, seconds, 0.05 - at[:, 2].min()


ENGINES: dict[str, tuple[Callable[[], Found], ...]] = {
    "fmumbs": (ours_ball, ours_block, ours_spheres),
    "MuJoCo": (mujoco_ball, mujoco_block, mujoco_spheres),
    "Drake": (drake_ball, drake_block, drake_spheres),
    "Exudyn": (exudyn_ball, exudyn_block, exudyn_spheres),
}


if __name__ == "__main__":
    print("| engine | case | evaluations | time [s] | error [m] |\n| --- | --- | ---: | ---: | ---: |")
    for engine, cases in ENGINES.items():
        for case in cases:
            name = case.__name__.rpartition("_")[2]
            try:
                evaluations, seconds, error = min((case() for _ in range(3)), key=lambda found: found[1])
                print(f"| {engine} | {name} | {evaluations:.0f} | {seconds:.3g} | {error:.1e} |")
            except ImportError as missing:
                print(f"| {engine} | {name} | {missing} | | |")
