"""Sweeps in one process: their rows beside single runs, what they hold, and how they continue."""

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs import play
from fmumbs.readers import read_model
from fmumbs.study import batches, store, sweeping, targets
from support.sweep_rows import rows
from support.sweeps import each_value

pytestmark = pytest.mark.filterwarnings("ignore::fmumbs.StartWarning")
parquet = pytest.importorskip("pyarrow.parquet")

SHORT = {"stop": 0.3, "interval": 0.07, "workers": 0}  # the last interval is shorter
KEEP = ["start:D.q", "min:D.q", "max:D.q", "absmax:A.qdd", "mean:D.q", "rms:A.qd", "max:C.reaction.f"]


@pytest.fixture(scope="module")
def four_bar_fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fm.export_fmu(read_model("four_bar"), tmp_path_factory.mktemp("fmus") / "four_bar.fmu")


def summaries(result: fm.Result) -> dict[str, float]:
    t, q, a, w = result.time, result["D.q"], result["A.qdd"], result["A.qd"]
    length = t[-1] - t[0]

    def integral(v: np.ndarray) -> float:
        return float(sum((t[i + 1] - t[i]) * (v[i] + v[i + 1]) / 2 for i in range(len(t) - 1)))

    forces = {f"max:C.reaction.f[{k + 1}]": result["C.reaction.f"][:, k].max() for k in range(3)}
    return {
        "start:D.q": q[0], "min:D.q": q.min(), "max:D.q": q.max(), "absmax:A.qdd": abs(a).max(),
        "mean:D.q": integral(q) / length, "rms:A.qd": (integral(w**2) / length) ** 0.5, **forces,
    }  # fmt: skip


def test_the_rows_of_a_model_are_those_of_single_runs(tmp_path: Path) -> None:
    """Over parameters of build(), start values, inputs and parameters, on a grid with a sample."""
    cranks, masses, ranges = [0.09, 0.1, 0.12], [0.4, 0.8], {"A.qd": (4.0, 8.0), "A.tau": (-0.1, 0.1)}
    done = fm.sweep(
        "four_bar", tmp_path / "a.parquet", grid={"crank": cranks, "coupler.mass": masses}, ranges=ranges, samples=3,
        seed=7, settings={"rocker": 0.23}, keep=KEEP, **SHORT,
    )  # fmt: skip
    table = rows(done)
    assert table["run"] == list(range(18)) and table["seed"] == [7] * 18 and table["error"] == [None] * 18
    assert table["crank"] == np.repeat(cranks, 6).tolist()
    assert table["coupler.mass"] == np.tile(np.repeat(masses, 3), 3).tolist()
    for name, (low, high) in ranges.items():
        assert table[name][:3] * 6 == table[name]
        assert sorted(int(3 * (v - low) / (high - low)) for v in table[name][:3]) == [0, 1, 2]
    for k in range(18):
        names = ["coupler.mass", *ranges]
        result = fm.simulate(
            read_model("four_bar", {"crank": table["crank"][k], "rocker": 0.23}), stop=0.3, interval=0.07,
            inputs={name: table[name][k] for name in names}, outputs=None,
        )  # fmt: skip
        for name in result.names:
            assert table[f"end:{name}"][k] == result[name][-1]
        for label, value in summaries(result).items():
            assert table[label][k] == pytest.approx(value, rel=1e-14)


def test_the_rows_of_an_fmu_are_those_of_single_runs(four_bar_fmu: Path, tmp_path: Path) -> None:
    """Also with an input over time from a file; one instance is reset for each run."""
    inputs = tmp_path / "tau.csv"
    inputs.write_text("time,A.tau\n0,0\n0.1,0.4\n0.17,0.4\n0.3,0.2\n")
    done = fm.sweep(
        four_bar_fmu, tmp_path / "a.parquet", grid={"A.qd": [5.0, 7.0], "solver.scheme": [0, 1]}, keep=KEEP,
        settings={"coupler.mass": 0.5}, inputs=inputs, interpolation="cubic", tolerance=1e-8, **SHORT,
    )  # fmt: skip
    table = rows(done)
    assert len(table["run"]) == 4 and table["end:A.q"][0] != table["end:A.q"][2]
    for k in range(4):
        settings = {"coupler.mass": 0.5, **{name: table[name][k] for name in ("A.qd", "solver.scheme")}}
        options = play.Options(stop=0.3, interval=0.07, inputs=inputs, interpolation="cubic", run={"tolerance": 1e-8})
        result = play.run_fmu(four_bar_fmu, options, settings)
        for name in result.names:
            assert table[f"end:{name}"][k] == result[name][-1]
        for label, value in summaries(result).items():
            assert table[label][k] == pytest.approx(value, rel=1e-14)


def test_runs_of_other_structures_and_what_a_compilation_finds_out_are_those_of_single_runs(tmp_path: Path) -> None:
    """Runs of one structure take its image with new numbers; a four-bar in space is redundant across its plane."""
    grid = {"joints": [2, 3], "length": [1.0, 1.1], "damping": [0.0, 0.1]}
    table = rows(fm.sweep("arm6", tmp_path / "a.parquet", grid=grid, **SHORT))
    for k in range(8):
        result = fm.simulate(read_model("arm6", {name: table[name][k] for name in grid}), stop=0.3, interval=0.07)
        assert all(table[f"end:{name}"][k] == result[name][-1] for name in result.names if f"end:{name}" in table)
    keep = [f"max:{joint}.reaction_unique.f[{i}]" for joint in "AB" for i in (1, 2)]
    table = rows(fm.sweep("four_bar", tmp_path / "b.parquet", grid={"crank": [0.09, 0.1]}, keep=keep, **SHORT))
    assert all(table[f"max:{joint}.reaction_unique.f[{i}]"] == [i == 1] * 2 for joint in "AB" for i in (1, 2))


def test_an_fmu_that_runs_in_python_has_a_new_instance_for_each_run(tmp_path: Path) -> None:
    path = fm.export_fmu(read_model("pendulum"), tmp_path / "pendulum.fmu", backend="pythonfmu")
    done = fm.sweep(path, tmp_path / "a.parquet", grid={"A.tau": [0.0, 1.0, 2.0]}, **SHORT)
    for k, tau in enumerate((0.0, 1.0, 2.0)):
        one = fm.simulate(read_model("pendulum"), stop=0.3, interval=0.07, inputs={"A.tau": tau})
        assert done["end:A.q"][k] == one["A.q"][-1]


def test_units_types_and_the_rest_are_in_the_file(tmp_path: Path) -> None:
    grid = {"bodies": [2, 3], "A1.tau": [0.0, 1]}
    done = fm.sweep(chain, tmp_path / "a.parquet", grid=grid, keep=["max:A1.q"], **SHORT)
    schema = parquet.read_schema(done.path)
    kinds = {name: str(schema.field(name).type) for name in ("bodies", "A1.tau", "run", "seed", "error", "max:A1.q")}
    assert kinds == {
        "bodies": "int64", "A1.tau": "double", "run": "int64", "seed": "int64", "error": "string", "max:A1.q": "double",
    }  # fmt: skip
    units = {"A1.tau": "N.m", "max:A1.q": "rad", "end:A1.qd": "rad/s", "seconds": "s", "bodies": ""}
    assert {name: done.units[name] for name in units} == units
    assert done.varied == ("bodies", "A1.tau") and done.runs == 4 and done.name == "chain"
    assert "4 runs over bodies, A1.tau" in repr(done)
    assert done.trajectories is None and not (tmp_path / "a.parquet.parts").exists()
    with pytest.raises(fm.SolverError, match=r"no column 'max:A1\.w'\. The nearest name is 'max:A1"):
        done["max:A1.w"]


def chain(bodies: int = 1, seed: int = 0) -> fm.Model:
    model = fm.Model("chain", gravity=(0, 0, -9.81))
    at = model.ground.at()
    for k in range(1, bodies + 1):
        body = fm.Body.rod(f"b{k}", length=0.5, mass=1.0)
        model.add(body, fm.Revolute(f"A{k}", at, body.base, axis="y", q0=0.3 + seed))
        at = body.tip
    return model


def test_outputs_that_the_first_model_lacks_are_told_and_those_that_others_lack_are_null(tmp_path: Path) -> None:
    done = fm.sweep(chain, tmp_path / "a.parquet", grid={"bodies": [2, 1, 3]}, **SHORT)
    assert np.isfinite(done["end:A2.q"]).tolist() == [True, False, True]
    assert done["warning"][0] is None and "lacks" in done["warning"][2]
    kept = fm.sweep(chain, tmp_path / "b.parquet", grid={"bodies": [2, 1]}, keep=["max:A2.q"], **SHORT)
    assert kept.failed.tolist() == [1] and "no variable 'A2.q'" in kept["error"][1]


def test_a_name_that_is_a_column_is_written_under_another(tmp_path: Path) -> None:
    done = fm.sweep(chain, tmp_path / "a.parquet", grid={"seed": [0.0, 0.1]}, seed=5, stop=0.1, workers=0)
    assert done["set:seed"].tolist() == [0.0, 0.1] and done["seed"].tolist() == [5, 5]
    assert done.varied == ("set:seed",)


def test_a_run_that_fails_is_a_row_with_its_error(tmp_path: Path, four_bar_fmu: Path) -> None:
    """Of a mechanism that cannot be built, or assembled; of an FMU that refuses a value: the others are right."""
    grid = {"crank": [-0.1, 0.1, 0.9, 0.12]}
    done = fm.sweep("four_bar", tmp_path / "a.parquet", grid=grid, keep=["max:D.q"], **SHORT)
    assert done.failed.tolist() == [0, 2]
    assert "length" in done["error"][0] and "cannot" in done["error"][2]
    assert np.isfinite(done["end:A.q"]).tolist() == np.isfinite(done["max:D.q"]).tolist() == [False, True, False, True]
    done = fm.sweep(four_bar_fmu, tmp_path / "b.parquet", grid={"coupler.mass": [0.5, -1.0, 0.8]}, **SHORT)
    assert done.failed.tolist() == [1] and "coupler.mass" in done["error"][1]
    for k, mass in ((0, 0.5), (2, 0.8)):
        one = play.run_fmu(four_bar_fmu, play.Options(stop=0.3, interval=0.07), {"coupler.mass": mass})
        assert done["end:A.q"][k] == one["A.q"][-1]


def test_start_values_that_loops_change_are_a_warning_of_the_row(tmp_path: Path, four_bar_fmu: Path) -> None:
    for target, out in (("four_bar", "a.parquet"), (four_bar_fmu, "b.parquet")):
        done = fm.sweep(target, tmp_path / out, grid={"D.q": [1.0, -1.0]}, settings={"A.q": -1.2}, **SHORT)
        assert all("changed" in text for text in done["warning"]), done["warning"]


def test_trajectories_are_saved_in_parts(tmp_path: Path, four_bar_fmu: Path) -> None:
    import pyarrow.dataset

    done = fm.sweep(
        four_bar_fmu, tmp_path / "a.parquet", grid={"coupler.mass": [0.5, 0.6, -1.0, 0.8]}, keep=["max:A.qd"],
        save=["D.q", "C.reaction.f"], **SHORT,
    )  # fmt: skip
    assert done.trajectories == tmp_path / "a.trajectories"
    table = pyarrow.dataset.dataset(done.trajectories).to_table().sort_by([("run", "ascending"), ("time", "ascending")])
    assert table.column_names == ["run", "time", "D.q", *(f"C.reaction.f[{k}]" for k in (1, 2, 3))]
    assert table.schema.field("D.q").metadata[b"unit"] == b"rad"
    assert sorted(set(table["run"].to_pylist())) == [0, 1, 3]
    one = play.run_fmu(four_bar_fmu, play.Options(stop=0.3, interval=0.07), {"coupler.mass": 0.8})
    last = table.filter(pyarrow.compute.field("run") == 3)
    assert last["time"].to_pylist() == one.time.tolist()
    assert last["D.q"].to_pylist() == one["D.q"].tolist()
    assert last["C.reaction.f[3]"].to_pylist() == one["C.reaction.f"][:, 2].tolist()
    whole = fm.sweep(four_bar_fmu, tmp_path / "b.parquet", grid={"A.tau": [0.0, 1.0]}, save=[], **SHORT)
    assert whole.trajectories is not None
    assert len(pyarrow.dataset.dataset(whole.trajectories).schema.names) == 2 + len(one.names)


def test_samples_are_stratified_and_reproducible(tmp_path: Path) -> None:
    from fmumbs.study.design import make_design

    ranges = {"a": (-1.0, 3.0), "b": (10.0, 20.0)}
    for method in ("latin", "halton", "random"):
        points = [make_design(None, ranges, 64, method, seed).points for seed in (3, 3, 4)]
        assert np.array_equal(points[0], points[1]) and not np.array_equal(points[0], points[2])
        assert np.all(points[0] >= [-1.0, 10.0]) and np.all(points[0] < [3.0, 20.0])
        if method == "latin":
            strata = np.floor((points[0] - [-1.0, 10.0]) / [4.0, 10.0] * 64).astype(int)
            assert all(sorted(column) == list(range(64)) for column in strata.T.tolist())
        if method == "halton":  # the fractions of one base: each half, quarter, ... of the first range has as many
            halves = np.floor((points[0][:, 0] + 1.0) / 4.0 * 64).astype(int)
            assert all(len(set(halves[:n] * n // 64)) == n for n in (2, 4, 8, 16, 32, 64))


# Interruptions ------------------------------------------------------------------------------------------------------


class Stop:
    """Ctrl-C when some part of the sweep is done; counts the calls."""

    def __init__(self, at: float) -> None:
        self.at, self.calls = at, 0

    def __call__(self, part: float) -> None:
        self.calls += 1
        if part >= self.at:
            raise KeyboardInterrupt


def test_an_interrupted_sweep_continues_where_it_stopped(
    tmp_path: Path, four_bar_fmu: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a damaged part, and trajectories of a batch whose rows were not written yet."""
    monkeypatch.setattr(batches, "PATIENCE", 0.0)  # a batch for each run
    begin = {"grid": {"A.tau": np.linspace(0, 0.1, 30)}, "save": ["A.q"], "keep": ["max:D.q"], **SHORT}
    whole = fm.sweep(four_bar_fmu, tmp_path / "whole.parquet", **begin)
    out, parts = tmp_path / "a.parquet", tmp_path / "a.parquet.parts"
    with pytest.raises(KeyboardInterrupt, match=r"interrupted after \d+ of 30 runs\. The same command continues"):
        fm.sweep(four_bar_fmu, out, progress=Stop(0.8), **begin)
    assert not out.exists() and 24 <= done_in(parts) < 30
    first, second, *_ = sorted(parts.glob("*.parquet"))
    second.write_bytes(second.read_bytes()[:200])
    first.unlink()
    saved = tmp_path / "a.trajectories"
    (saved / "00000000-00000009.parquet").write_bytes((saved / first.name).read_bytes())
    before = done_in(parts, skip=second.name)
    fractions: list[float] = []
    done = fm.sweep(four_bar_fmu, out, progress=fractions.append, **begin)
    assert before > 0 and before / 30 < fractions[0] and fractions[-1] == 1.0
    assert rows(done) == rows(whole) and not parts.exists()
    assert trajectories(done) == trajectories(whole)
    again = Stop(0.0)
    assert rows(fm.sweep(four_bar_fmu, out, progress=again, **begin)) == rows(whole) and again.calls == 0


def test_what_is_left_to_do_is_all_that_no_batch_has_done() -> None:
    assert store._missing([range(6, 9), range(3), range(3, 4)], 12) == [range(4, 6), range(9, 12)]
    assert store._missing([], 2) == [range(2)] and store._missing([range(2)], 2) == []


def test_a_sweep_that_is_interrupted_after_its_last_run_is_finished_by_the_next_call(
    tmp_path: Path, four_bar_fmu: Path
) -> None:
    begin = {"grid": {"A.tau": np.linspace(0, 0.1, 6)}, **SHORT}
    whole = fm.sweep(four_bar_fmu, tmp_path / "whole.parquet", **begin)
    out = tmp_path / "a.parquet"
    with pytest.raises(KeyboardInterrupt, match="interrupted after 6 of 6 runs"):
        fm.sweep(four_bar_fmu, out, progress=Stop(1.0), **begin)
    assert not out.exists()
    again = Stop(0.0)
    assert rows(fm.sweep(four_bar_fmu, out, progress=again, **begin)) == rows(whole) and again.calls == 0
    assert not (tmp_path / "a.parquet.parts").exists()


def test_a_sweep_that_is_interrupted_within_a_run_removes_what_it_unpacked_at_once(
    tmp_path: Path, four_bar_fmu: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    (folder := tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(targets.FmuTarget, "run", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        fm.sweep(four_bar_fmu, tmp_path / "a.parquet", grid={"A.tau": [0.0, 0.1]}, **SHORT)
    assert caught.tb and not list(folder.iterdir())  # the traceback would keep an FMU that is open


def done_in(parts: Path, skip: str = "") -> int:
    files = [path for path in parts.glob("*.parquet") if path.name != skip]
    return sum(parquet.read_metadata(path).num_rows for path in files)


def trajectories(done: fm.Sweep) -> dict[str, list[float]]:
    import pyarrow.dataset

    table = pyarrow.dataset.dataset(done.trajectories).to_table()
    return dict(table.sort_by([("run", "ascending"), ("time", "ascending")]).to_pydict())


def test_the_output_of_another_sweep_is_not_overwritten_unasked(tmp_path: Path) -> None:
    out = tmp_path / "a.parquet"
    grid = {"A.tau": [0.0, 0.5, 1.0]}
    done = fm.sweep("pendulum", out, grid=grid, **SHORT)
    data = out.read_bytes()
    others: list[dict[str, Any]] = [
        {"grid": {"A.tau": [0.0, 0.5, 2.0]}}, {"grid": grid, "settings": {"A.q": 0.1}},
        {"grid": grid, "tolerance": 1e-9}, {"grid": grid, "keep": ["max:A.q"]}, {"grid": grid, "interval": 0.05},
    ]  # fmt: skip
    for other in others:
        with pytest.raises(fm.SolverError, match=r"a\.parquet' holds another sweep\. Give another output"):
            fm.sweep("pendulum", out, **{**SHORT, **other})
    with pytest.raises(fm.SolverError, match="holds another sweep"):
        fm.sweep("double_pendulum", out, grid=grid, **SHORT)
    assert out.read_bytes() == data
    with pytest.raises(KeyboardInterrupt):
        fm.sweep("pendulum", tmp_path / "b.parquet", grid=grid, progress=Stop(0.0), **SHORT)
    with pytest.raises(fm.SolverError, match="holds an unfinished sweep with other settings"):
        fm.sweep("pendulum", tmp_path / "b.parquet", grid={"A.tau": [3.0]}, **SHORT)
    (tmp_path / "c.parquet").write_text("mine")
    with pytest.raises(fm.SolverError, match="is not of a sweep"):
        fm.sweep("pendulum", tmp_path / "c.parquet", grid=grid, **SHORT)
    for name in "abc":
        new = fm.sweep("pendulum", tmp_path / f"{name}.parquet", grid={"A.tau": [3.0]}, overwrite=True, **SHORT)
        assert new.runs == 1
    assert done.path == out


def test_a_model_that_changes_during_the_sweep_does_not_mix_rows(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    text = "import fmumbs as fm\ndef build(mass=1.0):\n    model = fm.Model('own')\n    b = fm.Body('b', mass=mass)\n"
    text += "    model.add(b, fm.Prismatic('P', model.ground.at(), b.at(), axis='x'))\n    return model\n"
    path.write_text(text)

    def change(part: float) -> None:
        path.write_text(text.replace("'P'", "'Q'"))

    done = fm.sweep(path, tmp_path / "a.parquet", grid={"mass": [1.0, 2.0, 3.0]}, progress=change, **SHORT)
    assert done["error"][0] is None
    assert all("was changed during the sweep" in text for text in done["error"][1:])


def test_two_processes_do_not_write_one_sweep(tmp_path: Path) -> None:
    out = tmp_path / "a.parquet"

    def another(part: float) -> None:
        with pytest.raises(fm.SolverError, match="another process is running the sweep"):
            fm.sweep("pendulum", out, grid={"A.tau": [0.0, 1.0]}, **SHORT)

    assert fm.sweep("pendulum", out, grid={"A.tau": [0.0, 1.0]}, progress=another, **SHORT).runs == 2


def test_a_run_that_starts_in_an_unstable_equilibrium_says_so(tmp_path: Path) -> None:
    out = tmp_path / "a.parquet"
    done = fm.sweep("pendulum", out, grid={"A.q": [1.5, -1.5]}, equilibrium=True, stop=0.01, workers=0)
    hanging, upright = rows(done)["warning"]
    assert hanging is None and "unstable equilibrium: a displacement of A.q grows" in upright


# What is refused -----------------------------------------------------------------------------------------------------

GRID = {"A.tau": [0.0, 1.0]}


@each_value
@pytest.mark.parametrize("kind", ["model", "fmu"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "nothing is varied"),
        ({"grid": {"A.tua": [1.0]}}, r"no .*variable 'A\.tua'\. The nearest name is 'A\.tau'"),
        ({"grid": {"A.tau": []}}, "has no values"),
        ({"grid": {"A.tau": [1.0, 2.0, 1.0]}}, r"has 1\.0 twice"),
        ({"grid": {"A.tau": [float("nan")]}}, "Give finite numbers"),
        ({"grid": {"A.tau": ["5N.m"]}}, r"Give numbers in N\.m, without the unit"),
        ({"grid": {"A.tau": 3.0}}, "Give a list of values"),
        ({"grid": {"A.qdd": [1.0]}}, r"A\.qdd.*computed"),
        ({"grid": {"A.reaction.f": [1.0]}}, r"is a vector\. Vary its components, such as 'A\.reaction\.f\[1\]'"),
        ({"grid": GRID, "ranges": {"A.tau": (0, 1)}, "samples": 3}, "both a grid and a range"),
        ({"ranges": {"A.tau": (1, 0)}, "samples": 3}, "reversed: 1 to 0"),
        ({"ranges": {"A.tau": (1, 1)}, "samples": 3}, "empty: 1 to 1"),
        ({"ranges": {"A.tau": (0, 1)}}, "needs a sample"),
        ({"grid": GRID, "samples": 4}, "needs ranges"),
        ({"ranges": {"A.tau": (0, 1)}, "samples": 4, "method": "latine"}, "Choose one of: latin"),
        ({"grid": GRID, "seed": -1}, "seed is -1"),
        ({"grid": GRID, "settings": {"A.tau": 1.0}}, "gives it a value, too"),
        ({"grid": GRID, "keep": ["A.q"]}, r"'A\.q' is not a summary"),
        ({"grid": GRID, "keep": ["maxi:A.q"]}, "no summary 'maxi'"),
        ({"grid": GRID, "keep": ["max:A.w"]}, "nearest name"),
        ({"grid": GRID, "keep": ["max:A.q", "max:A.q"]}, "asked for twice"),
        ({"grid": GRID, "keep": "max:A.q"}, r"Give \['max:A\.q'\]"),
        ({"grid": GRID, "save": ["A.p"]}, "nearest name"),
        ({"grid": GRID, "stop": -1.0}, "stop is -1"),
        ({"grid": GRID, "schem": "rk4"}, "no option 'schem'. The nearest name is 'scheme'"),
        ({"grid": {"A.tau": range(10**4), "A.q": range(10**4), "A.qd": range(10**4)}}, r"runs exceed 1e\+08\."),
    ],
)
def test_bad_arguments_are_refused_before_anything_runs(
    kind: str, arguments: dict[str, Any], message: str, pendulum_fmu: Path, tmp_path: Path
) -> None:
    target = "pendulum" if kind == "model" else pendulum_fmu
    with pytest.raises(fm.FmumbsError, match=message):
        fm.sweep(target, tmp_path / "a.parquet", **{**SHORT, **arguments})
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def pendulum_fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fm.export_fmu(read_model("pendulum"), tmp_path_factory.mktemp("fmus") / "pendulum.fmu")


def test_what_fits_no_target_and_no_file_is_refused(tmp_path: Path, pendulum_fmu: Path) -> None:
    for target, out, message in (
        ("pendulun", "a.parquet", "nearest name is 'pendulum'"),
        ("nothing.fmu", "a.parquet", "no file 'nothing.fmu'"),
        (3, "a.parquet", "neither a model, an FMU nor a system"),
        ("pendulum", "a.csv", "is not a Parquet file. Give a name such as 'a.parquet'"),
        ("pendulum", "nowhere/a.parquet", "no folder"),
    ):
        with pytest.raises(fm.FmumbsError, match=message):
            fm.sweep(target, tmp_path / out, grid=GRID, **SHORT)  # type: ignore[arg-type]
    with pytest.raises(fm.SolverError, match=r"'solver\.scheme' is an integer, but takes the value 0\.5"):
        fm.sweep(pendulum_fmu, tmp_path / "a.parquet", grid={"solver.scheme": [0, 0.5]}, **SHORT)
    with pytest.raises(fm.SolverError, match="is not of a sweep"):
        fm.Sweep(fm.simulate(read_model("pendulum"), stop=0.1).save(tmp_path / "one.parquet"))


def test_a_disk_that_is_too_small_is_told_before_the_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = os.statvfs(tmp_path)
    monkeypatch.setattr(sweeping.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1000})())
    with pytest.raises(fm.SolverError, match=r"needs up to .* GB, but the disk of .* has 1e-06 GB left"):
        fm.sweep("pendulum", tmp_path / "a.parquet", grid=GRID, save=[], **SHORT)
    assert free.f_bavail > 0


def test_a_figure_has_room_for_four_of_what_was_varied(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    five = {name: [0.5, 1.0] for name in ("A.tau", "A.q", "A.qd", "B.q", "B.qd")}
    done = fm.sweep("double_pendulum", tmp_path / "a.parquet", grid=five, **SHORT)
    figure = done.plot("end:A.q", path=tmp_path / "a.png")
    assert [axis.get_xlabel().split(" ")[0] for axis in figure.axes] == list(five)[:4]


def test_results_are_plotted_over_what_was_varied(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    done = fm.sweep("pendulum", tmp_path / "a.parquet", grid={"A.tau": [0.0, 1.0], "A.q": [0.1, 0.2]}, **SHORT)
    figure = done.plot("end:A.q", path=tmp_path / "a.png")
    assert [axis.get_xlabel() for axis in figure.axes] == ["A.tau [N.m]", "A.q [rad]"]
    assert figure.axes[0].get_ylabel() == "end:A.q [rad]"
    assert figure.axes[0].lines[0].get_ydata().tolist() == done["end:A.q"].tolist()
    assert (tmp_path / "a.png").stat().st_size > 1000
    least = {column.name: (column.least, column.least_at, column.varied) for column in done.summary()}
    assert least["A.tau"] == (0.0, 0, True)
    assert least["end:A.q"][0] == min(done["end:A.q"])
