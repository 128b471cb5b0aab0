"""A file is written whole or not at all, with concurrent writers and when writing fails."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

import fmumbs as fm
from fmumbs._files import whole
from fmumbs.compiler import ModelImage, compile
from fmumbs.play.simulation import Options, run_fmu
from fmumbs.readers import read_model
from support.full_disk import full_disk


@pytest.fixture(params=["nameless", "named"], autouse=True)
def draft(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Drafts without a name, as Linux has them, and with one, as other systems need them."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE")
    return str(request.param)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "here" / "a.fmu"


@pytest.fixture(autouse=True)
def earlier(place: Path) -> None:
    place.parent.mkdir()
    place.write_bytes(b"earlier")


def left(place: Path) -> dict[str, bytes]:
    """All files in the folder of `place`, hidden ones too."""
    return {path.name: path.read_bytes() for path in place.parent.iterdir()}


def test_concurrent_writers_of_one_file_do_not_mix(place: Path) -> None:
    with whole(place) as first:
        first.write(b"first, ")
        with whole(place) as second:
            second.write(b"second")
        assert left(place)["a.fmu"] == b"second"
        first.write(b"to its end")
    assert left(place) == {"a.fmu": b"first, to its end"}


def test_two_threads_export_to_one_file(place: Path) -> None:
    images = [compile(read_model("pendulum", {"length": length})) for length in (1.0, 2.0)]
    wanted = [fm.export_fmu(image, place).read_bytes() for image in images]
    found: list[bytes] = []

    def export(image: ModelImage) -> None:
        for _ in range(5):
            fm.export_fmu(image, place)
            found.append(place.read_bytes())

    threads = [threading.Thread(target=export, args=(image,)) for image in images for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 20
    assert set(found) == set(wanted)
    assert list(left(place)) == ["a.fmu"]


def test_a_symbolic_link_at_the_name_of_the_draft_is_not_followed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = place.parent.parent / "victim"
    victim.write_bytes(b"precious")
    monkeypatch.setattr(os, "urandom", lambda size: b"guessed")
    (place.parent / f".{b'guessed'.hex()}.part").symlink_to(victim)
    with pytest.raises(FileExistsError), whole(place) as file:
        file.write(b"new")
    assert victim.read_bytes() == b"precious"
    assert left(place)["a.fmu"] == b"earlier"


@pytest.mark.parametrize("name", ["a" * 251 + ".fmu", "ä" * 125 + "a.fmu"])
def test_names_may_be_as_long_as_the_file_system_takes(name: str, place: Path) -> None:
    assert len(os.fsencode(name)) == 255
    image = compile(read_model("pendulum"))
    assert fm.export_fmu(image, place.with_name(name)).is_file()
    assert image.save(place.with_name(name)).read_bytes() == image.bytes


def test_a_model_may_have_a_longer_name_than_files_have(place: Path) -> None:
    model = read_model("pendulum", {})
    model.name = "a" * 1000
    result = run_fmu(fm.export_fmu(model, place), Options(stop=0.02))
    assert result.name == model.name
    with pytest.raises(fm.ExportError, match="File name too long"):
        fm.export_fmu(model, f"{place.parent}/")


def test_it_is_readable_as_any_new_file_is(place: Path) -> None:
    old = os.umask(0o027)
    try:
        with whole(place):
            pass
    finally:
        os.umask(old)
    assert place.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_error_leaves_the_earlier_file(error: type[BaseException], place: Path) -> None:
    def write() -> None:
        with whole(place) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        write()
    assert left(place) == {"a.fmu": b"earlier"}


def test_a_full_disk_leaves_an_earlier_file(place: Path) -> None:
    with full_disk(), pytest.raises(OSError, match="too large"), whole(place) as file:
        file.write(bytes(2000))
    assert left(place) == {"a.fmu": b"earlier"}
    with full_disk(), pytest.raises(OSError, match="too large"):
        compile(read_model("pendulum")).save(place)
    assert left(place) == {"a.fmu": b"earlier"}


def test_a_stopped_thread_leaves_the_earlier_file(place: Path) -> None:
    writing = threading.Event()

    def write() -> None:
        with suppress(SystemExit), whole(place) as file:
            while file.write(b"half"):
                writing.set()
                time.sleep(0.001)

    thread = threading.Thread(target=write)
    thread.start()
    writing.wait()
    assert thread.ident is not None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))
    thread.join()
    assert left(place) == {"a.fmu": b"earlier"}


def test_a_killed_process_leaves_the_earlier_file(place: Path, draft: str) -> None:
    if draft == "named":
        pytest.skip("only a file without a name vanishes with its process")
    code = (
        "import sys, time; from pathlib import Path; from fmumbs._files import whole\n"
        "with whole(Path(sys.argv[1])) as file:\n"
        "    file.write(bytes(100_000)); file.flush(); print('half', flush=True); time.sleep(60)"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, str(place)], stdout=subprocess.PIPE)
    assert writer.stdout is not None and writer.stdout.readline() == b"half\n"
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    assert left(place) == {"a.fmu": b"earlier"}


def test_an_impossible_path_is_reported() -> None:
    image = compile(read_model("pendulum"))
    for place in ("no\0where.fmu", "/proc/version/a.fmu", "a" * 256):
        with pytest.raises(fm.ExportError, match="could not be written"):
            fm.export_fmu(image, place)
