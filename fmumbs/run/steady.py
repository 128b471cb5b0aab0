"""Steady motions: relative equilibria, in which some coordinates move at constant rates and nothing else changes.

With the states of charts.py, s' and v' their rates, Newton's method solves

    v' = 0,   s_j' = 0 for all that do not move,   u_k = given rates

for positions and velocities together, by least squares, as some of these equations follow from the others. What moves
must be cyclic: the rates are the same wherever it is. A coordinate is tried at two states, before and after a shift.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs.compiler import ModelImage
from fmumbs.compiler.names import nearest
from fmumbs.errors import AssemblyError, EquilibriumError, ModelError, SolverError
from fmumbs.mechanism import Model
from fmumbs.run.charts import Chart
from fmumbs.run.coordinates import Array, Coordinates, refuse_impacts, solver_of
from fmumbs.run.solver import Solver

_STEP = 1e-5  # of the sizes, of the differences of Newton's matrix
_MOST = 60  # steps, each of which must leave less than before
_FOUND = 1e-9  # of the rates: what is left of them in a steady motion
_SHIFT = 0.7  # [rad], or of the length: by which a cyclic coordinate is moved
_SAME = 1e-8  # of the rates: what a shift of a cyclic coordinate may change
_LONGEST = 0.5  # of the sizes: a step of Newton's method


@dataclass(frozen=True)
class Steady:
    """A steady motion. rates: of the coordinates that move [rad/s] or [m/s], by the names of their velocities.
    positions: of the tree's joints by name. residual: the largest rate that is left, of the sizes of the states.
    solver: stands there.
    """

    rates: Mapping[str, float]
    positions: Mapping[str, float]
    residual: float
    solver: Solver = field(repr=False)

    def __str__(self) -> str:
        moving = ", ".join(f"{name} = {value:.6g}" for name, value in self.rates.items())
        return f"steady motion of '{self.solver.image.name}': {moving or 'at rest'}"


def steady(model: Model | ModelImage | Solver, rates: Mapping[str, float]) -> Steady:
    """The steady motion near the start in which named velocities are constant, such as {"rotor.qd": 100}.

    Positions and velocities are found so that all accelerations vanish, and nothing moves but coordinates on which the
    dynamics do not depend: the angle of a rotor, the way of a vehicle, the spin of a body on a ball joint ("S.w[3]").
    Give the rates of those that matter; others that must move with them, such as wheels, follow. A mode that an input
    for its acceleration drives ("R.kappa") turns as it is told; a free one must turn by itself.

    model: a Model, a ModelImage with all variables, or a Solver, which is left alone: the search begins at its state.
    rates: [rad/s] or [m/s], by names of velocities.

    Raises ModelError for unknown names and for a coordinate that should move but on which the dynamics depend;
    EquilibriumError where no steady motion is found near the start; AssemblyError.
    """
    solver = solver_of(model)
    if not isinstance(model, Solver):
        solver.assemble()
    refuse_impacts(solver.image, "steady", EquilibriumError)
    speeds = Coordinates(solver.image).speeds
    given: dict[int, float] = {}
    for name, value in _checks.mapping(rates, "steady: rates", "Give {'rotor.qd': 100.0}.").items():
        if name not in speeds:
            raise ModelError(f"Model '{solver.image.name}' has no velocity '{name}'. {nearest(str(name), speeds)}")
        given[speeds.index(name)] = _checks.number(value, f"steady: the rate of '{name}'")
    chart = Chart(solver)
    moves = _moving(chart, list(given))
    chart, residual = _solve(chart, given, moves)
    _check(chart)
    chart.go(chart.x0)
    u, nominal = chart.speeds(), chart.hosted.speeds_of(chart.nominal)
    moving = {name: float(u[i]) for i, name in enumerate(speeds) if abs(u[i]) > _FOUND * nominal[i]}
    names = Coordinates(solver.image).positions
    return Steady(moving, dict(zip(names, chart.y0.tolist(), strict=False)), residual, chart.solver)


def _moving(chart: Chart, given: list[int]) -> NDArray[np.bool_]:
    """(free,) which independent components of s may move: cyclic ones, and orientations whose rate is given."""
    turning = {p for p, u in chart.balls if {u, u + 1, u + 2} & set(given)}
    rng = np.random.default_rng(0)
    found = np.zeros(len(chart.free), bool)
    for j, component in enumerate(chart.free.tolist()):
        if chart.turn[component] >= 0:
            found[j] = int(chart.place[component]) in turning
        else:
            found[j] = all(_same(chart, j, 0.1 * rng.normal(size=len(chart.x0)) * chart.sizes) for _ in range(2))
            if not found[j] and int(chart.speed[component]) in given:
                raise ModelError(_depends(chart, j))
    return found


def _same(chart: Chart, j: int, away: Array) -> bool:
    """Whether the rates beside the chart's state do not depend on a component."""
    x = chart.x0 + away
    try:
        before = chart.rates(x)
        x[j] += _SHIFT * chart.sizes[j]
        after = chart.rates(x)
    except (ModelError, SolverError, AssemblyError):
        return False
    scale = np.abs(before / chart.sizes).max(initial=1.0)
    return bool((np.abs(after - before) <= _SAME * scale * chart.sizes).all())


def _left(chart: Chart, x: Array, given: Mapping[int, float], moves: NDArray[np.bool_]) -> Array:
    """What does not vanish at x, relative to the sizes."""
    rates = chart.rates(x) / chart.sizes
    n, m = len(chart.free), len(chart.moving)
    own = chart.speeds()
    u = np.array([(own[i] - value) / chart.hosted.speeds_of(chart.nominal)[i] for i, value in given.items()])
    return np.concatenate([rates[:n][~moves], rates[n : n + m], rates[n + m :], u])


def _solve(chart: Chart, given: Mapping[int, float], moves: NDArray[np.bool_]) -> tuple[Chart, float]:
    x = chart.x0.copy()
    scale = max([1.0, *(abs(v) / chart.hosted.speeds_of(chart.nominal)[i] for i, v in given.items())])
    left = _left(chart, x, given, moves)
    for _ in range(_MOST):
        size = float(np.abs(left).max(initial=0.0))
        if size <= _FOUND * scale * 1e-3:
            break
        J = np.array([_slope(chart, x, k, given, moves) for k in range(len(x))]).T
        step = -np.linalg.lstsq(J, left, rcond=1e-9)[0] if len(x) else np.zeros(0)
        n = len(chart.free)
        part = min(1.0, _LONGEST / max(np.abs(step[:n]).max(initial=0.0), 1e-300))
        better = False
        while part > 1e-4 and not better:
            tried = x + part * step * chart.sizes
            try:
                other = _left(chart, tried, given, moves)
                better = float(np.linalg.norm(other)) < float(np.linalg.norm(left))
            except (ModelError, SolverError, AssemblyError):
                pass
            part *= 0.5
        if not better:
            break
        x, left = tried, other
    size = float(np.abs(left).max(initial=0.0))
    if not size <= _FOUND * scale:
        n = len(moves)
        names = [*(name for name, free in zip(chart.names[:n], moves, strict=True) if not free), *chart.names[n:]]
        worst = int(np.argmax(np.abs(left)))
        what = f"the rate of '{names[worst]}' remains" if worst < len(names) else "the given rate is not reached"
        raise EquilibriumError(
            f"Model '{chart.image.name}': no steady motion was found near the start: {what}. Give a start nearer to "
            "it, or an input that holds the rates against friction."
        )
    chart.go(x)
    return Chart(chart.solver), size


def _slope(chart: Chart, x: Array, k: int, given: Mapping[int, float], moves: NDArray[np.bool_]) -> Array:
    """Along one state, in its size."""
    sides = []
    for sign in (1.0, -1.0):
        moved = x.copy()
        moved[k] += sign * _STEP * chart.sizes[k]
        sides.append(_left(chart, moved, given, moves))
    return np.asarray((sides[0] - sides[1]) / (2.0 * _STEP))


def _check(chart: Chart) -> None:
    """Raises ModelError where the motion does not stay steady, with the coordinate that moves."""
    rates = chart.rates(chart.x0)
    for j, component in enumerate(chart.free.tolist()):
        if abs(rates[j]) <= _FOUND * chart.sizes[j]:
            continue
        x = chart.x0.copy()
        if chart.turn[component] < 0:
            x[j] += _SHIFT * chart.sizes[j]
        else:
            ball = (chart.place == chart.place[component]) & (chart.turn >= 0)
            same = np.flatnonzero(ball[chart.free])
            x[same] += _SHIFT * rates[same] / np.linalg.norm(rates[same])
        n = len(chart.free)
        after = chart.rates(x)[n:] / chart.sizes[n:]
        if np.abs(after).max(initial=0.0) > 1e-6 * max(1.0, np.abs(rates / chart.sizes).max()):
            raise ModelError(_depends(chart, j))


def _depends(chart: Chart, j: int) -> str:
    return (
        f"Model '{chart.image.name}': the dynamics depend on '{chart.names[j]}', so that no motion is steady while it "
        "moves. Give the rate of a coordinate that turns or slides without end."
    )
