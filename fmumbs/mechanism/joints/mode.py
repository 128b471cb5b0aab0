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

from collections.abc import Sequence
from dataclasses import Field, dataclass, fields
from math import atan2, hypot
from typing import Literal, TypedDict, Unpack, get_args

from fmumbs import _checks
from fmumbs._checks import Axis, Vec3
from fmumbs.errors import ModelError
from fmumbs.mechanism.path import Path
from fmumbs.spatial import Rotation

Kind = Literal["revolute", "prismatic", "ball"]
Role = Literal["free", "excited", "locked"]
Input = Literal["kappa_dot", "eta"]


@dataclass(frozen=True)
class Mode:
    """One elementary motion; make it with Turn, Slide or Helix, or three of them with Ball.

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
            _checks.choice(value, get_args(known), f"Mode: {what}")
        for what in ("pitch", "value", "eta0", "kappa0"):
            check = _checks.angle if self.kind == "revolute" and what in ("value", "eta0") else _checks.number
            object.__setattr__(self, what, check(getattr(self, what), f"Mode: {what}"))
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
            value = getattr(self, what)
            if value is not None and not (isinstance(value, float) and value == 0.0):
                raise ModelError(f"Mode: {what} is given, but the mode is {self.role}. Give role='excited'.")
        if self.kind == "ball" and self.role != "free":
            raise ModelError("Mode: a ball cannot be locked. Use fm.Ball(role='locked'), three turns.")

    def _check_excited(self) -> None:
        if self.kind == "ball":
            raise ModelError("Mode: a ball cannot be excited. Use fm.Ball(role='excited'), three turns.")
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
    """A mode that slides along an axis by a distance [m]; axis and motion as for Turn."""
    return Mode("prismatic", _checks.axis(axis, "Slide: axis"), **motion)


def Helix(axis: Axis, pitch: float, **motion: Unpack[Motion]) -> Mode:
    """A mode that turns about an axis and advances along it by pitch [m/rad]; axis and motion as for Turn."""
    return Mode("revolute", _checks.axis(axis, "Helix: axis"), pitch=pitch, **motion)


_THREE = "Give one for each angle."


def Ball(
    *,
    role: Role = "free",
    value: Rotation | Sequence[float] = (0.0, 0.0, 0.0),
    eta0: Sequence[float] = (0.0, 0.0, 0.0),
    kappa0: Sequence[float] = (0.0, 0.0, 0.0),
    path: Sequence[Path | float] | None = None,
    input: Input | None = None,
    cutoff: float = 0.0,
) -> tuple[Mode, Mode, Mode]:
    """A ball within a Joint, between other modes: turns by three angles about x, y and z, R = R_x R_y R_z.

    Free, its three coordinates are these angles, and the second one must stay between -90 and 90 degrees; where a joint
    is a ball alone, a Spherical has no such limit. value: of a locked ball, a Rotation or the three angles [rad]. path:
    of an excited ball, a path or a constant for each angle; or input, cutoff, and three eta0 and kappa0 as for Turn.

    In a Joint it stands among the other modes, as in modes=[fm.Turn("z"), fm.Slide("x", role="locked", value=0.2),
    fm.Ball(), fm.Slide("x")].

    Raises ModelError for anything but three numbers, or paths.
    """
    if isinstance(value, Rotation):
        value = _angles(value)
    if path is not None and len(_checks.items(path, "Ball: path", _THREE)) != 3:
        raise ModelError(f"Ball: path is not three paths or numbers. {_THREE}")
    values = _checks.numbers(value, 3, "Ball: value")
    starts, rates = _checks.numbers(eta0, 3, "Ball: eta0"), _checks.numbers(kappa0, 3, "Ball: kappa0")

    def turn(i: int) -> Mode:
        at = None if path is None else path[i]
        given = at if at is None or isinstance(at, Path) else Path.polynomial(_checks.number(at, "Ball: path"))
        motion = {"eta0": starts[i], "kappa0": rates[i], "path": given, "input": input, "cutoff": cutoff}
        return Turn("xyz"[i], role=role, value=values[i], **motion)  # type: ignore[arg-type]

    return turn(0), turn(1), turn(2)


def _angles(turned: Rotation) -> tuple[float, float, float]:
    """The three angles of R = R_x R_y R_z."""
    R = turned.matrix
    second = atan2(float(R[0, 2]), hypot(float(R[0, 0]), float(R[0, 1])))
    if hypot(float(R[0, 0]), float(R[0, 1])) < 1e-12:  # only the sum of the others counts
        return atan2(float(R[2, 1]), float(R[1, 1])), second, 0.0
    return atan2(-float(R[1, 2]), float(R[2, 2])), second, atan2(-float(R[0, 1]), float(R[0, 0]))
