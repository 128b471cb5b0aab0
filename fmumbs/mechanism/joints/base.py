"""What all joints have in common.

A joint connects a frame F on one body, the parent's side, with a frame M on another, the child's side. Its
modes (mode.py) say how M may move with respect to F. Its generalised applied force on each free mode, driving
M against F, is

    lambda = tau + stiffness (rest - q) - damping u,

and an inertia that turns with the joint, such as a geared rotor, adds rotor_inertia du/dt to what the mode
must accelerate, without gyroscopic effects.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.bodies import Point, point
from fmumbs.mechanism.element import Element
from fmumbs.mechanism.joints.mode import Mode

_LAWS = ("stiffness", "damping", "rest", "rotor_inertia")


@dataclass(frozen=True)
class Joint(Element, ABC):
    """Base of the joints: `(name, F, M, ...)`.

    F, M: points on two different bodies, or on one body and the ground.
    held: q0 and u0 are exact even where a loop decides; without it they are guesses there.
    stiffness, damping: at least 0, [N.m/rad] and [N.m.s/rad], or [N/m] and [N.s/m] where the mode slides.
    rest: position at which the spring is without force [rad] or [m].
    rotor_inertia: reflected to the joint [kg.m2] or [kg], at least 0.
    """

    F: Point
    M: Point
    held: bool = field(default=False, kw_only=True)
    stiffness: float = field(default=0.0, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    rest: float = field(default=0.0, kw_only=True)
    rotor_inertia: float = field(default=0.0, kw_only=True)

    _laws: ClassVar[tuple[str, ...]] = _LAWS  # which of the fields above this kind of joint allows
    _instead: ClassVar[str] = ""  # the mend where one is not allowed

    def __post_init__(self) -> None:
        super().__post_init__()
        point(self.F, self._where("F"))
        point(self.M, self._where("M"))
        if self.F.body.name == self.M.body.name:
            raise ModelError(
                f"{self._where('F and M')} are both on '{self.F.body.name}', so nothing can move. "
                "Give points on two different bodies."
            )
        self._store("held", bool(self.held))
        for law in _LAWS:
            value = getattr(self, law)
            if type(value) is not float or value != 0.0:
                self._check_law(law, value)

    def _check_law(self, law: str, value: object) -> None:
        number = _checks.number if law == "rest" else _checks.not_negative
        value = number(value, self._where(law))
        self._store(law, value)
        if law not in self._laws and value != 0.0:
            raise ModelError(
                f"{self._where(law)} is {value:g}, but a {type(self).__name__} joint has none. "
                f"{self._instead}"
            )

    @property
    def ends(self) -> tuple[Point, Point]:
        """F and M."""
        return self.F, self.M

    @property
    @abstractmethod
    def modes(self) -> tuple[Mode, ...]:
        """The ordered product from F to M."""

    @property
    @abstractmethod
    def start_positions(self) -> tuple[float, ...]:
        """(positions,) p at the start, in the order of the modes."""

    @property
    @abstractmethod
    def start_velocities(self) -> tuple[float, ...]:
        """(velocities,) u at the start, in the order of the modes."""

    @property
    def positions(self) -> int:
        """Number of position variables p."""
        return sum(mode.positions for mode in self.modes)

    @property
    def velocities(self) -> int:
        """Number of velocity variables u."""
        return sum(mode.velocities for mode in self.modes)
