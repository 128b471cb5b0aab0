"""Models by name: the suffix of a file says who reads it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import fmumbs as fm
from fmumbs.readers import READERS, NoSuchModel, build_parameters, read_model
from fmumbs.readers.reading import Reader

PYTHON = "import fmumbs as fm\ndef build(mass=1.0):\n    return fm.Model('m')\n"


def test_an_unknown_suffix_is_refused_with_those_that_are_read(tmp_path: Path) -> None:
    file = tmp_path / "robot.sdf"
    file.write_text("<sdf/>")
    with pytest.raises(NoSuchModel, match=r"suffix \.sdf, which no reader reads\. Give a file with \.py or \.urdf or"):
        read_model(str(file))


def test_a_file_is_read_by_the_reader_of_its_suffix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here one that names the model after the file."""

    def read(path: Path, parameters: Mapping[str, Any], kind: type[Any]) -> Any:
        return kind(path.stem, **parameters)

    monkeypatch.setitem(READERS, ".part", Reader(read, lambda path: ([f"of_{path.stem}"], False)))
    for name in ("robot.part", "arm.PART"):
        (tmp_path / name).write_text("")
    model = read_model(str(tmp_path / "robot.part"), {"description": "read"})
    assert (type(model), model.name, model.description) == (fm.Model, "robot", "read")
    assert read_model(str(tmp_path / "arm.PART")).name == "arm"
    assert build_parameters(str(tmp_path / "arm.PART")) == (["of_arm"], False)
    with pytest.raises(NoSuchModel, match=r"no file"):
        read_model(str(tmp_path / "other.part"))


def test_python_files_have_the_parameters_of_build(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(PYTHON)
    assert build_parameters(str(tmp_path / "m.py")) == (["mass"], False)
