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
    from scipy.optimize import linear_sum_assignment

    n = len(A)
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
    """Eigenvalues and their errors.

    Bounds of first order are far too large where round-off has left eigenvalues together that E could split, as those
    of a critically damped oscillator. Those of a matrix within E of A are split, and are judged in their place.
    """
    values, errors, several = _bounded(A, E)
    if several:
        from scipy.optimize import linear_sum_assignment

        drawn = np.random.default_rng(0).uniform(-1.0, 1.0, E.shape)
        beside, theirs, _ = _bounded(A + drawn * E, 2.0 * E)
        apart = np.abs(values[:, None] - beside[None, :])
        order = linear_sum_assignment(apart)[1]
        errors = np.minimum(errors, apart[np.arange(len(A)), order] + theirs[order])
    return values, errors


def _bounded(A: Array, E: Array) -> tuple[Complex, Array, bool]:
    """Eigenvalues, their errors by E and by the computation, which leaves A v - values v, and whether any coincide."""
    values, right = np.linalg.eig(A)
    left_over = np.abs(A @ right - right * values) + _EPS * np.abs(A) @ np.abs(right)
    bounds = _between(right, E @ np.abs(right) + left_over)
    split = _split(values, bounds)
    return values.astype(complex), (1.0 + split) * bounds, bool((split > 1.0).any())


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
    """(n,) what the changes of A v, in columns, are along w; infinite where eigenvectors depend on one another.

    The eigenvectors of roots that round-off has split are nearly dependent: a pseudoinverse, which drops such small
    singular values, loses the bounds of these roots.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            bounds = (np.abs(np.linalg.inv(right)) * change.T).sum(axis=1)
        except np.linalg.LinAlgError:
            return np.full(len(right), np.inf)
    return np.where(np.isnan(bounds), np.inf, bounds)
