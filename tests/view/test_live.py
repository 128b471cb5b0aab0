"""The page is alive: in Chromium, from file:// and without a network, the mechanism steps with the native bits."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.readers import read_model
from fmumbs.view import live, view_model
from fmumbs.view.live import CORE
from support.browser import CHROMIUM, Browser, chromium
from support.commands import fmumbs

MODELS = ("double_pendulum", "governor", "flexible_four_bar", "parallelogram_pendulum")
STEPS = 10


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    if not CORE.is_file():
        pytest.skip("no binary for wasm32-wasi: make platforms")
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    return {name: view_model(compiled(name), stop=2.0).save(folder / f"{name}.html") for name in MODELS}


def compiled(name: str) -> ModelImage:
    return compile(read_model(name), everything=True)


def in_page(browser: Browser, body: str) -> Any:
    """What JavaScript returns that has `m`, a Mechanism of the page's image, and its class."""
    return browser.ask(
        "(async () => { const { Mechanism } = modules.live, { inflated } = modules.engine, { live } = page.data;"
        "const core = await inflated(live.core), image = await inflated(live.image);"
        f"const m = await Mechanism.open(core, image); {body} }})()"
    )


def live_page(browser: Browser, path: Path) -> None:
    browser.open(path)
    browser.ask("document.getElementById('live-run').click()")
    browser.wait("page.panel.on && page.source.times.length > 5")


def moved(browser: Browser, name: str, value: float) -> None:
    """Moves a slider as a user does."""
    browser.ask(
        f"(() => {{ const s = document.querySelector(`#live input[type=range][data-name='{name}']`);"
        f"s.value = {value}; s.dispatchEvent(new Event('input')); }})()"
    )


def typed(browser: Browser, name: str, value: float) -> None:
    """Types a number beside a slider, which may be beyond its ends."""
    browser.ask(
        f"(() => {{ const n = document.querySelector(`#live input[type=number][data-name='{name}']`);"
        f"n.value = '{value}'; n.dispatchEvent(new Event('change')); }})()"
    )


# Numbers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_the_page_computes_the_native_bits(name: str, browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages[name])
    found = in_page(
        browser,
        "const all = m.variables.map((v) => v.reference), rows = [Array.from(m.read(all))];"
        f"for (let i = 1; i <= {STEPS}; i++) {{ m.step(i / {STEPS}); rows.push(Array.from(m.read(all))); }}"
        "return { names: m.variables.map((v) => v.name), rows };",
    )
    image = compiled(name)
    solver = fm.Solver(image)
    solver.assemble()
    references = np.arange(len(image.variables), dtype=np.uint32)
    rows = [solver.read(references)]
    for i in range(STEPS):
        solver.step((i + 1) / STEPS)
        rows.append(solver.read(references))
    assert found["names"][: len(references)] == [variable.name for variable in image.variables]
    assert np.array_equal(np.array(found["rows"])[:, : len(references)], rows)  # behind them are pulls, which are zero
    assert browser.errors == []


def test_inputs_states_and_refusals(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["double_pendulum"])
    found = in_page(
        browser,
        "const why = (f) => { try { f(); } catch (error) { return `${error.name}: ${error.message}`; } };"
        "m.step(0.2); m.set('A.tau', 2.0); m.set('lower.mass', 0.5); m.advance(0.3); const kept = m.save();"
        "m.advance(0.5); const ends = [m.time, m.get('A.q'), m.get('B.q')]; m.restore(kept); m.advance(0.5);"
        "const again = [m.time, m.get('A.q'), m.get('B.q')];"
        "const refused = [why(() => m.get('C.q')), why(() => m.set('A.q', 1.0)), why(() => m.set('A.tau', NaN)),"
        "  why(() => m.set('lower.mass', -1.0)), why(() => m.step(0.1)), why(() => m.restore(new Uint8Array(9)))];"
        "refused.push(await Mechanism.open(core, image.slice(0, 500)).catch((error) => error.message));"
        "m.reset({ 'A.q': 0.25 }); return { ends, again, refused, reset: [m.time, m.get('A.q'), m.get('A.tau')] };",
    )
    solver = fm.Solver(compiled("double_pendulum"))
    solver.assemble()
    solver.step(0.2)
    solver.set("A.tau", 2.0)
    solver.set("lower.mass", 0.5)
    solver.step(0.5)
    solver.step(1.0)
    assert found["ends"] == found["again"] == [1.0, solver.get("A.q"), solver.get("B.q")]
    says = ("no variable 'C.q'", "A.q is neither", "finite number", "at least 0", "not before", "state", "damaged")
    for message, part in zip(found["refused"], says, strict=True):
        assert part in message
    assert found["reset"] == [0.0, 0.25, 0.0]
    assert browser.errors == []


# The page ----------------------------------------------------------------------------------------------------


def test_a_slider_steers_the_motion(browser: Browser, pages: dict[str, Path]) -> None:
    live_page(browser, pages["double_pendulum"])
    browser.ask("page.play(false)")
    # without a hand on it, it moves as recorded
    apart = (
        "(() => { const of = (s) => Array.from(s.at(t).r), t = Math.min(page.panel.motion.end, page.recording.end);"
        "const a = of(page.panel.motion), b = of(page.recording);"
        "return Math.max(...a.map((x, i) => Math.abs(x - b[i]))); })()"
    )
    assert browser.ask(apart) < 1e-3
    moved(browser, "A.tau", 15.0)
    browser.ask("page.play(true)")
    browser.wait("page.panel.motion.end > 1.0")
    browser.ask("page.play(false)")
    assert browser.ask(apart) > 0.05
    value = browser.ask("document.querySelector(`#live input[type=number][data-name='A.tau']`).value")
    assert float(value) == 15.0
    # the page draws where the mechanism is
    browser.ask("page.seek(page.source.end)")
    assert browser.ask("page.time === page.panel.motion.end")
    assert browser.errors == []


def test_a_slider_with_the_focus_has_the_arrow_keys(browser: Browser, pages: dict[str, Path]) -> None:
    live_page(browser, pages["double_pendulum"])
    browser.ask("document.querySelector(`#live input[type=range][data-name='A.tau']`).focus()")
    step = browser.ask("Number(document.activeElement.step)")
    for key, value in (("ArrowRight", step), ("ArrowLeft", 0.0), ("End", None)):
        browser.key(key)
        assert browser.ask("page.playing")
        if value is not None:
            assert browser.ask("Number(document.activeElement.value)") == pytest.approx(value, abs=1e-9)
    most = browser.ask("Number(document.activeElement.max)")
    browser.wait(f"page.panel.changed['A.tau'] === {most}")
    assert browser.errors == []


def test_sliders_of_what_a_user_drives_come_first(browser: Browser, tmp_path: Path) -> None:
    """A crane's hoist before its feet and its flexible boom; a single mode before several."""
    live_page(browser, view_model(compiled("crane"), stop=0.0).save(tmp_path / "crane.html"))
    inputs = browser.ask("page.panel.inputs.map((one) => one.name)")
    assert inputs[:2] == ["hoist.tau[1]", "hoist.tau[2]"]
    parts = ("feet_base", "boom_e1", "feet_1_1")
    firsts = [next(i for i, name in enumerate(inputs) if name.startswith(part)) for part in parts]
    assert firsts == sorted(firsts) and firsts[0] > 1


def test_curves_are_sampled_in_the_time_of_the_model(browser: Browser, pages: dict[str, Path]) -> None:
    """240 times a second as it is seen, however seldom the page draws; poses and values are the native bits' there."""
    live_page(browser, pages["double_pendulum"])
    browser.wait("page.panel.motion.end > 0.5")
    browser.ask("page.play(false)")
    times, values = browser.ask("[Array.from(page.source.times), Array.from(page.panel.motion.values('A.q'))]")
    assert max(np.diff(times)) <= 1.001 / 240
    solver = fm.Solver(compiled("double_pendulum"))
    solver.assemble()
    exact = []
    for t in times:
        if t > 0.0:
            solver.step(t)
        exact.append(solver.get("A.q"))
    assert np.abs(np.subtract(values, exact)).max() < 1e-12
    frame = "page.panel.engine.call('advance', 0.1, 0.01, 1e9, [])"
    then = f".then(() => {frame}).then(({{ frames }}) => frames.map((one) => one.time))"
    found = browser.ask(f"page.panel.engine.call('reset', {{}}, []){then}")
    assert found == pytest.approx([0.01 * k for k in range(1, 11)], abs=1e-15)


def test_reset_takes_back_the_inputs_and_keeps_the_parameters(browser: Browser, pages: dict[str, Path]) -> None:
    """What drove it into a failure is gone, or Reset would fail at once."""
    live_page(browser, pages["double_pendulum"])
    browser.ask("document.getElementById('live-more').open = true")
    browser.wait("Boolean(document.querySelector(`#live input[data-name='lower.mass']`))")
    moved(browser, "lower.mass", 2.0)
    typed(browser, "A.tau", 1e200)
    browser.wait("!page.playing && /failed/.test(document.getElementById('live-status').textContent)")
    browser.ask("document.getElementById('live-reset').click()")
    browser.wait("page.playing && page.source.end > 0.3")
    assert browser.ask("page.panel.changed") == {"lower.mass": 2.0}
    for kind in ("number", "range"):
        assert browser.ask(f"document.querySelector(`#live input[type={kind}][data-name='A.tau']`).value") == "0"
        assert browser.ask(f"document.querySelector(`#live input[type={kind}][data-name='lower.mass']`).value") == "2"
    assert browser.errors == []


def test_it_goes_back_to_the_recording(browser: Browser, pages: dict[str, Path]) -> None:
    live_page(browser, pages["double_pendulum"])
    before = browser.ask("page.plots[0].curves[0].times().length")
    browser.wait(f"page.plots[0].curves[0].times().length > {before}")
    assert browser.ask("page.plots[0].curves[0].y().length === page.panel.motion.times.length")
    browser.ask("document.getElementById('live-run').click()")
    assert browser.ask("page.source === page.recording && !page.playing")
    assert browser.ask("Number(document.getElementById('slider').max)") == 2.0
    assert browser.ask("page.plots[0].curves[0].times().length === page.recording.times.length")
    assert browser.errors == []


def test_a_value_that_is_refused_is_put_back(browser: Browser, pages: dict[str, Path]) -> None:
    live_page(browser, pages["double_pendulum"])
    browser.ask("document.getElementById('live-more').open = true")
    browser.wait("Boolean(document.querySelector(`#live input[data-name='lower.mass']`))")
    typed(browser, "lower.mass", -2)
    browser.wait("document.getElementById('live-status').textContent.includes('must be at least 0')")
    for kind in ("number", "range"):
        assert browser.ask(f"document.querySelector(`#live input[type={kind}][data-name='lower.mass']`).value") == "1"
    assert browser.errors == []


def test_a_step_that_fails_stops_the_page_and_says_why(browser: Browser, pages: dict[str, Path]) -> None:
    live_page(browser, pages["double_pendulum"])
    browser.ask("page.panel.engine.call('set', 'A.tau', 1e200)")
    browser.wait("!page.playing && /failed/.test(document.getElementById('live-status').textContent)")
    browser.ask("document.getElementById('live-reset').click()")
    browser.wait("page.playing && page.source.times.length > 3")
    assert browser.errors == []


def test_without_workers_the_page_steps_itself(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["double_pendulum"])
    browser.ask("delete globalThis.Worker")
    browser.ask("document.getElementById('live-run').click()")
    browser.wait("page.panel.on && page.source.times.length > 5")
    assert browser.ask("page.panel.engine.host !== null")
    assert browser.errors == []


def test_a_long_motion_keeps_every_second_frame_and_the_last(browser: Browser, tmp_path: Path) -> None:
    browser.open(view_model(read_model("double_pendulum", {}), stop=0).save(tmp_path / "page.html"))
    kept = """((count) => {
        const motion = new modules.motion.Motion(page.data, page.recording); motion.most = count - 1;
        for (let k = 0; k < count; k++) motion.push(k, new Float64Array(24).fill(k), null, new Map(), new Map());
        return [Array.from(motion.times), Array.from(motion.poses).filter((_, i) => i % 14 === 0), motion.end]; })"""
    for count, times in ((9, [0, 2, 4, 6, 8]), (10, [1, 3, 5, 7, 9])):
        assert browser.ask(f"{kept}({count})") == [times, times, times[-1]]


def test_quaternions_of_matrices(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["double_pendulum"])
    rng = np.random.default_rng(1)
    q = rng.normal(size=(200, 4)) * rng.integers(0, 2, (200, 4))
    q = np.vstack([q[np.linalg.norm(q, axis=1) > 0.0], np.eye(4)])
    q /= np.linalg.norm(q, axis=1)[:, None]
    R = np.array([fm.Rotation.quaternion(*one).matrix.ravel() for one in q]).tolist()
    found = browser.ask(f"{R}.map((R, i) => modules.motion.quaternionOf(R, {q.tolist()}[i]))")
    assert np.abs(np.array(found) - q).max() < 1e-14


def test_without_the_core_the_page_says_that_it_only_plays(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "CORE", tmp_path / "absent.wasm")
    live.core.cache_clear()
    try:
        page = view_model(compiled("double_pendulum"), stop=0.5).save(tmp_path / "page.html")
    finally:
        live.core.cache_clear()
    browser.open(page)
    assert "recorded motion only" in browser.ask("document.getElementById('live').textContent")
    assert browser.errors == []


def test_the_live_mechanism_starts_with_the_constants_of_the_run(browser: Browser, tmp_path: Path) -> None:
    page = view_model(compiled("double_pendulum"), stop=1.0, inputs={"A.tau": 3.0, "A.q": 0.4, "B.tau": np.sin})
    live_page(browser, page.save(tmp_path / "page.html"))
    assert browser.ask("page.panel.changed") == {"A.tau": 3.0, "A.q": 0.4}
    assert browser.ask("page.panel.motion.values('A.q')[0]") == pytest.approx(0.4, abs=1e-12)
    assert browser.ask("document.querySelector(`#live input[type=number][data-name='A.tau']`).value") == "3"


# In an FMU -----------------------------------------------------------------------------------------------------


def test_an_fmu_carries_the_page_on_request_only(tmp_path: Path) -> None:
    model = read_model("double_pendulum")
    contents = []
    for name, scene in (("plain", False), ("scene", True), ("again", True)):
        with ZipFile(fm.export_fmu(model, tmp_path / f"{name}.fmu", scene=scene)) as archive:
            contents.append({entry: archive.read(entry) for entry in archive.namelist()})
    plain, scene, again = contents
    assert scene == again
    added = scene.keys() - plain.keys()
    assert added == {"documentation/scene.html"}
    assert {name for name in plain if plain[name] != scene[name]} == {"documentation/index.html"}
    assert b'href="scene.html"' in scene["documentation/index.html"]
    assert b"three" in scene["documentation/scene.html"]


def test_the_page_of_an_fmu_is_alive(browser: Browser, tmp_path: Path) -> None:
    model = read_model("double_pendulum")
    model.input("torque", to="B.tau")
    model.parameter("load", of="lower.mass")
    with ZipFile(fm.export_fmu(model, tmp_path / "m.fmu", scene=True)) as archive:
        archive.extract("documentation/scene.html", tmp_path)
    live_page(browser, tmp_path / "documentation" / "scene.html")
    assert browser.ask("page.panel.inputs.map((one) => one.declared || null)") == ["torque", None]
    assert browser.ask("page.panel.parameters[0].declared") == "load"
    assert browser.ask("document.querySelector('#live .slider label').textContent") == "torque: B.tau [N.m]"
    moved(browser, "B.tau", 12.0)
    browser.wait("page.panel.motion.end > 0.5")
    assert browser.errors == []


def test_the_command_tells_the_size_of_the_page(tmp_path: Path) -> None:
    result = fmumbs("export", "pendulum", "--scene", "-o", str(tmp_path / "m.fmu"))
    assert result.exit_code == 0, result.output
    assert re.search(r"m\.fmu  \d+ kB, of which the scene \d+ kB", result.output)


@pytest.mark.parametrize("command", [("view", "--stop", "0.1"), ("export", "--scene")])
def test_the_command_says_once_when_pages_are_not_alive(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "CORE", tmp_path / "absent.wasm")
    live.core.cache_clear()
    try:
        result = fmumbs(command[0], "pendulum", *command[1:], "-o", str(tmp_path / "out"))
    finally:
        live.core.cache_clear()
    assert result.output.count("recorded motion only") == 1
