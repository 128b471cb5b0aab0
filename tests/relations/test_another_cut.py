"""Whichever joints close the loops: the motion and all forces are the same."""

import numpy as np

from support.agreement import Comparison, Side, draws, each
from support.drawing.cutting import recut
from support.drawing.mechanism import draw


def check(seed: int) -> None:
    drawn = draw(seed)
    Comparison(drawn, Side(recut(np.random.default_rng([seed, 1]), drawn.model))).check()


@draws(1, 24500018)
def test_another_joint_of_a_loop_is_cut(seeds: range) -> None:
    each(seeds, check)
