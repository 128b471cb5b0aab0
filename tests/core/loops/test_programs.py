"""Programs beside dense Lagrange multipliers, at the start, within the transition and after it."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import null_space

import fmumbs as fm
from oracle import Oracle
from oracle.kinematics import State
from oracle.programs import Programmed
from support.closed import plane, state_of
from support.closed_agreement import is_well
from support.programs import TRANSITION, Drawn, curve, draw
from support.sweeps import each_pair, each_value, first, seeds

AGREEMENT = 1e-9  # relative to the largest acceleration or force
CLOSED = 1e-11  # [m] or [rad]
TURNING = 12  # a seed whose program is relative to a body that turns


def solver_of(case: Drawn, **options: object) -> fm.Solver:
    solver = fm.Solver(fm.compile(case.model).with_options(**({"tolerance": 1e-9} | options)))
    solver.assemble()
    return solver


def assert_follows(solver: fm.Solver, case: Drawn, oracle: object, t: float) -> None:
    state = replace(state_of(solver, case.plain), time=t)
    position, rate = oracle.programmed(state, "P")
    wanted = np.array(oracle.programs["P"][2](t))
    assert_allclose(position, wanted[0], rtol=0, atol=CLOSED)
    assert_allclose(rate, wanted[1], rtol=0, atol=30 * CLOSED)
    assert_drives(solver, case, oracle.solve(state))
    true = np.array(case.program.path(t))[0]
    assert_allclose(np.atleast_1d(solver.get("P.target")), true, rtol=0, atol=1e-14)
    assert_allclose(np.atleast_1d(solver.get("P.position")), position, rtol=0, atol=CLOSED)
    assert_allclose(solver.get("P.violation"), np.linalg.norm(position - true), rtol=0, atol=CLOSED)


FIRST = [(0, "point"), (1, "joint"), (0, "orientation"), (TURNING, "orientation"), (5, "point"), (0, "joint")]
FIRST += [(0, "length"), (1, "length"), (2, "length")]
EVERY = dict.fromkeys([*FIRST, *product((0, 1, 5, TURNING, 2, 3, 4), ("point", "joint", "orientation", "length"))])


@pytest.mark.parametrize(("seed", "kind"), first(len(FIRST), EVERY))
def test_a_random_program_is_followed_with_the_forces_of_its_multipliers(seed: int, kind: str) -> None:
    case = draw(seed, kind, loops=0 if kind == "orientation" else seed % 2)
    solver = solver_of(case)
    plain = fm.Solver(case.plain)
    plain.assemble()
    state: State = state_of(plain, case.plain)
    assert is_well(Oracle(case.plain), state)
    at, rate = case.oracle().programmed(state, "P")
    target = np.array(case.program.path(0.0))
    oracle = case.oracle(at - target[0], rate - target[1])
    for t in (0.0, 0.4 * TRANSITION, 0.97 * TRANSITION, 0.6):
        solver.step(t) if t else None
        assert_follows(solver, case, oracle, t)


@each_pair
@pytest.mark.parametrize("loops", [0, 1])
@pytest.mark.parametrize("kind", ["point", "joint", "orientation"])
@pytest.mark.parametrize("seed", seeds(3, 60))
def test_a_path_is_reached_from_guesses_far_from_it(seed: int, kind: str, loops: int) -> None:
    """Up to 1.5 rad or 1.5 m off; there is no transition, so that the mechanism must start on the path."""
    case, rng = draw(seed, kind, loops=loops, transition=0.0), np.random.default_rng([seed, 9])
    image = fm.compile(case.model)
    there, solver = fm.Solver(image), fm.Solver(image)
    try:
        there.assemble()
    except fm.AssemblyError:
        pytest.skip("the program prescribes what the drawn mechanism cannot do")
    names = image.variables.names(image.variables.positions())
    free = np.array([".eta" not in name for name in names])
    references = image.variables.positions()[free]
    solver.write(references, solver.read(references) + rng.uniform(-1.5, 1.5, free.sum()))
    solver.assemble()
    assert_allclose(np.atleast_1d(solver.get("P.position")), np.array(case.program.path(0.0))[0], rtol=0, atol=CLOSED)


RATES = ("speed", "speed_M", "spin", "spin_M", "twist", "twist_M")
FIRST_RATES = [*product([0], RATES, [1, 2]), (TURNING, "spin", 1), (TURNING, "twist_M", 2), (1, "twist", 2)]
EVERY_RATE = dict.fromkeys([*FIRST_RATES, *product((0, TURNING, 1, 2), RATES, [1, 2])])


@pytest.mark.parametrize(("seed", "kind", "order"), first(len(FIRST_RATES), EVERY_RATE))
def test_random_programs_of_velocities_and_accelerations(seed: int, kind: str, order: int) -> None:
    case = draw(seed, kind, loops=0 if kind[:4] == "spin" else seed % 2, order=order)
    solver = solver_of(case, dynamics=("riccati", "copcod")[(seed + order - 1) % 2])
    start = case.oracle().programmed(state_of(solver, case.plain), "P")[0]
    off = start - np.array(case.program.path(0.0))[0]
    oracle = case.oracle() if order == 2 else case.oracle(off, 0 * off)
    oracle.accelerations |= {"P"} if order == 2 else set()
    for t in (0.0, 0.4 * TRANSITION, 0.97 * TRANSITION, 0.6):
        solver.step(t) if t else None
        state = replace(state_of(solver, case.plain), time=t)
        value, drift = oracle.programmed(state, "P")
        answer = oracle.solve(state)
        if order == 2:
            value = oracle.further_rows(state)["P"][0] @ answer.nu + drift
        assert_allclose(np.atleast_1d(solver.get("P.position")), value, rtol=0, atol=1e-8)
        assert_allclose(value, np.array(oracle.programs["P"][2](t))[0], rtol=0, atol=1e-10)
        assert_drives(solver, case, answer)


def assert_drives(solver: fm.Solver, case: Drawn, answer: object) -> None:
    """Accelerations of the joints, and the drive's forces."""
    names = [f"{joint.name}.{what}" for joint in case.plain.joints for what in ("qdd", "alpha")]
    names = [name for name in names if name in answer.names() and solver.image.variables.references(name)]
    scale = max(1.0, *(np.abs(answer[name]).max() for name in names))
    for name in names:
        assert_allclose(solver.get(name), answer[name], rtol=0, atol=AGREEMENT * scale, err_msg=name)
    drive = np.atleast_1d(solver.get("P.drive"))
    assert_allclose(drive, answer["P.drive"], rtol=0, atol=AGREEMENT * max(1.0, np.abs(drive).max()))


@pytest.mark.parametrize("loops", [0, 1])
def test_a_program_takes_its_coordinates_from_the_mobility(loops: int) -> None:
    case = draw(3, "point", loops=loops)
    found, plain = fm.uniqueness(case.model), fm.uniqueness(case.plain)
    assert found.mobility == plain.mobility - len(case.about[2])
    assert {joint.name for joint in case.plain.joints} <= {reaction.joint for reaction in found.joints}


def test_a_point_of_a_body_that_its_loop_locks_is_refused() -> None:
    """The row of the program vanishes along all motions that the oracle's constraints allow."""
    case = draw(51, "point", loops=1)
    plain = fm.Solver(case.plain)
    plain.assemble()
    state, oracle = state_of(plain, case.plain), case.oracle()
    motions = null_space(np.vstack([oracle._rows(state, joint)[0] for joint in oracle.joints]), rcond=1e-10)
    assert motions.shape[1] == 4
    assert_allclose(oracle.further_rows(state)["P"][0] @ motions, 0.0, atol=1e-14)
    with pytest.raises(fm.AssemblyError, match=r"program 'P' prescribes what .* locked by the loops"):
        solver_of(case)


def test_after_a_refused_start_another_one_has_its_programs() -> None:
    """A straight arm, whose tip cannot move along it; then one that is bent."""

    def arm() -> fm.Solver:
        model = fm.Model("arm")
        a, b = fm.Body.rod("a", length=1.0, mass=1.0), fm.Body.rod("b", length=1.0, mass=1.0)
        model.add(a, b, fm.Revolute("A", model.ground.at(), a.base, axis="y", q0=0.3))
        model.add(fm.Revolute("B", a.tip, b.base, axis="y"))
        start = (2.0 * np.cos(0.3), -2.0 * np.sin(0.3))
        model.add(fm.ProgrammedPoint("P", b.tip, directions="xz", input="eta", cutoff=10.0, start=start))
        return fm.Solver(model)

    def bent(solver: fm.Solver) -> list[float]:
        for name, value in (("B.q", 0.5), *((f"P.{eta}[{k}]", x) for eta in ("eta", "eta_in") for k, x in tip)):
            solver.set(name, value)
        solver.assemble()
        return [solver.get(name) for name in ("A.q", "B.q", "P.drive[1]", "P.drive[2]")]

    tip = ((1, 1.5), (2, -0.5))
    solver = arm()
    with pytest.raises(fm.AssemblyError, match="singular for it or locked by the loops"):
        solver.assemble()
    found = bent(solver)
    assert found == bent(arm())
    assert_allclose(solver.get("P.position[1]"), 1.5, rtol=1e-9)


def moves(plain: fm.Model, state: State, kind: str, about: Any) -> float:
    """The largest rate of what a program would prescribe, among motions that the oracle's constraints allow."""
    oracle = Programmed(plain, {"P": (kind, about, lambda t: np.zeros((3, 1)))})
    motions = null_space(np.vstack([oracle._rows(state, joint)[0] for joint in oracle.joints]), rcond=1e-10)
    return float(np.abs(oracle.further_rows(state)["P"][0] @ motions).max())


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("kind", ["point", "joint"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_loops_with_redundant_rows_carry_programs(seed: int, kind: str, dynamics: str) -> None:
    """A loop of pins in a plane, whose rows across it are redundant, driven by one program."""
    plain = plane(seed, loops=1).model
    solver, rng = fm.Solver(plain), np.random.default_rng([seed, 6])
    solver.assemble()
    state, frame = state_of(solver, plain), plain.bodies[0].at(0.1, 0.2, 0.0)
    points = [(frame, body.at(0.2, 0.0, 0.1), letter) for body in plain.bodies[1:] for letter in "xz"]
    about: Any = max(
        points if kind == "point" else plain.joints[: len(plain.bodies)], key=lambda one: moves(plain, state, kind, one)
    )
    now = Programmed(plain, {"P": (kind, about, None)}).programmed(state, "P")[0]  # type: ignore[dict-item]
    options: Any = {"path": curve(rng, now, 1.0), "transition": TRANSITION}
    if kind == "joint":
        program: fm.Program = fm.ProgrammedJoint("P", about, **options)
    else:
        program = fm.ProgrammedPoint("P", about[1], frame=frame, directions=about[2], **options)
    model = fm.Model("programmed", gravity=plain.gravity)
    model.add(*plain.elements, program)
    case = Drawn(model, plain, program, kind, about)
    at, rate = case.oracle().programmed(state, "P")
    target = np.array(program.path(0.0))  # type: ignore[operator]
    oracle = case.oracle(at - target[0], rate - target[1])
    solver = solver_of(case, dynamics=dynamics)
    for t in (0.0, 0.1):
        solver.step(t) if t else None
        assert_follows(solver, case, oracle, t)
