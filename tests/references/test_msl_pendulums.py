"""Trees of the Modelica Standard Library: double pendulums, and a pendulum that slides on its spring.

Each tolerance is three times the deviation that the published curve was measured to have. Where that is known
for positions alone, their rates may deviate by it times the fastest angular frequency of the motion.
"""

import numpy as np
from numpy.testing import assert_allclose

import fmumbs as fm
from references import msl
from references.figures import assert_follows, in_body_axes, run

PLANE_ANGLE = 3 * 4e-5  # [rad]
PLANE_RATE = 3 * 2e-4  # [rad/s], of 36
SPRING_FREQUENCY = np.sqrt(20 / 1)  # [rad/s], k = 20 N/m and m = 1 kg
SWING = 3 * 1.5e-5  # [rad]
SLIDE = 3 * 1.1e-5  # [m]
SPACE_RATE_A = 3 * 5.1e-5  # [rad/s]
SPACE_RATE_B = 3 * 1.4e-4  # [rad/s], of 20.7


def test_a_double_pendulum_with_a_damper(published):
    model = msl.model("double_pendulum")
    upper, lower = (msl.box(name, (0.5, 0, 0), 0.06, 0.06) for name in ("upper", "lower"))
    A = fm.Revolute("A", model.ground.at(), upper.at(), axis="z", damping=0.1)
    B = fm.Revolute("B", upper.tip, lower.at(), axis="z")
    model.add(upper, lower, A, B)
    expected = {
        "A.q": ("revolute1.phi", PLANE_ANGLE),
        "A.qd": ("revolute1.w", PLANE_RATE),
        "B.q": ("revolute2.phi", PLANE_ANGLE),
        "B.qd": ("revolute2.w", PLANE_RATE),
    }
    assert_follows(model, published("msl_doublependulum"), expected)


def test_a_body_that_slides_on_a_massless_carrier(published):
    model = msl.model("pendulum_spring_damper")
    carrier, body = fm.Body("carrier", mass=0), fm.Body("body", mass=1, inertia=(1, 1, 1))
    pivot = model.ground.at(0.3, 0, 0)
    turn = fm.Revolute("turn", pivot, carrier.at(), axis="z")
    slide = fm.Prismatic("slide", carrier.at(), body.at(), axis="x", q0=0.5)
    spring = fm.Spring("spring", pivot, body.at(), stiffness=20, damping=1, free_length=0.2)
    model.add(carrier, body, turn, slide, spring)
    expected = {
        "turn.q": ("revolute.phi", SWING),
        "turn.qd": ("revolute.w", SWING * SPRING_FREQUENCY),
        "slide.q": ("prismatic.s", SLIDE),
        "slide.qd": ("prismatic.v", SLIDE * SPRING_FREQUENCY),
    }
    assert_follows(model, published("msl_pendulum_springdamper"), expected)


def test_a_spherical_double_pendulum(published):
    model = msl.model("spherical_double_pendulum")
    a, b = msl.box("a", (0.4, 0, -0.3), 0.06, 0.06), msl.box("b", (0.3, -0.4, 0), 0.06, 0.06)
    start = (0.05235987755982989, 0.03490658503988659, 0.0174532925199433)
    model.add(a, b, fm.Spherical("A", model.ground.at(), a.at(), u0=start), fm.Spherical("B", a.tip, b.at()))
    curve = published("msl_spherical_double_pendulum")
    found = run(model, curve.time, ["a.quat", "a.w", "b.quat", "b.w"])
    for body, column, tolerance in (("a", "boxBody5", SPACE_RATE_A), ("b", "boxBody6", SPACE_RATE_B)):
        rates = in_body_axes(found[f"{body}.quat"], found[f"{body}.w"])
        assert_allclose(rates, curve[f"{column}.body.w_a"], rtol=0, atol=tolerance)
