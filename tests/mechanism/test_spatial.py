"""Rotations, poses and inertias."""

import pickle
from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from fmumbs import ModelError, Rotation, SpatialInertia, Transform

ROUND_OFF = 1e-14  # a few operations on numbers of size one

coordinate = st.floats(-1, 1)
vectors = st.tuples(coordinate, coordinate, coordinate)
angles = st.floats(-4, 4)
rotations = st.builds(Rotation.rpy, angles, angles, angles)
poses = st.builds(Transform, rotations, vectors)
moments = st.tuples(*[st.floats(0, 1)] * 3)


@st.composite
def inertias(draw):
    """Of three mass points' spreads along the axes, which any solid's inertia is equal to."""
    a, b, c = draw(moments)
    return SpatialInertia(draw(st.floats(0.1, 2)), draw(vectors), (b + c, a + c, a + b)).rotated(draw(rotations))


def test_a_positive_angle_turns_by_the_right_hand_rule():
    quarter = pi / 2
    assert_allclose(Rotation.about("x", quarter) @ (0, 1, 0), (0, 0, 1), atol=ROUND_OFF)
    assert_allclose(Rotation.about("y", quarter) @ (0, 0, 1), (1, 0, 0), atol=ROUND_OFF)
    assert_allclose(Rotation.about("z", quarter) @ (1, 0, 0), (0, 1, 0), atol=ROUND_OFF)
    assert_allclose(Rotation.about((1, 1, 1), 2 * pi / 3) @ (1, 0, 0), (0, 1, 0), atol=ROUND_OFF)


def test_an_axis_with_a_minus_sign_turns_the_other_way():
    assert Rotation.about("-z", 0.3) == Rotation.about("z", -0.3)


def test_roll_pitch_yaw_turn_about_fixed_axes():
    expected = Rotation.about("z", 0.3) @ Rotation.about("y", 0.2) @ Rotation.about("x", 0.1)
    assert_allclose(Rotation.rpy(0.1, 0.2, 0.3).matrix, expected.matrix, atol=ROUND_OFF)


@given(rotations)
def test_a_quaternion_and_its_matrix_are_one_rotation(R):
    q = R.as_quaternion()
    assert q[0] >= 0
    assert_allclose(np.linalg.norm(q), 1, atol=ROUND_OFF)
    assert_allclose(Rotation.quaternion(*q).matrix, R.matrix, atol=ROUND_OFF)


@pytest.mark.parametrize("axis", ["x", "y", "z", (1, 1, 0), (-1, 2, 3)])
def test_half_a_turn_has_a_quaternion_too(axis):
    R = Rotation.about(axis, pi)
    assert_allclose(Rotation.quaternion(*R.as_quaternion()).matrix, R.matrix, atol=ROUND_OFF)


def test_the_columns_are_the_axes():
    R = Rotation.columns((0, 1, 0), (-1, 0, 0), (0, 0, 1))
    assert_allclose(R.matrix, Rotation.about("z", pi / 2).matrix, atol=ROUND_OFF)


def test_a_matrix_printed_with_few_digits_is_made_orthonormal():
    R = Rotation(np.round(Rotation.rpy(0.1, 0.2, 0.3).matrix, 8)).matrix
    assert_allclose(R @ R.T, np.eye(3), atol=ROUND_OFF)


@given(poses, poses, vectors)
def test_poses_compose_as_they_act(X, Y, p):
    assert_allclose((X @ Y) @ p, X @ (Y @ p), atol=ROUND_OFF)
    assert_allclose((X @ Y).matrix, X.matrix @ Y.matrix, atol=ROUND_OFF)
    assert_allclose(X.inverse() @ (X @ p), p, atol=ROUND_OFF)


def test_a_pose_acts_on_many_points_at_once():
    X = Transform(Rotation.about("z", 0.4), (1, 2, 3))
    points = np.arange(12.0).reshape(3, 4)
    assert_allclose((X @ points)[:, 2], X @ points[:, 2])


@given(inertias(), inertias(), vectors, rotations)
def test_inertia_does_not_depend_on_where_it_is_added(a, b, offset, R):
    together = (a + b).shifted(offset).rotated(R)
    apart = a.shifted(offset).rotated(R) + b.shifted(offset).rotated(R)
    assert_allclose(together.about_origin(), apart.about_origin(), atol=1e-13)
    assert_allclose(together.com, apart.com, atol=ROUND_OFF)


@given(inertias(), vectors)
def test_kinetic_energy_of_a_rotation_about_the_origin(body, w):
    """1/2 w.J_O w = 1/2 w.J_C w + 1/2 m |w x c|^2"""
    w = np.array(w)
    about_com = w @ body.inertia @ w + body.mass * np.sum(np.cross(w, body.com) ** 2)
    assert_allclose(w @ body.about_origin() @ w, about_com, atol=1e-13)


def test_inertia_may_be_given_by_three_six_or_nine_numbers():
    six = SpatialInertia(1, inertia=(2, 3, 4, 0.1, 0.2, 0.3))
    assert six == SpatialInertia(1, inertia=[[2, 0.1, 0.2], [0.1, 3, 0.3], [0.2, 0.3, 4]])
    assert SpatialInertia(1, inertia=(2, 3, 4)) == SpatialInertia(1, inertia=np.diag([2, 3, 4]))


def test_two_massless_bodies_make_a_massless_one():
    assert (SpatialInertia(0) + SpatialInertia(0)).mass == 0


@pytest.mark.parametrize(
    "value",
    [
        Rotation.rpy(1, 2, 3),
        Transform(Rotation.about("x", 1), (1, 2, 3)),
        SpatialInertia(1, (1, 2, 3), (1, 1, 1)),
    ],
)
def test_values_print_compare_and_pickle(value):
    assert pickle.loads(pickle.dumps(value)) == value
    assert hash(pickle.loads(pickle.dumps(value))) == hash(value)
    assert eval(repr(value)) == value


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Rotation(np.ones((3, 3))), ["orthonormal"]),
        (lambda: Rotation(np.diag([1.0, 1.0, -1.0])), ["reflection"]),
        (lambda: Rotation(np.eye(2)), ["2 rows", "3"]),
        (lambda: Rotation.about("w", 1), ["'w'", "x, y, z"]),
        (lambda: Rotation.about((0, 0, 0), 1), ["axis", "zero"]),
        (lambda: Rotation.about("x", float("inf")), ["angle", "finite"]),
        (lambda: Rotation.quaternion(0, 0, 0, 0), ["quaternion", "zero"]),
        (lambda: Rotation.columns((1, 0, 0), (0, 1), (0, 0, 1)), ["column y", "2 entries", "3"]),
        (lambda: Transform(np.eye(3)), ["ndarray", "Rotation"]),
        (lambda: Transform(None, (1, 2)), ["translation", "2 entries"]),
        (lambda: SpatialInertia(-1), ["mass", "-1"]),
        (lambda: SpatialInertia(1, inertia=(1, 1, 2.1)), ["1 + 1", "2.1", "measured=True"]),
        (lambda: SpatialInertia(1, inertia=(1, 1, 1, 1.5, 0, 0)), ["negative"]),
        (lambda: SpatialInertia(1, inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), ["symmetric", "[1][2]"]),
        (lambda: SpatialInertia(1, inertia=(1, 2)), ["2 entries", "3, 6 or 3x3"]),
        (lambda: SpatialInertia(1, inertia=5), ["inertia"]),
    ],
)
def test_what_is_not_valid_is_a_model_error(make, words):
    with pytest.raises(ModelError) as error:
        make()
    for word in words:
        assert word in str(error.value)


def test_measured_inertia_stays_so_seen_from_elsewhere() -> None:
    """Identified data that no solid has are turned, moved and added as they are."""
    odd = SpatialInertia(1, com=(0.1, 0, 0), inertia=(0.066, 0.0125, 0.086), measured=True)
    R = Rotation.rpy(0.3, -0.5, 0.7)
    for other in (odd.rotated(R), odd.shifted((1, 2, 3)), odd.rotated(R).shifted((1, 2, 3))):
        assert_allclose(np.linalg.eigvalsh(other.inertia), (0.0125, 0.066, 0.086), rtol=1e-14)
    assert_allclose((odd + odd).inertia, 2 * odd.inertia, rtol=1e-14)


def test_measured_waives_the_triangle_inequality_but_not_the_sign():
    SpatialInertia(1, inertia=(0.066, 0.0125, 0.086), measured=True)
    with pytest.raises(ModelError, match=r"entry -0\.0125, but it must be at least 0"):
        SpatialInertia(1, inertia=(0.066, -0.0125, 0.086), measured=True)
    with pytest.raises(ModelError, match="one of them negative"):
        SpatialInertia(1, inertia=(0.066, 0.0125, 0.086, 0.05, 0, 0), measured=True)
