"""What revolute and prismatic joints share: one axis, one position, one velocity."""

from dataclasses import dataclass, field
from typing import ClassVar

from fmumbs import _checks
from fmumbs._checks import Axis
from fmumbs.mechanism.joints.base import JointBase
from fmumbs.mechanism.joints.mode import Kind, Mode


@dataclass(frozen=True)
class OneFreedom(JointBase):
    """A joint with one mode about or along `axis`."""

    axis: Axis = field(default="z", kw_only=True)
    q0: float = field(default=0.0, kw_only=True)
    u0: float = field(default=0.0, kw_only=True)

    _kind: ClassVar[Kind]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._store("axis", _checks.axis(self.axis, self._where("axis")))
        self._store("q0", _checks.number(self.q0, self._where("q0")))
        self._store("u0", _checks.number(self.u0, self._where("u0")))

    @property
    def modes(self) -> tuple[Mode, ...]:
        return (Mode(self._kind, _checks.axis(self.axis, "axis")),)

    @property
    def start_positions(self) -> tuple[float, ...]:
        return (self.q0,)

    @property
    def start_velocities(self) -> tuple[float, ...]:
        return (self.u0,)
