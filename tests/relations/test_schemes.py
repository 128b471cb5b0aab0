"""Another scheme of integration."""

import numpy as np

from support.agreement import Comparison, Side, draws, each
from support.drawing.mechanism import draw

SCHEMES = ("dop853", "radau", "auto")


def check(seed: int) -> None:
    drawn = draw(seed)
    rng = np.random.default_rng([seed, 1])
    options = {"scheme": str(rng.choice(SCHEMES)), "dynamics": str(rng.choice(("riccati", "copcod")))}
    Comparison(drawn, Side(drawn.model, options)).check()


@draws(8, 800203)
def test_schemes_agree(seeds: range) -> None:
    each(seeds, check)
