"""What revolute and prismatic joints share: one axis, one position, one velocity."""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import ClassVar

from fmumbs import _checks
from fmumbs._checks import Axis, Vec3
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
        axis = _checks.axis(self.axis, "axis")
        return (_mode(self._kind, axis, str(axis)),)

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


@lru_cache(256)  # most joints of a large mechanism are alike
def _mode(kind: Kind, axis: Vec3, digits: str) -> Mode:
    """One mode for all such joints; digits: of the axis, with the signs of its zeros."""
    return Mode(kind, axis)
