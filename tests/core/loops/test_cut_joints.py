"""Joints that close loops: which joint is cut, its coordinates and its springs."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.mechanism import GROUND
from fmumbs.readers import read_model
from oracle.joints import matrix_of_quaternion
from support.closed import ONLY_CLOSING, two_pendulums
from support.closed_agreement import CLOSED, started


def test_a_pin_in_a_plane_loop_may_be_a_ball() -> None:
    """The forces within the plane do not change with it."""
    found = []
    for joint in (lambda *a: fm.Revolute(*a, axis="y"), fm.Spherical):
        model = read_model("four_bar")
        changed = fm.Model("four_bar")
        C = model["C"]
        changed.add(*(e for e in (*model.bodies, *model.joints) if e is not C), joint("C", C.F, C.M))
        solver = started(changed)
        found.append(np.concatenate([solver.get("C.reaction.f"), solver.get("coupler.a"), solver.get("A.reaction.f")]))
    assert_allclose(*found, rtol=0, atol=1e-11 * np.abs(found[0]).max())


UNCUT: dict[str, dict[str, Any]] = {
    "excited": {"modes": [fm.Turn("z"), fm.Turn("x", role="excited", input="kappa_dot")]},
    "rolling": {
        "modes": [fm.Slide("x"), fm.Slide("y"), fm.Turn("z")],
        "velocity_rows": [(0, 0, 0, 0, 1, 0)],
        "speed_rows": [(0, 0, 0, 1, 0, 0), (0, 0, 1, 0, 0, 0)],
    },
    "slides on both sides": {"modes": [fm.Slide("x"), fm.Turn("z"), fm.Slide("y"), fm.Turn("x")]},
    "geared": {"modes": [fm.Turn("z"), fm.Turn("x")], "rotor_inertia": 0.1},
    "held": {"modes": [fm.Turn("z"), fm.Turn("x")], "held": True},
}


@pytest.mark.parametrize("kind", UNCUT)
@pytest.mark.parametrize("first", ["B", "C"])
def test_a_joint_that_cannot_be_cut_is_in_the_tree(first: str, kind: str) -> None:
    """Also where the other way to its body is shorter, and whichever joint is added first."""
    model = fm.Model("uncut")
    a, b = (fm.Body(name, mass=1.0, inertia=(0.1, 0.1, 0.1)) for name in "ab")
    joints = {
        "B": fm.Spherical("B", model.ground.at(1, 0, 0), b.at(0.3, 0, 0)),
        "C": fm.Joint("C", a.at(0, 1, 0), b.at(), **UNCUT[kind]),
    }
    model.add(a, b, fm.Spherical("A", model.ground.at(), a.at()), joints.pop(first), *joints.values())
    assert compile(model).cut_joints == ("B",)


def test_which_joint_is_cut_does_not_matter() -> None:
    """All forces in the plane are unique, and so are the accelerations."""
    near = read_model("four_bar")
    first = started(near)
    q, u = ({name: first.get(f"{name}.{v}") for name in "ABD"} for v in ("q", "qd"))
    q["C"], u["C"] = q["D"] - q["A"] - q["B"], u["D"] - u["A"] - u["B"]
    found = []
    for cut in "CD":
        model = fm.Model("four_bar")
        joints = [replace(j, q0=q[j.name], u0=u[j.name], cut=j.name == cut) for j in near.joints]
        model.add(*near.bodies, *(replace(j, stiffness=0.3, damping=0.1, rest=0.2) for j in joints))
        solver = started(model, {"C.tau": 0.3, "D.tau": -0.2})
        assert solver.image.cut_joints == (cut,)
        moved = [solver.get(f"{body.name}.{v}") for body in model.bodies for v in ("r", "a", "alpha")]
        moved += [[solver.get(f"{j.name}.{v}") for j in model.joints] for v in ("q", "qd", "qdd")]
        forces = [solver.get(f"{j.name}.{v}") for j in model.joints for v in ("reaction.f", "wrench.f", "wrench.t")]
        found.append(np.concatenate([*moved, *forces, [solver.get("solver.energy")]]))
    assert_allclose(*found, rtol=0, atol=1e-11 * np.abs(found[0]).max())


@pytest.mark.parametrize("kind", ONLY_CLOSING)
def test_joints_that_only_close_loops(kind: str) -> None:
    solver = fm.Solver(compile(two_pendulums(kind), everything=True).with_options(tolerance=1e-10))
    solver.assemble()
    energy = solver.get("solver.energy")
    for time in np.arange(0.1, 1.05, 0.1):
        solver.step(time)
        R = [matrix_of_quaternion(solver.get(f"{name}.quat")) for name in "ab"]
        p = R[0].T @ ((0, 0.8, 0) + R[1] @ (0.8, 0, 0) - R[0] @ (0.9, 0, 0))
        away = {
            "distance": [np.linalg.norm(p) - 1.0],
            "hinged rod": [p[2], np.linalg.norm(p) - 0.8],
            "line": [p[0], p[2]],
            "plane": [p @ (0, 0.5, 1) / np.sqrt(1.25) - 0.1],
        }[kind]
        assert_allclose(away, 0.0, atol=CLOSED)
    assert_allclose(solver.get("solver.energy"), energy, rtol=0, atol=1e-7)
    force = solver.get("C.reaction.f")
    assert_allclose(solver.get("C.reaction.t"), 0.0, atol=1e-12)
    if kind == "distance":
        assert_allclose(np.cross(force, p), 0.0, atol=1e-10 * np.linalg.norm(force))


# Coordinates of cut joints ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853"])
def test_the_angle_of_a_cut_joint_is_unwrapped(scheme: str) -> None:
    """All cranks of a drag-link turn round, several times within one communication step."""
    model = read_model("four_bar", {"crank": 0.25, "coupler": 0.24, "rocker": 0.22, "base": 0.08})
    near = fm.Model("drag_link", gravity=(0, 0, 0))
    joints = [replace(j, u0=9.0 if j.name == "A" else 0.0, cut=j.name == "D") for j in model.joints]
    near.add(*model.bodies, *joints)
    image = compile(near).with_options(scheme=scheme, step=0.01)
    assert image.cut_joints == ("D",)
    solver, other = fm.Solver(image), fm.Solver(image)
    solver.assemble()
    start = solver.get("D.q") - (solver.get("A.q") + solver.get("B.q") + solver.get("C.q"))
    assert_allclose(start, 2 * np.pi * np.round(start / 2 / np.pi), atol=1e-12)
    for time in (3.0, 6.0, 7.5):
        solver.step(time)
        for v, shift in (("q", start), ("qd", 0.0), ("qdd", 0.0)):
            value = solver.get(f"A.{v}") + solver.get(f"B.{v}") + solver.get(f"C.{v}")
            assert_allclose(solver.get(f"D.{v}") - shift, value, rtol=0, atol=1e-9 * max(1.0, abs(value)))
    assert abs(solver.get("D.q")) > 6 * np.pi
    other.state_load(solver.state_save())
    assert other.get("D.q") == solver.get("D.q")
    for one in (solver, other):
        one.step(9.0)
    assert other.state_save() == solver.state_save()


def test_the_quaternion_of_a_cut_ball_never_flips() -> None:
    """A loop of two balls and a hinge whose rod tumbles."""
    model = fm.Model("tumbling", gravity=(0, 0, 0))
    a, b = (fm.Body.rod(name, length=1.0, mass=1.0, radius=0.05) for name in "ab")
    A = fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=-0.88)
    towards = fm.Rotation.about("y", 0.88).matrix @ (0.5625, 0.3, -0.77)  # from a's tip to C, in a's axes
    B = fm.Spherical("B", a.tip, b.base, q0=(1 + towards[0], 0, -towards[2], towards[1]), u0=(9.0, 0.3, 0.2))
    model.add(a, b, A, B, fm.Spherical("C", b.tip, model.ground.at(1.2, 0.3, 0)))
    solver = started(model)
    before, turned = solver.get("C.q"), 0.0
    for time in np.arange(0.02, 3.0, 0.02):
        solver.step(time)
        q, w = solver.get("C.q"), solver.get("C.w")
        assert q @ before > 0.8
        assert_allclose(np.linalg.norm(q), 1.0, atol=1e-13)
        R = matrix_of_quaternion(solver.get("b.quat"))
        assert_allclose(matrix_of_quaternion(q), R.T, atol=1e-12)
        assert_allclose(w, -solver.get("b.w"), atol=1e-10)
        turned += 0.02 * np.linalg.norm(w)
        before = q
    assert turned > 4 * np.pi


@pytest.mark.parametrize("cut", "ABCD")
def test_cut_joints_may_be_chosen(cut: str) -> None:
    near = read_model("four_bar")
    model = fm.Model("named")
    model.add(*near.bodies, *(replace(j, cut=j.name == cut) for j in near.joints))
    assert compile(model).cut_joints == (cut,)
    assert started(model).mobility == 1


def test_a_cut_that_leaves_a_body_alone_is_refused() -> None:
    near = read_model("double_pendulum")
    model = fm.Model("alone")
    model.add(*near.bodies, *(replace(j, cut=True) for j in near.joints))
    with pytest.raises(fm.ModelError, match=f"'{near.joints[0].name}' is cut, but without it no joint carries '"):
        compile(model)


def cut_by(joint: fm.Joint) -> fm.Model:
    """The four-bar with another joint in place of D, the cut one."""
    near = read_model("four_bar")
    model = fm.Model("cut")
    model.add(*near.bodies, *(j for j in near.joints if j.name != "D"), joint)
    return model


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"held": True}, "is held"),
        ({"rotor_inertia": 0.1}, "rotor_inertia"),
        ({"modes": (fm.Turn("y", role="excited", input="kappa_dot"),)}, "excited"),
    ],
)
def test_joints_that_cannot_be_cut_are_refused(options: Any, says: str) -> None:
    near = read_model("four_bar")
    F, M = near["D"].F, near["D"].M
    make = fm.Joint if "modes" in options else fm.Revolute
    joint = make("D", F, M, cut=True, **options)
    with pytest.raises(fm.ModelError, match=f"'D' closes a loop, but .*{says}.*cut=True"):
        compile(cut_by(joint))
    assert compile(cut_by(replace(joint, cut=False))).cut_joints == ("C",)  # the compiler cuts another one


def rope_over(cut: fm.Revolute) -> fm.Rope:
    way = [GROUND.at(0, 0, -3), fm.Pulley(cut, 0.05), GROUND.at(2, 0, -3)]
    return fm.Rope("E", way, stiffness=1.0, length=1.0)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda D, _: fm.Law.polynomial("E", D, [0.0, 1.0]), "Law 'E' acts on"),
        (lambda D, A: fm.Coupling("E", [(A, 1.0), (D, 2.0)]), "Coupling 'E' couples"),
        (lambda D, A: fm.Gear("E", A, D, ratio=2.0, stiffness=1.0), "Gear 'E' meshes with"),
        (lambda D, A: fm.Gear("E", D, A, ratio=2.0, stiffness=1.0), "Gear 'E' meshes with"),
        (lambda D, _: fm.Motor("E", D, resistance=1.0, constant=1.0), "Motor 'E' drives"),
        (lambda D, _: rope_over(D), "Rope 'E' runs over a pulley on"),
    ],
)
def test_what_needs_a_joint_of_the_tree_refuses_a_cut_one(make: Any, says: str) -> None:
    model = read_model("four_bar")
    D = replace(model["D"], cut=True)
    model = cut_by(D)
    model.add(make(D, model["A"]))
    with pytest.raises(fm.ModelError, match=f"{says} joint 'D', which closes a loop. Give another .* cut=True"):
        compile(model)


def test_the_spring_of_a_cut_joint_is_tunable() -> None:
    """Set later it does what it would have done from the beginning."""
    found = []
    for given in (True, False):
        near = read_model("four_bar")
        model = fm.Model("spring")
        laws = {"stiffness": 2.0, "damping": 0.3, "rest": -0.4} if given else {}
        C = replace(near["C"], cut=True, **laws)
        model.add(*near.bodies, *(near[name] for name in "ABD"), C)
        solver = fm.Solver(model)
        for name in ("stiffness", "damping", "rest"):
            solver.set(f"C.{name}", {"stiffness": 2.0, "damping": 0.3, "rest": -0.4}[name])
        solver.assemble()
        solver.step(0.2)
        found.append([solver.get(name) for name in ("A.q", "C.q", "C.qdd", "solver.energy")])
    assert found[0] == found[1]


ROUND_OFF = 2e-14  # of coordinates of order one: some roundings of products of six modes


@pytest.mark.parametrize("scheme", ["radau", "dopri5"])
def test_coordinates_are_found_to_round_off_whatever_the_scheme(scheme: str) -> None:
    """The search ends a step earlier between implicit steps, which leaves nothing."""
    model = fm.Model("tumbling", gravity=(0, 0, -9.81))
    body = fm.Body("body", mass=1.0, inertia=(0.2, 0.3, 0.4))
    laws = {"stiffness": (200.0, 300.0, 400.0, 20.0, 30.0, 25.0), "damping": (1.0,) * 3 + (0.1,) * 3}
    model.add(body, fm.Free("F", model.ground.at(), body.at(), u0=(0.5, 1.0, -1.0, 1.5, -2.0, 2.5)))
    model.add(fm.Bushing("B", model.ground.at(), body.at(), cut=True, **laws))
    solver = fm.Solver(compile(model, scheme=scheme, tolerance=1e-4))
    solver.assemble()
    for stop in np.linspace(0.05, 2.0, 40).tolist():
        solver.step(stop)
        x, y, z, *angles = solver.get("B.q")
        turned = np.eye(3)
        for axis, angle in zip(np.eye(3), angles, strict=True):
            half = 0.5 * angle
            turned = turned @ matrix_of_quaternion(np.array([np.cos(half), *(np.sin(half) * axis)]))
        assert_allclose([x, y, z], solver.get("F.r"), rtol=0, atol=ROUND_OFF)
        assert_allclose(turned, matrix_of_quaternion(np.array(solver.get("F.q"))), rtol=0, atol=ROUND_OFF)
