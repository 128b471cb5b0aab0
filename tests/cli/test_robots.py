"""Commands on a robot's file."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from fmumbs.cli import main
from support.robots import DATA


@pytest.fixture(autouse=True)
def in_a_folder_with_the_arm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(DATA / "gripper_arm.urdf", tmp_path / "arm.urdf")
    monkeypatch.chdir(tmp_path)


def test_check_tells_what_was_read() -> None:
    done = CliRunner().invoke(main, ["check", "arm.urdf"])
    assert done.exit_code == 0
    assert "read from arm.urdf: 17 taken, 2 changed, 4 left out" in done.output
    assert "left out: line 66, <transmission> 'drive'" in done.output
    facts = json.loads(CliRunner().invoke(main, ["check", "arm.urdf", "--json"]).output)
    assert facts["reading"]["limits"]["finger.q"]["upper"] == 0.04
    assert json.loads(CliRunner().invoke(main, ["check", "pendulum", "--json"]).output)["reading"] is None


def test_export_and_view_work_at_once() -> None:
    done = CliRunner().invoke(main, ["export", "arm.urdf", "--set", "base=free", "--platform", "linux64"])
    assert done.exit_code == 0
    assert "arm.urdf: 2 changed, 4 left out; `fmumbs check` lists them" in done.output
    assert Path("gripper_arm.fmu").stat().st_size > 100_000
    assert CliRunner().invoke(main, ["view", "arm.urdf", "-o", "arm.html"]).exit_code == 0
    assert "lower_link" in Path("arm.html").read_text()


def test_errors_are_sentences() -> None:
    Path("arm.urdf").write_text("<robot><link")
    done = CliRunner().invoke(main, ["export", "arm.urdf"])
    assert done.exit_code != 0
    assert "'arm.urdf', line 1, ends within an element: it is cut off. Get it again." in done.output
    assert "Traceback" not in done.output
    unknown = CliRunner().invoke(main, ["export", "arm.urdf", "--set", "base=up"])
    assert unknown.exit_code != 0
