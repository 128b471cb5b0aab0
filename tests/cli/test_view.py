"""fmumbs view: pages of models, FMUs and files of results, and what it refuses."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from support.commands import fmumbs


def data(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8").split('id="data">', 1)[1].split("</script>", 1)[0]
    found: dict[str, Any] = json.loads(text)
    return found


def test_a_model_its_fmu_and_its_results_give_one_motion(tmp_path: Path) -> None:
    fmumbs("export", "double_pendulum")
    fmumbs("run", "double_pendulum", "--stop", "0.5", "-o", "run.csv")
    for arguments in (
        ("double_pendulum", "--stop", "0.5", "-o", "a.html"),
        ("double_pendulum.fmu", "--stop", "0.5", "-o", "b.html"),
        ("run.csv", "--model", "double_pendulum", "-o", "c.html"),
        ("run.csv", "--model", "double_pendulum.fmu", "-o", "d.html"),
    ):
        result = fmumbs("view", *arguments)
        assert result.exit_code == 0, result.output
    poses = [data(tmp_path / f"{name}.html")["poses"] for name in "abcd"]
    assert poses[1:] == poses[:1] * 3


def test_the_page_is_named_after_the_model(tmp_path: Path) -> None:
    assert fmumbs("view", "pendulum", "--stop", "0").exit_code == 0
    assert (tmp_path / "pendulum.html").is_file()


def test_settings_and_inputs_reach_models_and_fmus(tmp_path: Path) -> None:
    fmumbs("export", "pendulum")
    (tmp_path / "torque.csv").write_text("time,A.tau\n0,0\n1,5\n")
    plain, pushed, moved = (
        ("pendulum.fmu", "--stop", "0.3"),
        ("pendulum.fmu", "--stop", "0.3", "--input", "torque.csv"),
        ("pendulum.fmu", "--stop", "0.3", "--set", "A.q=1.0"),
    )
    found = []
    for arguments in (plain, pushed, moved, ("pendulum", "--set", "length=0.3", "--stop", "0.3")):
        result = fmumbs("view", *arguments, "-o", "a.html")
        assert result.exit_code == 0, result.output
        found.append(json.dumps(data(tmp_path / "a.html")["poses"]))
    assert len(set(found)) == 4


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run.csv",), "does not say of which mechanism it is. Give its model with --model."),
        (("run.csv", "--model", "engine"), "has no coordinates bearing.q"),
        (("run.csv", "--model", "pendulum", "--stop", "1"), "--stop belongs to a run"),
        (("pendulum", "--model", "pendulum"), "--model belongs to a file of results"),
        (("no_such_model",), "there is no model 'no_such_model'"),
        (("pendulum", "-o", "no/such/a.html"), "there is no folder 'no/such'"),
        (("pendulum", "--stop", "-1"), "--stop"),
        (("foreign.fmu",), "has no modelDescription.xml"),
        (("missing.csv", "--model", "pendulum"), "missing.csv"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_a_fix(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:

    fmumbs("run", "pendulum", "--stop", "0.1", "-o", "run.csv")
    with zipfile.ZipFile(tmp_path / "foreign.fmu", "w") as archive:
        archive.writestr("nothing", "")
    result = fmumbs("view", *arguments)
    assert result.exit_code in (1, 2)
    assert says in " ".join(result.output.split())
    assert not list(tmp_path.glob("*.html"))


def test_a_mechanism_that_does_not_close_is_shown_and_fails(tmp_path: Path) -> None:
    (tmp_path / "open.py").write_text(
        "import fmumbs as fm\n\ndef build():\n"
        "    model = fm.Model('open')\n"
        "    A = fm.Body.rod('A', length=1.0, mass=1.0)\n"
        "    model.add(A, fm.Revolute('P', model.ground.at(), A.base, axis='y'))\n"
        "    model.add(fm.Spherical('Q', model.ground.at(5, 0, 0), A.tip))\n"
        "    return model\n"
    )
    result = fmumbs("view", "open.py")
    assert result.exit_code == 1
    assert "cannot close" in result.output
    assert "do not fit together" in data(tmp_path / "open.html")["note"]


@pytest.mark.parametrize("backend", ["native", "pythonfmu"])
def test_an_fmu_carries_its_page_on_request(tmp_path: Path, backend: str) -> None:
    for out, options in (("plain.fmu", ()), ("seen.fmu", ("--scene",))):
        result = fmumbs("export", "pendulum", "--backend", backend, "-o", out, *options)
        assert result.exit_code == 0, result.output
        said = result.output.splitlines()[0]
        with zipfile.ZipFile(tmp_path / out) as archive:
            packed = sum(one.compress_size for one in archive.infolist() if one.filename == "documentation/scene.html")
        size = f"{(tmp_path / out).stat().st_size / 1024:.0f} kB"
        assert said == f"{out}  {size}" + (f", of which the scene {packed / 1024:.0f} kB" if options else "")
    with zipfile.ZipFile(tmp_path / "plain.fmu") as plain, zipfile.ZipFile(tmp_path / "seen.fmu") as seen:
        assert set(seen.namelist()) - set(plain.namelist()) == {"documentation/scene.html"}
        (tmp_path / "scene.html").write_bytes(seen.read("documentation/scene.html"))
        assert b'href="scene.html"' in seen.read("documentation/index.html")
        assert b"scene.html" not in plain.read("documentation/index.html")
    assert data(tmp_path / "scene.html")["name"] == "pendulum"
