"""Mechanisms are found by path or stem; errors in a file are reported with their line."""

import sys
from pathlib import Path

import pytest

from fmumbs.errors import ModelError
from fmumbs.readers import NoSuchModel, build_parameters, find_model, model_names, read_model

ROD_FILE = "import fmumbs as fm\n\n\ndef build(length=1.0, *, name='rod_file'):\n    return fm.Model(name)\n"


@pytest.fixture
def rod_file(tmp_path: Path) -> Path:
    path = tmp_path / "rod_file.py"
    path.write_text(ROD_FILE)
    return path


def test_a_model_that_ships_is_called_by_its_stem() -> None:
    assert "double_pendulum" in model_names()
    assert find_model("double_pendulum").name == "double_pendulum.py"
    assert read_model("double_pendulum").name == "double_pendulum"


def test_a_file_is_called_by_its_path_and_built_with_parameters(rod_file: Path) -> None:
    assert read_model(str(rod_file)).name == "rod_file"
    assert read_model(str(rod_file), {"name": "other", "length": 2.0}).name == "other"


def test_the_message_about_an_unknown_stem_has_the_nearest() -> None:
    with pytest.raises(NoSuchModel, match="nearest name is 'double_pendulum'"):
        read_model("duble_pendulum")


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NoSuchModel, match="no file"):
        read_model(str(tmp_path / "nothing.py"))


def test_the_message_about_an_unknown_parameter_has_those_of_build(rod_file: Path) -> None:
    with pytest.raises(NoSuchModel, match=r"no parameter 'lenght'.*'length'"):
        read_model(str(rod_file), {"lenght": 1.0})


def test_a_parameter_without_a_value_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "needs.py"
    path.write_text("def build(mass): ...\n")
    with pytest.raises(NoSuchModel, match="--set mass="):
        read_model(str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "has no function build"),
        ("def build():\n    return 3\n", "returned int, not a Model"),
        ("def build():\n    return 1 / 0\n", "line 2, failed with ZeroDivisionError"),
        ("def build(:\n", "line 1, failed with SyntaxError"),
        ("\ndef build(:\n", "line 2, failed with SyntaxError"),
        ("\0", "failed with (SyntaxError|ValueError): source code"),
        ("\nimport sys\nsys.exit()\n", r"line 3, called sys\.exit\(None\) before it returned a model"),
        ("import sys\ndef build():\n    sys.exit('no')\n", r"line 3, called sys\.exit\('no'\)"),
        ("def build():\n    quit()\n", r"line 2, called sys\.exit\(None\)"),
        ("raise GeneratorExit\n", "line 1, failed with GeneratorExit. Fix the file"),
        ("def build():\n    raise BaseException('all')\n", "line 2, failed with BaseException: all. Fix the file"),
        ("class E(Exception):\n    __str__ = None\nraise E\n", "line 3, failed with E. Fix the file"),
        ("def build():\n    return build()\n", "line 2, failed with RecursionError"),
        ("build = dict\n", "not a function"),
        ("build = 3\n", "has no function build"),
        ("from . import other\n", "line 1, failed with ImportError"),
    ],
)
def test_a_file_without_a_valid_model_is_reported_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(text)
    with pytest.raises(ModelError, match=message):
        read_model(str(path))


def test_the_line_is_reported_with_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.py").write_text("def build():\n    return 1 / 0\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=r"^'broken\.py', line 2, failed with ZeroDivisionError"):
        read_model("broken.py")


def test_ctrl_c_in_a_file_is_not_reported_as_its_error(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        read_model(str(tmp_path / "slow.py"))


def test_further_parameters_need_no_value(tmp_path: Path) -> None:
    path = tmp_path / "open.py"
    path.write_text("import fmumbs as fm\ndef build(*more, **others):\n    return fm.Model(others['name'])\n")
    assert read_model(str(path), {"name": "open"}).name == "open"


def test_further_parameters_are_open_beside_named_ones(tmp_path: Path) -> None:
    path = tmp_path / "open.py"
    path.write_text("import fmumbs as fm\ndef build(length=1.0, **others):\n    return fm.Model('m')\n")
    assert build_parameters(str(path)) == (["length"], True)
    path.write_text("import fmumbs as fm\ndef build(length=1.0):\n    return fm.Model('m')\n")
    assert build_parameters(str(path)) == (["length"], False)


# Modules beside the file ---------------------------------------------------------------------------------------

IMPORTS = """
import fmumbs as fm
import helper
from parts.wheel import NAME


def build(late="later"):
    import later

    return fm.Model(f"{helper.NAME}_{NAME}_{later.NAME}")
"""


def folder_of_a_model(folder: Path, word: str) -> Path:
    (folder / "parts").mkdir(parents=True)
    for name in ("helper", "parts/wheel", "later"):
        (folder / f"{name}.py").write_text(f"NAME = '{word}'\n")
    (folder / "pend.py").write_text(IMPORTS)
    return folder / "pend.py"


def test_a_file_imports_the_modules_of_its_own_folder(tmp_path: Path) -> None:
    """Also inside build(), and in packages; the second folder has modules of the same names."""
    path, modules = list(sys.path), set(sys.modules)
    for word in ("left", "right", "again"):
        assert read_model(str(folder_of_a_model(tmp_path / word, word))).name == f"{word}_{word}_{word}"
    assert sys.path == path
    assert set(sys.modules) - modules <= {"fmumbs_model_pend"}


def test_a_file_reached_by_a_link_imports_modules_of_its_real_folder(tmp_path: Path) -> None:
    (tmp_path / "linked.py").symlink_to(folder_of_a_model(tmp_path / "far", "far"))
    assert read_model(str(tmp_path / "linked.py")).name == "far_far_far"


def test_other_modules_that_a_file_imports_stay(tmp_path: Path) -> None:
    folder = tmp_path / "venv" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "fmumbs_installed.py").write_text("")
    path = tmp_path / "pend.py"
    path.write_text(
        f"import sys\nsys.path.append({str(folder)!r})\nimport fmumbs as fm, fmumbs_installed\n"
        "def build():\n    return fm.Model('m')\n"
    )
    read_model(str(path))
    sys.path.remove(str(folder))
    assert sys.modules.pop("fmumbs_installed")


@pytest.mark.parametrize("where", ["the file", "a module beside it"])
def test_a_missing_module_is_reported(where: str, tmp_path: Path) -> None:
    (tmp_path / "pend.py").write_text("\nimport no_such.library\n" if where == "the file" else "\nimport helper\n")
    (tmp_path / "helper.py").write_text("import no_such\n")
    with pytest.raises(ModelError, match=r"line 2, needs the module 'no_such', which is neither in"):
        read_model(str(tmp_path / "pend.py"))
    assert "helper" not in sys.modules


def test_an_error_in_the_mechanism_is_not_wrapped(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("import fmumbs as fm\ndef build():\n    return fm.Body('b', mass=-1.0)\n")
    with pytest.raises(ModelError, match="Body 'b'"):
        read_model(str(path))
