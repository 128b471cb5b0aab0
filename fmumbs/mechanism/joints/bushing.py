"""The bushing: an elastic mount of six freedoms.

X_FM = translation by (q1, q2, q3) along F's axes, then rotations by q4, q5, q6 about x, y, z in turn. The generalised
forces on these are

    lambda = -K (q - rest) - D u

with K and D diagonal, or full symmetric matrices; q is (translation, rotation vector) of M in F to first order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs.mechanism.joints._ball import check_beside, coupled_entries, symmetric
from fmumbs.mechanism.joints._multi_mode import MultiModeJoint
from fmumbs.mechanism.joints.mode import Mode, Slide, Turn

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bushing(MultiModeJoint):
    """M is held at F by springs and dampers in all six directions; at rest the two frames coincide.

    stiffness: six numbers, of translations along F's x, y, z [N/m] and rotations about them [N.m/rad]; damping: the
        same [N.s/m], [N.m.s/rad]. Rotations are about x, then y, then z, also beyond small angles.
    stiffness_matrix, damping_matrix: (6, 6) in their place, of (translation, rotation) in F's axes at F's origin,
        symmetric, with no negative eigenvalue. The parameters stiffness[1..21], damping[1..21] are then the diagonal
        and the entries beside it by rows: 12 13 14 15 16, 23 24 25 26, 34 35 36, 45 46, 56. The rule holds for these
        as well, when initialisation ends and when a step begins.
    q0, u0, rest: six numbers, positions and velocities at the start, and the position without force.

    It constrains nothing, and may stand in the tree or in a loop. Variables: q[1..6], qd[1..6], qdd[1..6]. Angles must
    stay below 90 degrees: a step that comes to this limit about y fails, and names the joint.

    Raises ModelError for lists of another length and for matrices that are not symmetric or have a negative eigenvalue.
    """

    stiffness_matrix: ArrayLike | None = field(default=None, kw_only=True)
    damping_matrix: ArrayLike | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for what in ("stiffness", "damping"):
            given = getattr(self, f"{what}_matrix")
            if given is not None:
                matrix = symmetric(given, 6, self._where(f"{what}_matrix"))
                self._store(f"{what}_matrix", tuple(map(tuple, matrix.tolist())))
                self._store(what, tuple(np.maximum(np.diag(matrix), 0.0).tolist()))
        super().__post_init__()
        if self.damping_matrix is not None:
            check_beside(self.law("stiffness"), self._where("stiffness"))

    @property
    def coupled(self) -> tuple[tuple[int, int, float, float], ...]:
        if self.stiffness_matrix is None and self.damping_matrix is None:
            return ()
        K, D = (np.zeros((6, 6)) if m is None else np.array(m) for m in (self.stiffness_matrix, self.damping_matrix))
        return coupled_entries(K, D)

    @property
    def modes(self) -> tuple[Mode, ...]:
        return _AXES


_AXES = (Slide("x"), Slide("y"), Slide("z"), Turn("x"), Turn("y"), Turn("z"))
