"""The command as a whole: help, wrong use, texts, and the exit status: 0 success, 1 problems, 2 wrong use."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.commands import fmumbs

# Help ------------------------------------------------------------------------------------------------------


def test_help_names_the_verbs_and_shows_examples() -> None:
    result = fmumbs("--help")
    assert result.exit_code == 0
    for verb in ("demo", "check", "info", "export", "run", "ssp", "cosim", "verify"):
        assert f"\n  {verb} " in result.output
    assert "fmumbs export double_pendulum --verify" in result.output


@pytest.mark.parametrize("verb", ["demo", "check", "info", "export", "run", "ssp", "cosim", "verify"])
def test_the_help_of_each_verb_has_an_example(verb: str) -> None:
    result = fmumbs(verb, "--help")
    assert result.exit_code == 0
    assert f"  fmumbs {verb}" in result.output


def test_help_loads_no_needless_library() -> None:
    code = "import sys, fmumbs.cli as c; c.main(['--help'], standalone_mode=False); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"fmpy", "rich", "scipy", "matplotlib"} & set(loaded.split())


# Wrong use -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check"], "Missing argument"),
        (["check", "pendulun"], "nearest name is 'pendulum'"),
        (["check", "nothing.py"], "no file"),
        (["check", "pendulum", "--set", "lenght=2"], "nearest name is 'length'"),
        (["check", "pendulum", "--set", "length"], "NAME=VALUE"),
        (["export", "pendulum", "--scheme", "euler"], "euler"),
        (["export", "pendulum", "--step", "0"], "0"),
        (["export", "pendulum", "arm6", "-o", "a.fmu"], "folder"),
        (["run", "pendulum", "--stop", "-1"], "-1"),
        (["run", "pendulum", "--stop", "inf"], "inf is not finite"),
        (["run", "pendulum.fmu", "--interval", "nan"], "nan is not finite"),
        (["export", "pendulum", "--tol", "inf"], "inf is not finite"),
        (["run", "pendulum", "--out", "made/"], "'made/' is a folder"),
        (["run", "pendulum", "-o", "a.xlsx"], "Give one of .csv, .mat, .h5, .hdf5, .parquet"),
        (["run", "pendulum", "--plot", "made/a.png"], "there is no folder 'made'"),
        (["verify", "nothing.fmu"], "nothing.fmu"),
        (["fly"], "fly"),
    ],
)
def test_wrong_use_ends_with_2_and_the_reason(arguments: list[str], message: str) -> None:
    result = fmumbs(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


# Names and texts ---------------------------------------------------------------------------------------------

BRACKETS = """
import fmumbs as fm

def build():
    model = fm.Model("brackets", description="[/b] and [red] :smile: \u6a21")
    model.add(body := fm.Body("b", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    model.add(fm.Revolute("A", model.ground.at(), body.at(), axis="x"))
    return model
"""


def test_texts_are_shown_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "brackets.py").write_text(BRACKETS, encoding="utf-8")
    for arguments in (["info", "brackets.py"], ["export", "brackets.py"], ["info", "brackets.fmu"]):
        result = fmumbs(*arguments)
        assert result.exit_code == 0, result.output
        assert "[/b] and [red] :smile: \u6a21" in result.output or arguments[0] == "export"


def test_an_encoding_without_some_letter_causes_no_error(tmp_path: Path) -> None:
    (tmp_path / "brackets.py").write_text(BRACKETS, encoding="utf-8")
    command = [sys.executable, "-c", "from fmumbs.cli import main; main()", "info", "brackets.py"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    shown = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
    assert b"\\u6a21" in shown


def test_a_closed_pipe_causes_no_error() -> None:
    command = f"{sys.executable} -c 'from fmumbs.cli import main; main()' info arm6 | head -1"
    ended = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in ended.stderr and "Error" not in ended.stderr


def test_lack_of_memory_is_reported() -> None:
    result = fmumbs("run", "pendulum", "--interval", "1e-7")
    assert result.exit_code == 1
    assert "Choose a longer interval" in result.output
