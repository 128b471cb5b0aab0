"""CasADi reads FMUs for Model Exchange: its Jacobians, its Hessian in optimal motions, estimates of parameters."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.readers import read_model
from support.scripts import load
from support.sweeps import first

ca: Any = pytest.importorskip("casadi", reason="no casadi: pip install casadi")

EXAMPLES = Path(__file__).parents[2] / "examples"
SAME = 1e-8  # of 1 and the entry: a Jacobian by differences of eighth order
ALIKE = 0.1  # of the least torque: a collocation by trapezoids of fewer steps is another problem
STATES = {"arm6": [f"J{i}.{what}" for what in ("q", "qd") for i in range(1, 7)], "four_bar": ["A.q", "A.qd"]}


def differences(f: Callable[[float], NDArray[np.float64]], h: float) -> NDArray[np.float64]:
    """Central differences of eighth order."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return np.asarray(sum(w * (f((k + 1) * h) - f(-(k + 1) * h)) for k, w in enumerate(weights)) / h)


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", STATES)
def test_its_jacobians_are_those_of_differences(name: str, fmi: int) -> None:
    """Of rates by states, inputs and the parameters that are not zero."""
    dae = load(EXAMPLES / "optimal_motion.py").dae_of(read_model(name), fmi)
    assert dae.x() == STATES[name]
    at = [np.array(dae.start(v)).ravel() for v in (dae.x(), dae.u(), dae.p())]
    at[0] += 0.1 * np.cos(np.arange(len(at[0])))
    at[1] += 0.1
    f = dae.create("f", ["x", "u", "p"], ["ode"])
    found = [np.array(J) for J in f.jacobian()(*at, 0)]
    for k, values in enumerate(at):
        for j in np.flatnonzero(values)[:: 1 if k == 0 else 3]:
            if k == 2 and dae.p()[j].startswith("solver."):
                continue

            def by(h: float, k: int = k, j: int = j) -> NDArray[np.float64]:
                moved = [one.copy() for one in at]
                moved[k][j] += h
                return np.array(f(*moved)).ravel()

            size = max(1e-3, abs(values[j])) if k == 2 else 1.0
            expected = np.array([differences(by, h * size) for h in (3e-2, 1e-2, 3e-3)])
            off = np.abs(found[k][:, j] - expected) / np.maximum(1.0, np.abs(expected).max())
            assert off.min(axis=0).max() < SAME, (dae.x(), dae.u(), dae.p())[k][j]


@pytest.mark.parametrize("fmi", [2, 3])
def test_an_optimal_turn_of_the_four_bar_converges(fmi: int) -> None:
    module = load(EXAMPLES / "optimal_motion.py")
    times, states, torques, report = module.turn_of_four_bar(partial(module.rates_of, fmi=fmi))
    assert report["success"] and report["iter_count"] <= module.MOST
    more = module.turn_of_four_bar(partial(module.rates_of, fmi=fmi), 40)
    costs = [np.mean(u**2) for u in (torques, more[2])]
    assert costs[0] == pytest.approx(costs[1], rel=ALIKE)
    assert np.all(np.diff(states[0]) > 0.0) and times[-1] == 1.0


@pytest.mark.parametrize("fmi", first(1, [2, 3]))
def test_an_optimal_swing_of_the_arm_converges(fmi: int) -> None:
    module = load(EXAMPLES / "optimal_motion.py")
    _, states, torques, report = module.swing_of_arm(partial(module.rates_of, fmi=fmi), 6)
    assert report["success"] and report["iter_count"] <= module.MOST
    smooth = fm.inverse_dynamics(module.arm(), *module.blend(np.zeros(6), states[:6, -1], 1.5, 7))
    assert np.sum(torques**2) < np.sum(np.asarray(smooth) ** 2)


@pytest.mark.parametrize("fmi", [2, 3])
def test_a_mass_and_a_damping_are_found_from_measurements(fmi: int) -> None:
    module = load(EXAMPLES / "estimation.py")
    found, deviation = module.estimate(fmi)
    assert np.all(np.abs(found - [module.MASS, module.DAMPING]) < 4 * deviation)
    assert np.all(deviation < [0.02, 0.01])
