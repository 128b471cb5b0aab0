"""One mechanism for the tests of the FMI functions: a rod on a hinge, unpacked once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.slave import Slave, Unpacked, hinged_rod, unpacked_fmu


@pytest.fixture(scope="session")
def fmu(tmp_path_factory: pytest.TempPathFactory) -> Unpacked:
    return unpacked_fmu(tmp_path_factory.mktemp("fmu") / "hinged_rod", hinged_rod())


@pytest.fixture(scope="session")
def other_fmu(tmp_path_factory: pytest.TempPathFactory) -> Unpacked:
    """Another model with the same variables."""
    folder: Path = tmp_path_factory.mktemp("fmu") / "longer_rod"
    return unpacked_fmu(folder, hinged_rod("longer_rod", length=2.0))


@pytest.fixture
def slave(fmu: Unpacked) -> Iterator[Slave]:
    """A new instance, which the test leaves alive."""
    slave = Slave(fmu)
    assert slave.component, slave.say
    yield slave
    slave.free()
