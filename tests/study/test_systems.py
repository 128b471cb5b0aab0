"""Sweeps of systems of FMUs: their rows beside single runs of the engine."""

from pathlib import Path
from typing import Any

import pytest

import fmumbs as fm
from fmumbs.readers import read_model

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> fm.System:
    """A pendulum whose angle becomes the torque of another."""
    path = fm.export_fmu(read_model("pendulum"), tmp_path_factory.mktemp("fmus") / "pendulum.fmu")
    return build(path, {})


def build(path: Path, starts: dict[str, dict[str, float]]) -> fm.System:
    system = fm.System("two", stop=0.05, step=0.01)
    for name in ("m1", "m10"):
        system.add(name, path, starts=starts.get(name), outputs=["A.q", "A.qd"], units=None)
    system.connect("m1.A.reaction.t[2]", "m10.A.tau", start=0.0)
    return system


@pytest.mark.parametrize("engine", ["libcosim", "fmpy"])
def test_the_rows_of_a_system_are_those_of_single_runs(system: fm.System, engine: str, tmp_path: Path) -> None:
    pytest.importorskip("libcosimpy") if engine == "libcosim" else None
    grid = {"m1.A.q": [0.2, 0.4], "m10.rod.mass": [1.0, 2.0]}
    arguments: dict[str, Any] = {"grid": grid, "keep": ["max:m1.A.q"], "save": ["m10.A.q"], "workers": 0}
    package = system.save(tmp_path / "two.ssp")
    done = fm.sweep(package, tmp_path / "a.parquet", engine=engine, **arguments)
    assert done.runs == 4 and not len(done.failed) and done.units["m10.rod.mass"] == "kg"
    path = system.elements["m1"].fmu
    for k in range(4):
        starts = {"m1": {"A.q": done["m1.A.q"][k]}, "m10": {"rod.mass": done["m10.rod.mass"][k]}}
        one = build(path, starts).run(engine)
        for name in one.names:
            assert done[f"end:{name}"][k] == one[name][-1]
        assert done["max:m1.A.q"][k] == one["m1.A.q"].max()
    again = fm.sweep(system, tmp_path / "b.parquet", engine=engine, **arguments)
    assert again["end:m10.A.q"].tolist() == done["end:m10.A.q"].tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"grid": {"m2.A.q": [0.1]}}, "has no element 'm2'"),
        ({"grid": {"m1.A.p": [0.1]}}, r"has no variable 'A\.p'"),
        ({"grid": {"m10.A.tau": [0.1]}}, "is an input that another element feeds"),
        ({"grid": {"m1.A.qdd": [0.1]}}, "is computed by its FMU"),
        ({"grid": {"m1.A.q": ["20deg"]}}, "Give numbers in rad, without the unit"),
        ({"grid": {"m1.solver.scheme": [0.5]}}, "is an integer"),
        ({"grid": {"m1.A.q": [0.1]}, "keep": ["max:m1.A.w"]}, "records no output 'm1.A.w'"),
        ({"grid": {"m1.A.q": [0.1]}, "tolerance": 1e-9}, "a system has no option 'tolerance'"),
    ],
)
def test_what_a_system_has_not_is_refused(
    system: fm.System, arguments: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(fm.FmumbsError, match=message):
        fm.sweep(system, tmp_path / "a.parquet", workers=0, **arguments)
    with pytest.raises(fm.FmumbsError, match="no file"):
        fm.sweep(tmp_path / "nothing.ssp", tmp_path / "a.parquet", grid={"a": [1]})
