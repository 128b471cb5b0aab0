"""Modes of a linear model: eigenvalues, shapes, and which bodies and springs have the energy of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmumbs.run.eigenvalues import eigenvalues
from fmumbs.run.energies import Energies

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_MOST = 20  # modes in a printed table


@dataclass(frozen=True)
class Modes:
    """Of a linear model. eigenvalues: (modes,) [1/s], with positive or no imaginary parts, in the order of these.
    errors: (modes,) how far the errors of A may move each of them [1/s].
    shapes: (states, modes) the states in each, the largest one 1. states: their names. kinetic, elastic: shares of the
    energies by body, by joint and spring, (modes,) of each, which add up to 1 where there is any.
    """

    eigenvalues: Complex
    errors: Array
    shapes: Complex
    states: tuple[str, ...]
    kinetic: Mapping[str, Array]
    elastic: Mapping[str, Array]

    def __len__(self) -> int:
        return len(self.eigenvalues)

    @property
    def frequencies(self) -> Array:
        """(modes,) natural angular frequencies, the magnitudes of the eigenvalues [rad/s]."""
        return np.asarray(np.abs(self.eigenvalues))

    @property
    def damping(self) -> Array:
        """(modes,) damping ratios: minus the real part over the magnitude; negative for a mode that grows."""
        size = np.abs(self.eigenvalues)
        return np.asarray(-self.eigenvalues.real / np.where(size > 0.0, size, 1.0))

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Of each mode "grows", "decays", or "not decided" where its real part is within round-off."""
        real = self.eigenvalues.real
        found = np.where(real > self.errors, "grows", np.where(real < -self.errors, "decays", "not decided"))
        return tuple(str(one) for one in found)

    def __str__(self) -> str:
        head = f"{'eigenvalue [1/s]':>30} {'+-':>8} {'frequency [Hz]':>15} {'damping':>9} {'verdict':>12}  most in"
        lines, verdicts = [head], self.verdicts
        for k in range(min(len(self), _MOST)):
            value = self.eigenvalues[k]
            most = self.states[int(np.argmax(np.abs(self.shapes[:, k])))]
            body = max(self.kinetic, key=lambda name: float(self.kinetic[name][k]), default="")
            text = f"{value.real:.6g}" + (f" +- {value.imag:.6g}i" if value.imag else "")
            where = f"{most}, {body}" if body else most
            hertz, damping = f"{self.frequencies[k] / (2 * np.pi):.6g}", f"{self.damping[k]:.4f}"
            if abs(value) <= self.errors[k]:
                text, hertz, damping = "0", "-", "-"
            lines.append(f"{text:>30} {self.errors[k]:8.1e} {hertz:>15} {damping:>9} {verdicts[k]:>12}  {where}")
        return "\n".join(lines + (["..."] if len(self) > _MOST else []))


def modes_of(A: Array, E: Array, states: tuple[str, ...], energies: Energies) -> Modes:
    """The modes of x' = A x, where A has errors of up to E."""
    values, vectors, errors = eigenvalues(A, E)
    kept = np.flatnonzero(values.imag >= 0.0)
    order = kept[np.lexsort((values[kept].real, values[kept].imag))]
    shapes: Complex = vectors[:, order]
    if len(A):
        shapes = shapes / shapes[np.argmax(np.abs(shapes), axis=0), np.arange(shapes.shape[1])]
    kinetic, elastic = energies.kinetic(shapes), energies.elastic(shapes)
    return Modes(values[order], errors[order], shapes, states, kinetic, elastic)
