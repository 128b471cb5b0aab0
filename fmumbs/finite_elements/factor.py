"""Cholesky's factor of a large sparse matrix of finite elements, by fronts in the order of nested dissection.

Nodes are halved across their longest direction again and again; of each half the freedoms that couple to the other half
come last (George's nested dissection, with the mesh's own places in place of a search in its graph). Each part is
eliminated as a dense front, whose Schur complement is added to that of the part above it (multifrontal method, Duff and
Reid 1983), so that nearly all operations are products of dense matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from fmumbs.errors import ModelError

Array = NDArray[np.float64]
Index = NDArray[np.intp]

_LEAF = 300  # freedoms of a part that is halved no further: a dense front of them is quicker than more parts
_LOST = 1e-13  # a pivot below this part of its diagonal entry is round-off


@dataclass
class _Front:
    """Freedoms that a part eliminates, those around it that they couple to, and their columns of the factor."""

    own: Index
    around: Index
    L: Array  # (own, own) lower triangle
    below: Array  # (around, own)


class Factor:
    """K = L L' of a symmetric positive definite matrix. places: (n, 3) of each freedom.

    Raises ModelError, naming `where`, for one that is not positive definite.
    """

    def __init__(self, K: Any, places: Array, where: str) -> None:
        self.size = K.shape[0]
        self._K = sparse.csr_array(K)
        self._places = places
        self._diagonal = K.diagonal()
        self._where = where
        if not (self._diagonal > 0.0).all():
            raise self._loose(int(np.argmin(self._diagonal)))
        self._fronts: list[_Front] = []
        self._rank = np.full(self.size, -1)  # in the order of elimination
        self._inside = np.zeros(self.size, bool)
        self._slot = np.zeros(self.size, int)
        self._eliminate(np.arange(self.size))

    def solve(self, b: Array, refine: bool = True) -> Array:
        """K^-1 b for b (n, k). refine: with one step of refinement, for twice the time."""
        x = self._once(b)
        return x + self._once(b - self._K @ x) if refine else x

    def _once(self, b: Array) -> Array:
        x = np.array(b, float)
        for f in self._fronts:
            x[f.own] = linalg.solve_triangular(f.L, x[f.own], lower=True, check_finite=False)
            x[f.around] -= f.below @ x[f.own]
        for f in reversed(self._fronts):
            x[f.own] = linalg.solve_triangular(
                f.L, x[f.own] - f.below.T @ x[f.around], lower=True, trans=1, check_finite=False
            )
        return x

    def _eliminate(self, part: Index) -> tuple[Index, Array]:
        """Factors all that lies in a part; returns the freedoms around it and what is left for them."""
        left, right, between = self._halves(part)
        below = [self._eliminate(half) for half in (left, right) if len(half)]
        self._inside[between] = True
        beside = [around for around, _ in below]
        beside.append(self._K[between].indices)
        around = np.unique(np.concatenate(beside))
        around = around[~self._inside[around] & (self._rank[around] < 0)]
        own = between
        self._inside[between] = False
        return self._front(own, around, below)

    def _front(self, own: Index, around: Index, below: list[tuple[Index, Array]]) -> tuple[Index, Array]:
        n, whole = len(own), np.concatenate([own, around])
        self._slot[whole] = np.arange(len(whole))
        F = np.zeros((len(whole), len(whole)), order="F")
        rows = self._K[own].tocoo()
        kept = self._rank[rows.col] < 0
        i, j = rows.row[kept], self._slot[rows.col[kept]]
        F[j, i] = rows.data[kept]  # lower triangle, and all of `own`
        for freedoms, left in below:
            at = self._slot[freedoms]
            F[np.ix_(at, at)] += left
        top, side = F[:n, :n], F[n:, :n]
        self._rank[own] = len(self._fronts)
        L, info = linalg.lapack.dpotrf(top, lower=1, clean=1)
        if info == 0 and (np.diag(L) ** 2 <= _LOST * self._diagonal[own]).any():
            info = int(np.argmin(np.diag(L) ** 2 / self._diagonal[own])) + 1
        if info != 0:
            raise self._loose(int(own[info - 1]))
        side = linalg.solve_triangular(L, side.T, lower=True, check_finite=False).T
        self._fronts.append(_Front(own, around, L, side))
        return around, F[n:, n:] - side @ side.T

    def _loose(self, freedom: int) -> ModelError:
        x, y, z = self._places[freedom]
        return ModelError(
            f"{self._where}: K lets parts of the body move without strain, seen at the node at {x:.6g}, {y:.6g}, "
            f"{z:.6g} m. Connect all parts, and leave out freedoms that no element has."
        )

    def _halves(self, part: Index) -> tuple[Index, Index, Index]:
        """Two halves that do not couple to one another, and what couples them."""
        none = part[:0]
        if len(part) <= _LEAF:
            return none, none, part
        at = self._places[part]
        along = at[:, int(np.argmax(np.ptp(at, axis=0)))]
        middle = np.median(along)
        low = along < middle
        if not low.any():
            low = along <= middle
        if low.all():
            return none, none, part
        one, other = part[low], part[~low]
        self._inside[other] = True
        K = self._K[one]
        touched = np.add.reduceat(self._inside[K.indices], K.indptr[:-1], dtype=int) > 0
        self._inside[other] = False
        between = one[touched]
        return one[~touched], other, between
