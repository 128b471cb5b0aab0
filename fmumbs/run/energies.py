"""Shares of kinetic and elastic energy in a mode of a linear model, by body, joint, spring and rope."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.kinds import BODY, JOINT, ROPE, SPRING
from fmumbs.run.charts import Chart
from fmumbs.run.coordinates import Array
from fmumbs.run.inverse import mass_matrix, point_jacobian

Complex = NDArray[np.complex128]


class Energies:
    """Quadratic forms of the changes of velocities and of deformations. place() gives these by the states."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        names = chart.image.variables.structured
        self.bodies, self.joints, self.springs = (names.elements(owner) for owner in (BODY, JOINT, SPRING))
        self.first = np.asarray(chart.image.arrays["joint_first"])
        variables = chart.image.variables
        self.cut = [j for j, name in enumerate(self.joints) if self.first[j] < 0 and self._stiffness(name).any()]
        read = [one for j in self.cut for one in variables.references(f"{self.joints[j]}.q")]
        lengths = [variables.references(f"{name}.length")[0] for name in self.springs]
        self.ropes = names.elements(ROPE)
        sides = [one for name in self.ropes for one in variables.references(f"{name}.tension")]
        self.read_too = np.array([*read, *lengths, *sides], np.uint32)
        self._forms = self._kinetic_forms()
        self.kept = np.arange(len(chart.x0))  # the chart's states that are the linear model's

    @classmethod
    def of(cls, chart: Chart) -> Energies:
        """Of a chart's state."""
        return cls(chart)

    def read(self, chart: Chart) -> Array:
        """What place() wants the derivatives of: velocities, displacements, and lengths and angles beside the tree."""
        return np.concatenate([chart.speeds(), chart.displacement(), chart.read(self.read_too)])

    def place(self, derivatives: Array) -> None:
        """derivatives: (what read() gives, states)."""
        n = self.chart.nu
        self.speeds, self.displacements, self.others = (
            derivatives[:n], derivatives[n : 2 * n], derivatives[2 * n :],
        )  # fmt: skip

    def without(self, kept: NDArray[np.int64]) -> Energies:
        """The same of some states only."""
        other = copy(self)
        other.kept = self.kept[kept]
        other.speeds, other.displacements, other.others = (
            each[:, kept] for each in (self.speeds, self.displacements, self.others)
        )
        return other

    def kinetic(self, shapes: Complex) -> Mapping[str, Array]:
        """(modes,) of each body, and of rotors by joint."""
        v = self.speeds @ shapes
        return _shares({name: _form(M, v) for name, M in self._forms.items()})

    def _kinetic_forms(self) -> dict[str, Array]:
        solver = self.chart.solver
        q, arrays = solver.positions, self.chart.image.arrays
        rest = mass_matrix(solver, q)
        found: dict[str, Array] = {}
        flexible = []
        for i, name in enumerate(self.bodies):
            if int(arrays["link_modal"][arrays["body_link"][i]]) >= 0:
                flexible.append(name)
                continue
            w, x, y, z = solver.get(f"{name}.quat")
            R = np.array([
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ])  # fmt: skip
            xx, yy, zz, xy, xz, yz = solver.get(f"{name}.inertia")
            inertia = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
            J = point_jacobian(solver, q, name)
            arm = R @ arrays["com"][i]
            v = J[:3] + np.cross(J[3:].T, arm).T
            found[name] = float(solver.get(f"{name}.mass")) * v.T @ v + J[3:].T @ inertia @ J[3:]
            rest = rest - found[name]
        for j, name in enumerate(self.joints):
            rotor = np.asarray(arrays["rotor_inertia"][int(arrays["joint_u"][j]) :][: int(arrays["joint_nu"][j])])
            if self.first[j] >= 0 and rotor.any():
                values = np.atleast_1d(solver.get(f"{name}.rotor_inertia"))
                u = np.arange(len(values)) + int(arrays["joint_u"][j])
                found[name] = np.zeros_like(rest)
                found[name][u, u] = values
                rest = rest - found[name]
        if flexible:
            found[flexible[0] if len(flexible) == 1 else "flexible bodies"] = rest
        return found

    def elastic(self, shapes: Complex) -> Mapping[str, Array]:
        """(modes,) of the springs in joints, line springs, ropes, and flexible bodies."""
        arrays, solver = self.chart.image.arrays, self.chart.solver
        s, others = self.displacements @ shapes, self.others @ shapes
        found: dict[str, Array] = {}
        for j, name in enumerate(self.joints):
            K = self._stiffness(name)
            if not K.any():
                continue
            if self.first[j] >= 0:
                moved = s[int(arrays["joint_u"][j]) :][: len(K)]
            else:
                moved, others = others[: len(K)], others[len(K) :]
            found[name] = _form(K, moved)
        for name in self.springs:
            found[name] = float(solver.get(f"{name}.stiffness")) * np.abs(others[0]) ** 2
            others = others[1:]
        for rope, name in enumerate(self.ropes):  # T^2/k of each side, k = EA/L
            tensions, others = np.split(others, [int(arrays["rope_sides"][rope])])
            sides = int(arrays["rope_side"][rope]) + np.arange(len(tensions))
            lengths = arrays["side_share"][sides] * float(solver.get(f"{name}.length"))
            found[name] = lengths @ np.abs(tensions) ** 2 / float(solver.get(f"{name}.stiffness"))
        for modal, link in enumerate(arrays["modal_link"].tolist()):
            n, first = int(arrays["modal_shapes"][modal]), int(arrays["modal_pair"][modal])
            K = arrays["pair_stiffness"][first : first + n * n].reshape(n, n)
            body = self.bodies[int(np.flatnonzero(arrays["body_link"] == link)[0])]
            found[body] = _form(K, s[int(arrays["link_u"][link]) :][:n])
        return _shares({name: energy for name, energy in found.items() if energy.any()})

    def _stiffness(self, joint: str) -> Array:
        """(modes, modes) of a joint, from its parameters."""
        variables = self.chart.image.variables
        references = variables.references(f"{joint}.stiffness")
        if not references:
            return np.zeros((0, 0))
        values = self.chart.solver.read(np.array(references, np.uint32))
        n = round((np.sqrt(1 + 8 * len(values)) - 1) / 2)
        j = self.joints.index(joint)
        modes = int(self.chart.image.arrays["joint_nu"][j])
        if len(values) != n * (n + 1) // 2 or n != modes or len(values) == modes:
            return np.diag(values)
        K = np.diag(values[:n])
        K[np.triu_indices(n, 1)] = values[n:]
        return np.asarray(np.triu(K) + np.triu(K, 1).T)


def _form(K: Array, v: Complex) -> Array:
    """(modes,) v* K v."""
    return np.asarray(np.einsum("im,ij,jm->m", v.conj(), K, v).real)


def _shares(energies: dict[str, Array]) -> Mapping[str, Array]:
    total = sum(energies.values()) if energies else np.zeros(0)
    return {name: energy / np.where(total > 0.0, total, 1.0) for name, energy in energies.items()}
