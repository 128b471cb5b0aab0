"""For any input a command ends with a message and exit status 0, 1 or 2, never with a traceback."""

import random
from pathlib import Path

import pytest

from fmumbs.export import export_fmu
from fmumbs.readers import read_model
from support.hostile import case, tried
from support.sweeps import seeds


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return export_fmu(read_model("double_pendulum"), tmp_path_factory.mktemp("good") / "good.fmu").read_bytes()


@pytest.mark.filterwarnings("ignore")  # from the cases themselves: coroutines that are not awaited, doubled names
@pytest.mark.parametrize("seed", seeds(3, 100))
def test_damaged_input_gives_a_message(seed: int, good: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.fmu").write_bytes(good)
    for number in range(10):
        assert not tried(case(random.Random(f"{seed} {number}"), good, tmp_path))
