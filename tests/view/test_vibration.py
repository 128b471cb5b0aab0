"""Pages of vibrations about an equilibrium: their shapes, frequencies, and loops that stay closed."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.readers import read_model
from fmumbs.view.live import CORE
from fmumbs.view.poses import Poses, matrix
from fmumbs.view.vibration import modes, modes_of_linear
from support.browser import CHROMIUM, Browser, chromium
from support.commands import fmumbs

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with chromium() as found:
        yield found


def values(field: dict[str, str]) -> NDArray[Any]:
    return np.frombuffer(base64.b64decode(field["data"]), f"<{field['type']}")


def shapes(mode: dict[str, Any]) -> tuple[Array, Array, Array]:
    """Times, positions (instants, bodies, 3) and quaternions of a mode."""
    times = values(mode["times"])
    both = values(mode["poses"]).reshape(len(times), -1, 7).astype(float)
    return times, both[..., :3], both[..., 3:]


def test_two_masses_between_walls_move_together_and_against_each_other() -> None:
    """Closed form: w^2 = k / m and 3 k / m, shapes (1, 1) and (1, -1)."""
    model = fm.Model("masses")
    k, m, ground = 50.0, 2.0, model.ground
    a, b = (fm.Body(name, mass=m, inertia=(1, 1, 1)) for name in "ab")
    A = fm.Prismatic("A", ground.at(), a.at(), axis="x", stiffness=k)
    B = fm.Prismatic("B", ground.at(2, 0, 0), b.at(), axis="x", stiffness=k)
    model.add(a, b, A, B, fm.Spring("S", a.at(), b.at(), stiffness=k, free_length=2.0))
    found = modes(fm.equilibrium(model))
    for one, square, sign in zip(found, (k / m, 3 * k / m), (1.0, -1.0), strict=True):
        times, r, _ = shapes(one)
        assert times[-1] == pytest.approx(2 * np.pi / np.sqrt(square), rel=1e-6)
        assert one["name"].split()[1] == f"{np.sqrt(square) / (2 * np.pi):.4g}"
        moved = r[..., 0] - [0.0, 2.0]
        assert_allclose(moved[:, 0], sign * moved[:, 1], atol=1e-5)
        wave = np.cos(2 * np.pi * times / times[-1])
        assert_allclose(moved[:, 0], moved[0, 0] * wave, atol=1e-5)
        assert 0.02 < abs(moved[0, 0]) < 0.3


def test_what_turns_keeps_its_lengths() -> None:
    """A rod on a ball joint, which swings in two planes and turns about itself on a spring."""
    model = fm.Model("ball", gravity=(0, 0, -9.81))
    rod = fm.Body.rod("rod", length=1.0, mass=1.0, radius=0.05, along="-z")
    model.add(rod, fm.Spherical("S", model.ground.at(), rod.base))
    model.add(fm.Spring("T", model.ground.at(1, 0, -0.5), rod.at(0.1, 0, -0.5), stiffness=5.0, free_length=0.5))
    for one in modes(fm.equilibrium(model)):
        _, r, q = shapes(one)
        assert_allclose(np.linalg.norm(q, axis=2), 1.0, atol=1e-6)
        assert_allclose(r, 0.0, atol=1e-6)
        angle = 2.0 * np.arccos(np.clip(np.abs((q[:, 0] * q[8, 0]).sum(axis=1)), 0, 1))
        assert 0.05 < angle.max() < 0.55


def assert_loops_stay_closed(scene: Any, made: list[dict[str, Any]]) -> None:
    """In the first motions, in each of which something moves."""
    for one in made[:3]:
        times, r, q = shapes(one)
        R = np.array([[matrix(tuple(x)) for x in row] for row in q])
        modal = {int(b): values(v).reshape(len(times), -1).astype(float) for b, v in one["modal"].items()}
        at = Poses(r, R, modal)
        for joint in scene.joints:
            if {symbol.kind for symbol in joint.symbols} == {"turn"}:
                gap = np.abs(at.of(joint.F)[0] - at.of(joint.M)[0]).max()
                assert gap < 2e-6 * max(1.0, scene.length), joint.name
        assert np.ptp(r, axis=0).max() > 0.01 * scene.length or modal


@pytest.mark.parametrize("name", ["engine", "four_bar", "flexible_four_bar"])
def test_loops_stay_closed(name: str) -> None:
    found = fm.equilibrium(read_model(name, {}))
    assert_loops_stay_closed(found.solver.image.scene, modes(found))


def choose(browser: Browser, which: str) -> None:
    chosen = f"m.value = '{which}'; m.dispatchEvent(new Event('change'))"
    browser.ask(f"((m) => {{ {chosen} }})(document.getElementById('mode'))")


def test_the_page_plays_one_and_goes_live_from_the_equilibrium(browser: Browser, tmp_path: Path) -> None:
    found = fm.equilibrium(read_model("double_pendulum", {}))
    browser.open(found.view().save(tmp_path / "page.html"), plays=True)
    names = browser.ask("[...document.getElementById('mode').options].map((one) => one.text)")
    assert [one.partition(":")[0] for one in names] == ["none", "1", "2"]
    for k, w in enumerate(found.frequencies):
        choose(browser, str(k))
        assert browser.ask("page.source.end") == pytest.approx(2 * np.pi / w, rel=1e-6)
        assert float(browser.ask("document.getElementById('slider').max")) == pytest.approx(2 * np.pi / w, rel=1e-6)
        assert browser.ask("page.source.pace") == pytest.approx(np.pi / w, rel=1e-6)
        begin = browser.ask("page.time")
        browser.wait(f"page.playing && page.time !== {begin}")
        browser.ask("page.play(false)")
        browser.ask("page.seek(0)")
        held = browser.ask("[...page.recording.state.r]")
        browser.ask("page.seek(page.source.end / 2)")
        assert np.abs(np.subtract(browser.ask("[...page.recording.state.r]"), held)).max() > 0.01
    choose(browser, "")
    assert browser.ask("page.source === page.recording && !page.playing")
    if CORE.is_file():
        choose(browser, "1")
        browser.ask("document.getElementById('live-run').click()")
        browser.wait("page.panel.on && page.source.end > 0.2")
        lower = "(({ rows }) => [...rows.slice(7, 10), ...rows.slice(-7, -4)])"
        rests = browser.ask(f"{lower}(page.panel.motion.kept.poses)")
        assert_allclose(rests[:3], rests[3:], atol=1e-6)
    assert browser.errors == []


def test_a_mechanism_without_freedom_has_no_vibration(browser: Browser, tmp_path: Path) -> None:
    model = fm.Model("still", gravity=(0, 0, -9.81))
    rod = fm.Body.rod("rod", length=1.0, mass=1.0)
    model.add(rod, fm.Weld("W", model.ground.at(), rod.base))
    browser.open(fm.equilibrium(model).view().save(tmp_path / "page.html"))
    assert browser.ask("document.getElementById('modes').hidden")
    assert browser.errors == []


def test_the_command_shows_them(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert fmumbs("view", "double_pendulum", "--vibrations", "-o", str(out)).exit_code == 0
    assert "0.4446 Hz, A.q" in out.read_text()
    refused = fmumbs("view", "double_pendulum", "--vibrations", "--stop", "1")
    assert refused.exit_code == 2 and "--stop belongs to a run" in refused.output


# Modes of a linear model -----------------------------------------------------------------------------------------


def damped(friction: float) -> fm.Model:
    """A mass of 2 kg on a spring of 50 N/m, w = 5 rad/s."""
    model = fm.Model("damped", gravity=(0, 0, 0))
    mass = fm.Body("mass", mass=2.0, inertia=(1, 1, 1))
    model.add(mass, fm.Prismatic("A", model.ground.at(), mass.at(), axis="x", stiffness=50.0, damping=friction))
    return model


def test_a_damped_mode_decays_as_its_eigenvalue_says() -> None:
    """Closed form: exp(-a t) cos(sqrt(w^2 - a^2) t) with a = c / (2 m); it is followed to a twentieth."""
    (one,) = modes_of_linear(fm.linearize(damped(4.0)))
    times, r, _ = shapes(one)
    assert one["name"] == "1: 0.7958 Hz, damping 0.2, A.q"
    assert times[-1] == pytest.approx(np.log(20.0), rel=1e-6)
    w = np.sqrt(24.0)
    assert one["seconds"] == pytest.approx(2.0 * times[-1] / (2 * np.pi / w), rel=1e-6)
    x = r[:, 0, 0]
    assert 0.02 < np.abs(x).max() < 1.0
    wave = np.exp((-1.0 + 1j * w) * times)
    basis = np.array([wave.real, wave.imag]).T
    assert_allclose(x, basis @ np.linalg.lstsq(basis, x, rcond=None)[0], atol=1e-6 * np.abs(x).max())


def test_one_without_damping_keeps_its_amplitude_and_one_that_creeps_has_a_rate() -> None:
    (one,) = modes_of_linear(fm.linearize(damped(0.0)))
    times, r, _ = shapes(one)
    assert one["name"] == "1: 0.7958 Hz, damping 0, A.q" and times[-1] == pytest.approx(2 * np.pi, rel=1e-6)
    assert one["seconds"] == pytest.approx(10.0, rel=1e-6)
    assert_allclose(r[-1], r[0], atol=1e-6)
    slow, fast = modes_of_linear(fm.linearize(damped(52.0)))  # roots -1 and -25
    assert slow["name"] == "1: decays as exp(-1 t), A.q" and fast["name"] == "2: decays as exp(-25 t), A.q"
    times, r, _ = shapes(slow)
    assert_allclose(r[:, 0, 0], r[0, 0, 0] * np.exp(-times), rtol=1e-5)


def test_one_that_grows_ends_at_its_largest() -> None:
    model = fm.Model("upright", gravity=(0, 0, -9.81))
    rod = fm.Body.rod("rod", length=1.0, mass=1.0, along="z")
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y"))
    found = {one["name"].split()[1]: shapes(one) for one in modes_of_linear(fm.linearize(model))}
    _, _, q = found["grows"]
    angle = 2.0 * np.arcsin(np.abs(q[:, 0, 2]))
    assert angle[-1] == pytest.approx(angle.max()) and angle[-1] == pytest.approx(20.0 * angle[0], rel=1e-3)
    assert 0.05 < angle[-1] < 0.55
    _, _, q = found["decays"]
    assert np.abs(q[-1, 0, 2]) == pytest.approx(np.abs(q[:, 0, 2]).min(), rel=1e-5)


def test_modes_beside_a_steady_motion_leave_out_what_turns() -> None:
    """Whirl of a gimballed disc: both angles move, a quarter of a period apart; its spin does not."""
    model = fm.Model("disc", gravity=(0, 0, 0))
    disc = fm.Body("disc", mass=1.0, inertia=(0.2, 0.2, 0.35))
    turns = [fm.Turn("z"), fm.Turn("x"), fm.Turn("y")]
    model.add(disc, fm.Joint("J", model.ground.at(), disc.at(), modes=turns, stiffness=(0.0, 7.0, 7.0)))
    linear = fm.linearize(model, at=fm.steady(model, {"J.qd[1]": 3.0}))
    assert list(linear.states[:2]) == ["J.q[2]", "J.q[3]"]
    for one in modes_of_linear(linear):
        if "Hz" in one["name"]:
            _, _, q = shapes(one)
            away = np.ptp(q[:, 0], axis=0)
            assert away[1] > 0.02 and away[2] > 0.02 and away[3] < 0.5 * away[1] * away[2], one["name"]


@pytest.mark.parametrize("name", ["engine", "four_bar", "flexible_four_bar"])
def test_modes_of_a_linear_model_keep_loops_closed(name: str) -> None:
    linear = fm.linearize(read_model(name, {}), "equilibrium")
    assert_loops_stay_closed(linear.energies.chart.image.scene, modes_of_linear(linear))


def test_the_page_of_a_linear_model_plays_its_modes(browser: Browser, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert fmumbs("linearize", "double_pendulum", "--at", "equilibrium", "--view", str(out)).exit_code == 0
    browser.open(out, plays=True)
    names = browser.ask("[...document.getElementById('mode').options].map((one) => one.text)")
    assert len(names) == 3 and all(" Hz, damping " in one for one in names[1:])
    end, pace = browser.ask("[page.source.end, page.source.pace]")
    assert end / pace == pytest.approx(10.0, rel=1e-6)  # five periods
    begin = browser.ask("page.time")
    browser.wait(f"page.playing && page.time !== {begin}")
    assert browser.errors == []
