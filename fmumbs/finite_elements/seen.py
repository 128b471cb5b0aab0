"""Shapes of second order: those parts of a body's displacements of second order (mechanism/second_order.py) that loads
see.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]

_SAME = 1e-12  # of the largest: singular values of what the phi2 span that are round-off
_UNSEEN = 1e-9  # of a load's work along unit shapes: it does none


@dataclass(frozen=True, eq=False)
class Seconds:
    """Shapes of second order. followers: (shapes, modes, modes) C [1/m].

    first: (shapes, 3), moment: (shapes, 3, 3), as of the modes; product: (modes and shapes, shapes, 3, 3).
    rows: (places, shapes, 6) translations and rotation vectors of frames.
    """

    followers: Array
    first: Array
    moment: Array
    product: Array
    rows: Array


def seen(X: Array, loads: Array, sizes: Array, pairs: tuple[Index, Index]) -> tuple[Array, Array]:
    """Orthonormal columns that span what loads see of the columns of X, one for each pair of modes, and the part of
    each in these, (columns, modes, modes); sizes: of the modes, by which the columns are compared.
    """
    kept = X.any(axis=1)
    scale = sizes[pairs[0]] * sizes[pairs[1]]
    U, size, _ = np.linalg.svd(X[kept] / scale, full_matrices=False)
    U = U[:, size > _SAME * size.max(initial=0.0)]
    lengths = np.linalg.norm(loads, axis=1, keepdims=True)
    visible = U @ (U.T @ (loads / np.where(lengths > 0.0, lengths, 1.0)).T[kept])
    V, work, _ = np.linalg.svd(visible, full_matrices=False)
    V = V[:, work > _UNSEEN]
    chi = np.zeros((len(X), V.shape[1]))
    chi[kept] = V
    n = len(sizes)
    C = np.zeros((V.shape[1], n, n))
    C[:, pairs[0], pairs[1]] = C[:, pairs[1], pairs[0]] = chi.T @ X
    return chi, C
