"""Kilograms, meters and seconds of any size."""

import numpy as np

import fmumbs as fm
from support.agreement import Comparison, Side, Values, draws, each
from support.drawing.mechanism import draw
from support.drawing.scaling import Units, scaled


def check(seed: int) -> None:
    drawn = draw(seed)
    rng = np.random.default_rng([seed, 1])
    units = tuple((10.0 ** rng.uniform((-2, -2, -0.5), (2, 2, 0.5))).tolist())
    by, variables = Units(units), fm.compile(drawn.model, everything=True).variables
    own = dict(zip(variables.names(), variables.units(), strict=True))

    def expected(values: Values) -> Values:
        """Without the targets of programs: bodies that stand for velocities too."""
        return {name: by.output(name, own[name], value) for name, value in values.items() if not name.startswith("P_")}

    now = tuple(np.multiply(units, drawn.units).tolist())
    Comparison(drawn, Side(scaled(drawn.model, units)), expected, time=units[2], units=now).check()


@draws(4, 400188, 400674)
def test_units_may_be_scaled(seeds: range) -> None:
    each(seeds, check)
