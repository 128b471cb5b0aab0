"""A step near the limit of stability of DOP853 is accepted if it is right, not because an estimate vanishes there."""

from functools import cache

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import compile
from support.sweeps import each_value

TOLERANCE = 1e-2
START, STEP = 5.0, 1.0  # [s]: in parts of a fall since rest, the controller wants longer steps

DYNAMICS = ("riccati", "copcod")
REAL = np.r_[0.5:5.0:0.5, 5.0:6.5:0.02]
SIZES = np.r_[0.5:7.0:0.25]
ANGLES = np.radians([15, 30, 45, 57, 60, 63, 75, 89])


@cache
def image_of(dynamics: str, swings: tuple[bool, ...]) -> fm.ModelImage:
    """Bodies on dampers, and on springs where they swing."""
    model = fm.Model("damped", gravity=(0, 0, 0))
    for n, swinging in enumerate(swings):
        body = fm.Body(f"body{n}", mass=1.0, com=(0, 0, 0), inertia=(1, 1, 1))
        law = {"damping": 1.0, "stiffness": 1.0} if swinging else {"damping": 1.0}
        model.add(body, fm.Revolute(f"J{n}", model.ground.at(), body.at(), axis="z", **law))
    return compile(model).with_options(scheme="dop853", dynamics=dynamics, tolerance=TOLERANCE)


def error_after_a_step(dynamics: str, *parts: tuple[complex, float]) -> float:
    """The largest error at the end of a step that is as long as the communication step if it is accepted, beside the
    tolerance. parts: eigenvalue times STEP and size of each part, a velocity if the eigenvalue is real.
    """
    solver = fm.Solver(image_of(dynamics, tuple(z.imag != 0.0 for z, _ in parts)))
    for n, (z, _) in enumerate(parts):
        solver.set(f"J{n}.damping", -z.real if z.imag == 0.0 else -2.0 * z.real)
        if z.imag != 0.0:
            solver.set(f"J{n}.stiffness", abs(z) ** 2)
    solver.assemble()
    for t in (0.3, 3.0, 4.0, START):
        solver.step(t)
    for n, (z, size) in enumerate(parts):
        solver.set(f"J{n}.tau", -size * z.real if z.imag == 0.0 else size * abs(z) ** 2)
    solver.step(START + STEP)
    errors = []
    for n, (z, size) in enumerate(parts):
        if z.imag == 0.0:
            errors.append(solver.get(f"J{n}.qd") - size * (1.0 - np.exp(z.real)))
        else:  # about its new place of rest, from 0: the combination of exp(z t) and its conjugate without velocity
            errors.append(solver.get(f"J{n}.q") - size * (1.0 + (np.conj(z) * np.exp(z)).imag / z.imag))
    return float(np.abs(errors).max()) / TOLERANCE


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_on_the_real_axis(dynamics: str) -> None:
    assert max(error_after_a_step(dynamics, (complex(-size), 1.0)) for size in REAL) < 1.0


@each_value
@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_in_the_complex_plane(dynamics: str) -> None:
    assert max(error_after_a_step(dynamics, (-r * np.exp(1j * a), 1.0)) for r in SIZES for a in ANGLES) < 1.0


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_beside_what_is_smooth(dynamics: str) -> None:
    """Estimates of order 3 of slow parts reduce those of stiff ones."""
    found = [
        error_after_a_step(dynamics, (complex(-stiff), size), (1j * slow - 0.01, 1.0))
        for stiff in np.r_[5.3:6.0:0.05, 5.654]
        for size in (0.03, 0.1, 0.3, 1.0, 3.0)
        for slow in (0.5, 1.5)
    ]
    assert max(found) < 1.0
