"""Between the integrator's steps positions of loops are continuous, and their slopes are the velocities.

A correction moves the end of a step onto the constraints; the dense output has to end there too, and to leave the
beginning as it was. At coarse tolerances the corrections are large enough to tell.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model
from support.closed import plane, space
from support.closed_agreement import CLOSED
from support.sweeps import each_value

NEAR = 1e-11  # [s]: how closely an end of a step is enclosed
AHEAD = 1e-6  # [s]: over which a slope is taken
CASES = ["four_bar", "slider_crank", "engine", "plane 2", "plane 3", "space 1"]


def model_of(case: str) -> fm.Model:
    kind, _, seed = case.partition(" ")
    if not seed:
        return read_model(kind)
    return plane(1700 + int(seed), 2).model if kind == "plane" else space(1700 + int(seed), kind="spherical").model


class Run:
    """A solver, and its bodies' positions and velocities."""

    def __init__(self, model: fm.Model, tolerance: float) -> None:
        self.solver = fm.Solver(compile(model, everything=True).with_options(tolerance=tolerance))
        self.solver.assemble()
        self.bodies = [body.name for body in model.bodies]

    def at(self, kept: bytes, time: float) -> tuple[np.ndarray, np.ndarray]:
        """(3 n,) r and v, going on from a saved state."""
        self.solver.state_load(kept)
        self.solver.step(time)
        r, v = ([self.solver.get(f"{name}.{what}") for name in self.bodies] for what in "rv")
        return np.concatenate(r), np.concatenate(v)

    def steps(self, kept: bytes, time: float) -> float:
        self.at(kept, time)
        return float(self.solver.get("solver.steps"))

    def ends(self, stop: float, interval: float) -> Iterator[tuple[bytes, float, float]]:
        """A state, and two times behind it between which a step of the integrator ends."""
        for time in np.arange(interval, stop, interval):
            self.solver.step(time)
            kept, before = self.solver.state_save(), self.solver.get("solver.steps")
            low, high = time, time + interval
            if self.steps(kept, high) > before:
                while high - low > NEAR:
                    middle = 0.5 * (low + high)
                    if self.steps(kept, middle) > before:
                        high = middle
                    else:
                        low = middle
                yield kept, low, high
            self.solver.state_load(kept)


@each_value
@pytest.mark.parametrize("tolerance", [0.1, 0.01])
@pytest.mark.parametrize("case", CASES)
def test_positions_are_continuous_and_their_slopes_are_velocities(case: str, tolerance: float) -> None:
    run = Run(model_of(case), tolerance)
    seen = 0
    for kept, low, high in run.ends(0.6, 0.02):
        (after, _), (before, v) = run.at(kept, high), run.at(kept, low)
        assert run.solver.get("solver.position_violation") < CLOSED
        assert run.solver.get("solver.velocity_violation") < 10 * CLOSED
        size = max(1.0, float(np.abs(v).max()))
        assert_allclose(after, before, rtol=0, atol=1e-9 * size)
        (one, first), (_, middle), (other, last) = (run.at(kept, high + part * AHEAD) for part in (0.1, 0.6, 1.1))
        off = (1e-5 + 1e-4 * tolerance) * size  # more the larger the steps, and so the corrections
        assert_allclose((other - one) / AHEAD, (first + 4 * middle + last) / 6, rtol=0, atol=off)
        seen += 1
    assert seen >= 2
