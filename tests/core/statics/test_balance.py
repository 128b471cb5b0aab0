"""Equilibria of random mechanisms beside the oracle: its accelerations, its energy, its frequencies."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import fmumbs as fm
from oracle import Oracle
from support import flexible_models
from support.closed import plane
from support.elastic_models import elastic
from support.statics import sprung, standing_loop, standing_tree, unbalance
from support.sweeps import each_value, seeds

BALANCED = 1e-6  # [rad/s2, m/s2]: stiffness over inertia is up to 1e4 1/s2, and positions are found to 1e-10


def names(model: fm.Model) -> list[str]:
    return [joint.name for joint in model.joints]


def energy_at(model: fm.Model, q: Any) -> float:
    """Of the oracle at rest, less the work of constant forces."""
    oracle = Oracle(model)
    state = oracle.state({j.name: x for j, x in zip(model.joints, q, strict=True)}, dict.fromkeys(names(model), 0.0))
    work = 0.0
    for load in model.loads:
        frame = state.frame[load.P.body.name]
        work += float(np.dot(load.force, frame.p + frame.R @ load.P.X_BP.translation))
    return oracle.energy(state) - work


@pytest.mark.parametrize("seed", seeds(6, 150))
def test_a_tree_stands_where_the_oracle_has_no_accelerations(seed: int) -> None:
    model = standing_tree(seed)
    found = fm.equilibrium(model)
    assert unbalance(found.solver, model) < BALANCED
    assert not np.any(found.solver.read(found.solver.image.variables.speeds()))


@pytest.mark.parametrize("seed", seeds(4, 100))
def test_the_energy_is_stationary_and_least_where_it_is_stable(seed: int) -> None:
    model = standing_tree(seed)
    found = fm.equilibrium(model)
    q = np.array([found.solver.get(f"{joint.name}.q") for joint in model.joints])
    least = minimize(lambda x: energy_at(model, x), q + 0.01, method="BFGS", options={"gtol": 1e-7}).x
    if found.stable:
        assert_allclose(least, q, atol=1e-4)
    else:
        assert energy_at(model, least) < energy_at(model, q)


@pytest.mark.parametrize("seed", seeds(8, 100))
def test_frequencies_are_those_of_the_oracle(seed: int) -> None:
    model = standing_tree(seed)
    found, oracle = fm.equilibrium(model), Oracle(model)
    q = np.array([found.solver.get(f"{name}.q") for name in names(model)])

    def rates(x: Any) -> Any:
        at_rest = dict.fromkeys(names(model), 0.0)
        answer = oracle.solve(oracle.state(dict(zip(names(model), x, strict=True)), at_rest), {})
        return np.array([answer[f"{name}.qdd"] for name in names(model)])

    h = 1e-5 * np.eye(len(q))
    A = np.array([(rates(q - step) - rates(q + step)) / 2e-5 for step in h]).T
    expected = np.sort(np.linalg.eigvals(A).real)
    assert_allclose(found.squares, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


@each_value
@pytest.mark.parametrize("seed", seeds(10, 150))
@pytest.mark.parametrize("loops", [1, 2])
def test_a_loop_in_space_stands_where_the_oracle_has_no_accelerations(seed: int, loops: int) -> None:
    model = standing_loop(seed, loops)
    try:
        found = fm.equilibrium(model)
    except fm.EquilibriumError as error:
        what = str(error)
    else:
        what, off = "", unbalance(found.solver, model)
    assert "indifferent" in what or off < BALANCED  # a body between two balls may spin


@pytest.mark.parametrize("seed", seeds(6, 60))
def test_loops_in_a_plane_stand_where_the_oracle_has_no_accelerations(seed: int) -> None:
    model = plane(seed, loops=1 + seed % 3, driven=seed % 2 == 0).model
    assert unbalance(fm.equilibrium(model).solver, model) < BALANCED


@each_value
@pytest.mark.parametrize("make", [flexible_models.plane_tree, flexible_models.plane_loops, flexible_models.space_tree])
@pytest.mark.parametrize("seed", seeds(4, 40))
def test_modal_bodies_stay_where_they_stand(seed: int, make: Any) -> None:
    found = fm.equilibrium(sprung(make(seed).model))
    still = found.solver.read(found.solver.image.variables.accelerations())
    assert np.abs(still).max() < 1e-4  # frequencies of up to 1e3 rad/s
    found.solver.step(0.01)
    for name, value in found.starts.items():
        assert_allclose(found.solver.get(name), value, rtol=0, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("seed", seeds(4, 40))
def test_bushings_and_springs_of_nonholonomic_joints_balance_along_allowed_velocities(seed: int) -> None:
    found = fm.equilibrium(elastic(seed))
    still = found.solver.read(found.solver.image.variables.accelerations())
    assert np.abs(still).max() < BALANCED
