"""What a page shows when it opens, in Chromium: it plays, invites, and its names can be read."""

from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import fmumbs as fm
from fmumbs.readers import read_model
from fmumbs.view.live import CORE
from support.axe import axe_core
from support.browser import CHROMIUM, Browser, chromium

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt install chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return read_model("governor", {}).view(stop=2).save(tmp_path_factory.mktemp("page") / "page.html")


def test_it_opens_playing_unless_the_user_wants_less_motion(browser: Browser, page: Path) -> None:
    browser.open(page, plays=True)
    browser.wait("page.playing && page.time > 0.05")
    browser.open(page)
    assert not browser.ask("page.playing") and browser.ask("page.time") == 0
    assert browser.errors == []


@pytest.mark.skipif(not CORE.is_file(), reason="no binary for wasm32-wasi: make .venv/.browser")
@pytest.mark.parametrize("phone", [False, True])
def test_it_invites_to_move_the_mechanism(phone: bool, browser: Browser, page: Path) -> None:
    browser.open(page, *((390, 844) if phone else (1280, 800)), phone=phone)
    if phone:
        browser.tap("#invite")
    else:
        browser.drag(browser.centre("#invite"))
    browser.wait("page.panel.on && page.playing")
    assert browser.ask("document.getElementById('invite').hidden")
    assert "drag a body" in browser.ask("document.getElementById('live-status').textContent")
    assert browser.errors == []


def test_names_cover_no_other_names(browser: Browser, page: Path) -> None:
    for width, height in ((1280, 800), (390, 844)):
        browser.open(page, width, height)
        browser.ask("document.getElementById('show-names').click()")
        browser.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        boxes = browser.ask(
            "[...document.querySelectorAll('#labels span')].filter((one) => one.style.visibility !== 'hidden')"
            ".map((one) => one.getBoundingClientRect()).map((b) => [b.left, b.right, b.top, b.bottom])"
        )
        assert len(boxes) > 8
        for a, b in combinations(boxes, 2):
            assert not (a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3])


def test_axes_have_letters_and_no_colour_of_a_reaction(browser: Browser, page: Path) -> None:
    browser.open(page)
    letters = browser.ask("[...document.querySelectorAll('#letters span')].map((one) => one.textContent)")
    assert letters == ["x", "y", "z"]
    colours = browser.ask("['unique', 'ambiguous', 'unknown', 'world'].map((one) => modules.picture.COLOURS[one])")
    assert len(set(colours)) == 4
    drawn = "[...page.picture.things.sets.values()].flatMap((set) => set.items)"
    axes = browser.ask(f"{drawn}.filter((item) => item.name.startsWith('world axis')).map((item) => item.colour)")
    assert set(axes) == {colours[3]}


def geared() -> fm.Model:
    """Two small bodies far apart from each other, on gears that reach beyond both."""
    model = fm.Model("geared")
    A, B = (
        fm.Revolute(n, model.ground.at(0, 0, z), fm.Body(n.lower(), mass=1, inertia=(1e-4, 1e-4, 1e-4)).at(), axis="y")
        for n, z in (("A", 0.0), ("B", 1.0))
    )
    model.add(A.M.body, B.M.body, A, B, fm.Coupling.gear("gear", A, B, ratio=-0.25))
    return model


def mast() -> fm.Model:
    """Upright in a plane, so that it is seen from the side."""
    model = fm.Model("mast")
    rod = fm.Body.rod("rod", length=1.0, mass=1.0, along="z")
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y"))
    return model


DRAWN = """[...page.picture.things.sets.values()].flatMap((set) => set.items.flatMap((item, i) => {
    const matrix = new THREE.Matrix4();
    set.mesh.getMatrixAt(i, matrix);
    const faces = [[0.5, 0, 0], [-0.5, 0, 0], [0, 0.5, 0], [0, -0.5, 0], [0, 0, 0.5], [0, 0, -0.5]];
    const seen = (face) => new THREE.Vector3(...face).applyMatrix4(matrix).project(page.camera).toArray();
    return item.body >= 0 ? faces.map(seen) : [];
}))"""


@pytest.mark.parametrize(("width", "height", "phone"), [(1280, 800, False), (700, 420, False), (390, 844, True)])
@pytest.mark.parametrize("make", [geared, mast])
def test_the_whole_mechanism_is_seen_beside_the_tools(
    make: Callable[[], fm.Model], width: int, height: int, phone: bool, browser: Browser, tmp_path: Path
) -> None:
    """Whatever is drawn of bodies and gears, at several instants."""
    browser.open(make().view(stop=2).save(tmp_path / "page.html"), width, height, phone=phone)
    stage, tools = browser.ask(
        "['stage', 'tools'].map((id) => document.getElementById(id).getBoundingClientRect())"
        ".map((b) => [b.left, b.right, b.top, b.bottom])"
    )
    for t in (0.0, 0.7, 1.3, 2.0):
        browser.ask(f"page.seek({t})")
        places = browser.ask(DRAWN)
        assert len(places) > 3
        for x, y, _ in places:
            right = stage[0] + (1 + x) / 2 * (stage[1] - stage[0])
            down = stage[2] + (1 - y) / 2 * (stage[3] - stage[2])
            assert stage[0] < right < stage[1] and stage[2] < down < stage[3]
            assert down > tools[3] if tools[3] < (stage[2] + stage[3]) / 2 else down < tools[2]


VIOLATIONS = """axe.run().then((found) => found.violations.map((one) =>
    `${one.id}: ${one.help}: ${one.nodes.map((node) => node.html.slice(0, 100)).join(" ")}`))"""


@pytest.mark.parametrize("phone", [False, True])
def test_axe_core_finds_nothing(phone: bool, browser: Browser, page: Path) -> None:
    """In light and dark, with all that can be opened open, before and after the mechanism is live."""
    source = axe_core()
    if source is None:
        pytest.skip("npm cannot fetch axe-core")
    browser.open(page, *((390, 844) if phone else (1280, 800)), phone=phone)
    browser.ask(f"{source}; 0")
    if phone:
        browser.tap("#panel")
    browser.ask("page.traces.toggle(page.picture.bodies[1].name); document.getElementById('help').click()")
    for dark in (False, True):
        browser.ask(f"page.setTheme({str(dark).lower()})")
        assert browser.ask(VIOLATIONS) == []
    if CORE.is_file():
        browser.ask("document.getElementById('live-run').click()")
        browser.wait("page.panel.on && page.source.times.length > 5")
        browser.ask("page.play(false); document.getElementById('live-more').open = true")
        assert browser.ask(VIOLATIONS) == []


def test_faces_that_coincide_do_not_flicker(browser: Browser, tmp_path: Path) -> None:
    """Two boxes of one depth, the narrow one in the wide one: all of the narrow one's front has its own colour."""
    model = fm.Model("nested")
    wide, narrow = (fm.Body.box(n, size=(w, 0.3, w), mass=1.0) for n, w in (("wide", 1.0), ("narrow", 0.6)))
    model.add(wide, narrow, fm.Prismatic("A", model.ground.at(), wide.at(), axis="x"))
    model.add(fm.Prismatic("B", wide.at(), narrow.at(), axis="x"))
    browser.open(model.view(stop=0).save(tmp_path / "page.html"), 800, 600)
    for box in ("show-forces", "show-joints", "show-floor"):
        browser.ask(f"document.getElementById('{box}').checked && document.getElementById('{box}').click()")
    browser.ask("page.orbit.from([0.3, -1, 0.2])")
    browser.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    with Image.open(BytesIO(browser.screenshot())) as shown:
        pixels = np.asarray(shown.convert("RGB"), dtype=np.int64)
    browser_box = "document.getElementById('picture').getBoundingClientRect()"
    x, y = browser.ask(
        "((v, b) => [b.left + (1 + v.x) / 2 * b.width, b.top + (1 - v.y) / 2 * b.height])"
        f"(new THREE.Vector3(0.3, -0.15, 0).project(page.camera), {browser_box})"
    )
    front = pixels[round(y) - 60 : round(y) + 60, round(x) - 55 : round(x) + 55].reshape(-1, 3)
    assert np.ptp(front, axis=0).max() < 12  # light alone
