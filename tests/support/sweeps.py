"""Seeds for random cases: a few in every run of the tests, many more in `make test-all`."""

from typing import Any

import pytest


def seeds(few: int, many: int, first: int = 0) -> list[Any]:
    """first, first + 1, ... for parametrize: the first `few` always, the rest up to `many` of them marked slow."""
    return [
        pytest.param(seed, marks=[pytest.mark.slow] if seed >= first + few else [])
        for seed in range(first, first + many)
    ]
