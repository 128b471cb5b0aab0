"""The site is built from the sources without a warning, no link in it is dead, and each example has its picture."""

import os
import re
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import gallery
import nbformat
import notebooks
import pytest
import reference
import scripts
from matplotlib.image import imread

import fmumbs as fm
from fmumbs.view.live import CORE
from support.browser import CHROMIUM, PATIENCE, Browser, chromium

ROOT = Path(__file__).parents[1]
JOBS = (
    "crane", "engine", "robot", "quarter_car", "double_wishbone", "furuta_pendulum", "stops", "parameter_study",
    "picture", "wrong_models", "other_platforms", "washing_machine", "stewart_platform", "bicycle", "truck_trailer",
    "delta_robot", "leg", "telescope_fork", "snap_through", "winch_crane", "slung_load",
    "valve_train", "backlash_drive", "wind_turbine", "excavator", "gripper", "bowling", "truck_on_road",
)  # fmt: skip
LONGEST = 60  # lines of the example of a job


class Links(HTMLParser):
    """What a page refers to, and the places in it that can be referred to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" and value:
                self.places.add(value)
            if name in ("href", "src") and value and tag != "link":
                self.targets.append(value)


@pytest.fixture(scope="module")
def site(results_of_examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT)
    warned = [line for line in built.stderr.splitlines() if not line.startswith("INFO")]  # --quiet would hide warnings
    assert (built.returncode, warned) == (0, [])
    return folder


def test_the_site_has_no_dead_link_and_each_picture(site: Path) -> None:
    pages = {page: Links(page) for page in site.rglob("*.html")}
    assert len(pages) > 30
    dead = []
    for page, links in pages.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or page.name == "404.html":
                continue
            to = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            to = to / "index.html" if to.is_dir() else to
            anchor = unquote(parts.fragment)
            if not to.is_file() or (anchor and to in pages and anchor not in pages[to].places):
                dead.append(f"{page.relative_to(site)}: {target}")
    assert dead == []
    overview, shown = Links(site / "examples" / "index.html"), Links(site / "gallery.html")
    for name in scripts.names():
        assert any(target.startswith(f"{name}/") and target.endswith(".png") for target in overview.targets), name
    for name in gallery.names():
        assert f"gallery/{name}.png" in shown.targets
        opacity = imread(site / "gallery" / f"{name}.png")[..., 3]
        assert (opacity > 0.5).mean() > 0.005, f"{name} cannot be seen"


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_search_works_in_a_site_that_was_opened_from_disk(site: Path) -> None:
    """Without a server and without a network."""
    with chromium() as browser:
        browser.open(site / "examples" / "crane.html")
        browser.ask("document.querySelector('.md-search__input').focus()")
        for letter in "backlash":
            browser.key(letter)
        browser.wait("document.querySelectorAll('.md-search-result__item a').length > 0")
        found = browser.ask("[...document.querySelectorAll('.md-search-result__item a')].map((one) => one.href)")
        assert any(one.startswith((site / "forces.html").as_uri()) for one in found)
        assert browser.errors == []


def test_each_job_and_each_mechanism_of_the_gallery_has_its_scene(site: Path) -> None:
    """What all have in common is there once."""
    for name in scripts.names():
        assert f"{name}/scene.html#live" in Links(site / "examples" / f"{name}.html").targets, name
    assert {f"scenes/{name}.html#live" for name in gallery.names()} <= set(Links(site / "gallery.html").targets)
    assert "scenes/double_pendulum.html#live" in Links(site / "index.html").targets
    sizes = [path.stat().st_size for folder in ("scenes", "examples") for path in (site / folder).rglob("*.html")]
    assert max(sizes) < 3_000_000 and sum(sizes) < 60_000_000


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
@pytest.mark.skipif(not CORE.is_file(), reason="no binary for wasm32-wasi: make platforms")
def test_scenes_are_alive_in_a_site_that_was_opened_from_disk(site: Path) -> None:
    """On the first page at once, elsewhere after a click, in place of the picture."""
    with chromium() as browser:
        browser.open(site / "index.html")
        assert in_frame(browser, "document.getElementById('live-run').textContent") == "Back to the recording"
        assert browser.errors == []
        browser.open(site / "gallery.html")
        assert browser.ask("document.querySelectorAll('iframe.scene').length") == 0
        pictures = "document.querySelectorAll('article img').length"
        before = browser.ask(pictures)
        browser.ask("document.querySelector('a.scene[href*=crane]').scrollIntoView({ block: 'center' })")
        browser.drag(browser.centre("a.scene[href*=crane]"))
        browser.wait("document.querySelectorAll('iframe.scene').length === 1")
        assert browser.ask(pictures) == before - 1
        assert in_frame(browser, "document.getElementById('live-run').textContent") == "Back to the recording"
        assert browser.errors == []


def in_frame(browser: Browser, expression: str) -> object:
    """The value of an expression in the scene of a page, once it is alive."""
    end = time.monotonic() + PATIENCE
    found = None
    while time.monotonic() < end:
        frames = browser.call("Page.getFrameTree")["frameTree"].get("childFrames", [])
        for scene in [one["frame"]["id"] for one in frames if "/scenes/" in one["frame"]["url"]]:
            world = browser.call("Page.createIsolatedWorld", frameId=scene)["executionContextId"]
            ask = f"document.querySelector('#live-inputs input, #live-status') && {expression}"
            found = browser.call("Runtime.evaluate", expression=ask, contextId=world)["result"].get("value")
            if found == "Back to the recording":
                return found
        time.sleep(0.1)
    return found


def test_the_reference_has_everything_public(site: Path) -> None:
    places = Links(site / "reference.html").places
    assert set(fm.__all__) <= places
    assert {"Body.rod", "Result.plot", "Solver.step", "Model.add"} <= places


@pytest.mark.parametrize("name", JOBS)
def test_a_job_is_short_and_draws_its_picture(name: str, results_of_examples: Path) -> None:
    assert len((ROOT / "examples" / f"{name}.py").read_text().splitlines()) <= LONGEST
    assert scripts.pictures(name)[0].name == f"{name}.png"
    assert scripts.pictures(name)[0].read_bytes().startswith(b"\x89PNG")
    title, text, _ = scripts.described(name)
    assert 10 < len(title) < 110 < len(text)
    assert scripts.output(name)


def test_every_job_is_in_the_navigation() -> None:
    listed = re.findall(r"examples/(\w+)\.md", (ROOT / "mkdocs.yml").read_text())
    assert sorted(set(listed) - {"index"}) == scripts.names()
    assert set(JOBS) <= set(listed)


@pytest.mark.parametrize("name", notebooks.names())
def test_a_notebook_runs_and_is_stored_without_outputs(name: str, results_of_examples: Path) -> None:
    stored = nbformat.read(ROOT / "examples" / "notebooks" / f"{name}.ipynb", as_version=4)
    nbformat.validate(stored)
    code = [cell for cell in stored.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    ran = [cell for cell in notebooks.executed(name).cells if cell.cell_type == "code"]
    kinds = {kind for cell in ran for one in cell.outputs for kind in (one.get("data") or {"text/plain": ""})}
    assert {"image/png", "text/plain"} <= kinds
    assert [cell.execution_count for cell in ran] == list(range(1, len(code) + 1))


def test_there_are_three_notebooks() -> None:
    assert len(notebooks.names()) >= 3


# The generated pages -----------------------------------------------------------------------------------------


def test_a_docstring_becomes_markdown() -> None:
    text = reference.markdown(
        "A rod.\n\nlength [m]: of it, a*b.\n    More.\nmass: [kg].\n\n>>> fm.Body(1)  # one\n\n    f = k x\n\nEnd <b>."
    )
    assert text == (
        "A rod.\n\n- **length** \\[m\\]: of it, a\\*b. More.\n- **mass**: \\[kg\\].\n\n"
        "```python\nfm.Body(1)  # one\n```\n\n```text\nf = k x\n```\n\nEnd \\<b>."
    )


def test_an_example_that_fails_or_warns_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "EXAMPLES", tmp_path)
    monkeypatch.setenv("FMUMBS_DOCS", str(tmp_path / "results"))
    (tmp_path / "wrong.py").write_text("import warnings\nwarnings.warn('too hot')\n")
    with pytest.raises(RuntimeError, match="too hot"):
        scripts.output("wrong")
    assert list((tmp_path / "results").glob("*")) == [tmp_path / "results" / "wrong.lock"]
