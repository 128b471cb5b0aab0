"""Vibrations about an equilibrium as a page: the motion of each, with its frequency.

A vibration moves the mechanism along the velocities Re(m exp(i w t)), with the eigenvector m. Rates of positions by
velocities are those of a short step from the equilibrium, where nothing else moves; positions follow them along a
straight line, quaternions along their great circle, and the loops are then closed. The amplitude is what can be seen.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs.errors import FmumbsError, SolverError
from fmumbs.run import Result
from fmumbs.run.details import Motion
from fmumbs.run.equilibrium import Equilibrium
from fmumbs.run.solver import Solver
from fmumbs.run.vibrations import growths, vibrations
from fmumbs.view.data import as_field, data_of
from fmumbs.view.page import View
from fmumbs.view.poses import Poses, poses

Array = NDArray[np.float64]

MOST = 12
"""Vibrations of a page."""

_INSTANTS = 33  # of a period
_STEP = 1e-6  # of 1 / w: the step that gives rates
_SEEN, _TURNED = 0.08, 0.5  # amplitudes: of the mechanism's size; of an angle [rad]
_HALVINGS = 6  # of an amplitude at which loops do not close


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
        both = np.concatenate([found_poses.r, found_poses.quaternions], axis=2)
        made.append({
            "name": f"{len(made) + 1}: {_said(square)}, {most}",
            "times": as_field(np.linspace(0.0, period, _INSTANTS), "f8"),
            "poses": as_field(both, "f4"),
            "modal": {str(body): as_field(values, "f4") for body, values in found_poses.modal.items()},
        })  # fmt: skip
    return made


def _said(square: complex) -> str:
    """Its frequency, and how it grows."""
    growth = float(growths(np.array([square]))[0])
    hertz = float(np.sqrt(square).real) / (2.0 * np.pi)
    parts = [f"{hertz:.4g} Hz"] if hertz > 0.0 else []
    parts += [f"grows as exp({growth:.3g} t)"] if growth > 0.0 else []
    return ", ".join(parts) or "rests anywhere"


def _moved(found: Equilibrium, motion: NDArray[np.complex128], w: float) -> Poses:
    """(_INSTANTS,) poses over a period, the last as the first."""
    solver, start = Solver(found.solver.image.with_options(equilibrium=False)), found.solver.positions
    image = found.solver.image
    rates = [_rates(solver, start, part, w) for part in (motion.real, motion.imag)]
    rest = poses(image, start)
    size = _amplitude(rest, [poses(image, start + 1e-4 * one) for one in rates], image.scene.length) * 1e-4
    phases = np.linspace(0.0, 2.0 * np.pi, _INSTANTS)
    for _ in range(_HALVINGS):
        try:
            rows = [_closed(solver, start + size * (np.cos(a) * rates[0] - np.sin(a) * rates[1])) for a in phases]
            return poses(image, np.array(rows))
        except FmumbsError:
            size *= 0.5
    raise SolverError(f"the loops of '{image.name}' cannot be closed beside its equilibrium, at any amplitude tried.")


def _rates(solver: Solver, start: Array, speeds: Array, w: float) -> Array:
    """(positions,) rates of the positions by velocities."""
    size = float(np.abs(speeds).max())
    if size == 0.0:
        return np.zeros(len(start))
    step = _STEP / max(w, 1e-3)
    solver.reset()
    solver.set_state(_joints(solver, start), speeds / size)
    begin = solver.positions
    solver.step(step)
    return np.asarray((solver.positions - begin) * (size / step))


def _closed(solver: Solver, positions: Array) -> Array:
    solver.reset()
    solver.set_state(_joints(solver, positions), np.zeros(solver.image.sizes["speeds"]))
    return solver.positions


def _joints(solver: Solver, positions: Array) -> Array:
    """Without the states of friction, which follow those of the joints."""
    return positions[: len(solver.image.variables.positions())]


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
