"""A right FMU passes in silence; each way of being wrong is found by the check that is for it."""

import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from fmpy.validation import validate_fmu

import fmumbs as fm
from fmumbs.errors import ExportError
from fmumbs.export.verify import CHECKS, verify_fmu
from fmumbs.readers import read_model

Entries = dict[str, bytes]


def changed(
    fmu: Path, place: Path, change: Callable[[Entries], object], compression: int = zipfile.ZIP_DEFLATED
) -> Path:
    """A copy of `fmu` whose entries were changed."""
    with zipfile.ZipFile(fmu) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    change(entries)
    with zipfile.ZipFile(place, "w", compression) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return place


def rewrite(pattern: str, by: str) -> Callable[[Entries], None]:
    """Changes modelDescription.xml, which must contain the pattern."""

    def change(entries: Entries) -> None:
        text = entries["modelDescription.xml"].decode()
        new, count = re.subn(pattern, by, text)
        assert count
        entries["modelDescription.xml"] = new.encode()

    return change


def test_every_mechanism_that_ships_passes(fmu: Path) -> None:
    assert validate_fmu(str(fmu)) == []
    assert verify_fmu(fmu) == []


def test_a_rod_that_spins_at_a_touch_is_no_finding(tmp_path: Path) -> None:
    """A needle between two balls: nothing but its inertia of 8e-7 kg.m2 holds its spin."""
    model = fm.Model("needle")
    arm, needle = (fm.Body.rod(name, length=0.3, mass=0.1, radius=0.004) for name in ("arm", "needle"))
    model.add(arm, needle, fm.Revolute("A", model.ground.at(), arm.base, axis="y"))
    model.add(fm.Spherical("E", arm.tip, needle.base), fm.PointOnPlane("W", model.ground.at(), needle.tip))
    assert verify_fmu(fm.export_fmu(model, tmp_path / "needle.fmu")) == []


def test_it_tells_how_far_it_is(pendulum_fmu: Path) -> None:
    told: list[str] = []
    verify_fmu(pendulum_fmu, progress=told.append)
    assert tuple(told) == CHECKS


def test_its_own_model_agrees_and_another_does_not(pendulum_fmu: Path) -> None:
    assert verify_fmu(pendulum_fmu, read_model("double_pendulum")) == []
    findings = verify_fmu(pendulum_fmu, read_model("double_pendulum", {"mass": 2.0}))
    assert {finding.check for finding in findings} == {"parity with the Solver"}


def test_an_fmu_stored_without_compression_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    path = changed(pendulum_fmu, tmp_path / "stored.fmu", lambda entries: None, zipfile.ZIP_STORED)
    assert {finding.check for finding in verify_fmu(path)} == {"archive"}


def test_xml_against_the_schema_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    path = changed(pendulum_fmu, tmp_path / "a.fmu", rewrite('causality="input"', 'causality="inward"'))
    assert "schema" in {finding.check for finding in verify_fmu(path)}


def test_a_missing_initial_unknown_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    path = changed(
        pendulum_fmu,
        tmp_path / "a.fmu",
        rewrite(r'<InitialUnknowns>\s*<Unknown index="\d+"/>', "<InitialUnknowns>"),
    )
    assert "validation" in {finding.check for finding in verify_fmu(path)}


def test_a_dependency_that_was_kept_silent_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    def silence(entries: Entries) -> None:
        text = entries["modelDescription.xml"].decode()
        names = re.findall(r'<ScalarVariable name="([^"]+)"', text)
        index = 1 + names.index("A.qdd")
        head, tail = text.split("<Outputs>")
        tail = tail.replace(f'<Unknown index="{index}"/>', f'<Unknown index="{index}" dependencies=""/>', 1)
        entries["modelDescription.xml"] = f"{head}<Outputs>{tail}".encode()

    path = changed(pendulum_fmu, tmp_path / "a.fmu", silence)
    findings = verify_fmu(path)
    assert {finding.check for finding in findings} == {"directional derivatives"}
    assert "A.qdd" in findings[0].message


def test_a_wrong_derivative_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    def swap(entries: Entries) -> None:
        text = entries["modelDescription.xml"].decode()
        names = re.findall(r'<ScalarVariable name="([^"]+)"', text)
        a, b = 1 + names.index("A.q"), 1 + names.index("B.q")
        text = text.replace(f'derivative="{a}"', 'derivative="?"').replace(f'derivative="{b}"', f'derivative="{a}"')
        entries["modelDescription.xml"] = text.replace('derivative="?"', f'derivative="{b}"').encode()

    path = changed(pendulum_fmu, tmp_path / "a.fmu", swap)
    assert "output derivatives" in {finding.check for finding in verify_fmu(path)}


def test_a_guid_that_is_not_the_images_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    path = changed(pendulum_fmu, tmp_path / "a.fmu", rewrite(r'guid="\{....', 'guid="{0000'))
    assert "instances and steps" in {finding.check for finding in verify_fmu(path)}


def test_a_missing_image_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    path = changed(pendulum_fmu, tmp_path / "a.fmu", lambda entries: entries.pop("resources/model.fmb"))
    assert "instances and steps" in {finding.check for finding in verify_fmu(path)}


def test_what_is_no_fmu_is_told(tmp_path: Path) -> None:
    text = tmp_path / "text.fmu"
    text.write_text("no zip")
    empty = tmp_path / "empty.fmu"
    with zipfile.ZipFile(empty, "w"):
        pass
    for path, message in (
        (tmp_path / "none.fmu", "no file"),
        (text, "no zip"),
        (empty, "no modelDescription"),
    ):
        with pytest.raises(ExportError, match=message):
            verify_fmu(path)
