"""Steps that make no headway end with what is known; the state is kept."""

from pathlib import Path

import numpy as np
import pytest

import fmumbs as fm
from support.slave import DISCARD, LAST_SUCCESSFUL_TIME, OK, Slave, unpacked_fmu

SCHEMES = ["dopri5", "dop853", "radau", "auto"]
SUDDEN = [1e26, 3e25, 2e25]  # [N.m]: the body then turns faster and faster, more often than any scheme can follow


def tumbler() -> fm.Model:
    model = fm.Model("tumbler", gravity=(0, 0, 0))
    body, weight = (fm.Body(name, mass=1.0, inertia=(1.0, 2.0, 2.5)) for name in ("body", "weight"))
    model.add(body, weight, fm.Prismatic("slow", model.ground.at(), weight.at(), axis="x", u0=0.1))
    model.add(fm.Spherical("S", model.ground.at(), body.at()))
    return model


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_thousand_steps_without_headway_end_the_step(scheme: str, dynamics: str) -> None:
    solver = fm.Solver(fm.compile(tumbler()).with_options(scheme=scheme, dynamics=dynamics))
    solver.assemble()
    solver.step(1.0)
    before = solver.get("solver.steps")
    solver.set("S.tau", SUDDEN)
    known = r"at t = 1 s it makes no headway: 1000 steps .* joint 'S' changes fastest, by .* rad/s2; .* its error"
    with pytest.raises(fm.SolverError, match=known):
        solver.step(1.0001)
    assert solver.get("solver.steps") - before == 1000
    assert 0.0 < solver.time - 1.0 < 1e-9
    reached = solver.time, np.array(solver.get("S.w"))
    assert np.all(np.isfinite(reached[1]))
    assert np.linalg.norm(reached[1]) > 1e13
    solver.set("S.tau", [0.0] * 3)
    assert (solver.time, *solver.get("S.w")) == (reached[0], *reached[1])


def test_a_run_that_begins_with_short_steps_ends_as_well() -> None:
    """Nothing compares with a longest step then: but at this pace the rest takes a million times the most steps."""
    solver = fm.Solver(fm.compile(tumbler()))
    solver.assemble()
    solver.set("S.tau", SUDDEN)
    with pytest.raises(fm.SolverError, match=r"makes no headway: 1000 steps in a row were shorter than 1e-15 s"):
        solver.step(1e-3)
    assert 1000 < solver.get("solver.steps") < 10000


def test_the_run_continues_from_the_state_that_is_kept() -> None:
    """What was reached is as good as an exact run to there, and the next steps go on from it."""
    solver = fm.Solver(fm.compile(tumbler()))
    solver.assemble()
    solver.step(1.0)
    solver.set("S.tau", SUDDEN)
    for message in ("makes no headway", "makes no headway|step size became too small"):
        before = solver.time
        with pytest.raises(fm.SolverError, match=message):
            solver.step(1.0001)
        assert solver.time > before
    assert solver.get("slow.q") == pytest.approx(0.1 * solver.time, rel=1e-9)


def test_steps_cut_short_by_the_host_make_headway() -> None:
    """2000 communication steps of 1e-11 of the first one."""
    solver = fm.Solver(fm.compile(tumbler()))
    solver.assemble()
    solver.step(1.0)
    for n in range(1, 2001):
        solver.set("S.tau", [1e-3 * n, 0, 0])
        solver.step(1.0 + 1e-11 * n)
    assert solver.time == 1.0 + 2e-8


def test_too_few_results_say_where() -> None:
    solver = fm.Solver(fm.compile(tumbler()))
    solver.assemble()
    solver.step(1.0)
    solver.set("S.tau", SUDDEN)
    with pytest.raises(fm.SolverError, match=r"200 integration steps reached only .* joint 'S' changes fastest"):
        solver.step(2.0)


def test_where_no_joint_accelerates_none_is_named() -> None:
    """Only a clamped beam bends, whose modes belong to no joint."""
    model = fm.Model("bending", gravity=(0, 0, 0))
    beam = fm.ModalBody.beam("beam", length=1.0, mass=1.0, EI=1.0, modes=1, plane="xy")
    other = fm.Body("other", mass=1.0, inertia=(1, 1, 1))
    model.add(beam, other, fm.Weld("W", model.ground.at(), beam.base), fm.Revolute("R", model.ground.at(), other.at()))
    model.add(fm.Load("pull", beam.tip))
    solver = fm.Solver(fm.compile(model))
    solver.assemble()
    solver.step(1.0)
    solver.set("pull.force", [0.0, 1e200, 0.0])
    with pytest.raises(fm.SolverError, match="too small: the last trial step met a state that is not finite"):
        solver.step(1.1)


def test_an_fmu_discards_the_step(tmp_path: Path) -> None:
    slave = Slave(unpacked_fmu(tmp_path / "tumbler", tumbler()))
    slave.start()
    assert slave.step(0.0, 1.0) == OK
    for i, value in enumerate(SUDDEN):
        assert slave.set(f"S.tau[{i + 1}]", value) == OK
    assert slave.step(1.0, 1e-4) == DISCARD
    assert "makes no headway" in slave.say
    assert "joint 'S'" in slave.say
    status, time = slave.real_status(LAST_SUCCESSFUL_TIME)
    assert status == OK
    assert 1.0 < time < 1.0 + 1e-9
    for i in range(3):
        assert slave.set(f"S.tau[{i + 1}]", 0.0) == OK
    slave.free()


def arm_out_of_reach() -> fm.Model:
    """Two links of length one, whose tip is led from 1.2 to 2.5 from the base."""
    model, half = fm.Model("arm"), float(np.arccos(0.6))
    a, b = (fm.Body(name, mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1)) for name in "ab")
    path = fm.Path.line([1.2, 0.0], [2.5, 0.0], 1.0)
    model.add(a, b, fm.Revolute("A", model.ground.at(), a.at(), axis="z", q0=half))
    model.add(fm.Revolute("B", a.at(1, 0, 0), b.at(), axis="z", q0=-2 * half))
    model.add(fm.ProgrammedPoint("P", b.at(1, 0, 0), directions="xy", path=path))
    return model


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_steps_towards_locked_drives_end_where_these_are_dependent(scheme: str, dynamics: str) -> None:
    """Where the arm is straight but for the root of a pivot of 1e-9, which counts as none: not a tenth of it, where the
    time has no digits left, and which takes up to twice as many steps."""
    solver = fm.Solver(fm.compile(arm_out_of_reach(), everything=True).with_options(scheme=scheme, dynamics=dynamics))
    solver.assemble()
    with pytest.raises(fm.SolverError, match=r"the path of program 'P' is out of reach: nearest gap 0\.5 m"):
        solver.step(1.0)
    assert 3e-5 < abs(solver.get("B.q")) < 3e-4
