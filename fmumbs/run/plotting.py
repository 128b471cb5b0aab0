"""Plots of variables over time with matplotlib: in a window, in a notebook, or in a file."""

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from fmumbs._files import whole
from fmumbs.errors import SolverError

_TOGETHER = 8  # variables that share axes
_SAMPLES = 8  # frames of an animation that its palette is made from
_NO_DISPLAY = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")  # matplotlib backends that only write files


def plot(result: Any, names: Sequence[str], path: Path | None, show: bool) -> Any:
    """The figure of Result.plot()."""
    new_figure = figure_maker(show)
    if not names:
        raise SolverError("the result has no variables to plot. Name some in simulate(outputs=...).")
    groups = _by_unit(result, names)
    figure = new_figure(figsize=(8, 2.2 * len(groups) + 0.6), layout="constrained")
    axes = figure.subplots(len(groups), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (unit, group) in zip(axes, groups, strict=True):
        axis.set_ylabel(" ".join([*group[: len(group) == 1], *[f"[{unit}]"] * bool(unit)]))
        axis.grid(alpha=0.3)
        labels: list[str] = []
        for name in group:
            values = result[name]
            axis.plot(result.time, values, marker="." if len(result.time) == 1 else None)
            parts = [f"[{i + 1}]" for i in range(values.shape[1])] if values.ndim > 1 else [""]
            labels += [name + part if len(group) > 1 else part[1:-1] for part in parts]
        if len(labels) > 1:
            axis.legend(labels, loc="upper right", ncols=1 + len(labels) // 6)
    axes[-1].set_xlabel("time [s]")
    figure.suptitle(result.name)
    finish(figure, path, show, result.name)
    return figure


def campbell(diagram: Any, path: Path | None, show: bool) -> Any:
    """The figure of Campbell.plot()."""
    new_figure = figure_maker(show)
    figure = new_figure(figsize=(8, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    speeds = diagram.speeds
    for mode in range(diagram.eigenvalues.shape[1]):
        values = diagram.eigenvalues[:, mode]
        style = "--" if diagram.whirl[:, mode].mean() < 0.0 else "-"
        (line,) = above.plot(speeds, abs(values.imag), style)
        below.plot(speeds, values.real, style, color=line.get_color())
    above.plot(speeds, abs(speeds), ":", color="gray")
    for speed, _ in diagram.critical:
        above.plot(speed, abs(speed), "o", color="black", markersize=4)
    for speed, _ in diagram.limits:
        below.axvline(speed, color="gray", linewidth=0.8)
    above.set_ylabel("frequency [rad/s]")
    below.set(ylabel="growth [1/s]", xlabel=diagram.name)
    for axis in (above, below):
        axis.grid(alpha=0.3)
    figure.suptitle(diagram.model)
    finish(figure, path, show, diagram.model)
    return figure


def load_path(followed: Any, names: Sequence[str], path: Path | None, show: bool) -> Any:
    """The figure of LoadPath.plot()."""
    new_figure = figure_maker(show)
    chosen = list(names) or list(followed)[:1]
    if not chosen:
        raise SolverError("the path has no variables to plot. Name some in load_path(outputs=...).")
    figure = new_figure(figsize=(1.5 + 4.5 * len(chosen), 4.5), layout="constrained")
    for axis, name in zip(figure.subplots(1, len(chosen), sharey=True, squeeze=False)[0], chosen, strict=True):
        values, factors, stable = followed[name], followed.factors, followed.stable
        for column, x in enumerate(values.reshape(len(values), -1).T):
            for solid in (True, False):
                shown = stable if solid else ~stable
                shown = shown | [False, *(shown[:-1] & ~shown[1:])] if not solid else shown
                line = [value if keep else float("nan") for value, keep in zip(x, shown, strict=True)]
                axis.plot(line, factors, "-" if solid else "--", color=f"C{column}")
        for one in followed.critical:
            at = followed.at_critical(one)[name]
            axis.plot(at, [one.factor] * at.size, "o", color="black", markersize=4)
        unit = followed.units.get(name) or followed.units.get(f"{name}[1]") or ""
        axis.set(xlabel=f"{name} [{unit}]" if unit else name)
        axis.grid(alpha=0.3)
    figure.axes[0].set_ylabel("load factor")
    figure.suptitle(followed.model)
    finish(figure, path, show, followed.model)
    return figure


def _by_unit(result: Any, names: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Names that share axes, as they have the same unit, in order of their first; those without a unit have their own.

    Raises SolverError for an unknown name.
    """
    groups: list[tuple[str, list[str]]] = []
    for name in names:
        result[name]  # which knows the nearest name
        unit = result.units.get(name) or result.units.get(f"{name}[1]") or ""
        shared = next((group for other, group in groups if unit and other == unit and len(group) < _TOGETHER), None)
        if shared is None:
            groups.append((unit, [name]))
        elif name not in shared:
            shared.append(name)
    return groups


def scatter(table: Any, over: Sequence[str], names: Sequence[str], path: Path | None, show: bool) -> Any:
    """A figure of points: each column of `names` over each of `over`. table: a mapping with path and units."""
    new_figure = figure_maker(show)
    if not over or not names:
        raise SolverError(f"'{table.path}' has no numbers to plot. Name columns of results.")
    columns = {name: table[name] for name in (*over, *names)}
    labels = {name: f"{name} [{table.units[name]}]" if table.units[name] else name for name in columns}
    figure = new_figure(figsize=(4 * len(over) + 1, 2.4 * len(names) + 0.6), layout="constrained")
    axes = figure.subplots(len(names), len(over), sharex="col", sharey="row", squeeze=False)
    for row, name in zip(axes, names, strict=True):
        for axis, x in zip(row, over, strict=True):
            axis.plot(columns[x], columns[name], ".", markersize=3)
            axis.grid(alpha=0.3)
        row[0].set_ylabel(labels[name])
    for axis, x in zip(axes[-1], over, strict=True):
        axis.set_xlabel(labels[x])
    figure.suptitle(f"{table.name}: {table.runs} runs")
    finish(figure, path, show, table.name)
    return figure


def finish(figure: Any, path: Path | None, show: bool, name: str) -> None:
    """Saves a figure in a file, and shows it. Raises SolverError if the file cannot be written."""
    if path is not None:
        _save(figure, path)
    if show:
        _show(figure, name)


def _save(figure: Any, target: Path) -> None:
    known = figure.canvas.get_supported_filetypes()
    kind = target.suffix.lstrip(".").lower() or "png"
    if kind not in known:
        raise SolverError(f"'{target}' has an unknown picture format. Give one of .{', .'.join(known)}.")
    try:
        with whole(target) as file:
            figure.savefig(file, dpi=120, format=kind)
    except OSError as error:
        raise no_place(target, error) from error


def figure_maker(show: bool) -> Any:
    """The function that makes a figure; pyplot's uses the backend that the user set, or one that opens windows."""
    try:
        if show:
            from matplotlib.pyplot import figure as shown

            return shown
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SolverError("plotting needs matplotlib. Install it with: pip install 'fmumbs[plot]'.") from error
    return Figure


def _show(figure: Any, name: str) -> None:
    """Opens the window, or leaves the figure to a notebook, which shows the value of a cell."""
    import matplotlib
    from matplotlib import pyplot

    if figure.canvas.required_interactive_framework is not None:
        pyplot.show()
        return
    pyplot.close(figure)  # the figure stays valid, and pyplot does not show it a second time
    if matplotlib.get_backend().lower() in _NO_DISPLAY:
        warnings.warn(
            f"there is no display for the plot of '{name}'. Save it with plot(path='{name}.png').", stacklevel=5
        )


def write_frames(figure: Any, target: Path, frames: Iterable[None], per_second: float, pixels: int) -> None:
    """Writes an animation: each step of `frames` changes the figure. pixels: in an inch.

    Raises SolverError for another suffix than .gif and .mp4, a file that cannot be written, and if ffmpeg is missing.
    """
    from tempfile import TemporaryDirectory

    from matplotlib import animation

    kind = target.suffix.lower()
    if kind not in (".gif", ".mp4"):
        raise SolverError(f"'{target}' has an unknown format of animations. Give .gif or .mp4.")
    if kind == ".mp4" and not animation.FFMpegWriter.isAvailable():
        raise SolverError(f"'{target}' needs ffmpeg, which is not installed. Install it, or write a .gif.")
    make: Any = _gif_writer() if kind == ".gif" else animation.FFMpegWriter
    writer = make(fps=per_second)
    try:
        with TemporaryDirectory(dir=target.parent) as folder:
            draft = Path(folder, f"frames{kind}")
            with writer.saving(figure, str(draft), pixels):
                for _ in frames:
                    writer.grab_frame()
            os.replace(draft, os.path.realpath(target))
    except (OSError, ValueError) as error:
        raise no_place(target, error) from error


def pixels_of(axes: Any) -> Callable[[Any], None]:
    """A setter of (height, width, 4) pixels behind all else in an animation, which are drawn as they are."""
    from matplotlib.artist import Artist

    class Pixels(Artist):
        zorder = -1
        shown: Any = None

        def draw(self, renderer: Any) -> None:
            if self.shown is not None:
                renderer.draw_image(renderer.new_gc(), 0, 0, self.shown[::-1])

    artist = axes.add_artist(Pixels())

    def show(pixels: Any) -> None:
        artist.shown = pixels

    return show


def _gif_writer() -> Any:
    """Writers of one palette for all frames, from the colours of some: to find one for each takes most of the time."""
    from matplotlib import animation
    from PIL import Image

    pillow: Any = animation.PillowWriter

    class Writer(pillow):  # type: ignore[misc]
        _frames: list[Any]

        def finish(self) -> None:
            frames = self._frames
            some = frames[:: -(-len(frames) // _SAMPLES)]
            wide, high = frames[0].size
            together = Image.new("RGB", (wide, high * len(some)))
            for k, one in enumerate(some):
                together.paste(one, (0, k * high))
            palette = together.quantize()
            self._frames = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in frames]
            super().finish()

    return Writer


def halo() -> list[Any]:
    """The path effects of a text that is read before any background."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.2, foreground="white")]


def no_place(target: Path, error: OSError | ValueError) -> SolverError:
    """The error for a file that cannot be written; error: ValueError for an invalid path."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return SolverError(f"cannot write '{target}': {reason}. Choose another place.")
