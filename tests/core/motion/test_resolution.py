"""Coordinates and times so large that doubles no longer resolve the motion are refused with their number."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from support.slave import DISCARD, ERROR, OK, Slave, unpacked_fmu

JOINTS: dict[str, Any] = {
    "revolute": lambda *ends, far: fm.Revolute("J", *ends, axis="y", q0=far),
    "any axis": lambda *ends, far: fm.Revolute("J", *ends, axis=(1, 2, 3), q0=-far),
    "screw": lambda *ends, far: fm.Screw("J", *ends, pitch=0.1, q0=far),
    "cylindrical": lambda *ends, far: fm.Cylindrical("J", *ends, axis="y", q0=(far, 0)),
    "universal": lambda *ends, far: fm.Universal("J", *ends, q0=(0.1, far)),
    "planar": lambda *ends, far: fm.Planar("J", *ends, q0=(0, 0, far)),
    "product": lambda *ends, far: fm.Joint("J", *ends, modes=[fm.Turn("z"), fm.Slide("x")], q0=(far, 1)),
    "rolling": lambda *ends, far: fm.Joint(
        "J", *ends, modes=[fm.Slide("x"), fm.Slide("y"), fm.Turn("z")], q0=(0, 0, far),
        velocity_rows=[(0, 0, 0, 0, 1, 0)], speed_rows=[(0, 0, 0, 1, 0, 0), (0, 0, 1, 0, 0, 0)],
    ),
}  # fmt: skip


def rod(joint: str = "revolute", far: float = 0.0) -> fm.Model:
    model = fm.Model("rod")
    body = fm.Body("b", mass=1, com=(1, 0, 0.2), inertia=(0.1, 0.1, 0.1))
    model.add(body, JOINTS[joint](model.ground.at(), body.at(), far=far))
    return model


def solver_of(model: fm.Model, **options: Any) -> fm.Solver:
    return fm.Solver(compile(model, everything=True).with_options(**options))


@pytest.mark.parametrize("joint", JOINTS)
def test_a_start_angle_that_is_not_resolved_is_refused(joint: str) -> None:
    for far in (1e10, 1e15, 1e99):
        with pytest.raises(
            fm.AssemblyError, match=rf"joint 'J' starts at -?{far:.9g} rad, where numbers are".replace("+", r"\+")
        ):
            solver_of(rod(joint, far)).assemble()
    solver_of(rod(joint, 1e9)).assemble()


@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_up_to_there_the_energy_stays(dynamics: str) -> None:
    """At the largest angle that is accepted, and beside it at an angle of few digits."""
    largest = 0.99e-6 / np.finfo(float).eps
    solver = solver_of(rod(far=largest), dynamics=dynamics)
    solver.assemble()
    before = solver.get("solver.energy")
    solver.step(5.0)
    assert_allclose(solver.get("solver.energy"), before, atol=1e-4)


def test_a_looser_tolerance_takes_larger_angles() -> None:
    solver = solver_of(rod(far=1e11), tolerance=1e-4)
    solver.assemble()


def test_a_slide_is_measured_in_lengths() -> None:
    model = fm.Model("far")
    body = fm.Body("b", mass=1, com=(0.5, 0, 0), inertia=(1, 1, 1))
    joint = fm.Free("J", model.ground.at(), body.at(), q0=(1e12, 0, 0, 1, 0, 0, 0))
    model.add(body, joint)
    solver = solver_of(model)
    solver.assemble()
    with pytest.raises(fm.AssemblyError, match=r"joint 'J' starts at 1e\+15 m, where numbers are 0.125 m apart"):
        solver.set_state([1e15, 0, 0, 1, 0, 0, 0], [0] * 6)


@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "rk4"])
def test_an_angle_that_grows_beyond_it_ends_the_run(scheme: str) -> None:
    solver = solver_of(rod("revolute"), scheme=scheme, step=1e-2)
    solver.assemble()
    solver.set_state([4.4e9], [1e8])
    with pytest.raises(fm.SolverError, match=r"joint 'J' is at 4\.\d+e\+09 rad, where numbers are 9.54e-07 rad apart"):
        solver.step(10.0)
    assert 0.0 < solver.time < 10.0
    assert_allclose(solver.get("J.q"), 4.4e9 + 1e8 * solver.time, rtol=1e-8)  # time and state belong together


def test_of_a_cut_joint() -> None:
    """Its angle counts turns, and is at the limit where the tree's is. A shaft held by two hinges."""
    model = fm.Model("shaft")
    body = fm.Body("b", mass=1, inertia=(1, 1, 1))
    model.add(
        body, fm.Revolute("A", model.ground.at(), body.at()),
        fm.Revolute("C", model.ground.at(0, 0, 1), body.at(0, 0, 1), cut=True, q0=1e12),
    )  # fmt: skip
    with pytest.raises(fm.AssemblyError, match=r"joint 'C' starts at 1e\+12 rad"):
        solver_of(model).assemble()


def test_in_the_fmu(tmp_path: Path) -> None:
    fmu = unpacked_fmu(tmp_path, rod())
    slave = Slave(fmu)
    slave.initialize()
    assert slave.set("J.q", 1e15) == OK
    assert slave.call("fmi2ExitInitializationMode") == ERROR
    assert "joint 'J' starts at 1e+15 rad, where numbers are 0.125 rad apart" in slave.say
    assert slave.set("J.q", 4.4e9) == OK
    assert slave.set("J.qd", 1e8) == OK
    assert slave.call("fmi2ExitInitializationMode") == OK
    assert slave.step(0.0, 10.0) == DISCARD
    assert "where numbers are 9.54e-07 rad apart" in slave.say
    slave.free()


@pytest.mark.parametrize("late", [1e14, 1e300])
def test_a_start_time_that_is_not_resolved_is_refused(tmp_path: Path, late: float) -> None:
    with pytest.raises(fm.AssemblyError, match=r"numbers are .* s apart, more than solver\.step"):
        solver_of(rod()).assemble(late)
    solver_of(rod()).assemble(1e12)
    slave = Slave(unpacked_fmu(tmp_path, rod()))
    slave.initialize(begin=late)
    assert slave.call("fmi2ExitInitializationMode") == ERROR
    assert "more than solver.step = 0.001 s" in slave.say
    slave.free()


def test_nor_does_a_step_end_there() -> None:
    solver = solver_of(rod())
    solver.assemble()
    with pytest.raises(fm.SolverError, match=r"more than solver\.step"):
        solver.step(1e14)
    assert solver.time == 0.0
