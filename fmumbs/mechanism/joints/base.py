"""The base class of all joints.

A joint connects a frame F on one body, the parent, with a frame M on another, the child. Either may be nearer to the
ground, but for a nonholonomic joint it must be the parent. The modes (mode.py) describe the motion of M with respect
to F. The generalised applied force on each free mode, positive if it drives M with respect to F, is

    lambda = tau + stiffness (rest - q) - damping u,

and rotor_inertia du/dt is the inertial force of a part that turns with the joint, such as a geared rotor; its
gyroscopic effects are neglected.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.bodies import Point, point
from fmumbs.mechanism.element import Element
from fmumbs.mechanism.friction import Contact, LuGre
from fmumbs.mechanism.given import UNSET, Unset
from fmumbs.mechanism.joints import product
from fmumbs.mechanism.joints.mode import Mode
from fmumbs.mechanism.reading import Limits
from fmumbs.spatial import Transform

LawName = Literal["stiffness", "damping", "rest", "rotor_inertia"]
Row = tuple[float, ...]

LAWS: tuple[LawName, ...] = ("stiffness", "damping", "rest", "rotor_inertia")


@dataclass(frozen=True)
class JointBase(Element, ABC):
    """Base of the joints: `(name, F, M, ...)`.

    F, M: frames on two different bodies, or on one body and the ground: body.at(x, y, z), body.tip, ground.at().
    q0, u0: initial position and velocity; see each joint for shapes and units. Outside of loops they are exact. A
        loop or a coupling removes degrees of freedom: as many given values as the mobility allows are kept exactly, in
        the order in which the joints were added, positions and velocities separately. If only some values of a joint
        can be kept, those that determine the motion best are: for a body on a rod the coordinates across the rod are
        kept, and the one along it follows, so that rounded numbers change by little more than their rounding. An
        orientation is kept as a whole or not at all. Values that are not given, or cannot be kept, are initial guesses
        for assembly. `fmumbs check`, `fmumbs run` and simulate() report each given value that changed.
    held: q0 and u0 are kept before all others, and assembly fails if they cannot be.
    cut: the joint closes a loop and is not part of the spanning tree; by default the compiler chooses. The
        coordinates of a cut joint follow from the others; q0 only selects the number of turns of an angle.
    stiffness, damping: at least 0, [N.m/rad] and [N.m.s/rad], or [N/m] and [N.s/m] for a mode that slides.
    rest: position at which the spring force is zero [rad] or [m].
    rotor_inertia: reflected to the joint [kg.m2] or [kg], at least 0.
    tau: initial value of the input tau or f [N.m] or [N]: one number for each velocity, or one for all.
    friction: fm.LuGre of a Revolute, Prismatic, Cylindrical, Universal or Spherical joint.
    limits: fm.Limits with a stiffness or a restitution, one for each free mode, None for one without; Model.add() adds
        the fm.Stop that each makes, JOINT_stop, or JOINT_stop1, ... of a joint with several modes.

    A joint refuses those of stiffness, damping, rest, rotor_inertia, tau and friction that it has no coordinate for.
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
    friction: LuGre | None = field(default=None, kw_only=True)
    limits: Limits | Sequence[Limits | None] | None = field(default=None, kw_only=True)

    _passes_on = "every joint"
    _rubs: ClassVar[bool] = False  # whether this kind of joint may have friction
    _laws: ClassVar[tuple[LawName, ...]] = LAWS  # those of the fields above that this kind of joint allows
    _instead: ClassVar[str] = ""  # the fix that messages give for one that it does not allow

    def __post_init__(self) -> None:
        super().__post_init__()
        point(self.F, self._where("F"))
        point(self.M, self._where("M"))
        if self.F.body.name == self.M.body.name:
            raise ModelError(
                f"{self._where('F and M')} are both on '{self.F.body.name}', so nothing can move. "
                "Give points on two different bodies."
            )
        for what in ("held", "cut"):
            self._store(what, _checks.flag(getattr(self, what), self._where(what)))
        for law in LAWS:
            value = getattr(self, law)
            if type(value) is not float or value != 0.0:
                self._check_law(law, value)
        self._check_tau()
        if self.friction is not None:
            self._check_friction(self.friction)
        if self.limits is not None:
            self._check_limits(self.limits)

    def _check_limits(self, limits: object) -> None:
        where, count = self._where("limits"), len(self.free_modes)
        fix = f"Give fm.Limits(lower, upper, restitution=0.5){', one for each free mode' if count > 1 else ''}."
        given = (limits,) if isinstance(limits, Limits) else _checks.items(limits, where, fix)
        for one in given:
            if not isinstance(one, Limits) and one is not None:
                raise ModelError(f"{where} has {_checks.shown(one)}. {fix}")
            data = [name for name in ("effort", "velocity") if getattr(one, name, None) is not None]
            if data:
                raise ModelError(f"{where} has a limit of the {data[0]}, which no stop keeps. Leave it out.")
        if len(given) != count:
            raise ModelError(f"{where} has {len(given)} entries for {count} free modes. {fix}")
        self._store("limits", given)

    def _check_friction(self, friction: object) -> None:
        where = self._where("friction")
        if not isinstance(friction, LuGre):
            raise ModelError(f"{where} is a {type(friction).__name__}. Give an fm.LuGre.")
        if not self._rubs:
            raise ModelError(
                f"{where} is given, but a {type(self).__name__} joint has none. Use a Revolute, Prismatic, "
                "Cylindrical, Universal or Spherical joint, or a Law."
            )

        turns = any(not mode.linear for mode in self.free_modes)
        slides = any(mode.linear for mode in self.free_modes)
        if friction.own and not slides and not (friction.radius or friction.collar):
            raise ModelError(f"{where} has own=True, but no radius or collar of the pin. Give LuGre one.")
        unused = [name for name in ("guide",) if getattr(friction, name) and not slides]
        unused += [name for name in ("collar",) if getattr(friction, name) and slides]
        unused += [name for name in ("radius",) if friction.radius and not turns]
        if unused:
            raise ModelError(
                f"{where} has a {unused[0]}, but a {type(self).__name__} joint has no use for one. Leave it out."
            )

    def _check_tau(self) -> None:
        where = self._where("tau")
        if isinstance(self.tau, Iterable) and not isinstance(self.tau, str | bytes):
            self._store("tau", _checks.numbers(self.tau, self.velocities, where))
        else:
            self._store("tau", _checks.number(self.tau, where))
        if self.tau and not self.velocities:
            raise ModelError(
                f"{where} is {self.tau:g}, but a {type(self).__name__} has no degree of freedom. Leave it out."
            )

    def _check_law(self, law: LawName, value: object) -> None:
        value = _checks.parameter("joint", law, value, self._where(law))
        self._store(law, value)
        if law not in self._laws and value != 0.0:
            raise ModelError(self._has_no(law, value))

    def _ask_if_degrees(self, what: str) -> None:
        """Warns of angles of q0 or rest that look like degrees. what: the field, with one number for each free mode."""
        given = getattr(self, what)
        values = given if isinstance(given, tuple) else (given,)
        if not any(map(_checks.looks_like_degrees, values)):
            return
        for i, (mode, value) in enumerate(zip(self.free_modes, values, strict=False)):
            if mode.kind == "revolute":
                _checks.ask_if_degrees(value, self._where(what) + (f"[{i + 1}]" if len(values) > 1 else ""))

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
        """(positions,) initial p, in the order of the modes."""

    @property
    @abstractmethod
    def start_velocities(self) -> tuple[float, ...]:
        """(velocities,) initial u, in the order of the modes."""

    @property
    def given(self) -> tuple[bool, bool]:
        """Whether q0 and u0 were given explicitly, even with the default values."""
        position, velocity = (getattr(self, name, UNSET) for name in ("q0", "u0"))
        return not isinstance(position, Unset), not isinstance(velocity, Unset)

    @property
    def velocity_rows(self) -> tuple[Row, ...]:
        """(k, 6) rows w' that make the joint nonholonomic (3.6); none for most joints."""
        return ()

    @property
    def speed_rows(self) -> tuple[Row, ...]:
        """(velocities, 6) rows psi' that define u if there are velocity_rows; else none."""
        return ()

    @property
    def level(self) -> int:
        """What rows of rates constrain: 1 velocities, 2 accelerations."""
        return 1

    @property
    def rows_after(self) -> int:
        """The number of modes after which the axes are those of the rows; all modes: M's axes."""
        return len(self.modes)

    @property
    def free_modes(self) -> tuple[Mode, ...]:
        return tuple(mode for mode in self.modes if mode.role == "free")

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """Where its friction acts, if it has any; of a joint with one free mode along or about that mode's axis."""
        if self.friction is None:
            return ()
        mode = self.free_modes[0]
        own = self.friction.own_factors(mode.linear)
        if mode.kind == "ball":
            return (Contact("", 0, (1.0, 1.0, 1.0), False, own, (0.0, 0.0, 0.0)),)
        return (Contact("", 0, (1.0,), mode.linear, own, mode.axis),)

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
        """(velocities,) of each velocity variable; name: "stiffness", "damping", "rest" or "rotor_inertia"."""
        value = getattr(self, name)
        if isinstance(value, tuple) and len(value) == self.velocities:
            return value
        return (0.0 if isinstance(value, tuple) else value,) * self.velocities

    @property
    def coupled(self) -> tuple[tuple[int, int, float, float], ...]:
        """Springs and dampers between two modes, or two axes of a ball: their indices, stiffness and damping.

        None for most joints; all, by rows of the matrices, for a joint that has any.
        """
        return ()

    @property
    def strains(self) -> tuple[float, ...]:
        """(velocities,) rotation [rad] or strain that a unit of each coordinate makes; 0: it is no deformation."""
        return (0.0,) * self.velocities

    @property
    def bends(self) -> int:
        """Index of the first of three turns whose springs and dampers act on their rotation vector; -1: of none."""
        return -1

    def all_positions(
        self, p: Sequence[float] | None = None, eta: Sequence[float] | None = None, t: float = 0.0
    ) -> tuple[float, ...]:
        """Positions of all modes, free, excited and locked, in their order.

        p: (positions,) of the free modes, by default the initial ones; eta: (excited modes,), by default those of the
        paths at the time t [s], or the initial ones.
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
        """X_FM at the positions of all_positions(p, eta, t)."""
        return product.transform(self.modes, self.all_positions(p, eta, t))
