"""Runs by one integrator or another, and whether the explicit and the implicit one give one motion."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

import fmumbs as fm

STATES = ("q", "qd", "eta", "etad")
MOTION = 1e-5
"""Relative to the largest value: what is left of errors of 1e-9 per step after less than a second."""


def started(image: fm.ModelImage, **options: Any) -> fm.Solver:
    solver = fm.Solver(image.with_options(**options))
    solver.assemble()
    return solver


def is_state(variable: Any) -> bool:
    return variable.causality == "output" and variable.name.rpartition(".")[2].split("[")[0] in STATES


def state(solver: fm.Solver) -> np.ndarray:
    """Positions and velocities of all joints."""
    states = [v.name for v in solver.image.variables if is_state(v)]
    return np.concatenate([np.zeros(0), *(solver.get(name) * np.ones(1) for name in states)])


def ends(
    image: fm.ModelImage, stop: float, scheme: str, tolerances: list[float]
) -> tuple[list[np.ndarray], np.ndarray]:
    """States at the end, and steps, by each tolerance."""
    solvers = [started(image, scheme=scheme, tolerance=tolerance) for tolerance in tolerances]
    for solver in solvers:
        solver.step(stop)
    return [state(solver) for solver in solvers], np.array([solver.get("solver.steps") for solver in solvers])


def agree(image: fm.ModelImage, stop: float, inputs: Mapping[str, Any] | None = None) -> None:
    """Both schemes give one motion where every spring, between points or in a joint, is stiff and has a damper.

    Motions without bound are not compared.
    """
    tuned = [v.name for v in image.variables if v.causality == "parameter"]
    tuned = [name for name in tuned if name.endswith((".stiffness", ".damping"))]
    found = []
    for scheme in ("dopri5", "radau"):
        solver = started(image, scheme=scheme, tolerance=1e-9)
        for name, value in (inputs or {}).items():
            solver.set(name, value)
        for i, name in enumerate(tuned):
            solver.set(name, (300.0 if name.endswith("stiffness") else 5.0) * (1 + i % 3))
        try:
            solver.step(stop)
        except fm.SolverError:
            return
        found.append(state(solver))
    largest = np.abs(found[0]).max(initial=1.0)
    if largest < 1e3:
        assert_allclose(found[0], found[1], rtol=MOTION, atol=MOTION * largest)
