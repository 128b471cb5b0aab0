"""The core's J of closed mechanisms, against a complex step of what their joints forbid."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler.constraint_rows import ALONG, ALONG_M, DISTANCE, GIVEN, PERPENDICULAR, SCREW_ROW
from fmumbs.readers import read_model
from oracle import Frame, Oracle
from oracle.constraint_jacobians import (
    FlexibleBody,
    Node,
    Pin,
    RigidBody,
    SecondaryJoint,
    Slide,
    System,
    algorithm_1,
)
from oracle.joints import angle_of, constraint
from oracle.kinematics import STEP, point_in_body
from support.closed import SPACE, at, axis, body, closing_joint, orientation, plane, space
from support.sweeps import each_value, seeds

AGREEMENT = 1e-10
GROUND = Frame(np.zeros(3), np.eye(3))

Frames = dict[str, Frame]


def started(model: fm.Model) -> fm.Solver:
    solver = fm.Solver(model)
    solver.assemble()
    return solver


def cuts_of(solver: fm.Solver, model: fm.Model) -> list[fm.Joint]:
    return [joint for joint in model.joints if joint.name in solver.image.cut_joints]


def moved(solver: fm.Solver, model: fm.Model) -> list[Frames]:
    """All bodies after a small imaginary unit of each joint velocity in turn, in the image's order."""
    cuts = {joint.name for joint in cuts_of(solver, model)}
    tree = fm.Model("tree")
    tree.add(*model.bodies, *(joint for joint in model.joints if joint.name not in cuts))
    q: dict[str, Any] = {}
    for joint in tree.joints:
        name = joint.name
        if isinstance(joint, fm.Weld):
            continue
        q[name] = solver.get(f"{name}.q")
        if isinstance(joint, fm.Free):
            q[name] = np.concatenate([solver.get(f"{name}.r"), q[name]])
    kinematics, still = Oracle(tree), {j.name: np.zeros(len(j.start_velocities)) for j in tree.joints}
    frames = []
    for name in (name for name in solver.joint_names if name not in cuts):
        for unit in np.eye(len(still[name])):
            rates = {n: u if np.ndim(q.get(n, u)) else float(u[0]) for n, u in (still | {name: unit}).items()}
            frames.append(kinematics._reach(q, rates, 1j * STEP))
    return frames


def rows_of(solver: fm.Solver, frames: Frames) -> np.ndarray:
    """(rows,) c of the rows as the image says them; a link is where its body is."""
    arrays = solver.image.arrays
    text = bytes(arrays["text"])
    links = {-1: GROUND}
    for link, name, R, r in zip(*(arrays[f"body_{key}"] for key in ("link", "name", "R", "r")), strict=True):
        here = frames[text[int(name) :].split(b"\0")[0].decode()]
        links[int(link)] = here.before(r, np.reshape(R, (3, 3)))
    c = []
    for joint, kind, f, g, length in zip(
        *(arrays[f"row_{key}"] for key in ("joint", "kind", "f", "g", "length")), strict=True
    ):
        F, M = links[int(arrays["joint_F_link"][joint])], links[int(arrays["joint_M_link"][joint])]
        p = M.p + M.R @ arrays["joint_M_r"][joint] - F.p - F.R @ arrays["joint_F_r"][joint]
        axes = {end: at.R @ arrays[f"joint_{end}"][joint].reshape(3, 3) for end, at in (("F", F), ("M", M))}
        turned = angle_of(arrays["joint_F"][joint].reshape(3, 3).T @ f, Frame(p, axes["F"]), Frame(p, axes["M"]), 0.0)
        rows = {
            ALONG: (F.R @ f) @ p - length,
            PERPENDICULAR: (F.R @ f) @ (M.R @ g) - length,
            DISTANCE: np.sqrt(p @ p) - length,
            ALONG_M: (M.R @ g) @ p - length,
            SCREW_ROW: (F.R @ f) @ p - length * turned,
            GIVEN: 0.0,  # a row of assembly alone
        }
        c.append(rows[int(kind)])
    return np.array(c)


def check(model: fm.Model) -> None:
    solver = started(model)
    J, frames = solver.jacobian, moved(solver, model)
    expected = np.array([rows_of(solver, ahead).imag / STEP for ahead in frames]).T
    assert J.shape == expected.shape
    assert_allclose(J, expected, rtol=0, atol=AGREEMENT * max(1.0, np.abs(expected).max()))
    told = [geometry(cuts_of(solver, model), ahead).imag / STEP for ahead in frames]
    oracle = np.array(told).T
    rank = np.linalg.matrix_rank(oracle, tol=1e-8)
    assert rank == np.count_nonzero(solver.active_rows)
    free = np.linalg.svd(J[solver.active_rows])[2][rank:]
    assert_allclose(oracle @ free.T, 0, rtol=0, atol=1e-9 * max(1.0, np.abs(oracle).max()))


def geometry(cuts: list[fm.Joint], frames: Frames) -> np.ndarray:
    """The oracle's constraints of all cut joints."""
    found = []
    for joint in cuts:
        F, M = (frames.get(P.body.name, GROUND).then(*point_in_body(P)) for P in (joint.F, joint.M))
        found.append(constraint(joint, F, M, 1.0))
    return np.concatenate(found)


# Random mechanisms ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SPACE)
@pytest.mark.parametrize("seed", seeds(1, 4))
def test_a_loop_in_space_by_each_kind_of_cut_joint(kind: str, seed: int) -> None:
    check(space(900 + seed, kind).model)


@each_value
@pytest.mark.parametrize("loops", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_loops_in_space_that_share_bodies(seed: int, loops: int) -> None:
    check(space(920 + seed, loops=loops).model)


@each_value
@pytest.mark.parametrize("loops", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_loops_in_the_plane(seed: int, loops: int) -> None:
    check(plane(940 + seed, loops).model)


def joint_of_several_modes(rng: np.random.Generator, kind: str, F: fm.Point, M: fm.Point) -> fm.Joint:
    q, u = rng.uniform(-0.6, 0.6, 6), rng.uniform(-1, 1, 6)
    match kind:
        case "cylindrical":
            return fm.Cylindrical("s", F, M, axis=axis(rng), q0=q[:2], u0=u[:2])
        case "universal":
            return fm.Universal("s", F, M, axes="xy", q0=q[:2], u0=u[:2])
        case "planar":
            return fm.Planar("s", F, M, normal=axis(rng), q0=q[:3], u0=u[:3])
        case "screw":
            return fm.Screw("s", F, M, axis=axis(rng), pitch=0.2, q0=q[0], u0=u[0])
    return fm.Free("s", F, M, q0=(*q[:3], 1, *q[3:]), u0=u)


@pytest.mark.parametrize("kind", ["cylindrical", "universal", "planar", "screw", "free"])
@pytest.mark.parametrize("closing", ["revolute", "spherical", "distance", "rod", "line", "plane"])
def test_joints_of_several_modes_on_the_path(kind: str, closing: str) -> None:
    rng = np.random.default_rng(960)
    model = fm.Model("several")
    bodies = [body(rng, f"b{i}") for i in range(4)]
    carriers = [model.ground, bodies[0], bodies[1], bodies[0]]
    ends = [
        (at(F, rng.uniform(-0.5, 0.5, 3), orientation(rng)), at(M, rng.uniform(-0.5, 0.5, 3), orientation(rng)))
        for F, M in zip(carriers, bodies, strict=True)
    ]
    joints = [
        fm.Spherical("j0", *ends[0], u0=(0.1, 0.2, 0.3)),
        joint_of_several_modes(rng, kind, *ends[1]),
        fm.Spherical("j2", *ends[2], u0=(0.3, -0.2, 0.1)),
        fm.Revolute("j3", *ends[3], axis=axis(rng), q0=0.3, u0=1.0),
    ]
    tree = fm.Model("tree")
    tree.add(*bodies, *joints)
    frames = Oracle(tree).state().frame
    F, M = bodies[3].at(0.1, 0.2, 0.3), bodies[2].at(-0.2, 0.1, 0.2)
    p = frames["b3"].then(*point_in_body(F)).R.T @ (
        frames["b2"].then(*point_in_body(M)).p - frames["b3"].then(*point_in_body(F)).p
    )
    across = np.cross(p, (0, 0, 1.0))
    joint = {
        "distance": lambda: fm.Distance("c", F, M, length=np.linalg.norm(p)),
        "rod": lambda: fm.RevoluteSpherical("c", F, M, length=np.linalg.norm(p), axis=across),
        "line": lambda: fm.PointOnLine("c", F, M, axis=p),
        "plane": lambda: fm.PointOnPlane("c", F, M, normal=across),
    }.get(closing, lambda: closing_joint(rng, closing, "c", [bodies[3], bodies[2]], dict(frames)))()
    model.add(*bodies, *joints, joint)
    solver = started(model)
    J = solver.jacobian
    expected = np.array([rows_of(solver, ahead).imag / STEP for ahead in moved(solver, model)]).T
    assert_allclose(J, expected, rtol=0, atol=AGREEMENT * max(1.0, np.abs(expected).max()))


# The paper's way --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_the_papers_algorithm_gives_the_same_in_the_plane(seed: int) -> None:
    """Two arms of pins and a slide on the ground, tip to tip by a pin: the rows of the core lie along F's axes."""
    rng = np.random.default_rng(seed)
    model = fm.Model("arms", gravity=(0, 0, 0))
    system: dict[str, list[Any]] = {"elements": [], "inboard": []}
    tips, places = [], []
    for arm, count in (("a", 2), ("b", 2)):
        on, p, end = model.ground, np.zeros(2), (-1, 0)
        for i in range(count):
            new, reach = fm.Body(f"{arm}{i}", mass=1.0, inertia=(1, 1, 1)), rng.uniform(0.5, 1, 2)
            slides = (arm, i) == ("b", 1)
            system["elements"] += [RigidBody(((p, 0.0),)), Slide(np.array([1.0, 0.0])) if slides else Pin()]
            system["inboard"] += [end, (len(system["elements"]) - 2, 0)]
            make, along = (fm.Prismatic, "x") if slides else (fm.Revolute, "z")
            model.add(new, make(f"{arm}{i}j", on.at(*p, 0), new.at(), axis=along, q0=float(rng.uniform(-0.5, 0.5))))
            on, p, end = new, reach, (len(system["elements"]) - 1, 0)
        tips.append(on.at(*p, 0))
        places.append((end, p, 0.0))
    model.add(fm.Revolute("c", *tips, axis="z"))
    solver = started(model)
    names = [name for name in solver.joint_names if name != "c"]
    paper = System(**system, secondary=[SecondaryJoint(places[0], places[1])])
    order = [f"{arm}{i}j" for arm, count in (("a", 2), ("b", 2)) for i in range(count)]
    q = np.array([solver.get(f"{name}.q") for name in order])
    A_OF = paper.points(paper.secondary[0], paper.ends(q))[1]
    expected = A_OF.T @ algorithm_1(paper, q)[:, [order.index(name) for name in names]]
    rows = np.abs(solver.image.arrays["row_f"][:3, 2]) < 1e-15
    basis = solver.image.arrays["row_f"][:3][rows][:, :2]
    assert_allclose(solver.jacobian[:3][rows], basis @ expected, rtol=0, atol=AGREEMENT)


def papers_system(model: fm.Model, solver: fm.Solver) -> tuple[System, np.ndarray]:
    """A mechanism in the plane x-y whose secondary joints are pins, with coordinates in the image's order."""
    cuts = {joint.name for joint in cuts_of(solver, model)}
    elements: list[Any] = []
    inboard: list[tuple[int, int]] = []
    frames = {model.ground.name: (-1, 0)}  # where each rigid body's frame is a tip
    roots: dict[str, tuple[int, list[Any]]] = {}  # of each flexible body: its element, and the nodes of its tips

    def add(element: Any, at: tuple[int, int]) -> tuple[int, int]:
        elements.append(element)
        inboard.append(at)
        return len(elements) - 1, 0

    def node(point: fm.Point) -> Node:
        u, rows = point.body.node(point)
        return Node(np.array(u[:2]), np.array(rows)[:, :2].T, np.array(rows)[:, 5])

    def reach(point: fm.Point) -> tuple[int, int]:
        if point.body.name in roots:
            element, tips = roots[point.body.name]
            tips.append(node(point))
            return element, len(tips) - 1
        return add(RigidBody(((np.array(point.X_BP.offset[:2]), 0.0),)), frames[point.body.name])

    q: list[float] = []
    for name in (name for name in solver.joint_names if name not in cuts):
        joint, body = model[name], model[name].M.body
        slide = isinstance(joint, fm.Prismatic)
        at = add(Slide(np.array(joint.axis[:2])) if slide else Pin(), reach(joint.F))
        q.append(solver.get(f"{name}.q"))
        if isinstance(body, fm.ModalBody):
            roots[body.name] = add(node(joint.M), at)[0], []
            q.extend(solver.get(f"{body.name}.q"))
        else:
            frames[body.name] = add(RigidBody(((-np.array(joint.M.X_BP.offset[:2]), 0.0),)), at)
    ends = [(reach(joint.F), reach(joint.M)) for joint in cuts_of(solver, model)]
    for element, tips in roots.values():
        elements[element] = FlexibleBody(elements[element], tuple(tips))
    here = np.zeros(2)
    return System(elements, inboard, [SecondaryJoint((F, here, 0.0), (M, here, 0.0)) for F, M in ends]), np.array(q)


@pytest.mark.parametrize("name", ["four_link_flexible", "multi_loop_flexible", "sliders"])
def test_the_papers_algorithm_gives_the_same_of_its_flexible_examples(name: str) -> None:
    """Rows in other axes: J'J of each joint says the same. Modes bend visibly after a second."""
    model = read_model(name)
    solver = started(model)
    for time in (0.0, 0.3, 1.0):
        solver.step(time)
        paper, q = papers_system(model, solver)
        assert_allclose(paper.constraints(q), 0, atol=1e-11)
        expected = algorithm_1(paper, q)
        for k, joint in enumerate(cuts_of(solver, model)):
            rows = solver.image.arrays["row_joint"] == solver.joint_names.index(joint.name)
            J, own = solver.jacobian[rows], expected[2 * k : 2 * k + 2]
            assert_allclose(J.T @ J, own.T @ own, rtol=0, atol=AGREEMENT * max(1.0, np.abs(own).max() ** 2))
