"""Integration by a host, without a completed step: the motion of the Solver."""

from dataclasses import dataclass

import numpy as np
import pytest

import fmumbs as fm
from support.agreement import Comparison, Side, draws, each
from support.drawing.mechanism import draw
from support.host import Host
from support.sweeps import seeds as some


@dataclass
class ByHost(Side):
    """A model that SciPy integrates: all its states but those that follow a path."""

    def move(self, solver: fm.Solver, stop: float, tolerance: float) -> None:
        host, sizes = Host(solver), solver.image.sizes
        on_paths = sum(mode.path is not None for joint in self.model.joints for mode in joint.excited_modes)
        assert host.states == sizes["positions"] + sizes["speeds"] + sizes["bristles"] - 2 * on_paths
        host.run(stop, tolerance)


def check(seed: int) -> None:
    drawn = draw(seed)
    dynamics = str(np.random.default_rng([seed, 2]).choice(("riccati", "copcod")))
    Comparison(drawn, ByHost(drawn.model, {"dynamics": dynamics})).check()


@draws(14, 73600017)
def test_a_host_moves_it_as_the_solver_does(seeds: range) -> None:
    each(seeds, check)


@pytest.mark.parametrize("seed", some(4, 40))
def test_turns_of_cut_joints_are_counted(seed: int) -> None:
    """A crank of a four-bar turns over several times; the joint that closes the loop is at its pin."""
    rng = np.random.default_rng([seed, 14])
    model = fm.Model("crank", gravity=(0, 0, 0))
    lengths = {"crank": rng.uniform(0.1, 0.3), "coupler": rng.uniform(0.9, 1.1), "rocker": rng.uniform(0.8, 1.1)}
    crank, coupler, rocker = (fm.Body.rod(name, length=length, mass=1.0) for name, length in lengths.items())
    speed = float(rng.choice((-1.0, 1.0)) * rng.uniform(6.0, 9.0))
    A = fm.Revolute("A", model.ground.at(), crank.base, axis="y", q0=float(rng.uniform(-3, 3)), u0=speed)
    D = fm.Revolute("D", model.ground.at(1, 0, 0), rocker.base, axis="y")
    B = fm.Revolute("B", rocker.tip, coupler.tip, axis="y")
    model.add(crank, coupler, rocker, A, D, B, fm.Revolute("C", crank.tip, coupler.base, axis="y", cut=True))
    ends = []
    for by_host in (False, True):
        solver = fm.Solver(fm.compile(model, everything=True).with_options(scheme="dop853", tolerance=1e-10))
        solver.assemble()
        start = solver.get("C.q")
        Host(solver).run(4.0, 1e-10) if by_host else solver.step(4.0)
        ends.append([solver.get(f"{name}.q") for name in "ABCD"])
        assert abs(ends[-1][2] - start) > 4 * np.pi
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-6)
