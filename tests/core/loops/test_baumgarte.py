"""Loops that Baumgarte's stabilisation keeps closed: c'' = -2 alpha c' - beta^2 c of every row, beside the oracle.

Loops that are closed coarsely start with a violation, which the solver leaves there. The oracle is given the same
right-hand side for its own rows, which are other functions of the same joints: what the violation brings about
differs by what is of second order in it.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from oracle import Frame, Oracle, State
from oracle.joints import constraint
from support.closed import SPACE, Closed, moved, plane, space, state_of, two_pendulums
from support.closed_agreement import WELL, singular
from support.sweeps import each_value, first

COARSE = 0.01  # of the length: the coarsest closure that there is
SAME = 1e-9  # of the largest acceleration that the violation brings about
OTHER_ROWS = {"prismatic", "weld", "screw", "distance", "hinged rod"}
"""Here the oracle has other rows than the core: what they ask for differs by what is of second order in a violation."""
SECOND_ORDER = 0.05
CLOSING = ("distance", "hinged rod", "line", "plane")


class Stabilised(Oracle):
    """Joints with c'' = -2 alpha c' - beta^2 c; c of points that coincide is in F's axes, which turn."""

    alpha = beta = 0.0

    def _rows(self, state: State, joint: Any) -> tuple[np.ndarray, np.ndarray]:
        near = self._near(state, joint)
        together = type(joint).__name__ in ("Revolute", "Spherical", "Weld", "Universal")

        def rows(F: Frame, M: Frame) -> np.ndarray:
            c = constraint(joint, F, M, self.length, near)
            return np.concatenate([F.R.T @ c[:3], c[3:]]) if together else c

        c = rows(self.frame(state, joint.F), self.frame(state, joint.M))
        if not len(c):
            return np.zeros((0, 6 * len(self.bodies))), np.zeros(0)
        J, drift = (find(state, joint.F, joint.M, rows) for find in (self.jacobian, self.drift))
        return J, -drift - 2 * self.alpha * J @ self.velocities(state) - self.beta**2 * c


def opened(case: Closed, correction: tuple[float, float], planar: bool, dynamics: str) -> fm.Solver:
    """After 30 ms from a start that closes coarsely, so that positions and velocities are violated."""
    image = compile(case.model, everything=True).with_options(
        correction=correction, closure=COARSE, dynamics=dynamics
    )
    solver = fm.Solver(image)
    if dynamics == "riccati":
        solver.use_planar(planar)
    for name, value in case.inputs.items():
        solver.set(name, value)
    solver.assemble()
    solver.step(0.03)
    return solver


def motion(model: fm.Model, of: Any) -> np.ndarray:
    """Accelerations of all bodies and of the joints of the tree."""
    names = [f"{b.name}.{what}" for b in model.bodies for what in ("a", "alpha")]
    names += [f"{j.name}.qdd" for j in model.joints[: len(model.bodies)] if not isinstance(j, fm.Spherical)]
    return np.concatenate([np.ravel(of(name)) for name in names])


def check(
    case: Closed, seed: int, planar: bool = True, alike: float = SAME, redundant: int = 0, dynamics: str = "riccati"
) -> bool:
    """Whether the violation can be measured; accelerations are then the oracle's, and derivatives differences."""
    rng = np.random.default_rng(seed)
    oracle = Stabilised(case.model)
    oracle.alpha, oracle.beta = (float(x) for x in rng.uniform(3.0, 30.0, 2))
    solver = opened(case, (oracle.alpha, oracle.beta), planar, dynamics)
    if solver.redundant_rows != redundant:  # in-plane rows too, which a violation sets against one another
        return False
    state = state_of(solver, case.model)
    if not 1e-5 < oracle.violation(state) < 2e-2:
        return False
    values, _, _ = singular(oracle, state)
    if values[-1] < 100 * WELL * values[0]:
        return False
    check_derivatives(case, solver)
    found = motion(case.model, solver.get)
    solver.set("solver.correction", 2.0)
    effect = np.abs(found - motion(case.model, solver.get)).max()
    if effect < 1e-3 * np.abs(found).max():
        return False
    wanted = motion(case.model, oracle.solve(state, case.inputs).__getitem__)
    assert_allclose(found, wanted, rtol=0, atol=alike * effect + 1e-11 * np.abs(found).max())
    return True


def check_derivatives(case: Closed, solver: fm.Solver) -> None:
    """By an input; accelerations and reactions follow it linearly, whatever the violation asks for."""
    (name, *_) = case.inputs
    known = f"{name}[1]" if np.size(case.inputs[name]) > 1 else name
    cut = case.model[case.cuts[0]] if case.cuts else case.model.joints[-1]
    names = [f"{case.model.bodies[0].name}.a", f"{cut.name}.reaction.f"]
    names = [f"{name}[{k}]" for name in names for k in (1, 2, 3)]
    slope = np.asarray(solver.directional_derivative(names, [known], [1.0]))
    before, sides = solver.get(known), []
    for change in (-1.0, 1.0):
        solver.set(known, before + change)
        sides.append(np.array([solver.get(name) for name in names]))
    solver.set(known, before)
    assert_allclose(slope, (sides[1] - sides[0]) / 2, rtol=0, atol=1e-9 * max(1.0, *np.abs(sides[0])))


def some(draw: Any, **options: Any) -> None:
    """The first random case whose violation is large enough to measure."""
    assert any(check(draw(seed), seed, **options) for seed in range(24))


@pytest.mark.parametrize("kind", first(5, sorted(SPACE, key=lambda kind: kind != "revolute")))
def test_loops_in_space_by_each_kind_of_cut_joint(kind: str) -> None:
    alike = SECOND_ORDER if kind in OTHER_ROWS else SAME
    some(lambda seed: space(1300 + seed, kind=kind, guess=0.005), alike=alike)


@pytest.mark.parametrize("kind", ["spherical", "revolute"])
def test_loops_of_the_reduced_formulation(kind: str) -> None:
    some(lambda seed: space(1300 + seed, kind=kind, guess=0.005), dynamics="copcod")


def nearly_closed(kind: str, seed: int) -> Closed:
    """Two pendulums that a joint nearly joins, each a little off where it does."""
    rng = np.random.default_rng(seed)
    model = two_pendulums(kind)
    solver = fm.Solver(model)
    solver.assemble()
    found = fm.Model("nearly", gravity=model.gravity)
    found.add(*model.bodies)
    for joint in model.joints:
        if isinstance(joint, fm.Spherical):
            joint = moved(rng, replace(joint, q0=solver.get(f"{joint.name}.q")), 0.005)
        found.add(joint)
    return Closed(found, ("C",), {"A.tau": rng.uniform(-1, 1, 3)})


@pytest.mark.parametrize("kind", CLOSING)
def test_joints_that_only_close_loops(kind: str) -> None:
    some(lambda seed: nearly_closed(kind, seed), alike=SECOND_ORDER if kind in OTHER_ROWS else SAME)


@each_value
@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("loops", [1, 2, 3])
def test_loops_in_a_plane(loops: int, planar: bool) -> None:
    """By the kernels in the plane and by those in space."""
    some(lambda seed: plane(1400 + seed, loops, guess=0.005), planar=planar, redundant=3 * loops)
