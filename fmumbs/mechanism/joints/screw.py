"""The screw joint.

X_FM = rotation by q about the axis, translation by pitch q along it;   phi = [axis; pitch axis] at M
"""

from dataclasses import dataclass, field
from functools import cached_property

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.joints._one_dof import OneDofJoint
from fmumbs.mechanism.joints.mode import Mode


@dataclass(frozen=True)
class Screw(OneDofJoint):
    """M turns about an axis of F and advances along it in proportion: one degree of freedom.

    axis: "x", "y", "z", one of these with a minus sign, or three numbers, in F's axes.
    pitch: [m/rad], not zero; positive for a right-handed thread. A lead of h per turn is h / (2 pi).
    q0: initial angle [rad], positive by the right-hand rule; u0: its rate [rad/s].

    Variables: q, qd, qdd, and the input tau [N.m], which acts on the angle. Raises ModelError for a zero axis, a zero
    pitch or a number that is not finite.
    """

    pitch: float = field(kw_only=True)

    _kind = "revolute"

    def __post_init__(self) -> None:
        self._store("pitch", _checks.number(self.pitch, self._where("pitch")))  # first: the modes are kept
        super().__post_init__()
        if self.pitch == 0.0:
            raise ModelError(f"{self._where('pitch')} is zero, so it does not advance. Use a Revolute.")

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        return (Mode("revolute", _checks.axis(self.axis, "axis"), pitch=self.pitch),)
