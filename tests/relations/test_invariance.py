"""Other cuts and another order of the joints change neither the motion nor a reaction, unique or the least one."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model
from support.closed import plane
from support.sweeps import seeds

SAME = 1e-9
"""Relative to the largest acceleration, force or torque of the mechanism."""
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "four_bar": ("four_bar", {}),
    "bricard": ("bricard", {}),
    "bennett": ("bennett", {}),
    "ladder": ("ladder", {"windows": 3}),
    "cranks": ("parallel_cranks", {"cranks": "RR RR RS"}),
    "platform": ("parallelogram_pendulum", {}),
}


def started(model: fm.Model) -> fm.Solver:
    solver = fm.Solver(compile(model, everything=True).with_options(tolerance=1e-12))
    solver.assemble()
    return solver


def placed_exactly(model: fm.Model) -> dict[str, Any]:
    """The elements, with every joint's start where the loops have put it."""
    solver = started(model)
    elements: dict[str, Any] = {body.name: body for body in model.bodies}
    for joint in model.joints:
        if isinstance(joint, fm.Spherical):
            start = {"q0": solver.get(f"{joint.name}.q"), "u0": solver.get(f"{joint.name}.w")}
        else:
            start = {"q0": solver.get(f"{joint.name}.q"), "u0": solver.get(f"{joint.name}.qd")}
        elements[joint.name] = replace(joint, **start)
    return elements


def rewritten(model: fm.Model, elements: dict[str, Any], order: list[str], cut: str | None) -> fm.Model:
    """The same mechanism with its joints in another order, one of them cut."""
    other = fm.Model(model.name, gravity=model.gravity)
    other.add(*(elements[body.name] for body in model.bodies))
    for name in order:
        joint = elements[name]
        other.add(replace(joint, cut=True) if name == cut else joint)
    return other


def values(solver: fm.Solver, model: fm.Model) -> dict[str, np.ndarray]:
    """Motion and reactions, by kind."""
    motion = [solver.get(f"{body.name}.{what}") for body in model.bodies for what in ("a", "alpha")]
    place = [solver.get(f"{body.name}.{what}") for body in model.bodies for what in ("r", "v", "w")]
    forces = [solver.get(f"{joint.name}.reaction.{what}") for joint in model.joints for what in ("f", "t")]
    return {"place": np.concatenate(place), "motion": np.concatenate(motion), "forces": np.concatenate(forces)}


def in_loops(model: fm.Model) -> list[str]:
    """The joints without which every body is still connected to the ground."""
    found = []
    for left_out in model.joints:
        reached, before = {"ground"}, 0
        while len(reached) > before:
            before = len(reached)
            for joint in model.joints:
                ends = {joint.F.body.name, joint.M.body.name}
                if joint is not left_out and ends & reached:
                    reached |= ends
        if len(reached) == len(model.bodies) + 1:
            found.append(left_out.name)
    return found


def assert_same(case: fm.Model, seed: int, most: int = 4) -> None:
    cuts = [None, *np.random.default_rng(seed).permutation(in_loops(case))[:most].tolist()]
    elements = placed_exactly(case)
    names = [joint.name for joint in case.joints]
    base = rewritten(case, elements, names, None)
    unique = fm.uniqueness(base)
    first = started(base)
    at = [values(first, base)]
    first.step(0.05)
    at.append(values(first, base))
    rng = np.random.default_rng(seed)
    for cut in cuts:
        other = rewritten(case, elements, [names[k] for k in rng.permutation(len(names))], cut)
        solver = started(other)
        verdict = {joint.joint: joint.components_unique for joint in fm.uniqueness(other).joints}
        assert verdict == {joint.joint: joint.components_unique for joint in unique.joints}
        for time, expected in zip((0.0, 0.05), at, strict=True):
            solver.step(time)
            found = values(solver, base)
            for kind, one in expected.items():
                scale = max(1.0, float(np.abs(one).max(initial=0.0)))
                assert_allclose(found[kind], one, rtol=0, atol=SAME * scale, err_msg=f"{cut}, {kind} at {time}")


@pytest.mark.parametrize("case", CASES)
def test_other_cuts_and_another_order_of_the_joints(case: str) -> None:
    name, parameters = CASES[case]
    assert_same(read_model(name, parameters), 1)


@pytest.mark.parametrize("seed", seeds(3, 6))
def test_random_loops_in_a_plane_with_other_cuts_and_orders(seed: int) -> None:
    assert_same(plane(800 + seed, loops=1 + seed % 3).model, seed, most=2)
