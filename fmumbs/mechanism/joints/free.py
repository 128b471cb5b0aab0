"""The free joint: no constraint at all.

p_FM = (x, y, z) in F's axes, then R_FM from the unit quaternion (w, x, y, z);
u = (v_FM in F's axes, w_FM in M's axes)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.given import Unset, UnsetNumbers
from fmumbs.mechanism.joints.base import JointBase, LawName
from fmumbs.mechanism.joints.mode import Mode


@dataclass(frozen=True)
class Free(JointBase):
    """M moves freely with respect to F.

    q0: seven initial values: x, y, z of M's origin in F's axes [m], then the quaternion w x y z of M in F.
    u0: six initial values: velocity of M's origin in F's axes [m/s], angular velocity in M's axes [rad/s].
    stiffness, damping: six numbers at least 0, for translations along F's axes [N/m], [N.s/m], and for the rotation
        vector and w, along M's axes [N.m/rad], [N.m.s/rad]. For a full 6x6 matrix use a Bushing.

    Variables: r[1..3], v[1..3], a[1..3] in F's axes, q[1..4], w[1..3], alpha[1..3], and the inputs f and tau.
    Raises ModelError for a list of wrong length, a zero quaternion or a number that is not finite.
    """

    q0: Sequence[float] = field(default=UnsetNumbers((0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)), kw_only=True)
    u0: Sequence[float] = field(default=UnsetNumbers((0.0,) * 6), kw_only=True)

    _laws = ("stiffness", "damping")
    _instead = "Leave it out."

    def __post_init__(self) -> None:
        super().__post_init__()
        what = self._where("q0")
        if not isinstance(self.q0, Unset):
            q0 = _checks.numbers(self.q0, 7, what, (0, 0, 0, 1, 0, 0, 0))
            self._store("q0", q0[:3] + _checks.quaternion(q0[3:], f"{what}[4..7]"))
        if not isinstance(self.u0, Unset):
            self._store("u0", _checks.numbers(self.u0, 6, self._where("u0")))

    def _check_law(self, law: LawName, value: object) -> None:
        where = self._where(law)
        if law not in self._laws or (isinstance(value, int | float) and value == 0):
            super()._check_law(law, value)
            return
        if not isinstance(value, Iterable) or isinstance(value, str):
            raise ModelError(f"{where} is {_checks.shown(value)}. Give six numbers: of translations and of rotations.")
        self._store(law, tuple(_checks.parameter("joint", law, v, where) for v in _checks.numbers(value, 6, where)))

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
