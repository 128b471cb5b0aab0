"""The linear model of a mechanism about a state: x' = f0 + A (x - x0) + B (u - u0), y = y0 + C (x - x0) + D (u - u0).

The states are independent (charts.py). Derivatives are central differences of the core's rates and outputs,
extrapolated (extrapolation.py); the error of each entry is at least that of the first step by the round-off of the
rates, which is seen where the state changes in its last digits.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs._files import whole
from fmumbs._late import later
from fmumbs.compiler import ModelImage
from fmumbs.compiler.kinds import ACTUATOR, JOINT, kinds
from fmumbs.compiler.layout import lib
from fmumbs.errors import AssemblyError, ModelError, SolverError
from fmumbs.mechanism import Model
from fmumbs.run.charts import Chart
from fmumbs.run.coordinates import Array, solver_of
from fmumbs.run.energies import Energies
from fmumbs.run.equilibrium import equilibrium
from fmumbs.run.extrapolation import extrapolated
from fmumbs.run.linear_modes import Modes, modes_of
from fmumbs.run.result import Result
from fmumbs.run.solver import Solver
from fmumbs.run.steady import Steady

_FIRST = 0.1  # step, of the sizes of the states
_LAST_DIGITS = 4.0 * float(np.finfo(float).eps)  # of the sizes: changes that show the round-off of the rates
_LOOKS = 8
_AT_REST = 1e-6  # rates of an equilibrium, of the sizes of the states, times g over the length

At = Literal["start", "equilibrium"] | tuple[Result, float] | Steady


@dataclass(frozen=True)
class LinearModel:
    """x' = f0 + A (x - x0) + B (u - u0), y = y0 + C (x - x0) + D (u - u0), made by linearize().

    name: of the model. time: [s]. A, B, C, D: (states, states), (states, inputs), (outputs, states), (outputs, inputs).
    f0: (states,) the rates at x0 and u0, zero in an equilibrium. x0, u0, y0: (states,), (inputs,), (outputs,).
    states, inputs, outputs: names; state_units, input_units, output_units: theirs. States are the positions that are
    independent, then the velocities, then bristles of friction. Of a ball or free joint the positions are
    "J.rotation[1]" to [3], a rotation vector from its orientation at x0 [rad] in M's axes, and the velocities its w.
    errors: of A, B, C, D, as found from their extrapolation, and from the round-off of rates and outputs.
    residual: the largest of f0 relative to the states' sizes, one radian, the model's length, or these per second
    [1/s]; moving: the state that it belongs to. at_rest: whether that is an equilibrium.
    frozen: what the model takes as it is: laws that stick or are at a kink, modes on paths. energies: of what `modes`
        makes shares.
    """

    name: str
    time: float
    A: Array
    B: Array
    C: Array
    D: Array
    f0: Array
    x0: Array
    u0: Array
    y0: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    state_units: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    errors: tuple[Array, Array, Array, Array]
    residual: float
    moving: str
    at_rest: bool
    frozen: tuple[str, ...]
    energies: Energies

    @cached_property
    def modes(self) -> Modes:
        """Eigenvalues of A with a positive or no imaginary part, their shapes and shares of energy."""
        return modes_of(self.A, self.errors[0], self.states, self.energies)

    def to_scipy(self) -> Any:
        """A scipy.signal.StateSpace of the deviations x - x0, u - u0, y - y0. Raises ModelError without outputs."""
        from scipy.signal import StateSpace

        if not len(self.outputs):
            raise ModelError(f"Model '{self.name}': its linear model has no outputs. Name some as outputs=[...].")
        return StateSpace(self.A, self.B, self.C, self.D)

    def to_control(self) -> Any:
        """The same as a control.StateSpace, whose names have _ in place of dots and brackets: S_w_1 of S.w[1].

        Raises SolverError if the package `control` is missing.
        """
        try:
            import control
        except ImportError:
            raise SolverError("to_control() needs another package. Run: pip install fmumbs[control].") from None
        given = {"states": self.states, "inputs": self.inputs, "outputs": self.outputs}
        names = {what: [re.sub(r"\W+", "_", name).strip("_") for name in each] for what, each in given.items()}
        return control.ss(self.A, self.B, self.C, self.D, name=self.name, **names)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the matrices, values and names to a file of NumPy (.npz) or Matlab (.mat), `path`. Raises ModelError
        for another suffix, OSError.
        """
        at = Path(path)
        numbers = ("A", "B", "C", "D", "f0", "x0", "u0", "y0", "time")
        texts = ("states", "inputs", "outputs", "state_units", "input_units", "output_units", "frozen")
        content: dict[str, Any] = {name: getattr(self, name) for name in numbers}
        content |= {name: np.array(getattr(self, name), dtype=object if at.suffix == ".mat" else str) for name in texts}
        if at.suffix not in (".npz", ".mat"):
            raise ModelError(f"no linear model can be written as '{at.name}'. Call it {at.stem}.npz or {at.stem}.mat.")
        with whole(at) as file:
            if at.suffix == ".npz":
                np.savez(file, **content)
            else:
                from scipy.io import savemat

                savemat(file, content, oned_as="column")
        return at

    def view(self) -> Any:
        """A page of its modes, each with its frequency and damping, which a notebook shows; see Model.view().

        Up to twelve, the slowest first; their amplitude is what can be seen, and falls or grows as the damping says.
        Beside a steady motion they are seen in axes that move with it. Raises SolverError if the loops cannot be closed
        beside the state.
        """
        return later("view").view_linear(self)

    @property
    def summary(self) -> str:
        """What it is and where, without its modes."""
        sizes = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        lines = [f"linear model of '{self.name}' at {self.time:g} s: {sizes}"]
        if not self.at_rest:
            value = self.f0[self.states.index(self.moving)]
            lines.append(f"not at an equilibrium: the rate of {self.moving} is {value:.6g}")
        return "\n".join([*lines, *(f"frozen: {text}" for text in self.frozen)])

    def __str__(self) -> str:
        return f"{self.summary}\n{self.modes}"


def linearize(
    model: Model | ModelImage | Solver,
    at: At = "start",
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
) -> LinearModel:
    """The linear model of a mechanism about a state.

    Works on trees, loops, programs and flexible bodies; loops and programs in independent coordinates, ball joints in
    three small rotations, bristles of friction as states. Laws stay in their pieces, or stick, modes on a path stay
    where they are, and the joint of a closed stop with a restitution is locked: `frozen` names these. Contacts that are
    closed are springs, with their bristles as states; `frozen` names those that are open or slip. Away from an
    equilibrium f0 is not zero, and the printed text says so.

    model: a Model, a ModelImage with all variables, or a Solver, which stands at the state and is left alone.
    at: "start"; "equilibrium", the static one near the start (fm.equilibrium); (result, time), a state of a Result with
        all positions and velocities, at its recorded time next to `time` [s]; or a Steady motion (fm.steady) of the
        model: deviations from it, without the coordinates that move.
    inputs: names of inputs, vectors or components; by default those that the model declares, or all.
    outputs: names of outputs; by default those that the model declares, or positions and velocities of all joints.

    Returns a LinearModel. Raises ModelError for unknown names, for a Result without a velocity, and where derivatives
    do not exist; AssemblyError, EquilibriumError; SolverError where the state has no accelerations.
    """
    solver = _solver_at(model, at)
    chart = Chart(solver)
    u = _references(solver, inputs, "input", lambda: _default(model, solver, "input"))
    y = output_references(model, solver, outputs)
    energies = Energies.of(chart)
    point = _Point(chart, u, y, energies)
    f0 = point.at(point.origin)
    J, error = _derivatives(point)
    n, k = len(chart.x0), len(y)
    A, B, C, D = J[:n, :n], J[:n, n:], J[n : n + k, :n], J[n : n + k, n:]
    errors = error[:n, :n], error[:n, n:], error[n : n + k, :n], error[n : n + k, n:]
    energies.place(J[n + k :, :n])
    if isinstance(at, Steady):
        return _about(at, chart, _made(solver, chart, energies, u, y, f0, (A, B, C, D), errors))
    return _made(solver, chart, energies, u, y, f0, (A, B, C, D), errors)


def _made(
    solver: Solver, chart: Chart, energies: Energies, u: NDArray[np.uint32], y: NDArray[np.uint32], f0: Array,
    matrices: tuple[Array, Array, Array, Array], errors: tuple[Array, Array, Array, Array],
) -> LinearModel:  # fmt: skip
    """The linear model, with names, units and values."""
    A, B, C, D = matrices
    n, k = len(chart.x0), len(y)
    relative = np.abs(f0[:n]) / chart.sizes
    worst = int(np.argmax(relative)) if n else 0
    residual = float(relative.max(initial=0.0))
    variables = solver.image.variables
    return LinearModel(
        solver.image.name, solver.time, A, B, C, D, f0[:n], chart.x0, solver.read(u), f0[n : n + k], tuple(chart.names),
        tuple(variables.names(u)), tuple(variables.names(y)), tuple(chart.units), tuple(variables.units(u)),
        tuple(variables.units(y)), errors, residual, chart.names[worst] if n else "",
        residual <= _AT_REST * _stiffness(solver), tuple(chart.frozen), energies,
    )  # fmt: skip


def _about(at: Steady, chart: Chart, linear: LinearModel) -> LinearModel:
    """About a steady motion: beside it, in axes that turn with it, without the coordinates that move.

    Deviations s of an orientation R0 exp(w0 t) exp(s~) have the rates w - w0 - w0 x s; about the fixed R0 half of the
    last term is in A.
    """
    A = linear.A.copy()
    for p, u in chart.balls:
        w, s = chart.hosted.speeds_of(chart.y0)[u : u + 3], linear.energies.displacements[u : u + 3]
        turned = 0.5 * np.cross(w, s, axisb=0, axisc=0)
        for row, component in enumerate(chart.free.tolist()):
            if int(chart.place[component]) == p and chart.turn[component] >= 0:
                A[row] -= turned[chart.turn[component]]
    size = np.abs(A * chart.sizes / chart.sizes[:, None]).max(initial=0.0)
    column = np.abs(A * chart.sizes / chart.sizes[:, None]).max(axis=0, initial=0.0)
    positions = np.arange(len(A)) < len(chart.free)
    moves = positions & (np.abs(linear.f0) > 1e-9 * chart.sizes) & (column <= 1e-9 * size)
    kept = np.flatnonzero(~moves)
    f0 = np.where(positions, 0.0, linear.f0)[kept]
    energies = linear.energies.without(kept)
    residual = float(np.abs(f0 / chart.sizes[kept]).max(initial=0.0))
    some = tuple(linear.states[i] for i in kept)
    a, b, c, d = linear.errors
    return replace(
        linear, A=A[np.ix_(kept, kept)], B=linear.B[kept], C=linear.C[:, kept], f0=f0, x0=linear.x0[kept], states=some,
        state_units=tuple(linear.state_units[i] for i in kept), errors=(a[np.ix_(kept, kept)], b[kept], c[:, kept], d),
        residual=residual, at_rest=residual <= _AT_REST * _stiffness(at.solver), energies=energies,
        moving=some[int(np.argmax(np.abs(f0 / chart.sizes[kept])))] if len(kept) else "",
    )  # fmt: skip


def _stiffness(solver: Solver) -> float:
    """Gravity over the length [1/s2], at least 1: beside it accelerations are compared."""
    return max(1.0, float(np.linalg.norm(solver.get("gravity")) / solver.image.arrays["length"].flat[0]))


def _solver_at(model: Model | ModelImage | Solver, at: At) -> Solver:
    if isinstance(at, Steady):
        return at.solver
    if isinstance(model, Solver):
        if at != "start":
            raise ModelError("a Solver stands at its state already. Give it without at=, or give the Model.")
        return solver_of(model)
    if isinstance(at, str) and at in ("start", "equilibrium"):
        if at == "equilibrium":
            return equilibrium(model).solver
        solver = solver_of(model)
        solver.assemble()
        return solver
    if isinstance(at, tuple) and len(at) == 2 and isinstance(at[0], Result):
        return _in_result(solver_of(model), *at)
    choices = "'start', 'equilibrium', a Steady motion, or a pair of a Result and a time"
    raise ModelError(f"at is {at!r:.60}. Give {choices}.")


def _in_result(solver: Solver, result: Result, time: float) -> Solver:
    """A Solver in the state of a Result next to a time."""
    if not len(result.time) or not result.time[0] - 1e-9 <= time <= result.time[-1] + 1e-9:
        raise ModelError(f"Result '{result.name}' has no time {time:g} s. Give one from its first to its last.")
    row = int(np.argmin(np.abs(result.time - time)))
    variables = solver.image.variables
    states = [*variables.positions().tolist(), *variables.speeds().tolist()]
    names = variables.names(states)
    kept = [name for name in variables.names(_of_causality(solver, "input")) if name in result]
    missing = next((name for name in names if name not in result), None)
    if missing:
        raise ModelError(
            f"Result '{result.name}' has no '{missing}', which the state needs. Record all positions and velocities."
        )
    for name in kept:
        solver.set(name, result[name][row])
    values = np.array([result[name][row] for name in names])
    settable = variables.states(states)
    solver.assemble(float(result.time[row]))
    solver.write(np.array(states, np.uint32)[settable], values[settable])
    solver.assemble(float(result.time[row]))
    return solver


def _of_causality(solver: Solver, causality: str) -> NDArray[np.int64]:
    return np.flatnonzero([one == causality for one in solver.image.variables.causalities()])


def _default(model: Model | ModelImage | Solver, solver: Solver, causality: str) -> list[str]:
    if isinstance(model, Model):
        declared = [one.target for one in model.declared if one.causality == causality]
        if declared:
            return declared
    if causality == "input":
        return solver.image.variables.names(_of_causality(solver, "input"))
    kind = solver.image.arrays["variable_kind"]
    chosen = [k.index for k in kinds() if k.owner == JOINT and k.state]
    return solver.image.variables.names(np.flatnonzero(np.isin(kind, chosen)))


def output_references(
    model: Model | ModelImage | Solver, solver: Solver, names: Sequence[str] | None
) -> NDArray[np.uint32]:
    """Of named outputs; by default of those that the model declares, or positions and velocities of all joints."""
    return _references(solver, names, "output", lambda: _default(model, solver, "output"))


def _references(
    solver: Solver, names: Sequence[str] | None, causality: str, default: Callable[[], list[str]]
) -> NDArray[np.uint32]:
    variables = solver.image.variables
    found: list[int] = []
    for name in default() if names is None else _checks.names(names, f"linearize: {causality}s"):
        references = solver.references(name).tolist() if variables.references(name) else []
        if not references:
            raise ModelError(f"Model '{solver.image.name}' {variables.unknown(name)}")
        if set(variables.causalities(references)) != {causality}:
            raise ModelError(f"Model '{solver.image.name}': '{name}' is not an {causality}. Name an {causality}.")
        found += references
    return np.array(found, np.uint32)


class _Point:
    """The rates, outputs and displacements of elements as a function of states and inputs."""

    def __init__(self, chart: Chart, u: NDArray[np.uint32], y: NDArray[np.uint32], energies: Energies) -> None:
        self.chart, self.u, self.y, self.energies = chart, u, y, energies
        self.origin = np.concatenate([chart.x0, chart.solver.read(u)])
        kind = chart.image.arrays["variable_kind"][u.astype(np.int64)]
        forces = np.array([kinds()[k].place in _FORCES or kinds()[k].owner == ACTUATOR for k in kind], bool)
        sizes = np.maximum(1.0, np.abs(chart.solver.read(u)))
        self.steps = np.concatenate([_FIRST * chart.sizes, np.where(forces, sizes, _FIRST * sizes)])

    def at(self, point: Array) -> Array:
        chart, n = self.chart, len(self.chart.x0)
        if len(self.u):
            chart.solver.write(self.u, point[n:])
        rates = chart.rates(point[:n])
        return np.concatenate([rates, chart.read(self.y), self.energies.read(chart)])


_FORCES = (lib.FM_AT_TAU, lib.FM_AT_LOAD_FORCE, lib.FM_AT_LOAD_TORQUE)


def _derivatives(point: _Point) -> tuple[Array, Array]:
    """(rows, columns) derivatives of a point, and their errors."""
    columns = [_column(point, k) for k in range(len(point.origin))]
    noise = _round_off(point)
    if not columns:
        return np.zeros((len(noise), 0)), np.zeros((len(noise), 0))
    errors = np.maximum(np.array([one[1] for one in columns]).T, noise[:, None] / point.steps)
    return np.array([one[0] for one in columns]).T, errors


def _round_off(point: _Point) -> Array:
    """(rows,) how far changes of the last digits move a point, at its origin and a step beside it; leaves it there."""
    size, found = np.abs(point.origin) + point.steps / _FIRST, [np.zeros(len(point.at(point.origin)))]
    for k in range(_LOOKS):
        signs = np.where(np.arange(len(size)) >> k // 2 & 1, 1.0, -1.0)
        beside = point.origin + signs * point.steps * (k % 2)
        with suppress(ModelError, SolverError, AssemblyError):
            found.append(point.at(beside + _LAST_DIGITS * signs * size) - point.at(beside))
    point.at(point.origin)
    return np.asarray(np.abs(found).max(axis=0))


def _column(point: _Point, k: int) -> tuple[Array, Array]:
    """Derivatives along one coordinate, and the errors of the extrapolations that were taken."""
    best, error = extrapolated(lambda step: _difference(point, k, step), float(point.steps[k]))
    if not len(best):
        name = [*point.chart.names, *point.chart.image.variables.names(point.u)][k]
        raise ModelError(
            f"Model '{point.chart.image.name}' has no derivatives by '{name}' here: its rates cannot be computed "
            "beside this state. Move the mechanism away from the singular position."
        )
    return best, error


def _difference(point: _Point, k: int, step: float) -> Array | None:
    """The central difference over a step; None where the mechanism cannot go there."""
    moved = point.origin.copy()
    sides = []
    for sign in (1.0, -1.0):
        moved[k] = point.origin[k] + sign * step
        try:
            sides.append(point.at(moved))
        except (ModelError, SolverError, AssemblyError):
            return None
    return np.asarray((sides[0] - sides[1]) / (2.0 * step))
