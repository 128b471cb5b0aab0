"""fmumbs run and demo: their numbers, tables and pictures, and runs that end early."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from fmumbs.cli.demo import demo
from fmumbs.view.live import CORE
from support.commands import fmumbs
from support.trajectories import read_trajectories


def columns(path: Path) -> dict[str, list[float]]:
    header, *lines = path.read_text().splitlines()
    rows = [[float(value) for value in line.split(",")] for line in lines]
    return {name.strip('"'): [row[k] for row in rows] for k, name in enumerate(header.split(","))}


def test_a_model_and_its_fmu_run_to_the_same_numbers(tmp_path: Path) -> None:
    fmumbs("export", "double_pendulum")
    for target, out in (("double_pendulum", "model.csv"), ("double_pendulum.fmu", "fmu.csv")):
        result = fmumbs("run", target, "--stop", "0.5", "--interval", "0.05", "--out", out)
        assert result.exit_code == 0, result.output
        assert "A.q" in result.output
    model, fmu = columns(tmp_path / "model.csv"), columns(tmp_path / "fmu.csv")
    assert len(model["time"]) == len(fmu["time"]) == 11
    for name in ("A.q", "B.q", "A.qd", "B.qdd"):
        assert model[name] == fmu[name]


def test_run_takes_inputs_from_a_file(tmp_path: Path) -> None:
    fmumbs("export", "pendulum")
    (tmp_path / "torque.csv").write_text("time,A.tau\n0,0\n1,5\n")
    for target in ("pendulum", "pendulum.fmu"):
        options = ("--stop", "1", "--interval", "0.1", "--input", "torque.csv", "--out", "a.csv")
        assert fmumbs("run", target, *options).exit_code == 0
        pushed = columns(tmp_path / "a.csv")["A.q"]
        assert fmumbs("run", target, *options[:4], "--out", "a.csv").exit_code == 0
        assert columns(tmp_path / "a.csv")["A.q"][-1] != pushed[-1]


def test_run_interpolates_as_it_is_told(tmp_path: Path) -> None:
    """A table of J.f of 2 kg, or its pieces' impulses: lines 0.75 N.s, hold 0.5, a parabola 1.125."""
    (tmp_path / "cart.py").write_text(CART)
    (tmp_path / "push.csv").write_text("time,J.f\n0,0\n0.5,2\n0.75,0\n")
    fmumbs("export", "cart.py")
    speeds = {}
    for kind in ("linear", "hold", "cubic"):
        for target in ("cart.py", "cart.fmu"):
            options = ("--stop", "1", "--interval", "0.3", "--input", "push.csv", "--interpolation", kind)
            assert fmumbs("run", target, *options, "--out", "a.csv").exit_code == 0
            speeds.setdefault(kind, set()).add(columns(tmp_path / "a.csv")["J.qd"][-1])
    assert [len(found) for found in speeds.values()] == [1, 1, 1]
    assert speeds["linear"].pop() == pytest.approx(0.75 / 2)
    assert speeds["hold"].pop() == pytest.approx(0.5 / 2)
    assert speeds["cubic"].pop() == pytest.approx(1.125 / 2)
    assert "'spline' is not one of" in fmumbs("run", "cart.py", "--interpolation", "spline").output


CART = """import fmumbs as fm
def build():
    model, cart = fm.Model("cart"), fm.Body("cart", mass=2.0, inertia=(1, 1, 1))
    model.add(cart, fm.Prismatic("J", model.ground.at(), cart.at(), axis="x"))
    return model
"""


def test_run_refuses_unknown_inputs(tmp_path: Path) -> None:
    (tmp_path / "torque.csv").write_text("time,Z.tau\n0,0\n")
    result = fmumbs("run", "pendulum", "--stop", "1", "--input", "torque.csv")
    assert result.exit_code == 1
    assert "Z.tau" in result.output


def test_run_sets_the_scheme() -> None:
    result = fmumbs("run", "pendulum", "--stop", "0.1", "--scheme", "rk4", "--step", "1e-3")
    assert result.exit_code == 0, result.output


def test_the_suffix_of_the_file_selects_its_format(tmp_path: Path) -> None:
    for out in ("a.csv", "a.mat"):
        assert fmumbs("run", "pendulum", "--stop", "0.2", "-o", out).exit_code == 0
    assert read_trajectories("a.mat")["A.q"].values.tolist() == columns(tmp_path / "a.csv")["A.q"]


def test_run_draws(tmp_path: Path) -> None:
    assert fmumbs("run", "pendulum", "--stop", "0.2", "--plot", "a.png").exit_code == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_demo_times_the_export_and_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((10.0, 12.0, 15.0))
    monkeypatch.setattr("fmumbs.cli.demo.time", SimpleNamespace(perf_counter=lambda: next(clock)))
    found = demo(tmp_path)
    assert (found.export_seconds, found.run_seconds, found.same_bits) == (2.0, 3.0, True)


def test_the_demo_exports_runs_prints_and_draws(tmp_path: Path) -> None:
    result = fmumbs("demo")
    assert result.exit_code == 0, result.output
    assert "the same bits as the Solver" in result.output
    assert "NOT" not in result.output
    made = {path.name for path in (tmp_path / "demo").iterdir()}
    assert made == {f"double_pendulum.{suffix}" for suffix in ("fmu", "csv", "png", "html")}
    page = (tmp_path / "demo" / "double_pendulum.html").read_text(encoding="utf-8")
    assert ('"live":null' in page) == ("recorded motion only" in result.output) == (not CORE.is_file())


# Runs that end early ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["pendulum", "pendulum.fmu"])
def test_a_run_that_fails_writes_its_rows_and_the_reason(target: str, tmp_path: Path) -> None:
    fmumbs("export", "pendulum")
    (tmp_path / "torque.csv").write_text("time,A.tau\n0,0\n0.35,0\n0.35,1e308\n")
    files = ("--input", "torque.csv", "--out", "a.csv", "--plot", "a.png")
    result = fmumbs("run", target, "--stop", "1", "--interval", "0.1", *files)
    assert result.exit_code == 1
    assert "A.q" in result.output
    assert "The run stopped early: these results end at t = 0." in result.output
    assert "Error: " in result.output and "Traceback" not in result.output
    times = columns(tmp_path / "a.csv")["time"]
    assert 0.3 <= times[-1] < 1.0
    assert (tmp_path / "a.png").is_file()


def test_a_run_that_never_began_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "torque.csv").write_text("time,Z.tau\n0,0\n")
    result = fmumbs("run", "pendulum", "--input", "torque.csv", "--out", "a.csv")
    assert result.exit_code == 1
    assert "stopped early" not in result.output
    assert not (tmp_path / "a.csv").exists()


CHAIN = """import fmumbs as fm
def build():
    model, last = fm.Model("chain"), None
    for i in range(100):
        rod, name = fm.Body.rod(f"rod{i}", length=1.0, mass=1.0, radius=0.1), f"A{i}" if i else "A"
        model.add(rod, fm.Revolute(name, last or model.ground.at(), rod.base, axis="xyz"[i % 3], q0=0.3))
        last = rod.tip
    return model
"""


def wait_for_work(process: int, seconds: float) -> None:
    """Until the process has used so much processor time, however busy the machine is."""
    used = 0.0
    while used < seconds:
        time.sleep(0.05)
        times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]  # user, system
        used = sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("ending", ["", ".fmu"])
@pytest.mark.parametrize(("target", "interval"), [("double_pendulum", "1"), ("chain", "1e5")])
def test_ctrl_c_ends_a_run_with_130_and_writes_rows(target: str, interval: str, ending: str, tmp_path: Path) -> None:
    """Also within one step that would take minutes; an FMU that is interrupted in such a step has no later row."""
    (tmp_path / "chain.py").write_text(CHAIN)
    source = "chain.py" if target == "chain" else target
    if ending:
        assert fmumbs("export", source, "--all").exit_code == 0
    name = target + ending if ending else source
    code = "import sys; from fmumbs.cli import main; print('ready', flush=True); main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "run", name, "--stop", "1e5", "--interval", interval, "--tol", "1e-8"]
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, "--out", "a.csv"], stdout=pipe, stderr=pipe, text=True) as run:
        assert run.stdout is not None and run.stdout.readline() == "ready\n"
        wait_for_work(run.pid, 3.0)
        run.send_signal(signal.SIGINT)
        output, errors = run.communicate(timeout=60)
    assert run.returncode == 130, errors
    assert "Traceback" not in errors
    assert "The run stopped early: these results end at t = " in errors
    times = columns(tmp_path / "a.csv")["time"]
    assert 0.0 <= times[-1] < 1e5
    assert (times[-1] > 0.0) == (interval == "1" or ending == "")
    assert "A.q" in output


def test_ctrl_c_while_a_model_is_read_ends_with_130(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("raise KeyboardInterrupt\n")
    result = fmumbs("check", "slow.py")
    assert (result.exit_code, result.output) == (130, "interrupted\n")


def test_run_of_a_large_mechanism_shows_the_first_rows() -> None:
    output = fmumbs("run", "arm6", "--set", "joints=30", "--stop", "0.01").output
    assert "... and 20 more; --out FILE.csv has them all" in output
