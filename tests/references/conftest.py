"""Every published case twice: by the sampled figures in this repository, and in full if these are available."""

from collections.abc import Callable

import pytest

from references import figures
from references.figures import Curve


@pytest.fixture(params=["sampled", "full"])
def extent(request: pytest.FixtureRequest) -> str:
    """Whether a test reads the sampled figures or all of them."""
    if request.param == "full" and not figures.FULL.is_dir():
        pytest.skip("the full figures are not at hand: FMUMBS_REFERENCES names no folder")
    found: str = request.param
    return found


@pytest.fixture
def published(extent: str) -> Callable[..., Curve]:
    """published(case, curve) -> Curve."""
    return {"sampled": figures.sampled, "full": figures.full}[extent]
