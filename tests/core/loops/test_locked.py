"""Mechanisms that their loops lock: nothing moves, and round-off of velocities needs no correction."""

from functools import cache

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import ModelImage

RATE = 1e3  # [1/s], of bristles


@cache
def truss(seed: int, sticks: bool) -> ModelImage:
    """Two bars between two points of the ground, of any size and direction, without weight, pulled by a spring."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-3, 3)
    x = size * rng.uniform(-1, 1, (3, 3))
    normal = np.cross(x[1] - x[0], x[2] - x[0])
    axis = tuple(normal / np.linalg.norm(normal))
    model = fm.Model("truss", gravity=(0, 0, 0))
    a, b = (
        fm.Body(name, mass=1.0, com=tuple(size * rng.uniform(-0.1, 0.1, 3)), inertia=(size**2,) * 3) for name in "ab"
    )
    rubs = fm.LuGre(static=1.0, kinetic=0.8, stribeck=0.1, stiffness=RATE, damping=1.0, preload=1.0)
    A = fm.Revolute("A", model.ground.at(*x[0]), a.at(), axis=axis, stiffness=3.0 * size**2, rest=0.4)
    B = fm.Revolute("B", a.at(*(x[2] - x[0])), b.at(), axis=axis, friction=rubs if sticks else None)
    C = fm.Revolute("C", b.at(*(x[1] - x[2])), model.ground.at(*x[1]), axis=axis)
    ends = model.ground.at(*size * rng.normal(size=3)), b.at(*size * rng.normal(size=3))
    model.add(a, b, A, B, C, fm.Spring("s", *ends, stiffness=5.0))
    if sticks:
        model.add(fm.Law.brake("brake", A, 1.0))
    return fm.compile(model)


@pytest.mark.parametrize("scheme", ["dopri5", "radau"])
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
def test_what_cannot_move_takes_few_steps_and_corrections(scheme: str, dynamics: str) -> None:
    """Velocities of round-off were corrected until nothing was left of them, or steps shortened to 1e-9 s."""
    for seed in range(8):
        solver = fm.Solver(truss(seed, seed % 2 > 0).with_options(scheme=scheme, dynamics=dynamics))
        solver.assemble()
        solver.step(10.0)
        assert solver.get("solver.steps") < 20
        assert solver.get("solver.iterations") <= 3 * solver.get("solver.steps")
        assert max(abs(solver.get(f"{name}.qd")) for name in "ABC") < 1e-9
