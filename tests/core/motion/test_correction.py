"""How loops are kept closed: the correction after a step, Baumgarte's terms, and their options."""

from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.errors import FmumbsError
from fmumbs.readers import read_model
from fmumbs.spatial import Rotation
from oracle import Oracle
from support.closed import space, state_of


@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853"])
def test_each_kind_of_correction_bounds_the_violation(scheme: str) -> None:
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


def test_a_long_ring_is_not_corrected_at_every_step() -> None:
    """Its rows have small pivots beside the first ones wherever it is; but no singular position is near."""
    solver = fm.Solver(read_model("rod_loop", {"rods": 500}))
    solver.assemble()
    solver.step(0.01)
    assert solver.get("solver.steps") > 20
    assert solver.get("solver.corrections") <= 5
    assert solver.get("solver.position_violation") <= 1e-12


@pytest.mark.parametrize("kind", ["revolute", "spherical", "screw", "planar", "distance"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_correction_is_the_smallest_in_the_mass_norm(kind: str, seed: int) -> None:
    """What moves the bodies from where a step leaves them is orthogonal, in that norm, to all that the joints allow."""
    case = space(seed, kind)
    image = compile(case.model, everything=True).with_options(scheme="rk4", step=0.03)
    found = []
    for options in ({}, {"correction": "off"}):
        solver = fm.Solver(image.with_options(**options))
        solver.assemble()
        solver.step(0.03)
        found.append(state_of(solver, case.model))
    oracle, (after, before) = Oracle(case.model), found
    M, moved = oracle.inertia(after), np.zeros(6 * len(oracle.bodies))
    for body in oracle.bodies:
        i, A, B, com = oracle.column[body.name], after.frame[body.name], before.frame[body.name], np.array(body.com)
        moved[i : i + 3] = (A.p + A.R @ com) - (B.p + B.R @ com)
        moved[i + 3 : i + 6] = 2.0 * Rotation(A.R @ B.R.T).as_quaternion()[1:]
    J = np.vstack([oracle._rows(after, joint)[0] for joint in oracle.joints])
    _, S, V = np.linalg.svd(J)
    allowed = V[np.count_nonzero(S / S[0] > 1e-9) :].T
    L = np.linalg.cholesky(allowed.T @ M @ allowed)
    along = np.linalg.norm(np.linalg.solve(L, allowed.T @ M @ moved))
    assert along <= 5e-3 * np.sqrt(moved @ M @ moved)


def test_baumgarte_does_not_change_derivatives_by_inputs() -> None:
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
        with pytest.raises(fm.SolverError, match=name):
            solver.set(name, value)
        assert np.array_equal(solver.get(name), kept)
    solver.assemble()
    shown = compile(read_model("double_pendulum")).variables.names()
    assert not {"solver.correction", "solver.closure", "solver.baumgarte[1]"} & set(shown)


@pytest.mark.parametrize(("value", "fits"), [(0, True), (1, True), (2, True), (3, False), (-1, False)])
def test_there_are_three_ways_to_keep_loops_closed(value: int, fits: bool) -> None:
    solver = fm.Solver(read_model("four_bar", {}))
    with nullcontext() if fits else pytest.raises(FmumbsError, match=f"solver.correction = {value} is refused"):
        solver.set("solver.correction", value)
        solver.assemble()
        solver.step(0.01)
