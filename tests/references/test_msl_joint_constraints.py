"""A body on an inclined joint and a spring, by the Modelica Standard Library.

Each tolerance is three times the deviation that the published curve was measured to have. Where that is known
for angles, their rates may deviate by it times the fastest rate of the motion.
"""

import numpy as np
from numpy.testing import assert_allclose

import fmumbs as fm
from references import msl
from references.figures import assert_follows, in_body_axes, run

REVOLUTE = 3 * 1.1e-5  # [rad]
REVOLUTE_RATE = REVOLUTE * 2.5  # [rad/s], which is the fastest it turns
SPHERICAL_RATE = 3 * 1.3e-4  # [rad/s]
UNIVERSAL = 3 * 2.8e-5  # [rad]
UNIVERSAL_RATE = UNIVERSAL * 1.8  # [rad/s], which is the fastest it turns

INCLINED = (
    fm.Rotation.about("x", np.radians(10))
    @ fm.Rotation.about("y", np.radians(55))
    @ fm.Rotation.about("z", np.radians(68))
)
BODY = fm.Body("body", mass=1, com=(0.2, 0, 0), inertia=(1, 1, 1))


BASE = msl.model("world").ground.at(0.2, -0.3, 0.2, rotation=INCLINED)


def on_a_spring(at: fm.Point, *elements: fm.Body | fm.Joint) -> fm.Model:
    model = msl.model("joint_constraints")
    model.add(BODY, *elements, fm.Spring("spring", model.ground.at(0.8, 0, 0.3), at, stiffness=20))
    return model


def test_a_revolute_joint(published):
    model = on_a_spring(BODY.at(0.4, 0, 0), fm.Revolute("J", BASE, BODY.at(), axis="y"))
    expected = {"J.q": ("joint.phi", REVOLUTE), "J.qd": ("bodyOfJoint.body.w_a[2]", REVOLUTE_RATE)}
    assert_follows(model, published("msl_joint_constraints", "revolute"), expected)


def test_a_spherical_joint(published):
    model = on_a_spring(BODY.at(0.4, 0, 0), fm.Spherical("J", BASE, BODY.at()))
    expected = {"J.w": ("bodyOfConstraint.body.w_a", SPHERICAL_RATE)}
    assert_follows(model, published("msl_joint_constraints", "spherical"), expected)


def test_a_universal_joint(published):
    model = on_a_spring(BODY.at(0.5, 0.15, 0.2), fm.Universal("J", BASE, BODY.at(), axes="zx"))
    expected = {
        "J.q[1]": ("joint.phi_a", UNIVERSAL),
        "J.qd[1]": ("joint.w_a", UNIVERSAL_RATE),
        "J.q[2]": ("joint.phi_b", UNIVERSAL),
        "J.qd[2]": ("joint.w_b", UNIVERSAL_RATE),
    }
    assert_follows(model, published("msl_joint_constraints", "universal"), expected)


def test_a_universal_joint_of_two_revolutes(published):
    carrier = fm.Body("carrier", mass=0)
    first = fm.Revolute("first", BASE, carrier.at(), axis="z")
    second = fm.Revolute("second", carrier.at(), BODY.at(), axis="x")
    model = on_a_spring(BODY.at(0.5, 0.15, 0.2), carrier, first, second)
    expected = {
        "first.q": ("joint.phi_a", UNIVERSAL),
        "first.qd": ("joint.w_a", UNIVERSAL_RATE),
        "second.q": ("joint.phi_b", UNIVERSAL),
        "second.qd": ("joint.w_b", UNIVERSAL_RATE),
    }
    curve = published("msl_joint_constraints", "universal")
    assert_follows(model, curve, expected)
    found = run(model, curve.time, ["body.quat", "body.w"])
    rates = in_body_axes(found["body.quat"], found["body.w"])
    assert_allclose(rates, curve["bodyOfConstraint.body.w_a"], rtol=0, atol=UNIVERSAL_RATE)
