"""A right FMU passes without findings; each fault is found by the check that is for it."""

import re
import signal
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import fmumbs as fm
from fmumbs.compiler import ModelImage
from fmumbs.compiler.layout import pack
from fmumbs.errors import ExportError
from fmumbs.export.sources import image_source
from fmumbs.play import fmu as probe
from fmumbs.play.fmu import IMAGE, Fmu
from fmumbs.readers import read_model
from fmumbs.verify import checks
from fmumbs.verify.verifying import CHECKS, verify_fmu

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
    assert verify_fmu(fmu) == []


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", ["pendulum", "four_bar", "rolling_disk"])
def test_one_for_model_exchange_passes(name: str, fmi: int, tmp_path: Path) -> None:
    path = fm.export_fmu(read_model(name), tmp_path / "model.fmu", kind="me", fmi=fmi, platforms=["linux64"])
    assert verify_fmu(path) == []


def test_a_rod_with_a_tiny_inertia_passes(tmp_path: Path) -> None:
    """A needle between two balls: nothing but its inertia of 8e-7 kg.m2 holds its spin."""
    model = fm.Model("needle")
    arm, needle = (fm.Body.rod(name, length=0.3, mass=0.1, radius=0.004) for name in ("arm", "needle"))
    model.add(arm, needle, fm.Revolute("A", model.ground.at(), arm.base, axis="y"))
    model.add(fm.Spherical("E", arm.tip, needle.base), fm.PointOnPlane("W", model.ground.at(), needle.tip))
    assert verify_fmu(fm.export_fmu(model, tmp_path / "needle.fmu")) == []


def test_it_reports_its_progress(pendulum_fmu: Path) -> None:
    reported: list[str] = []
    verify_fmu(pendulum_fmu, progress=reported.append)
    assert tuple(reported) == CHECKS


def test_its_own_model_agrees_and_another_does_not(pendulum_fmu: Path) -> None:
    assert verify_fmu(pendulum_fmu, read_model("double_pendulum")) == []
    findings = verify_fmu(pendulum_fmu, read_model("double_pendulum", {"mass": 2.0}))
    assert {finding.check for finding in findings} == {"parity with the Solver"}
    *_, last = verify_fmu(pendulum_fmu, read_model("pendulum"))
    assert "not among the variables of the model" in last.message


def test_an_fmu_stored_without_compression_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    path = changed(pendulum_fmu, tmp_path / "stored.fmu", lambda entries: None, zipfile.ZIP_STORED)
    assert {finding.check for finding in verify_fmu(path)} == {"archive"}


def test_xml_that_violates_the_schema_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    path = changed(pendulum_fmu, tmp_path / "a.fmu", rewrite('causality="input"', 'causality="inward"'))
    assert "schema" in {finding.check for finding in verify_fmu(path)}


def test_a_missing_initial_unknown_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    path = changed(
        pendulum_fmu,
        tmp_path / "a.fmu",
        rewrite(r'<InitialUnknowns>\s*<Unknown index="\d+"/>', "<InitialUnknowns>"),
    )
    assert "validation" in {finding.check for finding in verify_fmu(path)}


def test_an_undeclared_dependency_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    def silence(entries: Entries) -> None:
        text = entries["modelDescription.xml"].decode()
        names = re.findall(r'<ScalarVariable name="([^"]+)"', text)
        index = 1 + names.index("A.qdd")
        head, tail = text.split("<Outputs>")
        tail = tail.replace(f'<Unknown index="{index}"/>', f'<Unknown index="{index}" dependencies=""/>', 1)
        entries["modelDescription.xml"] = f"{head}<Outputs>{tail}".encode()

    path = changed(pendulum_fmu, tmp_path / "a.fmu", silence)
    findings = verify_fmu(path)
    assert {finding.check for finding in findings} == {"directional derivatives", "Jacobian"}
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


def test_a_guid_that_differs_from_the_images_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    path = changed(pendulum_fmu, tmp_path / "a.fmu", rewrite(r'guid="\{....', 'guid="{0000'))
    assert "instances and steps" in {finding.check for finding in verify_fmu(path)}


def heavier(data: bytes) -> bytes:
    """The image with all inertias doubled, its header's hash kept, its checksum repaired."""
    image = ModelImage.load(data)
    made = pack(image.sizes, image.arrays | {"inertia": 2.0 * image.arrays["inertia"]})
    return data[:56] + made[56:]


def test_an_altered_image_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    def double(entries: Entries) -> None:
        entries[IMAGE] = heavier(entries[IMAGE])

    messages = {f.check: f.message for f in verify_fmu(changed(pendulum_fmu, tmp_path / "a.fmu", double))}
    assert set(messages) == {"model image", "instances and steps"}
    assert all("the model image was altered: its SHA-256" in message for message in messages.values())


def test_an_altered_copy_of_the_image_in_the_sources_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    def double(entries: Entries) -> None:
        name = "sources/double_pendulum.c"
        one, other = image_source(entries[IMAGE]), image_source(heavier(entries[IMAGE]))
        assert one in entries[name]
        entries[name] = entries[name].replace(one, other)

    (finding,) = verify_fmu(changed(pendulum_fmu, tmp_path / "a.fmu", double))
    assert (finding.check, "is not 'resources/model.fmb'" in finding.message) == ("model image", True)


@pytest.mark.parametrize(
    ("pattern", "by", "check", "words"),
    [
        (r'(name="upper.mass".*\n.*start=)"1.0"', r'\1"2.0"', "start values", "'upper.mass' is 1 and 2"),
        (r'(name="A.q" .*\n.*start=)"[^"]*"', r'\1"0.25"', "start values", "and 0.25"),
        (r'(name="A.tau".*\n.*start=)"0.0"', r'\1"1.0"', "start values", "'A.tau' is 0 and 1"),
        (r'(name="solver.scheme".*\n.*start=)"3"', r'\1"1"', "start values", "'solver.scheme' is 3 and 1"),
        (r'stopTime="[^"]*"', 'stopTime="77.0"', "model image", "stopTime is 77.0"),
        (r'stepSize="[^"]*"', 'stepSize="0.5"', "model image", "stepSize is 0.5"),
        (r' tolerance="[^"]*"', "", "model image", "tolerance is None"),
    ],
)
def test_a_description_that_differs_from_the_binary_is_found(
    pattern: str, by: str, check: str, words: str, pendulum_fmu: Path, tmp_path: Path
) -> None:
    findings = verify_fmu(changed(pendulum_fmu, tmp_path / "a.fmu", rewrite(pattern, by)))
    assert {finding.check for finding in findings} == {check}
    assert words in findings[0].message


def test_a_default_experiment_that_ends_before_it_begins_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    path = changed(pendulum_fmu, tmp_path / "a.fmu", rewrite('startTime="[^"]*"', 'startTime="1e3"'))
    assert {finding.check for finding in verify_fmu(path)} == {"model image", "stop time"}


def test_a_missing_image_is_found(pendulum_fmu: Path, tmp_path: Path) -> None:
    path = changed(pendulum_fmu, tmp_path / "a.fmu", lambda entries: entries.pop("resources/model.fmb"))
    assert "instances and steps" in {finding.check for finding in verify_fmu(path)}


def test_a_file_that_is_not_an_fmu_is_reported(tmp_path: Path) -> None:
    text = tmp_path / "text.fmu"
    text.write_text("not a zip")
    empty = tmp_path / "empty.fmu"
    with zipfile.ZipFile(empty, "w"):
        pass
    for path, message in (
        (tmp_path / "none.fmu", "no file"),
        (text, "not a zip"),
        (empty, "no modelDescription"),
    ):
        with pytest.raises(ExportError, match=message):
            verify_fmu(path)


def test_ctrl_c_ends_it_while_the_fmu_does_not_return(pendulum_fmu: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if doStep hung: a thread that waits answers no signal."""
    called, released = threading.Event(), threading.Event()

    def hang(fmu: Fmu) -> Iterator[str]:
        called.set()
        released.wait(60)
        yield from ()

    def interrupt() -> None:
        called.wait(60)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    monkeypatch.setattr(checks, "runs", hang)
    monkeypatch.setattr(probe, "PATIENCE", 0.05)
    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            verify_fmu(pendulum_fmu)
        assert called.is_set() and not released.is_set()
    finally:
        released.set()
