"""The examples: each runs as a script and prints what it should."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from support.scripts import load

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_as_a_script_without_warnings(name: str, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert list(tmp_path.rglob("*.*"))


def test_which_reactions_can_be_trusted(tmp_path: Path) -> None:
    """In the plane all three models agree; across it the load acts on the pins that do not yield."""
    found, results = load(EXAMPLES / "which_reactions.py").main(tmp_path)
    pictures = ("stiff", "gives_way_at_B", "gives_way_at_C", "reactions")
    for name in pictures:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert [one.redundant for one in found.values()] == [3, 0, 0]
    assert {one.mobility for one in found.values()} == {1}
    stiff, at_B, at_C = results.values()
    for name in ("A.reaction.f[1]", "A.reaction.f[3]", "D.reaction.f[1]", "D.reaction.f[3]"):
        for other in (at_B, at_C):
            assert_allclose(other[name], stiff[name], rtol=0, atol=1e-3 * np.abs(stiff[name]).max())
    assert np.abs(at_C["A.reaction.t[1]"]).max() > 0.3
    assert np.abs(at_B["A.reaction.t[1]"]).max() < 1e-6


def test_programmed_motion_follows_the_path_and_shows_the_slow_root_of_baumgarte(tmp_path: Path) -> None:
    module = load(EXAMPLES / "programmed_motion.py")
    for name, results in module.main(tmp_path).items():
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        late = results["Sr_Lr_Jnf"].time >= module.EDGE
        for case in module.CASES:
            assert results[case]["E.violation"][late].max() <= 1e-9
        slow = module.slow_root(*module.BAUMGARTE[name])
        assert_allclose(module.decay(results["Baumgarte"]), slow, rtol=0.02)
