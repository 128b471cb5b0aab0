"""What an FMU holds, that its bytes depend on the image alone, and that a failed export leaves nothing."""

import hashlib
import os
import re
import subprocess
import sys
import time
import zipfile
from html import unescape
from pathlib import Path

import pytest

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.errors import ExportError
from fmumbs.export import export_fmu
from fmumbs.readers import read_model
from support.full_disk import full_disk


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_it_holds_all_files_of_the_standard(fmu: Path, image: ModelImage) -> None:
    held = contents(fmu)
    name = image.name
    assert {
        "modelDescription.xml",
        "model.png",
        f"binaries/linux64/{name}.so",
        "resources/model.fmb",
        "documentation/index.html",
        "documentation/licenses/license.txt",
        "documentation/licenses/fmi.txt",
        f"sources/{name}.c",
    } <= set(held)
    assert held["resources/model.fmb"] == image.bytes


def test_every_entry_is_deflated(fmu: Path) -> None:
    with zipfile.ZipFile(fmu) as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_DEFLATED}


def test_the_icon_is_a_picture(fmu: Path) -> None:
    from matplotlib.image import imread

    with zipfile.ZipFile(fmu) as archive, archive.open("model.png") as file:
        pixels = imread(file, format="png")
    assert pixels.shape == (128, 128, 4)
    assert pixels[0, 0, 3] == 0.0
    assert pixels[..., 3].max() == 1.0


def test_the_documentation_has_a_row_for_every_scalar_and_every_vector(fmu: Path, image: ModelImage) -> None:
    """A vector's row names its first and last component, and has as many start values, if any."""
    page = unescape(contents(fmu)["documentation/index.html"].decode()).partition("<h2>Modes of")[0]
    units: dict[str, str] = {}
    before = ("", "", "")
    for row in re.findall("<tr><td>(.*)</td></tr>", page):
        name, unit, start, description, *_ = row.split("</td><td>")
        stem, _, components = name.rstrip("]").partition("[")
        first, _, last = components.partition("..")
        names = [f"{stem}[{k}]" for k in range(int(first), int(last or first) + 1)] if first else [stem]
        assert len(start.split()) in (0, len(names))
        assert (stem, unit, description) != before
        before = (stem, unit, description)
        units |= dict.fromkeys(names, unit)
    assert units == {variable.name: variable.unit for variable in image.variables}


def test_the_same_image_gives_the_same_bytes(pendulum: ModelImage, tmp_path: Path) -> None:
    first = export_fmu(pendulum, tmp_path / "a.fmu").read_bytes()
    time.sleep(0.01)
    assert export_fmu(ModelImage.load(pendulum.bytes), tmp_path / "b.fmu").read_bytes() == first


def test_another_process_gives_the_same_bytes(pendulum_fmu: Path, tmp_path: Path) -> None:
    code = (
        "import sys, fmumbs; from fmumbs.readers import read_model; "
        "fmumbs.export_fmu(read_model('double_pendulum'), sys.argv[1])"
    )
    again = tmp_path / "again.fmu"
    environment = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Kolkata"}
    subprocess.run([sys.executable, "-c", code, str(again)], cwd=tmp_path, check=True, env=environment)
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(pendulum_fmu.read_bytes()).digest()


def test_source_date_epoch_dates_it(pendulum: ModelImage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    path = export_fmu(pendulum, tmp_path / "dated.fmu")
    with zipfile.ZipFile(path) as archive:
        assert {info.date_time for info in archive.infolist()} == {(2023, 11, 14, 22, 13, 20)}
    assert b'generationDateAndTime="2023-11-14T22:13:20Z"' in contents(path)["modelDescription.xml"]


def test_a_source_date_epoch_that_is_not_a_number_is_refused(
    pendulum: ModelImage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(ExportError, match="SOURCE_DATE_EPOCH is 'yesterday'"):
        export_fmu(pendulum, tmp_path / "a.fmu")


@pytest.mark.parametrize("epoch", ["4354819200", "9" * 12, "9" * 5000, "-1", "1e9", "", "nan"])
def test_a_source_date_epoch_that_no_zip_holds_is_refused(
    epoch: str, pendulum: ModelImage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    with pytest.raises(ExportError, match=r"SOURCE_DATE_EPOCH is '.*Give (whole seconds|one from 1970 to 2107)"):
        export_fmu(pendulum, tmp_path / "a.fmu")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("epoch", "year"), [("0", 1980), ("4354819199", 2107)])
def test_dates_are_within_the_range_of_a_zip(
    epoch: str, year: int, pendulum: ModelImage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    with zipfile.ZipFile(export_fmu(pendulum, tmp_path / "a.fmu")) as archive:
        assert {info.date_time[0] for info in archive.infolist()} == {year}


def test_the_options_become_start_values(pendulum: ModelImage, tmp_path: Path) -> None:
    path = export_fmu(pendulum, tmp_path / "a.fmu", scheme="rk4", step=1e-3, tolerance=1e-8)
    image = ModelImage.load(contents(path)["resources/model.fmb"])
    starts = {v.name: v.start for v in image.variables if v.name.startswith("solver.")}
    assert (starts["solver.scheme"], starts["solver.step"], starts["solver.tolerance"]) == (1, 1e-3, 1e-8)


def test_an_unknown_back_end_is_refused(pendulum: ModelImage, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"backend 'fortran'.*native"):
        export_fmu(pendulum, tmp_path / "a.fmu", backend="fortran")


def test_too_many_variables_stop_the_export_with_their_number(tmp_path: Path) -> None:
    model = read_model("arm6", {"joints": 60})
    count = len(compile(model).variables)
    with pytest.raises(ExportError, match=rf"{count} variables.*model.output\(\).*--all"):
        export_fmu(model, tmp_path / "a.fmu")
    assert not list(tmp_path.iterdir())
    assert export_fmu(model, tmp_path / "a.fmu", all_variables=True).is_file()


def test_an_invalid_model_stops_the_export_with_its_own_error(tmp_path: Path) -> None:
    model = fm.Model("apart")
    model.add(fm.Body.rod("a", length=1.0, mass=1.0))
    with pytest.raises(fm.ModelError):
        export_fmu(model, tmp_path / "a.fmu")


# Writing ---------------------------------------------------------------------------------------------------


def test_a_full_disk_leaves_the_earlier_file(pendulum: ModelImage, tmp_path: Path) -> None:
    place = tmp_path / "a.fmu"
    place.write_bytes(b"earlier")
    with full_disk(), pytest.raises(ExportError, match="could not be written"):
        export_fmu(pendulum, place)
    assert place.read_bytes() == b"earlier"
    assert [path.name for path in tmp_path.iterdir()] == ["a.fmu"]


def test_a_path_that_is_a_folder_is_reported(pendulum: ModelImage, tmp_path: Path) -> None:
    (tmp_path / "a.fmu").mkdir()
    with pytest.raises(ExportError, match="could not be written"):
        export_fmu(pendulum, tmp_path / "a.fmu")
    assert [path.name for path in tmp_path.iterdir()] == ["a.fmu"]


def test_an_earlier_file_is_replaced_and_missing_folders_are_made(
    pendulum: ModelImage, pendulum_fmu: Path, tmp_path: Path
) -> None:
    place = tmp_path / "new" / "folder" / "a.fmu"
    for _ in range(2):
        assert export_fmu(pendulum, place) == place
    assert place.read_bytes() == pendulum_fmu.read_bytes()
    assert export_fmu(pendulum, f"{tmp_path}/made/") == tmp_path / "made" / f"{pendulum.name}.fmu"


# Sources ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("configuration", ["Debug", pytest.param("Release", marks=pytest.mark.slow)])
def test_fmpy_compiles_the_sources_to_a_binary_of_the_same_bits(
    configuration: str, pendulum_fmu: Path, tmp_path: Path
) -> None:
    from fmpy.build import build_platform_binary

    from fmumbs.verify.verifying import verify_fmu

    folder = tmp_path / "unzipped"
    with zipfile.ZipFile(pendulum_fmu) as archive:
        archive.extractall(folder)
    (folder / "binaries" / "linux64" / "double_pendulum.so").unlink()
    (folder / "resources" / "model.fmb").unlink()
    build_platform_binary(folder, build_dir=_made(tmp_path / "build"), configuration=configuration)
    again = tmp_path / "again.fmu"
    with zipfile.ZipFile(again, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder).as_posix())
    assert verify_fmu(again, read_model("double_pendulum")) == []


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
