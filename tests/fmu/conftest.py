"""One mechanism for the tests of the FMI functions: a rod on a hinge, unpacked once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import fmumbs as fm
from fmu.slave import Slave, Unpacked, unpacked_fmu


def hinged_rod(name: str = "hinged_rod", length: float = 1.0) -> fm.Model:
    """A rod of 3 kg; with a length of 1 m its moment of inertia about the hinge is 1 kg.m2."""
    model = fm.Model(name)
    rod = fm.Body.rod("rod", length=length, mass=3.0)
    model.add(rod, fm.Revolute("A", model.ground.at(0, 0, 0), rod.base, axis="y", q0=0.5))
    return model


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
