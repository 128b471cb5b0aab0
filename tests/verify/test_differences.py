"""Numerical differences of a signal: their error is estimated from the signal alone."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fmumbs as fm
import fmumbs.verify.verifying
from fmumbs.export import export_fmu
from fmumbs.play.fmu import ABRUPT, FINE, Fmu, Instance
from fmumbs.verify import differences
from fmumbs.verify.differences import SAFETY, NotCompared, settled
from fmumbs.verify.verifying import Finding, verify_fmu
from support.flexible_models import plane_tree

WIDTHS = 0.01 * 0.5 ** np.arange(1, 16)


def central(f: Callable[[np.ndarray], np.ndarray], noise: float, seed: int) -> np.ndarray:
    """(steps, 1) central differences at 0 of a function that is known up to the noise."""
    rng = np.random.default_rng(seed)
    off = noise * rng.uniform(-1, 1, (2, len(WIDTHS)))
    difference: np.ndarray = ((f(WIDTHS) + off[0] - f(-WIDTHS) - off[1]) / (2 * WIDTHS))[:, None]
    return difference


@given(st.floats(0.0, 6.5), st.floats(-14.0, -9.0), st.floats(-3.0, 3.0), st.integers(0, 1000))
def test_the_error_of_a_difference_is_within_its_estimate(rate: float, noise: float, phase: float, seed: int) -> None:
    """Oscillations from 1 to 3e6 rad/s, one over the shortest step: the longest ones see nothing of them."""
    w = 10.0**rate
    found, error = settled(central(lambda t: np.sin(w * t + phase), 10.0**noise, seed), WIDTHS)
    assert abs(found[0] - w * np.cos(phase)) <= SAFETY * error[0]


@given(st.floats(0.0, 3.0), st.integers(0, 1000))
def test_a_smooth_signal_is_resolved(rate: float, seed: int) -> None:
    w = 10.0**rate
    _, error = settled(central(lambda t: np.sin(w * t), 1e-13, seed), WIDTHS)
    assert SAFETY * error[0] < 1e-3 * w


@pytest.mark.parametrize("at", [3e-3, 3e-4, 3e-5, -3e-5])
def test_a_kink_near_the_time_does_not_matter(at: float) -> None:
    found, error = settled(central(lambda t: t + 100.0 * np.maximum((t - at) * np.sign(at), 0.0), 1e-15, 0), WIDTHS)
    assert abs(found[0] - 1.0) <= SAFETY * error[0] <= 1e-6


def test_steps_that_are_not_finite_are_ignored() -> None:
    estimates = np.array([[np.nan], [np.inf], [3.1], [3.01], *[[3.0]] * 6])
    found, error = settled(estimates, 0.5 ** np.arange(10.0))
    assert (found[0], error[0]) == (3.0, 0.0)


def test_signals_that_a_fixed_step_does_not_resolve_are_noted_and_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Modes of 1e5 rad/s: no step of RK4 that a check can afford follows them."""
    monkeypatch.setattr(fmumbs.verify.verifying, "_validation", lambda path: iter(()))
    path = export_fmu(plane_tree(102).model, tmp_path / "a.fmu", scheme="rk4", step=1e-3)
    notes: list[Finding] = []
    assert verify_fmu(path, notes=notes.append) == []
    assert notes
    assert all("does not resolve them well enough to tell" in note.message for note in notes)


def damped(stiffness: float, damping: float) -> fm.Model:
    """A rod that swings, and one on it whose spring and damper are much faster than a communication interval."""
    model = fm.Model("damped")
    arm, rod = (fm.Body.rod(name, length=1.0, mass=3.0) for name in ("arm", "rod"))
    model.add(arm, rod, fm.Revolute("A", model.ground.at(), arm.base, axis="y", q0=0.1))
    model.add(fm.Revolute("B", arm.tip, rod.base, axis="y", q0=0.1, stiffness=stiffness, damping=damping))
    return model


def light(stiffness: float, damping: float) -> fm.Model:
    """A rod of 3e-6 kg.m2, whose velocity follows the slope of the torque within microseconds."""
    model = fm.Model("light")
    rod = fm.Body.rod("rod", length=0.1, mass=1e-3)
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y", stiffness=stiffness, damping=damping))
    return model


FAST = {"1e-5 s": (3e4, 0.6), "3e-6 s": (1e5, 1.0), "3e-5 s": (1e4, 0.3)}


def verified(model: fm.Model, folder: Path, patch: pytest.MonkeyPatch) -> tuple[list[Finding], list[Finding]]:
    """Findings and notes about the FMU under the implicit scheme."""
    patch.setattr(fmumbs.verify.verifying, "_validation", lambda path: iter(()))
    notes: list[Finding] = []
    return verify_fmu(export_fmu(model, folder / "a.fmu", scheme="radau"), notes=notes.append), notes


@pytest.mark.parametrize("which", [(1e8, 1e5), (1e7, 1e5), (1e6, 1e5), (1e9, 1e5), (1e8, 3e4)], ids=str)
def test_accelerations_of_damped_fast_modes_pass(
    which: tuple[float, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their derivatives along the flow have the errors of the states times the cube of the frequency."""
    findings, notes = verified(damped(*which), tmp_path, monkeypatch)
    assert findings == []
    assert {note.check for note in notes} <= {"output derivatives"}


@pytest.mark.parametrize("which", FAST)
def test_velocities_that_follow_inputs_at_once_are_judged(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under inputs in steps longer than these modes last, the velocity at their end would be zero."""
    findings, notes = verified(light(*FAST[which]), tmp_path, monkeypatch)
    assert findings == []
    assert {note.check for note in notes} <= {"output derivatives"}


def test_input_derivatives_that_a_stiff_fmu_ignores_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "_refusal", lambda one, order, slope: "")
    findings, _ = verified(light(*FAST["1e-5 s"]), tmp_path, monkeypatch)
    assert [finding.check for finding in findings] == ["input derivatives"] * 3
    assert all("'A.qd'" in finding.message for finding in findings)


def test_output_derivatives_of_a_stiff_fmu_that_are_too_large_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Instance.output_derivatives
    monkeypatch.setattr(differences, "_declared", lambda fmu, one: iter(()))
    monkeypatch.setattr(Instance, "output_derivatives", lambda one, references: 1.05 * right(one, references))
    findings, _ = verified(damped(1e6, 1e5), tmp_path, monkeypatch)
    assert [finding.check for finding in findings] == ["output derivatives"]
    assert "by differences" in findings[0].message


def test_inputs_that_would_spin_a_light_body_are_smaller(tmp_path: Path) -> None:
    """A rod of 1e-9 kg.m2: the torques of an excitation give an acceleration of at most 1e3 rad/s2."""
    model = fm.Model("thin")
    rod = fm.Body.rod("rod", length=0.01, mass=3e-5)
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="z"))
    with Fmu(export_fmu(model, tmp_path / "thin.fmu")) as fmu:
        (push,) = fmu.excitation().values()
        with fmu.started({}) as still, fmu.started(fmu.excitation()) as pushed:
            jumps = np.abs(pushed.reals(fmu.outputs) - still.reals(fmu.outputs))
    assert 0.0 < abs(push) < 1e-5
    assert 1.0 < jumps.max() <= 1.001 * ABRUPT


def test_the_path_has_a_row_for_each_communication_point(pendulum_fmu: Path) -> None:
    with Fmu(pendulum_fmu) as fmu:
        end, path = differences._after(fmu, (1.0, 0.5, 0.25), FINE)
    assert path.shape == (4, len(end)) and np.array_equal(path[-1], end) and np.ptp(path[:, 0]) > 0.0


class Refusing:
    """An instance whose FMU refuses derivatives of inputs above an order."""

    last_message = "No."

    def __init__(self, has_image: bool, status: int) -> None:
        self.fmu = SimpleNamespace(inputs=[1], has_image=has_image)
        self.slave, self.status = self, status

    def setRealInputDerivatives(self, inputs: list[int], orders: list[int], values: list[float]) -> None:
        from fmpy.fmi1 import FMICallException

        raise FMICallException("fmi2SetRealInputDerivatives", self.status)


@pytest.mark.parametrize(
    ("order", "has_image", "status", "left_open"),
    [(2, False, 3, True), (1, False, 3, False), (2, False, 2, True), (2, True, 3, False), (2, False, 4, False)],
)
def test_higher_derivatives_of_inputs_may_be_refused_by_others(
    order: int, has_image: bool, status: int, left_open: bool
) -> None:
    found: Any = differences._refusal(Refusing(has_image, status), order, {1: 0.5})  # type: ignore[arg-type]
    assert f"refuses order {order}. No." in found
    assert isinstance(found, differences.NotCompared) == left_open


@pytest.mark.parametrize("missing", ["the ability", "inputs", "outputs"])
def test_derivatives_by_inputs_are_asked_of_who_offers_them(pendulum_fmu: Path, missing: str) -> None:
    with Fmu(pendulum_fmu) as fmu:
        assert fmu.inputs and fmu.outputs and fmu.abilities.providesDirectionalDerivative
        if missing == "the ability":
            fmu.abilities.providesDirectionalDerivative = False
        else:
            setattr(fmu, missing, [])
        fmu.started = None  # type: ignore[assignment,method-assign]
        assert list(differences.differentiates_by_inputs(fmu)) == []


def test_sums_of_small_derivatives_are_compared_by_their_size(pendulum_fmu: Path, monkeypatch: Any) -> None:
    """Outputs in Tm of a mass in Gkg, say: a sum that is off by 1e-3 is off, whatever its unit."""
    from fmpy.fmi2 import FMU2Slave

    answers = FMU2Slave.getDirectionalDerivative

    def wrong(slave: Any, unknown: list[int], known: list[int], seed: list[float]) -> list[float]:
        found = [1e-9 * x for x in answers(slave, unknown, known, seed)]
        return found if len(known) == 1 else [x * 1.001 for x in found]

    monkeypatch.setattr(FMU2Slave, "getDirectionalDerivative", wrong)
    monkeypatch.setattr(differences, "_by_input", lambda one, values, known: (np.zeros(len(one.fmu.outputs)),) * 3)
    with Fmu(pendulum_fmu) as fmu:
        found = list(differences.differentiates_by_inputs(fmu))
    assert any("summed over each" in problem for problem in found)


def test_uneven_steps_are_compared_within_what_their_own_runs_resolve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two outputs that run from 0 to 1; fine and coarse runs with even steps, then with uneven ones, end elsewhere."""
    fmu: Any = SimpleNamespace(
        varies_step=True, outputs=[0, 1], names=["x", "y"],
        excitation=dict,
    )  # fmt: skip

    def found(even: float, even_coarse: float, uneven: float, uneven_coarse: float) -> list[str]:
        off = {
            (True, FINE): even, (True, differences.COARSE): even_coarse,
            (False, FINE): uneven, (False, differences.COARSE): uneven_coarse,
        }  # fmt: skip

        def after(fmu: Any, parts: Any, resolution: Any) -> tuple[np.ndarray, np.ndarray]:
            end = np.array([1.0, 1.0 + off[parts[0] == parts[1], resolution]])
            return end, np.array([np.zeros(2), end])

        monkeypatch.setattr(differences, "_after", after)
        with np.errstate(invalid="ignore"):  # as verify_fmu does
            return list(differences.varies_the_step(fmu))

    assert found(0.0, 0.0, 0.0, 0.0) == found(0.0, 0.0, 5e-3, 6e-3) == found(0.0, 1e-3, 5e-3, 5e-3) == []
    for wrong in (1e-5, 0.5, np.inf):  # also where only the values that are off are not finite
        (problem,) = found(0.0, 0.0, wrong, wrong)
        assert problem.startswith("'y' with even and uneven") and not isinstance(problem, differences.NotCompared)
    for coarse in (0.1, 0.5):
        (note,) = found(0.0, 0.0, 20.0, 20.0 + coarse)
        assert note.startswith("'y' with even and uneven") and isinstance(note, differences.NotCompared)


@pytest.mark.parametrize(("status", "order", "open_by_the_standard"), [(2, 2, True), (3, 3, True), (3, 1, False)])
def test_a_foreign_fmu_may_refuse_derivatives_of_inputs_of_higher_orders(
    status: int, order: int, open_by_the_standard: bool
) -> None:
    """By fmi2Discard as well as by fmi2Error."""
    from fmpy.fmi1 import FMICallException

    def refuse(*_: object) -> None:
        raise FMICallException(function="fmi2SetRealInputDerivatives", status=status)

    slave = SimpleNamespace(setRealInputDerivatives=refuse)
    one = SimpleNamespace(fmu=SimpleNamespace(inputs=[7], has_image=False), slave=slave, last_message="no.")
    found = differences._refusal(cast(Instance, one), order, {7: 1.0})
    assert isinstance(found, NotCompared) == open_by_the_standard
    assert f"refuses order {order}. no." in found
