"""Campbell diagrams: eigenvalues of steady motions over their speed, each followed by its shape.

From one speed to the next each mode is given to the one whose shape is most like it (modal assurance criterion) and
whose eigenvalue is near, all at once by an assignment of least cost. Critical speeds, at which a frequency equals the
speed, and limits of stability are then sought between two speeds, down to 1e-9 of the speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs.compiler import ModelImage
from fmumbs.compiler.kinds import BODY, JOINT
from fmumbs.errors import ModelError
from fmumbs.mechanism import Model
from fmumbs.run.coordinates import Array, Coordinates, solver_of
from fmumbs.run.eigenvalues import eigenvalues
from fmumbs.run.inverse import point_jacobian
from fmumbs.run.linearize import LinearModel, linearize
from fmumbs.run.plotting import campbell as drawn
from fmumbs.run.solver import Solver
from fmumbs.run.steady import steady

Complex = NDArray[np.complex128]

_CLOSE = 1e-9  # of the speed, of what is sought between two


@dataclass(frozen=True)
class Campbell:
    """Modes over a speed. model: its name. name: of the velocity that is the speed. speeds: (n,) [rad/s] or [m/s].

    eigenvalues: (n, modes) [1/s], a column for each mode, with positive or no imaginary parts where it begins.
    whirl: (n, modes) of the body behind the named joint, 1 where it goes round forwards, in the sense of the speed, on
    a circle, -1 backwards, 0 on a line or where it stands.
    critical: speeds at which a frequency equals the speed, and the mode's column. limits: speeds at which the motion
    becomes stable or unstable, and whether it is stable above. stable: (n,) whether no mode grows beyond round-off.
    """

    model: str
    name: str
    speeds: Array
    eigenvalues: Complex
    whirl: Array
    critical: tuple[tuple[float, int], ...]
    limits: tuple[tuple[float, bool], ...]
    stable: NDArray[np.bool_]

    def plot(self, *, path: str | Path | None = None, show: bool = True) -> Any:
        """A figure of frequencies and growth rates over the speed, backward whirl dashed.

        path: a file to write it to. show: opens a window where no file is named. Raises SolverError as Result.plot().
        """
        return drawn(self, None if path is None else Path(path), show and path is None)

    def __str__(self) -> str:
        lines = [f"Campbell diagram of '{self.model}' over {self.name}: {self.eigenvalues.shape[1]} modes"]
        lines += [f"critical speed {speed:.6g}, mode {mode + 1}" for speed, mode in self.critical]
        lines += [f"{'stable' if above else 'unstable'} above {speed:.6g}" for speed, above in self.limits]
        return "\n".join(lines)


@dataclass(frozen=True)
class _Spectrum:
    """All modes at one speed. errors: (modes,) how far round-off may move their values. shapes: (2 speeds, modes)
    displacements and velocities, of length one.
    """

    solver: Solver
    values: Complex
    errors: Array
    shapes: Complex
    whirl: Array


def campbell(model: Model | ModelImage | Solver, name: str, speeds: Sequence[float] | Array) -> Campbell:
    """Eigenvalues of the steady motions at several speeds, followed by their shapes.

    model: as for steady(). name: of the velocity that is the speed, such as "rotor.qd", or "R.kappa" if it is driven.
    speeds: (n,) [rad/s] or [m/s], ascending; the first motion is sought near the start, each other near the one before.

    Returns a Campbell. Raises ModelError for fewer than two speeds or such that do not ascend, and as steady().
    """
    given = _checks.array(speeds, "campbell: speeds").reshape(-1)
    solver = solver_of(model)
    if not isinstance(name, str):
        raise ModelError(f"campbell: name is {_checks.shown(name)}. Give that of a velocity, such as 'rotor.qd'.")
    if len(given) < 2 or not np.isfinite(given).all() or (np.diff(given) <= 0.0).any():
        raise ModelError(f"Model '{solver.image.name}': speeds are {given!r:.60}. Give at least two that ascend.")
    if not isinstance(model, Solver):
        solver.assemble()
    found = [_spectrum(solver, name, float(given[0]))]
    for speed in given[1:]:
        found.append(_follow(found[-1], _spectrum(found[-1].solver, name, float(speed))))
    kept = _one_of_each_pair(np.array([one.values for one in found]))
    values = np.array([one.values[kept] for one in found])
    values = np.where(values.imag < 0.0, values.conj(), values)
    stable = np.array([not _growth(one) > 0.0 for one in found])
    whirl = np.array([one.whirl[kept] for one in found])
    return Campbell(
        solver.image.name, name, given, values, whirl, tuple(_criticals(found, given, name, kept)),
        tuple(_limits(found, given, name)), stable,
    )  # fmt: skip


def _spectrum(solver: Solver, name: str, speed: float) -> _Spectrum:
    at = steady(solver, {name: speed})
    linear = linearize(at.solver, at=at, inputs=[], outputs=[])
    values, vectors, errors = eigenvalues(linear.A, linear.errors[0])
    energies = linear.energies
    unit = np.where(at.solver.image.arrays["mode_linear"][: len(energies.speeds)] == 1, _length(at.solver), 1.0)
    moved, rates = (each / unit[:, None] @ vectors for each in (energies.displacements, energies.speeds))
    rate = max(1.0, float(np.abs(values).max(initial=0.0)))
    shapes = np.concatenate([moved, rates / rate])
    shapes = shapes / np.maximum(np.linalg.norm(shapes, axis=0), 1e-300)
    return _Spectrum(at.solver, values, errors, shapes, _whirl(linear, at.solver, name, vectors, speed))


def _length(solver: Solver) -> float:
    return float(solver.image.arrays["length"].flat[0])


def _whirl(linear: LinearModel, solver: Solver, name: str, vectors: Complex, speed: float) -> Array:
    """(modes,) of the body behind a joint, about the axis in which its velocity turns it."""
    arrays, variables = solver.image.arrays, solver.image.variables
    joint = variables.structured.elements(JOINT).index(name.rpartition(".")[0])
    bodies = np.flatnonzero(arrays["body_link"] == arrays["joint_last"][joint])
    if not len(bodies):
        return np.zeros(vectors.shape[1])
    J = point_jacobian(solver, solver.positions, variables.structured.elements(BODY)[int(bodies[0])])
    axis = J[3:, Coordinates(solver.image).speeds.index(name)]
    if not np.linalg.norm(axis) > 0.0:
        return np.zeros(vectors.shape[1])
    axis = axis / np.linalg.norm(axis) * (-1.0 if speed < 0.0 else 1.0)
    first = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    first /= np.linalg.norm(first)
    second = np.cross(axis, first)
    moved = J @ (linear.energies.displacements @ vectors)
    a, b = (np.concatenate([[e @ moved[:3] / _length(solver)], [e @ moved[3:]]]) for e in (first, second))
    size = (np.abs(a) ** 2 + np.abs(b) ** 2).sum(axis=0)
    turned = -2.0 * np.imag(np.conj(a) * b).sum(axis=0)
    return np.asarray(np.where(size > 1e-12, turned / np.where(size > 1e-12, size, 1.0), 0.0))


def _follow(before: _Spectrum, after: _Spectrum) -> _Spectrum:
    """The modes of `after` in the order of those before."""
    from scipy.optimize import linear_sum_assignment

    if len(before.values) != len(after.values):
        raise ModelError(
            f"the number of states changes from {len(before.values)} to {len(after.values)} between two speeds, as "
            "others of the coordinates stand still. Leave out the speed zero."
        )
    alike = np.abs(before.shapes.conj().T @ after.shapes) ** 2
    far = np.abs(before.values[:, None] - after.values[None, :])
    scale = max(float(np.abs(before.values).max(initial=0.0)), 1e-300)
    order = linear_sum_assignment(1.0 - alike + far / scale)[1]
    values, errors = after.values[order], after.errors[order]
    return _Spectrum(after.solver, values, errors, after.shapes[:, order], after.whirl[order])


def _one_of_each_pair(values: Complex) -> NDArray[np.int64]:
    """Columns without the conjugates of others: those with positive imaginary parts on the whole, or ever real ones."""
    near = 1e-9 * np.abs(values).max(initial=0.0)
    kept = np.flatnonzero((values.imag.sum(axis=0) >= -near) | (np.abs(values.imag) <= near).any(axis=0))
    return kept[np.argsort(values[0, kept].imag, kind="stable")]


def _growth(found: _Spectrum) -> float:
    """The largest real part beyond round-off [1/s]; where there is none, minus what is left of the largest error."""
    real = found.values.real
    clear = np.abs(real) > found.errors
    return float(real[clear].max()) if clear.any() else -float(found.errors.max(initial=0.0))


def _limit(begin: _Spectrum, low: float, high: float, name: str) -> float:
    """The speed between two at which the motion begins or ceases to grow."""
    from scipy.optimize import brentq

    def growth(speed: float) -> float:
        return _growth(_spectrum(begin.solver, name, speed))

    return float(brentq(growth, low, high, xtol=_CLOSE * max(abs(low), abs(high)), rtol=1e-12))


def _criticals(
    found: list[_Spectrum], speeds: Array, name: str, kept: NDArray[np.int64]
) -> list[tuple[float, int]]:  # fmt: skip
    """Where the frequency of a mode equals the speed."""
    criticals = []
    for place, mode in enumerate(kept.tolist()):
        off = [abs(one.values[mode].imag) - abs(speed) for one, speed in zip(found, speeds, strict=True)]
        for k in range(len(off) - 1):
            if off[k] * off[k + 1] < 0.0 and not all(abs(found[i].values[mode].imag) < 1e-9 for i in (k, k + 1)):
                at = _crossing(found[k], float(speeds[k]), float(speeds[k + 1]), name, mode)
                criticals.append((at, place))
    return sorted(criticals)


def _crossing(begin: _Spectrum, low: float, high: float, name: str, mode: int) -> float:
    from scipy.optimize import brentq

    def off(speed: float) -> float:
        return float(abs(_follow(begin, _spectrum(begin.solver, name, speed)).values[mode].imag)) - abs(speed)

    return float(brentq(off, low, high, xtol=_CLOSE * max(abs(low), abs(high)), rtol=1e-12))


def _limits(found: list[_Spectrum], speeds: Array, name: str) -> list[tuple[float, bool]]:
    """Where the motion becomes stable or unstable."""
    grows = [_growth(one) > 0.0 for one in found]
    return [
        (_limit(found[k], float(speeds[k]), float(speeds[k + 1]), name), grows[k])
        for k in range(len(grows) - 1)
        if grows[k] != grows[k + 1]
    ]
