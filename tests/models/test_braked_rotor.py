"""braked_rotor: a brake and a clutch whose normal forces are inputs that change during the run, as an FMU in FMPy."""

from pathlib import Path

import numpy as np
import pytest
from fmpy import simulate_fmu
from numpy.testing import assert_allclose

import fmumbs as fm
from support.scripts import load

BUILD = load(Path(__file__).parents[2] / "models" / "braked_rotor.py").build
INPUTS = ["shaft.tau", "shaft.friction.normal", "clutch.friction.normal"]
OUTPUTS = ["shaft.qd", "clutch.qd", "shaft.friction.slip", "clutch.friction.slip", "clutch.friction.force"]
CHANGES = [  # time [s], motor, brake, clutch [N.m]
    (0.0, 0.2, 0.0, 0.0),
    (1.0, 0.2, 0.0, 2.0),
    (3.0, 0.0, 1.5, 2.0),
    (4.7, 0.3, 1.5, 2.0),
]
ROTOR, FLYWHEEL, KINETIC = 0.02, 0.05, 0.3
BRISTLES = 0.02  # [rad/s], and relative: what bristles and the Stribeck effect add to Coulomb's friction


@pytest.fixture(scope="module", params=["riccati", "copcod"])
def result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    path = tmp_path_factory.mktemp("fmu") / "braked_rotor.fmu"
    fm.export_fmu(BUILD(), path, scheme="radau", tolerance=1e-8, dynamics=request.param)
    rows = [row for k, (start, *values) in enumerate(CHANGES) for row in _held(k, start, values)]
    signals = np.array(rows, [(name, float) for name in ("time", *INPUTS)])
    found = simulate_fmu(str(path), stop_time=6.0, output_interval=0.01, input=signals, output=OUTPUTS)
    return {name: found[name] for name in ("time", *OUTPUTS)}


def _held(k: int, start: float, values: list[float]) -> list[tuple[float, ...]]:
    """Rows of a signal that is constant until the next change."""
    end = CHANGES[k + 1][0] if k + 1 < len(CHANGES) else 10.0
    return [(start, *values), (end, *values)]


def at(result: dict[str, np.ndarray], name: str, time: float) -> float:
    return float(result[name][np.searchsorted(result["time"], time - 1e-6)])


def test_it_slides_and_sticks_as_coulomb_would_say(result: dict[str, np.ndarray]) -> None:
    carried = KINETIC * 2.0
    assert at(result, "shaft.qd", 1.0) == pytest.approx(0.2 / ROTOR, rel=1e-6)  # the motor alone
    assert at(result, "clutch.qd", 1.0) == pytest.approx(-0.2 / ROTOR, rel=1e-6)  # the flywheel stands
    assert at(result, "shaft.qd", 1.2) == pytest.approx(10.0 + 0.2 * (0.2 - carried) / ROTOR, rel=BRISTLES)
    flywheel = at(result, "shaft.qd", 1.2) + at(result, "clutch.qd", 1.2)
    assert flywheel == pytest.approx(0.2 * carried / FLYWHEEL, rel=BRISTLES)
    assert at(result, "clutch.friction.slip", 1.2) == pytest.approx(1.0, abs=1e-3)
    assert abs(at(result, "clutch.qd", 2.5)) < 1e-5  # it sticks
    assert at(result, "clutch.friction.force", 2.5) == pytest.approx(0.2 * FLYWHEEL / (ROTOR + FLYWHEEL), rel=1e-5)
    assert at(result, "clutch.friction.slip", 2.5) < 0.2
    spin = (ROTOR + FLYWHEEL) * at(result, "shaft.qd", 3.0) + FLYWHEEL * at(result, "clutch.qd", 3.0)
    assert spin == pytest.approx(0.2 * 3.0, rel=1e-6)  # a clutch changes no angular momentum
    slowed = at(result, "shaft.qd", 3.0) - KINETIC * 1.5 / (ROTOR + FLYWHEEL)
    assert at(result, "shaft.qd", 4.0) == pytest.approx(slowed, abs=BRISTLES)
    assert at(result, "shaft.friction.slip", 4.0) == pytest.approx(1.0, abs=1e-3)
    assert abs(at(result, "shaft.qd", 6.0)) < 1e-5  # the brake holds against the motor
    assert at(result, "shaft.friction.slip", 6.0) == pytest.approx(0.3 / (0.4 * 1.5), rel=1e-4)


@pytest.mark.parametrize("scheme", ["dopri5", "dop853"])
def test_the_schemes_agree(result: dict[str, np.ndarray], scheme: str) -> None:
    solver = fm.Solver(fm.compile(BUILD()).with_options(scheme=scheme, tolerance=1e-8))
    solver.assemble()
    for (_, *values), end in zip(CHANGES[:2], (1.0, 1.4), strict=True):
        for name, value in zip(INPUTS, values, strict=True):
            solver.set(name, value)
        solver.step(end)
    for name in OUTPUTS:
        assert_allclose(solver.get(name), at(result, name, 1.4), rtol=1e-4, atol=1e-6, err_msg=name)
