"""Mechanisms in which bodies are joined many times over: bars with level rods, suspension bridges."""

from typing import Any

import numpy as np

import fmumbs as fm


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
