"""The study of constraint-jacobians for some seconds: without correction its examples open, with it they do not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model
from support.sweeps import first

EXAMPLES = ("four_link_flexible", "multi_loop_flexible", "sliders")
TOLERANCE = 1e-10  # [m]; the paper's
STEP = 0.01  # [s]; the paper's


def violations(name: str, correction: str) -> np.ndarray:
    """(500,) the largest violation after each step of RK4."""
    image = compile(read_model(name), everything=True)
    closure = TOLERANCE / float(image.arrays["length"].item())
    solver = fm.Solver(image.with_options(scheme="rk4", step=STEP, correction=correction, closure=closure))
    solver.assemble()
    found = []
    for i in range(1, 501):
        solver.step(STEP * i)
        found.append(solver.get("solver.position_violation"))
    assert solver.get("solver.steps") == 500
    return np.array(found)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_correction_keeps_the_examples_closed(name: str) -> None:
    without, corrected, stabilised = (violations(name, how) for how in ("off", "direct", "baumgarte"))
    assert corrected.max() <= TOLERANCE
    assert without.max() > 1e4 * TOLERANCE
    assert without[-100:].max() > 5 * without[:20].max()
    assert TOLERANCE < stabilised.max() < without.max()


@pytest.mark.parametrize("name", first(1, EXAMPLES))
def test_the_correction_changes_the_motion_by_no_more_than_the_drift(name: str) -> None:
    """Over a second, before the runs part."""
    ends = []
    for how in ("off", "direct"):
        solver = fm.Solver(compile(read_model(name), everything=True).with_options(tolerance=1e-10, correction=how))
        solver.assemble()
        solver.step(1.0)
        ends.append(np.concatenate([solver.get(f"{body.name}.r") for body in read_model(name).bodies]))
    assert_allclose(*ends, rtol=0, atol=1e-6)
