"""Plane trusses under a growing load by an own dense arc-length method: nodal coordinates, stiffness in closed form.

A bar of stiffness k and free length l0 between a and b, d = b - a, l = |d|, n = d / l, exerts k (l - l0) n on a; its
stiffness is k n n' + k (1 - l0 / l) (1 - n n'). The path is followed in short steps of fixed length, and limit points
are bisected by the sign of the factor's rate.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Truss:
    """nodes: (count, 2), the first `free` of which move. bars: ends, stiffness and free length. load: (free, 2)."""

    nodes: Array
    free: int
    bars: list[tuple[int, int, float, float]]
    load: Array

    def forces(self, x: Array) -> tuple[Array, Array]:
        """(2 free,) forces that the bars need, and (2 free, 2 free) their stiffness."""
        at = self.nodes.copy()
        at[: self.free] = x.reshape(-1, 2)
        R, K = np.zeros(at.size), np.zeros((at.size, at.size))
        for a, b, k, l0 in self.bars:
            d = at[b] - at[a]
            length = np.sqrt(d @ d)
            n = d / length
            own = k * np.outer(n, n) + k * (1.0 - l0 / length) * (np.eye(2) - np.outer(n, n))
            i, j = np.arange(2 * a, 2 * a + 2), np.arange(2 * b, 2 * b + 2)
            R[i] -= k * (length - l0) * n
            R[j] += k * (length - l0) * n
            for rows, columns, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
                K[np.ix_(rows, columns)] += sign * own
        n = 2 * self.free
        return R[:n], K[:n, :n]

    def tangent(self, x: Array, before: Array) -> Array:
        """(2 free + 1,) of length one, in the sense of `before`."""
        A = np.vstack([np.column_stack([self.forces(x[:-1])[1], -self.load.ravel()]), before])
        t = np.linalg.solve(A, np.append(np.zeros(len(A) - 1), 1.0))
        return t / np.linalg.norm(t)

    def correct(self, x: Array, t: Array) -> Array:
        """Back to the path in the plane across t."""
        for _ in range(8):
            R, K = self.forces(x[:-1])
            A = np.vstack([np.column_stack([K, -self.load.ravel()]), t])
            step = np.linalg.solve(A, np.append(R - x[-1] * self.load.ravel(), 0.0))
            x = x - step
            if np.linalg.norm(step) < 1e-10:
                return x
        raise AssertionError("the oracle left the path")

    def follow(self, steps: int, length: float) -> tuple[Array, list[float]]:
        """(points, 2 free + 1) coordinates and factors; factors of limit points."""
        x = np.append(self.nodes[: self.free].ravel(), 0.0)
        t = self.tangent(x, np.append(np.zeros(len(x) - 1), 1.0))
        rows, limits = [x], []
        for _ in range(steps):
            new = self.correct(x + length * t, t)
            turned = self.tangent(new, t)
            if turned[-1] * t[-1] < 0.0:
                limits.append(self._limit(x, t, length))
            x, t = new, turned
            rows.append(x)
        return np.array(rows), limits

    def _limit(self, x: Array, t: Array, length: float) -> float:
        low, high = 0.0, length
        for _ in range(40):
            middle = 0.5 * (low + high)
            at = self.correct(x + middle * t, t)
            low, high = (middle, high) if self.tangent(at, t)[-1] * t[-1] > 0.0 else (low, middle)
        return float(at[-1])
