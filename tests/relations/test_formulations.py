"""Riccati and COPCOD, with the kernels of the plane and without them."""

import numpy as np

from support.agreement import Comparison, Side, draws, each
from support.drawing.mechanism import draw


def check(seed: int) -> None:
    drawn = draw(seed)
    if np.random.default_rng([seed, 1]).random() < 0.3:
        Comparison(drawn, Side(drawn.model, planar=False)).check()
    Comparison(drawn, Side(drawn.model, {"dynamics": "copcod"})).check()


@draws(9, 900085, 900164, 900689, 900811)
def test_formulations_agree(seeds: range) -> None:
    each(seeds, check)
