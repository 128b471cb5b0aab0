"""Small motions about a state as a page: vibrations about an equilibrium, modes of a linear model or a flexible body.

A vibration moves the mechanism along the velocities Re(m exp(i w t)), with the eigenvector m. Rates of positions by
velocities are those of a short step from the equilibrium, where nothing else moves; positions follow them along a
straight line, quaternions along their great circle, and the loops are then closed. A mode of a linear model moves its
independent states by Re(v exp(p t)), as far as it decays or grows by a factor of 20, or for five periods; beside a
steady motion this is seen in axes that move with it. Amplitudes are what can be seen.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler import image_of
from fmumbs.errors import FmumbsError, ModelError, SolverError
from fmumbs.finite_elements.mode_table import eigenmodes
from fmumbs.mechanism import ModalBody, Model, Point, Weld
from fmumbs.run import Result
from fmumbs.run.charts import Chart
from fmumbs.run.details import Motion
from fmumbs.run.equilibrium import Equilibrium
from fmumbs.run.linearize import LinearModel
from fmumbs.run.solver import Solver
from fmumbs.run.vibrations import growths, vibrations
from fmumbs.view.data import as_field, data_of
from fmumbs.view.page import View
from fmumbs.view.poses import Poses, poses

Array = NDArray[np.float64]
_Made = TypeVar("_Made")

MOST = 12
"""Vibrations or modes of a page."""

_INSTANTS = 33  # of a period
_SECONDS = 2.0  # that a period takes in the page at the speed 1
_DECAY = np.log(20.0)  # of a mode: how far it is followed
_PERIODS = 5  # at most
_STEP = 1e-6  # of 1 / w: the step that gives rates
_SEEN, _TURNED = 0.08, 0.5  # amplitudes: of the mechanism's size; of an angle [rad]
_LEAST_SEEN = 1.0 / 64.0  # of an amplitude, where loops close at no larger one: about a pixel of a page
# beside a state, of which loops may allow short steps only: round-off is 1e-4 of a displacement by the least one
_BESIDE, _LEAST_BESIDE = 1e-4, 1e-12


def view_vibrations(found: Equilibrium) -> View:
    """The page of an equilibrium: the mechanism in it, and up to MOST vibrations to choose from, the slowest first.

    Raises SolverError if the loops cannot be closed beside the equilibrium.
    """
    image = found.solver.image
    at = found.solver.positions
    result = Result(image.name, np.zeros(1), {}, {}, motion=Motion(image, at[None]))
    data = data_of(result, Motion(image, at[None]), note=str(found))
    return View(image.name, data | {"modes": modes(found) or None})


def modes(found: Equilibrium) -> list[dict[str, Any]]:
    """Of each vibration its name, its period [s], and the poses over it, as data_of() has them."""
    image, kept = found.solver.image, vibrations(found.solver)
    linear = image.arrays["mode_linear"][: image.sizes["speeds"]] == 1
    scale = np.where(linear, float(image.arrays["length"].flat[0]), 1.0)
    places = image.variables.names(image.variables.speeds())
    made: list[dict[str, Any]] = []
    for k in np.argsort(np.abs(kept.squares), kind="stable")[:MOST]:
        square, motion = complex(kept.squares[k]), scale * kept.motions[:, k]
        w = abs(np.sqrt(square))
        most = places[int(np.abs(kept.motions[:, k]).argmax())].replace(".qd", ".q").replace(".kappa", ".eta")
        period = 2.0 * np.pi / w if w > 0.0 else 1.0
        found_poses = _moved(found, motion, w)
        name = f"{len(made) + 1}: {_said(square, float(kept.errors[k]))}, {most}"
        made.append(_as_data(name, np.linspace(0.0, period, _INSTANTS), _SECONDS, found_poses))
    return made


def _as_data(name: str, times: Array, seconds: float, moved: Poses) -> dict[str, Any]:
    """A motion to choose in the page, which takes `seconds` there."""
    return {
        "name": name,
        "seconds": seconds,
        "times": as_field(times, "f8"),
        "poses": as_field(np.concatenate([moved.r, moved.quaternions], axis=2), "f4"),
        "modal": {str(body): as_field(values, "f4") for body, values in moved.modal.items()},
    }


def _said(square: complex, error: float) -> str:
    """The frequency of a vibration with this square, and how it grows, beyond the square's error."""
    if abs(square) <= error:
        return "rests anywhere" if error == 0.0 else f"not decided: 0 +- {np.sqrt(error):.2g} rad/s"
    growth = float(growths(np.array([square]))[0])
    hertz = float(np.sqrt(square).real) / (2.0 * np.pi)
    parts = [f"{hertz:.4g} Hz"] if hertz > 0.0 else []
    parts += [f"grows as exp({growth:.3g} t)"] if growth > 0.0 else []
    return ", ".join(parts)


def _moved(found: Equilibrium, motion: NDArray[np.complex128], w: float) -> Poses:
    """(_INSTANTS,) poses over a period, the last as the first."""
    solver, start = Solver(found.solver.image.with_options(equilibrium=False)), found.solver.positions
    image = found.solver.image
    rates = [_rates(solver, start, part, w) for part in (motion.real, motion.imag)]
    rest = poses(image, start)
    size = _amplitude(rest, [poses(image, start + 1e-4 * one) for one in rates], image.scene.length) * 1e-4
    phases = np.linspace(0.0, 2.0 * np.pi, _INSTANTS)

    def moved(size: float) -> Poses:
        rows = [_closed(solver, start + size * (np.cos(a) * rates[0] - np.sin(a) * rates[1])) for a in phases]
        return poses(image, np.array(rows))

    return _halved(image.name, moved, size, _LEAST_SEEN * size)


def _halved(name: str, make: Callable[[float], _Made], size: float, least: float) -> _Made:
    """What is made of a size, or halves of it, where loops can be closed. Raises SolverError if they cannot at any."""
    while size >= least:
        try:
            return make(size)
        except FmumbsError:
            size *= 0.5
    raise SolverError(f"the loops of '{name}' cannot be closed beside this state, at any amplitude tried.")


def _rates(solver: Solver, start: Array, speeds: Array, w: float) -> Array:
    """(positions,) rates of the positions by velocities."""
    size = float(np.abs(speeds).max())
    if size == 0.0:
        return np.zeros(len(start))
    step = _STEP / max(w, 1e-3)
    solver.reset()
    solver.set_state(start, speeds / size)
    begin = solver.positions
    solver.step(step)
    return np.asarray((solver.positions - begin) * (size / step))


def _closed(solver: Solver, positions: Array) -> Array:
    solver.reset()
    solver.set_state(positions, np.zeros(solver.image.sizes["speeds"]))
    return solver.positions


# Modes of a flexible body -----------------------------------------------------------------------------------------


def view_modes(body: ModalBody) -> View:
    """The page of a flexible body: its eigenmodes with its frame fixed, one to choose, the slowest first.

    Raises ModelError for a body without points, which nothing can hold, and where some motion of the modes has no mass.
    """
    table = body.table
    if not table or not body.points:
        what = "some motion of its modes has no mass" if not table else "it has no points. Give points="
        raise ModelError(f"ModalBody '{body.name}' has no modes to show: {what}.")
    model = Model(body.name, gravity=(0.0, 0.0, 0.0))
    model.add(body, Weld("held", model.ground.at(), Point(body, body.points[0].X_BP)))
    image = image_of(model)
    start = np.zeros((1, image.sizes["positions"]))
    rest, motion = poses(image, start), Motion(image, start)
    data = data_of(Result(image.name, np.zeros(1), {}, {}, motion=motion), motion)
    _, shapes = eigenmodes(np.array(body.stiffness), np.array(body.modal_mass))
    waves = np.cos(np.linspace(0.0, 2.0 * np.pi, _INSTANTS))
    made = []
    for k, (row, shape) in enumerate(zip(table, shapes.T, strict=True)):
        size = _amplitude(rest, [replace(rest, modal={0: shape[None]})], image.scene.length)
        r, R = (np.repeat(one, _INSTANTS, axis=0) for one in (rest.r, rest.R))
        period = 1.0 / row.frequency if row.frequency > 0.0 else 1.0
        name = f"{k + 1}: {row.frequency:.4g} Hz" + (f", {row.kind}" if row.kind else "")
        moved = Poses(r, R, {0: np.outer(waves, size * shape)})
        made.append(_as_data(name, np.linspace(0.0, period, _INSTANTS), _SECONDS, moved))
    return View(image.name, data | {"modes": made})


# Modes of a linear model ------------------------------------------------------------------------------------------


def view_linear(linear: LinearModel) -> View:
    """The page of a linear model: the mechanism in its state, and up to MOST modes to choose from, the slowest first.

    Raises SolverError if the loops cannot be closed beside the state.
    """
    chart = linear.energies.chart
    image, at = chart.image, chart.positions(chart.x0)
    result = Result(image.name, np.zeros(1), {}, {}, motion=Motion(image, at[None]))
    data = data_of(result, Motion(image, at[None]), note=linear.summary)
    return View(image.name, data | {"modes": modes_of_linear(linear) or None})


def modes_of_linear(linear: LinearModel) -> list[dict[str, Any]]:
    """Of each mode that moves something its name with frequency and damping, and the poses over its time."""
    chart, kept, found = linear.energies.chart, linear.energies.kept, linear.modes
    places = np.flatnonzero(kept < len(chart.free))  # the states that are positions
    made: list[dict[str, Any]] = []
    for k in np.argsort(np.abs(found.eigenvalues), kind="stable").tolist():
        part = found.shapes[places, k] / chart.sizes[kept[places]]
        largest = float(np.abs(part).max(initial=0.0))
        if largest == 0.0 or len(made) == MOST:
            continue
        shape = np.zeros(len(chart.x0), complex)
        shape[kept[places]] = found.shapes[places, k] / largest
        value = complex(found.eigenvalues[k])
        times, seconds = _times_of(value)
        most = linear.states[int(places[np.abs(part).argmax()])]
        name = f"{len(made) + 1}: {_numbers(value, float(found.errors[k]))}, {most}"
        made.append(_as_data(name, times, seconds, _moved_states(chart, shape, _wave(value, times))))
    return made


def _times_of(value: complex) -> tuple[Array, float]:
    """The instants [s] of a mode with this eigenvalue, and the seconds that they take in the page."""
    period = 2.0 * np.pi / abs(value.imag) if value.imag else np.inf
    decay = _DECAY / abs(value.real) if value.real else np.inf
    end = min(decay, _PERIODS * period)
    if end == np.inf:
        return np.array([0.0, 1.0]), _SECONDS
    periods = max(1.0, end / period)
    return np.linspace(0.0, end, 1 + round((_INSTANTS - 1) * periods)), _SECONDS * periods


def _wave(value: complex, times: Array) -> NDArray[np.complex128]:
    """exp(value t), at most 1."""
    return np.asarray(np.exp(value * times - max(0.0, value.real) * times[-1]))


def _numbers(value: complex, error: float) -> str:
    """Natural frequency and damping ratio, or how fast it decays or grows without vibrating, beyond its error."""
    if abs(value) <= error:
        return "rests anywhere" if error == 0.0 else f"not decided: 0 +- {error:.2g} 1/s"
    if value.imag:
        damping = -value.real / abs(value) if abs(value.real) > error else 0.0
        return f"{abs(value) / (2.0 * np.pi):.4g} Hz, damping {damping:.3g}"
    return f"{'grows' if value.real > 0.0 else 'decays'} as exp({value.real:.3g} t)"


def _moved_states(chart: Chart, shape: NDArray[np.complex128], wave: NDArray[np.complex128]) -> Poses:
    """Poses of a chart's states moved by the real part of shape times each of the wave."""
    image = chart.image
    rest = poses(image, chart.positions(chart.x0))

    def amplitude(step: float) -> float:
        beside = [poses(image, chart.positions(chart.x0 + step * part)) for part in (shape.real, shape.imag)]
        return _amplitude(rest, beside, image.scene.length) * step

    def moved(size: float) -> Poses:
        rows = [chart.positions(chart.x0 + size * (shape * one).real) for one in wave]
        chart.positions(chart.x0)
        return poses(image, np.array(rows))

    size = _halved(image.name, amplitude, _BESIDE, _LEAST_BESIDE)
    return _halved(image.name, moved, size, _LEAST_SEEN * size)


def _amplitude(rest: Poses, moved: list[Poses], length: float) -> float:
    """How often a small displacement is to be seen: no body moves or turns farther than that."""
    apart = rest.r[0] - rest.r[0].mean(axis=0) if rest.r.shape[1] else np.zeros((1, 3))
    size = max(float(np.abs(apart).max()), length)
    most = 1e-300
    for one in moved:
        turned = np.einsum("bij,bkj->bik", one.R[0], rest.R[0])
        angle = np.sqrt(np.maximum(0.0, 3.0 - np.trace(turned, axis1=1, axis2=2)))  # to first order
        most = max(most, float(np.abs(one.r - rest.r).max()) / (_SEEN * size), float(angle.max()) / _TURNED)
        for body, values in one.modal.items():
            most = max(most, float(np.abs(values - rest.modal[body]).max()) / (_SEEN * size))
    return 1.0 / most
