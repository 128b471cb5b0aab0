"""Two results in one page, curves over other variables, traces of points, and what the page saves, in Chromium."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import fmumbs as fm
from fmumbs.readers import read_model
from support.browser import CHROMIUM, Browser, chromium
from support.commands import fmumbs

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt install chromium")
SINGLE = 1e-6  # series and poses of long recordings have single precision


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as one:
        yield one


def run(torque: float, lower: float = 0.8) -> fm.Result:
    model = read_model("double_pendulum", {"lower": lower})
    return fm.simulate(fm.compile(model, everything=True), stop=2, inputs={"A.tau": torque})


@pytest.fixture(scope="module")
def results() -> tuple[fm.Result, fm.Result]:
    return run(0.0), run(3.0, lower=0.5)


@pytest.fixture(scope="module")
def both(browser: Browser, results: tuple[fm.Result, fm.Result], tmp_path_factory: pytest.TempPathFactory) -> Browser:
    view = results[0].view(results[1])
    browser.open(view.save(tmp_path_factory.mktemp("both") / "both.html"))
    assert browser.errors == []
    return browser


def test_the_ghost_is_where_the_second_result_says(both: Browser, results: tuple[fm.Result, fm.Result]) -> None:
    for i in (0, 110, 200):
        both.ask(f"page.seek({float(results[0].time[i])})")
        for picture, result in (("page.picture", results[0]), ("page.ghost.picture", results[1])):
            for b, name in enumerate(both.ask(f"{picture}.bodies.map((one) => one.name)")):
                found = both.ask(f"{picture}.position({b}).toArray()")
                assert np.allclose(found, result[f"{name}.r"][i], rtol=0, atol=SINGLE)
    assert "the second result" in both.ask("document.getElementById('legend').textContent")
    # its bodies are grey and let others through
    sets = "[...page.ghost.picture.things.sets.values()]"
    assert both.ask(f"{sets}.every((set) => set.mesh.material.transparent && set.mesh.parent === page.picture.world)")
    assert both.ask(f"new Set({sets}.flatMap((set) => set.items.map((item) => item.colour))).size") == 1


def test_curves_of_both_results_stand_side_by_side(both: Browser, results: tuple[fm.Result, fm.Result]) -> None:
    both.ask("page.seek(1.1)")
    title, text = both.ask("[page.plots[0].title, page.plots[0].value.textContent]")
    values = [float(part) for part in text.removesuffix(" rad").split(",")]
    assert values == pytest.approx([result[title][110] for result in results], rel=1e-3)
    assert both.ask("page.plots[0].curves.map((one) => Boolean(one.beside))") == [False, True]


def test_a_variable_over_another_one(both: Browser, results: tuple[fm.Result, fm.Result]) -> None:
    before = both.ask("page.plots.length")
    for field, text in (("against", "B.q"), ("add", "A.qd")):
        both.ask(f"document.getElementById('{field}').focus()")
        both.call("Input.insertText", text=text)
        both.key("Enter")
    assert both.ask("page.plots.length") == before + 1
    plot = f"page.plots[{before}]"
    assert both.ask(f"{plot}.title") == "A.qd over B.q"
    x, y = both.ask(f"[Array.from({plot}.curves[0].x()), Array.from({plot}.curves[0].y())]")
    assert np.allclose(x, results[0]["B.q"], atol=SINGLE) and np.allclose(y, results[0]["A.qd"], atol=SINGLE * 10)
    # a click at a point of the curve goes to its time
    both.ask(f"{plot}.figure.scrollIntoView()")
    i = int(np.argmax(results[0]["A.qd"]))
    at = f"[{plot}.x({x[i]}), {plot}.y({y[i]})]"
    left, top = both.ask(f"(({{ left, top }}) => [left, top])({plot}.canvas.getBoundingClientRect())")
    px, py = both.ask(at)
    both.drag((left + px, top + py))
    assert abs(both.ask("page.time") - results[0].time[i]) < 0.05
    both.ask(f"{plot}.figure.querySelector('button').click(); document.getElementById('against').value = ''")
    assert both.ask("page.plots.length") == before


def test_the_trace_of_a_point(both: Browser, results: tuple[fm.Result, fm.Result]) -> None:
    both.ask(
        "(() => { const s = document.getElementById('trace'); s.value = 'lower';"
        "s.dispatchEvent(new Event('change')); })()"
    )
    lines = "page.traces.lines.get('lower').lines"
    first, second = both.ask(f"{lines}.map((one) => Array.from(one.geometry.attributes.position.array))")
    for points, result in ((first, results[0]), (second, results[1])):
        R = np.array([fm.Rotation.quaternion(*q).matrix for q in result["lower.quat"]])
        com = np.array(result.motion.image.scene.bodies[1].com)
        assert np.allclose(np.reshape(points, (-1, 3)), result["lower.r"] + R @ com, atol=1e-5)
    both.drag(both.centre("#traced button"))
    assert both.ask("page.traces.lines.size === 0 && document.querySelectorAll('#traced button').length === 0")


def test_the_page_saves_curves_a_picture_and_a_film(
    both: Browser, results: tuple[fm.Result, fm.Result], tmp_path: Path
) -> None:
    text = both.saved("#save-csv", "double_pendulum-curves.csv", tmp_path).read_text()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 201
    for name in ("A.q", "lower.r[1]"):
        expected = results[0][name] if name == "A.q" else results[0]["lower.r"][:, 0]
        assert np.allclose([float(row[name]) for row in rows], expected, atol=1e-5)
    picture = Image.open(both.saved("#save-png", "double_pendulum.png", tmp_path))
    assert picture.size == tuple(both.ask("[page.renderer.domElement.width, page.renderer.domElement.height]"))
    assert len(np.unique(np.asarray(picture.convert("RGB")).reshape(-1, 3), axis=0)) > 100
    both.ask("page.setSpeed(5)")
    film = both.saved("#save-webm", "double_pendulum.webm", tmp_path).read_bytes()
    assert film[:4] == b"\x1a\x45\xdf\xa3" and len(film) > 5000  # EBML
    assert both.ask("page.time === 2 && !page.playing && page.film === null")
    assert both.errors == []


def test_the_command_compares(tmp_path: Path) -> None:
    for name, torque in (("a", 0.0), ("b", 2.0)):
        run(torque).save(tmp_path / f"{name}.csv")
    for target in (("double_pendulum", "--stop", "1"), (str(tmp_path / "a.csv"), "--model", "double_pendulum")):
        out = tmp_path / "page.html"
        found = fmumbs("view", *target, "--compare", str(tmp_path / "b.csv"), "-o", str(out))
        assert found.exit_code == 0, found.output
        assert '"name":"b.csv"' in out.read_text()


def test_a_second_result_without_coordinates_is_refused() -> None:
    second = fm.simulate(read_model("engine", {}), stop=0.1)
    second = fm.Result(second.name, second.time, {}, {})
    with pytest.raises(fm.SolverError, match="has no coordinates"):
        run(0.0).view(second)
