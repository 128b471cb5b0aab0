"""An FMU for Windows finds its resources by every form of path and URI that importers pass."""

from pathlib import Path, PureWindowsPath
from urllib.parse import quote

import pytest

from fmumbs.readers import read_model
from support.emulated import WINE, answers, dos, job, library, need, start_wine, unpacked

WINDOWS = ["win64", "win32"]


def forms(path: Path) -> list[str]:
    """Locations of a folder: URIs, escaped and not, and what other tools pass."""
    windows, plain, escaped = dos(path), f"Z:{path}", quote(path.as_posix())
    return [
        f"file:///Z:{escaped}", f"file:///z:{escaped}/", f"FILE:///Z:{escaped}", f"file:///Z%3A{escaped}",
        f"file:///Z|{escaped}", f"file://localhost/Z:{escaped}", f"file:/Z:{escaped}", f"file:Z:{escaped}",
        f"file://Z:{escaped}", f"file:///{plain}", f"file:///{windows}", f"file:\\\\\\{windows}", f"file://localhost\\{windows}",
        plain, windows, f"{windows}\\", f"\\\\?\\{windows}",
    ]  # fmt: skip


def shared(path: Path) -> list[str]:
    """The same of a folder in the share \\\\server\\share."""
    tail = PureWindowsPath(path.name)
    escaped = quote(path.name)
    return [
        f"file://server/share/{escaped}", f"file:////server/share/{escaped}", f"file://///server/share/{escaped}",
        f"\\\\server\\share\\{tail}", f"//server/share/{path.name}", f"\\\\?\\UNC\\server\\share\\{tail}",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An FMU under a path with a space, a percent sign, and letters of two and of four bytes in UTF-8."""
    folder = tmp_path_factory.mktemp("50 % Größe 🦾")
    unpacked(read_model("pendulum"), folder / "fmu")
    return folder


@pytest.mark.parametrize("name", WINDOWS)
def test_resources_are_found_by_every_form_of_location(name: str, folder: Path) -> None:
    need(name)
    start_wine()
    share = WINE / "dosdevices" / "unc" / "server" / "share"
    share.parent.mkdir(parents=True, exist_ok=True)
    if share.is_symlink():
        share.unlink()
    share.symlink_to(folder / "fmu")
    resources = folder / "fmu" / "resources"
    deep = folder.joinpath(*["a folder with a long name, one of many"] * 8)
    if not deep.exists():
        deep.parent.mkdir(parents=True)
        deep.symlink_to(resources)
    assert len(dos(deep)) > 260
    locations = [*forms(resources), *shared(resources), *forms(deep)]
    jobs = [job(name, library(name, folder), folder / "fmu", place, steps=2) for place in locations]
    found = answers(name, "run", jobs)
    assert len(found) == len(locations)
    assert all(one == found[0] for one in found)
