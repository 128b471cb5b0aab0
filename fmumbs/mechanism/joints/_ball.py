"""Springs and dampers of balls: one number for all directions, or a matrix.

With theta the rotation vector of R_FM, G(theta) with theta' = G w_FM, and w_FM in M's axes, the torque on M is

    -G' K theta - D w_FM,

so that the potential is theta' K theta / 2; for a single number it is -k theta - d w_FM, as G theta = theta.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs import _checks, _limits
from fmumbs._checks import Vec3
from fmumbs.errors import ModelError

Array = NDArray[np.float64]
Matrix = tuple[Vec3, Vec3, Vec3]

_SLACK = 1e-9  # rounding of what the user computed, relative


def symmetric(value: ArrayLike, size: int, where: str) -> Array:
    """(size, size) a symmetric matrix without negative eigenvalues; raises ModelError for any other."""
    try:
        matrix = np.array(value, float)
    except (TypeError, ValueError, OverflowError):
        matrix = np.array(np.nan)
    if matrix.shape != (size, size) or not np.isfinite(matrix).all():
        raise ModelError(f"{where} is not an array of ({size}, {size}) finite numbers. Give one.")
    if np.abs(matrix - matrix.T).max() > _SLACK * np.abs(matrix).max():
        raise ModelError(f"{where} is not symmetric. Give a symmetric matrix.")
    matrix = (matrix + matrix.T) / 2
    if not _limits.is_semidefinite(matrix.tolist()):
        raise ModelError(f"{where} has a negative eigenvalue: it would drive some motion. Correct its signs.")
    return np.asarray(matrix)


def ball_law(law: str, value: ArrayLike, where: str) -> float | Matrix:
    """A checked stiffness or damping of a ball: a number, or a (3, 3) matrix that is not a multiple of the identity."""
    if np.ndim(value) == 0:
        return _checks.parameter("joint", law, value, where)
    matrix = symmetric(value, 3, where)
    if np.array_equal(matrix, matrix[0, 0] * np.eye(3)):
        return float(matrix[0, 0])
    x, y, z = (tuple(row) for row in matrix.tolist())
    return x, y, z


def check_beside(stiffness: Sequence[float], where: str) -> None:
    """Raises ModelError for a negative stiffness of a joint that has a damping matrix: its stiffness is one, too."""
    if min(stiffness) < 0.0:
        raise ModelError(
            f"{where} has the negative number {min(stiffness):g} beside a damping matrix, with which it is the "
            "diagonal of a matrix that must have no negative eigenvalue. Give damping by numbers, or zero stiffness."
        )


def matrix_of(law: float | Matrix) -> Array:
    """(3, 3) the matrix of a ball's law."""
    return np.array(law) if isinstance(law, tuple) else law * np.eye(3)


def coupled_entries(stiffness: Array, damping: Array) -> tuple[tuple[int, int, float, float], ...]:
    """Of two symmetric matrices the entries beside the diagonals, by rows: JointBase.coupled."""
    pairs = zip(*np.triu_indices(len(stiffness), 1), strict=True)
    return tuple((int(a), int(b), float(stiffness[a, b]), float(damping[a, b])) for a, b in pairs)
