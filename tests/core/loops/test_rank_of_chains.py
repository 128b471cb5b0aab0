"""Deployable chains of loops, in which many rows of K are in doubt: those that are chosen are independent, and all."""

import math

import numpy as np
import pytest

import fmumbs as fm
from support.sweeps import each_value


def scissors(stages: int, angle: float, ball: bool) -> fm.Model:
    """Pairs of unit rods that cross in their middles, hinged at their ends; ball: on ball joints in the middles."""
    model = fm.Model("scissors")
    opening, ends = math.pi - 2.0 * angle, (model.ground.at(), model.ground.at())
    for i in range(stages):
        a, b = (fm.Body.rod(f"{name}{i}", length=1.0, mass=1.0) for name in "ab")
        starts = (-angle, -(math.pi - angle)) if i == 0 else (opening, -opening)
        model.add(a, b)
        if i == 0:
            slider = fm.Body("slider", mass=1.0, inertia=(1, 1, 1))
            model.add(slider, fm.Prismatic("S", ends[1], slider.at(), axis="x", q0=math.cos(angle)))
            ends = (ends[0], slider.at())
        for name, end, rod, start in zip("AB", ends, (a, b), starts, strict=True):
            model.add(fm.Revolute(f"{name}{i}", end, rod.base, axis="y", q0=start))
        C = fm.Spherical if ball else fm.Revolute
        model.add(C(f"C{i}", a.at(0.5, 0, 0), b.at(0.5, 0, 0), **({} if ball else {"axis": "y"})))
        ends = (b.tip, a.tip)
    return model


@each_value
@pytest.mark.parametrize("ball", [False, True])
@pytest.mark.parametrize("stages", [2, 9, 20, 45])
def test_the_rows_of_scissors_are_independent_and_all(stages: int, ball: bool) -> None:
    rng = np.random.default_rng(stages)
    solver = fm.Solver(scissors(stages, rng.uniform(0.3, 1.2), ball))
    solver.assemble()
    J = np.asarray(solver.jacobian)
    rank = np.linalg.matrix_rank(J, tol=1e-9 * np.linalg.norm(J, 2))
    chosen = J[solver.active_rows]
    assert len(chosen) == rank < len(J)
    assert np.linalg.matrix_rank(chosen, tol=1e-9 * np.linalg.norm(J, 2)) == rank
    assert solver.mobility == 1
