"""Parallelograms whose bars ball joints and universals hold, through their folds: they swing as one pendulum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import fmumbs as fm
from fmumbs.compiler import compile
from support.sweeps import each_value

SCHEMES = [*(("dopri5", 10.0**-k) for k in range(5, 11)), ("rk4", 1e-6)]
TIMES = np.linspace(0.0, 2.0, 11)


def parallelogram(kind: str, q0: float, u0: float) -> fm.Model:
    """In the plane x-z. ball: in the tree; balls: at both ends of the rung, which may spin; universal: in the tree."""
    model = fm.Model(kind)
    first, second, rung = (fm.Body.rod(name, length=1.0, mass=1.0, radius=0.01) for name in ("first", "second", "rung"))
    model.add(first, second, rung)
    for i, (name, body) in enumerate((("A", first), ("D", second))):
        model.add(fm.Revolute(name, model.ground.at(i, 0, 0), body.base, axis="y", q0=q0, u0=u0))
    if kind == "universal":
        model.add(fm.Universal("B", first.tip, rung.base, axes=("y", "z"), q0=(-q0, 0.0), u0=(-u0, 0.0)))
    else:
        turned = (np.cos(q0 / 2), 0.0, -np.sin(q0 / 2), 0.0)
        model.add(fm.Spherical("B", first.tip, rung.base, q0=turned, u0=(0.0, -u0, 0.0)))
    if kind == "ball":
        model.add(fm.Revolute("C", rung.tip, second.tip, axis="y", cut=True))
    else:
        model.add(fm.Spherical("C", rung.tip, second.tip, cut=True))
    return model


@each_value
@pytest.mark.parametrize(("scheme", "tolerance"), SCHEMES)
@pytest.mark.parametrize("kind", ["ball", "balls", "universal"])
def test_spatial_parallelograms_swing_through_their_folds(kind: str, scheme: str, tolerance: float) -> None:
    rng = np.random.default_rng(11)
    for _ in range(2):
        q0, u0 = float(rng.uniform(-np.pi, np.pi)), float(rng.choice([-1, 1]) * rng.uniform(4, 9))
        model = parallelogram(kind, q0, u0)
        inertia = 2.0 * (model["first"].inertia[1][1] + 0.25) + 1.0
        rates = lambda _, y: (y[1], 2.0 * 9.81 * np.cos(y[0]) / inertia)  # noqa: B023, E731
        motion = solve_ivp(rates, (0.0, TIMES[-1]), (q0, u0), "DOP853", TIMES, rtol=1e-12, atol=1e-12).y
        assert len(np.unique(np.floor(motion[0] / np.pi))) > 1
        image = compile(model, everything=True).with_options(scheme=scheme, step=1e-3, tolerance=tolerance)
        solver = fm.Solver(image)
        solver.assemble()
        for time, q, u in zip(TIMES, *motion, strict=True):
            solver.step(time)
            for name in "AD":
                enough = 1000.0 * tolerance
                assert_allclose(solver.get(f"{name}.q"), q, rtol=0, atol=enough * max(1.0, abs(q)))
                assert_allclose(solver.get(f"{name}.qd"), u, rtol=0, atol=enough * max(1.0, abs(u)))
