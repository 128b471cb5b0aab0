"""Starts of mechanisms with loops: which given values hold, changes of the others, and values that an importer sets."""

import warnings
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.mechanism.given import UnsetNumber, UnsetNumbers
from fmumbs.readers import read_model
from oracle import Frame, Oracle
from oracle.joints import angle_of, axis_of, constraint, matrix_of_quaternion
from oracle.kinematics import point_in_body
from support.closed import Closed, plane, space, state_of
from support.closed_agreement import assert_closed, started
from support.sweeps import each_pair, first

MODELS = sorted(path.stem for path in (Path(__file__).parents[3] / "models").glob("*.py") if path.stem != "__init__")
RANK = 1e-6  # of rates that random mechanisms leave to coordinates: generic ones are far from it
HELD = 1e-10  # beside changes of some 1e-3: what cut joints have follows from closed loops
AHEAD = 1.1  # times the leverage of an earlier coordinate of the same joint: a later one then holds before it

Unit = tuple[str, int]  # a joint, and which of its velocities


# Expected by the oracle -----------------------------------------------------------------------------------


def rates_by_joint(model: fm.Model, solver: fm.Solver) -> dict[str, np.ndarray]:
    """The rates of each joint's coordinates in the motions that all joints leave."""
    oracle, state = Oracle(model), state_of(solver, model)
    J = np.vstack([oracle._rows(state, joint)[0] for joint in oracle.joints])
    _, S, V = np.linalg.svd(J)
    motions = V[np.count_nonzero(1e-9 * S[0] < S) :].T
    motions = motions / np.linalg.norm(motions, axis=0)
    return {joint.name: oracle.coordinates(state, joint)[0] @ motions for joint in oracle.joints}


def held_units(rates: dict[str, np.ndarray], norm: np.ndarray, units: list[list[Unit]]) -> list[bool]:
    """Of units in the model's order of joints, which hold: a joint's own compete by their leverage.

    norm: (motions, motions) the square of the kinematic norm of the motions whose rates these are.
    """
    taken = np.zeros((0, len(norm)))
    found: dict[int, bool] = {}
    for _, joint in groupby(range(len(units)), key=lambda i: units[i][0][0]):
        waiting = list(joint)
        while waiting:
            best, largest = waiting[0], 0.0
            for i in waiting:
                leverage = leverage_of(rows_of(rates, units[i]), taken, norm) if len(waiting) > 1 else 0.0
                if leverage > AHEAD * largest:
                    best, largest = i, leverage
            rows = np.vstack([taken, rows_of(rates, units[best])])
            found[best] = bool(rows.shape[0] <= rows.shape[1] and np.linalg.svd(rows, compute_uv=False)[-1] > RANK)
            taken = rows if found[best] else taken
            waiting.remove(best)
    return [found[i] for i in range(len(units))]


def rows_of(rates: dict[str, np.ndarray], unit: list[Unit]) -> np.ndarray:
    return np.vstack([rates[name][part] for name, part in unit])


def leverage_of(rows: np.ndarray, taken: np.ndarray, norm: np.ndarray) -> float:
    """The largest square of a rate in a motion of norm 1 in which what is taken rests."""
    motions = np.linalg.svd(taken)[2][len(taken) :].T
    (rate,) = rows @ motions
    return float(rate @ np.linalg.solve(motions.T @ norm @ motions, rate)) if rate.size else 0.0


def kinematic_norm(solver: fm.Solver, model: fm.Model, rates: dict[str, np.ndarray]) -> np.ndarray:
    """One radian, and the model's length, of the spanning tree's coordinates count as one."""
    tree = [joint for joint in model.joints if joint.name not in solver.image.cut_joints]
    length = float(solver.image.arrays["length"][0])
    over = {joint.name: length if isinstance(joint, fm.Prismatic) else 1.0 for joint in tree}
    all_rates = np.vstack([rates[name] / by for name, by in over.items()])
    return np.asarray(all_rates.T @ all_rates)


def guess(value: Any) -> Any:
    """The same start as a guess that nobody has given."""
    return UnsetNumber(value) if isinstance(value, float) else UnsetNumbers(value)


def given_at_random(rng: np.random.Generator, case: Closed) -> fm.Model:
    """Tree joints that give their start or do not, cut ones as well, in a random order."""
    near, new = started(case.model), fm.Model("given", gravity=case.model.gravity)
    joints = []
    for joint in case.model.joints:
        if joint.name in case.cuts:
            if isinstance(joint, fm.Revolute | fm.Prismatic | fm.Screw) and rng.random() < 0.6:
                q0 = near.get(f"{joint.name}.q") + rng.uniform(-0.01, 0.01)
                joint = replace(joint, q0=q0, u0=rng.uniform(-1, 1), cut=True)
            elif isinstance(joint, fm.Spherical) and rng.random() < 0.6:
                q0 = near.get(f"{joint.name}.q") + rng.uniform(-0.01, 0.01, 4)
                joint = replace(joint, q0=q0, u0=rng.uniform(-1, 1, 3), cut=True)
        else:
            q0, u0 = (v if rng.random() < 0.6 else guess(v) for v in (joint.q0, joint.u0))
            joint = replace(joint, q0=q0, u0=u0)
        joints.append(joint)
    new.add(*case.model.bodies, *(joints[i] for i in rng.permutation(len(joints))))
    return new


def one_by_one(joint: Any, level: int) -> list[list[Unit]]:
    if level == 0 and isinstance(joint, fm.Spherical):
        return [[(joint.name, k) for k in range(3)]]
    return [[(joint.name, k)] for k in range(joint.velocities)]


def holds(solver: fm.Solver, joint: Any, unit: list[Unit], level: int) -> bool:
    if isinstance(joint, fm.Spherical):
        given, value = (joint.q0, joint.u0)[level], solver.get(f"{joint.name}.{('q', 'w')[level]}")
        if level == 0:
            return min(np.abs(np.array(given) - value).max(), np.abs(np.array(given) + value).max()) < HELD
        return abs(given[unit[0][1]] - value[unit[0][1]]) < HELD
    name = f"{joint.name}.{('q', 'qd')[level]}"
    return abs((joint.q0, joint.u0)[level] - solver.get(name)) < HELD


def off(joint: Any, F: Frame, M: Frame) -> Any:
    """How far its position is from the given one."""
    if isinstance(joint, fm.Spherical):
        D = matrix_of_quaternion(np.array(joint.q0) / np.linalg.norm(joint.q0)).T @ F.R.T @ M.R
        return np.array([D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]]) / 2
    if isinstance(joint, fm.Prismatic):
        return (F.R @ axis_of(joint)) @ (M.p - F.p) - joint.q0
    return angle_of(axis_of(joint), F, M, joint.q0) - joint.q0


def is_beyond_reach(model: fm.Model, solver: fm.Solver, held: list[str], joint: Any) -> bool:
    """Whether the loops leave a gap near the start if joints that hold and one more have their given positions; by the
    oracle's geometry."""
    cuts = [j for j in model.joints if j.name in solver.image.cut_joints]
    tree = fm.Model("tree")
    tree.add(*model.bodies, *(j for j in model.joints if j not in cuts))
    near = {j.name: solver.get(f"{j.name}.q") for j in model.joints}
    wanted = {*held, joint.name}
    kinematics, ground = Oracle(tree), Frame(np.zeros(3), np.eye(3))
    sizes = np.cumsum([0, *(j.velocities for j in tree.joints)])

    def gap(x: np.ndarray) -> np.ndarray:
        moves = {j.name: x[a:b] for j, a, b in zip(tree.joints, sizes[:-1], sizes[1:], strict=True)}
        rates = {name: move if np.ndim(near[name]) else move[0] for name, move in moves.items()}
        frames = kinematics._reach(near, rates, 1.0)
        rows = []
        for one in model.joints:
            F, M = (frames.get(getattr(P.body, "name", ""), ground).then(*point_in_body(P)) for P in (one.F, one.M))
            if one in cuts:
                rows.append(constraint(one, F, M, 1.0, near[one.name] if isinstance(one, fm.Screw) else 0.0))
            if one.name in wanted:
                rows.append(np.atleast_1d(off(one, F, M)))
        return np.concatenate(rows).astype(float)

    least = scipy.optimize.least_squares(gap, np.zeros(sizes[-1]), xtol=1e-14, ftol=1e-14, gtol=1e-14)
    return bool(np.abs(least.fun).max() > 1e-7)


def check_holding(model: fm.Model) -> int:
    """Compares what holds with what the oracle expects; returns how many values do not."""
    solver = started(model)
    assert_closed(solver, model)
    rates, not_held = rates_by_joint(model, solver), 0
    norm = kinematic_norm(solver, model, rates)
    for level in (0, 1):
        given = [joint for joint in model.joints if joint.given[level]]
        units = [(joint, unit) for joint in given for unit in one_by_one(joint, level)]
        found, beyond = [holds(solver, *one, level) for one in units], set[int]()
        while True:
            rest = [i for i in range(len(units)) if i not in beyond]
            expected = dict(zip(rest, held_units(rates, norm, [units[i][1] for i in rest]), strict=True))
            first = next((i for i in rest if expected[i] != found[i]), None)
            if first is None:
                break
            assert level == 0 and expected[first], (level, units[first][1])
            before = [units[i][0].name for i in rest if i < first and found[i]]
            assert is_beyond_reach(model, solver, before, units[first][0])
            beyond.add(first)
        not_held += found.count(False)
    return not_held


@pytest.mark.parametrize("seed", first(17, [26, 35, 46, 58, 60, *range(24)]))  # 35: one value is beyond reach
def test_given_values_hold_in_the_models_order_as_far_as_the_mobility_goes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(("revolute", "prismatic", "spherical", "universal", "screw")))
    spare = int(rng.integers(1, 4))
    case = plane(seed, 1 + seed % 3) if seed % 2 else space(seed, kind, spare=spare, loops=1 + seed % 4 // 2)
    model = given_at_random(rng, case)
    assert check_holding(model) == len(started(model).start_changes)


@each_pair
@pytest.mark.parametrize("cut", [False, True], ids=["tree", "cut"])
@pytest.mark.parametrize("kind", ["universal", "planar", "cylindrical", "oblique"])
@pytest.mark.parametrize("seed", range(2))
def test_of_one_joint_as_many_values_hold_as_are_independent(seed: int, kind: str, cut: bool) -> None:
    """Whether the joint is in the tree or closes the loop; the loop leaves it one degree of freedom or two."""
    rng = np.random.default_rng(seed)
    case = space(40 + seed, kind, spare=1 + seed, both_ends=True)
    near, (name,) = started(case.model), case.cuts
    q0 = near.get(f"{name}.q") + rng.uniform(-0.01, 0.01, case.model[name].positions)
    joint = replace(case.model[name], q0=q0, u0=rng.uniform(-1, 1, len(q0)), cut=cut)
    others = [replace(j, q0=guess(j.q0), u0=guess(j.u0), cut=False) for j in case.model.joints if j.name != name]
    others[0] = replace(others[0], cut=not cut, rotor_inertia=0.0)  # what closes a loop has none
    model = fm.Model("one", gravity=(0, 0, 0))
    model.add(*case.model.bodies, joint, *others)
    solver = started(model)
    rates = rates_by_joint(model, solver)[name]
    rank = np.linalg.matrix_rank(rates, tol=RANK)
    for level, given in enumerate((joint.q0, joint.u0)):
        held = np.abs(given - solver.get(f"{name}.{('q', 'qd')[level]}")) < HELD
        assert np.count_nonzero(held) == np.linalg.matrix_rank(rates[held], tol=RANK) == rank
    assert len(solver.start_changes) == 2 * (len(q0) - rank)


# Reported changes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_shipped_models_start_as_they_say(name: str) -> None:
    model = read_model(name)
    solver = started(model)
    assert solver.start_changes == ()
    for joint in model.joints:
        if isinstance(joint, fm.Revolute | fm.Prismatic) and any(joint.given):
            q, u = (solver.get(f"{joint.name}.{suffix}") for suffix in ("q", "qd"))
            assert not joint.given[0] or abs(q - joint.q0) < 1e-9
            assert not joint.given[1] or abs(u - joint.u0) < 1e-9


def four_bar(**starts: Any) -> fm.Model:
    """The shipped one, whose joints give these starts alone; the others keep theirs as guesses."""
    near, model = read_model("four_bar"), fm.Model("four_bar")
    model.add(*near.bodies)
    for joint in near.joints:
        own = {key: starts.get(f"{joint.name}_{key}", guess(getattr(joint, key))) for key in ("q0", "u0")}
        model.add(replace(joint, **own))
    return model


def changes(solver: fm.Solver) -> dict[str, tuple[float, float, bool]]:
    return {c.name: (c.given[0], c.value[0], c.was_set) for c in solver.start_changes}


def test_the_first_joint_of_the_model_holds_and_changes_of_the_others_are_reported() -> None:
    solver = started(four_bar(A_q0=-1.2, D_q0=-1.4, D_u0=2.0, B_u0=1.0))
    assert solver.get("A.q") == -1.2
    assert solver.get("B.qd") == 1.0  # B comes before D
    told = changes(solver)
    assert set(told) == {"D.q", "D.qd"}
    assert told["D.q"] == (-1.4, solver.get("D.q"), False)
    assert str(solver.start_changes[0]) == f"D.q from -1.4 to {solver.get('D.q'):.6g} rad"


def test_values_that_are_not_given_change_without_a_warning() -> None:
    solver = started(four_bar(D_q0=-1.6, D_u0=2.0))
    assert (solver.get("D.q"), solver.get("D.qd"), solver.start_changes) == (-1.6, 2.0, ())


def test_zero_is_a_value_that_can_be_given() -> None:
    model = four_bar(A_u0=0.0, D_u0=3.0)
    assert (started(model).get("A.qd"), started(four_bar(D_u0=3.0)).get("D.qd")) == (0.0, 3.0)
    copied = fm.Model("copied")
    copied.add(*model.bodies, *(replace(joint, damping=0.1) for joint in model.joints))
    assert [joint.given for joint in copied.joints] == [joint.given for joint in model.joints]


def test_if_a_value_is_out_of_reach_the_next_one_holds() -> None:
    """The rocker cannot turn to 0; the coupler's angle then holds."""
    solver = started(four_bar(D_q0=0.0, B_q0=0.9))
    assert solver.get("B.q") == 0.9
    assert set(changes(solver)) == {"D.q"}


def test_the_coordinate_of_a_cut_joint_holds_too() -> None:
    near = started(read_model("four_bar"))
    model = four_bar(C_q0=near.get("C.q") + 0.1 + 4 * np.pi, C_u0=-3.0)
    model = with_cut(model, "C")
    solver = started(model)
    assert_allclose((solver.get("C.q"), solver.get("C.qd")), (near.get("C.q") + 0.1 + 4 * np.pi, -3.0), rtol=1e-12)
    assert solver.mobility == 1 and solver.redundant_rows == 3
    solver.step(0.3)
    assert_closed(solver, model)


def with_cut(model: fm.Model, name: str) -> fm.Model:
    new = fm.Model(model.name)
    new.add(*model.bodies, *(replace(joint, cut=joint.name == name) for joint in model.joints))
    return new


def test_a_given_ball_of_a_cut_joint_holds() -> None:
    case = space(33, "spherical", spare=5)
    near = started(case.model)
    (cut,) = case.cuts
    q0 = near.get(f"{cut}.q") + np.array((0.0, 0.01, -0.01, 0.02))
    model = fm.Model("ball", gravity=case.model.gravity)
    ball = replace(case.model[cut], q0=q0, u0=(0.1, -0.2, 0.3), cut=True)
    tree = [replace(j, q0=guess(j.q0), u0=guess(j.u0)) for j in case.model.joints if j.name != cut]
    model.add(*case.model.bodies, *tree, ball)
    solver = started(model)
    assert_allclose(solver.get(f"{cut}.q"), ball.q0, atol=1e-11)
    assert_allclose(solver.get(f"{cut}.w"), ball.u0, atol=1e-11)
    assert solver.start_changes == ()


def test_simulate_and_check_report_every_given_value_that_changed() -> None:
    from fmumbs.cli.inspection import check_model

    model = four_bar(A_q0=-1.2, A_u0=6.0, D_q0=-1.4, B_u0=0.5)
    says = r"2 given start values: D\.q from -1\.4 to -1\.50\d* rad, B\.qd from 0\.5 to"
    with pytest.warns(fm.StartWarning, match=says):
        fm.simulate(model, stop=0.1)
    facts = check_model(model)
    assert [change["name"] for change in facts["start_changes"]] == ["D.q", "B.qd"]
    assert any("D.q from -1.4 to" in warning for warning in facts["warnings"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fm.simulate(read_model("four_bar"), stop=0.1)


def test_descriptions_distinguish_held_values_and_guesses() -> None:
    model = four_bar(A_q0=-1.2, D_q0=-1.4)
    model = fm.Model("held")
    near = four_bar(A_q0=-1.2, D_q0=-1.4)
    model.add(*near.bodies, *near.joints)
    variables = compile(model, everything=True).variables
    text = {name: variables.find(name).description for name in ("A.q", "B.q", "D.q", "A.qd", "C.q")}
    assert "as given" in text["A.q"]
    assert "a guess, determined by loops although a value is given" in text["D.q"]
    assert all(text[name].endswith("a guess, determined by loops") for name in ("B.q", "A.qd"))
    assert "start" not in text["C.q"]
    other = fm.Model("held")
    other.add(*near.bodies, *(replace(j, held=j.name == "A") for j in near.joints))
    held = compile(other, everything=True).variables.find("A.q")
    assert held.description.endswith("; start: held") and held.initial == "exact"


# Values that are set --------------------------------------------------------------------------------------------------


def test_values_that_are_set_have_priority_and_keep_turns_and_branch() -> None:
    near = started(read_model("four_bar"))
    for target in (0.5, 0.5 + 4 * np.pi, -3.0, 3.0):
        solver = fm.Solver(read_model("four_bar"))
        solver.set("A.q", target)
        solver.assemble()
        assert solver.get("A.q") == target
        assert_closed(solver, read_model("four_bar"))
        assert side(solver) == side(near)
        assert abs(solver.get("A.q") + solver.get("B.q")) < np.pi  # the coupler has only rocked on the way
        assert set(changes(solver)) >= {"B.q", "D.q"}


def side(solver: fm.Solver) -> float:
    """On which side of the line between the pins the coupler's joint is."""
    tip, joint = solver.get("coupler.r"), solver.get("rocker.r") * 0
    joint = tip + rotated(solver.get("coupler.quat"), (0.26, 0, 0))
    way, out = solver.get("rocker.r") - tip, joint - tip
    return float(np.sign(np.cross(way, out)[1]))


def rotated(q: Any, v: Any) -> Any:
    return matrix_of_quaternion(q) @ v


def test_a_ball_that_a_loop_turns_is_reported_as_a_whole() -> None:
    """Between two balls a rod lies along x, with any roll about it; the given orientation turns it out of x."""
    model, rod = fm.Model("rod"), fm.Body.cylinder("b", length=1.0, radius=0.1, mass=1.0)
    given = (np.cos(0.15), 0.0, 0.0, np.sin(0.15))
    model.add(rod, fm.Spherical("S", model.ground.at(), rod.base, q0=given))
    model.add(fm.Spherical("C", model.ground.at(1, 0, 0), rod.tip, cut=True))
    (change,) = started(model).start_changes
    assert change.name == "S.q"
    assert_allclose(change.given, given, rtol=1e-15)
    assert_allclose(change.value, (1, 0, 0, 0), atol=1e-12)


@pytest.mark.parametrize("names", [("D.q", "A.q"), ("A.q", "D.q")])
def test_the_order_of_calls_does_not_matter(names: tuple[str, str]) -> None:
    values = {"D.q": -1.6, "A.q": -1.1}
    solver = fm.Solver(read_model("four_bar"))
    for name in names:
        solver.set(name, values[name])
    solver.assemble()
    assert solver.get("A.q") == -1.1
    first = solver.start_changes[0]
    assert (first.name, first.given, first.was_set) == ("D.q", (-1.6,), True)


def test_setting_the_models_own_value_changes_nothing() -> None:
    """An importer that sets every start to the description's has set none."""
    image = compile(read_model("four_bar"), everything=True)
    solver, plain = fm.Solver(image), fm.Solver(image)
    for name in ("D.q", "B.q"):
        solver.set(name, solver.get(name))
    solver.set("B.qd", 1.0)
    plain.set("B.qd", 1.0)
    for one in (solver, plain):
        one.assemble()
    assert solver.get("B.qd") == 1.0 and solver.get("A.qd") == plain.get("A.qd")
    assert solver.state_save() == plain.state_save()


def test_after_steps_a_new_start_keeps_only_values_that_were_set() -> None:
    model = read_model("four_bar")
    solver = started(model)
    solver.step(0.2)
    there = solver.get("D.q")
    solver.set("D.q", there + 0.01)
    solver.assemble(0.2)
    assert solver.get("D.q") == there + 0.01
    assert solver.start_changes == ()
    assert_closed(solver, model)


def test_a_start_that_was_set_is_saved_with_the_state() -> None:
    image = compile(read_model("four_bar"), everything=True)
    first, second = fm.Solver(image), fm.Solver(image)
    first.set("D.q", -1.6)
    second.state_load(first.state_save())
    for solver in (first, second):
        solver.assemble()
    assert second.get("D.q") == -1.6
    assert first.state_save() == second.state_save()


def test_assembly_moves_joints_before_it_bends_bodies() -> None:
    near, model = read_model("four_link_flexible"), fm.Model("bent", gravity=(0, 0, 0))
    joints = [replace(j, q0=j.q0 + 0.05) if j.name == "D" else j for j in near.joints]
    model.add(*near.bodies, *joints)
    solver = started(model)
    assert_allclose(solver.get("coupler.q"), 0.0, atol=0)
    assert set(changes(solver)) == {"D.q"}


def test_each_mode_of_a_flexible_body_holds_what_is_set() -> None:
    """Before what is set of the joints behind it."""
    solver = fm.Solver(read_model("four_link_flexible"))
    solver.set("coupler.q", (1e-3, 2e-3))
    for joint, by in {"A": 0.003, "B": 0.006, "D": 0.012}.items():
        solver.set(f"{joint}.q", solver.get(f"{joint}.q") + by)
    solver.assemble()
    assert_allclose(solver.get("coupler.q"), (1e-3, 2e-3), rtol=0, atol=1e-15)
    assert set(changes(solver)) == {"B.q", "D.q"}


def test_long_ladders_start_at_once() -> None:
    """Its first crank decides; the work grows with the windows, not with their square."""
    near = read_model("ladder", {"windows": 300})
    model = fm.Model("ladder")
    model.add(*near.bodies)
    model.add(*(replace(j, q0=j.q0 + 1e-3 * (i % 7), u0=0.5) if j.given[0] else j for i, j in enumerate(near.joints)))
    solver = started(model)
    assert (solver.get("A0.q"), solver.get("A0.qd")) == (model["A0"].q0, 0.5)
    assert solver.get("solver.position_violation") < 1e-11
