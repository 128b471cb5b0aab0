"""Random stiff mechanisms over the whole API: every scheme gives the motion of DOP853 at a fine tolerance."""

from contextlib import suppress
from functools import lru_cache

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import compile
from support.both_schemes import is_state
from support.stiff_models import Stiff, stiff
from support.sweeps import seeds

PROMISE = 200
"""Times the tolerance, and how much more DOP853 errs at CLOSE."""

EXACT, CLOSE = 1e-12, 1e-9
LONGEST = 0.3  # [s]
WORK = 3000  # evaluations of the fine run: the stiffer a mechanism, the shorter it runs


def started(case: Stiff, image: fm.ModelImage, scheme: str, tolerance: float) -> fm.Solver:
    solver = fm.Solver(image.with_options(scheme=scheme, tolerance=tolerance))
    for name, value in case.inputs.items():
        solver.set(name, value)
    solver.assemble()
    return solver


def state(solver: fm.Solver) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities of all joints and flexible bodies."""
    names = [v.name for v in solver.image.variables if is_state(v)]
    rates = [name.rpartition(".")[2].startswith(("qd", "etad")) for name in names]
    both = [np.concatenate([np.zeros(1), *(np.ravel(solver.get(name)) for name, rate in zip(names, rates, strict=True)
                                           if rate == which)]) for which in (False, True)]  # fmt: skip
    return both[0], both[1]


def error(found: tuple[np.ndarray, np.ndarray], exact: tuple[np.ndarray, np.ndarray]) -> float:
    """Of positions relative to themselves, of velocities relative to the largest, or absolute if below 1."""
    (q, u), (q0, u0) = found, exact
    return float(
        max((np.abs(q - q0) / np.maximum(1.0, np.abs(q0))).max(), np.abs(u - u0).max() / max(1.0, np.abs(u0).max()))
    )


def fine(case: Stiff, image: fm.ModelImage) -> tuple[tuple[np.ndarray, np.ndarray], float]:
    """The motion, as far as a bounded number of evaluations leads, and that time."""
    solver, end = started(case, image, "dop853", EXACT), 1e-5
    while end < LONGEST and solver.get("solver.evaluations") < WORK:
        end *= 2
        solver.step(end)
    return state(solver), end


def uneven(rng: np.random.Generator, end: float) -> list[float]:
    """Communication points: some of them next to one another."""
    points = end * rng.random(int(rng.integers(0, 6)))
    near = points + 10.0 ** rng.uniform(-16, -9, points.size)
    return sorted({float(t) for t in (*points, *near, end) if t <= end})


@pytest.mark.parametrize("seed", seeds(5, 200))
def test_every_scheme_gives_one_motion(seed: int) -> None:
    try:
        case, rng = stiff(seed), np.random.default_rng([7, seed])
    except fm.AssemblyError:
        pytest.skip("its loops lock a drive")
    image = compile(case.model, everything=True)
    exact, end = fine(case, image)
    close = started(case, image, "dop853", CLOSE)
    close.step(end)
    grown = max(1.0, error(state(close), exact) / CLOSE)
    for scheme in ("radau", "auto", "dop853", "dopri5"):
        for tolerance in rng.choice((1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8), 2, replace=False):
            solver = started(case, image, scheme, float(tolerance))
            for point in uneven(rng, end):
                solver.step(point)
            found = error(state(solver), exact) / (grown * tolerance)
            assert found < PROMISE, (case.kinds, scheme, tolerance, found)


@pytest.mark.parametrize("seed", seeds(4, 46, 1057))
def test_fixed_steps_end_near_the_motion_or_say_that_they_are_too_long(seed: int) -> None:
    """Beyond the limit of stability errors grow by orders of magnitude: none of that is silent. Coarse steps that are
    stable may be off by some times the motion.
    """
    try:
        case, rng = stiff(seed, (3.0, 5.0, 7.0, 9.0)[seed % 4]), np.random.default_rng([13, seed])
    except fm.AssemblyError:
        pytest.skip("its loops lock a drive")
    image = compile(case.model, everything=True)
    exact, end = fine(case, image)
    for step in np.maximum(10.0 ** rng.uniform(-5, -1, 4), end / 2000):
        solver = fm.Solver(image.with_options(scheme="rk4", step=float(step)))
        for name, value in case.inputs.items():
            solver.set(name, value)
        solver.assemble()
        with suppress(fm.SolverError):
            solver.step(end)
            assert error(state(solver), exact) < 10.0, (case.kinds, step)


@lru_cache(maxsize=1)  # the schemes of a seed come one after another
def exact_of(seed: int) -> tuple[Stiff, fm.ModelImage, tuple[np.ndarray, np.ndarray], float, float]:
    """A mechanism, its motion up to a time, and how much more DOP853 errs there at CLOSE."""
    case = stiff(seed, (3.0, 5.0, 7.0, 9.0)[seed % 4])
    image = compile(case.model, everything=True)
    exact, end = fine(case, image)
    close = started(case, image, "dop853", CLOSE)
    close.step(end)
    return case, image, exact, end, max(1.0, error(state(close), exact) / CLOSE)


@pytest.mark.parametrize("scheme", ["radau", "auto", "dop853"])
@pytest.mark.parametrize("seed", seeds(3, 40, 1000))
def test_fine_tolerances_and_late_starts_give_the_same_motion(seed: int, scheme: str) -> None:
    """Between points down to 1e-16 s apart, and 1e6 to 1e9 s after time zero but for what depends on time itself."""
    case, image, exact, end, grown = exact_of(seed)
    rng = np.random.default_rng([17, seed])
    tolerance = float(10.0 ** rng.uniform(-11, -9))
    solver = started(case, image, scheme, tolerance)
    for point in np.cumsum(10.0 ** rng.uniform(-16, -9, 12)):
        solver.step(min(float(point), end))
    solver.step(end)
    assert error(state(solver), exact) / (grown * (tolerance + 2 * EXACT)) < PROMISE, (case.kinds, tolerance)
    if {"driven", "filtered"}.intersection(case.kinds):
        return
    begin = float(10.0 ** rng.uniform(6, 9))
    late = started(case, image, scheme, 1e-6)
    late.assemble(begin)
    late.step(begin + end)
    soon = started(case, image, scheme, 1e-6)
    soon.step((begin + end) - begin)
    assert error(state(late), state(soon)) < grown * PROMISE * 1e-6, (case.kinds, begin)


def test_steps_at_the_limit_of_stability_are_right_within() -> None:
    """The three further evaluations of DOP853 amplify there what the end of a step does not show."""
    model = fm.Model("bending")
    beam = fm.ModalBody.beam(
        "b", length=1.0, mass=1.0, EI=1e5, modes=3, plane="xz", damping_ratio=0.05, axial_inertia=0.01
    )
    model.add(beam, fm.Revolute("J", model.ground.at(), beam.base, axis="y", q0=0.3))
    case, image = Stiff(model, {}, ()), compile(model, everything=True)
    coarse, exact = (started(case, image, "dop853", tolerance) for tolerance in (1e-2, 1e-9))
    worst = 0.0
    for point in np.linspace(0.0, 0.2, 400)[1:]:
        for solver in (coarse, exact):
            solver.step(float(point))
        worst = max(worst, error(state(coarse), state(exact)))
    fall = np.sqrt(9.81 / 1.0)  # of the beam's length: slower velocities count as that
    assert worst < 15 * 1e-2 * fall
