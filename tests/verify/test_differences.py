"""Numerical differences of a signal: their error is estimated from the signal alone."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fmumbs.verify.verifying
from fmumbs.export import export_fmu
from fmumbs.verify.differences import SAFETY, settled
from fmumbs.verify.verifying import Finding, verify_fmu
from support.flexible_models import plane_tree

WIDTHS = 0.01 * 0.5 ** np.arange(1, 16)


def central(f: Callable[[np.ndarray], np.ndarray], noise: float, seed: int) -> np.ndarray:
    """(steps, 1) central differences at 0 of a function that is known up to the noise."""
    rng = np.random.default_rng(seed)
    off = noise * rng.uniform(-1, 1, (2, len(WIDTHS)))
    difference: np.ndarray = ((f(WIDTHS) + off[0] - f(-WIDTHS) - off[1]) / (2 * WIDTHS))[:, None]
    return difference


@given(st.floats(0.0, 5.5), st.floats(-14.0, -9.0), st.floats(-3.0, 3.0), st.integers(0, 1000))
def test_the_error_of_a_difference_is_within_its_estimate(rate: float, noise: float, phase: float, seed: int) -> None:
    """Oscillations from 1 to 300 000 rad/s: of the latter the longest steps see nothing."""
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
