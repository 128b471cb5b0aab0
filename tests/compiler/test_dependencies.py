"""Declared dependencies beside numerical ones on random mechanisms: none is missing, and none is there for nothing."""

from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import compile
from support.closed import Closed, coupled, plane, space

KINEMATIC = {"q", "qd", "r", "v", "w", "kappa_dot", "eta", "kappa", "length", "quat"}
MAY_HOLD = {"line.f"}  # a brake that slides now
NOTHING = 1e-9  # of the largest derivative with respect to an input: what less follows an input does not


def excited(seed: int) -> fm.Model:
    """Two trees: one with a filtered mode, one by an acceleration, a path, and a spring with a law between bodies."""
    rng = np.random.default_rng(seed)
    model = fm.Model("excited", gravity=rng.uniform(-10, 10, 3))
    bodies = [fm.Body(f"b{i}", mass=1.0, com=rng.uniform(-0.3, 0.3, 3), inertia=(0.2, 0.3, 0.4)) for i in range(5)]
    modes: list[dict[str, Any]] = [
        {"input": "eta", "cutoff": 5.0}, {"input": "kappa_dot"}, {"path": fm.Path.polynomial(0.1, 0.2)}, {}, {},
    ]  # fmt: skip
    carriers = [model.ground, bodies[0], bodies[1], model.ground, bodies[3]]
    for i in range(5):
        F, M = (place.at(*rng.uniform(-1, 1, 3)) for place in (carriers[i], bodies[i]))
        own = [fm.Turn(tuple(rng.uniform(-1, 1, 3)), role="excited", **modes[i])] if modes[i] else []
        free = [fm.Turn(tuple(rng.uniform(-1, 1, 3))), fm.Turn(tuple(rng.uniform(-1, 1, 3)))]
        model.add(bodies[i], fm.Joint(f"J{i}", F, M, modes=[*free, *own], q0=rng.uniform(0.2, 0.8, 2)))
    ends = (bodies[0], bodies[2]) if seed % 2 else (bodies[2], bodies[4])
    line = fm.Spring("line", *(end.at(*rng.uniform(-1, 1, 3)) for end in ends), stiffness=3.0)
    plain = fm.Spring("plain", bodies[1].at(), bodies[4].at(0.5, 0, 0), stiffness=3.0)
    model.add(line, plain, fm.Law.brake("grip", line, 50.0), fm.Load("load", bodies[2].at(0.1, 0.2, 0.3)))
    return model


def check(model: fm.Model, exactly: bool = False) -> None:
    """exactly: nothing but a law that may hold says that it follows what it does not."""
    solver = fm.Solver(compile(model, everything=True))
    rng = np.random.default_rng(1)
    solver.assemble()
    variables = list(solver.image.variables)
    names = [v.name for v in variables if v.causality == "input"]
    for name in names:
        solver.set(name, rng.uniform(-1, 1))
    outputs = [v for v in variables if v.causality == "output" and v.type == "real"]
    references = np.array([v.index for v in outputs], np.uint32)
    for name in names:
        value, sides = solver.get(name), []
        for change in (-0.5, 0.5):
            solver.set(name, value + change)
            sides.append(solver.read(references))
        solver.set(name, value)
        moved = np.abs(sides[1] - sides[0])
        index = next(v.index for v in variables if v.name == name)
        declared = np.array([v.dependencies is None or index in v.dependencies for v in outputs])
        follows = moved > NOTHING * max(1.0, moved.max())
        missing = [v.name for v, d, f in zip(outputs, declared, follows, strict=True) if f and not d]
        assert not missing, f"{missing} follow {name}, and do not say so"
        spare = {v.name for v, d, f in zip(outputs, declared, follows, strict=True) if d and not f}
        kinds = {name.split("[")[0].split(".", 1)[-1] for name in spare}
        assert not kinds & KINEMATIC, f"{spare} say that they follow {name}"
        if exactly:
            assert spare <= MAY_HOLD, f"{spare} say that they follow {name}, and do not"


@pytest.mark.parametrize("seed", range(6))
def test_what_excited_modes_and_springs_with_laws_follow(seed: int) -> None:
    """A law between trees may hold them together, within one tree all is one mechanism."""
    check(excited(seed), exactly=seed % 2 == 1)


@pytest.mark.parametrize(
    "case", [space(1, "revolute"), space(2, loops=2), plane(3, 2), coupled(4), coupled(5, closed=True)]
)
def test_what_follows_what_in_loops_and_couplings(case: Closed) -> None:
    check(case.model)
