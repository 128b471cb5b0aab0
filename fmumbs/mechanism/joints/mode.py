"""Modes: the elementary motions whose ordered product is a joint.

X_FM = X_1(s_1) X_2(s_2) ..., each factor a screw about or along a fixed axis, or a ball. The axis of a mode is given
in the axes as rotated by the modes before it; with all positions at zero these are F's axes.

The position of a free mode is a variable of the joint. An excited mode moves by eta(t), with kappa = d eta/dt
(joint-representation, Eqs 3.15 and 5.1), where eta follows from

    a path       eta = path(t), with kappa and its rate the path's derivatives
    kappa_dot    the input kappa_dot; d kappa/dt = kappa_dot, d eta/dt = kappa, from eta0 and kappa0
    eta          the input eta_in through a critically damped filter, from eta0 and kappa0:
                 d kappa/dt = cutoff^2 (eta_in - eta) - 2 cutoff kappa,  d eta/dt = kappa

A position that is only sampled and held has no velocity, so a position input always goes through the filter.
"""

from dataclasses import Field, dataclass, fields
from typing import Literal, TypedDict, Unpack, get_args

from fmumbs import _checks
from fmumbs._checks import Axis, Vec3
from fmumbs.errors import ModelError
from fmumbs.mechanism.path import Path

Kind = Literal["revolute", "prismatic", "ball"]
Role = Literal["free", "excited", "locked"]
Input = Literal["kappa_dot", "eta"]


@dataclass(frozen=True)
class Mode:
    """One elementary motion; make it with Turn, Slide or Helix.

    kind: "revolute" turns about `axis` and advances by `pitch` [m/rad]; "prismatic" slides along it; "ball"
        turns freely; its position is a quaternion w x y z, its velocity the angular velocity in M's axes.
    axis: (3,) unit vector; unused for a ball.
    role: "free" moves by the forces, "excited" as prescribed, "locked" not at all.
    value: the position of a locked mode [rad] or [m].
    eta0, kappa0: initial position and velocity of a mode that is excited by an input.
    path, input: what moves an excited mode, one of the two. cutoff: of the filter of the input "eta" [rad/s].

    Raises ModelError for options that do not fit the role, and for a number that is not finite.
    """

    kind: Kind
    axis: Vec3 = (0.0, 0.0, 1.0)
    role: Role = "free"
    pitch: float = 0.0
    value: float = 0.0
    eta0: float = 0.0
    kappa0: float = 0.0
    path: Path | None = None
    input: Input | None = None
    cutoff: float = 0.0

    def __post_init__(self) -> None:
        for what, value, known in (("kind", self.kind, Kind), ("role", self.role, Role)):
            if value not in get_args(known):
                raise ModelError(f"Mode: {what} is {value!r}. Give one of {', '.join(get_args(known))}.")
        for what in ("pitch", "value", "eta0", "kappa0"):
            object.__setattr__(self, what, _checks.number(getattr(self, what), f"Mode: {what}"))
        object.__setattr__(self, "cutoff", _checks.not_negative(self.cutoff, "Mode: cutoff"))
        if self.role != "locked" and self.value != 0.0:
            raise ModelError(f"Mode: value is {self.value:g}, but the mode is {self.role}. Give role='locked'.")
        if self.role != "excited":
            self._check_not_excited()
        else:
            self._check_excited()

    def __repr__(self) -> str:
        axis = "" if self.kind == "ball" else f", axis={self.axis}"
        options = "".join(f", {f.name}={getattr(self, f.name)!r}" for f in fields(self)[2:] if _differs(self, f))
        return f"Mode(kind={self.kind!r}{axis}{options})"

    def _check_not_excited(self) -> None:
        for what in ("path", "input", "eta0", "kappa0", "cutoff"):
            if getattr(self, what) not in (None, 0.0):
                raise ModelError(
                    f"Mode: {what} is {getattr(self, what)!r}, but the mode is {self.role}. Give role='excited'."
                )
        if self.kind == "ball" and self.role != "free":
            raise ModelError("Mode: a ball cannot be locked. Leave it out.")

    def _check_excited(self) -> None:
        if self.kind == "ball":
            raise ModelError("Mode: a ball cannot be excited. Use three turns.")
        if (self.path is None) == (self.input is None):
            raise ModelError(
                "Mode: an excited mode moves by a path or by an input. Give path=, input='kappa_dot', or "
                "input='eta' with a cutoff."
            )
        if self.path is not None:
            if not isinstance(self.path, Path):
                raise ModelError(f"Mode: path is a {type(self.path).__name__}. Give a Path.")
            for what in ("eta0", "kappa0"):
                if getattr(self, what) != 0.0:
                    raise ModelError(f"Mode: {what} is given, but the path already sets it. Leave it out.")
        elif self.input not in get_args(Input):
            raise ModelError(f"Mode: input is {self.input!r}. Give one of {', '.join(get_args(Input))}.")
        if self.input == "eta" and self.cutoff == 0.0:
            raise ModelError(
                "Mode: a position that is sampled and held has no velocity, so the input 'eta' goes through a "
                "filter. Give its cutoff [rad/s]."
            )
        if self.input != "eta" and self.cutoff != 0.0:
            raise ModelError("Mode: cutoff is given, but only the input 'eta' has a filter. Leave it out.")

    @property
    def free(self) -> bool:
        return self.role == "free"

    @property
    def linear(self) -> bool:
        """Whether its position is a length [m] and not an angle [rad]."""
        return self.kind == "prismatic"

    @property
    def positions(self) -> int:
        """Number of position variables: 1, or 4 for a ball; 0 unless free."""
        return (4 if self.kind == "ball" else 1) if self.free else 0

    @property
    def velocities(self) -> int:
        """Number of velocity variables: 1, or 3 for a ball; 0 unless free."""
        return (3 if self.kind == "ball" else 1) if self.free else 0

    def prescribed(self, t: float = 0.0) -> tuple[float, float, float]:
        """eta, kappa and d kappa/dt at the time t [s], for a locked mode or a path; for an input the initial values."""
        if self.path is not None:
            return self.path(t)
        return (self.value, 0.0, 0.0) if self.role == "locked" else (self.eta0, self.kappa0, 0.0)


def _differs(mode: Mode, field: "Field[object]") -> bool:
    return bool(getattr(mode, field.name) != field.default)


class Motion(TypedDict, total=False):
    """The fields of Mode that Turn, Slide and Helix take besides the axis."""

    role: Role
    value: float
    eta0: float
    kappa0: float
    path: Path
    input: Input
    cutoff: float


def Turn(axis: Axis, **motion: Unpack[Motion]) -> Mode:
    """A mode that turns about an axis by an angle [rad], positive by the right-hand rule.

    axis: "x", "y", "z", one of these with a minus sign, or three numbers, in the axes as rotated by the modes before
    it. motion: role, value, eta0, kappa0, path, input, cutoff, as for Mode.
    """
    return Mode("revolute", _checks.axis(axis, "Turn: axis"), **motion)


def Slide(axis: Axis, **motion: Unpack[Motion]) -> Mode:
    """A mode that slides along an axis by a distance [m]; arguments as for Turn."""
    return Mode("prismatic", _checks.axis(axis, "Slide: axis"), **motion)


def Helix(axis: Axis, pitch: float, **motion: Unpack[Motion]) -> Mode:
    """A mode that turns about an axis and advances along it by pitch [m/rad]; other arguments as for Turn."""
    return Mode("revolute", _checks.axis(axis, "Helix: axis"), pitch=pitch, **motion)
