"""Bodies on springs of the Modelica Standard Library, and one driven by a force and a torque.

Each tolerance is three times the deviation that the published curve was measured to have. That is known for
positions; their rates may deviate by it times the fastest angular frequency of the motion.
"""

import numpy as np
import pytest
import scipy.optimize

import fmumbs as fm
from references import msl
from references.figures import assert_follows

FREE = 3 * 6e-5  # [m], and [rad/s] of the body, whose curve is the smoother one
FREE_FREQUENCY = np.sqrt(2 * 20 / 1)  # [rad/s], two springs of 20 N/m and 1 kg
HEAVY_SPRING = 3 * 6e-5  # [m]
HEAVY_SPRING_FREQUENCY = np.sqrt(40 / 1.125)  # [rad/s]
LOSSES = 3 * 8e-6  # [m], [rad/s]
LOSSES_FREQUENCY = np.sqrt(30 / 1)  # [rad/s]
SERIES_PART = 1e-5  # [kg], between a spring and a damper
JUNCTION = 3 * 1.1e-5, 3 * 1e-4  # [m], [rad/s]
JUNCTION_FREQUENCY = np.sqrt(20 / 0.8)  # [rad/s]
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


def test_a_spring_and_a_damper_in_series(published):
    """A telescope: the damper is its first slide, the spring its second, with next to no mass between them.

    That mass takes m a of the force that they share, some 1e-4 N of 6 N, and follows within m / d = 5e-6 s.
    """
    model = msl.model("heat_losses")
    hook, body = model.ground.at(0.9, 0, 0), fm.Body("body", mass=1, com=(0, -0.2, 0), inertia=(0.1, 0.1, 0.1))
    leg, middle, end = fm.Body("leg", mass=0), fm.Body("middle", mass=SERIES_PART), fm.Body("end", mass=0)
    length, rate = 0.2, 30 * (0.2 - 0.1) / 2
    model.add(leg, middle, end, body, fm.Revolute("swing", hook, leg.at(), axis="z"))
    model.add(fm.Prismatic("damper", leg.at(), middle.at(), axis="-y", damping=2, u0=rate))
    model.add(fm.Prismatic("spring", middle.at(), end.at(), axis="-y", stiffness=30, rest=0.1, q0=length, u0=-rate))
    model.add(fm.Revolute("pin", end.at(), body.at(), axis="z", u0=0.034906585039887))
    model.add(fm.Spring("beside", hook, body.at(), stiffness=30, free_length=0.2))
    expected = {
        "body.r": ("body3.frame_a.r_0", LOSSES),
        "body.v": ("body3.v_0", LOSSES * LOSSES_FREQUENCY),
        "body.w": ("body3.w_a", LOSSES),  # it turns about z alone
        "damper.q": ("springDamperSeries.s_damper", LOSSES),
    }
    assert_follows(model, published("msl_springs", "heatlosses"), expected, tolerance=1e-8)


def test_a_body_on_three_springs_that_meet_in_a_junction_without_mass(published):
    """The junction has 1e-5 kg, and starts where the springs' forces are in balance."""
    model = msl.model("three_springs")
    body = fm.Body("body", mass=0.8, com=(0, -0.2, 0), inertia=(0.1, 0.1, 0.1))
    X = fm.Body("X", mass=1e-5, inertia=(1e-9, 1e-9, 1e-9))
    ends = np.array([(0.3, 0, 0), (0, 0, 0.3), (0.5, -0.3, 0)])
    stiffness = np.array([20.0, 20.0, 40.0])

    def force(x):
        away = ends - x
        lengths = np.linalg.norm(away, axis=1)
        return (stiffness * (lengths - 0.1) / lengths) @ away

    start = scipy.optimize.fsolve(force, (0.1, -0.2, 0.2), xtol=1e-13)
    slides = [fm.Slide(axis) for axis in "xyz"]
    model.add(X, fm.Joint("at", model.ground.at(), X.at(), modes=slides, q0=start))
    model.add(body, fm.Free("J", model.ground.at(), body.at(), q0=(0.5, -0.3, 0, 1, 0, 0, 0)))
    model.add(fm.Spring("spring1", X.at(), model.ground.at(0.3, 0, 0), stiffness=20, free_length=0.1))
    model.add(fm.Spring("spring3", X.at(), model.ground.at(0, 0, 0.3), stiffness=20, free_length=0.1))
    model.add(fm.Spring("spring2", X.at(), body.at(), stiffness=40, free_length=0.1))
    expected = {
        "body.r": ("body1.frame_a.r_0", JUNCTION[0]),
        "body.v": ("body1.v_0", JUNCTION[0] * JUNCTION_FREQUENCY),
        "J.w": ("body1.w_a", JUNCTION[1]),
    }
    assert_follows(model, published("msl_springs", "threesprings"), expected, tolerance=1e-8)


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
