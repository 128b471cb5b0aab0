"""Result: what a simulation leaves, by name."""

import csv
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs._files import whole
from fmumbs.compiler.names import nearest
from fmumbs.errors import SolverError

Array = NDArray[np.float64]


class Result:
    """Time series of a simulation: `result.time` (n,) [s], `result["A.q"]` (n,), units in `result.units`."""

    def __init__(self, name: str, time: Array, values: Mapping[str, Array], units: Mapping[str, str]) -> None:
        self.name = name
        self.time = time
        self.units = dict(units)
        self._values = dict(values)

    def __repr__(self) -> str:
        return f"Result({self.name!r}, {len(self.time)} times to {self.time[-1]:g} s, {len(self._values)} variables)"

    def __getitem__(self, name: str) -> Array:
        """(n,) a variable, or (n, components) of a vector."""
        if name in self._values:
            return self._values[name]
        parts: list[Array] = []
        while f"{name}[{len(parts) + 1}]" in self._values:
            parts.append(self._values[f"{name}[{len(parts) + 1}]"])
        if not parts:
            raise SolverError(f"the result has no variable '{name}'. {nearest(name, self._values)}")
        return np.stack(parts, axis=1)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    @property
    def names(self) -> list[str]:
        return list(self._values)

    def save_csv(self, path: "str | os.PathLike[str]") -> Path:
        """Writes time and every variable, one column each; beside its place first, then moved in."""
        target = Path(path)
        try:
            with whole(target) as file:
                text = io.TextIOWrapper(file, encoding="utf-8", newline="")
                writer = csv.writer(text)
                writer.writerow(["time", *self._values])
                for i, t in enumerate(self.time):
                    writer.writerow([repr(float(t)), *(repr(float(v[i])) for v in self._values.values())])
                text.flush()
                text.detach()
        except OSError as error:
            raise _no_place(target, error) from error
        return target

    def plot(self, *names: str, path: "str | os.PathLike[str] | None" = None) -> Any:
        """Draws variables over time, all of a vector's components; to a file, or returns the figure."""
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise SolverError("plots need matplotlib. Install it with: pip install 'fmumbs[plot]'.") from error
        chosen = names or tuple(self._values)[:8]
        if not chosen:
            raise SolverError("the result keeps no variables to draw. Name some in simulate(outputs=...).")
        figure = Figure(figsize=(8, 2.2 * len(chosen) + 0.6), layout="constrained")
        axes = figure.subplots(len(chosen), 1, sharex=True, squeeze=False)[:, 0]
        for axis, name in zip(axes, chosen, strict=True):
            values = self[name]
            axis.plot(self.time, values)
            unit = self.units.get(name) or self.units.get(f"{name}[1]") or ""
            axis.set_ylabel(f"{name} [{unit}]" if unit else name)
            axis.grid(alpha=0.3)
            if values.ndim > 1:
                axis.legend([str(i + 1) for i in range(values.shape[1])], loc="upper right")
        axes[-1].set_xlabel("time [s]")
        figure.suptitle(self.name)
        if path is not None:
            target = Path(path)
            known = figure.canvas.get_supported_filetypes()
            kind = target.suffix.lstrip(".").lower() or "png"
            if kind not in known:
                raise SolverError(f"'{target}' would be a picture of no known kind. Give one of .{', .'.join(known)}.")
            try:
                with whole(target) as file:
                    figure.savefig(file, dpi=120, format=kind)
            except OSError as error:
                raise _no_place(target, error) from error
        return figure


def _no_place(target: Path, error: OSError) -> SolverError:
    return SolverError(f"cannot write '{target}': {error.strerror or error}. Choose another place.")
