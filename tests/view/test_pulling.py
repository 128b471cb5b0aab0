"""A body of a live page is pulled with the mouse; what was recorded gives the same bits natively."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.compiler.kinds import BODY
from fmumbs.compiler.pulls import with_pulls
from fmumbs.readers import read_model
from fmumbs.view import view_model
from fmumbs.view.live import CORE
from support.browser import CHROMIUM, Browser, chromium
from support.commands import fmumbs
from support.drawn_things import everything

Point = tuple[float, float]

# the lengths of the two parts of the arrow that are drawn, its shaft and its head
LENGTHS = """[...page.picture.things.sets.values()].filter((set) => set.group === "pull").map((set) =>
    new THREE.Vector3(...set.mesh.instanceMatrix.array.slice(0, 3)).length())"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    if not CORE.is_file():
        pytest.skip("no binary for wasm32-wasi: make platforms")
    with chromium() as found:
        yield found


def live_page(browser: Browser, model: fm.Model, folder: Path, **options: Any) -> None:
    browser.open(view_model(model, stop=0, **options).save(folder / "page.html"))
    browser.ask("document.getElementById('live-run').click()")
    browser.wait("page.panel.on && page.source.times.length > 5")
    browser.ask("page.play(false)")
    browser.wait("!page.panel.waiting")


def on_screen(browser: Browser, point: str) -> Point:
    """Where a point of the world, a JavaScript expression, is in the window."""
    x, y = browser.ask(f"page.project({point})")
    left, top = browser.ask(
        "(({ left, top }) => [left, top])(document.getElementById('stage').getBoundingClientRect())"
    )
    return float(x + left), float(y + top)


def middle(browser: Browser, body: int) -> Point:
    """Where the body is seen; a page that paused where others hide it runs on until they do not."""
    for what in ("joints", "forces"):  # which may be before the body
        browser.ask(f"document.getElementById('show-{what}').checked && document.getElementById('show-{what}').click()")
    seen = f"page.under({{ clientX: x, clientY: y }})?.body === {body}"  # not at its centre if it is bent
    for _ in range(20):
        x, y = on_screen(browser, f"page.picture.centre({body})")
        near = f"""for (let r = 0; r < 60; r += 2) for (let k = 0; k < 12; k++) {{
            const x = {x} + r * Math.cos(k * Math.PI / 6), y = {y} + r * Math.sin(k * Math.PI / 6);
            if ({seen}) return [x, y];
        }}"""
        found = browser.ask(f"(() => {{ {near} }})()")
        if found is not None:
            break
        browser.ask("page.play(true)")
        browser.wait(f"page.source.end > {browser.ask('page.source.end')} + 0.05")
        browser.ask("page.play(false)")
        browser.wait("!page.panel.waiting")
    assert found is not None, f"body {body} is hidden"
    return float(found[0]), float(found[1])


@pytest.mark.filterwarnings("ignore::fmumbs.DeformationWarning")
@pytest.mark.parametrize(
    ("name", "body", "options"),
    [("double_pendulum", 1, {}), ("engine", 1, {"scheme": "radau"}), ("four_link_flexible", 1, {"scheme": "radau"})],
)
def test_a_pull_is_recorded_and_runs_natively_with_the_same_bits(
    name: str, body: int, options: dict[str, Any], browser: Browser, tmp_path: Path
) -> None:
    live_page(browser, read_model(name, {}), tmp_path, **options)
    x, y = middle(browser, body)
    begin = browser.ask("page.source.end")
    far = 0.2 if name == "four_link_flexible" else 1.0  # whose small deformations a strong pull exceeds
    browser.drag((x, y), (x + 30 * far, y - 20 * far), (x + 60 * far, y - 40 * far), lets_go=False)
    browser.wait(f"page.playing && page.source.end > {begin} + 0.3")
    browser.drag((x + 90 * far, y + 30 * far), lets_go=False)
    browser.let_go((x + 90 * far, y + 30 * far))
    browser.wait(f"page.source.end > {begin} + 0.5")
    browser.ask("page.play(false)")
    browser.wait("!page.panel.waiting")
    path = browser.saved("#live-save", f"{name}.csv", tmp_path)
    names = browser.ask("[...page.panel.variables.values()].map((one) => one.name)")
    positions = [one for one in names if one.endswith((".q", ".qd"))]
    asked = f"{positions}.map((name) => page.panel.variables.get(name).reference)"
    found = browser.ask(f"page.panel.engine.call('frame', {asked}).then((one) => [one.time, Array.from(one.values)])")
    replayed = fm.replay(read_model(name, {}), path, **options)
    assert np.ptp(replayed[f"{browser.ask(f'page.picture.bodies[{body}].name')}.r"], axis=0).max() > 0.0
    rows = np.loadtxt(path, delimiter=",", skiprows=1)[:, 1:]
    assert np.abs(rows).max() > 0.0 and not rows[-1].any()  # it was let go
    assert replayed.time[-1] == found[0]
    assert [replayed[one][-1] for one in positions] == found[1]
    without = fm.simulate(read_model(name, {}), times=replayed.time, **options)
    assert [without[one][-1] for one in positions] != found[1]
    assert browser.errors == []


def test_no_two_steps_end_at_times_that_round_off_parts(browser: Browser, tmp_path: Path) -> None:
    """A native run would take them for one, and give other bits."""
    live_page(browser, read_model("double_pendulum", {}), tmp_path)
    ask = """(async () => { const { engine, changed } = page.panel; await engine.call("reset", changed, []);
        for (let k = 0; k < 60; k++) await engine.call("advance", k % 3 ? 0.0167 : 0.0166, 1 / 240, 1e4, []);
        return (await engine.call("record")).times; })()"""
    times = np.array(browser.ask(ask))
    assert times[-1] == pytest.approx(1.0, rel=1e-12) and np.diff(times).min() > 1e-9
    assert np.isin(np.arange(1, 240) * (1 / 240), times).all()


def test_the_held_point_follows_the_pointer_and_the_arrow_shows_it(browser: Browser, tmp_path: Path) -> None:
    """Of a mechanism of metres and of one of millimetres, of a light body and a heavy one."""
    for size, mass in ((1.0, 1.0), (2e-3, 1e-6), (40.0, 5e4)):
        model = fm.Model("sized", gravity=(0, 0, -9.81))
        rod = fm.Body.rod("rod", length=size, mass=mass, radius=0.05 * size)
        model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y", q0=1.0))
        live_page(browser, model, tmp_path)
        x, y = middle(browser, 0)
        browser.ask("page.setSpeed(0.2)" if size < 0.1 else "page.setSpeed(2)")
        held = browser.ask(f"page.under({{clientX: {x}, clientY: {y}}}).point.toArray()")
        up = browser.ask("page.project(new THREE.Vector3(...page.picture.position(0)))")[1]
        goal = (x + 0.5 * (y - up), y - 0.5 * (y - up))
        browser.drag((x, y), goal, lets_go=False)
        span = 4.0 * np.sqrt(size)
        browser.wait(f"page.source.end > {browser.ask('page.source.end')} + {span}")
        pull = browser.ask("[...page.picture.state.pull]")
        moved = np.linalg.norm(np.subtract(pull[:3], held))
        # the point stays on its circle; of that it is nearest to the pointer, but for its weight
        assert moved > 0.1 * size
        at = np.array(pull[:3]) / np.linalg.norm(pull[:3])
        wanted = np.array([pull[3], 0.0, pull[5]]) / np.hypot(pull[3], pull[5])
        assert np.degrees(np.arccos(at @ wanted)) < 8.0
        drawn = sum(browser.ask(LENGTHS))
        assert drawn == pytest.approx(np.linalg.norm(np.subtract(pull[3:], pull[:3])), rel=1e-4)
        browser.let_go(goal)
        browser.wait("page.picture.state.pull === null")
        assert sum(browser.ask(LENGTHS)) == 0.0
        assert browser.errors == []


def test_beside_a_body_a_drag_turns_and_a_recording_is_not_pulled(browser: Browser, tmp_path: Path) -> None:
    browser.open(view_model(read_model("double_pendulum", {}), stop=1.0).save(tmp_path / "page.html"))
    angle = browser.ask("page.orbit.azimuth")
    x, y = middle(browser, 0)
    browser.drag((x, y), (x + 40, y))
    assert browser.ask("page.orbit.azimuth") == pytest.approx(angle - 0.32, abs=0.05)
    live_page(browser, read_model("double_pendulum", {}), tmp_path)
    angle = browser.ask("page.orbit.azimuth")
    x, y = middle(browser, 0)
    browser.drag((x, y), (x + 40, y))
    assert browser.ask("page.orbit.azimuth") == angle
    browser.drag((60.0, 400.0), (100.0, 400.0))
    assert browser.ask("page.orbit.azimuth") == pytest.approx(angle - 0.32, abs=0.05)
    assert browser.errors == []


def test_the_spring_of_a_hand_fits_the_mass_that_it_holds(browser: Browser, tmp_path: Path) -> None:
    """At the centre of a free body its mass; at the tip of a rod on a pin 3 I / L^2: it gives way in one direction."""
    model = fm.Model("two", gravity=(0, 0, -9.81))
    free, rod = fm.Body("free", mass=7.0, inertia=(1, 2, 3)), fm.Body.rod("rod", length=0.5, mass=3.0, along="x")
    model.add(free, fm.Free("F", model.ground.at(), free.at()))
    model.add(rod, fm.Revolute("A", model.ground.at(2, 0, 0), rod.base, axis="y"))
    live_page(browser, model, tmp_path)
    mass = """(async (body, at, most) => {
        const { Host, inflated } = modules.engine, host = new Host(), { live } = page.data;
        await host.open(await inflated(live.core), await inflated(live.image));
        host.hold({ body, at, omega: 1, most }); return host.hand.mass; })"""
    assert browser.ask(f"{mass}('free', [0, 0, 0], 1e3)") == pytest.approx(7.0, rel=1e-9)
    inertia = 3.0 * 0.5**2 / 3.0
    tip = list(rod.tip.X_BP.offset)
    assert browser.ask(f"{mass}('rod', {tip}, 1e3)") == pytest.approx(3.0 * inertia / 0.5**2, rel=1e-9)
    assert browser.ask(f"{mass}('free', [0, 0, 0], 2)") == 2.0


def test_a_finger_pulls(browser: Browser, tmp_path: Path) -> None:
    path = view_model(read_model("double_pendulum", {}), stop=0).save(tmp_path / "phone.html")
    browser.open(path, 390, 844, phone=True)
    browser.ask("document.getElementById('live-run').click()")
    browser.wait("page.panel.on && page.source.times.length > 5")
    browser.ask("page.play(false)")
    browser.wait("!page.panel.waiting")
    x, y = middle(browser, 0)
    browser.touch([(x + 5 * i, y) for i in range(5)])
    browser.wait("page.panel.motion.kept.pull.rows.some(Number.isFinite)")
    assert browser.errors == []


# Natively --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["double_pendulum", "engine", "flexible_four_bar", "four_link_flexible", "rolling_disk", "governor"]
)
def test_loads_of_zero_change_no_bit(name: str) -> None:
    ends = []
    image = compile(read_model(name, {}), everything=True)
    for one in (image, with_pulls(image)):
        solver = fm.Solver(one)
        solver.assemble()
        for k in range(1, 11):
            solver.step(k / 20)
        ends.append(solver.positions.tobytes())
    assert ends[0] == ends[1]


def test_a_pull_is_the_load_that_a_user_writes() -> None:
    plain, loaded = (read_model("double_pendulum", {}) for _ in range(2))
    lower = next(body for body in loaded.bodies if body.name == "lower")
    loaded.add(fm.Load("L", lower.at(0, 0, 0)))
    given = {"force": [3.0, 0.5, -2.0], "torque": [0.1, 1.0, 0.2]}
    found = [
        fm.simulate(model, stop=1.0, inputs={f"{name}.{what}": v for what, v in given.items()})
        for model, name in ((plain, "lower.pull"), (loaded, "L"))
    ]
    assert np.array_equal(found[0]["B.q"], found[1]["B.q"])
    assert not np.array_equal(found[0]["B.q"], fm.simulate(plain, stop=1.0)["B.q"])


def test_a_flexible_body_is_pulled_at_its_named_points() -> None:
    plain, loaded = (read_model("four_link_flexible", {}) for _ in range(2))
    coupler = next(body for body in loaded.bodies if body.name == "coupler")
    loaded.add(fm.Load("L", coupler.tip))
    force = [3.0, 0.5, -2.0]
    pulled, found = (
        fm.simulate(model, stop=0.2, inputs={name: force}, scheme="radau")
        for model, name in ((plain, "coupler.tip.pull.force"), (loaded, "L.force"))
    )
    q = [name for name in found.names if name.endswith(".q")]
    assert q and all(np.array_equal(pulled[name], found[name]) for name in q)
    free = fm.simulate(plain, stop=0.2, scheme="radau")
    assert not all(np.array_equal(free[name], found[name]) for name in q)


@pytest.mark.parametrize("name", ["double_pendulum", "four_link_flexible", "flexible_four_bar", "everything"])
def test_every_rigid_body_and_every_named_point_of_a_flexible_one_can_be_pulled(name: str) -> None:
    model = everything() if name == "everything" else read_model(name, {})
    image = compile(model, everything=True)
    flexible = {body.name for body in model.bodies if isinstance(body, fm.ModalBody)}
    named = [name.removesuffix(".r[1]") for name in image.variables.names() if name.endswith(".r[1]")]
    bodies = set(image.variables.structured.elements(BODY)) - flexible
    points = {one for one in named if one.rpartition(".")[0] in flexible}
    assert points or not flexible
    pulls = {name.removesuffix(".pull.force[1]") for name in with_pulls(image).variables.names() if ".pull." in name}
    assert {one for one in pulls if ".pull." not in one} == bodies | points


def test_a_hand_takes_the_nearest_point_of_a_flexible_body(browser: Browser, tmp_path: Path) -> None:
    live_page(browser, read_model("four_link_flexible", {}), tmp_path, scheme="radau")
    for part, point in ((0.2, "coupler.base"), (0.8, "coupler.tip")):
        ends = "page.data.scene.points.filter((one) => one.P.body === 1).map((one) => page.picture.place(one.P)[0])"
        held = f"(([a, b]) => page.panel.handle(1, a.lerp(b, {part})))({ends})"
        assert browser.ask(held) == {"name": point, "at": [0, 0, 0]}
    assert browser.errors == []


def test_a_pull_at_no_body_is_refused() -> None:
    with pytest.raises(fm.SolverError, match=r"elbow\.pull\.force"):
        fm.simulate(read_model("double_pendulum", {}), stop=1.0, inputs={"elbow.pull.force": [1.0, 0.0, 0.0]})


def test_the_command_replays(tmp_path: Path) -> None:
    path = tmp_path / "motion.csv"
    path.write_text("time,upper.pull.force[1],lower.mass,A.q\n0,0,1,0.2\n0.1,5,1,0.2\n0.4,0,2,0.2\n")
    out = tmp_path / "out.csv"
    assert fmumbs("run", "double_pendulum", "--replay", str(path), "-o", str(out)).exit_code == 0
    found = fm.Result.load(out)
    assert found.time.tolist() == [0.0, 0.1, 0.4]
    solver = fm.Solver(with_pulls(compile(read_model("double_pendulum", {}), everything=True)))
    solver.set("A.q", 0.2)
    solver.assemble()
    solver.step(0.1)
    solver.set("upper.pull.force[1]", 5.0)
    solver.step(0.4)
    assert found["A.q"][-1] == solver.get("A.q")
    refused = fmumbs("run", "double_pendulum", "--replay", str(path), "--stop", "1")
    assert refused.exit_code == 2 and "--replay does not go with" in refused.output
