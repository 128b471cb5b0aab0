"""Elements replaced by their equals."""

import numpy as np

from support.agreement import Comparison, Side, Values, draws, each
from support.drawing.cutting import recut, tree_is_possible
from support.drawing.equals import replaced
from support.drawing.mechanism import draw
from support.drawing.rebuilding import own_elements


def check(seed: int) -> None:
    drawn = draw(seed)
    rng = np.random.default_rng([seed, 1])
    other = next(one for _ in range(1000) if tree_is_possible(one := replaced(rng, drawn.model)))
    other = recut(rng, other)
    new = {one.name: one for one in own_elements(other)}
    changed = {one.name for one in own_elements(drawn.model) if new.get(one.name) is not one}
    beside = {name for name in changed if f"{name}_beside" in new or f"{name}_law" in new or f"{name}_too" in new}

    def expected(values: Values) -> Values:
        """A joint's wrench and a spring's force lack what acts beside it."""
        lacks = (".wrench.", ".f", ".force")
        if any(name.endswith("_law") for name in new):
            values = {name: value for name, value in values.items() if name != "solver.energy"}  # laws have none
        return {k: v for k, v in values.items() if k.split(".")[0] not in beside or not any(x in k for x in lacks)}

    Comparison(drawn, Side(other), expected).check()


@draws(6, 600149)
def test_elements_may_be_replaced_by_their_equals(seeds: range) -> None:
    each(seeds, check)
