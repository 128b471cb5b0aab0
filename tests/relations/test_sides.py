"""Joints with F and M exchanged."""

import numpy as np

from support.agreement import Comparison, Side, Values, draws, each
from support.drawing.cutting import recut
from support.drawing.equals import swapped
from support.drawing.mechanism import draw


def check(seed: int) -> None:
    drawn = draw(seed)
    rng = np.random.default_rng([seed, 1])
    other, found = swapped(rng, drawn.model)
    other = recut(rng, other)

    def expected(values: Values) -> Values:
        """Whatever belongs to a body, a point, or another joint; coordinates of the exchanged show in the motion."""
        return {name: value for name, value in values.items() if name.split(".")[0] not in found}

    Comparison(drawn, Side(other), expected).check()


@draws(7, 700389, 71900020)
def test_sides_of_joints_may_be_exchanged(seeds: range) -> None:
    each(seeds, check)
