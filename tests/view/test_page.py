"""The page in headless Chromium, opened as a file, without a network: it draws, plays, follows, and logs no error."""

import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image

import fmumbs as fm
from fmumbs.readers import read_model
from fmumbs.view import View
from support.browser import CHROMIUM, PATIENCE, Browser, chromium
from support.drawn_things import everything

pytest.importorskip("websockets")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt install chromium")

Array = np.ndarray[Any, np.dtype[np.float64]]
EXACT = 1e-9  # [m]: a recording of few bodies has double precision


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as one:
        yield one


def opened(browser: Browser, view: View, folder: Path) -> None:
    browser.open(view.save(folder / "scene.html"))
    assert browser.errors == []
    drawn(browser)


def drawn(browser: Browser) -> Array:
    """(height, width, 3) what is on the screen once the page has drawn its present state."""
    browser.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return np.asarray(Image.open(io.BytesIO(browser.screenshot())).convert("RGB"), float)


def plain(browser: Browser) -> None:
    """Without joints, forces and floor, which may hide bodies."""
    for what in ("joints", "forces", "floor"):
        browser.ask(f"document.getElementById('show-{what}').checked && document.getElementById('show-{what}').click()")


def placed(browser: Browser) -> Array:
    """(bodies, 7) what the page draws."""
    state = browser.ask("({r: [...page.picture.state.r], q: [...page.picture.state.q]})")
    return np.hstack([np.reshape(state["r"], (-1, 3)), np.reshape(state["q"], (-1, 4))])


@pytest.fixture
def pendulum(browser: Browser, tmp_path: Path) -> Browser:
    """Opened for each test: others of this browser's tests go to pages of their own."""
    opened(browser, read_model("double_pendulum", {}).view(stop=2), tmp_path)
    return browser


def test_a_body_stands_where_the_solver_says(pendulum: Browser) -> None:
    solver = fm.Solver(read_model("double_pendulum", {}))
    solver.assemble()
    names = pendulum.ask("page.picture.bodies.map((body) => body.name)")
    for t in (0.0, 0.73, 2.0):
        if t:
            solver.step(t)
        pendulum.ask(f"page.seek({t})")
        found = placed(pendulum)
        assert_allclose(found[:, :3], [solver.get(f"{name}.r") for name in names], rtol=0, atol=1e-6)  # its tolerance
    result = fm.simulate(fm.compile(read_model("double_pendulum", {}), everything=True), stop=2)
    for i in (0, 57, 200):
        pendulum.ask(f"page.seek({float(result.time[i])!r})")
        found = placed(pendulum)
        for b, name in enumerate(names):
            assert_allclose(found[b, :3], result[f"{name}.r"][i], rtol=0, atol=EXACT)
            assert abs(found[b, 3:] @ result[f"{name}.quat"][i]) == pytest.approx(1.0, abs=EXACT)
            there = pendulum.ask(f"page.picture.inWorld({b}, [0.3, 0.2, 0.1]).toArray()")
            turned = fm.Rotation.quaternion(*result[f"{name}.quat"][i]) @ [0.3, 0.2, 0.1]
            assert_allclose(there, result[f"{name}.r"][i] + turned, rtol=0, atol=EXACT)


def test_a_body_is_drawn_at_the_pixels_where_the_camera_sees_it(pendulum: Browser) -> None:
    plain(pendulum)
    for t in (0.0, 0.9):
        pendulum.ask(f"page.seek({t})")
        pixels = drawn(pendulum)
        for b in range(2):
            x, y = pendulum.ask(f"page.project(page.picture.centre({b}))")
            shade = np.array(pendulum.ask(f"new THREE.Color(page.picture.colour({b})).toArray()"))
            there = pixels[round(y), round(x)] / 255.0
            background = pixels[5, 5] / 255.0
            assert np.abs(there - background).max() > 0.2, (t, b)
            assert np.argmax(there) == np.argmax(shade)  # the body's own hue
    assert pendulum.errors == []


def test_between_instants_a_body_keeps_its_size(browser: Browser, tmp_path: Path) -> None:
    """Quaternions that are mixed have not the length one."""
    model = fm.Model("spinning")
    top = fm.Body("top", mass=1.0, inertia=(1, 1, 1))
    model.add(top, fm.Revolute("R", model.ground.at(), top.at(), axis="y", u0=2.0))
    browser.open(fm.simulate(model, stop=2.0, interval=1.0).view().save(tmp_path / "page.html"))
    browser.ask("page.seek(0.5)")
    q = np.array(browser.ask("[...page.recording.state.q]"))
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-12)
    assert abs(q @ [np.cos(0.5), 0.0, np.sin(0.5), 0.0]) == pytest.approx(1.0, abs=1e-9)


def test_it_draws_in_light_and_dark(pendulum: Browser) -> None:
    pendulum.ask("page.setTheme(false)")
    light = drawn(pendulum)
    pendulum.ask("page.setTheme(true)")
    dark = drawn(pendulum)
    assert light.mean() > 180
    assert dark.mean() < 80
    assert len(np.unique(light.reshape(-1, 3), axis=0)) > 100
    pendulum.ask("page.setTheme(false)")


def test_it_plays_pauses_and_repeats(pendulum: Browser) -> None:
    pendulum.ask("page.seek(0)")
    before = placed(pendulum)
    pendulum.key(" ")
    pendulum.wait("page.playing && page.time > 0.05")
    assert np.abs(placed(pendulum) - before).max() > 1e-3
    assert float(pendulum.ask("document.getElementById('slider').value")) > 0
    pendulum.ask("page.seek(1.99)")
    pendulum.wait("page.time < 1")  # started again
    pendulum.key(" ")
    assert not pendulum.ask("page.playing")
    stopped = pendulum.ask("page.time")
    drawn(pendulum)
    assert pendulum.ask("page.time") == stopped
    pendulum.key("End")
    assert pendulum.ask("page.time") == 2
    pendulum.key("ArrowLeft")
    assert pendulum.ask("page.time") == pytest.approx(1.99)


def test_a_control_with_the_focus_has_its_own_keys(pendulum: Browser) -> None:
    """A checkbox and a button take the space; a field all that is typed; the slider of the time moves the time."""
    pendulum.ask("page.play(false); page.seek(1)")
    pendulum.ask("document.getElementById('show-names').focus()")
    pendulum.key(" ")
    assert pendulum.ask("document.getElementById('show-names').checked && !page.playing")
    pendulum.key("ArrowRight")
    assert pendulum.ask("page.time") == pytest.approx(1.01)
    pendulum.key(" ")
    assert not pendulum.ask("document.getElementById('show-names').checked || page.playing")
    pendulum.ask("document.getElementById('add').focus()")
    for key in ("l", " ", "Home"):
        pendulum.key(key)
    assert pendulum.ask("[document.getElementById('add').value, page.playing, page.time]") == ["l ", False, 1.01]
    assert pendulum.ask("document.getElementById('loop').checked")
    pendulum.ask("document.getElementById('add').value = ''; document.getElementById('slider').focus()")
    pendulum.key("Home")
    assert pendulum.ask("page.time") == 0
    pendulum.ask("document.getElementById('panel').focus()")
    pendulum.key(" ")
    assert pendulum.ask("document.body.classList.contains('narrow') && !page.playing")
    pendulum.key("Enter")
    assert not pendulum.ask("document.body.classList.contains('narrow')")
    pendulum.ask("document.activeElement.blur()")


def test_all_is_in_reach_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    """390 by 844: the panel opens below the picture; a finger turns it, two zoom; nothing is beyond the edges."""
    browser.open(read_model("double_pendulum", {}).view(stop=2).save(tmp_path / "phone.html"), 390, 844, phone=True)
    drawn(browser)
    names = ["play", "slider", "time", "speed", "loop", "fit", "panel", "help", "show-names"]
    inside = (
        "((names) => names.filter((id) => { const b = document.getElementById(id).getBoundingClientRect();"
        "return !(b.width > 0 && b.left >= 0 && b.right <= innerWidth && b.top >= 0 && b.bottom <= innerHeight); }))"
    )
    assert browser.ask(f"{inside}({names})") == []
    assert browser.ask("document.getElementById('side').getBoundingClientRect().height") == 0
    tall = browser.ask("document.getElementById('stage').clientHeight")
    browser.tap("#panel")
    browser.wait("document.getElementById('side').getBoundingClientRect().height > 200")
    assert browser.ask(f"{inside}({[*names, 'side', 'follow']})") == []
    assert 200 < browser.ask("document.getElementById('stage').clientHeight") < tall - 200
    assert browser.ask("document.getElementById('side').contains(document.getElementById('legend'))")
    assert browser.ask("document.querySelector('#legend').getBoundingClientRect().width") > 100
    assert browser.ask("document.documentElement.scrollWidth") == 390
    x, y = browser.centre("#stage")
    angle, distance = browser.ask("[page.orbit.azimuth, page.orbit.distance]")
    browser.touch([(x - 40 + 10 * i, y) for i in range(9)])
    assert browser.ask("page.orbit.azimuth") == pytest.approx(angle - 0.64, abs=0.1)
    browser.touch([(x - 20 - 5 * i, y) for i in range(9)], [(x + 20 + 5 * i, y) for i in range(9)])
    assert browser.ask("page.orbit.distance") == pytest.approx(distance / 3, rel=0.1)
    browser.tap("#play")
    browser.wait("page.playing")
    browser.tap("#panel")
    browser.wait("document.getElementById('side').getBoundingClientRect().height === 0")
    assert browser.errors == []
    browser.open(tmp_path / "phone.html")
    assert browser.ask("document.getElementById('stage').contains(document.getElementById('legend'))")
    assert browser.ask("document.getElementById('side').getBoundingClientRect().width") > 300


@pytest.mark.parametrize("name", ["slider_crank", "flexible_four_bar"])
def test_gravity_is_in_the_picture_of_a_phone(name: str, browser: Browser, tmp_path: Path) -> None:
    """Its arrow stands inside the sphere that is fitted into the narrow window."""
    browser.open(read_model(name, {}).view(stop=0).save(tmp_path / "phone.html"), 390, 844, phone=True)
    drawn(browser)
    x, y = browser.ask("page.project(page.picture.gravityAt)")
    wide, high = (browser.ask(f"document.getElementById('stage').client{size}") for size in ("Width", "Height"))
    assert 8 < x < wide - 8 and 0 < y < high


def test_the_slider_and_a_plot_go_to_a_time(pendulum: Browser) -> None:
    pendulum.ask(
        "(() => { const s = document.getElementById('slider'); s.value = 1.5; s.dispatchEvent(new Event('input')); })()"
    )
    assert pendulum.ask("page.time") == 1.5
    assert pendulum.ask("document.getElementById('time').textContent").startswith("1.5")
    box = pendulum.ask(
        "((b) => [b.left, b.right, b.top])(document.querySelector('figure canvas').getBoundingClientRect())"
    )
    for kind, buttons in (("mousePressed", 1), ("mouseReleased", 0)):
        x, y = (box[0] + box[1]) / 2, box[2] + 40
        pendulum.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons, clickCount=1)
    assert 0.7 < pendulum.ask("page.time") < 1.1


def test_plots_show_the_values_of_the_result(pendulum: Browser) -> None:
    result = fm.simulate(read_model("double_pendulum", {}), stop=2)
    pendulum.ask("page.seek(1)")
    found = pendulum.ask("page.plots.map((plot) => [plot.title, plot.value.textContent])")
    assert [title for title, _ in found] == ["A.q", "B.q"]
    for title, text in found:
        value, unit = text.split()
        assert unit == "rad"
        assert float(value) == pytest.approx(result[title][100], rel=1e-3)


def test_the_camera_follows_a_body(pendulum: Browser) -> None:
    pendulum.ask("page.seek(0); page.follow(1)")
    first = pendulum.ask("page.project(page.picture.centre(1))")
    pendulum.ask("page.seek(1.3)")
    assert_allclose(pendulum.ask("page.project(page.picture.centre(1))"), first, atol=1e-6)
    assert pendulum.ask("page.picture.trail.visible")
    pendulum.ask("page.follow(-1)")
    assert not pendulum.ask("page.picture.trail.visible")


def test_dragging_turns_and_the_wheel_zooms(pendulum: Browser) -> None:
    pendulum.ask("page.fit()")
    angle, distance = pendulum.ask("[page.orbit.azimuth, page.orbit.distance]")
    for kind, x, buttons in (("mousePressed", 300, 1), ("mouseMoved", 380, 1), ("mouseReleased", 380, 0)):
        pendulum.call("Input.dispatchMouseEvent", type=kind, x=x, y=500, button="left", buttons=buttons, clickCount=1)
    assert pendulum.ask("page.orbit.azimuth") == pytest.approx(angle - 0.64, abs=0.05)
    pendulum.call("Input.dispatchMouseEvent", type="mouseWheel", x=300, y=500, deltaX=0, deltaY=100)
    pendulum.wait(f"page.orbit.distance > {distance}")
    for key in "123":
        pendulum.key(key)
    assert pendulum.ask("page.orbit.height") == pytest.approx(np.pi / 2)
    assert pendulum.errors == []


def test_reactions_are_green_where_unique_and_red_where_not(browser: Browser, tmp_path: Path) -> None:
    for name, verdicts in (("double_pendulum", {True}), ("engine", {False})):
        model = read_model(name, {})
        opened(browser, model.view(stop=0), tmp_path)
        found = browser.ask("page.data.forces.map((one) => [page.picture.joints[one.index].name, one.unique])")
        unique = {joint.joint: all(joint.components_unique[:3]) for joint in fm.uniqueness(model).joints}
        assert {verdict for _, verdict in found} == verdicts
        assert all(unique[joint] == verdict for joint, verdict in found)
        texts = browser.ask("document.getElementById('legend').textContent")
        assert ("not unique" in texts) == (False in verdicts)


def test_every_kind_of_thing_is_drawn(browser: Browser, tmp_path: Path) -> None:
    opened(browser, everything().view(stop=0.2), tmp_path)
    kinds = browser.ask("[...new Set([...page.picture.things.sets.values()].map((set) => set.geometry))]")
    assert set(kinds) == {"box", "cylinder", "ellipsoid", "cone", "coil", "foot", "plane"}
    assert browser.ask("Object.values(page.picture.state.modal).map((q) => q.length)") == [2]
    matrices = "[...page.picture.things.sets.values()].flatMap((set) => [...set.mesh.instanceMatrix.array])"
    assert browser.ask(f"{matrices}.every(Number.isFinite)")
    assert browser.errors == []


@pytest.mark.parametrize("size", [1e-3, 100.0])
def test_a_mechanism_of_any_size_fills_the_view(browser: Browser, tmp_path: Path, size: float) -> None:
    model = fm.Model("sized")
    rod = fm.Body.rod("rod", length=size, mass=1.0, radius=0.05 * size)
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y"))
    opened(browser, model.view(stop=0), tmp_path)
    ends = browser.ask(f"[[0, 0, 0], [{size}, 0, 0]].map((p) => page.project(new THREE.Vector3(...p)))")
    height = browser.ask("document.getElementById('stage').clientHeight")
    assert 0.2 * height < np.linalg.norm(np.subtract(*ends)) < 1.2 * height
    assert ("grid 100 µm" if size < 1 else "grid 10 m") in browser.ask("document.getElementById('legend').textContent")


def test_a_thousand_bodies_are_drawn_in_few_calls(browser: Browser, tmp_path: Path) -> None:
    model = fm.Model("many")
    bodies = [fm.Body.box(f"b{i}", size=(0.1, 0.1, 0.1), mass=1.0) for i in range(1000)]
    model.add(*bodies)
    for i, body in enumerate(bodies):
        model.add(fm.Prismatic(f"j{i}", model.ground.at(0.2 * (i % 32), 0.2 * (i // 32), 0), body.at()))
    opened(browser, model.view(stop=0), tmp_path)
    assert len(drawn(browser)) and browser.ask("page.renderer.info.render.calls") < 40
    assert len(browser.ask("[...page.picture.state.r]")) == 3000
    assert browser.errors == []


def test_what_a_user_wrote_is_text_and_never_markup(browser: Browser, tmp_path: Path) -> None:
    html = everything().view(stop=0).html
    assert html.count("</script>") == 3
    data = html.split('id="data">', 1)[1].split("</script>", 1)[0]
    assert json.loads(data)["name"] == "everything"
    assert not {"<", ">", "&"} & set(data)


def test_loops_that_do_not_close_are_shown_with_the_reason(browser: Browser, tmp_path: Path) -> None:
    model = fm.Model("open")
    A, B = (fm.Body.rod(name, length=1.0, mass=1.0) for name in "AB")
    model.add(A, B, fm.Revolute("P", model.ground.at(), A.base, axis="y"))
    model.add(fm.Revolute("Q", A.tip, B.base, axis="y"), fm.Revolute("R", model.ground.at(5, 0, 0), B.tip, axis="y"))
    with pytest.warns(UserWarning, match="is shown although"):
        view = model.view()
    assert isinstance(view.failure, fm.AssemblyError)
    opened(browser, view, tmp_path)
    assert "cannot close" in browser.ask("document.getElementById('note').textContent")
    assert browser.ask("document.getElementById('play').disabled")


def test_a_notebook_shows_the_page(browser: Browser, tmp_path: Path) -> None:
    view = read_model("pendulum", {}).view(stop=0.1)
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!DOCTYPE html><meta charset='utf-8'><body>{view._repr_html_()}", encoding="utf-8")
    browser.open(cell)
    browser.wait("document.querySelector('iframe') !== null")
    end = time.monotonic() + PATIENCE
    while len(np.unique(drawn(browser).reshape(-1, 3), axis=0)) <= 50:  # more colours than a blank frame has
        assert time.monotonic() < end, "the frame stays blank"
    assert browser.errors == []


def test_a_mesh_is_drawn_where_its_body_is(browser: Browser, tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed: pip install 'fmumbs[mesh]'")
    trimesh.creation.box((200.0, 100.0, 50.0)).export(tmp_path / "link.stl")
    link = fm.Body.from_mesh(tmp_path / "link.stl", scale=1e-3, density=2700.0, color="#20c040", opacity=0.5)
    rod = fm.Body.rod("rod", length=0.3, mass=1.0, radius=0.02, color="#c02020")
    model = fm.Model("meshes")
    model.add(link, rod, fm.Revolute("A", model.ground.at(), link.at(-0.1, 0, 0), axis="y"))
    model.add(fm.Revolute("B", link.at(0.1, 0, 0), rod.base, axis="y"))
    opened(browser, model.view(stop=0.3), tmp_path)
    plain(browser)
    browser.ask("page.seek(0.3)")
    mesh = "page.picture.meshes[0]"
    assert_allclose(browser.ask(f"{mesh}.position.toArray()"), browser.ask("page.picture.position(0).toArray()"))
    assert browser.ask(f"[{mesh}.material.opacity, {mesh}.material.color.getHexString()]") == [0.5, "20c040"]
    box = browser.ask(f"(() => {{ {mesh}.geometry.computeBoundingBox(); return {mesh}.geometry.boundingBox.max; }})()")
    assert_allclose([box[k] for k in "xyz"], (0.1, 0.05, 0.025), atol=1e-6)
    pixels = drawn(browser)
    for b, strongest in ((0, 1), (1, 0)):
        x, y = browser.ask(f"page.project(page.picture.centre({b}))")
        assert np.argmax(pixels[round(y), round(x)]) == strongest
        assert browser.ask(f"page.under({{ clientX: {x}, clientY: {y} }}).body") == b
    assert browser.errors == []
