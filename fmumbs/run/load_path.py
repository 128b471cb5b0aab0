"""Static equilibria under a load that grows: past limit points, to buckling, and on along a chosen branch.

A path of equilibria x = (v, f) is followed by its arc length, angles in radians, slides in lengths of the model, the
load factor in shares of `to`. From an equilibrium a step goes along the tangent t, K t_v + q t_f = 0, and Newton's
method returns to the path in the plane across t (at_rest.py). Steps are chosen so that t turns by about 0.15 rad.

Between two points an eigenvalue of M^-1 K that changes sign tells a critical point: where t_f = 0 a limit point, where
not a bifurcation, at which a second branch leaves along the eigenvector. Brent's method finds it on the path, to the
last digits of the eigenvalue; of a bifurcation what K by differences of another step changes in the eigenvalue, over
its slope, is `error`. Two eigenvalues that meet and become complex are flutter, found where the square of their
difference changes sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs.compiler import ModelImage, image_of
from fmumbs.compiler.options import ProgramsAtRest
from fmumbs.errors import AssemblyError, EquilibriumError, ModelError, SolverError
from fmumbs.mechanism import Model
from fmumbs.run.at_rest import STEP, Balance, Place
from fmumbs.run.coordinates import Array, Coordinates
from fmumbs.run.details import Details, Motion
from fmumbs.run.equilibrium import resting
from fmumbs.run.linearize import output_references
from fmumbs.run.plotting import load_path as drawn
from fmumbs.run.result import Result
from fmumbs.run.solver import Solver

Complex = NDArray[np.complex128]

_FIRST = 0.02  # of the arc length: the first step
_SHORTEST = 1e-7  # a step below which the path ends
_TURNS = 0.15, 0.35  # [rad] of the tangent in a step: wanted, and most
_NEWTON = 12  # corrections, each of which must be less than before
_ARRIVED = 1e-8  # a correction after which only round-off is left
_SYMMETRIC = 1e-8  # of K: an unsymmetric part beyond the errors of differences
_ALIKE = 1e-6  # of a step: critical points that coincide
_STEPS = "load_path: steps"
_FAILURES = (ModelError, SolverError, AssemblyError, EquilibriumError)


@dataclass(frozen=True)
class Critical:
    """A critical point. kind: "limit", "bifurcation" or "flutter". factor: the load factor there. error: of a
    bifurcation, how far round-off may move the factor; nan of others, of which it is not measured. softest: the
    coordinate that moves most along the eigenvector. motions: (count, speeds) eigenvectors along the velocities, more
    than one where several eigenvalues vanish together. step: of the path, the number of the point before it. _node:
    the point itself.
    """

    kind: str
    factor: float
    error: float
    softest: str
    step: int
    motions: Array = field(repr=False)
    _node: _Node = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.kind} at the factor {self.factor:.8g} in {self.softest}"


@dataclass(frozen=True)
class LoadPath(Mapping[str, Array]):
    """A path of equilibria: a mapping from variables to (points,) arrays, as a Result.

    model: its name. factors: (points,) of the load. departing: (points,) how many motions depart, 0 where stable.
    critical: critical points in the order of the path. ended: why the path ends. result: its variables over the arc
    length in place of the time, to view, save and animate. _walk, _nodes: how it is followed, and its points.
    """

    model: str
    factors: Array
    departing: NDArray[np.int64]
    critical: tuple[Critical, ...]
    ended: str
    result: Result = field(repr=False)
    _walk: _Walk = field(repr=False, compare=False)
    _nodes: tuple[_Node, ...] = field(repr=False, compare=False)

    @property
    def stable(self) -> NDArray[np.bool_]:
        """(points,) whether no motion departs."""
        return cast("NDArray[np.bool_]", self.departing == 0)

    @property
    def units(self) -> Mapping[str, str]:
        """Units of the variables by name."""
        return self.result.units

    @property
    def critical_factor(self) -> float:
        """At which the path first becomes unstable, inf if it does not."""
        return next((one.factor for one in self.critical), np.inf)

    def __getitem__(self, name: str) -> Array:
        return self.result[name]

    def __iter__(self) -> Any:
        return iter(self.result)

    def __len__(self) -> int:
        return len(self.result)

    def solver(self, point: int) -> Solver:
        """A Solver in the equilibrium of a point of the path, under its load, for linearize() and more."""
        node = self._nodes[point]
        self._walk.balance.set(node.at.factor)
        self._walk.balance.go(node.at.p)
        found = Solver(self._walk.balance.image)
        found.state_load(self._walk.balance.solver.state_save())
        return found

    def at_critical(self, critical: Critical) -> Result:
        """The variables in a critical point of this path, in one row."""
        values = self._walk.read(critical._node)
        rows = {name: values[i : i + 1] for i, name in enumerate(self.result)}
        return Result(self.model, np.array([critical._node.arc]), rows, self.units)

    def switch(
        self, number: int = 0, along: Mapping[str, float] | None = None, *, to: float | None = None, steps: int = 400
    ) -> LoadPath:
        """The other branch that leaves from a bifurcation, critical[number].

        along: on which side, and of several eigenvectors which one: coordinates by name and their signs or weights,
            such as {"A.q": -1}; by default the softest coordinate grows. to, steps: as of load_path().

        Raises ModelError for a point that is no bifurcation and for a direction that none of its motions has;
        EquilibriumError where no branch is found.
        """
        if not 0 <= number < len(self.critical) or self.critical[number].kind != "bifurcation":
            raise ModelError(
                f"Model '{self.model}': critical[{number}] of this path is no bifurcation. {_listed(self)}"
            )
        critical = self.critical[number]
        walk = self._walk.with_end(self._walk.to if to is None else _checks.number(to, "switch: to"), steps)
        return walk.branch(critical, along)

    def plot(self, *names: str, path: str | Path | None = None, show: bool = True) -> Any:
        """A figure of the load factor over variables, names, by default the first; unstable parts are dashed.

        path: a file to write it to. show: opens a window where no file is named. Raises SolverError as Result.plot().
        """
        return drawn(self, names, None if path is None else Path(path), show and path is None)

    def __str__(self) -> str:
        ends = "stable" if self.stable[-1] else "unstable"
        head = f"load path of '{self.model}': {len(self.factors)} points to the factor {self.factors[-1]:.6g}, {ends}"
        return "\n".join([head, *map(str, self.critical), f"ends {self.ended}"])


def _listed(path: LoadPath) -> str:
    return f"It has: {', '.join(map(str, path.critical)) or 'no critical points'}."


def load_path(
    model: Model | ModelImage,
    load: Mapping[str, object],
    *,
    to: float = 1.0,
    steps: int = 400,
    longest: float = 0.2,
    outputs: Sequence[str] | None = None,
    programs: ProgramsAtRest | None = None,
) -> LoadPath:
    """The static equilibria of a mechanism while a load grows, past limit points, with the critical loads.

    The path begins at factor 0 in the equilibrium near the start (fm.equilibrium) and is followed by its arc length, so
    that the load may fall as well: snap-through and snap-back. It passes bifurcations straight on; `switch()` takes the
    other branch. Trees, loops, flexible links and follower loads work; of these flutter is found too. As in
    equilibrium(), excited modes stand and friction drops out. For mechanisms of up to 1500 velocity variables.

    model: a Model, or a ModelImage with all variables.
    load: what the factor multiplies, in addition to the start values: inputs or parameters by name in their units,
        such as {"tip.force": (0, 0, -1)}, {"A.tau": 1.0} or {"gravity": (0, 0, -9.81)}.
    to: the factor at which the path ends, when it is first passed; with a negative one the load is first lowered.
    steps: after so many steps the path ends wherever it is. longest: step of the arc length, in radians, lengths of the
        model, and shares of `to`.
    outputs: names of outputs; by default those that the model declares, or positions and velocities of all joints.
    programs: "held" or "released", as of equilibrium().

    Returns a LoadPath; `ended` says whether it came to `to`, or why not: the steps, or where no step leads on.
    Raises ModelError for unknown names, a load that does nothing, nonholonomic joints and too many coordinates;
    EquilibriumError without an isolated equilibrium at the start; AssemblyError.
    """
    end, most = _checks.number(to, "load_path: to"), _checks.positive(longest, "load_path: longest")
    if end == 0.0:
        raise ModelError("load_path: to is 0, where the path begins. Give a factor, such as 1.")
    balance = Balance(resting(_whole_image(model, programs)), load)
    references = output_references(model, balance.solver, outputs)
    return _Walk(balance, references, end, end, most, _checks.whole(steps, _STEPS, 1)).follow()


def _whole_image(model: Model | ModelImage, programs: ProgramsAtRest | None) -> ModelImage:
    """An image for an equilibrium, which shows all velocities."""
    image = image_of(model, everything=True, equilibrium=True, programs=programs)
    if len(image.variables.speeds()) != image.sizes["speeds"]:
        raise ModelError(
            f"Model '{image.name}' declares variables, and its image does not show all coordinates. Give the Model, or "
            "compile(model, everything=True)."
        )
    return image


@dataclass(frozen=True)
class _Node:
    """A point of the path. t: (n + 1,) its tangent. squares: (freedoms,) eigenvalues of M^-1 K, vectors: (n, freedoms)
    theirs. arc: length from the start.
    """

    at: Place
    t: Array
    squares: Complex
    vectors: Complex
    arc: float

    @property
    def real(self) -> Array:
        """Real eigenvalues, ascending."""
        return np.sort(self.squares.real[self.squares.imag == 0.0])

    @property
    def complex_pairs(self) -> int:
        return int((self.squares.imag > 0.0).sum())

    @property
    def negative(self) -> int:
        return int((self.real < 0.0).sum())

    @property
    def departing(self) -> int:
        return self.negative + 2 * self.complex_pairs


@dataclass(frozen=True)
class _Walk:
    """How a path is followed. unit: of the factor."""

    balance: Balance
    references: NDArray[np.uint32]
    to: float
    unit: float
    longest: float
    steps: int

    def with_end(self, to: float, steps: int) -> _Walk:
        return _Walk(self.balance, self.references, to, self.unit, self.longest, _checks.whole(steps, _STEPS, 1))

    # Points ----------------------------------------------------------------------------------------------------

    def follow(self) -> LoadPath:
        balance = self.balance
        first = balance.at(balance.p0, 0.0)
        if not balance.closes_alike(first.p):
            raise ModelError(
                f"Model '{balance.name}': the load changes the positions that the loops allow. Take forces as the load."
            )
        if not balance.acts(first):
            raise ModelError(f"Model '{balance.name}': the load exerts nothing on the motions that the loops allow.")
        none = np.zeros(balance.nu + 1)
        none[-1] = 1.0
        start = self.node(self.correct(first, none), none, 0.0)
        return self._from(start)

    def branch(self, critical: Critical, along: Mapping[str, float] | None) -> LoadPath:
        node = critical._node
        motions = critical.motions / self.balance.unit
        if along is None:
            side = motions[0] * np.sign(motions[0][np.argmax(np.abs(motions[0]))])
        else:
            weights = np.zeros(self.balance.nu)
            for name, value in along.items():
                weights[self.balance.coordinate(name)] = _checks.number(value, f"switch: along '{name}'")
            side = motions.T @ (np.linalg.pinv(motions.T) @ weights) if len(motions) > 1 else motions[0] * (
                np.sign(round(float(motions[0] @ weights) / max(float(np.linalg.norm(weights)), 1e-300), 9))
            )  # fmt: skip
            if not np.linalg.norm(side) > 1e-6 * np.linalg.norm(weights):
                raise ModelError(
                    f"Model '{self.balance.name}': no motion of the {critical} has a part along {dict(along)}. Name "
                    f"'{critical.softest}'."
                )
        d = np.append(side, 0.0)
        d -= (d @ node.t) * node.t
        d /= np.linalg.norm(d)
        length = _FIRST
        while length > _SHORTEST:
            try:
                other = self.step(node, d, length)
                return self._from(self.node(other, d, 0.0))
            except _FAILURES as error:
                reason = error
            length *= 0.25
        raise EquilibriumError(f"Model '{self.balance.name}': no other branch is found from the {critical}: {reason}")

    def _from(self, start: _Node) -> LoadPath:
        """The path from a point on, in the sense of its tangent."""
        nodes, critical, length, why = [start], [], min(_FIRST, self.longest), ""
        ended = f"after {self.steps} steps"
        for _ in range(self.steps):
            last = nodes[-1]
            found: _Node | None = None
            while found is None and length > _SHORTEST:
                try:
                    found, points = self._next(last, length, len(nodes) - 1)
                except _FAILURES as error:
                    found, why = None, str(error)
                    length *= 0.5
            if found is None:
                ended = f"where no step leads on: {why or 'the path turns sharply'}"
                break
            nodes.append(found)
            critical += points
            turned = float(np.arccos(np.clip(last.t @ found.t, -1.0, 1.0)))
            length = min(self.longest, length * min(2.0, _TURNS[0] / max(turned, 1e-9)))
            if abs(found.at.factor - self.to) <= 1e-12 * abs(self.to):
                ended = f"at the factor {self.to:g}"
                break
        return self._made(nodes, critical, ended)

    def _next(self, last: _Node, length: float, number: int) -> tuple[_Node, list[Critical]]:
        """The point a step further, exactly at `to` where that is passed, and critical points on the way."""
        found = self.node(self.step(last, last.t, length), last.t, last.arc + length)
        if not last.t @ found.t > np.cos(_TURNS[1]):
            raise EquilibriumError("the path turns too sharply for a step")
        before, after = last.at.factor - self.to, found.at.factor - self.to
        if before * after < 0.0 and last.t[-1] * found.t[-1] > 0.0:

            def off(part: float) -> float:
                return self.step(last, last.t, part).factor - self.to

            length = _root(off, 0.0, length, before, after)
            found = self.node(self.step(last, last.t, length), last.t, last.arc + length)
        folds = last.t[-1] * found.t[-1] < 0.0
        if folds and found.negative == last.negative and found.complex_pairs == last.complex_pairs:
            raise EquilibriumError("two critical points lie in one step")
        return found, self._between(last, found, length, number)

    def step(self, last: _Node, d: Array, length: float) -> Place:
        """The equilibrium in the plane across d, a length along it."""
        p = self.balance.moved(last.at.p, length * d[:-1])
        return self.correct(self.balance.at(p, last.at.factor + length * float(d[-1]) * self.unit), d)

    def correct(self, at: Place, d: Array) -> Place:
        """Newton's method in the plane across d, with the same stiffness as long as that leaves a tenth."""
        last, K, N = np.inf, np.zeros((0, 0)), at.N
        for _ in range(_NEWTON):
            if not len(K):
                K, N = self.balance.stiffness(at), at.N
            found, v = self._correction(at, d, (at.N.T @ N) @ K)
            size = float(np.sqrt(v @ v + found[-1] ** 2))
            if not np.isfinite(size) or size > 2.0:
                raise EquilibriumError("Newton's method leaves the path")
            if size > 0.5 * last and size < _ARRIVED:
                return at
            if size >= last:
                break
            if size > 0.1 * last and size > _ARRIVED:
                K = np.zeros((0, 0))
            last = size
            at = self.balance.at(self.balance.moved(at.p, v), at.factor + float(found[-1]) * self.unit)
            if size < 1e-14:
                return at
        if last < _ARRIVED:
            return at
        raise EquilibriumError(f"Newton's method did not converge: a correction of {last:.2g} was left")

    def _correction(self, at: Place, d: Array, K: Array) -> tuple[Array, Array]:
        """Along the motions and of the factor, in its unit, in the plane across d; and the displacement."""
        b = -np.append(at.left + K @ at.gap, d[:-1] @ at.gap)
        found = _solved(self._bordered(at, d, K), b)
        return found, at.gap + at.N @ found[:-1]

    def _bordered(self, at: Place, d: Array, K: Array) -> Array:
        return np.block([[K @ at.N, self.unit * at.q[:, None]], [d[None, :-1] @ at.N, d[-1:][None, :]]])

    def node(self, at: Place, d: Array, arc: float) -> _Node:
        """A point with its tangent, in the sense of d, and its eigenvalues."""
        K = self.balance.stiffness(at)
        right = np.zeros(at.N.shape[1] + 1)
        right[-1] = 1.0
        found = _solved(self._bordered(at, d, K), right)
        t = np.append(at.N @ found[:-1], found[-1])
        t = t / np.linalg.norm(t)
        S = K @ at.N
        squares, vectors = _squares(S, self.balance.mass(at))
        return _Node(at, t * (1.0 if t @ d >= 0.0 else -1.0), squares, at.N @ vectors, arc)

    # Critical points -------------------------------------------------------------------------------------------

    def _between(self, last: _Node, found: _Node, length: float, number: int) -> list[Critical]:
        """Critical points in a step, in their order."""
        known: dict[float, _Node] = {0.0: last, length: found}

        def at(part: float) -> _Node:
            if part not in known:
                known[part] = self.node(self.step(last, last.t, part), last.t, last.arc + part)
            return known[part]

        places: list[tuple[float, str]] = []
        low, high = sorted((last.negative, found.negative))
        for k in range(low, high):

            def kth(part: float, k: int = k) -> float:
                real = at(part).real
                return float(real[k]) if k < len(real) else np.nan

            if kth(0.0) * kth(length) < 0.0:
                places.append((_root(kth, 0.0, length, kth(0.0), kth(length)), ""))
        if last.complex_pairs != found.complex_pairs:
            places.append((self._meeting(at, length), "flutter"))
        places.sort()
        points, taken = [], -1
        for i, (part, kind) in enumerate(places):
            if i <= taken:
                continue
            node, count = at(part), 1
            while not kind and i + count < len(places) and places[i + count][0] - part < _ALIKE * length:
                count += 1
            taken = i + count - 1
            points.append(self._critical(node, kind, length, part, number, count, at))
        return points

    def _critical(
        self, node: _Node, kind: str, length: float, part: float, number: int, count: int,
        at: Callable[[float], _Node],
    ) -> Critical:  # fmt: skip
        order = np.argsort(np.abs(node.squares))
        if kind == "flutter":
            gaps = np.abs(node.squares[:, None] - node.squares[None, :]) + np.diag(np.full(len(node.squares), np.inf))
            order = np.array([np.unravel_index(np.argmin(gaps), gaps.shape)[0]])
        motions = node.vectors[:, order[:count]].real.T
        motions = np.linalg.svd(motions, full_matrices=False)[2][:count]
        coordinates = self.balance.at(node.at.p, node.at.factor).N.T @ motions.T
        acts = float(np.linalg.norm(node.at.q @ coordinates) / max(float(np.linalg.norm(node.at.q)), 1e-300))
        kind = kind or ("limit" if abs(node.t[-1]) < acts else "bifurcation")
        error = np.nan
        if kind == "bifurcation":
            values = [
                (coordinates.T @ self.balance.along(node.at, motions, step)).diagonal() for step in (STEP, 0.5 * STEP)
            ]
            nearby = at(part + (0.01 if part < 0.5 * length else -0.01) * length)
            beside = (coordinates.T @ self.balance.along(nearby.at, motions)).diagonal()
            slope = np.abs(beside - values[0]).max() / abs(nearby.at.factor - node.at.factor)
            error = float(np.abs(np.diff(values, axis=0)).max() / max(slope, 1e-300)) + 1e-15 * abs(node.at.factor)
        names = Coordinates(self.balance.image).speeds
        softest = names[int(np.argmax(np.abs(motions[0])))].replace(".qd", ".q").replace(".v", ".r")
        return Critical(kind, node.at.factor, error, softest, number, motions * self.balance.unit, node)

    def _meeting(self, at: Callable[[float], _Node], length: float) -> float:
        """Where two real eigenvalues meet and become complex, or the other way round."""
        low, high = 0.0, length
        pairs = at(low).complex_pairs
        for _ in range(12):
            middle = 0.5 * (low + high)
            if at(middle).complex_pairs == pairs:
                low = middle
            else:
                high = middle

        def squared(part: float) -> float:
            """Of the difference of the two that meet."""
            squares = at(part).squares
            pair = squares[squares.imag > 0.0]
            if len(pair) > min(at(low).complex_pairs, at(high).complex_pairs):
                return -4.0 * float(np.min(pair.imag)) ** 2
            return float(np.min(np.diff(at(part).real))) ** 2

        begin, end = squared(low), squared(high)
        if not begin * end < 0.0:
            raise EquilibriumError("where two eigenvalues meet in a step is not found")
        return _root(squared, low, high, begin, end)

    # Results ---------------------------------------------------------------------------------------------------

    def read(self, node: _Node) -> Array:
        """Values of the variables."""
        self.balance.set(node.at.factor)
        self.balance.go(node.at.p)
        return self.balance.solver.read(self.references)

    def _made(self, nodes: list[_Node], critical: list[Critical], ended: str) -> LoadPath:
        variables = self.balance.image.variables
        rows = np.array([self.read(node) for node in nodes])
        motion = Motion(self.balance.image, np.array([node.at.p for node in nodes]))
        names, units = variables.names(self.references), variables.units(self.references)
        values = dict(zip(names, np.ascontiguousarray(rows.T), strict=True))
        result = Result(
            self.balance.name, np.array([node.arc for node in nodes]), values, dict(zip(names, units, strict=True)),
            Details(), motion,
        )  # fmt: skip
        return LoadPath(
            self.balance.name, np.array([node.at.factor for node in nodes]),
            np.array([node.departing for node in nodes]), tuple(critical), ended, result, self, tuple(nodes),
        )  # fmt: skip


def _solved(A: Array, b: Array) -> Array:
    try:
        return np.asarray(np.linalg.solve(A, b))
    except np.linalg.LinAlgError:
        raise EquilibriumError("the tangent is singular") from None


def _squares(K: Array, M: Array) -> tuple[Complex, Complex]:
    """(k,) eigenvalues of M^-1 K, those of a symmetric K real; and (k, k) eigenvectors."""
    if not len(K):
        return np.zeros(0, complex), np.zeros((0, 0), complex)
    from scipy.linalg import eig, eigh

    odd = np.abs(K - K.T).max()
    if odd <= _SYMMETRIC * np.abs(K).max():
        values, vectors = eigh(0.5 * (K + K.T), M)
        return values.astype(complex), vectors.astype(complex)
    values, vectors = eig(K, M)
    values = np.where(np.abs(values.imag) <= 1e-12 * np.abs(values).max(), values.real, values)
    return values, vectors


def _root(function: Callable[[float], float], low: float, high: float, begin: float, end: float) -> float:
    """Where a function changes sign between two places at which it is known, to the last digits."""
    if begin == 0.0 or end == 0.0:
        return low if begin == 0.0 else high
    from scipy.optimize import brentq

    try:
        return float(brentq(function, low, high, xtol=1e-13 * high, rtol=1e-13))
    except (ValueError, RuntimeError) as error:  # a number that is not finite between them, or no convergence
        raise EquilibriumError(f"a point within a step is not found: {error}") from None
