"""Signals at the worst moment: none is lost, none cuts a start short, and no folder stays."""

import os
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path
from typing import Any

import pytest

from fmumbs._folders import remove_folders, temporary_folder
from fmumbs._signals import held
from fmumbs.cli.group import Ending
from support.commands import fmumbs

posix = pytest.mark.skipif(os.name == "nt", reason="no SIGTERM")
MAIN = "from fmumbs.cli import main; main(sys.argv[1:])"


class Something:
    pass


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_in_a_callback_whose_exceptions_python_ignores_is_not_lost(number: signal.Signals) -> None:
    """As in the callback of the garbage collector that Dask adds."""
    times: list[int] = []

    def callback(_: object) -> None:
        times.append(1)
        signal.raise_signal(number)
        for _ in range(3):
            pass

    ending, one = Ending(), Something()
    reference = weakref.ref(one, callback)
    with pytest.raises(KeyboardInterrupt), ending.by_signals():  # noqa: PT012
        del one
        time.sleep(10)
    assert times == [1] and reference() is None
    assert ending.status == 128 + number


@posix
def test_what_python_ignores_else_is_left_to_its_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda ignored: said.append(ignored.exc_value))
    one, error = Something(), ValueError("of a callback")

    def callback(_: object) -> None:
        raise error

    reference = weakref.ref(one, callback)
    with Ending().by_signals():
        del one
    assert said == [error] and reference() is None


@posix
def test_a_signal_is_held_until_the_block_has_ended_and_a_second_one_is_not() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), Ending().by_signals():  # noqa: PT012
        with held():
            signal.raise_signal(signal.SIGTERM)
            time.sleep(0)
            done.append("the block")
        done.append("what follows")
    assert done == ["the block"]
    with pytest.raises(KeyboardInterrupt), Ending().by_signals(), held():  # noqa: PT012
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        time.sleep(0)
        done.append("the second block")
    assert done == ["the block"]


@posix
@pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning")
def test_a_folder_that_is_being_made_when_a_signal_comes_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = os.mkdir

    def interrupted(*arguments: Any) -> None:
        make(*arguments)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(os, "mkdir", interrupted)
    with pytest.raises(KeyboardInterrupt), Ending().by_signals():
        temporary_folder()
    remove_folders()
    assert not list(tmp_path.iterdir())


@posix
@pytest.mark.parametrize("stuck", [False, True])
def test_a_command_that_is_interrupted_while_it_opens_an_fmu_leaves_no_folder(stuck: bool, tmp_path: Path) -> None:
    """stuck: a thread is inside a call that does not return, so that the process ends by os._exit."""
    assert fmumbs("export", "double_pendulum").exit_code == 0
    folder = tmp_path / "temporary"
    folder.mkdir()
    code = f"""
import os, signal, sys, threading
from fmumbs.play import fmu
if {stuck}:
    threading.Thread(target=threading.Event().wait).start()
def enter(one):
    assert os.listdir({str(folder)!r})
    os.kill(os.getpid(), signal.SIGTERM)
    while True:
        pass
fmu.Fmu.__enter__ = enter
{MAIN}
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "run", "double_pendulum.fmu"],
        env=os.environ | {"TMPDIR": str(folder)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    assert "Traceback" not in done.stderr
    assert not list(folder.iterdir())
