"""A Result: time series by name, in files and pictures."""

import csv
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.run import Result
from support.full_disk import full_disk

TIME = np.array([0.0, 0.5, 1.0])


@pytest.fixture
def result() -> Result:
    values = {"A.q": TIME**2, "b.r[1]": TIME, "b.r[2]": -TIME, "b.r[3]": 0.1 * TIME}
    return Result("arm", TIME, values, {"A.q": "rad", "b.r[1]": "m", "b.r[2]": "m", "b.r[3]": "m"})


def test_series_are_found_by_name(result: Result) -> None:
    assert result["A.q"].tolist() == [0.0, 0.25, 1.0]
    assert result["b.r"].tolist() == np.outer(TIME, [1.0, -1.0, 0.1]).tolist()
    assert result.names == ["A.q", "b.r[1]", "b.r[2]", "b.r[3]"]
    assert "A.q" in result
    assert "A.qd" not in result
    assert repr(result) == "Result('arm', 3 times to 1 s, 4 variables: A.q, b.r)"
    assert "..., q6, q7, ...)" in repr(Result("long", TIME, {f"q{i}": TIME for i in range(9)}, {})).replace("q5", "...")


def test_a_result_is_a_mapping(result: Result) -> None:
    """Of scalars and of the components of vectors; a vector's own name is found too."""
    assert isinstance(result, Mapping)
    assert list(result) == list(result.keys()) == result.names
    assert len(result) == 4
    assert {name: series.tolist() for name, series in result.items()} == {n: result[n].tolist() for n in result}
    assert result.get("b.r").shape == (3, 3)
    assert "b.r" in result
    assert result.get("A.qd") is None
    assert "b" not in result and 3 not in result
    assert dict(result).keys() == set(result.names)
    assert result == result and len({result, Result("arm", TIME, dict(result), {})}) == 2
    assert {**result}["b.r[2]"].tolist() == (-TIME).tolist()


@pytest.mark.parametrize("error", [fm.SolverError, KeyError])
def test_an_unknown_name_is_a_key_error_and_an_fmumbs_error(result: Result, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        result["A.qd"]
    assert str(caught.value) == "the result has no variable 'A.qd'. The nearest name is 'A.q'."


def test_the_message_about_an_unknown_name_has_the_nearest(result: Result) -> None:
    with pytest.raises(fm.SolverError, match=r"the result has no variable 'A\.qd'\. The nearest name is 'A\.q'\."):
        result["A.qd"]


def test_the_nearest_of_very_many_names_is_found_quickly() -> None:
    values = {f"joint_{i}.q": TIME for i in range(100_000)}
    with pytest.raises(fm.SolverError, match=r"nearest name is 'joint_77777\.q'"):
        Result("long", TIME, values, {})["joint_77777.qd"]


def test_a_table_holds_every_digit(result: Result, tmp_path: Path) -> None:
    path = result.save_csv(tmp_path / "arm.csv")
    header, *rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    assert header == ["time", "A.q", "b.r[1]", "b.r[2]", "b.r[3]"]
    assert [[float(cell) for cell in row] for row in rows] == np.column_stack(
        [TIME, result["A.q"], result["b.r"]]
    ).tolist()
    assert [file.name for file in tmp_path.iterdir()] == ["arm.csv"]


def test_a_path_that_cannot_be_written_is_reported(result: Result, tmp_path: Path) -> None:
    with pytest.raises(fm.SolverError, match=r"cannot write '.*arm\.csv': No such file.*Choose another place"):
        result.save_csv(tmp_path / "nowhere" / "arm.csv")


def test_a_pipe_and_a_link_are_written_through(result: Result, tmp_path: Path) -> None:
    """Only plain files are replaced: a table may go to /dev/stdout or another device."""
    plain = result.save_csv(tmp_path / "plain.csv").read_bytes()
    link = tmp_path / "link.csv"
    link.symlink_to("there.csv")
    result.save_csv(link)
    assert link.is_symlink() and (tmp_path / "there.csv").read_bytes() == plain
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(pipe.read_bytes)
        result.save_csv(pipe)
        assert read.result() == plain
    assert pipe.is_fifo()


def test_a_full_disk_leaves_no_partial_picture(result: Result, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    place = tmp_path / "arm.png"
    place.write_bytes(b"earlier")
    with full_disk(), pytest.raises(fm.SolverError, match=r"cannot write '.*arm\.png': .* Choose another place"):
        result.plot("A.q", path=place)
    assert place.read_bytes() == b"earlier"
    assert [path.name for path in tmp_path.iterdir()] == ["arm.png"]


def test_an_unknown_format_of_pictures_is_reported(result: Result, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(fm.SolverError, match=r"arm\.xyz' has an unknown picture format\. Give one of \.\w+, "):
        result.plot("A.q", path=tmp_path / "arm.xyz")


def test_a_picture_is_drawn(result: Result, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "arm.png"
    figure = result.plot("A.q", "b.r", path=path)
    assert [axis.get_ylabel() for axis in figure.axes] == ["A.q [rad]", "b.r [m]"]
    assert [len(axis.lines) for axis in figure.axes] == [1, 3]
    assert [text.get_text() for text in figure.axes[1].get_legend().get_texts()] == ["1", "2", "3"]
    assert path.read_bytes().startswith(b"\x89PNG")


def test_variables_with_the_same_unit_share_axes_with_a_legend() -> None:
    pytest.importorskip("matplotlib")
    units = {"A.q": "rad", "B.q": "rad", "F.f": "N", "b.r[1]": "m", "b.r[2]": "m", "c.r": "m", "n": "", "k": ""}
    figure = Result("arm", TIME, dict.fromkeys(units, TIME), units).plot(
        "A.q", "F.f", "b.r", "B.q", "c.r", "n", "k", show=False
    )
    shown = [(axis.get_ylabel(), len(axis.lines)) for axis in figure.axes]
    assert shown == [("[rad]", 2), ("F.f [N]", 1), ("[m]", 3), ("n", 1), ("k", 1)]
    legends = [[text.get_text() for text in axis.get_legend().get_texts()] for axis in figure.axes if axis.get_legend()]
    assert legends == [["A.q", "B.q"], ["b.r[1]", "b.r[2]", "c.r"]]
    assert figure.axes[-1].get_xlabel() == "time [s]"


def test_a_plot_without_a_file_opens_a_window(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to matplotlib: the test's back end claims to have windows, and the figure that was drawn is shown."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    shown = []
    monkeypatch.setattr("matplotlib.backends.backend_agg.FigureCanvasAgg.required_interactive_framework", "qt")
    monkeypatch.setattr(pyplot, "show", lambda: shown.append(pyplot.gcf()))
    figure = result.plot("A.q", "b.r")
    assert shown == [figure]
    assert [len(axis.lines) for axis in figure.axes] == [1, 3]
    assert result.plot("A.q", show=False).axes
    assert len(shown) == 1
    pyplot.close(figure)


def test_without_a_display_the_message_has_another_way_to_see_a_plot(result: Result, tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    with pytest.warns(UserWarning, match=r"no display .* 'arm'\. Save it with plot\(path='arm\.png'\)"):
        figure = result.plot("A.q")
    assert pyplot.get_fignums() == []
    figure.savefig(tmp_path / "arm.png")
    assert (tmp_path / "arm.png").read_bytes().startswith(b"\x89PNG")


def test_a_notebook_shows_what_a_cell_returns(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr("matplotlib.get_backend", lambda: "module://matplotlib_inline.backend_inline")
    assert len(result.plot("A.q").axes) == 1
    assert pyplot.get_fignums() == []


def test_an_empty_plot_is_refused() -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(fm.SolverError, match="has no variables to plot"):
        Result("empty", TIME, {}, {}).plot()
