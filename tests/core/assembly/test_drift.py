"""Nonholonomic joints in loops whose rows of velocities and of loops depend on one another."""

from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from support.sweeps import each_value, seeds

TOLERANCE, ERRORS = 1e-7, 100.0
"""Of runs, and how many times that some hundred steps may add up to."""
CLOSED = 1e-12
"""The closure's tolerance [rad], or relative to the length."""


def guided_ball(seed: int, contact: str) -> tuple[fm.Model, float, float]:
    """A ball that rolls on the ground and turns about an axis n fixed in both, pulled along its way.

    A planar joint leaves turns about n alone. The ball then moves across n, as that joint demands, so that one of
    its three rows depends on the others and on the rows of rolling. Also the model's length [m], and the angular
    acceleration [rad/s2]: the torque of the pull about n over the moment of inertia about the contact.
    """
    rng = np.random.default_rng([seed, 24])
    size, mass = 10.0 ** rng.uniform(-3, 3, 2)
    lean = rng.choice([rng.uniform(0.3, 0.6), rng.uniform(1.0, 1.2)])  # at others the turns come to their pole
    radius = size * rng.uniform(0.2, 0.6)
    inertia = mass * radius**2 * rng.uniform(0.3, 0.5, 3)
    n = np.array([0.0, np.sin(lean), np.cos(lean)])
    pull = mass * radius * rng.uniform(0.5, 2.0)
    model = fm.Model("guided", gravity=(0, 0, -9.81))
    ball = fm.Body("ball", mass=mass, inertia=tuple(inertia.tolist()))
    guide = fm.Planar("P", model.ground.at(0, 0, radius), ball.at(), normal=tuple(n.tolist()))
    if contact == "closes the loop":
        rolls = fm.Rolling("R", model.ground.at(), ball.at(), radius=radius, axis=None)
    else:
        slides = [fm.Slide("x"), fm.Slide("y"), fm.Slide("z", role="locked", value=radius)]
        rows = [(0, -radius, 0, 1, 0, 0), (radius, 0, 0, 0, 1, 0)]
        rolls = fm.Joint("R", model.ground.at(), ball.at(), modes=[*slides, fm.Turn("z"), fm.Turn("x"), fm.Turn("y")],
                         rows_after=3, velocity_rows=rows, speed_rows=np.eye(6)[:3].tolist())  # fmt: skip
    model.add(ball, rolls, guide, fm.Load("pull", ball.at(), force=(pull, 0.0, 0.0)))
    arm = radius * np.sin(lean)
    return model, size, float(pull * arm / (n @ (inertia * n) + mass * arm**2))


@pytest.mark.parametrize("seed", seeds(2, 20))
@pytest.mark.parametrize("contact", ["closes the loop", "is in the tree"])
@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "rk4"])
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@each_value
def test_a_ball_rolls_along_a_guide(seed: int, contact: str, scheme: str, dynamics: str) -> None:
    model, size, rate = guided_ball(seed, contact)
    image = fm.compile(model, everything=True)
    options: dict[str, Any] = {"scheme": scheme, "dynamics": dynamics, "tolerance": TOLERANCE, "step": 0.01}
    solver = fm.Solver(image.with_options(**options))
    solver.assemble()
    solver.step(4.0)
    speed = np.linalg.norm([solver.get(f"ball.w[{k}]") for k in (1, 2, 3)])
    assert speed == pytest.approx(4.0 * rate, rel=ERRORS * TOLERANCE)
    assert abs(solver.get("P.q[3]")) == pytest.approx(8.0 * rate, rel=ERRORS * TOLERANCE)
    assert solver.get("solver.position_violation") < CLOSED * max(1.0, size)
