"""A thin wheel that rolls on a plane, by the Modelica Standard Library: a nonholonomic joint.

Tolerances are three times the deviation that the published curve was measured to have.
"""

import numpy as np
from numpy.testing import assert_allclose

import fmumbs as fm
from references.figures import run

CENTRE = 3 * 6e-4  # [m], of 2.4
ANGLES = 3 * 1.2e-3  # [rad], of 9
RADIUS = 0.3


def wheel() -> fm.Model:
    model = fm.Model("rolling_wheel", gravity=(0, 0, -9.80665))
    body = fm.Body("wheel", mass=2.0, inertia=(0.12, 0.06, 0.12))
    modes = [fm.Slide("x"), fm.Slide("y"), fm.Turn("z"), fm.Turn("x"), fm.Slide("z", role="locked", value=RADIUS)]
    joint = fm.Joint(
        "J",
        model.ground.at(),
        body.at(),
        modes=[*modes, fm.Turn("y")],
        rows_after=5,
        velocity_rows=((0, -RADIUS, 0, 1, 0, 0), (RADIUS, 0, 0, 0, 1, 0)),
        speed_rows=np.eye(3, 6),
        q0=(0.2, 0.2, 0, 0, 0),
        u0=(1.0, 5.0, 0.0),
    )
    model.add(body, joint)
    return model


def test_a_disturbed_wheel_rolls_as_published(published):
    """Its orientation there is Rz(a1) Ry(a2) Rx(a3); the turn from that to ours is compared."""
    curve = published("msl_rollingwheel")
    found = run(wheel(), curve.time, ["wheel.r", "wheel.quat"])
    assert_allclose(found["wheel.r"][:, 0], curve["wheel1.x"], rtol=0, atol=CENTRE)
    assert_allclose(found["wheel.r"][:, 1], curve["wheel1.y"], rtol=0, atol=CENTRE)
    for quaternion, angles in zip(found["wheel.quat"], curve["wheel1.angles"], strict=True):
        z, y, x = (fm.Rotation.about(axis, angle) for axis, angle in zip("zyx", angles, strict=True))
        away = ((z @ y @ x).inverse() @ fm.Rotation.quaternion(*quaternion)).as_quaternion()
        assert 2 * np.linalg.norm(away[1:]) <= ANGLES
