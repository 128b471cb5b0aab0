"""What all joints have in common.

A joint connects a frame F on one body, the parent, with a frame M on another, the child, whichever is nearer to the
ground; of a nonholonomic joint the parent must be. Its modes (mode.py) say how M may move with respect to F. Its
generalised applied force on each free mode, driving M against F, is

    lambda = tau + stiffness (rest - q) - damping u,

and an inertia that turns with the joint, such as a geared rotor, adds rotor_inertia du/dt to what the mode
must accelerate, without gyroscopic effects.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.bodies import Point, point
from fmumbs.mechanism.element import Element
from fmumbs.mechanism.given import UNSET, Unset
from fmumbs.mechanism.joints import product
from fmumbs.mechanism.joints.mode import Mode
from fmumbs.spatial import Transform

LawName = Literal["stiffness", "damping", "rest", "rotor_inertia"]
Row = tuple[float, ...]

LAWS: tuple[LawName, ...] = ("stiffness", "damping", "rest", "rotor_inertia")


@dataclass(frozen=True)
class JointBase(Element, ABC):
    """Base of the joints: `(name, F, M, ...)`.

    F, M: points on two different bodies, or on one body and the ground.
    q0, u0: position and velocity at the start, as each joint says. Outside of loops they are exact. A loop, or a
        coupling, leaves fewer freedoms than its joints have; there the values that are given hold as far as these go,
        in the order in which the joints were added, positions apart from velocities. If only some values of one joint
        can hold, those that determine the motion best do: of a body on a rod the coordinates across the rod hold, and
        the one along it follows, so that numbers rounded to some digits change by little more than their rounding. An
        orientation holds as a whole or not at all. What is not given, or cannot hold, is a guess: it becomes what
        closes the loop, near where it was. `fmumbs check`, `fmumbs run` and simulate() tell each given value that
        changed.
    held: q0 and u0 are exact before all others, and there is no start where they cannot be.
    cut: the joint is not part of the spanning tree: it closes a loop. Without it the compiler chooses. The
        coordinates of such a joint follow from the others; q0 also says in which turn an angle begins.
    stiffness, damping: at least 0, [N.m/rad] and [N.m.s/rad], or [N/m] and [N.s/m] where the mode slides.
    rest: position at which the spring is without force [rad] or [m].
    rotor_inertia: reflected to the joint [kg.m2] or [kg], at least 0.
    tau: what the joint's input tau or f is until it is set [N.m] or [N]: one number for each velocity, or one for all.
    """

    F: Point
    M: Point
    held: bool = field(default=False, kw_only=True)
    cut: bool = field(default=False, kw_only=True)
    stiffness: float | Sequence[float] = field(default=0.0, kw_only=True)
    damping: float | Sequence[float] = field(default=0.0, kw_only=True)
    rest: float | Sequence[float] = field(default=0.0, kw_only=True)
    rotor_inertia: float | Sequence[float] = field(default=0.0, kw_only=True)
    tau: float | Sequence[float] = field(default=0.0, kw_only=True)

    _laws: ClassVar[tuple[LawName, ...]] = LAWS  # which of the fields above this kind of joint allows
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
        self._store("cut", bool(self.cut))
        for law in LAWS:
            value = getattr(self, law)
            if type(value) is not float or value != 0.0:
                self._check_law(law, value)
        self._check_tau()

    def _check_tau(self) -> None:
        where = self._where("tau")
        if isinstance(self.tau, Iterable) and not isinstance(self.tau, str | bytes):
            self._store("tau", _checks.numbers(self.tau, self.velocities, where))
        else:
            self._store("tau", _checks.number(self.tau, where))
        if self.tau and not self.velocities:
            raise ModelError(f"{where} is {self.tau:g}, but a {type(self).__name__} has no freedom. Leave it out.")

    def _check_law(self, law: LawName, value: object) -> None:
        number = _checks.number if law == "rest" else _checks.not_negative
        value = number(value, self._where(law))
        self._store(law, value)
        if law not in self._laws and value != 0.0:
            raise ModelError(self._has_no(law, value))

    def _has_no(self, law: LawName, value: float) -> str:
        return f"{self._where(law)} is {value:g}, but a {type(self).__name__} joint has none. {self._instead}"

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
    def given(self) -> tuple[bool, bool]:
        """Whether q0 and u0 were given, even as what they are by default."""
        position, velocity = (getattr(self, name, UNSET) for name in ("q0", "u0"))
        return not isinstance(position, Unset), not isinstance(velocity, Unset)

    @property
    def velocity_rows(self) -> tuple[Row, ...]:
        """(k, 6) rows w' that make the joint nonholonomic (3.6); none for most joints."""
        return ()

    @property
    def speed_rows(self) -> tuple[Row, ...]:
        """(velocities, 6) rows psi' that define u where there are velocity_rows; none elsewhere."""
        return ()

    @property
    def rows_after(self) -> int:
        """In the axes behind how many modes the rows are given; all of them: M's axes."""
        return len(self.modes)

    @property
    def free_modes(self) -> tuple[Mode, ...]:
        return tuple(mode for mode in self.modes if mode.role == "free")

    @property
    def excited_modes(self) -> tuple[Mode, ...]:
        return tuple(mode for mode in self.modes if mode.role == "excited")

    @property
    def positions(self) -> int:
        """Number of position variables p: those of the free modes."""
        return sum(mode.positions for mode in self.modes)

    @property
    def velocities(self) -> int:
        """Number of velocity variables u: those of the free modes, less the velocity rows."""
        return sum(mode.velocities for mode in self.modes) - len(self.velocity_rows)

    @property
    def applied(self) -> tuple[float, ...]:
        """(velocities,) tau of each velocity variable."""
        return self.tau if isinstance(self.tau, tuple) else (float(self.tau),) * self.velocities  # type: ignore[arg-type]

    def law(self, name: LawName) -> tuple[float, ...]:
        """(velocities,) stiffness, damping, rest or rotor_inertia of each velocity variable."""
        value = getattr(self, name)
        if isinstance(value, tuple) and len(value) == self.velocities:
            return value
        return (0.0 if isinstance(value, tuple) else value,) * self.velocities

    def all_positions(
        self, p: Sequence[float] | None = None, eta: Sequence[float] | None = None, t: float = 0.0
    ) -> tuple[float, ...]:
        """Positions of all modes, free, excited and locked, in their order.

        p: (positions,) of the free ones, by default those at the start; eta: (excited modes,), by default those
        of the paths at the time t, or of the start.
        """
        free = iter(self.start_positions if p is None else p)
        given = [mode.prescribed(t)[0] for mode in self.excited_modes] if eta is None else eta
        excited = iter(given)
        out: list[float] = []
        for mode in self.modes:
            if mode.role == "free":
                out += [next(free) for _ in range(mode.positions)]
            else:
                out.append(next(excited) if mode.role == "excited" else mode.value)
        return tuple(out)

    def transform(
        self, p: Sequence[float] | None = None, eta: Sequence[float] | None = None, t: float = 0.0
    ) -> Transform:
        """X_FM at these positions, which are as in all_positions."""
        return product.transform(self.modes, self.all_positions(p, eta, t))
