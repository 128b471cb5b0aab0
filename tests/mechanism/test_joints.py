"""Joints: their modes and starts, and what is refused."""

import dataclasses
import pickle
from math import inf, nan

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs import ModelError
from fmumbs.mechanism import GROUND, JointBase, Mode

body = fm.Body.rod("b", length=1, mass=1)
F, M = GROUND.at(), body.base

JOINTS = [
    fm.Revolute("R", F, M, axis=(1, 2, 2), q0=0.1, u0=0.2, held=True, stiffness=1, damping=2, rest=3, rotor_inertia=4),
    fm.Prismatic("P", F, M, axis="-y", q0=-1),
    fm.Spherical("S", F, M, q0=(1, 1, 0, 0), u0=(1, 2, 3), stiffness=1, damping=2),
    fm.Free("F", F, M, q0=(1, 2, 3, 0, 0, 0, 2), u0=range(6)),
    fm.Weld("W", F, M),
]


def test_a_revolute_has_one_mode_about_its_axis():
    (mode,) = fm.Revolute("A", F, M, axis="y").modes
    assert mode == Mode("revolute", (0, 1, 0), role="free", pitch=0)


def test_a_prismatic_has_one_mode_along_its_axis():
    (mode,) = fm.Prismatic("A", F, M, axis="-x").modes
    assert mode == Mode("prismatic", (-1, 0, 0))


def test_a_joint_turns_about_z_by_default():
    assert fm.Revolute("A", F, M).axis == (0, 0, 1)


def test_an_axis_is_made_a_unit_vector():
    joint = fm.Revolute("A", F, M, axis=(1, 2, 2))
    assert_allclose(joint.axis, np.array([1, 2, 2]) / 3)
    assert fm.Revolute("A", F, M, axis=joint.axis) == joint
    assert_allclose(fm.Revolute("A", F, M, axis=(1e300, 0, 1e300)).axis, np.sqrt([0.5, 0, 0.5]))
    assert_allclose(fm.Revolute("A", F, M, axis=(0, 1e-300, 0)).axis, (0, 1, 0))


def test_a_spherical_joint_starts_with_a_unit_quaternion():
    joint = fm.Spherical("A", F, M, q0=(2, 0, 0, 0))
    assert joint.q0 == (1, 0, 0, 0)
    assert joint.modes == (Mode("ball"),)


def test_a_free_joint_is_three_slides_and_a_ball():
    joint = fm.Free("A", F, M, q0=(1, 2, 3, 0, 2, 0, 0))
    assert [mode.kind for mode in joint.modes] == ["prismatic"] * 3 + ["ball"]
    assert_allclose([mode.axis for mode in joint.modes[:3]], np.eye(3))
    assert joint.start_positions == (1, 2, 3, 0, 1, 0, 0)


def test_a_weld_has_no_mode():
    assert fm.Weld("A", F, M).modes == ()


@pytest.mark.parametrize("joint", JOINTS, ids=lambda j: j.name)
def test_the_start_has_the_sizes_of_the_modes(joint):
    assert len(joint.start_positions) == joint.positions == sum(mode.positions for mode in joint.modes)
    assert len(joint.start_velocities) == joint.velocities == sum(mode.velocities for mode in joint.modes)
    assert joint.ends == (F, M)


@pytest.mark.parametrize("joint", JOINTS, ids=lambda j: j.name)
def test_joints_print_compare_pickle_and_can_be_replaced(joint):
    assert pickle.loads(pickle.dumps(joint)) == joint
    assert hash(joint) == hash(pickle.loads(pickle.dumps(joint)))
    assert dataclasses.replace(joint) == joint
    assert dataclasses.replace(joint, name="other") != joint
    assert repr(joint).startswith(f"{type(joint).__name__}(name='{joint.name}', F=ground.at(0, 0, 0), M=b.base")


def test_the_base_class_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        JointBase("A", F, M)  # type: ignore[abstract]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: fm.Revolute("A", F, M, axis="w"), ["Revolute 'A': axis", "'w'", "x, y, z"]),
        (lambda: fm.Revolute("A", F, M, axis=(0, 0, 0)), ["Revolute 'A': axis", "zero"]),
        (lambda: fm.Revolute("A", F, M, axis=(1, 0)), ["axis", "2 entries"]),
        (lambda: fm.Revolute("A", F, M, axis=(1, nan, 0)), ["axis[2]", "nan"]),
        (lambda: fm.Revolute("A", F, M, axis=3), ["axis", "3 numbers"]),
        (lambda: fm.Revolute("A", F, M, q0=inf), ["q0", "inf"]),
        (lambda: fm.Revolute("A", F, M, u0="fast"), ["u0", "'fast'"]),
        (lambda: fm.Revolute("A", F, M, q0=(1, 0)), ["q0", "not a number"]),
        (lambda: fm.Revolute("A", F, M, damping=-1), ["damping", "-1", "at least 0", "Give zero"]),
        (lambda: fm.Revolute("A", F, M, damping=nan), ["damping", "nan"]),
        (lambda: fm.Revolute("A", F, M, rotor_inertia=-1), ["rotor_inertia", "at least 0"]),
        (lambda: fm.Revolute("A", F, body), ["M", "the body 'b'", "b.at(x, y, z)"]),
        (lambda: fm.Revolute("A", (0, 0, 0), M), ["F", "tuple", "ground.at"]),
        (lambda: fm.Revolute("A", body.tip, M), ["both on 'b'"]),
        (lambda: fm.Revolute("A.q", F, M), ["'A.q'", "'A_q'"]),
        (lambda: fm.Spherical("A", F, M, q0=(1, 0, 0)), ["q0", "3 entries", "4"]),
        (lambda: fm.Spherical("A", F, M, q0=(0, 0, 0, 0)), ["q0", "zero", "(1, 0, 0, 0)"]),
        (lambda: fm.Spherical("A", F, M, u0=(0, 0)), ["u0", "2 entries", "3"]),
        (lambda: fm.Spherical("A", F, M, rest=1), ["rest", "Spherical", "Leave it out"]),
        (lambda: fm.Spherical("A", F, M, rotor_inertia=1), ["rotor_inertia", "Spherical"]),
        (lambda: fm.Free("A", F, M, q0=(1, 0, 0, 0)), ["q0", "4 entries", "7"]),
        (lambda: fm.Free("A", F, M, q0=(1, 2, 3, 0, 0, 0, 0)), ["q0", "zero"]),
        (lambda: fm.Free("A", F, M, u0=(1, 2, 3)), ["u0", "3 entries", "6"]),
        (lambda: fm.Free("A", F, M, stiffness=1), ["stiffness", "Free", "six numbers"]),
        (lambda: fm.Free("A", F, M, damping=1), ["damping", "Free", "six numbers"]),
        (lambda: fm.Weld("A", F, M, damping=1), ["damping", "Weld"]),
    ],
)
def test_what_is_not_valid_is_a_model_error(make, words):
    with pytest.raises(ModelError) as error:
        make()
    for word in words:
        assert word in str(error.value)
    assert str(error.value).endswith(".")
