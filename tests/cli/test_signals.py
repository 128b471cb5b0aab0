"""Signals that end a process: a command keeps what it has and leaves no folder behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.commands import fmumbs
from support.systems import write_speed_control

COMMANDS = {
    "run": ["run", "double_pendulum.fmu", "--stop", "1e5", "--interval", "1", "-o", "out.csv"],
    "verify": ["verify", "double_pendulum.fmu"],
    "sweep": ["sweep", "double_pendulum.fmu", "--grid", "A.q=0:1:100000", "-o", "out.parquet"],
    "cosim": ["cosim", "speed_control.ssp", "--engine", "fmpy", "--stop", "1e3", "-o", "out.csv"],
}


@pytest.mark.skipif(os.name == "nt", reason="no SIGTERM")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_is_terminated_leaves_no_folder(command: str, number: signal.Signals, tmp_path: Path) -> None:
    assert fmumbs("export", "double_pendulum").exit_code == 0
    if command == "cosim":
        write_speed_control(tmp_path)
        assert fmumbs("ssp", "speed_control.py").exit_code == 0
    folder = tmp_path / "temporary"
    folder.mkdir()
    code = "import sys; from fmumbs.cli import main; main(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *COMMANDS[command]],
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        while process.poll() is None and not list(folder.glob("fmumbs*")):
            time.sleep(0.02)
        if command != "verify":  # which soon ends by itself
            time.sleep(0.3)
        process.send_signal(number)
        said, _ = process.communicate()
    assert process.returncode == 128 + number, said
    assert not list(folder.glob("fmumbs*"))
    assert "Traceback" not in said
