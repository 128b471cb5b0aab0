"""Bodies on springs of the Modelica Standard Library, and one driven by a force and a torque.

Each tolerance is three times the deviation that the published curve was measured to have. That is known for
positions; their rates may deviate by it times the fastest angular frequency of the motion.
"""

import numpy as np
import pytest

import fmumbs as fm
from references import msl
from references.figures import assert_follows

FREE = 3 * 6e-5  # [m], and [rad/s] of the body, whose curve is the smoother one
FREE_FREQUENCY = np.sqrt(2 * 20 / 1)  # [rad/s], two springs of 20 N/m and 1 kg
HEAVY_SPRING = 3 * 6e-5  # [m]
HEAVY_SPRING_FREQUENCY = np.sqrt(40 / 1.125)  # [rad/s]
LOSSES = 3 * 8e-6  # [m], [rad/s]
LOSSES_FREQUENCY = np.sqrt(30 / 1)  # [rad/s]
DRIVEN = 3 * 7e-5  # [rad], of 13.9
DRIVEN_FREQUENCY = 42.6  # [rad/s], as fast as the body turns


def test_a_free_body_between_two_springs(published):
    model = msl.model("free_body")
    body = fm.Body("body", mass=1, com=(0.2, 0, 0), inertia=(1, 1, 1))
    x, y, z = (fm.Rotation.about(axis, 0.174532925199433) for axis in "xyz")
    start = (0.2, -0.5, 0.1, *(x @ y @ z).as_quaternion())
    model.add(body, fm.Free("J", model.ground.at(), body.at(), q0=start))
    model.add(fm.Spring("left", model.ground.at(), body.at(), stiffness=20))
    model.add(fm.Spring("right", model.ground.at(0.8, 0, 0), body.at(0.4, 0, 0), stiffness=20))
    expected = {
        "body.r": ("body.body.frame_a.r_0", FREE),
        "body.v": ("body.v_0", FREE * FREE_FREQUENCY),
        "J.w": ("body.body.w_a", FREE),
    }
    assert_follows(model, published("msl_springs", "freebody"), expected)


def test_a_mass_on_a_spring_that_is_heavy_itself(published):
    """The spring's 0.5 kg are in its middle, moving half as far: a quarter as inertia, half as weight."""
    model = msl.model("spring_with_mass")
    body = fm.Body("body", mass=1)
    slide = fm.Prismatic("J", model.ground.at(), body.at(), axis="y", q0=-0.3, rotor_inertia=0.5 / 4)
    weight = fm.Load("weight", body.at(), force=0.5 / 2 * np.array(msl.GRAVITY))
    spring = fm.Spring("spring", model.ground.at(), body.at(), stiffness=40, free_length=0.2)
    model.add(body, slide, weight, spring)
    expected = {
        "body.r": ("body.frame_a.r_0", HEAVY_SPRING),
        "body.v": ("body.v_0", HEAVY_SPRING * HEAVY_SPRING_FREQUENCY),
    }
    assert_follows(model, published("msl_springs", "springwithmass"), expected)


@pytest.mark.parametrize("number", [1, 2])
def test_a_body_on_a_spring_and_a_damper_in_two_elements_or_in_one(published, number):
    model = msl.model("heat_losses")
    x = 0.3 * number
    hook, body = model.ground.at(x, 0, 0), fm.Body("body", mass=1, com=(0, -0.2, 0), inertia=(0.1, 0.1, 0.1))
    start = {"q0": (x, -0.2, 0, 1, 0, 0, 0), "u0": (0, 0, 0, 0, 0, 0.034906585039887)}
    model.add(body, fm.Free("J", model.ground.at(), body.at(), **start))
    if number == 1:
        model.add(fm.Spring("spring", hook, body.at(), stiffness=30, free_length=0.1))
        model.add(fm.Spring("damper", hook, body.at(), damping=2))
    else:
        model.add(fm.Spring("both", hook, body.at(), stiffness=30, damping=2, free_length=0.1))
    expected = {
        "body.r": (f"body{number}.frame_a.r_0", LOSSES),
        "body.v": (f"body{number}.v_0", LOSSES * LOSSES_FREQUENCY),
        "J.w": (f"body{number}.w_a", LOSSES),
    }
    assert_follows(model, published("msl_springs", "heatlosses"), expected)


def test_a_force_and_a_torque_on_a_body_with_two_revolutes(published):
    model = msl.model("force_and_torque")
    carrier, body = fm.Body("carrier", mass=0), msl.cylinder("body", (1, 0, 0), 0.05)
    first = fm.Revolute("first", model.ground.at(0, -0.5, 0), carrier.at(), axis="z")
    second = fm.Revolute("second", carrier.at(), body.at(), axis="y")
    turned = fm.Rotation.about("z", np.pi / 6)
    load = fm.Load("load", body.tip, force=turned @ (0, 1000, 0), torque=turned @ (-100, 100, 0))
    model.add(carrier, body, first, second, load)
    expected = {
        "first.q": ("revolute1.phi", DRIVEN),
        "first.qd": ("revolute1.w", DRIVEN * DRIVEN_FREQUENCY),
        "second.q": ("revolute2.phi", DRIVEN),
        "second.qd": ("revolute2.w", DRIVEN * DRIVEN_FREQUENCY),
    }
    assert_follows(model, published("msl_springs", "forceandtorque"), expected)
