"""Assembly of loops: what closes, which start values hold, and what the messages of those that fail say."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model
from oracle.joints import matrix_of_quaternion
from support.closed import DOF, plane, space
from support.closed_agreement import assert_closed, started


def four_bar(**lengths: float) -> fm.Model:
    return read_model("four_bar", lengths)


def test_the_message_about_an_open_loop_has_its_joints_the_gap_and_a_fix() -> None:
    solver = fm.Solver(four_bar(base=0.7))
    with pytest.raises(fm.AssemblyError, match=r"loop C-.*cannot close: nearest gap 0\.12 m at 'C'.*q0"):
        solver.assemble()



def test_a_joint_may_slide_as_far_in_a_step_as_its_loop_is_open() -> None:
    """Five thousand times as far as the body is large, which by steps of its size would not end."""
    model = fm.Model("far")
    body = fm.Body("b", mass=1.0, com=(0.001, 0, 0), inertia=(1e-6, 1e-6, 1e-6))
    slide = fm.Prismatic("A", model.ground.at(), body.at(), axis="x")
    model.add(body, slide, fm.Weld("C", model.ground.at(10, 0, 0), body.at(), cut=True))
    solver = fm.Solver(model)
    solver.assemble()
    assert solver.get("A.q") == pytest.approx(10.0, abs=1e-12)

def test_the_message_has_a_small_gap() -> None:
    """Rods of 0.1, 0.26 and 0.14 between pins 0.501 apart, stretched out; what is tried beside that leaves no trace."""
    solver = fm.Solver(four_bar(base=0.501, rocker=0.14))
    with pytest.raises(fm.AssemblyError, match=r"nearest gap 0\.001 m at 'C'"):
        solver.assemble()


@pytest.mark.parametrize("seed", [943])
def test_a_loop_closes_beside_a_local_minimum_of_the_gap(seed: int) -> None:
    """Beside the start the motion is about to turn back, and there the gap has a minimum of 7e-6 rad."""
    model = space(seed, loops=3).model
    assert_closed(started(model), model)


def test_a_loop_that_only_just_closes() -> None:
    """Base 0.5, and rods of 0.1, 0.26 and 0.14001: almost stretched out."""
    model = four_bar(base=0.5, rocker=0.14001)
    solver = started(model)
    assert_closed(solver, model)


@pytest.mark.parametrize("seed", range(12))
def test_a_loop_closes_from_far_guesses(seed: int) -> None:
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
    with pytest.raises(fm.AssemblyError, match=r"singular at the start: 1 constraint rows .* 2 nearby.*Move a q0"):
        fm.Solver(model).assemble()


def test_start_values_in_a_loop_are_guesses() -> None:
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
    assert list(DOF.values()) == [1, 1, 3, 0, 2, 2, 3, 1, 2, 3, 2, 3, 3, 3]


# What is held, and what only closes loops ----------------------------------------------------------------------


@pytest.mark.parametrize("held", ["A", "B", "D"])
def test_held_coordinates_keep_their_start_values(held: str) -> None:
    near = read_model("four_bar")
    model = fm.Model("held")
    model.add(*near.bodies, *(replace(j, held=j.name == held) for j in near.joints))
    solver = started(model)
    assert (solver.get(f"{held}.q"), solver.get(f"{held}.qd")) == (near[held].q0, near[held].u0)
    assert_closed(solver, model)
    assert np.count_nonzero(solver.active_rows) == 2
    variables = solver.image.variables
    assert {n: variables.find(f"{n}.q").initial for n in "ABD"} == dict.fromkeys("ABD", "approx") | {held: "exact"}


def test_held_ball_joints_keep_their_start_values() -> None:
    case = space(801, "spherical", guess=0.02)
    balls = [joint for joint in case.model.joints if isinstance(joint, fm.Spherical) and joint.name.startswith("j")]
    model = fm.Model("held")
    model.add(*case.model.bodies, *(replace(j, held=j is balls[0]) for j in case.model.joints))
    solver = started(model)
    assert_allclose(solver.get(f"{balls[0].name}.q"), balls[0].q0 / np.linalg.norm(balls[0].q0), rtol=0, atol=1e-15)
    assert_allclose(solver.get(f"{balls[0].name}.w"), balls[0].u0, rtol=0, atol=0)
    assert_closed(solver, model)


def test_conflicts_of_held_velocities_and_positions_have_different_messages() -> None:
    near = read_model("four_bar")
    closed = started(near)
    model = fm.Model("held")
    q = {name: closed.get(f"{name}.q") for name in "ABD"}
    joints = [replace(j, q0=q.get(j.name, 0.0), u0=3.0 * (j.name in "AD"), held=j.name in "AD") for j in near.joints]
    model.add(*near.bodies, *joints)
    with pytest.raises(fm.AssemblyError, match=r"loop C-D-B-A closes, but its start velocities conflict: .*0\.365 m/s"):
        fm.Solver(model).assemble()


def test_coordinates_outside_loops_start_exactly() -> None:
    """A trunk that carries the loop, and a branch that is attached to it, although both feel its inertia."""
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


def test_the_message_names_the_loop_that_branches() -> None:
    near = read_model("four_bar")
    model = fm.Model("two")
    x, y, z = (fm.Body.rod(name, length=0.2, mass=1.0, radius=0.01) for name in "xyz")
    model.add(*near.bodies, *near.joints, x, y, z, fm.Revolute("P", model.ground.at(), x.base, axis="y"))
    model.add(fm.Revolute("Q", x.tip, y.base, axis="y"))
    model.add(fm.Revolute("R", model.ground.at(0.2, 0, 0), z.base, axis="y"))
    model.add(fm.Revolute("S", y.tip, z.tip, axis="y"))
    with pytest.raises(fm.AssemblyError, match=r"branches \(loop S-R-Q-P, for one\)"):
        fm.Solver(model).assemble()


def test_conflicting_held_values_leave_a_gap() -> None:
    near = read_model("four_bar")
    model = fm.Model("held")
    joints = [replace(j, q0={"A": -1.2, "B": 0.7}.get(j.name, j.q0), held=j.name in "AB") for j in near.joints]
    model.add(*near.bodies, *joints)
    with pytest.raises(fm.AssemblyError, match=r"loop C-D-B-A cannot close: nearest gap 0\.0016\d m at 'C'"):
        fm.Solver(model).assemble()


def test_distant_guesses_close_within_a_few_turns() -> None:
    """A step towards a position at which bars are nearly in line would turn them many times."""
    for seed in range(40):
        model = plane(seed, 1 + seed % 2, guess=2.0).model
        solver = started(model)
        for joint in (joint for joint in model.joints if joint.name.startswith("j")):
            assert abs(solver.get(f"{joint.name}.q") - joint.q0) < 4 * np.pi


@pytest.mark.parametrize("loops", [1, 2, 3])
def test_guesses_a_radian_off_close(loops: int) -> None:
    """By any kind of joint; from some of them Newton's method alone ends at a minimum of the gap."""
    for seed in range(12):
        for model in (plane(7100 + seed, loops, guess=1.0).model, space(9000 + seed, loops=loops, guess=1.0).model):
            assert_closed(started(model), model)


def test_a_start_that_is_refused_changes_nothing() -> None:
    """Neither the guesses nor the time, the counters and what a saved state holds besides."""
    solver = fm.Solver(four_bar(base=0.7))
    before = solver.state_save()
    with pytest.raises(fm.AssemblyError):
        solver.assemble(0.3)
    assert solver.time == 0.0
    assert solver.state_save() == before


@pytest.mark.parametrize("closing", ["weld", "revolute", "prismatic", "planar"])
@pytest.mark.parametrize("about", ["x", "y", "z"])
def test_no_joint_closes_turned_over(closing: str, about: str) -> None:
    """From almost half a turn off the rows alone would lead to opposite axes."""
    model = fm.Model("over")
    body = fm.Body("body", mass=1.0, inertia=(0.1, 0.2, 0.3))
    F, M = model.ground.at(), body.at()
    model.add(body, fm.Free("T", F, M, q0=(0, 0, 0, *fm.Rotation.about(about, 3.0).as_quaternion())))
    joints = {
        "weld": fm.Weld("C", F, M),
        "revolute": fm.Revolute("C", F, M, axis="x", cut=True),
        "prismatic": fm.Prismatic("C", F, M, axis="x", cut=True),
        "planar": fm.Planar("C", F, M, normal="x", cut=True),
    }
    model.add(joints[closing])
    R = matrix_of_quaternion(started(model).get("body.quat"))
    turned = R[0, 0] if closing in ("revolute", "planar") else np.diag(R)
    assert_allclose(turned, 1.0, rtol=0, atol=1e-12)


def test_a_joint_whose_frames_are_turned_over_is_refused() -> None:
    near = read_model("four_bar")
    over = {"C": fm.Rotation.about("x", np.pi)}
    joints = [
        replace(j, M=j.M.body.at(*j.M.X_BP.translation, rotation=over[j.name])) if j.name in over else j
        for j in near.joints
    ]
    model = fm.Model("over")
    model.add(*near.bodies, *joints)
    with pytest.raises(fm.AssemblyError, match=r"close only with joint 'C' turned over.* Turn one of its frames over"):
        fm.Solver(model).assemble()
