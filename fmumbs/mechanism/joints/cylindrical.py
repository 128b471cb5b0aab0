"""The cylindrical joint.

X_FM = rotation by q1 about the axis, translation by q2 along it;   phi = [axis 0; 0 axis] at M
"""

from dataclasses import dataclass, field

from fmumbs import _checks
from fmumbs._checks import Axis
from fmumbs.errors import ModelError
from fmumbs.mechanism.friction import Contact, LuGre
from fmumbs.mechanism.joints._multi_mode import MultiModeJoint
from fmumbs.mechanism.joints.mode import Mode


@dataclass(frozen=True)
class Cylindrical(MultiModeJoint):
    """M turns about an axis of F and slides along it independently.

    axis: "x", "y", "z", one of these with a minus sign, or three numbers, in F's axes.
    q0: initial (angle [rad], distance [m]); u0: their rates. Laws have the same order.

    Variables: q[1..2], qd[1..2], qdd[1..2], and the inputs tau[1..2]: torque [N.m] and force [N], positive if they
    drive M with respect to F. Raises ModelError for a zero axis, a list of wrong length or a number that is not
    finite.
    """

    axis: Axis = field(default="z", kw_only=True)

    _rubs = True

    def __post_init__(self) -> None:
        self._store("axis", _checks.axis(self.axis, self._where("axis")))
        super().__post_init__()

    def _check_friction(self, friction: object) -> None:
        super()._check_friction(friction)
        if isinstance(friction, LuGre) and not friction.radius:
            raise ModelError(f"{self._where('friction')} has no radius, at which the joint slides. Give LuGre one.")

    @property
    def modes(self) -> tuple[Mode, ...]:
        axis = _checks.axis(self.axis, "axis")
        return (Mode("revolute", axis), Mode("prismatic", axis))

    @property
    def contacts(self) -> tuple[Contact, ...]:
        if self.friction is None:
            return ()
        own = self.friction.own_factors(slides=True)
        return (Contact("", 0, (self.friction.radius, 1.0), True, own, self.modes[0].axis),)
