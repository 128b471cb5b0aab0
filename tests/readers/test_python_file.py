"""Mechanisms are found by path or stem; what is wrong with a file is told with its line."""

from pathlib import Path

import pytest

from fmumbs.errors import ModelError
from fmumbs.readers import NoSuchModel, find_model, model_names, read_model

ROOD = "import fmumbs as fm\n\n\ndef build(length=1.0, *, name='rood'):\n    return fm.Model(name)\n"


@pytest.fixture
def rood(tmp_path: Path) -> Path:
    path = tmp_path / "rood.py"
    path.write_text(ROOD)
    return path


def test_a_model_that_ships_is_called_by_its_stem() -> None:
    assert "double_pendulum" in model_names()
    assert find_model("double_pendulum").name == "double_pendulum.py"
    assert read_model("double_pendulum").name == "double_pendulum"


def test_a_file_is_called_by_its_path_and_built_with_parameters(rood: Path) -> None:
    assert read_model(str(rood)).name == "rood"
    assert read_model(str(rood), {"name": "other", "length": 2.0}).name == "other"


def test_an_unknown_stem_is_told_with_the_nearest() -> None:
    with pytest.raises(NoSuchModel, match="nearest name is 'double_pendulum'"):
        read_model("duble_pendulum")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoSuchModel, match="no file"):
        read_model(str(tmp_path / "nothing.py"))


def test_an_unknown_parameter_is_told_with_those_there_are(rood: Path) -> None:
    with pytest.raises(NoSuchModel, match=r"no parameter 'lenght'.*'length'"):
        read_model(str(rood), {"lenght": 1.0})


def test_a_parameter_without_a_value_is_told(tmp_path: Path) -> None:
    path = tmp_path / "needs.py"
    path.write_text("def build(mass): ...\n")
    with pytest.raises(NoSuchModel, match="--set mass="):
        read_model(str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "has no function build"),
        ("def build():\n    return 3\n", "returned no Model but int"),
        ("def build():\n    return 1 / 0\n", "line 2, failed with ZeroDivisionError"),
        ("def build(:\n", "line 1, failed with SyntaxError"),
        ("import no_such_library\n", "line 1, failed with ModuleNotFoundError"),
    ],
)
def test_a_file_that_gives_no_model_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(text)
    with pytest.raises(ModelError, match=message):
        read_model(str(path))


def test_an_error_in_the_mechanism_stays_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("import fmumbs as fm\ndef build():\n    return fm.Body('b', mass=-1.0)\n")
    with pytest.raises(ModelError, match="Body 'b'"):
        read_model(str(path))
