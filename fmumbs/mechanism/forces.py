"""Forces between points and on bodies.

A spring between P and Q at the distance l pulls them together with f = stiffness (l - free_length) + damping
dl/dt along their line. A load is a force and a torque that the model's inputs set, in fixed directions or in
directions that turn with its point, such as the thrust of a jet (a follower load). A rope pulls along its way through
points and over pulleys, and never pushes.

Springs cannot be connected in series or at a massless junction. Put a body of small mass m between them, on a joint of
three slides; or on a prismatic joint for a spring and a damper in series. The body settles within about
sqrt(m / stiffness) or m / damping, which limits the integration step; start it in equilibrium.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from itertools import chain, pairwise
from typing import Any, Literal, get_args

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.bodies import Ground, Point, point
from fmumbs.mechanism.element import Element
from fmumbs.mechanism.joints import Revolute

__all__ = ["Load", "Pulley", "Rope", "Spring"]

LoadAxes = Literal["world", "point"]
Sense = Literal["shorter", "positive", "negative"]
MOST_PULLEYS = 20


class Force(Element):
    """A force element between points of bodies.

    Its class, in small letters, is what its arrays in the image are called after: NAME_FIELD for each of its fields,
    a Point being the index of one, and a word its place among the `words` of its field, which an enum of C has in the
    same order (fmumbs/core/image/table.h).
    """

    @property
    def ends(self) -> tuple[Point, ...]:
        """The points that it acts at."""
        return tuple(value for value in self.fields.values() if isinstance(value, Point))

    @property
    def fields(self) -> dict[str, Any]:
        """What it has beside its name, words as numbers."""
        found = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "name"}
        worded = ((one.name, one.metadata["words"]) for one in fields(self) if "words" in one.metadata)
        return found | {name: words.index(found[name]) for name, words in worded}


@dataclass(frozen=True)
class Spring(Force):
    """A spring and damper along the line between two points.

    P, Q: points on two different bodies. stiffness [N/m]: below 0 for a spring that has buckled, whose force falls as
    it is pressed on; damping [N.s/m], free_length [m]: at least 0. All are tunable parameters. Outputs: length [m] and
    f [N], positive in tension. Raises ModelError for two points on one body.
    """

    P: Point
    Q: Point
    stiffness: float = field(default=0.0, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    free_length: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        point(self.P, self._where("P"))
        point(self.Q, self._where("Q"))
        if self.P.body.name == self.Q.body.name:
            raise ModelError(
                f"{self._where('P and Q')} are both on '{self.P.body.name}', so it has no effect. "
                "Give points on two different bodies."
            )
        for law in ("stiffness", "damping", "free_length"):
            self._store(law, _checks.parameter("spring", law, getattr(self, law), self._where(law)))


@dataclass(frozen=True)
class Load(Force):
    """A force at a point and a torque on its body.

    P: the point, on a body. force: (3,) [N] and torque: (3,) [N.m] are the start values of the inputs
    NAME.force[1..3] and NAME.torque[1..3]. axes: "world" for both in the world's axes; "point" for both in the axes of
    P, with which they turn, as the thrust of a jet does. Such a follower load has no potential: under it a mechanism
    at rest may lose its stability by vibrations that grow (flutter), which fm.equilibrium and fm.linearize tell.

    Raises ModelError for a point on the ground, and for axes that are neither.
    """

    P: Point
    force: Sequence[float] = field(default=(0.0, 0.0, 0.0), kw_only=True)
    torque: Sequence[float] = field(default=(0.0, 0.0, 0.0), kw_only=True)
    axes: LoadAxes = field(default="world", kw_only=True, metadata={"words": get_args(LoadAxes)})

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(point(self.P, self._where("P")).body, Ground):
            raise ModelError(
                f"{self._where('P')} is on the ground, which a load cannot move. Give a point on a body."
            )
        self._store("force", _checks.vector(self.force, self._where("force")))
        self._store("torque", _checks.vector(self.torque, self._where("torque")))
        _checks.choice(self.axes, get_args(LoadAxes), self._where("axes"))


@dataclass(frozen=True)
class Pulley:
    """A disc that a rope runs over and turns without slip: one of the `points` of an fm.Rope.

    joint: the fm.Revolute on whose axis the disc turns; the disc is fixed to its second body, M, with its centre at the
    joint's frames. radius: above 0 [m]. side: "positive" if the rope, followed from its first point to its last, runs
    around the disc by the right-hand rule about the joint's axis, "negative" if the other way round; "shorter", the
    default, chooses the shorter way at the start.

    Raises ModelError for another joint, or one whose second body is the ground.
    """

    joint: Revolute
    radius: float
    side: Sense = field(default="shorter", kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Revolute):
            what = getattr(self.joint, "title", type(self.joint).__name__)
            raise ModelError(f"Pulley: joint is {what}, which does not turn about one axis. Give an fm.Revolute.")
        where = f"Pulley on '{self.joint.name}'"
        if isinstance(self.joint.M.body, Ground):
            raise ModelError(f"{where}: its disc would be fixed to the ground. Swap the points F and M of the joint.")
        object.__setattr__(self, "radius", _checks.parameter("rope", "radius", self.radius, f"{where}: radius"))
        _checks.choice(self.side, get_args(Sense), f"{where}: side")


@dataclass(frozen=True)
class Rope(Force):
    """An elastic rope through points without friction and over pulleys, which pulls and never pushes.

    >>> model.add(fm.Rope("hoist", [model.ground.at(0, 0, 3), slider.M], stiffness=1e5, length=2.0))

    points: two or more, in order: points on bodies or on the ground, through which the rope runs without friction (its
        ends are fixed), and pulleys, each between two points. A pulley at an end is a drum that takes the rope up.
    stiffness: EA, above 0 [N]; damping: at least 0 [N.s]. length: unstretched, above 0 [m], without what lies on
        pulleys at the start; or a list of the lengths of its sides. winch: length is the start value of an input, by
        which a winch pays the rope out at its last end.

    Pulleys divide the rope into sides. One with the length l along its way and the unstretched length L has the tension

        T = max(0, (stiffness (l - L) + damping (dl/dt - dL/dt))/L),      0 where l < L.

    What a winch pays out does not count in dL/dt, and its side is slack only where the bracket is below zero. A pulley
    that turns by q takes radius q from one side and gives it to the other. The sides share one `length` so that their
    strains are equal at the start. What is wound over a pulley beyond the start is strained as the side that it belongs
    to. The way goes from the pulley's plane straight to the next point, also beside that plane. About the axis of a
    pulley, a neighbouring point may go at most half a turn from where it is at the start.

    Variables, one for each side where there are several: tension [N], path_length l [m], slack L - l where that is
    above 0 [m]; power that the rope puts into the bodies [W]. Parameters: stiffness, damping, length, and radius of
    each pulley; with winch, length is an input.

    Raises ModelError for fewer than two points, neighbours at one place of a body, a pulley beside another one, points
    on one body alone, and numbers out of range.
    """

    points: Sequence[Point | Pulley]
    stiffness: float = field(kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    length: float | Sequence[float] = field(kw_only=True)
    winch: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        items = _checks.items(self.points, self._where("points"), "Give a list of points and pulleys.")
        self._store("points", items)
        if len(items) < 2:
            raise ModelError(f"{self._where('points')} are {len(items)}. Give two or more.")
        for i, item in enumerate(items):
            if not isinstance(item, Pulley):
                point(item, self._where(f"points[{i + 1}]"))
        for i, (one, other) in enumerate(pairwise(items)):
            self._check_neighbours(i + 1, one, other)
        self._check_pulleys()
        if len({end.body.name for end in self.ends}) == 1:
            raise ModelError(
                f"{self._where('points')} are all on '{self.ends[0].body.name}', so it has no effect. "
                "Give points on different bodies."
            )
        for what in ("stiffness", "damping"):
            self._store(what, _checks.parameter("rope", what, getattr(self, what), self._where(what)))
        self._store("length", self._checked_length())
        self._store("winch", _checks.flag(self.winch, self._where("winch")))

    def _check_neighbours(self, i: int, one: Point | Pulley, other: Point | Pulley) -> None:
        where = f"{self._where('points')}[{i}] and [{i + 1}]"
        if isinstance(one, Pulley) and isinstance(other, Pulley):
            raise ModelError(f"{where} are both pulleys. Give a point on the way between them.")
        if isinstance(one, Pulley) or isinstance(other, Pulley):
            return
        if one.body.name == other.body.name and one.X_BP.offset == other.X_BP.offset:
            raise ModelError(f"{where} are at one place, {one!r}. Leave one of them out.")

    def _check_pulleys(self) -> None:
        if len(self.pulleys) > MOST_PULLEYS:
            raise ModelError(f"{self._where('points')} have {len(self.pulleys)} pulleys. Give at most {MOST_PULLEYS}.")
        for end in (self.points[0], self.points[-1]):
            if isinstance(end, Pulley) and end.side == "shorter":
                raise ModelError(
                    f"{self._where('points')} begin or end with a pulley, a drum that takes the rope up. "
                    "Give its side, 'positive' or 'negative'."
                )

    def _checked_length(self) -> float | tuple[float, ...]:
        given, where = self.length, self._where("length")
        if isinstance(given, str | bytes) or not hasattr(given, "__len__"):
            return _checks.parameter("rope", "length", given, where)
        each = _checks.numbers(given, len(self.sides), where, (1.0,) * len(self.sides))
        return tuple(_checks.parameter("rope", "length", one, f"{where}[{i + 1}]") for i, one in enumerate(each))

    @property
    def whole(self) -> float:
        """Its unstretched length [m]."""
        return sum(self.length) if isinstance(self.length, tuple) else float(self.length)  # type: ignore[arg-type]

    @property
    def pulleys(self) -> tuple[Pulley, ...]:
        """The pulleys among its points, in order."""
        return tuple(one for one in self.points if isinstance(one, Pulley))

    @property
    def sides(self) -> tuple[tuple[Point | Pulley, ...], ...]:
        """Its points from pulley to pulley, each pulley as the end of one side and the beginning of the next."""
        inner = [i for i in range(1, len(self.points) - 1) if isinstance(self.points[i], Pulley)]
        ends = [0, *inner, len(self.points) - 1]
        return tuple(tuple(self.points[a : b + 1]) for a, b in pairwise(ends))

    @property
    def ends(self) -> tuple[Point, ...]:
        """Its points, and those of the joints of its pulleys."""
        ends = ((one.joint.F, one.joint.M) if isinstance(one, Pulley) else (one,) for one in self.points)
        return tuple(chain.from_iterable(ends))


FORCES: tuple[type[Force], ...] = (Spring, Load, Rope)
"""In the image's order."""
