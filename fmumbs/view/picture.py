"""Pictures and animations of a mechanism by matplotlib: the solids, names, a scale, gravity and the world's axes."""

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import floor, inf, log10
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs._progress import progress_bar
from fmumbs.compiler import ModelImage, compile
from fmumbs.errors import SolverError
from fmumbs.mechanism import Model
from fmumbs.run import Result, plotting
from fmumbs.scene import Scene
from fmumbs.view.motion import motion_of
from fmumbs.view.poses import Poses, poses
from fmumbs.view.rays import Solid, Window, draw
from fmumbs.view.solids import solids
from fmumbs.view.still import start_poses, window_of
from fmumbs.view.viewpoint import Projection, viewpoint

Array = NDArray[np.float64]
Rectangle = tuple[float, float, float, float]

_INCHES = (8.0, 6.0)
_PIXELS = 150  # in an inch
_MOVING = ((6.4, 4.8), 100)  # inches, and pixels in an inch, of an animation
_THIN, _SMALL = 0.013, 0.0015  # least radius of a body, least size of a symbol, relative to the mechanism
_ROOM = 0.16  # of the height, below the mechanism
_MOST_NAMES = 40
_MOST_PICTURES = 100_000  # an hour at 25 a second is 90 000
_INSTANTS = 60  # at which the extent of a motion is found


def picture(
    model: Model | ModelImage, path: "str | os.PathLike[str] | None", *, show: bool | None, names: bool | None
) -> Any:
    """The figure of Model.picture()."""
    image = compile(model) if isinstance(model, Model) else model
    shows = path is None if show is None else show
    maker = plotting.figure_maker(shows)
    at, failure = start_poses(image)
    if failure is not None:
        warnings.warn(f"'{image.name}' is drawn at its start values, although {failure}", stacklevel=3)
    scene, view = image.scene, viewpoint(image.scene, at)
    found = solids(scene, at, view, thin=_THIN, least=_SMALL)
    width, height = (int(inches * _PIXELS) for inches in _INCHES)
    window = _with_room(window_of(found, view, scene, width, int((1.0 - _ROOM) * height), 0.07))
    figure = maker(figsize=_INCHES, dpi=_PIXELS)
    axes = _axes_of(figure, view, window)
    _shown(axes, draw(found, view.rows, window), window)
    _furnish(axes, scene, view, window)
    axes.text(0.02, 0.975, scene.name, transform=axes.transAxes, va="top", fontsize=12, color="#34404e")
    if names or (names is None and len(scene.bodies) + len(scene.joints) <= _MOST_NAMES):
        _name(axes, scene, at, view, window)
    plotting.finish(figure, None if path is None else Path(path), shows, scene.name)
    return figure


def animate(
    result: Result,
    path: str | os.PathLike[str],
    *,
    fps: float,
    speed: float,
    model: "Model | ModelImage | None" = None,
) -> None:
    """Writes the file of Result.animate()."""
    path = Path(path)
    motion, time = motion_of(result, model), result.time
    maker = plotting.figure_maker(False)
    count = _count_of_pictures(time, fps, speed)
    scene, inches, pixels = motion.image.scene, *_MOVING
    width, height = (int(one * pixels) for one in inches)
    instants = _nearest(time, np.linspace(time[0], time[-1], count))
    at = poses(motion.image, motion.positions[instants])
    view = viewpoint(scene, at)
    window = _window_of_motion(scene, at, view, width, height)
    figure = maker(figsize=inches, dpi=pixels, facecolor="white")
    axes = _axes_of(figure, view, window)
    pixels_shown = plotting.pixels_of(axes)
    _furnish(axes, scene, view, window)
    clock = axes.text(
        0.02, 0.975, "", transform=axes.transAxes, va="top", fontsize=10, color="#34404e", family="monospace"
    )

    def frames() -> Iterator[None]:
        for k, instant in enumerate(instants.tolist()):
            found = solids(scene, at, view, instant=k, thin=_THIN, least=_SMALL)
            pixels_shown(draw(found, view.rows, window))
            clock.set_text(f"{scene.name}   t = {time[instant]:.3f} s")
            yield
            progress((k + 1) / len(instants))

    with progress_bar(f"drawing {path}") as progress:
        plotting.write_frames(figure, path, frames(), fps, pixels)


def _count_of_pictures(time: Array, fps: float, speed: float) -> int:
    if not len(time) or not 0.0 < fps < inf or not 0.0 < speed < inf:
        raise SolverError(f"animate: {len(time)} times, fps {fps:g} and speed {speed:g} make no animation.")
    pictures = float(time[-1] - time[0]) / speed * fps + 1.0
    if pictures > _MOST_PICTURES:
        raise SolverError(
            f"animate: fps {fps:g} and speed {speed:g} make {pictures:.3g} pictures, more than {_MOST_PICTURES}. "
            "Lower fps, or raise speed."
        )
    return round(pictures)


def _nearest(time: Array, wanted: Array) -> NDArray[np.int64]:
    """Indices of the times that are nearest to (n,) wanted ones."""
    after = np.clip(np.searchsorted(time, wanted), 1, max(1, len(time) - 1))
    before = after - 1
    after = np.minimum(after, len(time) - 1)
    return np.where(wanted - time[before] <= time[after] - wanted, before, after)


def _window_of_motion(scene: Scene, at: Poses, view: Projection, width: int, height: int) -> Window:
    """The window that shows the whole motion."""
    found: list[Solid] = []
    for k in np.unique(np.linspace(0, len(at.r) - 1, _INSTANTS).astype(int)).tolist():
        found += solids(scene, at, view, instant=k, thin=_THIN, least=_SMALL)
    return _with_room(window_of(found, view, scene, width, int((1.0 - _ROOM) * height), 0.07))


def _with_room(window: Window) -> Window:
    """A window with room below for the scale, gravity and the axes."""
    height = round(window.height / (1.0 - _ROOM))
    return replace(window, y=window.y - 0.5 * (height - window.height) * window.pixel, height=height)


# Axes --------------------------------------------------------------------------------------------------------


def _axes_of(figure: Any, view: Projection, window: Window) -> Any:
    """Axes over the whole figure, in metres to the right and upwards."""
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    half = window.pixel * np.array([window.width, window.height]) / 2.0
    axes.set_xlim(window.x - half[0], window.x + half[0])
    axes.set_ylim(window.y - half[1], window.y + half[1])
    axes.set_aspect("equal")
    axes.set_axis_off()
    return axes


def _shown(axes: Any, pixels: NDArray[np.uint8], window: Window) -> Any:
    return axes.imshow(pixels, extent=(*axes.get_xlim(), *axes.get_ylim()), interpolation="antialiased", zorder=1)


def _furnish(axes: Any, scene: Scene, view: Projection, window: Window) -> None:
    """A scale below, gravity and the directions of the world's axes in the corners."""
    width, height = window.pixel * window.width, window.pixel * window.height
    left, low = window.x - width / 2, window.y - height / 2
    ink = "#34404e"
    length = _round_below(0.2 * width)
    x, y = left + 0.03 * width, low + 0.045 * height
    tick = 0.008 * height
    across, upwards = [x, x, x, *[x + length] * 3], [y + tick, y - tick, y, y, y + tick, y - tick]
    axes.plot(across, upwards, color=ink, lw=1.4)
    axes.text(x + length / 2, y + 0.012 * height, _metres(length), ha="center", va="bottom", color=ink, fontsize=9)
    corner = np.array([left + 0.92 * width, low + 0.09 * height])
    reach = 0.055 * height
    for k, (name, colour) in enumerate((("x", "#c0392b"), ("y", "#2e8b57"), ("z", "#2563b0"))):
        _pointer(axes, corner, view.rows[:, k], reach, name, colour)
    gravity = np.array(scene.gravity)
    size = float(np.linalg.norm(gravity))
    if size > 0.0:
        _pointer(
            axes, np.array([left + 0.8 * width, low + 0.12 * height]), view.rows @ (gravity / size), reach, "g", ink
        )


def _pointer(axes: Any, start: Array, direction: Array, reach: float, name: str, colour: str) -> None:
    """An arrow along the projection of a direction; a dot in a circle towards the viewer, a cross away from him."""
    flat = direction[:2] * reach
    if np.hypot(*direction[:2]) < 0.15:
        axes.plot(*start, "o", mfc="none", mec=colour, ms=7, mew=1.2)
        axes.plot(*start, "." if direction[2] > 0.0 else "x", color=colour, ms=4, mew=1.0)
        axes.text(start[0] - 0.3 * reach, start[1] - 0.3 * reach, name, color=colour, fontsize=9, ha="right", va="top")
        return
    style = {"arrowstyle": "-|>", "color": colour, "lw": 1.4, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 9}
    axes.annotate("", xy=start + flat, xytext=start, arrowprops=style)
    tip = start + flat * (1.0 + 0.28 / float(np.hypot(*direction[:2])))
    axes.text(*tip, name, color=colour, fontsize=9, ha="center", va="center")


def _round_below(value: float) -> float:
    """The largest of 1, 2, 5, 10, ... that is not above a length."""
    power = 10.0 ** floor(log10(value))
    return max(step for step in (1.0, 2.0, 5.0) if step <= value / power * (1 + 1e-9)) * power


def _metres(length: float) -> str:
    """A length in km, m, mm or µm."""
    for unit, size in (("km", 1e3), ("m", 0.1), ("mm", 1e-3), ("µm", 1e-6)):
        if size * 0.999 <= length < 1e6:
            return f"{length / (1.0 if unit == 'm' else size):g} {unit}"
    return f"{length:g} m"


# Names -------------------------------------------------------------------------------------------------------


def _name(axes: Any, scene: Scene, at: Poses, view: Projection, window: Window) -> None:
    """Names of bodies and joints, each where it covers no other name; left out where there is no room."""
    halo = plotting.halo()
    taken: list[Rectangle] = []
    unit = window.pixel * window.width / (_INCHES[0] * 72.0)  # metres in a point
    wanted = [(joint.name, at.of(joint.M)[0][0], 8.0, "#34404e", "normal") for joint in scene.joints if joint.symbols]
    wanted += [
        (body.name, at.r[0, i] + at.R[0, i] @ np.array(body.com), 9.0, "#1f4e79", "italic")
        for i, body in enumerate(scene.bodies)
        if body.is_seen
    ]
    for name, place, size, colour, style in wanted:
        x, y, _ = view.project(np.asarray(place)).tolist()
        wide, high = 0.62 * size * len(name) * unit, 1.2 * size * unit
        gap = 6.0 * unit
        spot = _free((x, y), wide, high, gap, taken, (*axes.get_xlim(), *axes.get_ylim()))
        if spot is not None:
            taken.append(spot)
            axes.text(
                (spot[0] + spot[2]) / 2, (spot[1] + spot[3]) / 2, name, fontsize=size, color=colour, style=style,
                ha="center", va="center", path_effects=halo, zorder=5,
            )  # fmt: skip


def _free(
    at: tuple[float, float], wide: float, high: float, gap: float, taken: Sequence[Rectangle], within: Rectangle
) -> Rectangle | None:
    """A rectangle of this size beside a point that covers none of those taken, None if there is none.

    within: left, right, bottom and top of the picture.
    """
    x, y = at
    for far in (1.0, 2.2):
        for dx, dy in ((1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0)):
            cx = x + dx * (far * gap + wide / 2)
            cy = y + dy * (far * gap + high / 2)
            one = (cx - wide / 2, cy - high / 2, cx + wide / 2, cy + high / 2)
            inside = within[0] < one[0] and one[2] < within[1] and within[2] < one[1] and one[3] < within[3]
            if inside and not any(one[0] < o[2] and o[0] < one[2] and one[1] < o[3] and o[1] < one[3] for o in taken):
                return one
    return None
