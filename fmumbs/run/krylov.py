"""Newton's method for the statics of large mechanisms: each correction by GMRES, without a matrix.

The residual at positions q is the displacement that the forces Q bring about in a mechanism whose springs K_J in joints
and modes of bodies act as an inertia beside M,

    F(q) = (M / s + K_J)^-1 Q(q),

one evaluation in O(n), with s K_J as rotor inertias (in the loops too) and s = length / gravity. Where nothing but
these springs returns the mechanism -dF/dq is nearly the identity, and where only gravity does it is of the order of 1,
so that GMRES needs a number of products that does not grow with that of elements; each product is a difference of two
evaluations. The merit function is |F|, which no scaling of the coordinates changes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_DIFFERENCE = 1e-6  # step of the differences, over the largest entry of the direction
_TOLERANCE = 1e-6  # of GMRES
_PRODUCTS, _RESTART = 240, 80
_STEPS = 40
_LONGEST = 0.5  # [rad], or of the length: largest step of one coordinate
_SHORTEST = 1 / 1024  # of a Newton step


class NoConvergence(Exception):
    """The corrections do not get smaller."""


@dataclass
class Displacements:
    """F of a mechanism, in multiples of the length for slides.

    size: of v. at(q): F there; moved(q, v): q displaced by v.

    within(q): the orthogonal projection onto the motions that loops allow at q.
    """

    size: int
    at: Callable[[Array], Array]
    moved: Callable[[Array, Array], Array]
    within: Callable[[Array], Callable[[Array], Array]]

    def product(self, q: Array, v: Array) -> Array:
        """-dF/dq v"""
        largest = float(np.abs(v).max(initial=0.0))
        if largest == 0.0:
            return np.zeros_like(v)
        step = _DIFFERENCE / largest
        ahead, back = self.at(self.moved(q, step * v)), self.at(self.moved(q, -step * v))
        return (back - ahead) / (2.0 * step)

    def operator(self, q: Array) -> tuple[Any, Callable[[Array], Array]]:
        """-dF/dq within the motions that loops allow, and the identity across them; and the projection onto them."""
        from scipy.sparse.linalg import LinearOperator

        P = self.within(q)

        def matvec(v: Array) -> Array:
            v = np.asarray(v, float).ravel()
            allowed = P(v)
            return P(self.product(q, allowed)) + (v - allowed)

        return LinearOperator((self.size, self.size), matvec, dtype=float), P

    def solved(self, q: Array, right: Array) -> Array:
        """Solves -dF/dq v = right for v, as far as GMRES comes; of least norm where that is singular."""
        from scipy.sparse.linalg import gmres

        operator, P = self.operator(q)
        restart = min(len(right), _RESTART)
        v, _ = gmres(operator, P(right), rtol=_TOLERANCE, restart=restart, maxiter=max(_PRODUCTS // restart, 1))
        return P(np.asarray(v, float))

    def softest(self, q: Array) -> tuple[float, Array]:
        """The eigenvalue of -dF/dq with the least real part, and its motion."""
        from scipy.sparse.linalg import eigs

        operator, P = self.operator(q)
        start = P(np.random.default_rng(0).normal(size=self.size))
        values, motions = eigs(operator, k=1, which="SR", v0=start, ncv=min(self.size - 1, 40), tol=1e-9)
        return float(values[0].real), np.asarray(motions[:, 0].real)

    def newton(self, q: Array, close: float) -> Array:
        """Where F vanishes near q: the last correction is below `close`. Raises NoConvergence."""
        F = self.at(q)
        for _ in range(_STEPS):
            size = float(np.abs(F).max(initial=0.0))
            if not np.isfinite(size):
                raise NoConvergence
            step = self.solved(q, F)
            longest = float(np.abs(step).max(initial=0.0))
            if longest < close:
                return self.moved(q, step)
            q, F = self.shortened(q, F, step * min(1.0, _LONGEST / longest))
        raise NoConvergence

    def shortened(self, q: Array, F: Array, step: Array) -> tuple[Array, Array]:
        """The longest of the halved steps that makes |F| smaller."""
        before, share = float(np.linalg.norm(F)), 1.0
        while share >= _SHORTEST:
            there = self.moved(q, share * step)
            after = self.at(there)
            if np.linalg.norm(after) <= (1 - share / 8) * before or before < 1e-13 * len(F) ** 0.5:
                return there, after
            share /= 2
        raise NoConvergence
