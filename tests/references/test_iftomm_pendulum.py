"""IFToMM's benchmark A01: a point mass of 1 kg, 1 m from its pivot, let go at rest from (-1, 0); 10 s."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ellipk

import fmumbs as fm
from references.figures import FULL, INTEGRATION, run

PERIOD = 4 * np.sqrt(1 / 9.81) * ellipk(0.5)  # [s], exact; k² = sin²(45°) = 1/2
ENERGY = 5e-5  # [J], what the library asks for
ANGLE = 100 * INTEGRATION  # [rad]; some 500 steps in 10 s, each to the tolerance, their errors adding up


@pytest.fixture
def model() -> fm.Model:
    model = fm.Model("pendulum", gravity=(0, -9.81, 0))
    bob = fm.Body("bob", mass=1, com=(1, 0, 0))
    model.add(bob, fm.Revolute("A", model.ground.at(), bob.at(), axis="z", q0=np.pi))
    return model


def test_it_keeps_the_exact_period(model):
    quarters = np.arange(17)
    q = run(model, quarters * PERIOD / 4, ["A.q"])["A.q"]
    assert_allclose(q, np.pi * np.array([1, 1.5, 2, 1.5])[quarters % 4], rtol=0, atol=ANGLE)


@pytest.mark.parametrize("options", [{"tolerance": 1e-7}, {"scheme": "rk4", "step": 1e-3}], ids=["dopri5", "rk4"])
def test_it_keeps_its_energy_as_the_library_asks(model, options):
    energy = fm.simulate(model, stop=10, interval=0.01, outputs=["solver.energy"], **options)["solver.energy"]
    assert np.abs(energy - energy[0]).max() < ENERGY


@pytest.mark.skipif(not FULL.is_dir(), reason="the full figures are not at hand")
def test_the_period_is_the_published_one():
    values = json.loads((FULL / "iftomm_A01_pendulum" / "values.json").read_text(encoding="utf-8"))
    assert_allclose(PERIOD, values["exact_period_s"], rtol=1e-15)
