"""The world turned and moved, with gravity, loads and all that stands on the ground."""

import numpy as np

import fmumbs as fm
from support.agreement import Comparison, Side, Values, draws, each, turned_outputs
from support.drawing.equals import moved
from support.drawing.mechanism import draw


def check(seed: int) -> None:
    drawn = draw(seed)
    rng = np.random.default_rng([seed, 1])
    R, far = fm.Rotation.rpy(*rng.uniform(-3, 3, 3)), rng.uniform(-1, 1, 3) * drawn.units[1]

    def expected(values: Values) -> Values:
        values = {name: value for name, value in values.items() if not name.startswith("P_")}  # targets
        return turned_outputs(values, drawn.model, R, far)

    Comparison(drawn, Side(moved(drawn.model, R, far)), expected).check()


@draws(3)
def test_the_world_may_be_turned_and_moved(seeds: range) -> None:
    each(seeds, check)
