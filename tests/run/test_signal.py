"""Signal: tables as piecewise polynomials, against NumPy's and SciPy's own interpolation."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

import fmumbs as fm
from fmumbs.run.signal import INTERPOLATIONS, Signal

INCREASING = st.lists(st.floats(0.01, 3.0), min_size=0, max_size=12).map(lambda steps: np.cumsum([-1.0, *steps]))


def rows(times: np.ndarray, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=len(times))


@given(INCREASING, st.integers(0, 1000), st.floats(-3.0, 40.0))
def test_lines_and_constants_are_those_of_numpy(times: np.ndarray, seed: int, t: float) -> None:
    values = rows(times, seed)
    assert Signal(times, values)(t) == pytest.approx(np.interp(t, times, values), rel=1e-12, abs=1e-12)
    assert Signal(times, values, "hold")(t) == values[max(np.searchsorted(times, t, "right") - 1, 0)]


@given(INCREASING.filter(lambda times: len(times) > 1), st.integers(0, 1000), st.floats(0.0, 1.0))
def test_a_cubic_signal_is_the_not_a_knot_spline_and_holds_outside(times: np.ndarray, seed: int, part: float) -> None:
    values = rows(times, seed)
    signal, spline = Signal(times, values, "cubic"), CubicSpline(times, values)
    t = times[0] + part * (times[-1] - times[0])
    scale = np.abs(spline(np.linspace(times[0], times[-1], 99))).max()
    assert signal(t) == pytest.approx(float(spline(t)), rel=1e-10, abs=1e-10 * scale)
    assert signal(times[0] - 1.0) == values[0]
    assert signal(times[-1] + 1.0) == values[-1]


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_two_equal_times_are_a_jump_to_the_later_row(interpolation: str) -> None:
    signal = Signal([0.0, 1.0, 1.0, 2.0, 2.0], [1.0, 2.0, 5.0, 6.0, -3.0], interpolation)
    before = 1.0 if interpolation == "hold" else 2.0
    assert signal(math.nextafter(1.0, 0.0)) == pytest.approx(before)
    assert (signal(1.0), signal(2.0), signal(9.0)) == (5.0, -3.0, -3.0)
    early = Signal([0.0, 0.0, 1.0], [7.0, 1.0, 2.0], interpolation)
    assert (early(-0.1), early(0.0)) == (7.0, 1.0)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_a_vector_has_the_interpolation_of_its_components(interpolation: str) -> None:
    times, table = np.array([0.0, 0.4, 1.0, 1.0, 1.7]), np.random.default_rng(3).normal(size=(5, 3))
    vector = Signal(times, table, interpolation)
    parts = [Signal(times, column, interpolation) for column in table.T]
    for t in (-1.0, 0.0, 0.3, 1.0, 1.2, 5.0):
        assert_allclose(vector(t), [part(t) for part in parts], rtol=1e-14, atol=1e-14)


def test_one_row_is_a_constant() -> None:
    assert [Signal([0.5], [3.0], kind)(t) for kind in INTERPOLATIONS for t in (0.0, 0.5, 9.0)] == [3.0] * 9


def test_the_cubic_error_is_of_fourth_order() -> None:
    fine = np.linspace(0.0, 3.0, 1001)
    errors = [
        np.abs([signal(t) - math.sin(t) for t in fine]).max()
        for n in (20, 40)
        for signal in [Signal.sample(math.sin, np.linspace(0.0, 3.0, n + 1))]
    ]
    assert math.log2(errors[0] / errors[1]) > 3.8


def test_it_does_not_change_after_it_was_made_and_can_be_sent_to_other_processes() -> None:
    times, values = np.array([0.0, 1.0]), np.array([1.0, 2.0])
    signal = Signal(times, values)
    values[:] = 9.0
    other = pickle.loads(pickle.dumps(signal))
    assert signal(1.0) == other(1.0) == 2.0
    with pytest.raises(ValueError, match="read-only"):
        signal.coefficients[0] = 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0, 1.0], [1.0]), "values are 1, but there are 2 times"),
        (([], []), "times are 0, but must be a list"),
        ((0.0, 1.0), "times are a single number"),
        (([0.0, 2.0, 1.0], [0, 0, 0]), "times decrease from 2 s to 1 s at row 2"),
        (([0.0, 1.0, 1.0, 1.0], [0, 1, 2, 3]), "the time 1 s is given more than twice, from row 1 on"),
        (([0.0, math.nan], [0, 0]), r"times[1] is nan"),
        (([0.0, 1.0], [[0, 0], [0, math.inf]]), r"values[1, 1] is inf"),
        ((["soon", 1.0], [0, 0]), "times are not a table of numbers"),
        (([0.0, 1.0], [0, 0], "spline"), "interpolation is 'spline'. Give one of linear, cubic, hold"),
        (([0.0, 1.0], [-1e308, 1e308]), "after 0 s its slope is not finite"),
    ],
)
def test_a_table_that_is_none_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(fm.SolverError) as caught:
        Signal(*arguments)
    assert message in str(caught.value)


def test_a_function_that_fails_is_named_with_its_time() -> None:
    with pytest.raises(fm.SolverError, match=r"failed at t = 0.5 s with ZeroDivisionError"):
        Signal.sample(lambda t: 1.0 / (t - 0.5), [0.0, 0.5])
