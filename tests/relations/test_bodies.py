"""Bodies split in two by a weld."""

import numpy as np

from support.agreement import Comparison, Side, draws, each
from support.drawing.cutting import with_tree
from support.drawing.equals import split
from support.drawing.mechanism import draw


def check(seed: int) -> None:
    drawn = draw(seed)
    rng = np.random.default_rng([seed, 1])
    Comparison(drawn, Side(with_tree(rng, split(rng, drawn.model)))).check()


@draws(5, 73100001)
def test_bodies_may_be_split_in_two(seeds: range) -> None:
    each(seeds, check)
