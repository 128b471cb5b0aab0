"""scheme="auto": steps of Dormand-Prince, or of Radau where these advance further for their cost."""

import numpy as np
import pytest

import fmumbs as fm
from core.time.test_radau import beam, swing
from fmumbs.compiler import compile
from fmumbs.readers import read_model
from support.both_schemes import ends, started, state


def counts(solver: fm.Solver) -> tuple[float, float]:
    return solver.get("solver.steps"), solver.get("solver.implicit")


def test_a_stiff_mechanism_takes_the_implicit_scheme() -> None:
    solver = started(swing(1e8, 1e6), scheme="auto", tolerance=1e-6)
    solver.step(2.0)
    steps, implicit = counts(solver)
    other = started(swing(1e8, 1e6), scheme="radau", tolerance=1e-6)
    other.step(2.0)
    assert implicit > 0.6 * steps
    assert solver.get("solver.evaluations") < 1.5 * other.get("solver.evaluations") + 300
    np.testing.assert_allclose(state(solver), state(other), atol=1e-4)


@pytest.mark.parametrize(
    "name", ["arm6", "four_bar", "double_pendulum", "slider_crank", "four_link_flexible", "branch_pendulum"]
)
def test_any_other_takes_the_explicit_one(name: str) -> None:
    image = compile(read_model(name), everything=True)
    solver, other = (started(image, scheme=scheme, tolerance=1e-6) for scheme in ("auto", "dopri5"))
    for one in (solver, other):
        one.step(3.0)
    steps, implicit = counts(solver)
    assert implicit == 0 < steps
    assert solver.get("solver.evaluations") <= 1.05 * other.get("solver.evaluations")


def test_it_changes_over_both_ways() -> None:
    """A pin that is stiff at first, and slack later."""
    solver = started(swing(1e8, 1e6), scheme="auto", tolerance=1e-6)
    solver.step(1.0)
    before = counts(solver)
    solver.set("A.stiffness", 1.0)
    solver.set("A.damping", 0.01)
    solver.step(6.0)
    steps, implicit = np.subtract(counts(solver), before)
    assert before[1] > 0
    assert implicit < 0.5 * steps


@pytest.mark.parametrize("name", ["governor", "crane", "cantilever", "spin_up_beam"])
def test_stiff_models_as_they_ship_take_the_implicit_one(name: str) -> None:
    image = compile(read_model(name), everything=True)
    solver, other = (started(image, scheme=scheme) for scheme in ("auto", "radau"))
    for one in (solver, other):
        one.step(0.5)
    assert counts(solver)[1] > 0.2 * counts(solver)[0]
    assert solver.get("solver.evaluations") < 1.5 * other.get("solver.evaluations") + 100


@pytest.mark.parametrize("name", ["arm6", "branch_pendulum"])
def test_refused_trials_of_the_other_scheme_leave_no_trace(name: str) -> None:
    image = compile(read_model(name), everything=True)
    solver, other = (started(image, scheme=scheme, tolerance=1e-6) for scheme in ("auto", "dopri5"))
    for one in (solver, other):
        one.step(3.0)
    assert counts(solver) == counts(other) and solver.get("solver.rejected") > other.get("solver.rejected")
    np.testing.assert_array_equal(state(solver), state(other))


def test_the_other_scheme_is_tried_again_only_after_some_steps() -> None:
    """A vibration of 10 kHz that fades."""
    solver = started(swing(1e6, 1e2, 0.05), scheme="auto", tolerance=1e-8)
    solver.step(0.5)
    steps, implicit = counts(solver)
    assert 0 < implicit < steps and solver.get("solver.rejected") < 0.1 * steps


@pytest.mark.parametrize("scheme", ["radau", "auto"])
def test_results_do_not_depend_on_the_communication_step(scheme: str) -> None:
    image = beam(6)
    once, often = (started(image, scheme=scheme, tolerance=1e-7) for _ in range(2))
    once.step(0.2)
    for i in range(1, 101):
        often.step(0.2 * i / 100)
    np.testing.assert_allclose(state(once), state(often), rtol=0, atol=1e-5)
    assert often.get("solver.evaluations") < 1.5 * once.get("solver.evaluations")


@pytest.mark.parametrize("scheme", ["radau", "auto"])
def test_a_saved_state_continues_bit_for_bit(scheme: str) -> None:
    image = beam(6)
    solver, other = (started(image, scheme=scheme, tolerance=1e-6) for _ in range(2))
    solver.step(0.03)
    other.step(0.5)
    other.state_load(solver.state_save())
    for one in (solver, other):
        one.step(0.06)
    assert solver.state_save() == other.state_save()


def test_errors_are_as_of_its_schemes() -> None:
    image = beam(8)
    (found,), _ = ends(image, 0.1, "auto", [1e-6])
    (exact,), _ = ends(image, 0.1, "dopri5", [1e-11])
    assert (np.abs(found - exact) / np.maximum(1.0, np.abs(exact))).max() < 1e-4
