"""A folder in which FMUs are built once."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fmus")
