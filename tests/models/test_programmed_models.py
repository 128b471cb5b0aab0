"""manipulator5, rpsup and rolling_disk: programs are followed whatever bends or rubs, and the work is accounted for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.scripts import load

MODELS = Path(__file__).parents[2] / "models"
CASES: dict[str, dict[str, Any]] = {
    "rigid": {},
    "flexible link": {"link": "flexible", "elements": 2},
    "all": {"link": "flexible", "support": "flexible", "friction": True, "elements": 2},
}
FOLLOWED = 1e-9  # [m] after the transition


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["manipulator5", "rpsup"])
def test_the_tool_follows_the_rectangle_after_the_transition(name: str, case: str) -> None:
    module = load(MODELS / f"{name}.py")
    model = module.build(**CASES[case])
    scheme = "dopri5" if case == "rigid" else "radau"
    outputs = ["E.violation", "E.target", "E.position", "solver.position_violation"]
    found = fm.simulate(model, stop=2.2, interval=0.05, scheme=scheme, tolerance=1e-5, outputs=outputs)
    late = found.time >= module.EDGE
    assert found["E.violation"][0] > 0.01
    assert found["E.violation"][late].max() <= FOLLOWED
    assert found["solver.position_violation"].max() <= 1e-11
    paths = getattr(model["E"].path, "paths", model["E"].path)
    corner = [path(2.0)[0] for path in paths]
    assert_allclose(found["E.position"][np.isclose(found.time, 2.0)][0], corner, rtol=0, atol=FOLLOWED)


def test_a_programmed_manipulator_loses_what_its_dampers_take() -> None:
    model = load(MODELS / "manipulator5.py").build()
    outputs = ["E.drive", "E.kappa", "reach.qd", "lift.qd", "solver.energy"]
    found = fm.simulate(model, stop=4.0, interval=0.002, tolerance=1e-9, outputs=outputs)
    lost = 80.0 * (found["reach.qd"] ** 2 + found["lift.qd"] ** 2)
    power = np.sum(found["E.drive"] * found["E.kappa"], axis=1) - lost
    weights = np.tile([2.0, 4.0], len(power) // 2 + 1)[: len(power)]
    weights[[0, -1]] = 1.0
    work = 0.002 / 3 * weights @ power  # Simpson
    assert_allclose(found["solver.energy"][-1] - found["solver.energy"][0], work, rtol=0, atol=1e-6)


def test_the_rolling_disk_keeps_its_energy_and_its_contact() -> None:
    found = fm.simulate(load(MODELS / "rolling_disk.py").build(), stop=5.0, tolerance=1e-9)
    assert np.ptp(found["solver.energy"]) <= 1e-6
    assert found["solver.velocity_violation"].max() <= 1e-10
    assert found["contact.reaction.f[3]"].min() > 0
