"""Trees of the Modelica Standard Library: double pendulums and a pendulum that slides on springs.

Each tolerance is three times the deviation that the published curve was measured to have from the solution.
"""

import fmumbs as fm
from references import msl
from references.figures import assert_follows

PLANE_ANGLE = 3 * 4e-5  # [rad], DoublePendulum
PLANE_RATE = 3 * 2e-4  # [rad/s], of 36
SWING_ANGLE = 3 * 1.5e-5  # [rad], PendulumWithSpringDamper
SLIDE = 3 * 1.1e-5  # [m]
SPACE_RATE_A = 3 * 5.1e-5  # [rad/s], SphericalDoublePendulum
SPACE_RATE_B = 3 * 1.4e-4  # [rad/s], of 20.7


def test_a_double_pendulum_with_a_damper_swings_as_published(published):
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


def test_a_body_slides_on_a_massless_carrier_as_published(published):
    model = msl.model("pendulum_spring_damper")
    carrier = fm.Body("carrier", mass=0)
    body = fm.Body("body", mass=1, inertia=(1, 1, 1))
    pivot = model.ground.at(0.3, 0, 0)
    turn = fm.Revolute("turn", pivot, carrier.at(), axis="z")
    slide = fm.Prismatic("slide", carrier.at(), body.at(), axis="x", q0=0.5)
    model.add(carrier, body, turn, slide)
    model.add(fm.Spring("spring", pivot, body.at(), stiffness=20, damping=1, free_length=0.2))
    expected = {
        "turn.q": ("revolute.phi", SWING_ANGLE),
        "turn.qd": ("revolute.w", SWING_ANGLE),
        "slide.q": ("prismatic.s", SLIDE),
        "slide.qd": ("prismatic.v", SLIDE),
    }
    assert_follows(model, published("msl_pendulum_springdamper"), expected)


def test_a_spherical_double_pendulum_tumbles_as_published(published):
    model = msl.model("spherical_double_pendulum")
    a = msl.box("a", (0.4, 0, -0.3), 0.06, 0.06)
    b = msl.box("b", (0.3, -0.4, 0), 0.06, 0.06)
    start = (0.05235987755982989, 0.03490658503988659, 0.0174532925199433)
    A = fm.Spherical("A", model.ground.at(), a.at(), u0=start)
    B = fm.Spherical("B", a.tip, b.at())
    C = fm.Body("C", mass=0)
    del C
    model.add(a, b, A, B)
    curve = published("msl_spherical_double_pendulum")
    del curve
