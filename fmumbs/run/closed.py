"""Loops of a mechanism at given positions: the motions that they allow, and who carries the forces of a motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fmumbs import _checks
from fmumbs.compiler.kinds import kinds
from fmumbs.compiler.layout import lib
from fmumbs.errors import ModelError
from fmumbs.run.coordinates import Array, Coordinates, required
from fmumbs.run.hosted import Hosted
from fmumbs.run.solver import Solver

INDEPENDENT = 1e-9
"""Singular values of rows of J with length one, and of actuators along motions, that count."""

FITS = 1e-6
"""Of the model's length, and of velocities and accelerations, by which a motion may miss the loops; and of the largest
force, what actuators may leave."""


class Closed:
    """A mechanism at positions that a caller gives; its Solver is left alone."""

    def __init__(self, solver: Solver, coordinates: Coordinates) -> None:
        image = solver.image
        self._coordinates = coordinates
        self.name = image.name
        n = image.sizes["speeds"]
        self.length = float(image.arrays["length"].reshape(-1)[0])
        self.scale = np.where(image.arrays["mode_linear"][:n] == 1, self.length, 1.0)
        self._driven = np.asarray(image.arrays["excitation_u"], int)
        if np.isin(image.arrays["excitation_row"], -1, invert=True).any():
            raise ModelError(
                f"Model '{self.name}' has programs, whose drives exert the forces of their motion already. Read "
                "'P.drive' of a simulation, or leave the programs out."
            )
        self._hosted = Hosted(solver, assemble=True)
        self._solver = self._hosted.solver

    def rows(self) -> Array:
        """(rows, speeds) independent constraint rows of length one and those of excited modes, in units of the
        coordinates.
        """
        stand = np.zeros((len(self._driven), len(self.scale)))
        stand[np.arange(len(stand)), self._driven] = 1.0
        if not self._solver.image.sizes["rows"]:
            return stand
        J = self._solver.jacobian[self._solver.active_rows] * self.scale
        lengths = np.linalg.norm(J, axis=1)
        return np.vstack([J[lengths > 0.0] / lengths[lengths > 0.0, None], stand])

    def allowed(self) -> Array:
        """(speeds, freedoms) an orthonormal basis of the motions that loops allow while drives stand."""
        rows = self.rows()
        if not len(rows):
            return np.eye(len(self.scale))
        _, s, vt = np.linalg.svd(rows)
        return np.asarray(vt[int((s > INDEPENDENT).sum()) :].T)

    def actuate(
        self, actuated: Sequence[str] | None, positions: Array, speeds: Array, accelerations: Array, forces: Array
    ) -> Array:
        """(n, actuated) forces of the actuators that balance (n, speeds) forces."""
        if actuated is None:
            raise ModelError(self._choices(positions[0], speeds[0]))
        references = [one for name in _checks.names(actuated, "actuated") for one in self._input(name)]
        found = np.zeros((len(positions), len(references)))
        positions = self._coordinates.with_unit_quaternions(positions)
        for i in range(len(positions)):
            self._hosted.go(positions[i], speeds[i])
            self._check_fits(i, speeds[i], accelerations[i])
            N = self.allowed()
            B = self._columns(references, positions[i]) * self.scale[:, None]
            found[i] = self._solve(i, actuated, N, B, forces[i] * self.scale)
        return found

    def _solve(self, instant: int, actuated: Sequence[str], N: Array, B: Array, forces: Array) -> Array:
        """The actuators' forces: B and forces in units of the coordinates."""
        A, b = N.T @ B, N.T @ forces
        size = np.linalg.norm(B, axis=0)
        A = A / np.where(size > 0.0, size, 1.0)
        u, s, vt = np.linalg.svd(A, full_matrices=False)
        rank = int((s > INDEPENDENT).sum())
        where = f"Model '{self.name}', instant {instant}"
        if rank < B.shape[1]:
            raise ModelError(
                f"{where}: {B.shape[1]} actuators, {', '.join(actuated)}, act on {rank} independent motions of "
                f"{N.shape[1]}, so that their forces are not determined. Name {rank} of them."
            )
        x = vt.T @ ((u.T @ b) / s)
        left = N @ (b - A @ x)
        if np.abs(left).max(initial=0.0) > FITS * max(np.abs(forces).max(initial=0.0), 1e-300):
            worst = self._coordinates.speeds[int(np.argmax(np.abs(left)))]
            raise ModelError(
                f"{where}: the actuators {', '.join(actuated)} cannot make this motion: the mechanism has "
                f"{N.shape[1]} degrees of freedom, and along '{worst}' a force is missing. {self._candidates(N)}"
            )
        return np.asarray(x / np.where(size > 0.0, size, 1.0))

    def _check_fits(self, instant: int, speeds: Array, accelerations: Array) -> None:
        """Raises ModelError where the motion does not fit the loops."""
        if not self._solver.image.sizes["rows"]:
            return
        where = f"Model '{self.name}', instant {instant}"
        gap = float(self._solver.get("solver.position_violation"))
        if gap > FITS * max(self.length, 1.0):
            raise ModelError(
                f"{where}: these positions leave a gap of {gap:.3g} in the loops. Give positions that close them, such "
                "as those of a Result or of a Solver after assemble()."
            )
        rows = self.rows()[: len(self.rows()) - len(self._driven)]
        rate = np.abs(rows @ (speeds / self.scale)).max(initial=0.0)
        if rate > FITS * max(np.abs(speeds / self.scale).max(initial=0.0), 1e-300):
            raise ModelError(
                f"{where}: these velocities open the loops at {rate:.3g} 1/s. Give velocities that the loops allow."
            )
        given = accelerations / self.scale
        possible = self._hosted.speeds_of(self._hosted.rates()) / self.scale
        off = np.abs(rows @ (given - possible)).max(initial=0.0)
        if off > FITS * max(np.abs(given).max(initial=0.0), np.abs(possible).max(initial=0.0)):
            raise ModelError(
                f"{where}: these accelerations open the loops at {off:.3g} 1/s2. Give accelerations that the loops "
                "allow at these velocities."
            )

    def _input(self, name: str) -> list[int]:
        variables = self._solver.image.variables
        found = variables.references(name)
        if not found:
            raise ModelError(f"Model '{self.name}' {variables.unknown(name)}")
        if any(kinds()[k].place not in _FORCES for k in self._solver.image.arrays["variable_kind"][found]):
            raise ModelError(
                f"Model '{self.name}': '{name}' is not the input of a force. Name an input such as "
                f"'{self._inputs()[0] if self._inputs() else 'J.tau'}'."
            )
        return found

    def _columns(self, references: Sequence[int], positions: Array) -> Array:
        """(speeds, references) generalised forces of unit inputs, at rest, where inputs enter linearly."""
        solver, n = self._solver, len(self.scale)
        at = np.asarray(references, np.uint32)
        kept = solver.read(at)
        none = np.zeros((1, n))

        def force() -> Array:
            return np.asarray(required(solver, True, positions[None], none, none)[0])

        base = force()
        B = np.zeros((n, len(at)))
        amount = max(1.0, float(np.abs(base).max(initial=0.0)))
        for k in range(len(at)):
            solver.write(at[k : k + 1], kept[k : k + 1] + amount)
            B[:, k] = (base - force()) / amount
            solver.write(at[k : k + 1], kept[k : k + 1])
        B[np.abs(B) < 1e-14 * np.abs(B).max(initial=0.0)] = 0.0
        return B

    def _inputs(self) -> list[str]:
        """Names of the inputs of joints."""
        variables = self._solver.image.variables
        kind = self._solver.image.arrays["variable_kind"]
        chosen = [k.index for k in kinds() if k.place == lib.FM_AT_TAU and k.suffix in ("tau", "f")]
        return variables.names(np.flatnonzero(np.isin(kind, chosen)))

    def _choices(self, positions: Array, speeds: Array) -> str:
        self._hosted.go(positions, speeds)
        N = self.allowed()
        return (
            f"Model '{self.name}' has loops and {N.shape[1]} degrees of freedom: as many inputs carry the force "
            f"of a motion. {self._candidates(N)}"
        )

    def _candidates(self, N: Array) -> str:
        names = self._inputs()
        references = [one for name in names for one in self._input(name)]
        B = self._columns(references, self._solver.positions) * self.scale[:, None]
        size = np.linalg.norm(B, axis=0)
        acts = np.linalg.norm(N.T @ B, axis=0) > INDEPENDENT * np.where(size > 0.0, size, 1.0)
        able = [name for name, one in zip(names, acts, strict=True) if one]
        return f"Name {N.shape[1]} inputs as actuated=[...], among them {', '.join(able) or 'loads'}."


_FORCES = (lib.FM_AT_TAU, lib.FM_AT_LOAD_FORCE, lib.FM_AT_LOAD_TORQUE)
