"""Closed mechanisms: the core against the oracle, and what assembly, correction and redundancy promise."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model
from oracle.joints import matrix_of_quaternion
from support.closed import FREEDOMS, ONLY_CLOSING, Closed, coupled, plane, space, tree_state, two_pendulums
from support.closed_agreement import CLOSED, assert_agrees, assert_closed, check, started

# The core and the oracle ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*FREEDOMS, *ONLY_CLOSING])
@pytest.mark.parametrize("seed", range(4))
def test_a_loop_in_space_by_each_kind_of_cut_joint(kind: str, seed: int) -> None:
    check(lambda seed: space(seed, kind), seed)


@pytest.mark.parametrize("kind", FREEDOMS)
@pytest.mark.parametrize("seed", range(3))
def test_forces_along_the_freedoms_of_cut_joints(kind: str, seed: int) -> None:
    """Springs, dampers and inputs act there as in a tree."""
    check(lambda seed: space(seed, kind, driven=True), 150 + seed)


@pytest.mark.parametrize("loops", [2, 3])
@pytest.mark.parametrize("seed", range(10))
def test_loops_in_space_that_share_bodies(seed: int, loops: int) -> None:
    check(lambda seed: space(seed, loops=loops), 100 + seed)


@pytest.mark.parametrize("seed", range(10))
def test_chains_with_both_ends_fixed(seed: int) -> None:
    check(lambda seed: space(seed, both_ends=True), 200 + seed)


@pytest.mark.parametrize("loops", [1, 2, 3])
@pytest.mark.parametrize("seed", range(10))
def test_loops_in_the_plane_have_redundant_rows(seed: int, loops: int) -> None:
    check(lambda seed: plane(seed, loops), 300 + seed)


@pytest.mark.parametrize("turned", [0.0, 0.7])
def test_four_revolutes_in_a_plane_leave_one_freedom(turned: float) -> None:
    """Mobility 3 - rank: two of the five rows of the cut joint are independent, wherever the plane lies."""
    model, R = fm.Model("four"), fm.Rotation.rpy(turned, 0.3 * turned, 1.0)
    ground = model.ground
    lengths = {"a": 1.0, "b": 2.6, "c": 2.2}
    a, b, c = (fm.Body.rod(name, length=length, mass=1.0, radius=0.01) for name, length in lengths.items())
    start = ground.at(*(R @ (0, 0, 0)), rotation=R), ground.at(*(R @ (2.5, 0, 0)), rotation=R)
    model.add(a, b, c, fm.Revolute("A", start[0], a.base, axis="y", q0=-1.2, u0=2.0))
    model.add(fm.Revolute("B", a.tip, b.base, axis="y", q0=0.7))
    model.add(fm.Revolute("D", start[1], c.base, axis="y", q0=-1.4), fm.Revolute("C", b.tip, c.tip, axis="y"))
    solver = started(model)
    assert np.count_nonzero(solver.active_rows) == 2
    assert (solver.mobility, solver.redundant_rows) == (1, 3)
    assert_closed(solver, model)


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


# Motion -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_energy_is_kept(seed: int) -> None:
    case = plane(500 + seed, 2)
    solver = fm.Solver(compile(case.model, everything=True).with_options(tolerance=1e-10))
    solver.assemble()
    energy = solver.get("solver.energy")
    solver.step(1.0)
    kinetic = max(1.0, abs(energy))
    assert abs(solver.get("solver.energy") - energy) < 1e-6 * kinetic
    assert_closed(solver, case.model)


def test_the_ladder_moves_as_one_pendulum() -> None:
    """Away from its folded position all cranks stay parallel, and the rungs level."""
    windows = 4
    solver = started(read_model("ladder", {"windows": windows}))
    for time in np.arange(0.05, 0.5, 0.05):
        solver.step(time)
        angles = [solver.get(f"A{i}.q") for i in range(windows + 1)]
        assert_allclose(angles, angles[0], rtol=0, atol=1e-11)
        assert_allclose([solver.get(f"B{i}.q") + angles[0] for i in range(1, windows + 1)], 0.0, atol=1e-11)


@pytest.mark.parametrize("scheme", ["dopri5", "rk4"])
@pytest.mark.parametrize("case", [space(600, "revolute"), space(601, loops=2), plane(602, 2), coupled(603)])
def test_a_saved_state_goes_on_bit_for_bit(case: Closed, scheme: str) -> None:
    image = compile(case.model, everything=True).with_options(scheme=scheme, step=0.004)
    every = np.arange(len(image.variables), dtype=np.uint32)
    first, second = fm.Solver(image), fm.Solver(image)
    first.assemble()
    for i in range(1, 5):
        first.step(0.013 * i)
    second.state_load(first.state_save())
    assert second.read(every).tobytes() == first.read(every).tobytes()
    for i in range(5, 9):
        for solver in (first, second):
            solver.step(0.013 * i)
    assert second.read(every).tobytes() == first.read(every).tobytes()
    assert second.state_save() == first.state_save()


@pytest.mark.parametrize("case", [space(700, "cylindrical"), space(701, loops=2), plane(702, 2), coupled(703)])
def test_directional_derivatives_are_differences(case: Closed) -> None:
    """Accelerations and reactions are linear in the forces: the difference quotient is exact."""
    solver = started(case.model, case.inputs)
    outputs = [v for v in solver.image.variables if v.name.split("[")[0].split(".", 1)[-1] in (
        "qdd", "alpha", "a", "reaction.f", "reaction.t", "wrench.f", "wrench.t",
    ) or v.name.startswith(("g0.", "g1."))]  # fmt: skip
    names = [v.name for v in outputs]
    for variable in solver.image.variables:
        if variable.causality != "input":
            continue
        found = solver.directional_derivative(names, [variable.name], [1.0])
        value = solver.get(variable.name)
        sides = []
        for change in (-1.0, 1.0):
            solver.set(variable.name, value + change)
            sides.append(np.array([solver.get(name) for name in names]))
        solver.set(variable.name, value)
        scale = max(1.0, np.abs(sides).max())
        assert_allclose(found, (sides[1] - sides[0]) / 2, rtol=0, atol=1e-10 * scale)
        followed = {v.name for v in outputs if v.dependencies is None or variable.index in v.dependencies}
        moved = {name for name, d in zip(names, found, strict=True) if abs(d) > 1e-9 * scale}
        assert moved <= followed


# Assembly ---------------------------------------------------------------------------------------------------


def four_bar(**lengths: float) -> fm.Model:
    return read_model("four_bar", lengths)


def test_a_loop_that_cannot_close_says_which_by_how_much_and_what_to_do() -> None:
    solver = fm.Solver(four_bar(base=0.7))
    with pytest.raises(fm.AssemblyError, match=r"loop C-.*cannot close: nearest gap 0\.12 m at 'C'.*q0"):
        solver.assemble()


def test_a_loop_that_only_just_closes() -> None:
    """Base 0.5, and rods of 0.1, 0.26 and 0.14001: almost stretched out."""
    model = four_bar(base=0.5, rocker=0.14001)
    solver = started(model)
    assert_closed(solver, model)


@pytest.mark.parametrize("seed", range(12))
def test_guesses_may_be_far(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = fm.Model("far")
    near = read_model("four_bar")
    model.add(*near.bodies, *(replace(j, q0=float(rng.uniform(-3, 3))) if j.name != "C" else j for j in near.joints))
    assert_closed(started(model), model)


def test_a_start_where_the_motion_branches_is_refused() -> None:
    """A rhombus that is folded flat: it may open as a parallelogram or turn about the common pin."""
    model = fm.Model("rhombus")
    a, b, c = (fm.Body.rod(name, length=0.2, mass=1.0, radius=0.01) for name in "abc")
    model.add(a, b, c, fm.Revolute("A", model.ground.at(), a.base, axis="y"))
    model.add(fm.Revolute("B", a.tip, b.base, axis="y"))
    model.add(fm.Revolute("D", model.ground.at(0.2, 0, 0), c.base, axis="y"), fm.Revolute("C", b.tip, c.tip, axis="y"))
    with pytest.raises(fm.AssemblyError, match=r"singular at the start: 1 rows .* 2 beside.*Move a q0"):
        fm.Solver(model).assemble()


def test_start_values_within_a_loop_are_guesses() -> None:
    variables = compile(read_model("four_bar"), everything=True).variables
    assert {variables.find(f"{name}.{v}").initial for name in "ABD" for v in ("q", "qd")} == {"approx"}
    assert variables.find("A.qdd").initial == "calculated"
    assert compile(read_model("pendulum")).variables[0].initial != "approx"


def test_a_driven_joint_stays_in_the_tree() -> None:
    """The closing joint comes first and the one with a damper last: it is the other one that is cut."""
    near = read_model("four_bar")
    model = fm.Model("driven")
    C = replace(near["C"], damping=0.1)
    model.add(*near.bodies, *(near[name] for name in "ABD"), replace(C, F=C.F, M=C.M))
    assert compile(model).cut_joints == ("D",)


def test_a_chain_in_space_is_counted_by_kind() -> None:
    assert list(FREEDOMS.values()) == [1, 1, 3, 0, 2, 2, 3, 1, 2, 3, 2, 3, 3, 3]


# What is held, and what only closes loops ----------------------------------------------------------------------


@pytest.mark.parametrize("held", ["A", "B", "D"])
def test_held_coordinates_stay_as_they_are_said(held: str) -> None:
    near = read_model("four_bar")
    model = fm.Model("held")
    model.add(*near.bodies, *(replace(j, held=j.name == held) for j in near.joints))
    solver = started(model)
    assert (solver.get(f"{held}.q"), solver.get(f"{held}.qd")) == (near[held].q0, near[held].u0)
    assert_closed(solver, model)
    assert np.count_nonzero(solver.active_rows) == 2
    variables = solver.image.variables
    assert {n: variables.find(f"{n}.q").initial for n in "ABD"} == dict.fromkeys("ABD", "approx") | {held: "exact"}


def test_held_balls_stay_too() -> None:
    case = space(801, "spherical", guess=0.02)
    balls = [joint for joint in case.model.joints if isinstance(joint, fm.Spherical) and joint.name.startswith("j")]
    model = fm.Model("held")
    model.add(*case.model.bodies, *(replace(j, held=j is balls[0]) for j in case.model.joints))
    solver = started(model)
    assert_allclose(solver.get(f"{balls[0].name}.q"), balls[0].q0 / np.linalg.norm(balls[0].q0), rtol=0, atol=1e-15)
    assert_allclose(solver.get(f"{balls[0].name}.w"), balls[0].u0, rtol=0, atol=0)
    assert_closed(solver, model)


def test_held_velocities_that_conflict_are_told_from_positions() -> None:
    near = read_model("four_bar")
    closed = started(near)
    model = fm.Model("held")
    q = {name: closed.get(f"{name}.q") for name in "ABD"}
    joints = [replace(j, q0=q.get(j.name, 0.0), u0=3.0 * (j.name in "AD"), held=j.name in "AD") for j in near.joints]
    model.add(*near.bodies, *joints)
    with pytest.raises(fm.AssemblyError, match=r"loop C-D-B-A closes, but its start velocities conflict: .*0\.365 m/s"):
        fm.Solver(model).assemble()


def test_what_no_loop_depends_on_starts_exactly() -> None:
    """A trunk that carries the loop, and a branch that hangs on it, although both feel its inertia."""
    near = read_model("four_bar")
    model = fm.Model("carried")
    trunk, hung = (fm.Body.rod(name, length=0.2, mass=0.5, radius=0.01) for name in ("trunk", "hung"))
    T = fm.Revolute("T", model.ground.at(), trunk.base, axis="y", q0=0.4, u0=-0.6)
    H = fm.Spherical("H", near["B"].M.body.tip, hung.base, q0=(1, 0.1, 0.2, 0), u0=(0.1, 0.2, 0.3))
    joints = [replace(j, F=trunk.at(*j.F.X_BP.translation)) if j.name in "AD" else j for j in near.joints]
    model.add(trunk, hung, *near.bodies, T, H, *joints)
    solver = started(model)
    assert_closed(solver, model)
    assert (solver.get("T.q"), solver.get("T.qd")) == (0.4, -0.6)
    assert_allclose(solver.get("H.q"), np.array(H.q0) / np.linalg.norm(H.q0), rtol=0, atol=1e-15)
    assert_allclose(solver.get("H.w"), H.u0, rtol=0, atol=0)
    variables = solver.image.variables
    initial = {v.name: v.initial for v in variables if v.name in ("T.q", "H.q[1]", "A.q", "D.qd", "C.q")}
    assert initial == {"T.q": "exact", "H.q[1]": "exact", "A.q": "approx", "D.qd": "approx", "C.q": "calculated"}


def test_the_loop_that_branches_is_named() -> None:
    near = read_model("four_bar")
    model = fm.Model("two")
    x, y, z = (fm.Body.rod(name, length=0.2, mass=1.0, radius=0.01) for name in "xyz")
    model.add(*near.bodies, *near.joints, x, y, z, fm.Revolute("P", model.ground.at(), x.base, axis="y"))
    model.add(fm.Revolute("Q", x.tip, y.base, axis="y"))
    model.add(fm.Revolute("R", model.ground.at(0.2, 0, 0), z.base, axis="y"))
    model.add(fm.Revolute("S", y.tip, z.tip, axis="y"))
    with pytest.raises(fm.AssemblyError, match=r"branches \(loop S-R-Q-P, for one\)"):
        fm.Solver(model).assemble()


def test_held_values_that_conflict_leave_a_gap() -> None:
    near = read_model("four_bar")
    model = fm.Model("held")
    joints = [replace(j, q0={"A": -1.2, "B": 0.7}.get(j.name, j.q0), held=j.name in "AB") for j in near.joints]
    model.add(*near.bodies, *joints)
    with pytest.raises(fm.AssemblyError, match=r"loop C-D-B-A cannot close: nearest gap 0\.0016\d m at 'C'"):
        fm.Solver(model).assemble()


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


@pytest.mark.parametrize("scheme", ["dopri5", "rk4"])
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
def test_the_user_may_name_the_joints_that_are_cut(cut: str) -> None:
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
        ({"modes": (fm.Slide("x"), fm.Turn("y"), fm.Slide("z"))}, "no simple rows"),
        ({"modes": (fm.Turn("y"), fm.Slide("x", role="locked", value=0.2), fm.Turn("y"))}, "no simple rows"),
        ({"modes": (fm.Helix("y", 0.1), fm.Slide("x"))}, "no simple rows"),
    ],
)
def test_what_cannot_be_cut_says_so(options: Any, says: str) -> None:
    near = read_model("four_bar")
    F, M = near["D"].F, near["D"].M
    make = fm.Joint if "modes" in options else fm.Revolute
    joint = make("D", F, M, cut=True, **options)
    with pytest.raises(fm.ModelError, match=f"'D' closes a loop, but .*{says}.*cut=True"):
        compile(cut_by(joint))
    assert compile(cut_by(replace(joint, cut=False))).cut_joints == ("C",)  # the compiler cuts another one


def test_a_tunable_spring_of_a_cut_joint() -> None:
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


# How loops are kept closed --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["dopri5", "rk4"])
def test_each_way_to_keep_a_loop_closed_does_what_it_promises(scheme: str) -> None:
    image = compile(read_model("four_bar"), everything=True).with_options(scheme=scheme, step=2e-3, tolerance=1e-5)
    length = float(image.arrays["length"][0])
    worst = {}
    for name, options in {
        "direct": {"closure": 1e-12},
        "paper": {"closure": 1e-10},
        "off": {"correction": "off"},
        "baumgarte": {"correction": (30.0, 30.0)},
    }.items():
        solver = fm.Solver(image.with_options(**options))
        solver.assemble()
        seen = []
        for time in np.arange(0.1, 10.05, 0.1):
            solver.step(time)
            seen.append(solver.get("solver.position_violation"))
        worst[name] = max(seen)
        corrected = solver.get("solver.corrections") > 1  # that of the start's velocities
        assert corrected == (name in ("direct", "paper")), name
    assert worst["direct"] < 1e-12 * length
    assert worst["direct"] < worst["paper"] < 1e-10 * length
    assert worst["off"] > 1e-5
    assert 1e-10 < worst["baumgarte"] < 1e-2 * worst["off"]


def test_baumgarte_leaves_responses_to_inputs_alone() -> None:
    """A violation is no response; on rows without one it changes nothing."""
    image = compile(read_model("four_bar"), everything=True)
    found = []
    for options in ({"correction": "off"}, {"correction": (50.0, 50.0)}):
        solver = fm.Solver(image.with_options(scheme="rk4", step=5e-3, **options))
        solver.assemble()
        for time in (0.5, 1.0, 1.5):
            solver.step(time)
        assert solver.get("solver.position_violation") > 1e-12
        slope = solver.directional_derivative(["A.qdd", "C.reaction.f"], ["D.tau"], [1.0])
        sides = []
        for tau in (-1.0, 1.0):
            solver.set("D.tau", tau)
            sides.append(np.append(solver.get("A.qdd"), solver.get("C.reaction.f")))
        assert_allclose(slope, (sides[1] - sides[0]) / 2, rtol=0, atol=1e-9 * np.abs(slope).max())
        found.append(slope)
    assert not np.array_equal(*found)


def test_options_of_the_correction_are_checked() -> None:
    image = compile(read_model("four_bar"))
    for options, says in (
        ({"correction": "perhaps"}, "direct, baumgarte, off"),
        ({"correction": (1.0, -2.0)}, "correction"),
        ({"closure": 0.0}, "closure"),
    ):
        with pytest.raises(fm.ModelError, match=says):
            image.with_options(**options)
    solver = fm.Solver(image)
    for name, value in (("solver.correction", 3.0), ("solver.closure", 0.5), ("solver.baumgarte", (-1.0, 1.0))):
        kept = solver.get(name)
        solver.set(name, value)
        with pytest.raises(fm.AssemblyError, match=name):
            solver.assemble()
        solver.set(name, kept)
    solver.assemble()
    shown = compile(read_model("double_pendulum")).variables.names()
    assert not {"solver.correction", "solver.closure", "solver.baumgarte[1]"} & set(shown)


# Couplings --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_coupled_coordinates_of_trees(seed: int) -> None:
    """Of every joint that has coordinates, excited ones too."""
    case = coupled(900 + seed)
    solver = started(case.model, case.inputs)
    for time in (0.0, 0.02, 0.07):
        solver.step(time)
        assert_coupled(solver, case.model)
        assert_agrees(solver, case, tree_state(solver, case.model))


@pytest.mark.parametrize("seed", range(8))
def test_coupled_coordinates_within_loops(seed: int) -> None:
    case = coupled(1100 + seed, closed=True)
    solver = started(case.model, case.inputs)
    for time in (0.0, 0.02, 0.07):
        solver.step(time)
        assert_coupled(solver, case.model)
        assert_closed(solver, case.model)
        assert_agrees(solver, case)


def assert_coupled(solver: fm.Solver, model: fm.Model) -> None:
    for coupling in model.couplings:
        sums = [-coupling.constant, 0.0]
        for joint, mode, ratio in coupling.coordinates:
            free = len(joint.free_modes)
            names, k = (("q", "qd"), mode - 1) if mode <= free else (("eta", "kappa"), mode - 1 - free)
            for i, name in enumerate(names):
                sums[i] += ratio * np.ravel(solver.get(f"{joint.name}.{name}"))[k]
        assert_allclose(sums, 0.0, atol=10 * CLOSED)


def shafts(count: int, inertias: Any = (0.3, 0.7, 0.2), **options: Any) -> tuple[list[fm.Body], list[fm.Joint]]:
    """Wheels side by side that turn about z; on the ground, without weight along their axes."""
    ground = fm.Model("ground").ground
    bodies = [fm.Body(f"w{i}", mass=1.0 + i, inertia=np.diag([0.4, 0.4, inertias[i]])) for i in range(count)]
    joints = [fm.Revolute(f"J{i}", ground.at(i, 0, 0), b.at(), axis="z", **options) for i, b in enumerate(bodies)]
    return bodies, joints


def test_a_gear_train_has_one_effective_inertia() -> None:
    """I1 + I2 / i12^2 + I3 / (i12 i23)^2, felt at the first shaft."""
    bodies, (a, b, c) = shafts(3)
    model = fm.Model("train")
    model.add(*bodies, a, b, c, fm.Coupling.gear("G", a, b, ratio=-2.5), fm.Coupling.belt("H", b, c, radii=(0.1, 0.3)))
    solver = started(model, {"J0.tau": 2.0, "J2.tau": 1.0})
    ahead = np.array([1.0, -1 / 2.5, -1 / 2.5 / 3])
    qdd = (2.0 + 1.0 * ahead[2]) / (ahead**2 @ (0.3, 0.7, 0.2))
    assert_allclose([solver.get(f"J{i}.qdd") for i in range(3)], qdd * ahead, rtol=1e-14)
    assert_allclose(solver.get("G.tau")[0], 0.3 * qdd - 2.0, rtol=1e-13)
    assert_allclose(solver.get("H.tau")[1], 0.2 * qdd * ahead[2] - 1.0, rtol=1e-13)
    assert_allclose(solver.get("G.tau") @ (2.5, -1.0), 0.0, atol=1e-13)  # no power is lost
    assert_allclose(solver.get("J0.reaction.t"), 0.0, atol=1e-14)
    assert_allclose(solver.get("J0.wrench.t"), (0, 0, 0.3 * qdd), rtol=0, atol=1e-14)
    assert solver.mobility == 1
    units = {name: solver.image.variables.find(name).unit for name in ("G.tau[1]", "G.tau[2]")}
    assert set(units.values()) == {"N.m"}


def test_a_rack_falls_and_turns_its_pinion() -> None:
    """m g = (m + I / r^2) a; after a second x = a / 2."""
    model = fm.Model("rack")
    wheel, rack = fm.Body("wheel", mass=1.0, inertia=np.diag([0.1, 0.1, 0.02])), fm.Body("rack", mass=3.0)
    A = fm.Revolute("A", model.ground.at(rotation=fm.Rotation.about("x", np.pi / 2)), wheel.at(), axis="z")
    B = fm.Prismatic("B", model.ground.at(0.1, 0, 0), rack.at(), axis="z", q0=0.3)
    model.add(wheel, rack, A, B, fm.Coupling.rack("G", A, B, radius=0.1))
    solver = started(model)
    a = -3.0 * 9.81 / (3.0 + 0.02 / 0.01)
    solver.step(1.0)
    assert_allclose([solver.get("B.qdd"), solver.get("A.qdd")], [a, a / 0.1], rtol=1e-12)
    assert_allclose([solver.get("B.q"), solver.get("A.q")], [0.3 + a / 2, a / 2 / 0.1], rtol=1e-9)
    assert_allclose(solver.get("G.tau"), [3.0 * (a + 9.81), 0.02 * a / 0.1], rtol=1e-12)
    assert [solver.image.variables.find(f"G.tau[{i}]").unit for i in (1, 2)] == ["N", "N.m"]


def test_a_bevel_differential_halves_the_torque() -> None:
    """A pinion turns the cage; two side gears roll on two pinions in it: one half of the torque for each side."""
    model = fm.Model("differential", gravity=(0, 0, 0))
    at = model.ground.at()
    bodies = {
        name: fm.Body(name, mass=1.0, inertia=np.diag([0.1, 0.1, inertia]))
        for name, inertia in {"drive": 0.05, "cage": 0.15, "left": 0.2, "right": 0.2, "pinion": 0.04}.items()
    }
    D = fm.Revolute("D", model.ground.at(rotation=fm.Rotation.about("y", np.pi / 2)), bodies["drive"].at())
    C = fm.Revolute("C", at, bodies["cage"].at())
    L, R = (fm.Revolute(n, bodies["cage"].at(), bodies[b].at()) for n, b in (("L", "left"), ("R", "right")))
    P = fm.Revolute("P", bodies["cage"].at(), bodies["pinion"].at(rotation=fm.Rotation.identity()), axis="x")
    model.add(*bodies.values(), D, C, L, R, P)
    model.add(fm.Coupling.gear("crown", D, C, ratio=3.0))
    model.add(fm.Coupling.gear("one", L, P, ratio=0.5), fm.Coupling.gear("other", R, P, ratio=-0.5))
    solver = started(model, {"D.tau": 1.0})
    solver.step(0.5)
    for name in ("L", "R", "P"):  # driven alone, it turns as one
        assert_allclose(solver.get(f"{name}.q"), 0.0, atol=1e-12)
    solver.set("L.tau", 0.4)
    rates = solver.get("left.alpha")[2], solver.get("right.alpha")[2], solver.get("cage.alpha")[2]
    assert_allclose((rates[0] + rates[1]) / 2, rates[2], rtol=1e-12)
    assert_allclose(solver.get("one.tau")[0] + 0.4, 0.2 * rates[0], rtol=1e-11)
    assert_allclose(solver.get("other.tau")[0], 0.2 * rates[1], rtol=1e-11)
    assert solver.mobility == 2


def test_a_coupling_with_a_driven_joint_follows_it() -> None:
    """Its actuator bears what the coupling asks."""
    bodies, (a, b) = shafts(2)
    driven = fm.Joint("D", a.F, a.M, modes=[fm.Turn("z", role="excited", input="kappa_dot", kappa0=2.0)])
    model = fm.Model("driven")
    model.add(*bodies, driven, b, fm.Coupling.gear("G", b, driven, ratio=3.0))
    solver = started(model, {"D.kappa_dot": 0.5, "J1.tau": 0.1})
    solver.step(1.0)
    assert_allclose([solver.get("J1.q"), solver.get("J1.qd"), solver.get("J1.qdd")], [6.75, 7.5, 1.5], rtol=1e-9)
    assert_allclose(solver.get("G.tau"), [0.7 * 1.5 - 0.1, -3 * (0.7 * 1.5 - 0.1)], rtol=1e-9)
    assert_allclose(solver.get("D.drive"), 0.3 * 0.5 + 3 * (0.7 * 1.5 - 0.1), rtol=1e-9)


def test_the_offset_is_what_the_guesses_give_unless_it_is_given() -> None:
    found = []
    for offset in (None, 0.25):
        bodies, (a, b) = shafts(2, q0=0.3)
        model = fm.Model("two")
        b = replace(b, q0=-0.1, held=True)
        model.add(*bodies, a, b, fm.Coupling("G", [(a, 2.0), (b, 1.0)], offset=offset))
        solver = started(model)
        assert solver.get("J1.q") == -0.1
        found.append(solver.get("J0.q"))
    assert_allclose(found, [0.3, 0.175], rtol=1e-14)


def test_couplings_that_conflict_say_so() -> None:
    bodies, (a, b) = shafts(2, held=True)
    model = fm.Model("two")
    model.add(*bodies, a, b, fm.Coupling("G", [(a, 1.0), (b, -2.0)], offset=0.1))
    with pytest.raises(
        fm.AssemblyError,
        match=r"coupling G of J0-J1 cannot close: nearest gap 0\.05 rad at 'J0'. Change its offset.*hold fewer",
    ):
        fm.Solver(model).assemble()


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        ([], "none. Give"),
        ([("A", 1.0)], r"\(joint, ratio\) or"),
        (lambda j: [(j[0], 0.0)], "ratio is zero"),
        (lambda j: [(j[0], 1.0), (j[0], 2.0)], "twice"),
        (lambda j: [(j[0], 2, 1.0)], "from 1 to 1"),
        (lambda j: [(fm.Spherical("S", j[0].F, j[0].M), 1.0)], "Couple another"),
        (lambda j: [(fm.Skate("S", j[0].F, j[0].M), 1.0)], "do not follow from its velocities"),
        (
            lambda j: [(fm.Joint("S", j[0].F, j[0].M, modes=[fm.Turn("x", role="excited", input="kappa_dot")]), 1.0)],
            "fr",
        ),
    ],
)
def test_a_coupling_checks_its_terms(terms: Any, says: str) -> None:
    _, joints = shafts(2)
    with pytest.raises(fm.ModelError, match=says):
        fm.Coupling("G", terms(joints) if callable(terms) else terms)


def test_a_coupled_joint_must_be_in_the_model() -> None:
    bodies, (a, b) = shafts(2)
    model = fm.Model("two")
    model.add(*bodies, a, fm.Coupling.gear("G", a, b, ratio=2.0))
    with pytest.raises(fm.ModelError, match="'G' couples 'J1', which is not in the model"):
        compile(model)


def test_a_coupled_joint_stays_in_the_tree() -> None:
    near = read_model("four_bar")
    wheel = fm.Body("wheel", mass=0.1, inertia=np.eye(3) * 1e-3)
    model = fm.Model("coupled")
    W = fm.Revolute("W", near.ground.at(0, 0.1, 0), wheel.at(), axis="y")
    model.add(*near.bodies, wheel, *near.joints, W, fm.Coupling.gear("G", W, near["C"], ratio=-2.0))
    solver = started(model)
    assert solver.mobility == 1
    assert_closed(solver, near)
    assert_allclose(solver.get("W.qd") + 2.0 * solver.get("C.qd"), 0.0, atol=1e-11)
def test_rows_of_many_windows_are_chosen_block_by_block() -> None:
    """Long ladders: two rows a window are independent, and one freedom is left."""
    for windows in (3, 40, 300):
        solver = started(read_model("ladder", {"windows": windows}))
        assert solver.mobility == 1
        assert solver.redundant_rows == 3 * windows
