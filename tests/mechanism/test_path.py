"""Paths: piecewise polynomials in time."""

import dataclasses
import pickle
from math import inf

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.errors import ModelError


def test_a_polynomial_and_its_derivatives():
    path = fm.Path.polynomial(1, 2, 3, 4)
    t = 0.5
    assert_allclose(path(t), (1 + 2 * t + 3 * t**2 + 4 * t**3, 2 + 6 * t + 12 * t**2, 6 + 24 * t))
    assert_allclose(path(-1.0)[0], 1 - 2 + 3 - 4)
    assert path.breaks == (0,)
    assert path.coefficients == ((1, 2, 3, 4, 0, 0),)


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


def test_an_acceleration_may_jump_where_it_is_said():
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
        (lambda: fm.Path((0, 0), ((1,), (1,))), ["breaks", "increase"]),
        (lambda: fm.Path(0, ((1,),)), ["breaks", "Give a list"]),
        (lambda: fm.Path((0, 1), ((1,),)), ["coefficients has 1 rows", "2 breaks"]),
        (lambda: fm.Path((0,), 3), ["coefficients is 3", "row for each break"]),
        (lambda: fm.Path((0,), ((1,) * 7,)), ["coefficients[1]", "7 entries", "degree 5"]),
        (lambda: fm.Path((0,), ((),)), ["coefficients[1]", "0 entries"]),
        (lambda: fm.Path((0,), ((1, inf),)), ["coefficients[1][2]", "inf"]),
        (lambda: fm.Path((0, 1), ((0,), (1,))), ["position jumps from 0 to 1 at 1 s"]),
        (lambda: fm.Path((0, 1), ((0, 1), (1,))), ["velocity jumps from 1 to 0 at 1 s"]),
        (lambda: fm.Path((0,), ((0, 1),), period=2), ["position jumps from 2 to 0 at 2 s"]),
        (lambda: fm.Path((0, 1), ((0,), (0,)), period=1), ["period is 1 s", "longer"]),
        (lambda: fm.Path((0,), ((0,),), period=1e-9), ["period is 1e-09 s", "at least 1e-06 s"]),
        (lambda: fm.Path((0,), ((0,),), continuity=3), ["continuity is 3", "1 or 2"]),
        (lambda: fm.Path.quintic([0], [0]), ["times", "fewer than 2"]),
        (lambda: fm.Path.quintic([1, 0], [0, 1]), ["increase"]),
        (lambda: fm.Path.quintic([0, 1], [0, 1, 2]), ["positions", "3 entries"]),
    ],
)
def test_what_is_not_valid_is_a_model_error(make, words):
    with pytest.raises(ModelError) as error:
        make()
    for word in words:
        assert word in str(error.value)
    assert str(error.value).endswith(".")
