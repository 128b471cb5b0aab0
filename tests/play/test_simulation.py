"""A model and its FMU give the same results, also with varying inputs; errors in the inputs are reported."""

import os
import signal
import threading
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.errors import ExportError, SolverError
from fmumbs.play.fmu import BackgroundCall, Fmu
from fmumbs.play.simulation import Options, plot, read_inputs, run_fmu, run_model, summary
from fmumbs.readers import read_model


@pytest.fixture
def torque(tmp_path: Path) -> Path:
    path = tmp_path / "torque.csv"
    path.write_text("time, A.tau, B.tau\n0, 0, 1\n0.25, 2, -1\n1, 0.5, 0\n")
    return path


def test_a_model_and_its_fmu_give_the_same_bits_for_varying_inputs(pendulum_fmu: Path, torque: Path) -> None:
    options = Options(stop=0.7, interval=0.03, inputs=torque)
    here, there = run_model(read_model("double_pendulum"), options), run_fmu(pendulum_fmu, options)
    assert np.array_equal(here.time, there.time)
    assert here.time[-1] == 0.7
    assert set(here.names) == set(there.names)
    for name in here.names:
        assert np.array_equal(here[name], there[name]), name
    assert here.units == there.units


@pytest.mark.parametrize("scheme", ["dopri5", "rk4"])
def test_the_integration_is_set_by_options(pendulum_fmu: Path, scheme: str) -> None:
    options = Options(stop=0.2, interval=0.05, run={"scheme": scheme, "step": 2e-3, "tolerance": 1e-9})
    here, there = run_model(read_model("double_pendulum"), options), run_fmu(pendulum_fmu, options)
    assert np.array_equal(here["A.q"], there["A.q"])
    assert np.array_equal(here["solver.steps"], there["solver.steps"])


def test_a_start_value_and_a_parameter_of_an_fmu_are_set_by_name(pendulum_fmu: Path) -> None:
    result = run_fmu(pendulum_fmu, Options(stop=0.1), {"A.q": 0.5, "gravity[3]": 0, "solver.scheme": 1})
    assert result["A.q"] == pytest.approx(np.full(len(result.time), 0.5), abs=1e-12)


def test_the_default_experiment_is_run_by_default(pendulum_fmu: Path) -> None:
    result = run_fmu(pendulum_fmu, Options())
    assert (result.time[-1], len(result.time)) == (5.0, 501)


def test_progress_is_reported_to_the_end(pendulum_fmu: Path) -> None:
    reported: list[float] = []
    run_fmu(pendulum_fmu, Options(stop=0.1), progress=reported.append)
    assert reported == sorted(reported)
    assert reported[-1] == 1.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"A.qq": 1.0}, "nearest name is 'A.q'"),
        ({"A.q": "far"}, "is not a number"),
        ({"A.qdd": 1.0}, "A.qdd"),
        ({"upper.mass": -1.0}, "upper.mass"),
    ],
)
def test_an_impossible_setting_is_reported(pendulum_fmu: Path, settings: dict[str, object], message: str) -> None:
    with pytest.raises(SolverError, match=message):
        run_fmu(pendulum_fmu, Options(stop=0.1), settings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read|begins with"),
        ("A.tau\n1\n", "begins with 'A.tau'"),
        ("time,A.tau\n", "and rows"),
        ("time,A.tau\n0,much\n", "line 2: 'much' is not a number"),
        ("time,A.tau\n0,1,2\n", "line 2: it has 3 cells, but the header 2"),
        ("time,A.tau,B.tau\n0,0,0\n\n1\n", "line 4: it has 1 cells, but the header 3"),
        ("time,A.tau\n0,1_000\n", "line 2: '1_000' is not a number"),
        ("time,A.tau\n0,1\n1,\uff11\n", "line 3: '\uff11' is not a number"),
        ("time,A.tau\n0,1e999\n", "line 2: '1e999' is beyond"),
        ('time,A.tau\n0,"1\n', "line 2: "),
        ("time,A.tau\n1,0\n0,0\n", "line 3: times must not decrease"),
        ("time,A.tau\n0,0\n1,nan\n", "line 3: all numbers must be finite"),
    ],
)
def test_a_file_without_valid_inputs_is_reported(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "inputs.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SolverError, match=message):
        read_inputs(path)


def test_an_output_is_no_input(pendulum_fmu: Path, tmp_path: Path) -> None:
    path = tmp_path / "inputs.csv"
    path.write_text("time,A.q\n0,1\n")
    with pytest.raises(SolverError, match=r"no input 'A\.q'"):
        run_fmu(pendulum_fmu, Options(inputs=path))


def test_a_file_that_is_not_an_fmu_is_not_run(tmp_path: Path) -> None:
    path = tmp_path / "a.fmu"
    path.write_text("not a zip")
    with pytest.raises(ExportError, match="not a zip"):
        run_fmu(path, Options())


def test_the_summary_has_the_joints_or_else_the_first_variables() -> None:
    model = read_model("pendulum")
    assert [row.name for row in summary(run_model(model, Options(stop=0.1)))] == ["A.q", "A.qd"]
    row = summary(run_model(model, Options(stop=0.1)))[0]
    assert row.unit == "rad"
    assert row.least <= min(row.start, row.end) <= max(row.start, row.end) <= row.greatest
    model.output("tip_height", of="rod.tip.r[3]")
    assert "tip_height" in [row.name for row in summary(fm.simulate(model, stop=0.1, interval=0.1))]


def test_a_plot_is_a_picture(tmp_path: Path) -> None:
    plot(run_model(read_model("pendulum"), Options(stop=0.1)), tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("entry", "change", "message"),
    [
        ("modelDescription.xml", lambda data: data[:300], r"damaged: modelDescription\.xml cannot be read"),
        ("binaries/linux64/double_pendulum.so", lambda data: b"", "binary for .* cannot be loaded"),
        ("binaries/linux64/double_pendulum.so", lambda data: data[:40], "double_pendulum.so' in it is truncated"),
        ("binaries/linux64/double_pendulum.so", lambda data: data[:500], "double_pendulum.so' in it is truncated"),
        ("binaries/linux64/double_pendulum.so", lambda data: data[:99999], "double_pendulum.so' in it is truncated"),
        ("binaries/linux64/double_pendulum.so", lambda data: data[:-9000], "double_pendulum.so' in it is truncated"),
        ("binaries/linux64/double_pendulum.so", None, "binary for .* cannot be loaded"),
        ("resources/model.fmb", lambda data: data[:500], r"model image (is damaged: 500 bytes|was altered)"),
    ],
)
def test_a_damaged_fmu_is_reported(pendulum_fmu: Path, tmp_path: Path, entry: str, change: Any, message: str) -> None:
    path = tmp_path / "damaged.fmu"
    with zipfile.ZipFile(pendulum_fmu) as good, zipfile.ZipFile(path, "w") as bad:
        assert entry in good.namelist()
        for name in good.namelist():
            data = good.read(name) if name != entry or change is None else change(good.read(name))
            if name != entry or change is not None:
                bad.writestr(name, data)
    here = os.getcwd()
    with pytest.raises(ExportError, match=message):
        run_fmu(path, Options())
    assert os.getcwd() == here


def test_an_instance_is_freed_once(pendulum_fmu: Path) -> None:
    freed = []
    with Fmu(pendulum_fmu) as fmu, fmu.instance() as one:
        free = one.slave.freeInstance
        one.slave.freeInstance = lambda: freed.append(free())
        one.start()
    assert len(freed) == 1


def test_a_call_is_abandoned_also_by_a_signal_while_its_thread_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(threading.Thread):
        def start(self) -> None:
            super().start()
            raise KeyboardInterrupt

    monkeypatch.setattr("fmumbs.play.fmu.PATIENCE", 0.01)
    monkeypatch.setattr(threading, "Thread", Interrupted)
    returns = threading.Event()
    call = BackgroundCall(lambda: returns.wait() and None)
    with pytest.raises(KeyboardInterrupt):
        call.wait()
    assert call.abandoned
    assert call.stuck
    returns.set()


def test_an_interrupted_call_that_has_returned_leaves_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    class EndsLate(threading.Thread):
        def start(self) -> None:
            super().start()
            raise KeyboardInterrupt

        def run(self) -> None:
            super().run()
            time.sleep(0.2)

    monkeypatch.setattr(threading, "Thread", EndsLate)
    call = BackgroundCall(lambda: None)
    with pytest.raises(KeyboardInterrupt):
        call.wait()
    assert not call.stuck
    assert not any(isinstance(thread, EndsLate) for thread in threading.enumerate())


def test_a_signal_while_an_fmu_is_made_waits_until_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One that runs in Python would take the exception of the handler for its own failure."""
    from fmpy.fmi2 import FMU2Slave

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    made = []

    def instantiate(slave: object, **arguments: object) -> None:
        signal.raise_signal(signal.SIGTERM)
        original(slave, **arguments)
        made.append(slave)

    original = FMU2Slave.instantiate
    monkeypatch.setattr(FMU2Slave, "instantiate", instantiate)
    path = fm.export_fmu(read_model("pendulum"), tmp_path / "p.fmu")
    before = signal.signal(signal.SIGTERM, end)
    try:
        with Fmu(path) as fmu, pytest.raises(KeyboardInterrupt), fmu.instance():
            pass
    finally:
        signal.signal(signal.SIGTERM, before)
    assert len(made) == 1
