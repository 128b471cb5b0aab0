"""Self-stress over a tree of short loops: those of long structures stay local; what is found is that of any tree."""

from collections.abc import Callable

import numpy as np
import pytest

from fmumbs.analysis.placed import GROUND, Placed, Tree, spanning_tree, tree_of_short_loops
from fmumbs.analysis.self_stress import self_stress

SAME = 1e-7  # of projectors on the spans of self-stresses


def web(ends: list[tuple[int, int]], seed: int) -> Placed:
    """Pins about y in the plane between bodies; ends: of each joint, -1 for the ground."""
    rng = np.random.default_rng(seed)
    bodies, count = 1 + max(max(pair) for pair in ends), len(ends)
    F, M = np.array(ends, np.int64).T
    origin = np.stack([np.arange(count) / 3 + rng.uniform(0, 0.2, count), np.zeros(count), rng.uniform(0, 1, count)], 1)
    axes = np.tile(np.eye(3), (count, 1, 1))
    names = tuple(f"b{k}" for k in range(bodies)), tuple(f"J{k}" for k in range(count))
    spans = tuple(np.delete(np.eye(6), 1, 1) for _ in range(count))
    inertia = np.tile(np.eye(3), (bodies, 1, 1))
    return Placed(*names, F, M, origin, axes, spans, np.ones(bodies), np.zeros((bodies, 3)), inertia)


def ladder(rungs: int) -> list[tuple[int, int]]:
    """Bars of a scissor lift: pairs that cross, and whose ends meet those of the next."""
    ends = [(GROUND, 0), (GROUND, 1), (0, 1)]
    for k in range(2, 2 * rungs, 2):
        ends += [(k - 1, k), (k - 2, k + 1), (k, k + 1)]
    return ends


def at_random(seed: int) -> list[tuple[int, int]]:
    rng = np.random.default_rng(seed)
    bodies = int(rng.integers(2, 12))
    ends = [(int(rng.integers(-1, k)), k) for k in range(bodies)]
    for _ in range(int(rng.integers(1, 8))):
        F, M = rng.choice(bodies + 1, 2, replace=False) - 1
        ends.append((int(F), int(M)))
    return ends


def length(placed: Placed, tree: Tree) -> int:
    return sum(len(tree.loop(int(placed.F[cut]), int(placed.M[cut]))) for cut in tree.cuts)


@pytest.mark.parametrize("rungs", [10, 100, 300])
def test_loops_of_a_scissor_lift_stay_local(rungs: int) -> None:
    placed = web(ladder(rungs), 0)
    tree = tree_of_short_loops(placed)
    assert len(tree.cuts) == rungs
    assert length(placed, tree) <= 2 * 4 * rungs  # four joints a loop, in twice as many where clusters meet
    assert length(placed, spanning_tree(placed)) > rungs**2


@pytest.mark.parametrize("make", [at_random, lambda seed: ladder(2 + seed)])
def test_self_stresses_are_those_of_the_tree_of_fewest_joints(make: Callable[[int], list[tuple[int, int]]]) -> None:
    for seed in range(12):
        placed = web(make(seed), seed)
        few, short = spanning_tree(placed), tree_of_short_loops(placed)
        assert len(few.cuts) == len(short.cuts) and (short.carrier >= 0).all()
        assert length(placed, short) <= length(placed, few)
        one, other = self_stress(placed, few), self_stress(placed, short)
        assert one.degree == other.degree
        for joint, (a, b) in enumerate(zip(one.images, other.images, strict=True)):
            scale = np.repeat([other.lengths[joint] / one.lengths[joint], 1.0], 3)[:, None]
            q = np.linalg.qr(b * scale)[0]
            assert a.shape == b.shape and np.abs(a @ a.T - q @ q.T).max(initial=0.0) < SAME
