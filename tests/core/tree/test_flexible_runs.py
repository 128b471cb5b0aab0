"""Motions of flexible bodies: energy, rigid limits, saved states, loops and derivatives."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model
from fmumbs.run import Solver
from support.sweeps import each_value


def chain(EI: float = 60.0, damping: float = 0.0, plane: str = "xy") -> fm.Model:
    """A swinging beam with another on its tip and a rod at its middle."""
    normal = {"xy": "z", "xz": "-y"}[plane]
    model = fm.Model("chain", gravity=(0, -9.81, 0) if plane == "xy" else (0, 0, -9.81))
    options: dict[str, Any] = {"EI": EI, "damping_ratio": damping, "plane": plane}
    first = fm.ModalBody.beam("first", length=1.0, mass=1.0, **options)
    second = fm.ModalBody.beam("second", length=0.8, mass=0.6, boundary="pinned-pinned", **options)
    rod = fm.Body.rod("rod", length=0.5, mass=0.3)
    model.add(
        first, second, rod,
        fm.Revolute("A", model.ground.at(), first.base, axis=normal, q0=0.3),
        fm.Revolute("B", first.tip, second.base, axis=normal, q0=0.5),
        fm.Revolute("C", first.at(0.5), rod.base, axis=normal, q0=-0.5),
    )  # fmt: skip
    return model


def run(model: fm.Model, stop: float, outputs: tuple[str, ...], tolerance: float = 1e-9, interval: float = 0.1) -> Any:
    solver = Solver(compile(model).with_options(tolerance=tolerance))
    solver.assemble()
    rows = []
    for t in np.arange(0.0, stop + 1e-9, interval):
        solver.step(t)
        rows.append(np.concatenate([np.ravel(solver.get(name)) for name in outputs]))
    return np.array(rows)


@each_value
@pytest.mark.parametrize("plane", ["xy", "xz"])
def test_energy_stays_over_ten_seconds_of_large_rotation(plane: str) -> None:
    found = run(chain(plane=plane), 10.0, ("solver.energy", "A.q", "first.q", "second.q"))
    assert np.ptp(found[:, 1]) > 2.0  # it swings through
    assert np.abs(found[:, 2]).max() > 0.01  # and bends
    assert np.ptp(found[:, 0]) < 1e-6


def test_both_planes_are_the_same_mechanism() -> None:
    a, b = (run(chain(plane=plane), 1.0, ("A.q", "B.q", "first.q", "second.q")) for plane in ("xy", "xz"))
    assert_allclose(a, b, rtol=0, atol=1e-6)


def test_damping_takes_energy_away() -> None:
    energy = run(chain(damping=0.05), 2.0, ("solver.energy",))[:, 0]
    assert (np.diff(energy) < 1e-9).all()
    assert energy[-1] < energy[0] - 1e-3


def test_a_stiff_beam_moves_as_a_rigid_one() -> None:
    """The distance from the rigid motion falls as 1 / EI."""
    model = fm.Model("chain", gravity=(0, -9.81, 0))
    first, second = fm.Body.rod("first", length=1.0, mass=1.0), fm.Body.rod("second", length=0.8, mass=0.6)
    rod = fm.Body.rod("rod", length=0.5, mass=0.3)
    model.add(
        first, second, rod,
        fm.Revolute("A", model.ground.at(), first.base, q0=0.3),
        fm.Revolute("B", first.tip, second.base, q0=0.5),
        fm.Revolute("C", first.at(0.5), rod.base, q0=-0.5),
    )  # fmt: skip
    tips = ("second.tip.r", "rod.tip.r")
    rigid = run(model, 0.6, tips)
    far = [np.abs(run(chain(EI=EI, damping=0.1), 0.6, tips) - rigid).max() for EI in (1e3, 1e4, 1e5)]
    assert far[0] < 0.05
    assert 5 < far[0] / far[1] < 20
    assert 5 < far[1] / far[2] < 20


def test_saved_state_goes_on_bit_for_bit_at_every_level() -> None:
    image = compile(chain())
    ends = []
    for level in (0, 1):
        solver = Solver(image)
        try:
            solver.use_level(level)
        except fm.SolverError:
            continue
        solver.assemble()
        solver.step(0.31)
        state = solver.state_save()
        solver.step(0.9)
        ends.append(solver.state_save())
        other = Solver(image)
        other.use_level(level)
        other.state_load(state)
        other.step(0.9)
        ends.append(other.state_save())
    assert len(set(ends)) == 1


def test_loops_close_by_their_joints_rather_than_by_bending() -> None:
    """Guesses that are off by centimetres: the modes hardly yield, although that would take the least inertia."""
    model = fm.Model("four_bar", gravity=(0, 0, 0))
    crank, rocker = fm.Body.rod("crank", length=1.0, mass=1.0), fm.Body.rod("rocker", length=1.0, mass=1.0)
    coupler = fm.ModalBody.beam("coupler", length=1.0, mass=1.0, EI=2000.0)
    model.add(
        crank, coupler, rocker,
        fm.Revolute("A", model.ground.at(), crank.base, q0=1.0),
        fm.Revolute("B", crank.tip, coupler.base, q0=-1.05),
        fm.Revolute("D", model.ground.at(1.1, 0, 0), rocker.base, q0=1.1),
        fm.Revolute("C", coupler.tip, rocker.tip),
    )  # fmt: skip
    solver = Solver(compile(model))
    solver.assemble()
    assert np.abs(solver.get("coupler.q")).max() < 1e-4
    assert solver.get("solver.position_violation") < 1e-12


def test_a_whole_state_has_a_bodys_modes_after_the_joint_that_carries_it() -> None:
    solver = Solver(compile(chain()))
    names = [name for name in solver.joint_names if name != "B"]
    assert names == ["A", "C"]
    solver.set_state([0.1, 0.01, 0.02, 0.2, 0.03, 0.04, 0.3], np.arange(7.0))
    assert solver.get("A.q") == 0.1
    assert solver.get("B.q") == 0.2
    assert_allclose(solver.get("first.q"), (0.01, 0.02))
    assert_allclose(solver.get("second.q"), (0.03, 0.04))
    assert_allclose(solver.get("second.qd"), (4, 5))
    assert solver.get("C.qd") == 6


@pytest.mark.parametrize("name", ["four_link_flexible", "multi_loop_flexible", "sliders"])
def test_the_papers_examples_stay_closed_in_steps_of_a_hundredth(name: str) -> None:
    """By Runge-Kutta's method, whose only loss is what it takes from the beams' fast modes."""
    solver = Solver(compile(read_model(name)).with_options(scheme="rk4", step=0.01))
    solver.assemble()
    energy = [solver.get("solver.energy")]
    for t in np.arange(0.5, 20.1, 0.5):
        solver.step(t)
        energy.append(solver.get("solver.energy"))
        assert solver.get("solver.position_violation") < 1e-11
        assert solver.get("solver.velocity_violation") < 1e-10
    assert (np.diff(energy) < 1e-6).all()
