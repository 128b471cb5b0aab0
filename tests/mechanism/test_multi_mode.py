"""Joints of several modes: cylindrical, screw, universal, planar, skate, and the general product."""

import dataclasses
import pickle
from math import nan

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.errors import ModelError
from fmumbs.mechanism import GROUND, JointBase, Mode

body = fm.Body.rod("b", length=1, mass=1)
F, M = GROUND.at(), body.base
ROLL = [(0, -0.3, 0, 1, 0, 0), (0.3, 0, 0, 0, 1, 0)]
SPIN = np.eye(3, 6)


def product(*modes: Mode, **options) -> fm.Joint:
    return fm.Joint("J", F, M, modes=modes, **options)


JOINTS = [
    fm.Cylindrical("C", F, M, axis=(1, 2, 2), q0=(0.1, 0.2), u0=(0.3, 0.4), stiffness=(1, 2), rest=(3, 4)),
    fm.Screw("S", F, M, axis="-y", pitch=-0.01, q0=20, u0=3, damping=2, rotor_inertia=0.1),
    fm.Universal("U", F, M, axes=("z", (1, 0, 1)), q0=(0.1, 0.2), damping=3),
    fm.Planar("P", F, M, normal=(1, 1, 1), q0=(1, 2, 3), u0=(4, 5, 6), damping=(1, 1, 2)),
    fm.Skate("K", F, M, q0=(1, 2, 3), u0=(4, 5)),
    product(fm.Turn("x"), fm.Slide("y", role="locked", value=0.2), fm.Helix("z", 0.1), q0=(0.5, 0.6), stiffness=[1, 2]),
    product(fm.Slide("x"), fm.Slide((1, 2, 0), role="excited", input="eta", cutoff=5, eta0=1), q0=[0.4], damping=7),
    product(fm.Turn("z", role="excited", path=fm.Path.polynomial(0, 1))),
    product(
        fm.Slide("x"), fm.Slide("y"), fm.Turn("z"), fm.Turn("x"), fm.Slide("z", role="locked", value=0.3), fm.Turn("y"),
        velocity_rows=ROLL, speed_rows=SPIN, rows_after=5, q0=(0, 0, 1, 0.1, 0), u0=(1, 2, 3),
    ),
]  # fmt: skip
each_joint = pytest.mark.parametrize("joint", JOINTS, ids=lambda j: f"{j.name}{len(j.modes)}")


@each_joint
def test_sizes_follow_from_the_modes(joint):
    free = [mode for mode in joint.modes if mode.role == "free"]
    assert len(joint.start_positions) == joint.positions == len(free)
    assert len(joint.start_velocities) == joint.velocities == len(free) - len(joint.velocity_rows)
    assert len(joint.speed_rows) == (joint.velocities if joint.velocity_rows else 0)
    assert isinstance(joint, JointBase)
    for law in ("stiffness", "damping", "rest", "rotor_inertia"):
        assert len(joint.law(law)) == joint.velocities


@each_joint
def test_they_print_compare_pickle_and_can_be_replaced(joint):
    assert pickle.loads(pickle.dumps(joint)) == joint
    assert hash(joint) == hash(pickle.loads(pickle.dumps(joint)))
    assert dataclasses.replace(joint) == joint
    assert dataclasses.replace(joint, name="other") != joint
    assert repr(joint).startswith(f"{type(joint).__name__}(name='{joint.name}', F=ground.at(0, 0, 0), M=b.base")


def test_modes_are_what_the_joints_are_products_of():
    x, y, z = map(tuple, np.eye(3).tolist())
    assert fm.Cylindrical("C", F, M).modes == (Mode("revolute", z), Mode("prismatic", z))
    assert fm.Screw("S", F, M, pitch=0.1).modes == (Mode("revolute", z, pitch=0.1),)
    assert fm.Universal("U", F, M).modes == (Mode("revolute", x), Mode("revolute", y))
    assert fm.Planar("P", F, M).modes == (Mode("prismatic", x), Mode("prismatic", y), Mode("revolute", z))
    assert fm.Skate("K", F, M).modes == fm.Planar("P", F, M).modes
    assert fm.Turn("x") == Mode("revolute", x)
    assert fm.Slide("-z") == Mode("prismatic", (0, 0, -1))
    assert fm.Helix("y", 0.2) == Mode("revolute", y, pitch=0.2)


@pytest.mark.parametrize("normal", ["x", "y", "z", "-x", "-y", "-z", (1, 2, 3), (-3, 1, 0.1)])
def test_a_plane_has_right_handed_axes(normal):
    joint = fm.Planar("P", F, M, normal=normal)
    first, second = joint.plane
    assert_allclose(np.cross(first, second), joint.normal, atol=1e-15)
    assert_allclose(np.linalg.norm(first), 1)


def test_the_pose_of_m():
    assert_allclose(fm.Cylindrical("C", F, M, axis="x").transform((np.pi / 2, 3)) @ (0, 1, 0), (3, 0, 1), atol=1e-15)
    assert_allclose(fm.Screw("S", F, M, pitch=2).transform((np.pi / 2,)) @ (1, 0, 0), (0, 1, np.pi), atol=1e-15)
    turned = fm.Universal("U", F, M, axes=("z", "x")).transform((np.pi / 2, np.pi / 2))
    assert_allclose(turned @ (0, 1, 0), (0, 0, 1), atol=1e-15)
    assert_allclose(fm.Planar("P", F, M).transform((1, 2, np.pi / 2)) @ (1, 0, 0), (1, 3, 0), atol=1e-15)
    assert_allclose(JOINTS[6].transform((0.4,), (5**0.5,)).translation, (1.4, 2, 0), atol=1e-15)
    assert_allclose(JOINTS[6].all_positions(), (0.4, 1))
    assert JOINTS[7].all_positions(t=2.5) == (2.5,)


def test_laws_come_one_for_each_free_mode():
    assert fm.Cylindrical("C", F, M, stiffness=(1, 2)).law("stiffness") == (1, 2)
    assert fm.Universal("U", F, M, damping=3).law("damping") == (3, 3)
    assert fm.Universal("U", F, M).stiffness == (0, 0)
    assert fm.Planar("P", F, M, rest=np.array([1, 2, 3])).law("rest") == (1, 2, 3)
    assert fm.Revolute("R", F, M, stiffness=4).law("stiffness") == (4,)
    assert fm.Spherical("B", F, M, damping=4).law("damping") == (4, 4, 4)
    assert fm.Free("F", F, M).law("damping") == (0,) * 6
    assert fm.Weld("W", F, M).law("damping") == ()
    assert product(fm.Turn("x"), fm.Turn("y", role="locked"), damping=2).law("damping") == (2,)


def test_a_mode_prints_its_arguments():
    assert repr(fm.Turn("x")) == "Mode(kind='revolute', axis=(1.0, 0.0, 0.0))"
    assert "cutoff=5.0" in repr(fm.Slide("x", role="excited", input="eta", cutoff=5))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: fm.Cylindrical("A", F, M, axis="w"), ["Cylindrical 'A': axis", "'w'"]),
        (lambda: fm.Cylindrical("A", F, M, q0=1), ["Cylindrical 'A': q0", "2 numbers"]),
        (lambda: fm.Cylindrical("A", F, M, u0=(1, 2, 3)), ["u0", "3 entries", "2"]),
        (lambda: fm.Cylindrical("A", F, M, damping=1), ["damping", "some modes turn", "Give 2 numbers"]),
        (lambda: fm.Cylindrical("A", F, M, damping=(1, -1)), ["damping[2]", "at least 0"]),
        (lambda: fm.Screw("A", F, M, pitch=0), ["Screw 'A': pitch", "zero", "Revolute"]),
        (lambda: fm.Screw("A", F, M, pitch=nan), ["pitch", "nan"]),
        (lambda: fm.Universal("A", F, M, axes=("x",)), ["axes", "1 entries", "2"]),
        (lambda: fm.Universal("A", F, M, axes=("x", (-2, 0, 0))), ["axes", "parallel", "Revolute"]),
        (lambda: fm.Universal("A", F, M, axes=("x", (0, 0, 0))), ["axes[2]", "zero"]),
        (lambda: fm.Planar("A", F, M, normal=(1, 2)), ["normal", "2 entries"]),
        (lambda: fm.Planar("A", F, M, stiffness=(1, 2)), ["stiffness", "2 entries", "3"]),
        (lambda: fm.Skate("A", F, M, u0=(1, 2, 3)), ["u0", "3 entries", "2"]),
        (lambda: fm.Skate("A", F, M, rotor_inertia=(0, 0, 1)), ["rotor_inertia", "Skate joint has none"]),
        (lambda: product(), ["Joint 'J': modes", "empty", "Weld"]),
        (lambda: product("x"), ["modes[1]", "'x'", "Turn, a Slide"]),
        (lambda: product(Mode("ball")), ["modes[1]", "ball", "Turn"]),
        (lambda: product(fm.Turn("x"), fm.Turn("x")), ["modes", "dependent at q0"]),
        (lambda: product(fm.Turn("z"), fm.Turn("x"), fm.Turn("z")), ["dependent", "another q0"]),
        (lambda: product(*[fm.Slide((1, k, k * k)) for k in range(4)]), ["dependent"]),
        (lambda: product(fm.Turn("x"), q0=(1, 2)), ["q0", "2 entries", "1"]),
        (lambda: product(fm.Slide("x"), fm.Slide("y"), velocity_rows=[(0,) * 6]), ["speed_rows", "need 1"]),
        (lambda: product(fm.Slide("x"), speed_rows=[(0,) * 6]), ["speed_rows has 1", "need 0"]),
        (lambda: product(fm.Slide("x"), velocity_rows=[(1, 2)]), ["velocity_rows[1]", "2 entries", "6"]),
        (lambda: product(fm.Slide("x"), rows_after=2), ["rows_after", "from 0 to 1"]),
        (
            lambda: product(
                fm.Slide("x"), fm.Slide("y"), velocity_rows=[(0, 0, 0, 0, 1, 0)], speed_rows=[(0, 0, 0, 0, 2, 0)]
            ),
            ["do not determine"],
        ),
        (
            lambda: product(
                fm.Slide("x"), fm.Slide("y"), velocity_rows=[(0, 0, 0, 0, 1, 0)], speed_rows=[(0, 0, 0, 1, 0, 0)],
                rotor_inertia=1,
            ),
            ["rotor_inertia", "has none"],
        ),
        (lambda: fm.Turn("x", value=1), ["value", "free", "role='locked'"]),
        (lambda: fm.Turn("x", eta0=1), ["eta0", "role='excited'"]),
        (lambda: fm.Turn("x", role="stuck"), ["role is 'stuck'", "locked"]),
        (lambda: fm.Turn("x", role="excited"), ["path or by an input", "kappa_dot"]),
        (lambda: fm.Turn("x", role="excited", input="eta"), ["sampled and held", "cutoff"]),
        (lambda: fm.Turn("x", role="excited", input="eta", cutoff=-1), ["cutoff", "below zero"]),
        (lambda: fm.Turn("x", role="excited", input="kappa"), ["'kappa'", "kappa_dot, eta"]),
        (lambda: fm.Turn("x", role="excited", input="kappa_dot", cutoff=1), ["cutoff", "Leave it out"]),
        (lambda: fm.Turn("x", role="excited", path=lambda t: t), ["path is a function", "Path"]),
        (lambda: fm.Turn("x", role="excited", path=fm.Path.polynomial(0), eta0=1), ["eta0", "path already sets"]),
        (lambda: fm.Turn("x", role="excited", path=fm.Path.polynomial(0), input="eta"), ["path or by an input"]),
        (lambda: fm.Helix("x", nan), ["pitch", "nan"]),
        (lambda: Mode("ball", role="locked"), ["ball", "locked"]),
        (lambda: Mode("ball", role="excited"), ["ball", "three turns"]),
    ],
)  # fmt: skip
def test_what_is_not_valid_is_a_model_error(make, words):
    with pytest.raises(ModelError) as error:
        make()
    for word in words:
        assert word in str(error.value)
    assert str(error.value).endswith(".")


def test_a_ball_is_three_turns_free_locked_or_excited() -> None:
    R = fm.Rotation.about((1, 2, 3), 1.1)
    F, M = fm.Model("m").ground.at(), fm.Body("b", mass=1.0, inertia=(1, 1, 1)).at()
    arm = fm.Slide("x", role="locked", value=0.2)
    locked = fm.Joint("J", F, M, modes=[fm.Turn("z"), arm, fm.Ball(role="locked", value=R)], q0=[0.3])
    assert_allclose(locked.transform().rotation.matrix, (fm.Rotation.about("z", 0.3).matrix @ R.matrix), atol=1e-15)
    angles = [mode.value for mode in locked.modes[2:]]
    free = fm.Joint("J", F, M, modes=[fm.Turn("z"), arm, *fm.Ball()], q0=[0.3, *angles])
    assert_allclose(free.transform().rotation.matrix, locked.transform().rotation.matrix, atol=1e-15)
    paths = [fm.Path.polynomial(0.1, 0.2), 0.3, fm.Path.polynomial(-0.2, 0.5)]
    excited = fm.Joint("J", F, M, modes=[fm.Turn("z"), arm, *fm.Ball(role="excited", path=paths)], q0=[0.3])
    assert [mode.prescribed(1.0)[:2] for mode in excited.excited_modes] == [(0.1 + 0.2, 0.2), (0.3, 0.0), (0.3, 0.5)]
    with pytest.raises(fm.ModelError, match="Ball: path is not three paths"):
        fm.Ball(role="excited", path=paths[:2])
    with pytest.raises(fm.ModelError, match="Ball: value"):
        fm.Ball(role="locked", value=(1.0, 2.0))  # type: ignore[arg-type]
