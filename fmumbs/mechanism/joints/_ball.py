"""Springs and dampers of balls: one number for all directions, or a matrix.

With theta the rotation vector of R_FM, G(theta) with theta' = G w_FM, and w_FM in M's axes, the torque on M is

    -G' K theta - D w_FM,

so that the potential is theta' K theta / 2; for a single number it is -k theta - d w_FM, as G theta = theta.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs import _checks
from fmumbs._checks import Vec3
from fmumbs.errors import ModelError

Array = NDArray[np.float64]
Matrix = tuple[Vec3, Vec3, Vec3]

_SLACK = 1e-9  # rounding of what the user computed, relative


def symmetric(value: ArrayLike, size: int, where: str) -> Array:
    """(size, size) a symmetric matrix without negative eigenvalues; raises ModelError for any other."""
    try:
        matrix = np.array(value, float)
    except (TypeError, ValueError):
        matrix = np.array(np.nan)
    if matrix.shape != (size, size) or not np.isfinite(matrix).all():
        raise ModelError(f"{where} is not an array of ({size}, {size}) finite numbers. Give one.")
    if np.abs(matrix - matrix.T).max() > _SLACK * np.abs(matrix).max():
        raise ModelError(f"{where} is not symmetric. Give a symmetric matrix.")
    matrix = (matrix + matrix.T) / 2
    scale = np.sqrt(np.where(np.abs(np.diag(matrix)) > 0, np.abs(np.diag(matrix)), 1e-300))
    if matrix.any() and float(np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0]) < -_SLACK:
        raise ModelError(f"{where} has a negative eigenvalue: it would drive some motion. Correct its signs.")
    return np.asarray(matrix)


def ball_law(value: ArrayLike, where: str) -> float | Matrix:
    """A checked stiffness or damping of a ball: a number, or a (3, 3) matrix that is not a multiple of the identity."""
    if np.ndim(value) == 0:
        return _checks.not_negative(value, where)
    matrix = symmetric(value, 3, where)
    if np.array_equal(matrix, matrix[0, 0] * np.eye(3)):
        return float(matrix[0, 0])
    x, y, z = (tuple(row) for row in matrix.tolist())
    return x, y, z


def matrix_of(law: float | Matrix) -> Array:
    """(3, 3) the matrix of a ball's law."""
    return np.array(law) if isinstance(law, tuple) else law * np.eye(3)


def coupled_entries(stiffness: Array, damping: Array) -> tuple[tuple[int, int, float, float], ...]:
    """Of two symmetric matrices the entries beside the diagonals, by rows: JointBase.coupled."""
    pairs = zip(*np.triu_indices(len(stiffness), 1), strict=True)
    return tuple((int(a), int(b), float(stiffness[a, b]), float(damping[a, b])) for a, b in pairs)
