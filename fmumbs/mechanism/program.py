"""Programs: what a mechanism shall do, as ideal constraints c(q, t) = 0 on positions (copcod, Eqs 23 and 24).

A program consists of a target, a massless body that its path moves, and of the constraint that the mechanism follows
the target. The Lagrange multiplier of that constraint is the force of the program's drive: it acts on the programmed
point, orientation or coordinate, and the opposite one on the body that carries `frame`.

    target      as the path or the inputs prescribe
    eta         the target, less what is left of the deviation at the start, which a transition fades out
    position    of the mechanism; it follows eta
    violation   |position - target|

With a transition of T seconds the mechanism starts where its own q0 and u0 place it. With d and v the deviations of
position and velocity from the target at the start and x = t / T,

    eta = target + d (1 - 10 x^3 + 15 x^4 - 6 x^5) + v T (x - 6 x^3 + 8 x^4 - 3 x^5),     x <= 1

Without a transition the mechanism starts on the target, and q0 and u0 of what it moves are guesses.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.bodies import GROUND, Body, Ground, Point, point
from fmumbs.mechanism.coupling import Coupling, scalar_mode
from fmumbs.mechanism.element import Composite, Element
from fmumbs.mechanism.joints import Closing, Joint, JointBase, Slide, Turn
from fmumbs.mechanism.joints.base import Row
from fmumbs.mechanism.joints.closing import ClosingRow, RowKind
from fmumbs.mechanism.joints.mode import Input, Mode
from fmumbs.mechanism.path import Curve, Path

Of = Literal["position", "velocity", "acceleration"]

Drive = JointBase | tuple[JointBase, int]

_LETTERS = "xyz"
_UNIT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_NONE = _UNIT[0]  # placeholder in a row without that vector


@dataclass(frozen=True)
class Follower(Closing):
    """The constraint of a program: M's origin follows F's along `directions`, or M's axes are those of F."""

    directions: str = field(default="", kw_only=True)
    kind: RowKind = field(default="along", kw_only=True)
    order: int = field(default=0, kw_only=True)

    @property
    def level(self) -> int:
        return self.order

    @property
    def rows(self) -> tuple[ClosingRow, ...]:
        if self.order:
            units = [_UNIT[_LETTERS.index(letter)] for letter in self.directions]
            return tuple((self.kind, unit, unit, 0.0) for unit in units)
        if not self.directions:
            return tuple(("perpendicular", _UNIT[f], _UNIT[g], 0.0) for f, g in ((0, 1), (0, 2), (1, 2)))
        return tuple(("along", _UNIT[_LETTERS.index(letter)], _NONE, 0.0) for letter in self.directions)


@dataclass(frozen=True)
class LengthFollower(Follower):
    """The constraint of a length: F's and M's origins are as far apart as the target."""

    @property
    def rows(self) -> tuple[ClosingRow, ...]:
        return (("distance", _NONE, _NONE, 1.0),)  # the target stands for the 1


@dataclass(frozen=True)
class Combination(Follower):
    """Rows of angular velocity and velocity together, which may change linearly with a coordinate.

    combined: (k, 6) rows. slopes: (k, 6) their derivatives with respect to the coordinate `by`, a joint and the number
    of its mode. program: its name.
    """

    combined: tuple[Row, ...] = field(default=(), kw_only=True)
    slopes: tuple[Row, ...] = field(default=(), kw_only=True)
    by: tuple[JointBase, int] | None = field(default=None, kw_only=True)
    program: str = field(default="", kw_only=True)

    @property
    def rows(self) -> tuple[ClosingRow, ...]:
        return tuple((self.kind, row[:3], row[3:], 0.0) for row in self.combined)  # type: ignore[misc]


@dataclass(frozen=True)
class _Rate(Coupling):
    """A coupling of velocities (1) or accelerations (2)."""

    level: int = field(default=1, kw_only=True)  # type: ignore[misc]


@dataclass(frozen=True)
class _Drive(Joint):
    """The joint of a target. Its modes may become dependent: the core refuses a start there (core/loops/programs.c)."""

    def _check_independent(self) -> None:
        pass


@dataclass(frozen=True)
class Program(Composite):
    """Base of the programs: what moves the target, and how a start off the target is treated.

    path: a Curve or a sequence of Paths and numbers, one for each programmed coordinate; or a Path, if there is one.
    input: instead of a path, "kappa_dot" for targets whose accelerations are FMU inputs, or "eta" for targets that are
        FMU inputs and pass through a critically damped filter, as those of excited modes.
    cutoff: of that filter [rad/s]. start, rate: with inputs, the first target and its rate, one number for each
        coordinate or one for all.
    transition: time [s] in which a start off the target, in position and velocity, is faded out; 0: it starts on it.
    of: what the path prescribes, "position", "velocity" or "acceleration"; its values and those of P.target,
        P.position, P.violation and P.eta are then velocities or accelerations. A program for velocities is linear in
        them, and need not be integrable (copcod, Eq 7 with p = 1 and 2). With inputs, only input="eta".
    drives: joints, or (joint, mode) for those with several modes, which realise the program in place of ideal forces
        along the programmed coordinates. As many as these: free modes of the spanning tree with scalar positions. Their
        forces act between the joint's two bodies beside its inputs, springs and friction; drive[i] is the i-th of them
        alone [N.m] or [N]. All drives together realise all programs that have drives. Links between a drive and what it
        moves are rigid. The motion that the programs leave free, the internal dynamics, must not grow: that is checked
        at the start, at rest.
    insist: accept unstable internal dynamics.

    Variables of each program P: target[i], position[i] and violation; eta[i], kappa[i], kappa_dot[i] of the target
    together with what is left of the transition, drive[i], the force or torque of the drive that realises the program;
    and the inputs kappa_dot[i] or eta_in[i]. Without [i] where there is one coordinate.
    """

    _passes_on = "every program"

    path: Curve | Path | Sequence[Path | float] | None = field(default=None, kw_only=True)
    input: Input | None = field(default=None, kw_only=True)
    cutoff: float = field(default=0.0, kw_only=True)
    start: float | Sequence[float] = field(default=0.0, kw_only=True)
    rate: float | Sequence[float] = field(default=0.0, kw_only=True)
    transition: float = field(default=0.0, kw_only=True)
    of: Of = field(default="position", kw_only=True)
    drives: Sequence[Drive] = field(default=(), kw_only=True)
    insist: bool = field(default=False, kw_only=True)
    drive: Joint = field(init=False, repr=False, compare=False)
    follower: "Follower | Coupling" = field(init=False, repr=False, compare=False)

    def _make(self, frame: Point, axes: Sequence[Mode]) -> Body:
        """Stores the target's joint, with one mode for each of `axes`, and returns the target."""
        self._store("transition", _checks.not_negative(self.transition, self._where("transition")))
        _checks.choice(self.of, get_args(Of), self._where("of"))
        if self.of == "acceleration" and self.transition:
            raise ModelError(f"{self._where('transition')} is given, but accelerations need none. Leave it out.")
        if self.of != "position" and self.input == "kappa_dot":
            raise ModelError(f"{self._where('input')} is 'kappa_dot', but a {self.of} takes 'eta'. Give that.")
        target = Body(f"{self.name}_target", mass=0.0)
        modes = tuple(
            replace(mode, role="excited", **motion)  # type: ignore[arg-type]
            for mode, motion in zip(axes, self._motions(len(axes)), strict=True)
        )
        self._check_drives(len(axes))
        self._store("drive", _Drive(self.name, frame, target.at(), modes=modes))
        self.drive._store("_made_by", self.title)
        return target

    def _check_drives(self, count: int) -> None:
        if not isinstance(self.drives, Sequence) or isinstance(self.drives, str):
            given = _checks.shown(self.drives)
            raise ModelError(f"{self._where('drives')} is {given}. Give joints in a tuple, such as (A, B).")
        self._store("drives", tuple(self.drives))
        self._store("insist", _checks.flag(self.insist, self._where("insist")))
        if self.insist and not self.drives:
            raise ModelError(f"{self._where('insist')} is given, but there are no drives. Leave it out.")
        if self.drives and len(self.drives) != count:
            raise ModelError(
                f"{self._where('drives')} are {len(self.drives)}, but {count} coordinates are programmed. Give one for "
                "each, or program as many as there are drives."
            )
        for i, (joint, mode) in enumerate(self.driven):
            where = f"{self._where('drives')}[{i + 1}]"
            if not isinstance(joint, JointBase):
                raise ModelError(f"{where} is {_checks.shown(self.drives[i])}. Give a joint or (joint, mode).")
            modes = joint.free_modes
            scalar = not joint.velocity_rows and all(m.kind != "ball" for m in modes)
            if not scalar or not isinstance(mode, int) or not 1 <= mode <= len(modes):
                many = f"{len(modes)} free modes with a scalar position" if scalar else "no modes with scalar positions"
                fix = f"Give a mode from 1 to {len(modes)}." if scalar and modes else "Give another joint."
                given = f"mode {_checks.shown(mode)} of joint '{joint.name}'"
                raise ModelError(f"{where} is {given}, which has {many}. {fix}")

    @property
    def driven(self) -> tuple[tuple[JointBase, int], ...]:
        """(joint, mode) of each drive, mode counted from 1."""
        each = (drive if isinstance(drive, tuple) and len(drive) == 2 else (drive, 1) for drive in self.drives)
        return tuple(each)

    def _motions(self, count: int) -> list[dict[str, object]]:
        start, rate = self._each("start", count), self._each("rate", count)
        if self.path is None:
            if self.input is None:
                raise ModelError(f"{self._where('path')} is not given, nor an input. Give one of the two.")
            each = zip(start, rate, strict=True)
            return [{"input": self.input, "cutoff": self.cutoff, "eta0": s, "kappa0": r} for s, r in each]
        if self.input is not None or _checks.number(self.cutoff, self._where("cutoff")) or any(start) or any(rate):
            raise ModelError(f"{self._where('path')} is given, and an input as well. Leave out what belongs to inputs.")
        given = self.path.paths if isinstance(self.path, Curve) else self.path
        paths = tuple(given) if isinstance(given, Iterable) else (given,)
        if len(paths) != count:
            raise ModelError(
                f"{self._where('path')} has {len(paths)} coordinates, but {count} are programmed. Give one for each."
            )
        where = self._where("path")
        return [{"path": p if isinstance(p, Path) else Path.polynomial(_checks.number(p, where))} for p in paths]

    @property
    def inner(self) -> tuple[str, ...]:
        """The names of the target and of the constraint, whose variables are not shown."""
        return tuple(part.name for part in self.parts)

    @property
    def varies_with(self) -> JointBase | None:
        """The joint on whose coordinate its rows depend."""
        return None

    @property
    def level(self) -> int:
        """Of its rows: 0 positions, 1 velocities, 2 accelerations."""
        return get_args(Of).index(self.of)

    def _letters(self, letters: object, axes: str) -> str:
        """The checked directions."""
        if not isinstance(letters, str) or not letters or len(set(letters)) < len(letters) or set(letters) - set("xyz"):
            given = _checks.shown(letters)
            raise ModelError(f"{self._where('directions')} are {given}. Give different letters of 'xyz'.")
        _checks.choice(axes, ("frame", "point"), self._where("axes"))
        _checks.choice(self.of, get_args(Of), self._where("of"))
        if axes == "point" and not self.level:
            raise ModelError(f"{self._where('axes')} are 'point', but positions are in those of frame. Leave it out.")
        return letters

    def _each(self, what: str, count: int) -> tuple[float, ...]:
        value = getattr(self, what)
        if isinstance(value, Iterable) and not isinstance(value, str | bytes):
            return _checks.numbers(value, count, self._where(what))
        return (_checks.number(value, self._where(what)),) * count

    def _follow(self, target: Body, follower: "Follower | Coupling") -> None:
        self._store("follower", follower)
        self._consist_of(target, follower)


@dataclass(frozen=True)
class _InFrame(Program):
    """Base of the programs of a point or its axes with respect to a frame."""

    point: Point
    frame: Point = field(default=GROUND.at(), kw_only=True)
    directions: str = field(default="xyz", kw_only=True)
    axes: Literal["frame", "point"] = field(default="frame", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        one, other = point(self.point, self._where("point")), point(self.frame, self._where("frame"))
        if isinstance(one.body, Ground):
            raise ModelError(f"{self._where('point')} is on the ground, which does not move. Give a point on a body.")
        if one.body.name == other.body.name:
            raise ModelError(
                f"{self._where('point')} and frame are both on '{one.body.name}'. Give points on two bodies."
            )


@dataclass(frozen=True)
class ProgrammedPoint(_InFrame):
    """A point follows a path: `ProgrammedPoint(name, point, path=fm.Path.line(...))`.

    point: on a body. frame: in whose axes and from whose origin the path is given; on another body or on the ground, by
    default the world's. directions: those that are programmed, such as "xz"; the others stay free. axes: "point" for
    velocities or accelerations relative to the frame in the axes of the point. Units [m], [m/s], [m/s2].

    Raises ModelError for a point on the body of `frame`, for directions that are not letters of xyz, and for paths that
    are not as many as the directions.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        letters = self._letters(self.directions, self.axes)
        target = self._make(GROUND.at() if self.level else self.frame, [Slide(letter) for letter in letters])
        kind: RowKind = "along" if not self.level else "speed_M" if self.axes == "point" else "speed"
        F = self.frame if self.level else self.drive.M
        self._follow(
            target,
            Follower(f"{self.name}_follows", F, self.point, directions=letters, kind=kind, order=self.level),
        )


@dataclass(frozen=True)
class ProgrammedLength(Program):
    """The distance of two points follows a path or an input: an actuator whose length is given.

    >>> ends = model.ground.at(0, 0, 2), spring.Q
    >>> model.add(fm.ProgrammedLength("ram", *ends, input="eta", cutoff=30.0, start=4.5))  # with the input ram.eta_in

    |Q - P| = eta(t). P, Q: points on two different bodies. With inputs start, the first length [m], is positive, and
    rate [m/s]. ram.drive is the force that the length takes [N], positive where it pushes the points apart;
    ram.position is the length, ram.kappa its rate. Where the points coincide the line has no direction: a length must
    stay positive.

    Raises ModelError for two points on one body, for a first length that is not positive, and for `of` other than
    "position".
    """

    P: Point
    Q: Point

    def __post_init__(self) -> None:
        super().__post_init__()
        P, Q = point(self.P, self._where("P")), point(self.Q, self._where("Q"))
        if P.body.name == Q.body.name:
            raise ModelError(f"{self._where('P and Q')} are both on '{P.body.name}'. Give points on two bodies.")
        target = self._make(GROUND.at(), [Slide("x")])
        if self.level:
            raise ModelError(f"{self._where('of')} is '{self.of}', but a length is a position. Leave it out.")
        first = self.drive.modes[0].prescribed()[0]
        if not first > 0.0:
            what = "start" if self.path is None else "path"
            raise ModelError(f"{self._where(what)}: the first length is {first:g}, but must be above zero. Give it.")
        self._follow(target, LengthFollower(f"{self.name}_follows", self.P, self.Q))


@dataclass(frozen=True)
class ProgrammedOrientation(_InFrame):
    """The axes of a point's frame follow angles: `ProgrammedOrientation(name, point, path=(fm.Path(...), 0, 0))`.

    point: whose axes turn. frame: with respect to whose axes, by default the world's. directions, axes: see below; for
    angles neither is given. The three coordinates are angles about x, then about the y that this turned, then about the
    z that both turned: R = R_x R_y R_z. Of all angles with this R, P.position has those nearest to the target: it goes
    on through 90 degrees of the second one, and over any number of turns. At the start the second one must not be 90
    degrees (or 270, ...): the first and third turn about one axis there. Of "velocity" or "acceleration" the three are
    components of the angular velocity relative to the frame, or of its derivative, along `directions` of the frame, or
    with axes="point" of the point. Units [rad], [rad/s], [rad/s2]; the torques of the drive belong to these angles, or
    directions.

    Raises ModelError for a point on the body of `frame`, and for paths that are not three; AssemblyError for a start
    where the angles cannot be measured.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        letters = self._letters(self.directions, self.axes)
        if letters != _LETTERS and not self.level:
            raise ModelError(f"{self._where('directions')} are '{letters}', but angles go together. Leave it out.")
        target = self._make(GROUND.at() if self.level else self.frame, [Turn(letter) for letter in letters])
        kind: RowKind = "spin_M" if self.axes == "point" else "spin"
        follows = f"{self.name}_follows"
        if self.level:
            row = {"directions": letters, "kind": kind, "order": self.level}
            self._follow(target, Follower(follows, self.frame, self.point, **row))  # type: ignore[arg-type]
        else:
            self._follow(target, Follower(follows, self.drive.M, self.point))


@dataclass(frozen=True)
class ProgrammedVelocity(_InFrame):
    """Linear combinations of velocities follow a path: `ProgrammedVelocity(name, point, rows=[...], path=zeta)`.

    rows: (k, 6) [1] or [m], k at most 3. The product of each with (angular velocity, velocity of the point) relative to
    `frame`, in the axes of the frame or, with axes="point", of the point, is zeta(t): the constraint w' G = zeta of
    joint-representation, Eqs 3.6 and 3.8, between any two bodies; it need not be integrable. path: zeta, one for each
    row, 0 for a homogeneous one; or an input, as for every program. of: "velocity", the default, or "acceleration".

    point: on a body; frame: on another or on the ground, by default the world's; axes: "frame" or "point", in which the
        rows are. directions: not used: the rows say which.

    Rows that depend on position or time are rows + slopes s, with s a coordinate: `by` is a Path s(t), or a joint or
    (joint, mode) with a scalar position in the spanning tree; slopes: (k, 6).

    >>> same = fm.ProgrammedVelocity("same", A.M, frame=B.M, rows=[(0, 1, 0, 0, 0, 0)], path=0.0)  # rates of rotation
    >>> model.add(same)

    Units: of zeta [m/s] if any row has a linear part, else [rad/s]; P.drive is the row's multiplier.

    Raises ModelError for rows that are zero or not six numbers, for slopes without `by`, and what the others raise.
    """

    rows: Sequence[Row] = field(kw_only=True)
    slopes: Sequence[Row] | None = field(default=None, kw_only=True)
    by: Path | JointBase | tuple[JointBase, int] | None = field(default=None, kw_only=True)
    of: Of = field(default="velocity", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._letters(self.directions, self.axes)
        rows = self._six("rows", self.rows)
        if not rows or (not all(any(row) for row in rows) and self.slopes is None):
            raise ModelError(f"{self._where('rows')} are none, or one is zero. Give numbers that are not all zero.")
        if len(rows) > 3:
            raise ModelError(
                f"{self._where('rows')} has {len(rows)} rows, but a program has at most 3. Use two programs."
            )
        if (self.slopes is None) != (self.by is None):
            raise ModelError(f"{self._where('slopes and by')} belong together, but one is missing. Give both or none.")
        slopes = () if self.slopes is None else self._six("slopes", self.slopes)
        if slopes and len(slopes) != len(rows):
            raise ModelError(f"{self._where('slopes')} are {len(slopes)}, but rows are {len(rows)}. Give as many.")
        if self.level == 0:
            raise ModelError(f"{self._where('of')} is 'position', but rows are of velocities. Leave it out.")
        linear = any(any(row[3:]) for row in (*rows, *slopes))
        target = self._make(GROUND.at(), [Slide(x) if linear else Turn(x) for x in "xyz"[: len(rows)]])
        kind: RowKind = "twist_M" if self.axes == "point" else "twist"
        by, more = self._coordinate()
        follower = Combination(
            f"{self.name}_follows", self.frame, self.point, combined=rows, slopes=slopes, by=by, kind=kind,
            order=self.level, program=self.name,
        )  # fmt: skip
        self._follow(target, follower)
        self._consist_of(*self.parts, *more)

    def _six(self, what: str, rows: object) -> tuple[Row, ...]:
        given = tuple(rows) if isinstance(rows, Iterable) else ()
        example = (0, 0, 0, 1, 0, 0)
        return tuple(_checks.numbers(row, 6, f"{self._where(what)}[{i + 1}]", example) for i, row in enumerate(given))

    def _coordinate(self) -> tuple[tuple[JointBase, int] | None, tuple[Element, ...]]:
        """The coordinate on which the rows depend, and what moves it if it follows a path."""
        if self.by is None:
            return None, ()
        if isinstance(self.by, Path):
            body = Body(f"{self.name}_by_target", mass=0.0)
            turn = Turn("x", role="excited", path=self.by)
            joint = Joint(f"{self.name}_by", GROUND.at(), body.at(), modes=(turn,))
            return (joint, 1), (body, joint)
        given = self.by if isinstance(self.by, tuple) else (self.by, 1)
        if len(given) != 2 or not isinstance(given[0], JointBase):
            given_by = _checks.shown(self.by)
            raise ModelError(f"{self._where('by')} is {given_by}. Give a Path, a joint, or (joint, mode).")
        scalar_mode(given[0], given[1], self._where("by"))
        return (given[0], given[1]), ()

    @property
    def varies_with(self) -> JointBase | None:
        assert isinstance(self.follower, Combination)
        return None if self.follower.by is None or isinstance(self.by, Path) else self.follower.by[0]


@dataclass(frozen=True)
class ProgrammedJoint(Program):
    """A joint coordinate follows a path: `ProgrammedJoint(name, joint, path=fm.Path.quintic(...))`.

    joint: with scalar positions, in the spanning tree; mode: which of its modes, from 1. Units [rad] or [m]. The drive
    acts between the joint's two bodies, as the joint's input does.

    Raises ModelError for a joint without such a mode.
    """

    joint: JointBase
    mode: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.joint, JointBase):
            raise ModelError(f"{self._where('joint')} is a {type(self.joint).__name__}. Give a joint.")
        mode = scalar_mode(self.joint, self.mode, self._where("joint"))
        if not mode.free:
            raise ModelError(f"{self._where('joint')}: '{self.joint.name}' is excited already. Program a free joint.")
        target = self._make(GROUND.at(), [Slide("z") if mode.linear else Turn("z")])
        own, follows = (self.joint, self.mode, 1.0), f"{self.name}_follows"
        if self.level:
            self._follow(target, _Rate(follows, (own,), offset=0.0, level=self.level))
        else:
            self._follow(target, Coupling(follows, (own, (self.drive, 1, -1.0)), offset=0.0))
