"""fmumbs export, info and verify: what they write and print."""

import json
import re
import zipfile
from pathlib import Path

import pytest

from fmumbs.cli.printing import folded
from fmumbs.export.installed import WEBASSEMBLY, installed_binaries
from support.commands import fmumbs


def test_export_writes_into_the_working_directory(tmp_path: Path) -> None:
    result = fmumbs("export", "pendulum")
    assert result.exit_code == 0
    assert "pendulum.fmu" in result.output
    assert zipfile.is_zipfile(tmp_path / "pendulum.fmu")


def test_export_of_several_into_a_folder(tmp_path: Path) -> None:
    assert fmumbs("export", "pendulum", "arm6", "-o", "made").exit_code == 0
    assert {path.name for path in (tmp_path / "made").iterdir()} == {"pendulum.fmu", "arm6.fmu"}


@pytest.mark.parametrize("folder", ["made/", "made/here/", ".", "./"])
def test_export_into_a_folder(folder: str, tmp_path: Path) -> None:
    assert fmumbs("export", "pendulum", "-o", folder).exit_code == 0
    assert zipfile.is_zipfile(tmp_path / folder / "pendulum.fmu")


def test_export_with_options_and_verification(tmp_path: Path) -> None:
    result = fmumbs(
        "export", "pendulum", "--set", "length=0.5", "-o", "short.fmu", "--scheme", "rk4", "--step", "1e-3",
        "--verify",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "0 problems" in result.output
    facts = json.loads(fmumbs("info", "short.fmu", "--json").output)
    starts = {v["name"]: v["start"] for v in facts["variables"]}
    assert (starts["solver.scheme"], starts["solver.step"]) == (1, 1e-3)


def test_export_of_too_many_variables_ends_with_1_and_a_fix() -> None:
    result = fmumbs("export", "arm6", "--set", "joints=60")
    assert result.exit_code == 1
    assert "--all" in result.output
    assert fmumbs("export", "arm6", "--set", "joints=60", "--all").exit_code == 0


def test_info_of_a_model_and_of_its_fmu_agree() -> None:
    fmumbs("export", "double_pendulum")
    model = json.loads(fmumbs("info", "double_pendulum", "--json").output)
    fmu = json.loads(fmumbs("info", "double_pendulum.fmu", "--json").output)
    assert model["variables"] == fmu["variables"]
    assert model["guid"] == fmu["guid"]
    assert model["experiment"] == fmu["experiment"]
    assert model["terminals"] == fmu["terminals"] == {n: {"phi": f"{n}.q", "tau": f"{n}.tau"} for n in ("A", "B")}
    assert fmu["platforms"] == sorted(installed_binaries().keys() - {WEBASSEMBLY})
    printed = fmumbs("info", "double_pendulum.fmu").output
    assert re.search(rf"platforms +{fmu['platforms'][0]}", printed)
    assert re.search(r"terminals +A \(A\.q, A\.tau\); B \(B\.q, B\.tau\)", printed)


def test_info_prints_names_with_their_brackets_and_units() -> None:
    output = fmumbs("info", "double_pendulum").output
    assert "A.reaction.f[1..3]" in output
    assert re.search(r"gravity\[1\.\.3\] +parameter +m/s2 +0, 0, -9\.81  gravity in world axes", output)
    assert "N.m" in output
    assert "canGetAndSetFMUstate" in output


def test_components_that_differ_are_rows_of_their_own() -> None:
    facts = [
        {"name": name, "causality": "output", "variability": "continuous", "type": "real", "unit": unit,
         "start": None, "description": "d"}
        for name, unit in (("a[1]", "m"), ("a[2]", "m"), ("a[4]", "m"), ("b[5]", "m"), ("b[6]", ""), ("c", ""))
    ]  # fmt: skip
    assert [name for name, *_ in folded(facts)] == ["a[1..2]", "a[4]", "b[5]", "b[6]", "c"]
    assert list(folded([])) == []


def test_verify_ends_with_0_for_a_right_fmu_and_with_1_for_a_wrong_one(tmp_path: Path) -> None:
    fmumbs("export", "pendulum")
    right = fmumbs("verify", "pendulum.fmu", "--against", "pendulum")
    assert right.exit_code == 0
    assert "0 problems" in right.output
    wrong = fmumbs("verify", "pendulum.fmu", "--against", "pendulum", "--set", "length=2.0")
    assert wrong.exit_code == 1
    assert "parity with the Solver" in wrong.output


def test_verify_of_a_file_that_is_not_an_fmu_ends_with_1(tmp_path: Path) -> None:
    (tmp_path / "text.fmu").write_text("not a zip")
    result = fmumbs("verify", "text.fmu")
    assert result.exit_code == 1
    assert "not a zip" in result.output
