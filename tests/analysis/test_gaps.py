"""Which singular values count: the gap between those that do and those that do not, of doors that hardly move.

A door on two hinges, whose axes differ by an angle of delta, has five unit rows that follow from the others, and one
whose singular value is delta times what the door's shape makes of it. Many such doors, equal but for delta and
position, have any wanted singular values.
"""

import numpy as np
import pytest

from fmumbs.analysis.placed import GROUND, Placed
from fmumbs.analysis.self_stress import CLEAR, NOISE, TOLERANCES, self_stress
from fmumbs.analysis.uniqueness import uniqueness
from oracle.joints import turn

HINGE = np.delete(np.eye(6), 2, axis=1)  # torque and force of a hinge about z


def doors(rng: np.random.Generator, deltas: np.ndarray) -> Placed:
    """Doors on two hinges each, at random places in random order; the second hinge leans by delta."""
    origin, axes = [], []
    for delta in rng.permutation(deltas):
        p, R = rng.uniform(-3, 3, 3), turn(rng.uniform(-2, 2, 3))
        origin += [p, p + R @ (0, 0, 0.7)]
        axes += [R, R @ turn(np.array([delta, 0.0, 0.0]))]
    n = len(deltas)
    bodies = np.repeat(np.arange(n), 2)
    return Placed(
        bodies=tuple(f"door{k}" for k in range(n)),
        joints=tuple(f"hinge{k}" for k in range(2 * n)),
        F=np.full(2 * n, GROUND),
        M=bodies,
        origin=np.array(origin),
        axes=np.array(axes),
        spans=(HINGE,) * (2 * n),
        mass=np.ones(n),
        com=np.array(origin[::2]),
        inertia=np.tile(np.eye(3), (n, 1, 1)),
    )


def factor() -> float:
    """A door's singular value over its delta."""
    return self_stress(doors(np.random.default_rng(0), np.array([1e-3]))).gap.kept / 1e-3


def spread(rng: np.random.Generator, tolerance: float, wide: float) -> np.ndarray:
    """Singular values from 0.1 to the noise, in steps of 1.7 to 2.2 decades but for one of `wide` at a tolerance."""
    above = np.log10(tolerance) + wide * rng.uniform(0.3, 0.7)
    decades = [above, above - wide]
    while decades[0] < -2.3:
        decades.insert(0, decades[0] + rng.uniform(1.7, 2.2))
    while decades[-1] > np.log10(NOISE) + 2.2:
        decades.append(decades[-1] - rng.uniform(1.7, 2.2))
    return 10.0 ** np.array(decades)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_if_no_gap_is_clear_the_widest_one_is_taken(tolerance: float, seed: int) -> None:
    """Nothing is clear, whichever tolerance is tried; the rank is that of the widest gap, and reported as doubtful."""
    rng = np.random.default_rng(seed)
    values = spread(rng, tolerance, wide=2.8)
    found = uniqueness(doors(rng, values / factor()))
    assert found.rank == 5 * len(values) + int(np.sum(values > tolerance))
    assert found.redundant == 5 * len(values) - int(np.sum(values > tolerance))
    assert abs(np.log10(found.gap.ratio) - 2.8) < 0.05
    assert found.singular


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_a_clear_gap_is_found_at_any_tolerance(tolerance: float, seed: int) -> None:
    """One gap is clear, the first tolerances lie in others: both its sides are those of the values about it."""
    rng = np.random.default_rng(seed)
    values = spread(rng, tolerance, wide=3.3)
    found = uniqueness(doors(rng, values / factor()))
    count = int(np.sum(values > tolerance))
    assert found.rank == 5 * len(values) + count
    assert found.gap.ratio > CLEAR
    sides = np.log10([found.gap.kept, found.gap.dropped])
    np.testing.assert_allclose(sides, np.log10(values[count - 1 : count + 1]), atol=0.03)
    assert not found.singular


@pytest.mark.parametrize("seed", range(3))
def test_if_all_singular_values_are_large_none_is_dropped(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = uniqueness(doors(rng, 10.0 ** rng.uniform(-2, 0, 4)))
    assert (found.rank, found.redundant, found.gap.dropped < NOISE) == (24, 16, True)
