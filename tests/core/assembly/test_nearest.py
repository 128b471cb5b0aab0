"""Which configuration of loops is the start: with the held values, the nearest to the guesses that are given."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import compile
from oracle import Oracle
from oracle.joints import matrix_of_quaternion
from support.closed import Closed, plane, space, state_of
from support.closed_agreement import assert_closed, singular, started
from support.sweeps import seeds

OFF = 0.3  # [rad], or relative to the model's length: how far guesses are off
SAME = 1e-6  # [rad], or relative to it: round-off of a start, worse towards singular positions
FREE = 0.01  # rates in motions of norm 1, from which on a value fixes a motion clearly
WELL = 1e-3  # least singular value over the largest: draws nearer to singular positions are drawn again
DYNAMICS = ("riccati", "copcod")


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_guesses_that_close_the_loop_are_kept(dynamics: str, tmp_path: Path) -> None:
    """A rhombus; of its last joint nobody says anything."""
    model = fm.Model("rhombus")
    a, b, c = (fm.Body.rod(name, length=1.0, mass=1.0) for name in "abc")
    model.add(a, b, c, fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=-1.0))
    model.add(fm.Revolute("B", a.tip, b.base, axis="y", q0=1.0), fm.Revolute("C", b.tip, c.base, axis="y"))
    model.add(fm.Revolute("D", model.ground.at(1, 0, 0), c.tip, axis="y"))
    image = compile(model, everything=True).with_options(dynamics=dynamics)
    solver = fm.Solver(image)
    solver.assemble()
    assert solver.get("A.q") == -1.0
    assert solver.get("B.q") == pytest.approx(1.0, abs=1e-12)
    assert solver.start_changes == ()
    rows = fmpy.simulate_fmu(str(fm.export_fmu(image, tmp_path / "rhombus.fmu")), stop_time=0.01, output=["A.q", "B.q"])
    assert (rows["A.q"][0], rows["B.q"][0]) == (solver.get("A.q"), solver.get("B.q"))


def closed_at_random(seed: int) -> tuple[Closed, fm.Solver]:
    """Loops in the plane or in space, one or several, away from singular positions, and where they are closed."""
    for again in range(100):
        rng = np.random.default_rng([24, seed, again])
        number, loops = int(rng.integers(1 << 30)), int(rng.integers(1, 4))
        if seed % 2:
            case = plane(number, loops)
        else:
            sorts = ("revolute", "revolute", "prismatic", "spherical")
            case = space(number, None, min(loops, 2), sorts=sorts, spare=int(rng.integers(1, 3)))
        try:
            solver = started(case.model)
        except fm.AssemblyError:
            continue
        values = singular(Oracle(case.model), state_of(solver, case.model))[0]
        if values[-1] >= WELL * values[0]:
            return case, solver
    raise AssertionError("no draw is away from singular positions")


def rates(case: Closed, solver: fm.Solver) -> dict[str, np.ndarray]:
    """The rates of each joint's coordinates in the motions that all joints leave."""
    oracle, state = Oracle(case.model), state_of(solver, case.model)
    J = np.vstack([oracle._rows(state, joint)[0] for joint in oracle.joints])
    _, S, V = np.linalg.svd(J)
    motions = V[np.count_nonzero(1e-9 * S[0] < S) :].T
    return {joint.name: oracle.coordinates(state, joint)[0] @ motions for joint in oracle.joints}


def given_at_random(rng: np.random.Generator, case: Closed, solver: fm.Solver) -> tuple[fm.Model, list[str]] | None:
    """The same with exact values of joints that fix every motion, guesses of others, and some that are not given. In an
    order of its own; None if balls fix some motions in part."""
    free = rates(case, solver)
    taken = np.zeros((0, len(next(iter(free.values())).T)))
    tree = [joint for joint in case.model.joints if joint.name not in case.cuts]
    order = [tree[i] for i in rng.permutation(len(tree))]
    joints, held = [], []
    length = float(solver.image.arrays["length"][0])
    for joint in order:
        at = solver.get(f"{joint.name}.q")
        rows = np.vstack([taken, free[joint.name]])
        independent = len(rows) <= rows.shape[1] and np.linalg.svd(rows)[1][-1] > FREE
        if independent:
            taken, q0 = rows, at
            held.append(joint.name)
        elif len(taken) < taken.shape[1] and np.linalg.matrix_rank(rows, 1e-6) > len(taken):
            return None  # whether such a value is held depends on its leverage, or it has more numbers than are left
        elif rng.random() < 0.35:
            q0 = None
        elif isinstance(joint, fm.Spherical):
            half = OFF / 2 * rng.uniform(-1, 1, 3) / np.sqrt(3)
            q0 = at + np.array([-at[1:] @ half, *(at[0] * half + np.cross(at[1:], half))])
        else:
            q0 = at + OFF * rng.uniform(-1, 1) * (length if isinstance(joint, fm.Prismatic) else 1.0)
        joints.append(bare(joint, q0))
    if len(taken) < taken.shape[1]:
        return None
    model = fm.Model("given", gravity=case.model.gravity)
    cuts = [joint for joint in case.model.joints if joint.name in case.cuts]
    model.add(*case.model.bodies, *joints, *(bare(joint, None) for joint in cuts))
    return model, held


def bare(joint: Any, q0: Any) -> Any:
    """The same joint with a start position, None if nobody gives one."""
    names = ("modes",) if type(joint) is fm.Joint else ("axis", "axes", "normal", "pitch", "length", "height")
    known = {name: getattr(joint, name) for name in names if hasattr(joint, name)}
    if q0 is not None:
        known["q0"] = q0
    return type(joint)(joint.name, joint.F, joint.M, **known)


def off(joint: Any, first: Any, second: Any, length: float) -> float:
    """How far two positions of a joint are apart."""
    if isinstance(joint, fm.Spherical):
        A, B = (matrix_of_quaternion(np.array(q) / np.linalg.norm(q)) for q in (first, second))
        return float(np.arccos(np.clip((np.trace(A.T @ B) - 1) / 2, -1, 1)))
    if isinstance(joint, fm.Prismatic):
        return abs(first - second) / length
    return abs((first - second + np.pi) % (2 * np.pi) - np.pi)


def drawn(seed: int) -> tuple[Closed, fm.Solver, fm.Model, list[str]]:
    """A mechanism where it was closed, the same with starts that are given in part, and which of these are exact."""
    for again in range(100):
        case, solver = closed_at_random(1000 * again + seed)
        found = given_at_random(np.random.default_rng([25, seed, again]), case, solver)
        if found is not None:
            return case, solver, *found
    raise AssertionError("balls fix some motions in part in each of them")


def assert_nearest(seed: int) -> bool:
    """Whether the start is the configuration from which the guesses were made. If not, it has to be nearer to them."""
    case, solver, model, held = drawn(seed)
    found, length = started(model), float(solver.image.arrays["length"][0])
    assert_closed(found, model)
    assert all(model[change.name.split(".")[0]].given[change.unit.endswith("/s")] for change in found.start_changes)
    joints = [joint for joint in model.joints if joint.name not in case.cuts]
    at = {which: {joint.name: which.get(f"{joint.name}.q") for joint in joints} for which in (found, solver)}
    moved = {joint.name: off(joint, at[found][joint.name], at[solver][joint.name], length) for joint in joints}
    for name in held:
        assert moved[name] < SAME, name
    if max(moved.values()) < SAME:
        return True
    guesses = [joint for joint in joints if joint.given[0] and joint.name not in held]
    here, there = (
        np.linalg.norm([off(joint, at[which][joint.name], joint.q0, length) for joint in guesses])
        for which in (found, solver)
    )
    assert here <= there * (1 + 1e-9)
    return False


@pytest.mark.parametrize("joint", ["closing", "tree"])
@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_a_slide_starts_many_lengths_away(dynamics: str, joint: str) -> None:
    """The mount has six freedoms and no given start. Whichever of the two is in the tree, the slide keeps its own."""
    model = fm.Model("far")
    block = fm.Body("block", mass=1, com=(0.01, 0, 0), inertia=(1, 1, 1))
    mount = fm.Bushing("C", model.ground.at(), block.at(), stiffness=[1] * 6, cut=joint == "tree")
    model.add(block, fm.Prismatic("S", model.ground.at(), block.at(), axis="x", q0=1.0), mount)
    solver = fm.Solver(compile(model, everything=True).with_options(dynamics=dynamics))
    solver.assemble()
    assert solver.image.cut_joints == (("C",) if joint == "tree" else ("S",))
    assert solver.get("S.q") == pytest.approx(1.0, abs=1e-12)
    assert solver.start_changes == ()


@pytest.mark.parametrize("seed", seeds(10, 200))
def test_of_two_positions_close_to_one_another_the_nearer_one_starts(seed: int) -> None:
    """A crank that is held, and a slide of which two positions fit: a rod that is barely long enough."""
    rng = np.random.default_rng([24, seed])
    angle, apart, side = rng.uniform(0.5, 2.5), 10.0 ** rng.uniform(-1.9, -1.0), rng.choice([-1.0, 1.0])
    model = fm.Model("slider")
    crank = fm.Body.rod("crank", length=1.0, mass=1.0)
    rod = fm.Body.rod("rod", length=np.hypot(np.sin(angle), apart), mass=1.0)
    slider = fm.Body("slider", mass=1.0, inertia=(1, 1, 1))
    model.add(crank, rod, slider, fm.Revolute("A", model.ground.at(), crank.base, axis="z", q0=angle))
    model.add(fm.Prismatic("C", model.ground.at(), slider.at(), axis="x", q0=np.cos(angle) + 0.4 * side * apart))
    model.add(fm.Revolute("B", crank.tip, rod.base, axis="z"), fm.Revolute("D", rod.tip, slider.at(), axis="z"))
    for dynamics in DYNAMICS:
        solver = fm.Solver(compile(model, everything=True).with_options(dynamics=dynamics))
        solver.assemble()
        assert solver.get("C.q") == pytest.approx(np.cos(angle) + side * apart, abs=1e-9)


@pytest.mark.parametrize("seed", [92, 292])
def test_a_branch_that_no_iteration_from_the_guesses_meets(seed: int) -> None:
    """From the guesses themselves the loops of the first do not close, and of the second not with all held values."""
    assert assert_nearest(seed)


def test_a_value_that_is_set_closes_loops_that_the_models_own_leaves_open() -> None:
    """From the guesses no iteration meets the branch, as above."""
    model, held = drawn(42)[2:]
    right = model[held[-1]].q0
    joints = [replace(one, q0=right + 1.5, held=True) if one.name == held[-1] else one for one in model.joints]
    moved = fm.Model("moved", gravity=model.gravity)
    moved.add(*model.bodies, *joints)
    solver = fm.Solver(moved)
    with pytest.raises(fm.AssemblyError):
        solver.assemble()
    solver.set(f"{held[-1]}.q", right)
    solver.assemble()
    assert solver.get(f"{held[-1]}.q") == right
    assert_closed(solver, moved)


@pytest.mark.parametrize("seed", seeds(12, 300))
def test_guesses_choose_the_branch(seed: int) -> None:
    assert_nearest(seed)
