"""Fixtures: images and FMUs of the mechanisms that ship, each made once for a folder of tests."""

from pathlib import Path

import pytest

from fmumbs.compiler import ModelImage, compile
from fmumbs.export import export_fmu
from fmumbs.readers import model_names, read_model

# A mechanism that is too large for the default export, made smaller.
SMALL = {"branch_chain": {"bodies": 8}}


def image_of(name: str) -> ModelImage:
    return compile(read_model(name, SMALL.get(name)))


@pytest.fixture(scope="session", params=model_names())
def image(request: pytest.FixtureRequest) -> ModelImage:
    """Of each mechanism in turn."""
    return image_of(request.param)


@pytest.fixture(scope="session")
def pendulum() -> ModelImage:
    return image_of("double_pendulum")


@pytest.fixture(scope="session")
def fmu(image: ModelImage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of each mechanism in turn, exported."""
    return export_fmu(image, tmp_path_factory.mktemp("fmus") / f"{image.name}.fmu")


@pytest.fixture(scope="session")
def pendulum_fmu(pendulum: ModelImage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_fmu(pendulum, tmp_path_factory.mktemp("fmus") / "double_pendulum.fmu")
