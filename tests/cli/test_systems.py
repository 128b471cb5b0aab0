"""fmumbs ssp and cosim: what they write and print."""

from pathlib import Path

import pytest

from support.commands import fmumbs
from support.systems import write_speed_control


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_speed_control(tmp_path)
    done = fmumbs("ssp", "speed_control.py")
    assert done.exit_code == 0, done.output
    assert "plant.A.qd -> pid.measured" in done.output
    assert "note: pid.u -> plant.A.tau: not checked, as pid.u has no unit" in done.output
    assert "2 FMUs, 2 connections, 50 steps of 0.001 s" in done.output
    return tmp_path / "speed_control.ssp"


def test_a_system_is_packed_and_run_in_both_engines(package: Path, tmp_path: Path) -> None:
    for engine in ("libcosim", "fmpy"):
        done = fmumbs("cosim", str(package), "--engine", engine, "-o", f"{engine}.csv", "--plot", f"{engine}.png")
        assert done.exit_code == 0, done.output
        assert "plant.A.q" in done.output
        assert (tmp_path / f"{engine}.png").read_bytes().startswith(b"\x89PNG")
    heads = [(tmp_path / f"{engine}.csv").read_text().splitlines()[0] for engine in ("libcosim", "fmpy")]
    assert heads[0] == heads[1]
    assert "plant.A.q" in heads[0]


def test_step_and_stop_are_options_and_parameters_of_build(package: Path, tmp_path: Path) -> None:
    assert fmumbs("cosim", str(package), "--stop", "0.01", "--step", "0.005", "-o", "a.csv").exit_code == 0
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 4
    done = fmumbs("ssp", "speed_control.py", "--set", "step=0.025", "-o", "b.ssp")
    assert "2 steps of 0.025 s" in done.output


def test_what_is_wrong_is_told_with_status_1(package: Path) -> None:
    package.with_name("pid.fmu").unlink()
    done = fmumbs("ssp", "speed_control.py")
    assert done.exit_code == 1
    assert "there is no FMU 'pid.fmu' for 'pid'" in done.output
    done = fmumbs("cosim", str(package), "--step", "0.03")
    assert done.exit_code == 1
    assert "is not a multiple of the step" in done.output
    assert fmumbs("ssp", "nothing.py").exit_code == 2


def test_a_file_of_a_model_is_not_one_of_a_system(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("import fmumbs as fm\n\ndef build():\n    return fm.Model('a')\n")
    done = fmumbs("ssp", str(tmp_path / "model.py"))
    assert done.exit_code == 1
    assert "returned Model, not a System" in done.output
