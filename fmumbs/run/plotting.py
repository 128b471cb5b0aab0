"""Plots of variables over time with matplotlib: in a window, in a notebook, or in a file."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fmumbs._files import whole
from fmumbs.errors import SolverError

_NO_DISPLAY = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")  # matplotlib backends that only write files


def plot(result: Any, names: Sequence[str], path: Path | None, show: bool) -> Any:
    """The figure of Result.plot()."""
    new_figure = _figure(show)
    if not names:
        raise SolverError("the result has no variables to plot. Name some in simulate(outputs=...).")
    series = [result[name] for name in names]
    figure = new_figure(figsize=(8, 2.2 * len(names) + 0.6), layout="constrained")
    axes = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for axis, name, values in zip(axes, names, series, strict=True):
        axis.plot(result.time, values)
        unit = result.units.get(name) or result.units.get(f"{name}[1]") or ""
        axis.set_ylabel(f"{name} [{unit}]" if unit else name)
        axis.grid(alpha=0.3)
        if values.ndim > 1:
            axis.legend([str(i + 1) for i in range(values.shape[1])], loc="upper right")
    axes[-1].set_xlabel("time [s]")
    figure.suptitle(result.name)
    if path is not None:
        _save(figure, path)
    if show:
        _show(figure, result.name)
    return figure


def scatter(table: Any, over: Sequence[str], names: Sequence[str], path: Path | None, show: bool) -> Any:
    """A figure of points: each column of `names` over each of `over`. table: a mapping with path and units."""
    new_figure = _figure(show)
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
    if path is not None:
        _save(figure, path)
    if show:
        _show(figure, table.name)
    return figure


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


def _figure(show: bool) -> Any:
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
            f"there is no display for the plot of '{name}'. Save it with plot(path='{name}.png').", stacklevel=4
        )


def no_place(target: Path, error: OSError | ValueError) -> SolverError:
    """The error for a file that cannot be written; error: ValueError for an invalid path."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return SolverError(f"cannot write '{target}': {reason}. Choose another place.")
