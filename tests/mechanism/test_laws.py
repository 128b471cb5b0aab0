"""Force laws by pieces: tables, stops, brakes."""

import pickle
from math import inf, nan

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.errors import ModelError
from fmumbs.mechanism import GROUND

body = fm.Body.rod("b", length=1, mass=1)
F, M = GROUND.at(), body.base
slide = fm.Prismatic("P", F, M)
planar = fm.Planar("E", F, M)
spring = fm.Spring("S", GROUND.at(1), body.tip)
ball = fm.Spherical("B", F, M)


def test_a_piece_is_a_polynomial_in_position_and_velocity():
    piece = fm.Piece([[1, 2], [3, 4, 5]], origin=0.5)
    x, v = 0.7, -1.5
    assert piece.force(x, v) == pytest.approx(1 + 2 * v + 0.2 * (3 + 4 * v + 5 * v**2))
    assert np.shape(piece.coefficients) == (6, 4)
    assert fm.Piece([1, 2]).coefficients[1] == (2, 0, 0, 0)


def test_a_table_is_made_of_lines_that_go_on():
    law = fm.Law.table("T", slide, [0, 1, 3], [0, 2, 1])
    assert_allclose([law.force(x) for x in (-1, 0, 0.5, 1, 2, 3, 5)], [-2, 0, 1, 2, 1.5, 1, 0])
    assert len(law.pieces) == 2


def test_a_smooth_table_rises_and_falls_where_its_forces_do():
    x, f = np.array([-2.0, -1.0, 0.5, 1.0, 4.0]), np.array([-3.0, -3.0, 0.0, 5.0, 4.0])
    law = fm.Law.table("T", slide, x, f, smooth=True)
    assert_allclose([law.force(at) for at in x], f, atol=1e-14)
    for low, high, begin, end in zip(x, x[1:], f, f[1:], strict=False):
        between = [law.force(at) for at in np.linspace(low, high, 50)[:-1]]
        assert (np.diff(between) * np.sign(end - begin) >= -1e-13).all()
        assert np.ptp(between) <= abs(end - begin) + 1e-13
    slopes = [[(law.force(at + h) - law.force(at)) / h for h in (-1e-7, 1e-7)] for at in x]
    for left, right in slopes:  # no kink, at the ends neither
        assert left == pytest.approx(right, abs=1e-5)
    for at, side in ((x[0], -1), (x[-1], 1)):
        away = [law.force(at + side * step) for step in (1.0, 2.0, 3.0)]
        assert away[0] - away[1] == pytest.approx(away[1] - away[2], abs=1e-12)


def test_a_smooth_table_through_two_points_is_a_line():
    law = fm.Law.table("T", slide, [0, 2], [1, 5], smooth=True)
    assert_allclose([law.force(x) for x in (-1, 0.3, 3)], [-1, 1.6, 7], atol=1e-14)


def test_a_damper_differs_with_the_sign_of_the_velocity():
    law = fm.Law.damper("D", slide, [-1, 0, 1], [10, 0, -2])
    assert_allclose([law.force(0.3, v) for v in (-2, -1, 0, 1, 4)], [20, 10, 0, -2, -8])


def test_there_is_no_force_where_there_is_no_piece():
    law = fm.Law("L", slide, pieces=[fm.Piece([[0], [-5]], lower=0.0, upper=1.0)])
    assert law.force(0.5) == -2.5
    assert law.force(-0.5) == law.force(1.0) == 0


@pytest.mark.parametrize(("q", "u", "f"), [(0, 9, 0), (1.1, 2, -16), (1.1, -2, -10), (-2.1, -2, 16), (-2.1, 2, 10)])
def test_a_stop_pushes_back(q, u, f):
    assert fm.Stop("E", slide, lower=-2, upper=1, stiffness=100, damping=3).force(q, u) == pytest.approx(f)


@pytest.mark.parametrize(("x", "v", "f"), [(2, 9, 0), (3.1, 2, 16), (3.1, -2, 10), (0.9, -2, -16), (0.9, 2, -10)])
def test_a_stop_on_a_spring_is_a_rope_and_a_buffer(x, v, f):
    assert fm.Stop("E", spring, lower=1, upper=3, stiffness=100, damping=3).force(x, v) == pytest.approx(f)


def test_a_stop_may_have_one_end():
    assert len(fm.Stop("E", slide, upper=1, stiffness=100).pieces) == 2
    assert fm.Stop("E", slide, lower=1, stiffness=100).force(0.5) == 50


def test_laws_name_a_free_mode():
    assert fm.Stop("E", planar, mode=3, upper=1, stiffness=1).mode == 3
    assert fm.Law.polynomial("L", fm.Free("F", F, M), [1], mode=3).on.name == "F"
    excited = fm.Joint("J", F, M, modes=[fm.Slide("x", role="excited", input="kappa_dot"), fm.Turn("x")])
    assert fm.Law.polynomial("L", excited, [1]).mode == 1


def test_laws_pickle_and_compare():
    for law in (fm.Law.table("T", spring, [0, 1], [2, 3]), fm.Stop("E", slide, upper=1, stiffness=2)):
        assert pickle.loads(pickle.dumps(law)) == law
        assert hash(law) == hash(pickle.loads(pickle.dumps(law)))


def test_a_model_holds_laws():
    model = fm.Model("m")
    law = fm.Law.table("T", spring, [0, 1], [2, 3])
    model.add(body, slide, spring, law)
    assert model.laws == (law,)
    assert model["T"] is law
    assert "1 laws" in repr(model)
    model.check_ends()


@pytest.mark.parametrize(
    ("elements", "words"),
    [
        ((body, slide), ["Law 'T' acts on 'S'", "not in the model"]),
        ((body, slide, fm.Spring("S", GROUND.at(), body.tip)), ["Law 'T' acts on 'S'", "differs"]),
    ],
)
def test_a_law_acts_on_what_is_in_the_model(elements, words):
    model = fm.Model("m")
    model.add(*elements, fm.Law.table("T", spring, [0, 1], [2, 3]))
    with pytest.raises(ModelError) as error:
        model.check_ends()
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: fm.Piece("x"), ["coefficients", "rows of numbers"]),
        (lambda: fm.Piece([]), ["0 rows", "at most 6"]),
        (lambda: fm.Piece([[1]] * 7), ["7 rows", "at most 6"]),
        (lambda: fm.Piece([[1] * 5]), ["up to 5", "at most 4"]),
        (lambda: fm.Piece([[nan]]), ["coefficients[1][1]", "nan"]),
        (lambda: fm.Piece([1], lower=1, upper=1), ["upper is 1", "not above"]),
        (lambda: fm.Piece([1], v_lower=nan), ["v_lower", "nan"]),
        (lambda: fm.Piece([1], origin=inf), ["origin", "inf"]),
        (lambda: fm.Law("L", slide, pieces=[]), ["Law 'L': pieces", "list of Piece"]),
        (lambda: fm.Law("L", slide, pieces=[fm.Piece([1]), fm.Piece([2], lower=3)]), ["[1] and [2] overlap"]),
        (lambda: fm.Law("L", body, pieces=[fm.Piece([1])]), ["on is a Body", "joint or a spring"]),
        (lambda: fm.Law.polynomial("L", slide, [1], mode=2), ["mode is 2", "from 1 to 1"]),
        (lambda: fm.Law.polynomial("L", spring, [1], mode=0), ["mode is 0", "spring"]),
        (lambda: fm.Law.polynomial("L", ball, [1]), ["Spherical joint has 0", "another joint"]),
        (lambda: fm.Law.polynomial("L", fm.Skate("K", F, M), [1]), ["nonholonomic", "Load"]),
        (lambda: fm.Law.brake("L", slide, -1), ["force", "below zero"]),
        (lambda: fm.Law.table("L", slide, [0], [1]), ["Law 'L': positions", "two numbers"]),
        (lambda: fm.Law.table("L", slide, [0, 0], [1, 2]), ["positions", "increase"]),
        (lambda: fm.Law.table("L", slide, [0, 1], [1]), ["forces", "1 entries", "2"]),
        (lambda: fm.Law.damper("L", slide, 3, [1]), ["velocities", "list"]),
        (lambda: fm.Stop("E", slide, stiffness=1), ["lower and upper", "both missing"]),
        (lambda: fm.Stop("E", slide, lower=1, upper=1, stiffness=1), ["upper is 1", "Swap"]),
        (lambda: fm.Stop("E", slide, upper=1, stiffness=0), ["stiffness", "above zero"]),
        (lambda: fm.Stop("E", slide, upper=1, stiffness=1, damping=-1), ["damping", "below zero"]),
    ],
)
def test_what_is_not_valid_is_a_model_error(make, words):
    with pytest.raises(ModelError) as error:
        make()
    for word in words:
        assert word in str(error.value)
    assert str(error.value).endswith(".")


def test_a_brake_acts_against_the_velocity():
    on_joint, on_spring = fm.Law.brake("L", slide, 3.0), fm.Law.brake("L", spring, 3.0)
    assert [on_joint.force(0.0, v) for v in (-1.0, 0.0, 1.0)] == [3.0, -3.0, -3.0]
    assert [on_spring.force(0.0, v) for v in (-1.0, 1.0)] == [-3.0, 3.0]  # it pulls while it grows longer
