"""Drives of an arm whose tip passes its base: the programs become dependent there, and the run says so soon."""

from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from support.sweeps import each_value, seeds

NEAR = 0.05  # of the reach: evaluations are counted from here on, with those of the motion as accurate as asked
FEW = 100  # evaluations from there on
STIFF = 1e4  # [N.m/rad]


def folding(begin: float, end: float, length: float = 1.0, side: float = -1.0, **options: float) -> fm.Model:
    """Two equal links whose tip moves along x, through the origin."""
    model = fm.Model("folding", gravity=(0, -options.get("gravity", 9.81), 0))
    given = {"mass": options.get("mass", 1.0), "com": (0.5 * length, 0, 0), "inertia": (0.1 * length**2,) * 3}
    a, b = fm.Body("a", **given), fm.Body("b", **given)
    half = np.arccos(begin / (2.0 * length))
    A = fm.Revolute("A", model.ground.at(), a.at(), axis="z", q0=-side * half)
    B = fm.Revolute("B", a.at(length, 0, 0), b.at(), axis="z", q0=2.0 * side * half)
    path = fm.Path.line([begin, 0.0], [end, 0.0], options.get("duration", 1.0))
    model.add(a, b, A, B, fm.ProgrammedPoint("P", b.at(length, 0, 0), directions="xy", path=path, drives=(A, B)))
    return model


def until_lost(
    image: ModelImage, begin: float, end: float, length: float, duration: float, **options: Any
) -> tuple[float, float]:
    """Evaluations from near the base on, and the distance from it at which the run ended; image: of folding()."""
    image = image.with_options(**options)
    share = (begin - 2.0 * NEAR * length) / (begin - end)
    # the quintic of a line at this share of its way
    s = next(r.real for r in np.roots([6, -15, 10, 0, 0, -share]) if abs(r.imag) < 1e-9 and 0 < r.real < 1)
    counts = []
    for stop in (s * duration, duration):
        solver = fm.Solver(image)
        solver.assemble()
        if stop < duration:
            solver.step(stop)
        else:
            with pytest.raises(fm.SolverError, match=r"the drives lose their effect .*'P' by 'A', 'B'"):
                solver.step(stop)
        counts.append(solver.get("solver.evaluations"))
    return counts[1] - counts[0], abs(2.0 * length * np.cos(0.5 * solver.get("B.q")))


@each_value
@pytest.mark.parametrize("dynamics", ["riccati", "copcod"])
@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "auto"])
def test_the_loss_is_found_within_few_evaluations(scheme: str, dynamics: str) -> None:
    image = compile(folding(1.2, -1.2), everything=True)
    for tolerance in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10):
        options = {"scheme": scheme, "dynamics": dynamics, "tolerance": tolerance}
        count, left = until_lost(image, 1.2, -1.2, 1.0, 1.0, **options)
        assert count <= FEW
        assert left < 0.01


NEWTONS = 8  # evaluations of a step: two iterations, as matrices change within it, and the slope at its end


def test_steps_of_radau_with_drives_take_few_evaluations() -> None:
    """Newton's method has the drives' forces, not those along the rows, which would push on a spring at the tip too."""
    model = fm.Model("springy")
    bodies = [fm.Body(name, mass=1.0, com=(0.5, 0, 0), inertia=(0.1,) * 3) for name in "abc"]
    a, b, c = bodies
    A = fm.Revolute("A", model.ground.at(), a.at(), axis="z", q0=0.6)
    B = fm.Revolute("B", a.at(1, 0, 0), b.at(), axis="z", q0=-1.2)
    C = fm.Revolute("C", b.at(1, 0, 0), c.at(), axis="z", stiffness=STIFF, damping=0.01 * STIFF)
    tip = c.at(0.2, 0, 0)
    start = [np.cos(0.6) + 1.2 * np.cos(0.6), np.sin(0.6) - 1.2 * np.sin(0.6)]
    path = fm.Path.line(start, [start[0] - 0.5, start[1] + 0.5], 1.0)
    model.add(*bodies, A, B, C, fm.ProgrammedPoint("P", tip, directions="xy", path=path, drives=(A, B), insist=True))
    solver = fm.Solver(compile(model, scheme="radau", tolerance=1e-6))
    solver.assemble()
    solver.step(1.0)
    assert solver.get("solver.evaluations") <= NEWTONS * solver.get("solver.steps")


@pytest.mark.parametrize("seed", [*seeds(6, 60), 779, 1154])  # these took radau 222 once
def test_drawn_arms_are_told_soon(seed: int) -> None:
    rng = np.random.default_rng([24, seed])
    length, duration = 10.0 ** rng.uniform(-0.5, 1), 10.0 ** rng.uniform(-1, 1)
    begin, end = length * rng.uniform(0.3, 1.8), -length * rng.uniform(0.3, 1.8)
    model = folding(begin, end, length, rng.choice([-1.0, 1.0]), duration=duration, gravity=9.81 * rng.integers(2))
    image = compile(model, everything=True)
    scheme = ("dopri5", "dop853", "radau", "auto")[rng.integers(4)]
    options = {"scheme": scheme, "tolerance": 10.0 ** rng.uniform(-10, -4)}
    for dynamics in ("riccati", "copcod"):
        count, left = until_lost(image, begin, end, length, duration, dynamics=dynamics, **options)
        assert count <= (1.5 if scheme == "radau" else 1) * FEW
        assert left < 0.02 * length


@pytest.mark.parametrize("seed", [*seeds(12, 90), 95, 98])  # these took 1326 and 971
def test_paths_that_end_just_behind_the_base(seed: int) -> None:
    """There the tip is slow, and the position is estimated from motion that nearly stops before it.

    Stages of long trials overshoot it, so that it may lie beyond where a trial found the drives lost. The count has the
    motion, which takes long for the last part of its way.
    """
    rng = np.random.default_rng([27, seed])
    length, duration = 10.0 ** rng.uniform(-0.5, 1), 10.0 ** rng.uniform(-1, 1)
    begin, end = length * rng.uniform(0.3, 1.8), -length * 10.0 ** rng.uniform(-3, -1.5)
    model = folding(begin, end, length, rng.choice([-1.0, 1.0]), duration=duration, gravity=9.81 * rng.integers(2))
    image = compile(model, everything=True)
    scheme = ("dopri5", "dop853", "radau", "auto")[rng.integers(4)]
    options = {"scheme": scheme, "tolerance": 10.0 ** rng.uniform(-8, -3)}
    for dynamics in ("riccati", "copcod"):
        count, left = until_lost(image, begin, end, length, duration, dynamics=dynamics, **options)
        assert count <= 2 * FEW
        assert left < 0.02 * length
