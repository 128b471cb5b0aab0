"""Inverse dynamics as a linear function of masses, friction and stiffness, and what measurements tell of these.

The forces that body b takes are, with J its Jacobian, and A = a - g, alpha and w at the origin of its frame,

    J' (force, torque),   force = m A + alpha x h + w x (w x h),   torque = h x A + I alpha + w x (I w)

linear in its mass m, first moment h = m c and inertia I about the origin. The columns of dampings, stiffnesses, rotor
inertias and scales of laws are differences of inverse dynamics, which is linear in them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs import _checks
from fmumbs.compiler.kinds import BODY
from fmumbs.compiler.layout import lib
from fmumbs.errors import ModelError
from fmumbs.run.coordinates import Array, Coordinates, Given, required, solver_of
from fmumbs.run.hosted import Hosted
from fmumbs.run.inverse import Mechanism, point_jacobian
from fmumbs.run.result import Result
from fmumbs.run.solver import Solver

_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # xx yy zz xy xz yz
_OF_BODY = 10
_MOST_SAMPLES = 1_000_000
_INDEPENDENT = 1e-8  # pivots of columns of length one that count


@dataclass(frozen=True)
class Regressor:
    """tau = Y pi + rest. Y: (speeds, parameters) or (n, speeds, parameters); pi: (parameters,) of the model; names,
    units: theirs. rest: (speeds,) or (n, speeds) what inputs, loads and other elements exert.
    """

    Y: Array
    pi: Array
    names: tuple[str, ...]
    units: tuple[str, ...]
    rest: Array


def regressor(model: Mechanism, q: Given | Result, u: Given | None = None, a: Given | None = None) -> Regressor:
    """Inverse dynamics as Y(q, u, a) pi, with the parameters pi of bodies and joints.

    model, q, u, a: as for inverse_dynamics(), for trees of rigid bodies without excited modes.

    pi has for each body B its "B.m" [kg], "B.mc[1]" to [3], mass times centre of mass in the body's frame [kg.m], and
    "B.I[1]" to [6], xx yy zz xy xz yz of the inertia about the frame's origin [kg.m2]; then of the joints damping,
    and where the model has them stiffness and rotor inertia; stiffness and damping of line springs, the scale of force
    laws, such as dry friction, and the preload of LuGre friction, with the names of these parameters.

    Returns a Regressor. Raises ModelError as inverse_dynamics(), and for loops, flexible bodies and excited modes.
    """
    hosted = _own(solver_of(model))
    coordinates = Coordinates(hosted.image)
    (positions, *rates), single = coordinates.read_motion(q, u, a)
    motion = (coordinates.with_unit_quaternions(positions), *rates)
    made = _Made(hosted, *motion)
    made.add_bodies()
    made.add_elements()
    Y, pi = np.stack(made.columns, axis=-1), np.array(made.values)
    rest = required(hosted.solver, True, *motion) - Y @ pi
    return Regressor(Y[0] if single else Y, pi, tuple(made.names), tuple(made.units), rest[0] if single else rest)


def _own(solver: Solver) -> Hosted:
    """A copy of a solver that fits."""
    sizes, name = solver.image.sizes, solver.image.name
    for what, size in (("loops or couplings", "rows"), ("flexible bodies", "modals"), ("excited modes", "excitations")):
        if sizes[size]:
            raise ModelError(f"Model '{name}' has {what}, for which there is no regressor. Leave them out.")
    return Hosted(solver, assemble=True)


class _Made:
    """Columns of a regressor, as they are made."""

    def __init__(self, hosted: Hosted, positions: Array, speeds: Array, accelerations: Array) -> None:
        self.hosted, self.solver, self.motion = hosted, hosted.solver, (positions, speeds, accelerations)
        self.columns: list[Array] = []
        self.values: list[float] = []
        self.names: list[str] = []
        self.units: list[str] = []

    def add(self, column: Array, value: float, name: str, unit: str) -> None:
        self.columns.append(column)
        self.values.append(value)
        self.names.append(name)
        self.units.append(unit)

    def add_bodies(self) -> None:
        """Ten parameters of each body."""
        image, (positions, _, a) = self.solver.image, self.motion
        bodies = image.variables.structured.elements(BODY)
        seen, present = self._see(bodies)
        g = np.asarray(self.solver.get("gravity"))
        for i, name in enumerate(bodies):
            J = point_jacobian(self.solver, positions, name)
            quaternion, w, acceleration, alpha = np.split(seen[:, 13 * i : 13 * (i + 1)], (4, 7, 10), axis=1)
            more = np.einsum("niu,nu->ni", J, a - present)  # the accelerations that were seen are those of the forces
            A, alpha = acceleration + more[:, :3] - g, alpha + more[:, 3:]
            R = _matrices(quaternion)
            self.add(np.einsum("niu,ni->nu", J[:, :3], A), float(self.solver.get(f"{name}.mass")), f"{name}.m", "kg")
            m, c = float(self.solver.get(f"{name}.mass")), np.asarray(image.arrays["com"][i])
            for k in range(3):
                e = R[:, :, k]
                force = np.cross(alpha, e) + np.cross(w, np.cross(w, e))
                column = np.einsum("niu,ni->nu", J, np.concatenate([force, np.cross(e, A)], axis=1))
                self.add(column, m * float(c[k]), f"{name}.mc[{k + 1}]", "kg.m")
            own = np.asarray(self.solver.get(f"{name}.inertia"))
            shift = m * (c @ c * np.eye(3) - np.outer(c, c))
            for k, (x, y) in enumerate(_PAIRS):
                S = np.zeros((3, 3))
                S[x, y] = S[y, x] = 1.0
                E = R @ S @ np.swapaxes(R, 1, 2)
                torque = np.einsum("nij,nj->ni", E, alpha) + np.cross(w, np.einsum("nij,nj->ni", E, w))
                column = np.einsum("niu,ni->nu", J[:, 3:], torque)
                self.add(column, float(own[k] + shift[x, y]), f"{name}.I[{k + 1}]", "kg.m2")

    def _see(self, bodies: list[str]) -> tuple[Array, Array]:
        """(n, 13 bodies) quaternion, w, a and alpha of each, and (n, speeds) the accelerations that they have there."""
        solver = self.solver
        variables = solver.image.variables
        wanted = [f"{name}.{what}" for name in bodies for what in ("quat", "w", "a", "alpha")]
        references = np.array([i for name in wanted for i in variables.references(name)], np.uint32)
        both = np.concatenate([references, variables.accelerations()]).astype(np.uint32)
        rows = np.zeros((len(self.motion[0]), len(both)))
        for i, (p, u) in enumerate(zip(*self.motion[:2], strict=True)):
            self.hosted.go(p, u)
            rows[i] = solver.read(both)
        return rows[:, : len(references)], rows[:, len(references) :]

    def add_elements(self) -> None:
        """Parameters of joints, springs, laws and friction."""
        solver = self.solver
        variables = solver.image.variables
        base = required(solver, True, *self.motion)
        for reference, name in self._parameters():
            at = np.array([reference], np.uint32)
            value = solver.read(at)
            solver.write(at, value + 1.0)
            column = required(solver, True, *self.motion) - base
            solver.write(at, value)
            self.add(column, float(value[0]), name, variables.units(at)[0])

    def _parameters(self) -> list[tuple[int, str]]:
        """Value references and names of those that forces are linear in."""
        variables, arrays = self.solver.image.variables, self.solver.image.arrays
        found = []
        for kind, needed in _LINEAR.items():
            for reference in np.flatnonzero(arrays["variable_kind"] == kind).tolist():
                joint, part = (int(arrays[f"variable_{what}"][reference]) for what in ("object", "component"))
                if kind in _OF_JOINTS and part >= int(arrays["joint_nu"][joint]):
                    continue  # an entry of a matrix beside its diagonal
                if needed and self.solver.read(np.array([reference], np.uint32))[0] == 0.0:
                    continue
                found.append((reference, variables.name(reference)))
        return found


_OF_JOINTS = (lib.FM_J_DAMPING, lib.FM_J_STIFFNESS, lib.FM_J_ROTOR)
_LINEAR = {  # kinds of parameters, and whether they count only where they are not zero
    lib.FM_J_DAMPING: False, lib.FM_J_STIFFNESS: True, lib.FM_J_ROTOR: False, lib.FM_S_STIFFNESS: False,
    lib.FM_S_DAMPING: True, lib.FM_LAW_SCALE: False, lib.FM_FR_PRELOAD: False,
}  # fmt: skip


@dataclass(frozen=True)
class BaseParameters:
    """names: of parameters that stand for a combination each; combinations: (base, parameters) so that what motions
    determine is combinations @ pi; parameters: their names; without: names of those that no motion shows.
    """

    names: tuple[str, ...]
    combinations: Array
    parameters: tuple[str, ...]
    without: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def text(self, index: int) -> str:
        """The combination of number `index`, from 0, in words: "b.mc[1] + 0.5 c.m"."""
        row = self.combinations[index]
        parts = [f"{value:.6g} {name}" for value, name in zip(row, self.parameters, strict=True) if abs(value) > 1e-9]
        return " + ".join(part.removeprefix("1 ") for part in parts).replace("+ -", "- ")


def base_parameters(model: Mechanism, *, samples: int | None = None, seed: int = 0) -> BaseParameters:
    """The combinations of a mechanism's parameters that its motions and forces determine.

    By a pivoted factor of the regressor at random states: angles within half a turn, slides within the model's length,
    velocities and accelerations of the order of one. samples: how many, by default three times as many equations as
    parameters. seed: of these. Raises ModelError as regressor().
    """
    solver = solver_of(model)
    rng = np.random.default_rng(_checks.whole(seed, "base_parameters: seed", 0))
    if samples is not None:
        _checks.whole(samples, "base_parameters: samples", 1, _MOST_SAMPLES)
    one = regressor(solver, *_random(solver, rng, 1))
    count = samples or 10 + -(-3 * len(one.pi) // max(1, one.Y.shape[-2]))
    W = regressor(solver, *_random(solver, rng, count)).Y.reshape(-1, len(one.pi))
    chosen, combinations = _combine(W)
    unseen = ~np.any(combinations != 0.0, axis=0)
    without = tuple(name for name, none in zip(one.names, unseen, strict=True) if none)
    return BaseParameters(tuple(one.names[i] for i in chosen), combinations, one.names, without)


def _combine(W: Array) -> tuple[NDArray[np.int64], Array]:
    """Independent columns of W, the first ones where there is a choice, and (base, columns) W = W[:, chosen] @ that."""
    lengths = np.linalg.norm(W, axis=0)
    largest = float(lengths.max(initial=0.0))
    chosen: list[int] = []
    Q = np.zeros((len(W), 0))
    for k in range(W.shape[1]):
        if not lengths[k] > _INDEPENDENT * largest * 1e-4:
            continue
        column = W[:, k] / lengths[k]
        left = column - Q @ (Q.T @ column)
        left = left - Q @ (Q.T @ left)
        if np.linalg.norm(left) > _INDEPENDENT:
            chosen.append(k)
            Q = np.column_stack([Q, left / np.linalg.norm(left)])
    found = np.linalg.lstsq(W[:, chosen], W, rcond=None)[0] if chosen else np.zeros((0, W.shape[1]))
    found[np.abs(found) < 1e-9] = 0.0
    return np.array(chosen, np.int64), np.asarray(found)


def _random(solver: Solver, rng: np.random.Generator, count: int) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations."""
    arrays, n = solver.image.arrays, solver.image.sizes["speeds"]
    names = Coordinates(solver.image).positions
    length = float(arrays["length"].flat[0])
    units = solver.image.variables.units(solver.image.variables.positions())
    q = np.empty((count, len(names)))
    for k, unit in enumerate(units):
        spread = length if unit == "m" else np.pi
        q[:, k] = rng.uniform(-spread, spread, count) if unit else rng.normal(size=count)
    return q, rng.normal(size=(count, n)), rng.normal(size=(count, n))


@dataclass(frozen=True)
class Identified:
    """What measured motions tell. values, deviations: of each combination of base_parameters() by the name that stands
    for it; undetermined: those that these data do not determine; residual: root mean square of what is left of
    the forces [N.m] or [N]; base: the combinations.
    """

    values: Mapping[str, float]
    deviations: Mapping[str, float]
    undetermined: tuple[str, ...]
    residual: float
    base: BaseParameters

    def __str__(self) -> str:
        lines = [
            f"{self.base.text(i)} = {self.values[name]:.6g} +- {self.deviations[name]:.2g}"
            for i, name in enumerate(self.base.names)
            if name in self.values
        ]
        if self.undetermined:
            lines.append(f"not determined by these data: {', '.join(self.undetermined)}")
        return "\n".join([*lines, f"residual {self.residual:.3g}"])


def identify(
    model: Mechanism,
    q: Given | Result,
    u: Given | None,
    a: Given | None,
    tau: ArrayLike,
    *,
    noise: ArrayLike | None = None,
) -> Identified:
    """The parameters of a mechanism from measured motions and forces, by linear least squares.

    model, q, u, a: as for regressor(), of n instants. tau: (n, speeds) measured forces on the velocities [N.m] or [N].
    noise: (speeds,) their standard deviations, as weights; by default all weigh alike.

    Standard deviations are those of independent errors of the forces: sqrt(s2 diag((W' W)^-1)), s2 the sum of squares
    that is left over the number of equations beyond the parameters.

    Returns an Identified. Raises ModelError where sizes do not fit, and for fewer equations than parameters.
    """
    solver = solver_of(model)
    made = regressor(solver, q, u, a)
    if made.Y.ndim != 3:
        raise ModelError(f"Model '{solver.image.name}': one instant identifies nothing. Give rows of many instants.")
    measured, weights = _measured(solver.image.name, made.rest, tau, noise)
    base = base_parameters(solver)
    places = [base.parameters.index(name) for name in base.names]
    W = (made.Y[:, :, places] * weights[None, :, None]).reshape(-1, len(places))
    b = ((measured - made.rest) * weights).reshape(-1)
    lengths = np.linalg.norm(W, axis=0)
    shown = np.flatnonzero(lengths > 0.0)
    _, s, vt = np.linalg.svd(W[:, shown] / lengths[shown], full_matrices=False)
    weak = vt[s <= _INDEPENDENT * s.max(initial=0.0)]
    lost = np.abs(weak).max(axis=0, initial=0.0) > 1e-6 if len(weak) else np.zeros(len(shown), bool)
    known = shown[~lost]
    if len(b) <= len(known):
        raise ModelError(
            f"Model '{solver.image.name}': {len(b)} equations for {len(known)} parameters. Measure more instants."
        )
    x = np.linalg.lstsq(W[:, shown] / lengths[shown], b, rcond=_INDEPENDENT)[0] / lengths[shown]
    left = b - W[:, shown] @ x
    inverse = np.linalg.pinv(W[:, shown] / lengths[shown])
    spread = np.sqrt(left @ left / (len(b) - len(known))) * np.linalg.norm(inverse, axis=1) / lengths[shown]
    names = [base.names[i] for i in shown[~lost]]
    others = tuple(base.names[i] for i in range(len(places)) if i not in set(known.tolist()))
    rms = float(np.sqrt(np.mean((left.reshape(measured.shape) / weights) ** 2)))
    values, deviations = (dict(zip(names, each[~lost].tolist(), strict=True)) for each in (x, spread))
    return Identified(values, deviations, others, rms, base)


def _measured(model: str, rest: Array, tau: ArrayLike, noise: ArrayLike | None) -> tuple[Array, Array]:
    """Forces of as many instants as `rest`, and the weights of their columns."""
    measured = _checks.array(tau, "identify: tau")
    if measured.shape != rest.shape or not np.isfinite(measured).all():
        raise ModelError(
            f"Model '{model}': tau has the shape {measured.shape}, or numbers that are not finite. Give "
            f"{rest.shape[0]} rows of {rest.shape[1]} finite forces."
        )
    sizes = np.ones(measured.shape[1]) if noise is None else _checks.array(noise, "identify: noise")
    if sizes.shape != (measured.shape[1],) or not (np.isfinite(sizes) & (sizes > 0.0)).all():
        raise ModelError(f"Model '{model}': noise must be {measured.shape[1]} positive numbers. Give them.")
    return measured, 1.0 / sizes


def _matrices(quaternions: Array) -> Array:
    """(n, 3, 3) rotations of (n, 4) unit quaternions w x y z."""
    w, x, y, z = quaternions.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)
