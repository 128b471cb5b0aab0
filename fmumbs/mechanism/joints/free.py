"""The free joint: no constraint at all.

p_FM = (x, y, z) in F's axes, then R_FM from the unit quaternion (w, x, y, z);
u = (v_FM in F's axes, w_FM in M's axes)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fmumbs import _checks
from fmumbs.mechanism.given import Unset, UnsetNumbers
from fmumbs.mechanism.joints.base import JointBase
from fmumbs.mechanism.joints.mode import Mode


@dataclass(frozen=True)
class Free(JointBase):
    """M moves freely with respect to F.

    q0: seven initial values: x, y, z of M's origin in F's axes [m], then the quaternion w x y z of M in F.
    u0: six initial values: velocity of M's origin in F's axes [m/s], angular velocity in M's axes [rad/s].

    Variables: r[1..3], v[1..3], a[1..3] in F's axes, q[1..4], w[1..3], alpha[1..3], and the inputs f and tau.
    Raises ModelError for a list of wrong length, a zero quaternion or a number that is not finite.
    """

    q0: Sequence[float] = field(default=UnsetNumbers((0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)), kw_only=True)
    u0: Sequence[float] = field(default=UnsetNumbers((0.0,) * 6), kw_only=True)

    _laws = ()
    _instead = "Use a Spring between two points of the bodies."

    def __post_init__(self) -> None:
        super().__post_init__()
        what = self._where("q0")
        if not isinstance(self.q0, Unset):
            q0 = _checks.numbers(self.q0, 7, what, (0, 0, 0, 1, 0, 0, 0))
            self._store("q0", q0[:3] + _checks.quaternion(q0[3:], f"{what}[4..7]"))
        if not isinstance(self.u0, Unset):
            self._store("u0", _checks.numbers(self.u0, 6, self._where("u0")))

    @property
    def modes(self) -> tuple[Mode, ...]:
        return _MODES

    @property
    def start_positions(self) -> tuple[float, ...]:
        return tuple(self.q0)

    @property
    def start_velocities(self) -> tuple[float, ...]:
        return tuple(self.u0)


_MODES = (
    Mode("prismatic", (1.0, 0.0, 0.0)),
    Mode("prismatic", (0.0, 1.0, 0.0)),
    Mode("prismatic", (0.0, 0.0, 1.0)),
    Mode("ball"),
)
