"""Nonholonomic joints in loops whose rows of velocities and of loops depend on one another."""

from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from support.sweeps import each_pair, seeds

TOLERANCE, ERRORS = 1e-7, 100.0
"""Of runs, and how many times that some hundred steps may add up to."""
CLOSED = 1e-12
"""The closure's tolerance [rad], or relative to the length."""


def rolling_in_tree(F: fm.Point, M: fm.Point, radius: float, **options: Any) -> fm.Joint:
    slides = (fm.Slide("x"), fm.Slide("y"), fm.Slide("z", role="locked", value=radius))
    forbidden: Any = [(0, -radius, 0, 1, 0, 0), (radius, 0, 0, 0, 1, 0)]
    turns, speeds = (fm.Turn("z"), fm.Turn("x"), fm.Turn("y")), np.eye(6)[:3].tolist()
    return fm.Joint("R", F, M, modes=(*slides, *turns), rows_after=3, velocity_rows=forbidden, speed_rows=speeds,
                    **options)  # fmt: skip


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
    rolls = (
        fm.Rolling("R", model.ground.at(), ball.at(), radius=radius, axis=None)
        if contact == "closes the loop"
        else rolling_in_tree(model.ground.at(), ball.at(), radius)
    )
    model.add(ball, rolls, guide, fm.Load("pull", ball.at(), force=(pull, 0.0, 0.0)))
    arm = radius * np.sin(lean)
    return model, size, float(pull * arm / (n @ (inertia * n) + mass * arm**2))


@pytest.mark.parametrize("seed", seeds(2, 20))
@pytest.mark.parametrize("contact", ["closes the loop", "is in the tree"])
@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "rk4"])
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@each_pair
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


def stiff_ball(seed: int) -> fm.Model:
    """The same with gravity, springs at the joint or a stiff line, and a pendulum that disturbs it."""
    rng = np.random.default_rng([seed, 25])
    lean, radius, mass = rng.uniform(0.3, 0.6), rng.uniform(0.2, 0.6), 10.0 ** rng.uniform(-0.5, 0.5)
    stiffness = float(10.0 ** rng.uniform(2, 5))
    model = fm.Model("stiff", gravity=(0, 0, -9.81))
    ball = fm.Body("ball", mass=mass, inertia=tuple((mass * radius**2 * rng.uniform(0.3, 0.5, 3)).tolist()))
    pendulum = fm.Body("pendulum", mass=1.0, inertia=(0.1, 0.1, 0.1))
    at_joint = rng.random() < 0.5
    springs = {"stiffness": [stiffness] * 5, "damping": [0.01 * stiffness] * 5} if at_joint else {}
    n = (0.0, float(np.sin(lean)), float(np.cos(lean)))
    model.add(ball, pendulum, fm.Planar("P", model.ground.at(0, 0, radius), ball.at(), normal=n),
              rolling_in_tree(model.ground.at(), ball.at(), radius, u0=(0, 3 * n[1], 3 * n[2]), **springs),
              fm.Spherical("S", ball.at(0.1, 0.1, 0), pendulum.at(0, 0, 0.4)))  # fmt: skip
    if not at_joint:
        ends = model.ground.at(0.5, 0.1, radius + 0.3), ball.at(0.1, 0.05, 0.1)
        model.add(fm.Spring("s", *ends, stiffness=stiffness, damping=0.01 * stiffness, free_length=0.3))
    return model


@pytest.mark.parametrize("seed", seeds(6, 60))
def test_stiff_springs_in_the_loop(seed: int) -> None:
    """The implicit scheme, whose steps are long beside the springs, and an explicit one agree in both formulations."""
    image, ends = fm.compile(stiff_ball(seed), everything=True), []
    for scheme, dynamics in (("radau", "riccati"), ("radau", "copcod"), ("dopri5", "riccati"), ("dopri5", "copcod")):
        options: dict[str, Any] = {"scheme": scheme, "dynamics": dynamics, "tolerance": TOLERANCE}
        solver = fm.Solver(image.with_options(**options))
        solver.assemble()
        solver.step(0.3)
        ends.append(np.hstack([solver.get(name) for name in ("R.q", "S.q", "pendulum.w", "ball.w")]))
    for other in ends[1:]:
        np.testing.assert_allclose(other, ends[0], rtol=0, atol=ERRORS * TOLERANCE * max(1.0, np.abs(ends[0]).max()))


@pytest.mark.parametrize("seed", seeds(2, 20))
@pytest.mark.parametrize("contact", ["closes the loop", "is in the tree"])
def test_a_guided_ball_rests_where_its_spring_pulls_no_more_along_its_way(seed: int, contact: str) -> None:
    pulled, size, _ = guided_ball(seed, contact)
    model, (ball,), (rolls, guide) = fm.Model("still", gravity=(0, 0, -9.81)), pulled.bodies, pulled.joints
    away = np.random.default_rng([seed, 26]).uniform(0.3, 1.0) * size
    anchor = model.ground.at(away, 0.5 * size, guide.F.X_BP.translation[2])
    model.add(ball, rolls, guide, fm.Spring("s", anchor, ball.at(), stiffness=ball.mass * 9.81 / size))
    solver = fm.equilibrium(model).solver
    assert solver.get("ball.r")[0] == pytest.approx(away, rel=1e-8)
    assert solver.get("solver.position_violation") < 1e-10 * size


@pytest.mark.parametrize("contact", ["closes the loop", "is in the tree"])
def test_a_search_without_an_equilibrium_leaves_the_state(contact: str) -> None:
    image = fm.compile(guided_ball(0, contact)[0], everything=True)
    solver = fm.Solver(image.with_options(equilibrium=True))
    before = solver.state_save()
    with pytest.raises(fm.AssemblyError, match="equilibrium"):
        solver.assemble()
    assert solver.state_save() == before
