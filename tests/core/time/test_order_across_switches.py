"""Dormand and Prince's scheme keeps its order across the switches of every element: steps end exactly there, but at
the joints of a cam's profile, across which accelerations are continuous.

Errors of one run may cancel, and a switch falls anywhere within a step: so the order is the slope of the errors over
the evaluations at many tolerances, at the end of a run through some switches.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from core.forces.test_cylinders import RAMP, valved
from core.forces.test_gears import PERIOD, pair
from core.forces.test_motor_limits import ETA, LIMITS, STOP
from core.forces.test_motors import drive
from core.forces.test_ropes import falling
from core.loops.test_cams import TURN, E, lifter

TOLERANCES = np.logspace(-5, -10, 16)
ORDER = 4.5  # at least: a fit of an order of 5 over some tens of steps. Across a kink of a rate it is 2 to 3


@dataclass(frozen=True)
class Case:
    model: Callable[[], fm.Model]
    stop: float
    names: tuple[str, ...]
    starts: dict[str, float] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)


def struck() -> fm.Model:
    """The lower of two rods strikes both ends of its stop."""
    model = fm.Model("struck", gravity=(0, 0, -2))
    upper, lower = fm.Body.rod("upper", length=1.0, mass=1.0), fm.Body.rod("lower", length=0.8, mass=0.5)
    A = fm.Revolute("A", model.ground.at(), upper.base, axis="y", q0=0.8, u0=0.5)
    B = fm.Revolute("B", upper.tip, lower.base, axis="y", q0=-0.4, u0=2.6, stiffness=1.0)
    model.add(upper, lower, A, B, fm.Stop("stop", B, lower=-0.5, upper=0.3, restitution=0.7))
    return model


def table() -> list[tuple[float, float]]:
    """Points of an eccentric, joined by a spline whose third derivative jumps at each."""
    phi = np.linspace(0.0, TURN, 13)
    return [(float(x), float(E * (1.0 - math.cos(x)))) for x in phi]


CASES = {
    "the gap of a gear": Case(pair, 1.3 * PERIOD, ("A.q", "B.q", "A.qd")),
    "teeth that turn back": Case(lambda: pair(damping=5.0), 0.7 * PERIOD, ("A.q", "B.q", "A.qd")),
    "a rope that is slack": Case(falling, 2.0, ("s.q", "s.qd")),
    "a damped rope": Case(lambda: falling(damping=40.0), 2.0, ("s.q", "s.qd")),
    "an impact": Case(struck, 1.2, ("A.q", "B.q", "A.qd", "B.qd")),
    "a valve": Case(valved, 0.2, ("C.pressure_A",), inputs={"C.opening": RAMP}),
    "the limit of a voltage": Case(
        lambda: drive(voltage_limit=5.0), STOP, ("h.q", "h.qd", "M.current"),
        inputs={"M.voltage": ([0.0, STOP], [-20.0, 20.0])},
    ),
    "the limit of a current": Case(
        lambda: drive(**LIMITS | {"efficiency": 1.0}), STOP, ("h.q", "h.qd"), {"h.qd": 0.0, "M.voltage": 12.0}
    ),
    "the joints of a cam's table": Case(
        lambda: lifter(profile=table(), periodic=True), 0.4, ("A.q", "A.qd")
    ),
    "the pieces of a cam's path": Case(
        lambda: lifter(profile=fm.Path.cam(E, rise=1.2, fall=1.2, period=TURN)), 0.4, ("A.q", "A.qd")
    ),
    "losses": Case(
        lambda: drive(efficiency=ETA), STOP, ("h.q", "h.qd", "M.current"), {"h.qd": 8.0},
        {"M.voltage": ([0.0, STOP], [12.0, -12.0])},
    ),
}  # fmt: skip


def end_of(case: Case, image: fm.ModelImage) -> tuple[np.ndarray, float]:
    result = fm.simulate(image, stop=case.stop, interval=case.stop, inputs=case.inputs)
    return np.array([result[name][-1] for name in case.names]), result["solver.evaluations"][-1]


@pytest.mark.parametrize("name", list(CASES))
def test_dopri5_keeps_its_order(name: str) -> None:
    case = CASES[name]
    image = fm.compile(case.model(), starts=case.starts)
    exact, _ = end_of(case, image.with_options(scheme="dop853", tolerance=1e-13))
    found = [end_of(case, image.with_options(scheme="dopri5", tolerance=float(one))) for one in TOLERANCES]
    errors = [math.hypot(*(end - exact)) for end, _ in found]
    order = -np.polyfit(np.log([count for _, count in found]), np.log(errors), 1)[0]
    assert order > ORDER, (order, errors)
