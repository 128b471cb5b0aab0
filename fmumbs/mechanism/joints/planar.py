"""The planar joint.

X_FM = translation by q1 along e1 and by q2 along e2, then rotation by q3 about the normal n = e1 x e2;
phi = [0 0 n; e1 e2 0] at M
"""

from dataclasses import dataclass, field

import numpy as np

from fmumbs import _checks
from fmumbs._checks import Axis, Vec3
from fmumbs.mechanism.joints._multi_mode import MultiModeJoint
from fmumbs.mechanism.joints.mode import Mode


@dataclass(frozen=True)
class Planar(MultiModeJoint):
    """M's origin slides in a plane of F, and M turns about the plane's normal.

    normal: "x", "y", "z", one of these with a minus sign, or three numbers, in F's axes. The axes e1, e2 of the plane
    are F's x, y for the normal z; y, z for x; and z, x for y. A minus sign swaps them. `plane` returns them for any
    normal.
    q0: initial (distance along e1 [m], distance along e2 [m], angle [rad]); u0: their rates.

    Variables: q[1..3], qd[1..3], qdd[1..3], and the inputs tau[1..3]: two forces [N], a torque [N.m]. Raises
    ModelError for a zero normal, a list of wrong length or a number that is not finite.
    """

    normal: Axis = field(default="z", kw_only=True)

    def __post_init__(self) -> None:
        self._store("normal", _checks.axis(self.normal, self._where("normal")))
        super().__post_init__()

    @property
    def plane(self) -> tuple[Vec3, Vec3]:
        """e1, e2 in F's axes: unit vectors that form a right-handed frame with the normal."""
        return _plane(_checks.axis(self.normal, "normal"))

    @property
    def modes(self) -> tuple[Mode, ...]:
        first, second = self.plane
        normal = _checks.axis(self.normal, "normal")
        return (Mode("prismatic", first), Mode("prismatic", second), Mode("revolute", normal))


def _plane(normal: Vec3) -> tuple[Vec3, Vec3]:
    n = np.array(normal)
    k = int(np.abs(n).argmax())
    first = np.zeros(3)
    first[(k + 1) % 3 if n[k] > 0 else (k + 2) % 3] = 1.0
    first -= n * (n @ first)
    first /= np.sqrt(first @ first)
    x, y, z = (first + 0.0).tolist()
    u, v, w = (np.cross(n, first) + 0.0).tolist()
    return (x, y, z), (u, v, w)
