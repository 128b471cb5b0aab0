"""Random robots: MuJoCo reads the same file, and has the same forces at the same accelerations."""

from pathlib import Path

import pytest

import fmumbs as fm
from support.robots import random_mjcf, random_urdf, with_mujoco

pytest.importorskip("mujoco", reason="mujoco is not installed: pip install 'fmumbs[mjcf]'")

SAME = 1e-12
"""Relative to the sum of the terms of a row. Some dozens of frames in a row lose two digits of 2e-16."""

QUICK, ALL = 20, 300
SLOW = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(QUICK, ALL)]


@pytest.mark.parametrize("seed", [*range(QUICK), *SLOW])
@pytest.mark.filterwarnings("ignore::fmumbs.StartWarning")
def test_a_random_urdf_moves_as_in_mujoco(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "random.urdf"
    path.write_text(random_urdf(seed))
    reason, error = with_mujoco().compare(path, fm.read_urdf(path, massless="fix"), seed=seed)
    assert reason == "" or "nothing moves" in reason
    assert error is None or error <= SAME


@pytest.mark.parametrize("seed", [*range(QUICK), *SLOW])
@pytest.mark.filterwarnings("ignore::fmumbs.StartWarning")
def test_a_random_mjcf_moves_as_in_mujoco(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "random.xml"
    path.write_text(random_mjcf(seed))
    reason, error = with_mujoco().compare(path, fm.read_mjcf(path), seed=seed)
    assert reason == ""
    assert error is not None
    assert error <= SAME
