"""The spherical joint.

    R_FM from the unit quaternion q = (w, x, y, z);   u = w_FM in M's axes;   qdot = 1/2 q * (0, u)

Stiffness acts on the rotation vector theta of R_FM (_ball.py): with one number the torque on M is -stiffness theta -
damping w_FM.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fmumbs import _checks
from fmumbs.mechanism.given import Unset, UnsetNumbers
from fmumbs.mechanism.joints._ball import ball_law, check_beside, coupled_entries, matrix_of
from fmumbs.mechanism.joints.base import JointBase, LawName
from fmumbs.mechanism.joints.mode import Mode


@dataclass(frozen=True)
class Spherical(JointBase):
    """M turns freely about F; the origins of F and M coincide.

    q0: initial quaternion w x y z of M in F; it is normalised.
    u0: initial angular velocity of M in F, in M's axes [rad/s].
    stiffness, damping: [N.m/rad], [N.m.s/rad], the same in all directions, or a symmetric matrix (3, 3) without
        negative eigenvalues: of the rotation vector of M in F, and of w. Without torque where F and M are parallel.
        The parameters stiffness[1..6], damping[1..6] of a joint with a matrix are its entries xx yy zz xy xz yz.

    Variables: q[1..4], w[1..3], alpha[1..3], and the inputs tau[1..3] [N.m] in M's axes. Raises ModelError
    for a zero quaternion, a list of wrong length or a number that is not finite.
    """

    q0: Sequence[float] = field(default=UnsetNumbers((1.0, 0.0, 0.0, 0.0)), kw_only=True)
    u0: Sequence[float] = field(default=UnsetNumbers((0.0, 0.0, 0.0)), kw_only=True)

    _rubs = True
    _laws = ("stiffness", "damping")
    _instead = "Leave it out."

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.damping, tuple):
            check_beside(self.law("stiffness"), self._where("stiffness"))
        if not isinstance(self.q0, Unset):
            self._store("q0", _checks.quaternion(self.q0, self._where("q0")))
        if not isinstance(self.u0, Unset):
            self._store("u0", _checks.vector(self.u0, self._where("u0")))

    def _check_law(self, law: LawName, value: object) -> None:
        if law not in self._laws:
            super()._check_law(law, value)
        else:
            self._store(law, ball_law(law, value, self._where(law)))  # type: ignore[arg-type]

    def law(self, name: LawName) -> tuple[float, ...]:
        """(velocities,) of each velocity variable: the diagonal, if `name`, stiffness or damping, is a matrix."""
        if name not in self._laws:
            return super().law(name)
        x, y, z = np.diag(matrix_of(getattr(self, name))).tolist()
        return x, y, z

    @property
    def coupled(self) -> tuple[tuple[int, int, float, float], ...]:
        if not isinstance(self.stiffness, tuple) and not isinstance(self.damping, tuple):
            return ()
        return coupled_entries(matrix_of(self.stiffness), matrix_of(self.damping))  # type: ignore[arg-type]

    @property
    def modes(self) -> tuple[Mode, ...]:
        return (_BALL,)

    @property
    def start_positions(self) -> tuple[float, ...]:
        return tuple(self.q0)

    @property
    def start_velocities(self) -> tuple[float, ...]:
        return tuple(self.u0)


_BALL = Mode("ball")
