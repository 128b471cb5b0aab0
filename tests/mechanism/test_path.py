"""Paths: piecewise polynomials in time."""

import dataclasses
import math
import pickle
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline, PchipInterpolator, PPoly, make_interp_spline

import fmumbs as fm
from fmumbs.errors import ModelError


def test_a_polynomial_and_its_derivatives():
    path = fm.Path.polynomial(1, 2, 3, 4)
    t = 0.5
    assert_allclose(path(t), (1 + 2 * t + 3 * t**2 + 4 * t**3, 2 + 6 * t + 12 * t**2, 6 + 24 * t))
    assert_allclose(path(-1.0)[0], 1 - 2 + 3 - 4)
    assert path.breaks == (0,)
    assert path.coefficients == ((1, 2, 3, 4, 0, 0, 0, 0),)


def test_a_quintic_rests_at_its_positions():
    path = fm.Path.quintic([1, 2, 4], [0.5, 0.9, -0.2])
    for t, x in ((1, 0.5), (2, 0.9), (4, -0.2), (7, -0.2)):
        assert_allclose(path(t), (x, 0, 0), atol=1e-15)
    t, h = 2.7, 1e-4
    ahead, behind = path(t + h), path(t - h)
    assert_allclose(path(t)[1], (ahead[0] - behind[0]) / (2 * h), rtol=1e-6)
    assert_allclose(path(t)[2], (ahead[1] - behind[1]) / (2 * h), rtol=1e-6)


def test_a_quintic_takes_velocities_and_accelerations():
    path = fm.Path.quintic([0, 2, 3], [0, 1, 2], velocities=[0.1, 0.2, 0], accelerations=[-1, 0.5, 0])
    assert_allclose(path(0), (0, 0.1, -1), atol=1e-15)
    assert_allclose(path(2), (1, 0.2, 0.5), atol=1e-15)
    assert_allclose(path(2 - 1e-12), (1, 0.2, 0.5), atol=1e-10)
    assert fm.Path.quintic([0, 1], [0, 1], velocities=[0, 2])(3)[0] == pytest.approx(1 + 2 * 2)


def test_a_path_repeats_with_its_period():
    path = fm.Path((1.0, 2.0), ((0, 0, 0, 10, -15, 6), (1, 0, 0, -10, 15, -6)), period=2.0)
    for t in np.linspace(-3, 6, 37):
        assert_allclose(path(t + 2), path(t), atol=1e-12)
    assert path(2.0)[0] == pytest.approx(1)


def test_an_acceleration_may_jump_at_a_declared_break():
    assert fm.Path((0, 1), ((0, 0, 1), (1, 2)), continuity=1)(1.5)[0] == 2
    with pytest.raises(ModelError, match=r"acceleration jumps from 2 to 0 at 1 s\. Give continuity=1"):
        fm.Path((0, 1), ((0, 0, 1), (1, 2)))


def test_paths_print_compare_and_pickle():
    path = fm.Path.quintic([0, 1], [0, 1])
    assert pickle.loads(pickle.dumps(path)) == path
    assert hash(path) == hash(dataclasses.replace(path))
    assert repr(path).startswith("Path(breaks=(0.0, 1.0), coefficients=((0.0,")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: fm.Path((), ()), ["breaks", "at least one"]),
        (lambda: fm.Path((0, 0), ((1,), (1,))), ["breaks", "increasing"]),
        (lambda: fm.Path(0, ((1,),)), ["breaks", "Give a list"]),
        (lambda: fm.Path((0, 1), ((1,),)), ["coefficients has 1 rows", "2 breaks"]),
        (lambda: fm.Path((0,), 3), ["coefficients is 3", "row for each break"]),
        (lambda: fm.Path((0,), ((1,) * 9,)), ["coefficients[1]", "9 entries", "at most 7"]),
        (lambda: fm.Path((0,), ((),)), ["coefficients[1]", "0 entries"]),
        (lambda: fm.Path((0,), ((1, inf),)), ["coefficients[1][2]", "inf"]),
        (lambda: fm.Path((0, 1), ((0,), (1,))), ["position jumps from 0 to 1 at 1 s"]),
        (lambda: fm.Path((0, 1), ((0, 1), (1,))), ["velocity jumps from 1 to 0 at 1 s"]),
        (lambda: fm.Path((0,), ((0, 1),), period=2), ["position jumps from 2 to 0 at 2 s"]),
        (lambda: fm.Path((0, 1), ((0,), (0,)), period=1), ["period is 1 s", "longer"]),
        (lambda: fm.Path((0,), ((0,),), period=1e-101), ["period is 1e-101 s", "at least 1e-100 s"]),
        (lambda: fm.Path((0,), ((0,),), continuity=3), ["continuity is 3", "1 or 2"]),
        (lambda: fm.Path.quintic([0], [0]), ["times", "fewer than 2"]),
        (lambda: fm.Path.quintic([1, 0], [0, 1]), ["increasing"]),
        (lambda: fm.Path.quintic([0, 1], [0, 1, 2]), ["positions", "3 entries"]),
    ],
)
def test_what_is_not_valid_is_a_model_error(make, words):
    with pytest.raises(ModelError) as error:
        make()
    for word in words:
        assert word in str(error.value)
    assert str(error.value).endswith(".")


# By SciPy -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 3, 7, 30])
def test_a_spline_goes_through_its_positions_from_rest_to_rest(count):
    random = np.random.default_rng(count)
    times, positions = np.cumsum(random.uniform(0.2, 2.0, count)), random.uniform(-3, 3, count)
    path = fm.Path.spline(times, positions)
    assert_allclose([path(t)[0] for t in times], positions, atol=1e-11)
    for t in (times[0], times[-1], times[-1] + 3.0):
        assert_allclose(path(t)[1:], (0, 0), atol=1e-8)
    assert path(times[-1] + 3.0)[0] == positions[-1]
    inner = fm.Path(path.breaks[1:-1], path.coefficients[1:-1])  # up to the fourth derivative nothing jumps
    for i, (a, b) in enumerate(zip(inner.coefficients, inner.coefficients[1:], strict=False)):
        h = inner.breaks[i + 1] - inner.breaks[i]
        for k in (3, 4):
            end = sum(c * math.comb(n, k) * h ** (n - k) for n, c in enumerate(a) if n >= k)
            assert end == pytest.approx(b[k], rel=1e-6, abs=1e-6 * np.abs(inner.coefficients).max())


def test_a_spline_through_two_positions_is_the_quintic():
    spline, quintic = fm.Path.spline([1, 3], [2, 5]), fm.Path.quintic([1, 3], [2, 5])
    assert spline.breaks == quintic.breaks
    assert_allclose(spline.coefficients, quintic.coefficients, atol=1e-13)


def test_of_all_motions_through_its_positions_a_spline_has_the_least_jerk():
    times, positions = [0.0, 1.0, 2.5, 3.0, 4.0], [0.0, 1.0, 0.5, 2.0, 1.5]
    spline = fm.Path.spline(times, positions)
    least = squared_jerk(spline, times)
    derivatives = np.array([spline(t) for t in times])
    random = np.random.default_rng(1)
    for _ in range(20):
        other = derivatives.copy()
        other[1:-1, 1:] += random.normal(0.0, 0.1, (3, 2))
        assert squared_jerk(fm.Path.quintic(times, positions, other[:, 1], other[:, 2]), times) > least
    assert squared_jerk(fm.Path.quintic(times, positions), times) > 2 * least


def squared_jerk(path, times):
    """Its integral, by Gauss' rule, which is exact for these pieces."""
    x, w = np.polynomial.legendre.leggauss(4)
    total = 0.0
    for i, (a, b) in enumerate(pairwise(times)):
        t = (b - a) * (x + 1) / 2
        jerk = sum(math.perm(k, 3) * c * t ** (k - 3) for k, c in enumerate(path.coefficients[i]) if k >= 3)
        total += (b - a) / 2 * w @ jerk**2
    return total


CURVES = {
    "cubic": CubicSpline([0, 1, 2.5, 4], [1, 0, 2, 1]),
    "repeats": CubicSpline([1, 2, 3, 4], [0, 1, -1, 0], bc_type="periodic"),
    "of the fifth degree": make_interp_spline([0, 1, 2, 3, 5, 6], [0, 1, 0, 2, 1, 3], k=5),
    "a line": PPoly([[2.0], [1.0]], [0, 1]),
}


@pytest.mark.parametrize("name", CURVES)
def test_piecewise_polynomials_of_scipy_become_paths(name):
    curve = CURVES[name]
    path = fm.Path.from_scipy(curve)
    for t in np.linspace(-0.5, 9.0, 77):
        assert_allclose(path(t), [curve(t, order) for order in range(3)], atol=1e-9 * max(1, abs(t)) ** 5)


def test_a_shape_preserving_cubic_has_an_acceleration_that_jumps():
    curve = PchipInterpolator([0, 1, 2, 3], [0, 0, 1, 1])
    with pytest.raises(ModelError, match=r"acceleration jumps .* Give continuity=1"):
        fm.Path.from_scipy(curve)
    path = fm.Path.from_scipy(curve, continuity=1)
    assert_allclose([path(t)[0] for t in (0.5, 1.5, 2.5)], curve([0.5, 1.5, 2.5]), atol=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fm.Path.spline([0], [1]), "two or more that increase"),
        (lambda: fm.Path.spline([0, 2, 1], [1, 2, 3]), "two or more that increase"),
        (lambda: fm.Path.spline([0, 1], [1, 2, 3]), "positions"),
        (lambda: fm.Path.from_scipy(lambda t: t), "function is not a scalar piecewise polynomial"),
        (lambda: fm.Path.from_scipy(CubicSpline([0, 1, 2], [[1, 2], [3, 4], [5, 6]])), "not a scalar"),
        (lambda: fm.Path.from_scipy(PPoly(np.ones((9, 1)), [0, 1])), "degree of a piece is at most 7"),
        (lambda: fm.Path.from_scipy(PPoly([[0.0, 1.0]], [0, 1, 2])), "position jumps from 0 to 1"),
    ],
)
def test_invalid_paths_are_reported(make, message):
    with pytest.raises(ModelError, match=message):
        make()
