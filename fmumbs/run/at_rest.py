"""The balance of forces at rest, its stiffness, and how a load factor acts on it.

Displacements v are along the velocity variables, angles [rad] and slides in lengths of the model; p (+) v adds them to
positions, those of balls as R exp(v~). With R(p, f) the forces that keep the open tree at rest under the load factor f
(the core's inverse dynamics), c(p) = 0 the loops and J = dc/dv, an equilibrium has

    N' R = 0,   c = 0,   J N = 0,   nu = J'^+ R,   K = N' d(R - J' nu)/dv N,   q = N' dR/df.

K is the stiffness of the independent motions, taken by differences of order four over all coordinates in one call of
the core; symmetric at an equilibrium if the forces have a potential.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs.compiler.layout import lib
from fmumbs.errors import EquilibriumError, ModelError
from fmumbs.run.charts import Chart, turned
from fmumbs.run.coordinates import Array, Coordinates, pointer, refuse_impacts, required
from fmumbs.run.hosted import Hosted
from fmumbs.run.solver import Solver

STEP = 1e-4  # [rad], or lengths: of the differences, which are exact for cubic forces
_WEIGHTS = ((-2.0, 1 / 12), (-1.0, -8 / 12), (1.0, 8 / 12), (2.0, -1 / 12))
_TOGETHER = 4096  # numbers of coordinates in one call, to bound its memory, in thousands
_INDEPENDENT = 1e-9  # singular values of the rows, relative to the largest
MOST = 1500
"""Coordinates of the largest mechanism: its stiffness is a dense matrix."""


@dataclass(frozen=True)
class Place:
    """Positions p, a load factor, and what was found there. N: (n, freedoms) orthonormal motions. left: (freedoms,)
    forces out of balance. gap: (n,) the smallest displacement that closes the loops. nu: multipliers. q: (freedoms,)
    what a unit of the factor adds to `left`.
    """

    p: Array
    factor: float
    N: Array
    left: Array
    gap: Array
    nu: Array
    q: Array


class Balance:
    """Of a mechanism whose load is multiplied by a factor. solver: stands in an equilibrium, and is left alone."""

    def __init__(self, solver: Solver, load: Mapping[str, object]) -> None:
        chart = Chart(solver)
        refuse_impacts(solver.image, "load_path", ModelError)
        self.image, self.hosted = solver.image, Hosted(solver)
        self.solver = self.hosted.solver
        self.name, self.nu = solver.image.name, self.hosted.nu
        if len(chart.active) != len(chart.holonomic) or (chart.speed < 0).any():
            raise ModelError(
                f"Model '{self.name}' has nonholonomic joints: its equilibria depend on the way, and a load does not "
                "determine them. Leave these joints out, or simulate the motion."
            )
        if self.nu > MOST:
            raise ModelError(
                f"Model '{self.name}' has {self.nu} velocity variables, and a load path is followed with dense "
                f"matrices of up to {MOST}. Take fewer elements."
            )
        self.rows = chart.holonomic
        linear = self.image.arrays["mode_linear"][: self.nu] == 1
        self.unit = np.where(linear, float(self.image.arrays["length"].flat[0]), 1.0)
        self.balls = chart.balls
        scalar = chart.turn < 0
        self._places, self._speeds = chart.place[scalar], chart.speed[scalar]
        self.movable = np.setdiff1d(np.arange(self.nu), self.image.arrays["excitation_u"])
        self.p0 = chart.y0[: self.hosted.np].copy()
        self._load(load)

    def _load(self, load: Mapping[str, object]) -> None:
        """References, values at factor 0, and what factor 1 adds."""
        variables, parts, sizes = self.image.variables, [], []
        if not isinstance(load, Mapping) or not load:
            raise ModelError("load_path: load has no values. Give what the factor multiplies, {'tip.force[3]': -1.0}.")
        for name, value in load.items():
            references = self.solver.references(name)
            if not set(variables.causalities(references.tolist())) <= {"input", "parameter"}:
                raise ModelError(f"Model '{self.name}': '{name}' is not an input or a parameter. Name a load.")
            given = np.atleast_1d(np.asarray(value, float)) if _numeric(value) else np.full(0, np.nan)
            if given.shape != references.shape or not np.isfinite(given).all():
                raise ModelError(
                    f"load_path: '{name}' takes {len(references)} finite numbers, not {value!r:.60}. Give these."
                )
            parts.append(references)
            sizes.append(given)
        self._references, self._size = np.concatenate(parts), np.concatenate(sizes)
        self._base = self.solver.read(self._references)

    def coordinate(self, name: str) -> int:
        """The velocity variable of a coordinate by name, "A.q" or "A.qd"."""
        known = Coordinates(self.image)
        names = dict(zip(known.speeds, range(self.nu), strict=True))
        names |= {known.positions[p]: int(u) for p, u in zip(self._places, self._speeds, strict=True)}
        if name not in names:
            raise ModelError(f"Model '{self.name}' has no coordinate '{name}'. {_checks.nearest(name, names)}")
        return names[name]

    # Forces ----------------------------------------------------------------------------------------------------

    def set(self, factor: float) -> None:
        """Applies the load times a factor."""
        self.solver.write(self._references, self._base + factor * self._size)

    def moved(self, p: Array, v: Array) -> Array:
        """P (+) v."""
        found, along = p.copy(), v * self.unit
        found[self._places] += along[self._speeds]
        for at, u in self.balls:
            found[at : at + 4] = turned(p[at : at + 4], along[u : u + 3])
            found[at : at + 4] /= np.linalg.norm(found[at : at + 4])
        return found

    def go(self, p: Array) -> None:
        """Puts the core's instance there, at rest."""
        self.hosted.go(p, np.zeros(self.nu))

    def jacobian(self, p: Array) -> Array:
        """(rows, n) J at p."""
        if not len(self.rows):
            return np.zeros((0, self.nu))
        self.go(p)
        J = self.solver.jacobian[self.rows] * self.unit
        J[:, self._fixed] = 0.0
        return np.asarray(J)

    @cached_property
    def _fixed(self) -> NDArray[np.int64]:
        return np.setdiff1d(np.arange(self.nu), self.movable)

    def violations(self) -> Array:
        """(rows,) c where go() went to."""
        c = np.zeros((self.image.sizes["rows"], 2))
        if len(c):
            self.solver.filled(lib.fm_violations, c)
        return np.asarray(c[self.rows, 0])

    def forces(self, p: Array) -> Array:
        """(instants, n) R at (instants, positions), under the load that is set."""
        rest = np.zeros((len(p), self.nu))
        return required(self.solver, True, np.ascontiguousarray(p), rest, rest) * self.unit

    def at(self, p: Array, factor: float) -> Place:
        """What is out of balance. Raises EquilibriumError where the rows of the loops become dependent."""
        N, gap, nu = np.eye(self.nu)[:, self.movable], np.zeros(self.nu), np.zeros(0)
        J = self.jacobian(p)
        c = self.violations()
        pulled = np.zeros(self.nu)
        self.set(factor - 0.5)
        below = self.forces(p[None])[0]
        self.set(factor + 0.5)
        above = self.forces(p[None])[0]
        self.set(factor)
        R = self.forces(p[None])[0]
        if len(J):
            u, s, vt = np.linalg.svd(J[:, self.movable])
            if not s[-1] > _INDEPENDENT * s[0]:
                raise EquilibriumError("the loops come to a position in which their rows are dependent")
            r = len(s)
            N = np.zeros((self.nu, len(self.movable) - r))
            N[self.movable] = vt[r:].T
            gap[self.movable] = -vt[:r].T @ (u.T @ c / s)
            nu = u @ (vt[:r] @ R[self.movable] / s)
            pulled = J.T @ nu
        return Place(p, factor, N, N.T @ (R - pulled), gap, nu, N.T @ (above - below))

    def stiffness(self, at: Place, step: float = STEP) -> Array:
        """(freedoms, n) N' d(R - J' nu)/dv, zero along what stands."""
        self.set(at.factor)
        full = np.zeros((at.N.shape[1], self.nu))
        for u in np.array_split(self.movable, 1 + len(self.movable) * self.hosted.np // (1000 * _TOGETHER)):
            full[:, u] = self.along(at, np.eye(self.nu)[u], step)
        return full

    def along(self, at: Place, directions: Array, step: float = STEP) -> Array:
        """(freedoms, count) N' d(R - J' nu) along (count, n) directions."""
        found = np.zeros((at.N.shape[1], len(directions)))
        for place, weight in _WEIGHTS:
            moved = np.array([self.moved(at.p, place * step * v) for v in directions])
            R = self.forces(moved)
            if len(self.rows):
                R -= np.array([self.jacobian(p).T @ at.nu for p in moved])
            found += (weight / step) * (R @ at.N).T
        return found

    def mass(self, at: Place) -> Array:
        """(freedoms, freedoms) inertia of the independent motions."""
        M = np.zeros((1, self.nu, self.nu))
        self.solver.call(lib.fm_mass_matrix, 1, pointer(np.ascontiguousarray(at.p)), pointer(M))
        N = self.unit[:, None] * at.N
        return np.asarray(N.T @ M[0] @ N)

    def acts(self, at: Place) -> bool:
        """Whether the factor changes forces, here or beside here."""
        rng, f = np.random.default_rng(0), at.factor
        beside = [self.moved(at.p, 0.1 * rng.normal(size=self.nu)) for _ in range(3)]
        for p in [at.p, *beside]:
            J = self.jacobian(p)
            found = []
            for factor in (f, f + 1.0):
                self.set(factor)
                R = self.forces(p[None])[0][self.movable]
                found.append(R - J[:, self.movable].T @ np.linalg.lstsq(J[:, self.movable].T, R, rcond=None)[0])
            if np.abs(found[1] - found[0]).max(initial=0.0) > 1e-12 * np.abs(found).max(initial=0.0):
                return True
        return False

    def closes_alike(self, p: Array) -> bool:
        """Whether the factor leaves the positions alone that the loops allow."""
        gaps = []
        for factor in (0.0, 1.0):
            self.set(factor)
            self.go(p)
            gaps.append(self.violations())
        return bool(np.abs(gaps[1] - gaps[0]).max(initial=0.0) < 1e-12 * self.unit.max(initial=1.0))


def _numeric(value: object) -> bool:
    try:
        return np.asarray(value, float).ndim <= 1
    except (TypeError, ValueError):
        return False
