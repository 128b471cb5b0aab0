"""Bodies joined many times over, by parallel rods or hangers: all compile, and move alike whichever joints are cut."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from support.sweeps import seeds

SAME = 1e-7
"""Relative to the largest acceleration: K of a hundred rods that hold the same two bars is conditioned up to 1e6."""


def bar(name: str) -> fm.Body:
    return fm.Body(name, mass=1.0, com=(0, 0.5, 0), inertia=(0.1, 0.1, 0.1))


def parallel_rods(heights: list[tuple[int, int, float]], bars: int, seed: int = 0) -> fm.Model:
    """Upright bars hinged to the ground, with springs, and level rods between them: (one bar, another, height)."""
    rng = np.random.default_rng(seed)
    model = fm.Model("rods", gravity=(0, -9.81, 0))
    bodies = [bar(f"b{k}") for k in range(bars)]
    for k, body in enumerate(bodies):
        model.add(body, fm.Revolute(f"B{k}", model.ground.at(k, 0, 0), body.at(), stiffness=float(rng.uniform(5, 50))))
    for k, (one, other, height) in enumerate(heights):
        rod = fm.Body(f"r{k}", mass=0.1, com=(0.5, 0, 0), inertia=(0.01, 0.01, 0.01))
        model.add(rod, fm.Revolute(f"P{k}", bodies[one].at(0, height, 0), rod.at()))
        model.add(fm.Revolute(f"Q{k}", rod.at(other - one, 0, 0), bodies[other].at(0, height, 0)))
    return model


def bipartite(seed: int, rods: int) -> fm.Model:
    """Rods at random heights between bars of two groups, all of which are connected."""
    rng = np.random.default_rng(seed)
    left, right = (int(n) for n in rng.integers(1, 2 + rods // 4, 2))
    pairs = [(i, left + i % right) for i in range(left)] + [(j % left, left + j) for j in range(right)]
    pairs += [(int(rng.integers(left)), left + int(rng.integers(right))) for _ in range(max(0, rods - len(pairs)))]
    return parallel_rods([(*pair, float(rng.uniform(0.2, 1))) for pair in pairs], left + right, seed)


def bridge(seed: int, panels: int) -> fm.Model:
    """A suspension bridge: a chain that sags above one that is arched, and hangers between them."""
    rng = np.random.default_rng(seed)
    model = fm.Model("bridge", gravity=(0, -9.81, 0))
    x = np.linspace(0, panels, panels + 1)
    high = np.stack([x, 1 + (x - panels / 2) ** 2 / panels, 0 * x], 1)
    low = np.stack([x, 0.2 * np.sin(np.pi * x / panels), 0 * x], 1)
    for at in (high, low):  # symmetric ones may be singular
        at[1:-1, 1] += rng.uniform(-0.05, 0.05, panels - 1)
    hung = [k for k in range(1, panels) if rng.random() < 0.7] or [1]
    nodes: dict[str, list[Any]] = {}
    for name, at in (("c", high), ("d", low)):
        nodes[name] = [model.ground.at(*at[0])]
        for k in range(panels):
            far = at[k + 1] - at[k]
            body = fm.Body(f"{name}{k}", mass=1.0, com=far / 2, inertia=(0.1, 0.1, 0.1))
            model.add(body, fm.Revolute(f"{name}{k}_pin", nodes[name][-1], body.at(), stiffness=20.0))
            nodes[name].append(body.at(*far))
        model.add(fm.Revolute(f"{name}_end", nodes[name][-1], model.ground.at(*at[-1])))
    for k in hung:
        far = low[k] - high[k]
        hanger = fm.Body(f"h{k}", mass=0.1, com=far / 2, inertia=(0.01, 0.01, 0.01))
        model.add(hanger, fm.Revolute(f"h{k}_top", nodes["c"][k], hanger.at()))
        model.add(fm.Revolute(f"h{k}_foot", hanger.at(*far), nodes["d"][k]))
    return model


def cut_elsewhere(model: fm.Model, seed: int) -> fm.Model:
    """The same mechanism with joints cut at random, of which one stays for every body."""
    rng = np.random.default_rng(seed)
    group = {body.name: body.name for body in (*model.bodies, model.ground.at().body)}
    other = fm.Model(model.name, gravity=model.gravity)
    other.add(*model.bodies)
    sprung = [joint for joint in model.joints if any(joint.law("stiffness"))]
    rest = [joint for joint in model.joints if joint not in sprung]
    cut = set()
    for joint in (*sprung, *(rest[k] for k in rng.permutation(len(rest)))):  # Kruskal's spanning tree
        one, two = (group[end.body.name] for end in joint.ends)
        if one == two:
            cut.add(joint.name)
        group = {body: one if of == two else of for body, of in group.items()}
    other.add(*(replace(joint, cut=joint.name in cut) for joint in model.joints))
    return other


def moved(model: fm.Model, t: float, dynamics: str) -> np.ndarray:
    """Angles, then accelerations, of all bodies at time t."""
    solver = fm.Solver(fm.compile(model, everything=True).with_options(dynamics=dynamics, tolerance=1e-10))
    solver.assemble()
    solver.step(t)
    return np.array([[*solver.get(f"{body.name}.r"), *solver.get(f"{body.name}.a")] for body in model.bodies])


def assert_same(model: fm.Model, seed: int, t: float = 0.02) -> None:
    expected = moved(model, t, "riccati")
    scale = np.abs(expected).max(axis=0, initial=1.0)
    for dynamics, other in (("copcod", model), ("riccati", cut_elsewhere(model, seed))):
        assert_allclose(moved(other, t, dynamics) / scale, expected / scale, rtol=0, atol=SAME, err_msg=dynamics)


@pytest.mark.parametrize("rods", range(1, 41))
def test_two_bars_with_any_number_of_rods_compile(rods: int) -> None:
    assert fm.compile(parallel_rods([(0, 1, (k + 1) / rods) for k in range(rods)], 2)).sizes["rows"] == 5 * rods


@pytest.mark.parametrize("rods", [2, 6, 18])
def test_two_bars_with_many_rods_move_alike_with_other_cuts(rods: int) -> None:
    assert_same(parallel_rods([(0, 1, (k + 1) / rods) for k in range(rods)], 2), rods)


@pytest.mark.parametrize("seed", seeds(4, 60))
def test_random_bars_and_rods_move_alike_with_other_cuts(seed: int) -> None:
    assert_same(bipartite(seed, 1 + 2 * seed % 30), seed)


@pytest.mark.parametrize("seed", seeds(3, 40))
def test_suspension_bridges_move_alike_with_other_cuts(seed: int) -> None:
    assert_same(bridge(seed, 2 + 3 * seed % 20), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_two_hundred_loops_compile(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for model in (bipartite(seed, int(rng.integers(40, 201))), bridge(seed, int(rng.integers(40, 270)))):
        assert fm.compile(model).sizes["rows"] > 0
