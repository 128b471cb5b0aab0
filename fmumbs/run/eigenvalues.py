"""Eigenvalues of a matrix whose entries have errors, and how far these may move them: what every verdict rests on.

A state that acts on no other, nor on itself, within these errors has an eigenvalue of zero, as the place of a vehicle
has, and its heading once its place is left out; the other eigenvalues are those of the rest. There an error E of A
moves an eigenvalue by up to b = |w| E |v| / |w v| to first order, with its eigenvectors w and v. m eigenvalues that
round-off has split lie around their mean, at up to m b: such groups are those whose discs of radius m b meet. Where an
eigenvalue lies outside the discs of all others, terms of second order add at most b once more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_EPS = float(np.finfo(float).eps)


def first_order(right: Complex, E: Array) -> Array:
    """(n,) bounds, to first order, of how far changes by up to E move eigenvalues: |w| E |v| / |w v|.

    right: (n, n) eigenvectors in columns. E: (n, n) bounds of the changes.
    """
    return _between(right, E @ np.abs(right))


def eigenvalues(A: Array, E: Array) -> tuple[Complex, Complex, Array]:
    """(n,) eigenvalues of A, (n, n) eigenvectors in columns, and (n,) how far errors of A by up to E may move them."""
    n = len(A)
    if n == 0:
        return np.zeros(0, complex), np.zeros((0, 0), complex), np.zeros(0)
    from scipy.optimize import linear_sum_assignment

    A, rest = A.copy(), np.arange(n)
    acts = np.abs(A) > E
    while len(idle := rest[~acts[np.ix_(rest, rest)].any(axis=0)]):
        A[np.ix_(rest, idle)] = 0.0
        rest = np.setdiff1d(rest, idle)
    values, errors = np.zeros(n, complex), np.diag(E).copy()
    values[rest], errors[rest] = _of_rest(A[np.ix_(rest, rest)], E[np.ix_(rest, rest)])
    whole, vectors = np.linalg.eig(A)
    order = linear_sum_assignment(np.abs(whole[:, None] - values[None, :]))[1]
    return values[order], np.asarray(vectors, complex), errors[order]


def _of_rest(A: Array, E: Array) -> tuple[Complex, Array]:
    """Eigenvalues, and their errors by E and by the computation, which leaves A v - values v."""
    values, right = np.linalg.eig(A)
    left_over = np.abs(A @ right - right * values) + _EPS * np.abs(A) @ np.abs(right)
    bounds = _between(right, E @ np.abs(right) + left_over)
    return values.astype(complex), (1.0 + _split(values, bounds)) * bounds


def _split(values: Complex, bounds: Array) -> Array:
    """(n,) how many eigenvalues each may coincide with but for round-off, itself included: the largest such groups."""
    from scipy.sparse.csgraph import connected_components

    size = np.full(len(values), float(len(values)))
    while True:
        radius = size * bounds
        meet = np.abs(values[:, None] - values[None, :]) <= radius[:, None] + radius[None, :]
        group = connected_components(meet, directed=False)[1]
        found: Array = np.bincount(group)[group].astype(float)
        if (found >= size).all():
            return found
        size = found


def _between(right: Complex, change: Array) -> Array:
    """(n,) what the changes of A v, in columns, are along w."""
    return np.asarray((np.abs(np.linalg.pinv(right)) * change.T).sum(axis=1))
