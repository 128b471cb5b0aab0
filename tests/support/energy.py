"""Energy along a run."""

from collections.abc import Callable

from scipy.integrate import simpson

import fmumbs as fm


def energy_and_power(solver: fm.Solver, power: Callable[[], float], step: float, steps: int) -> tuple[float, float]:
    """What solver.energy [J] falls by over `steps` steps of `step` [s] from t = 0, and the integral of power() [W]."""
    before, powers = solver.get("solver.energy"), [power()]
    for k in range(1, steps + 1):
        solver.step(k * step)
        powers.append(power())
    return before - solver.get("solver.energy"), float(simpson(powers, dx=step))
