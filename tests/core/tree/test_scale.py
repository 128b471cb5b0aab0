"""Thousands of bodies and more: compiled and run without recursion over the tree, in a thread with little stack."""

import threading
from collections.abc import Callable
from concurrent.futures import Future

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.run import Solver
from support.sweeps import first

RADIUS = 0.05  # [m]; every rod has 1 kg and 1 m
SPIN = 0.01  # [rad/s]

STACK = 256 * 1024
"""[bytes] A recursion over the tree would have forty of them for each of 6000 bodies, and two of 100 000."""

SUMMED = 1e-9
"""A hundred thousand terms added one to the other, each sum rounded to 1e-16: 1e-11 at most, and as much again for
each of the turns of axes on the way."""

TOLERANCE = 1e-6  # of the integration


def with_a_small_stack(work: Callable[[], None]) -> None:
    """Runs it in a thread of its own, and raises here what it raises there."""
    done: Future[None] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    before = threading.stack_size(STACK)
    try:
        threading.Thread(target=run).start()
    finally:
        threading.stack_size(before)
    done.result()


def spinning_chain(rods: int) -> fm.Model:
    """Rods in one line, on hinges across and upright in turn, spinning about the upright one at their end."""
    model = fm.Model("chain", gravity=(0, 0, 0))
    end = model.ground.at()
    for i in range(rods):
        rod = fm.Body.rod(f"rod{i}", length=1.0, mass=1.0, radius=RADIUS)
        model.add(rod, fm.Revolute(f"J{i}", end, rod.base, axis="zy"[i % 2], u0=SPIN if i == 0 else 0.0))
        end = rod.tip
    model.output("angle", of="J0.q")
    model.output("pull", of="J0.reaction.f")
    model.output("tip", of=f"rod{rods - 1}.a")
    return model


@pytest.mark.parametrize("rods", first(1, [6_000, 25_000, 100_000]))
def test_rods_in_a_line_spin_as_one_body(rods: int) -> None:
    """Nothing bends a straight chain that spins: the axis carries what holds its mass on its circle."""

    def run() -> None:
        solver = Solver(compile(spinning_chain(rods)))
        solver.assemble()
        for t in (0.0, 0.005, 0.01):
            solver.step(t)
            angle = SPIN * t
            inwards = -np.array([np.cos(angle), np.sin(angle), 0.0])
            assert_allclose(solver.get("angle"), angle, rtol=TOLERANCE)
            largest = SPIN**2 * rods**2 / 2
            assert_allclose(solver.get("pull"), largest * inwards, rtol=0, atol=SUMMED * largest)
            largest = SPIN**2 * (rods - 1)
            assert_allclose(solver.get("tip"), largest * inwards, rtol=0, atol=SUMMED * largest)
        inertia = rods**3 / 3 + rods * RADIUS**2 / 4
        assert_allclose(solver.get("solver.energy"), inertia * SPIN**2 / 2, rtol=SUMMED)

    with_a_small_stack(run)
