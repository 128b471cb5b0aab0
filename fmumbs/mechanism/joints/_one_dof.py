"""What revolute and prismatic joints share: one axis, one position, one velocity."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from fmumbs import _checks
from fmumbs._checks import Axis
from fmumbs.mechanism.given import UNSET, Unset
from fmumbs.mechanism.joints.base import JointBase
from fmumbs.mechanism.joints.mode import Kind, Mode


@dataclass(frozen=True)
class OneDofJoint(JointBase):
    """A joint with one mode about or along `axis`."""

    axis: Axis = field(default="z", kw_only=True)
    q0: float = field(default=UNSET, kw_only=True)
    u0: float = field(default=UNSET, kw_only=True)

    _kind: ClassVar[Kind]

    def __post_init__(self) -> None:
        self._store("axis", _checks.axis(self.axis, self._where("axis")))  # first: the modes are kept
        super().__post_init__()
        for what in ("q0", "u0"):
            if not isinstance(getattr(self, what), Unset):
                self._store(what, _checks.number(getattr(self, what), self._where(what)))
        for what in ("q0", "rest"):
            self._ask_if_degrees(what)

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        return (Mode(self._kind, _checks.axis(self.axis, "axis")),)

    @property
    def positions(self) -> int:
        return 1

    @property
    def velocities(self) -> int:
        return 1

    @property
    def start_positions(self) -> tuple[float, ...]:
        return (self.q0,)

    @property
    def start_velocities(self) -> tuple[float, ...]:
        return (self.u0,)
