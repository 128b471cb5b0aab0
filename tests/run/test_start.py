"""What a warning of a start says."""

import numpy as np
import pytest

from fmumbs.run.start import StartChange
from support.sweeps import seeds


def test_a_change_is_shown_to_the_digits_that_differ() -> None:
    def shown(*numbers: float) -> str:
        return str(StartChange("A.q", (numbers[0],), (numbers[1],), "rad", False))

    assert shown(0.5, 0.25) == "A.q from 0.5 to 0.25 rad"
    assert shown(-224.99600001, -224.99600002) == "A.q from -224.99600001 to -224.99600002 rad"
    assert shown(0.3, np.nextafter(0.3, 1.0)) == "A.q from 0.29999999999999999 to 0.30000000000000004 rad"
    ball = StartChange("B.q", (1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 1e-9), "", False)
    assert str(ball) == "B.q from (1, 0, 0, 0) to (1, 0, 0, 1e-09)"


@pytest.mark.parametrize("seed", seeds(5, 1000))
def test_different_numbers_are_shown_differently(seed: int) -> None:
    rng = np.random.default_rng(seed)
    value = float(rng.normal() * 10.0 ** rng.integers(-8, 8))
    other = value * (1 + float(rng.uniform(-1, 1)) * 10.0 ** rng.integers(-15, 0))
    given, found = str(StartChange("A.q", (value,), (other,), "", False)).removeprefix("A.q from ").split(" to ")
    assert (given != found) == (value != other)
