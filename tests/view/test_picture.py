"""Pictures and films of mechanisms by matplotlib."""

import warnings
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.readers import read_model
from fmumbs.run import Result
from fmumbs.view.solids import BODIES
from support import closed

pytest.importorskip("matplotlib")


def pixels(figure: Any) -> np.ndarray:
    """(height, width, 4) of a figure, drawn by Agg."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def frames(path: Path) -> list[np.ndarray]:
    images = pytest.importorskip("PIL.Image")
    with images.open(path) as file:
        found = []
        for k in range(file.n_frames):
            file.seek(k)
            found.append(np.asarray(file.convert("RGB")).astype(int))
    return found


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_picture_is_saved_in_the_format_of_its_suffix(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"four_bar{suffix}"
    figure = read_model("four_bar").picture(path)
    assert path.read_bytes().startswith({".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix])
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    assert figure.axes[0].get_aspect() == 1.0


def test_names_a_scale_gravity_and_axes_are_written() -> None:
    figure = read_model("four_bar").picture(show=False)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert {"four_bar", "crank", "coupler", "rocker", "A", "B", "C", "D", "x", "y", "z", "g", "50 mm"} <= set(texts)
    unnamed = [text.get_text() for text in read_model("four_bar").picture(show=False, names=False).axes[0].texts]
    assert "crank" not in unnamed and "g" in unnamed


@pytest.mark.parametrize("name", ["arm6", "heavy_top"])
def test_arrows_have_the_directions_of_their_projections(name: str) -> None:
    """Arrows of x, y and z are the columns of the projection of a rotation; that of gravity is their combination."""
    model = read_model(name)
    axes = model.picture(show=False).axes[0]
    texts = {text.get_text(): np.array(text.get_position()) for text in axes.texts}
    arrows = [np.array([text.xyann, text.xy]) for text in axes.texts if hasattr(text, "xyann")]
    found = {}
    for one in "xyzg":  # each name stands beyond the tip of its own arrow
        start, tip = min(arrows, key=lambda arrow: np.hypot(*(texts[one] - arrow[1])))
        found[one] = tip - start
        beyond = texts[one] - tip
        assert beyond @ found[one] == pytest.approx(np.hypot(*beyond) * np.hypot(*found[one]))
    A = np.column_stack([found[one] for one in "xyz"])
    size = np.sqrt(np.trace(A @ A.T) / 2.0)
    assert pytest.approx(size**2 * np.eye(2), abs=1e-9 * size**2) == A @ A.T
    assert found["g"] == pytest.approx(A @ model.gravity / np.linalg.norm(model.gravity), abs=1e-9 * size)


def test_names_stand_beside_their_bodies_and_do_not_overlap() -> None:
    figure = read_model("four_bar").picture(show=False)
    pixels(figure)
    (axes,) = figure.axes
    solver = fm.Solver(read_model("four_bar"))
    solver.assemble()
    texts = {text.get_text(): text for text in axes.texts}
    width = np.ptp(axes.get_xlim())
    for name in ("crank", "coupler", "rocker"):
        middle = (solver.get(f"{name}.base.r") + solver.get(f"{name}.tip.r")) / 2
        x, y = texts[name].get_position()
        assert np.hypot(x - middle[0], y - middle[2]) < 0.1 * width  # seen along y: x to the right, z upwards
    boxes = [texts[name].get_window_extent() for name in ("crank", "coupler", "rocker", "A", "B", "C", "D")]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.parametrize(
    ("size", "text"), [(3e-5, "5 µm"), (0.02, "2 mm"), (3.0, "0.5 m"), (20.0, "2 m"), (9e3, "2 km")]
)
def test_the_scale_has_a_round_length_in_a_unit_that_fits(size: float, text: str) -> None:
    model = fm.Model("bar")
    bar = fm.Body.rod("bar", length=size, mass=1.0, along="x")
    model.add(bar, fm.Revolute("A", model.ground.at(), bar.base, axis="y"))
    figure = model.picture(show=False)
    (axes,) = figure.axes
    assert text in [one.get_text() for one in axes.texts]
    number, unit = text.split()
    length = float(number) * {"µm": 1e-6, "mm": 1e-3, "m": 1.0, "km": 1e3}[unit]
    assert np.ptp(axes.lines[0].get_xdata()) == pytest.approx(length)
    assert 0.07 * np.ptp(axes.get_xlim()) < length <= 0.2 * np.ptp(axes.get_xlim())


@pytest.mark.parametrize("seed", range(4))
def test_random_mechanisms_have_pictures_that_are_not_blank(seed: int) -> None:
    sorts = ("revolute", "prismatic", "spherical", "cylindrical", "screw", "product", "skate")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some do not close
        figure = closed.space(seed, loops=1, sorts=sorts, guess=0.0).model.picture(show=False)
    seen = pixels(figure)
    assert (seen[: int(0.8 * len(seen)), :, :3].min(axis=2) < 240).mean() > 0.005


def test_loops_that_do_not_close_are_drawn_as_given_with_a_warning() -> None:
    model = fm.Model("apart")
    a, b = (fm.Body.rod(name, length=0.4, mass=1.0, radius=0.02, along="x") for name in "ab")
    model.add(a, b, fm.Revolute("A", model.ground.at(), a.base, axis="y"))
    model.add(fm.Revolute("B", model.ground.at(3.0), b.base, axis="y"), fm.Distance("D", a.tip, b.tip, length=9.0))
    with pytest.warns(UserWarning, match=r"'apart' is drawn at its start values, although"):
        assert model.picture(show=False).axes


def test_a_picture_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(fm.SolverError, match="cannot write"):
        read_model("pendulum").picture(tmp_path / "nowhere" / "a.png")
    with pytest.raises(fm.SolverError, match=r"unknown picture format\. Give one of"):
        read_model("pendulum").picture(tmp_path / "a.xyz")
    with pytest.raises(fm.SolverError, match=r"cannot write .*nowhere"):
        fm.simulate(read_model("pendulum"), stop=0.1).animate(tmp_path / "nowhere" / "a.gif")


# Films -----------------------------------------------------------------------------------------------------------


def test_a_film_shows_the_motion_in_its_time(tmp_path: Path) -> None:
    """As many pictures as the speed gives, each with the bodies where the result has them."""
    result = fm.simulate(read_model("pendulum"), stop=0.8, interval=0.01)
    path = result.animate(tmp_path / "swing.gif", fps=5.0, speed=0.5)
    shown = frames(path)
    assert len(shown) == 9  # 0.8 s at half speed and 5 pictures in a second, both ends
    middles = []
    for one in shown:
        line, column = np.nonzero((one[:380, :, 2] - one[:380, :, 0]) > 40)  # the rod is blue
        middles.append((column.mean(), -line.mean()))
    from fmumbs.view import poses

    at = poses(result.motion.image, result.motion.positions[::10])
    com = at.r[:, 0] + at.R[:, 0] @ np.array(result.motion.image.scene.bodies[0].com)
    for seen, true in ((0, 0), (1, 2)):  # the mean pixel moves with the centre of mass, in one scale
        moved = np.array(middles)[:, seen] - middles[0][seen]
        scale = np.ptp(np.array(middles)[:, 0]) / np.ptp(com[:, 0])
        assert np.abs(moved / scale - (com[:, true] - com[0, true])).max() < 0.02 * np.ptp(com)


def test_all_pictures_of_a_film_have_the_colours_of_its_bodies(tmp_path: Path) -> None:
    """One palette serves them all: also bodies that few pictures show keep their colours."""
    result = fm.simulate(read_model("double_pendulum"), stop=3.0, interval=0.1)
    shown = frames(result.animate(tmp_path / "a.gif", fps=10.0))
    assert len(shown) == 31
    for one in shown:
        for r, g, b in BODIES[:2]:
            assert (np.abs(one[..., :3].astype(int) - (r, g, b)).max(axis=2) < 24).sum() > 20
        assert (one[..., :3] > 250).all(axis=2).mean() > 0.8  # the background stays white


def test_an_unknown_film_is_refused(tmp_path: Path) -> None:
    result = fm.simulate(read_model("pendulum"), stop=0.1)
    with pytest.raises(fm.SolverError, match=r"unknown format of animations\. Give \.gif or \.mp4"):
        result.animate(tmp_path / "a.avi")
    for fps, speed in ((25.0, 0.0), (nan, 1.0), (inf, 1.0), (25.0, inf), (25.0, nan)):
        with pytest.raises(fm.SolverError, match=r"animate: .* make no animation"):
            result.animate(tmp_path / "a.gif", fps=fps, speed=speed)
    with pytest.raises(fm.SolverError, match=r"make 2\.5e\+08 pictures, more than 100000"):
        result.animate(tmp_path / "a.gif", speed=1e-8)
    alone = Result("far", result.time, dict(result), result.units)
    with pytest.raises(fm.SolverError, match="does not know its mechanism"):
        alone.animate(tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())


def test_a_result_from_a_file_is_animated_with_its_model(tmp_path: Path) -> None:
    saved = fm.simulate(read_model("pendulum"), stop=0.2).save(tmp_path / "pendulum.csv")
    path = Result.load(saved).animate(tmp_path / "a.gif", fps=10.0, model=read_model("pendulum"))
    assert len(frames(path)) == 3


def test_without_ffmpeg_the_message_has_another_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matplotlib.animation.FFMpegWriter.isAvailable", classmethod(lambda cls: False))
    with pytest.raises(fm.SolverError, match=r"a\.mp4' needs ffmpeg.*write a \.gif"):
        fm.simulate(read_model("pendulum"), stop=0.1).animate(tmp_path / "a.mp4")


def test_an_mp4_is_written_by_ffmpeg(tmp_path: Path) -> None:
    animation = pytest.importorskip("matplotlib.animation")
    if not animation.FFMpegWriter.isAvailable():
        pytest.skip("ffmpeg is not installed")
    path = fm.simulate(read_model("pendulum"), stop=0.1).animate(tmp_path / "a.mp4")
    assert path.read_bytes()[4:8] == b"ftyp"


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(fm.SolverError, match=r"needs matplotlib.*pip install 'fmumbs\[plot\]'"):
        read_model("pendulum").picture(show=False)
