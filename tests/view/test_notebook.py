"""What a notebook shows of a Model and a Result: tables, pictures, the page; and which keys it completes."""

from html.parser import HTMLParser

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.readers import read_model
from fmumbs.view import notebook


class _Read(HTMLParser):
    """Cells by rows, and whether every tag is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.sources: dict[str, str] = {}
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if "src" in given or "srcdoc" in given:
            self.sources[tag] = given.get("src") or given.get("srcdoc") or ""
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self.open[-1] in ("th", "td"):
            self.rows[-1][-1] += data


def test_a_model_shows_its_joints_bodies_mobility_and_picture() -> None:
    shown = _Read(read_model("four_bar")._repr_html_())
    assert "".join(shown.texts).startswith("four_bar: 3 bodies, 4 joints, 1 loop, mobility 1")
    assert shown.rows == [
        ["joint", "", "from", "to", "free", "mass [kg]"],
        ["A", "revolute", "ground", "crank", "1", "0.3"],
        ["B", "revolute", "crank", "coupler", "1", "0.8"],
        ["D", "revolute", "ground", "rocker", "1", "0.6"],
        ["C", "revolute", "coupler", "rocker", "1", ""],
    ]
    assert shown.sources["img"].startswith("data:image/png;base64,")


def test_a_model_that_is_not_complete_says_why() -> None:
    model = fm.Model("half")
    assert "half: empty" in "".join(_Read(model._repr_html_()).texts)
    model.add(fm.Body.rod("rod", length=1.0, mass=2.0))
    shown = _Read(model._repr_html_())
    assert shown.rows[1] == ["", "no joint", "", "rod", "", "2"] and not shown.sources
    assert "Not complete: Model 'half'" in "".join(shown.texts)


def test_a_model_that_cannot_start_says_why() -> None:
    model = fm.Model("apart")
    a, b = (fm.Body.rod(name, length=1.0, mass=1.0) for name in "ab")
    model.add(a, fm.Revolute("A", model.ground.at(), a.base, axis="y"))
    model.add(b, fm.Revolute("B", a.tip, b.base, axis="y"), fm.Revolute("C", b.tip, model.ground.at(9, 0, 0), axis="y"))
    shown = _Read(model._repr_html_())
    assert "It does not start: " in "".join(shown.texts) and len(shown.rows) == 4


def test_programs_show_no_parts_of_their_own() -> None:
    rows = _Read(read_model("manipulator5")._repr_html_()).rows
    assert [row[0] for row in rows[1:]] == ["stand_base", "turret", "shoulder", "elbow", "reach", "lift"]


def test_a_result_shows_its_variables_and_the_motion() -> None:
    result = read_model("pendulum").simulate(stop=1.0, interval=0.1)
    shown = _Read(result._repr_html_())
    assert "".join(shown.texts).startswith(f"pendulum: 11 times to 1 s, {len(result)} variables")
    header, *rows = shown.rows
    assert header == ["variable", "unit", "start", "end", "min", "max"] and [row[0] for row in rows] == result.names
    for name, unit, *numbers in rows:
        values = result[name]
        assert unit == result.units[name]
        assert [float(n) for n in numbers] == pytest.approx(
            [values[0], values[-1], values.min(), values.max()], rel=1e-5, abs=1e-300
        )
    assert shown.sources["iframe"] == result.view().html


def test_a_page_too_large_for_a_notebook_gives_way_to_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    result = read_model("pendulum").simulate(stop=1.0, interval=0.1)
    monkeypatch.setattr(notebook, "_MOST_HTML", 1000)
    shown = _Read(result._repr_html_())
    assert set(shown.sources) == {"img"} and "result.view().open()" in "".join(shown.texts)


def test_a_long_table_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "_MOST_ROWS", 5)
    result = read_model("pendulum").simulate(stop=0.1, interval=0.1)
    shown = _Read(result._repr_html_())
    assert len(shown.rows) == 6 and f"and {len(result) - 5} more" in shown.texts


def test_names_are_text_and_never_markup() -> None:
    """Of files of results, whose names are anything."""
    bad = "<img src=x onerror=alert(1)>"
    result = fm.Result(bad, np.array([0.0, 1.0]), {bad: np.array([1.0, 2.0])}, {bad: "<b>"})
    html = result._repr_html_()
    assert "<img" not in html and html.count("<b>") == 1  # its own
    assert _Read(html).rows[1] == [bad, "<b>", "1", "2", "1", "2"]


def test_a_result_without_times_or_positions_is_a_table() -> None:
    assert not _Read(fm.Result("r", np.zeros(0), {"x": np.zeros(0)}, {})._repr_html_()).sources


def test_keys_complete() -> None:
    """As IPython asks: variables, vectors and elements."""
    model = read_model("manipulator5")
    assert model._ipython_key_completions_() == [element.name for element in model.elements]
    result = model.simulate(stop=0.1, interval=0.1)
    keys = result._ipython_key_completions_()
    assert set(result.names) < set(keys) and len(keys) == len(set(keys))
    assert "turret.reaction.f" in keys and "turret.reaction.f[1]" in keys
    assert all(key in result for key in keys)
