"""Static answers of a free elastic body under conditions, by one factorisation.

Six freedoms that determine the rigid motion are held; with the rest of K factored, a pseudo-inverse A of K is known.
For loads b and conditions C u = x

    u = A (b + C' l) + R a,    R' (b + C' l) = 0,    C u = x,

which is exact: the loads are in equilibrium, so that the six held freedoms feel nothing. Conditions on held freedoms
have no flexibility in C A C'. With c C R times the second equation added to the third, the answer is the same, and all
conditions have one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from fmumbs.finite_elements.factor import Factor

Array = NDArray[np.float64]
Sparse = Any


class Elastic:
    """K: (n, n) sparse; R: (n, 6) its rigid motions; places: (n, 3) of each freedom; where: the body's name."""

    def __init__(self, K: Sparse, R: Array, places: Array, where: str) -> None:
        self.R = R
        self._held = linalg.qr(R.T, pivoting=True, mode="economic")[2][:6]
        free = np.ones(len(R), bool)
        free[self._held] = False
        self._free = np.flatnonzero(free)
        self._factor = Factor(sparse.csr_array(K[self._free][:, self._free]), places[self._free], where)

    def pseudo(self, b: Array, refine: bool = True) -> Array:
        """A b: displacements with the held freedoms at rest."""
        u = np.zeros_like(b)
        u[self._free] = self._factor.solve(b[self._free], refine)
        return u


class Conditions:
    """Answers of an elastic body whose C u is given; C: (conditions, n), of full rank with the rigid motions."""

    def __init__(self, body: Elastic, C: Array) -> None:
        self.body, self.C = body, C
        count = len(C)
        self._answers = body.pseudo(np.ascontiguousarray(C.T))  # A C'
        self._rigid = rigid = C @ body.R
        flexible, turns = C @ self._answers, np.einsum("ia,ia->i", rigid, rigid)
        added = (np.diag(flexible)[turns > 0.0] / turns[turns > 0.0]).max(initial=0.0)
        self._added = added if added > 0.0 else 1.0
        small = np.zeros((count + 6, count + 6))
        small[:count, :count] = flexible + self._added * rigid @ rigid.T
        small[:count, count:], small[count:, :count] = rigid, rigid.T
        # Rows and columns in their own sizes: translations beside rotations, flexibilities beside motions.
        over = np.sqrt(np.diag(small)[:count])
        under = np.linalg.norm(rigid / over[:, None], axis=0)
        self._scale = np.concatenate([1.0 / over, 1.0 / np.where(under > 0.0, under, 1.0)])
        self._small = linalg.lu_factor(small * np.outer(self._scale, self._scale))

    def solve(self, b: Array | None = None, x: Array | None = None, refine: bool = True) -> Array:
        """Displacements u for loads b (n, k) and values x (conditions, k), zero by default; refine: as of a Factor."""
        body, count = self.body, len(self.C)
        first = None if b is None else body.pseudo(b, refine)
        columns = (b if b is not None else x).shape[1]  # type: ignore[union-attr]
        right = np.zeros((count + 6, columns))
        if x is not None:
            right[:count] += x
        if b is not None and first is not None:
            unbalanced = body.R.T @ b
            right[:count] -= self.C @ first + self._added * self._rigid @ unbalanced
            right[count:] -= unbalanced
        found = self._scale[:, None] * linalg.lu_solve(self._small, self._scale[:, None] * right)
        u: Array = self._answers @ found[:count] + body.R @ found[count:]
        return u if first is None else u + first
