"""The bushing: an elastic mount of six freedoms.

X_FM = translation by (q1, q2, q3) along F's axes, then rotations by q4, q5, q6 about x, y, z in turn, with a spring
and a damper on each. With full matrices K and D of the small displacement x = (translation, rotation vector) of M in F,

    x = V q,   V' K V = diag(k),   V' D V = diag(d),

which has a solution for any two symmetric matrices that are nowhere negative; the columns of V are screws, and X_FM is
the product of motions along these. The force is exact to first order in x.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs.errors import ModelError
from fmumbs.mechanism.joints._several import Several
from fmumbs.mechanism.joints.mode import Helix, Mode, Slide, Turn

Array = NDArray[np.float64]
Matrix = tuple[tuple[float, ...], ...]

_SLACK = 1e-9  # rounding of what the user computed, relative
_NO_TURN = 1e-12  # of a column of V, in the units of the scaled matrices


@dataclass(frozen=True)
class Bushing(Several):
    """M is held at F by springs and dampers in all six directions; at rest the two frames coincide.

    stiffness: six numbers, of translations along F's x, y, z [N/m] and rotations about them [N.m/rad]; damping: the
        same [N.s/m], [N.m.s/rad]. Rotations are about x, then y, then z, also beyond small angles.
    stiffness_matrix, damping_matrix: (6, 6) in their place, of (translation, rotation) in F's axes at F's origin,
        symmetric, with no negative eigenvalue.
    q0, u0, rest: six numbers, positions and velocities at the start, and the position without force.

    Variables: q[1..6], qd[1..6], qdd[1..6]; with matrices these are the coordinates of the screws in the columns of V,
    which `displacement` turns into (translation, rotation). With matrices it must be part of the spanning tree.

    Raises ModelError for lists of another length and for matrices that are not symmetric or have a negative eigenvalue.
    """

    stiffness_matrix: ArrayLike | None = field(default=None, kw_only=True)
    damping_matrix: ArrayLike | None = field(default=None, kw_only=True)
    _screws: Matrix | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = [what for what in ("stiffness", "damping") if getattr(self, f"{what}_matrix") is not None]
        if given:
            K, D = self._matrix("stiffness"), self._matrix("damping")
            V = _diagonalised(K, D)
            self._store("_screws", tuple(map(tuple, V.tolist())))
            for what, matrix in (("stiffness", K), ("damping", D)):
                self._store(what, tuple(np.maximum(np.diag(V.T @ matrix @ V), 0.0).tolist()))
        super().__post_init__()

    def _matrix(self, what: str) -> Array:
        """(6, 6) the matrix, or that of the six numbers."""
        given, where = getattr(self, f"{what}_matrix"), self._where(f"{what}_matrix")
        if given is None:
            numbers: object = getattr(self, what)
            return np.diag(np.broadcast_to(np.array(numbers, float), (6,)))
        try:
            matrix = np.array(given, float)
        except (TypeError, ValueError):
            matrix = np.array(np.nan)
        if matrix.shape != (6, 6) or not np.isfinite(matrix).all():
            raise ModelError(f"{where} is not an array of (6, 6) finite numbers. Give one.")
        scale = np.sqrt(np.maximum(np.abs(np.diag(matrix)), 1e-300))
        if np.abs(matrix - matrix.T).max() > _SLACK * np.abs(matrix).max():
            raise ModelError(f"{where} is not symmetric. Give a symmetric matrix.")
        matrix = (matrix + matrix.T) / 2
        lowest = float(np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0]) if matrix.any() else 0.0
        if lowest < -1e-9:
            raise ModelError(f"{where} has a negative eigenvalue: it would drive some motion. Correct its signs.")
        self._store(f"{what}_matrix", tuple(map(tuple, matrix.tolist())))
        return np.asarray(matrix)

    @property
    def modes(self) -> tuple[Mode, ...]:
        if self._screws is None:
            return _AXES
        return tuple(mode for column in np.array(self._screws).T for mode in _screw(column[:3], column[3:]))

    def displacement(self, q: Sequence[float]) -> Array:
        """(6,) translation [m] and rotation vector [rad] of M in F, to first order, at the coordinates q."""
        return np.array(q, float) if self._screws is None else np.array(self._screws) @ np.array(q, float)


_AXES = (Slide("x"), Slide("y"), Slide("z"), Turn("x"), Turn("y"), Turn("z"))


def _diagonalised(K: Array, D: Array) -> Array:
    """V with both V'KV and V'DV diagonal; its columns as screws have a turn of one, or a slide of one without turn."""
    sizes = [np.abs(matrix).max() or 1.0 for matrix in (K, D)]
    both = K / sizes[0] + D / sizes[1]
    scale = np.sqrt(np.where(np.diag(both) > 0, np.diag(both), 1.0))
    values, axes = np.linalg.eigh(both / np.outer(scale, scale))
    root = axes / np.sqrt(np.where(values > _SLACK, values, 1.0))  # directions that nothing resists stay as they are
    root = root / scale[:, None]
    _, turned = np.linalg.eigh(root.T @ (K / sizes[0]) @ root)
    V = root @ turned
    V = np.where(np.abs(V) > _NO_TURN * np.abs(V).max(axis=0), V, 0.0)
    length = [np.linalg.norm(column[3:]) or np.linalg.norm(column[:3]) for column in V.T]
    return np.asarray(V / length)


def _screw(slide: Array, turn: Array) -> tuple[Mode, ...]:
    """Modes of a screw with this velocity of M's origin and this angular velocity, which is a unit vector or zero."""
    if not turn.any():
        x, y, z = slide.tolist()
        return (Slide((x, y, z)),)
    pitch, away = float(slide @ turn), np.cross(turn, slide)
    a, b, c = turn.tolist()
    mode = Helix((a, b, c), pitch) if abs(pitch) > 1e-13 * float(np.linalg.norm(slide)) else Turn((a, b, c))
    distance = float(np.linalg.norm(away))
    if distance == 0.0:
        return (mode,)
    x, y, z = (away / distance).tolist()
    return Slide((x, y, z), role="locked", value=distance), mode, Slide((x, y, z), role="locked", value=-distance)
