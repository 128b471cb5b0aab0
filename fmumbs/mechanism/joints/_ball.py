"""Springs and dampers of balls: one number for all directions, or a matrix.

With theta the rotation vector of R_FM, G(theta) with theta' = G w_FM, and w_FM in M's axes, the torque on M is

    -G' K theta - D w_FM,     K = A' diag(k) A,

so that the potential is theta' K theta / 2; for a single number it is -k theta - d w_FM, as G theta = theta.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs import _checks
from fmumbs._checks import Vec3
from fmumbs.errors import ModelError

Array = NDArray[np.float64]
Matrix = tuple[Vec3, Vec3, Vec3]

_SLACK = 1e-9  # rounding of what the user computed, relative
_NO_AXES: Matrix = ((0.0, 0.0, 0.0),) * 3


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


def principal(law: float | Matrix) -> tuple[Vec3, Matrix]:
    """The three principal values and their axes; zero axes where they are the same in all directions."""
    if not isinstance(law, tuple):
        return (law,) * 3, _NO_AXES
    matrix = np.array(law)
    if not (matrix - np.diag(np.diag(matrix))).any():
        values, axes = np.diag(matrix), np.eye(3)
    else:
        values, axes = np.linalg.eigh(matrix)
    a, b, c = np.maximum(values, 0.0).tolist()
    first, second, third = ((x, y, z) for x, y, z in axes.T.tolist())
    return (a, b, c), (first, second, third)


def both(stiffness: float | Matrix, damping: float | Matrix, which: float | Matrix) -> tuple[Vec3, Matrix]:
    """Those of `which`; with axes if either of stiffness and damping has a matrix."""
    values, axes = principal(which)
    if axes == _NO_AXES and (isinstance(stiffness, tuple) or isinstance(damping, tuple)):
        axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    return values, axes
