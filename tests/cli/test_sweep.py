"""fmumbs sweep: its options, tables and exit statuses."""

from pathlib import Path

import pytest

import fmumbs as fm
from support.commands import fmumbs

pytest.importorskip("pyarrow")
HERE = ("--workers", "0", "--stop", "0.1", "-o", "a.parquet")


def test_grids_lists_and_samples_become_rows(tmp_path: Path) -> None:
    result = fmumbs(
        "sweep", "four_bar", "--grid", "crank=0.09:0.11:3", "--grid", "A.tau=0,0.1", "--range", "A.qd=5:7",
        "--sample", "2:halton", "--seed", "3", "--set", "rocker=0.23", "--keep", "max:D.q", "--save", "A.q",
        "--plot", "a.png", *HERE,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    for text in ("crank", "A.tau", "N.m", "max:D.q", "12 runs, none failed", "a.parquet", "a.trajectories", "a.png"):
        assert text in result.output
    done = fm.Sweep("a.parquet")
    assert done["crank"].tolist() == [0.09] * 4 + [0.1] * 4 + [0.11] * 4
    assert done["A.tau"].tolist() == [0.0, 0.0, 0.1, 0.1] * 3 and done["seed"].tolist() == [3] * 12
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("model", "joint", "starts", "warned"), [("four_bar", "B", "0.3,1.0", 2), ("pendulum", "A", "0.0,0.5", 0)]
)
def test_warnings_of_runs_are_counted_and_one_is_shown(model: str, joint: str, starts: str, warned: int) -> None:
    result = fmumbs("sweep", model, "--grid", f"{joint}.q={starts}", *HERE)
    assert result.exit_code == 0, result.output
    assert ("warning: " in result.output) == bool(warned)
    if warned:
        assert f"in {warned} runs, such as: Model 'four_bar': loops and couplings changed" in result.output


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.1:1000:5:log", [0.1, 1.0, 10.0, 100.0, 1000.0]), ("1:3:3", [1, 2, 3]), ("1:2:3", [1.0, 1.5, 2.0]),
        ("1.0:3:3", [1.0, 2.0, 3.0]), ("4", [4]), ("a,True,2", ["a", True, 2]), ("-2:2:2", [-2, 2]),
    ],
)  # fmt: skip
def test_grids_are_read(text: str, values: list[object]) -> None:
    from fmumbs.cli.sweeping import parse_grid

    found = parse_grid(None, None, (f"x={text}",))["x"]
    assert found == pytest.approx(values) if isinstance(values[0], float) else found == values
    assert [type(value) for value in found] == [type(value) for value in values]


def test_failed_runs_end_with_1_and_the_first_error() -> None:
    result = fmumbs("sweep", "four_bar", "--grid", "crank=0.1,0.9,-1", *HERE)
    assert result.exit_code == 1
    assert "2 of 3 runs, such as run 1: " in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing is varied"),
        (["--grid", "length"], "is not NAME=LOW:HIGH:COUNT"),
        (["--grid", "length=1:2"], "Add the number of values"),
        (["--grid", "length=1:2:0"], "0 values for 'length'"),
        (["--grid", "length=1:2:1.5"], "give a whole number"),
        (["--grid", "length=1:2:1_0"], "give a whole number"),
        (["--grid", "length=1:2_000:3"], "'2_000' for 'length' is not a number"),
        (["--sample", "\u00b2:latin"], "is not N:METHOD"),
        (["--grid", "length=2:1:3"], "goes from 2 to 1. Give the smaller one first"),
        (["--grid", "length=0:1:3:log"], "has no logarithm"),
        (["--grid", "length=100mm:200mm:3"], "in the variable's unit, without the unit"),
        (["--grid", "length=1:inf:3"], "is not finite"),
        (["--grid", "length=1,2", "--grid", "length=3"], "'length' is given twice"),
        (["--grid", "lenght=1,2"], "nearest name is 'length'"),
        (["--range", "length=1:2"], "needs a sample"),
        (["--range", "length=1:2:3", "--sample", "4"], "is not NAME=LOW:HIGH"),
        (["--sample", "0:latin"], "is not N:METHOD"),
        (["--sample", "9:latine"], "METHOD one of latin, halton, random"),
        (["--grid", "length=1,2", "--scheduler", "tcp://x:1"], "Give one"),
    ],
)
def test_wrong_use_is_told(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = fmumbs("sweep", "pendulum", *arguments, *HERE)
    assert result.exit_code in (1, 2)
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []
