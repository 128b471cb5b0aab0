"""In whatever order elements are added: the motion and all forces are the same."""

import numpy as np

from support.agreement import Comparison, Side, draws, each
from support.drawing.cutting import with_tree
from support.drawing.mechanism import draw
from support.drawing.rebuilding import own_elements, rebuilt


def check(seed: int) -> None:
    drawn = draw(seed)
    names = [one.name for one in own_elements(drawn.model)]
    rng = np.random.default_rng([seed, 1])
    other = rebuilt(drawn.model, order=rng.permutation(names).tolist())
    Comparison(drawn, Side(with_tree(rng, other))).check()


@draws(2)
def test_elements_are_added_in_any_order(seeds: range) -> None:
    each(seeds, check)
