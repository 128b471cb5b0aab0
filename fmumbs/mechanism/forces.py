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
from fmumbs.mechanism.contact import SHAPES, Coulomb, Disc, Hertz, Hollow, Plane, Press, Shape, Sphere, Surface
from fmumbs.mechanism.coupling import scalar_mode
from fmumbs.mechanism.element import Element
from fmumbs.mechanism.joints import JointBase, Revolute
from fmumbs.mechanism.placed import store
from fmumbs.mechanism.road import Road

__all__ = ["Actuator", "Contact", "Cylinder", "Gear", "Load", "Motor", "Pulley", "Rope", "Spring", "Tyre", "Valve"]

LoadAxes = Literal["world", "point"]
Sense = Literal["shorter", "positive", "negative"]
MOST_PULLEYS = 20


class Force(Element):
    """A force element between points of bodies.

    Its class, in small letters, is what its arrays in the image are called after: NAME_FIELD for each of its fields,
    a Point being the index of one, a word its place among the `words` of its field, which an enum of C has in the
    same order (fmumbs/core/image/table.h), and a field whose metadata says `input` the index of that input. What acts
    on a joint has `on` and `mode` (fmumbs/compiler/motors.py).
    """

    @property
    def ends(self) -> tuple[Point, ...]:
        """The points that it acts at."""
        return tuple(value for value in self.fields.values() if isinstance(value, Point))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The fields that are start values of inputs of their own."""
        return tuple(one.name for one in fields(self) if "input" in one.metadata)

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
        _two_bodies(self)
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
    to. The way goes from the pulley's plane straight to the next point, also beside that plane. Turns of a
    neighbouring point about the axis of a pulley are counted from where it is at the start, to which start values of an
    FMU are at most half a turn. A taut rope that lifts off a pulley, where its two sides leave it before they touch
    it, ends the run with the names of both; a slack one may hang anywhere.

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


@dataclass(frozen=True)
class Actuator(Force):
    """A force between two points along their line, which is an input: F on Q, away from P, and -F on P.

    >>> model.add(fm.Actuator("ram", model.ground.at(0, 0, 2), spring.Q, force=5.0))  # with the input ram.force

    P, Q: points on two different bodies. force: start value of the input NAME.force [N], positive where it pushes the
    points apart. Outputs: length [m], the distance of the points, and power [W], force times the rate of the length.
    Where the points coincide the line has no direction, and there is no force.

    For a length as an input, and the force that it takes, see ProgrammedLength. Raises ModelError for two points on one
    body.
    """

    P: Point
    Q: Point
    force: float = field(default=0.0, kw_only=True, metadata={"input": True})

    def __post_init__(self) -> None:
        super().__post_init__()
        _two_bodies(self)
        self._store("force", _checks.number(self.force, self._where("force")))


@dataclass(frozen=True)
class Motor(Force):
    """A direct-current motor that drives a joint through a gear, by its voltage V.

        L di/dt = V - R i - N k v,    torque on the joint = c N k i,    inertia N^2 J beside the joint's own
        c = efficiency where i v N > 0, so that the motor drives;    c = 1 / efficiency where the joint drives it

    >>> model.add(fm.Motor("M", hinge, resistance=0.5, inductance=1e-3, constant=0.05, gear=50.0, rotor_inertia=2e-5,
    ...                    efficiency=0.8, current_limit=20.0))

    on: the joint, in the spanning tree, with the rate v [rad/s] or [m/s]; mode: the number of its free mode, from 1.
    resistance: R [Ohm], above 0. inductance: L [H]; with 0 the current is (V - N k v) / R always, and no state.
    constant: k [N.m/A], torque per current, and voltage per speed of the rotor [V.s/rad]. gear: N, speed of the rotor
    over v, below 0 where it turns the other way [1] or [rad/m]. rotor_inertia: J [kg.m2], 0 for none, on the joint's
    side of the losses. efficiency: of the gear in both directions, above 0, at most 1. voltage: start value of the
    input NAME.voltage [V]. voltage_limit: the largest |V|, to which the input is cut, above 0 [V]. current_limit: the
    largest |i|, above 0 [A]. current: start value of i [A], only with an inductance.

    A current at its limit stays there as long as the voltage would let it grow: the drive lowers V to R i + N k v. One
    that is beyond it, as the limit was set lower, is cut to it when the next step begins. A gear with losses holds a
    joint at rest where the torque to turn it lies between efficiency N k i and N k i / efficiency. Integration stops
    where a limit begins or ends to act and where the power through the gear changes its direction.

    All but the start values are tunable; an inductance, a rotor, limits and an efficiency below 1 where the model has
    them. Outputs: current [A], torque [N.m] or force [N] on M with respect to F, and power, V i with the voltage as cut
    or lowered, that the motor takes [W], of which R i^2 is lost, and |1 - c| |N k i v| in the gear; with losses also
    NAME.loss.force, what the gear adds to the torque, and NAME.loss.slip, 0 while it holds the joint. The energy
    L i^2 / 2 is part of solver.energy. At rest, as in fm.equilibrium, i = V / R, within its limit, and the gear loses
    nothing.

    Raises ModelError for a number out of range, and for a joint that has no such mode.
    """

    on: JointBase
    mode: int = field(default=1, kw_only=True)
    resistance: float = field(kw_only=True)
    inductance: float = field(default=0.0, kw_only=True)
    constant: float = field(kw_only=True)
    gear: float = field(default=1.0, kw_only=True)
    rotor_inertia: float = field(default=0.0, kw_only=True)
    efficiency: float = field(default=1.0, kw_only=True)
    voltage: float = field(default=0.0, kw_only=True, metadata={"input": True})
    voltage_limit: float | None = field(default=None, kw_only=True)
    current_limit: float | None = field(default=None, kw_only=True)
    current: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.on, JointBase):
            raise ModelError(f"{self._where('on')} is a {type(self.on).__name__}. Give a joint.")
        free = self.on.free_modes
        scalar = not self.on.velocity_rows and all(mode.kind != "ball" for mode in free)
        if not scalar or not isinstance(self.mode, int) or not 1 <= self.mode <= len(free):
            count = len(free) if scalar else 0
            fix = f"Give a mode from 1 to {count}." if count else "Choose another joint."
            raise ModelError(
                f"{self._where('mode')} is {_checks.shown(self.mode)}, but joint '{self.on.name}' has {count} free "
                f"modes with scalar positions. {fix}"
            )
        self._store("inductance", _checks.number(self.inductance, self._where("inductance")))
        optional = [name for name in ("voltage_limit", "current_limit") if getattr(self, name) is not None]
        optional += ["inductance"] * (self.inductance != 0.0)
        for name in ("resistance", "constant", "gear", "rotor_inertia", "efficiency", *optional):
            self._store(name, _checks.parameter("motor", name, getattr(self, name), self._where(name)))
        for name in ("voltage", "current"):
            self._store(name, _checks.number(getattr(self, name), self._where(name)))
        if self.current and not self.inductance:
            raise ModelError(f"{self._where('current')} is given, but without inductance it follows. Leave it out.")


@dataclass(frozen=True)
class Gear(Force):
    """A pair of gears with play: their teeth are a spring with a gap between the positions of two joints.

        x = q_A - ratio q_B - offset;    f = -stiffness (x - backlash / 2) - damping max(dx/dt, 0)  beyond the gap

    >>> model.add(fm.Gear("teeth", A, B, ratio=-3.0, backlash=0.002, stiffness=1e4, damping=5.0))

    f acts on A, and -ratio f on B; below the gap it is the mirror image, within it zero. Teeth push and never pull, and
    the integrator stops where they meet and part. A, B: joints in the spanning tree; mode_A, mode_B: the numbers of
    their free modes, from 1. ratio: rate of A over that of B, not 0, below 0 where they mesh from outside about
    parallel axes. backlash: the whole play, as A moves, at least 0 [rad] or [m]. stiffness: above 0 [N.m/rad] or [N/m];
    damping: at least 0 [N.m.s/rad] or [N.s/m], both at A. offset: middle of the play. All are tunable parameters.

    Outputs: position x, force f [N.m] or [N], power that the teeth give to B [W]. The energy that they store is part of
    solver.energy. Bearings do not feel the teeth, as with fm.Coupling.gear, which has neither play nor elasticity.

    Raises ModelError for a gear of a joint with itself, and for a joint that has no such mode.
    """

    A: JointBase
    B: JointBase
    mode_A: int = field(default=1, kw_only=True)
    mode_B: int = field(default=1, kw_only=True)
    ratio: float = field(kw_only=True)
    backlash: float = field(default=0.0, kw_only=True)
    stiffness: float = field(kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    offset: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for end in ("A", "B"):
            joint, mode = getattr(self, end), getattr(self, f"mode_{end}")
            if not isinstance(joint, JointBase):
                raise ModelError(f"{self._where(end)} is a {type(joint).__name__}. Give a joint.")
            if not scalar_mode(joint, mode, self._where(end)).free:
                raise ModelError(f"{self._where(end)}: mode {mode} of '{joint.name}' is excited. Give a free one.")
        if (self.A.name, self.mode_A) == (self.B.name, self.mode_B):
            raise ModelError(f"{self._where('A and B')} are both joint '{self.A.name}'. Give two joints.")
        for name in ("ratio", "backlash", "stiffness", "damping", "offset"):
            self._store(name, _checks.parameter("gear", name, getattr(self, name), self._where(name)))


@dataclass(frozen=True)
class Valve:
    """A valve with four edges, which connects the chambers of an fm.Cylinder with supply and tank.

    rated_flow: through one edge fully open, above 0 [m3/s], at the pressure drop rated_drop.
    rated_drop: above 0 [Pa]. supply, tank: pressures above that of the surroundings [Pa].
    """

    rated_flow: float = field(kw_only=True)
    rated_drop: float = field(kw_only=True)
    supply: float = field(kw_only=True)
    tank: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("rated_flow", "rated_drop", "supply", "tank"):
            value = _checks.parameter("cylinder", name, getattr(self, name), f"Valve: {name}")
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Cylinder(Force):
    """A double-acting hydraulic cylinder along the line from P to Q, of the length l, by its two pressures.

        x = l - closed_length;    V_A = dead_volume_A + area_A x;    V_B = dead_volume_B + area_B (stroke - x)
        dp_A/dt = beta / V_A (q_A - area_A dx/dt - leakage (p_A - p_B))
        dp_B/dt = beta / V_B (q_B + area_B dx/dt + leakage (p_A - p_B));    F = area_A p_A - area_B p_B

    >>> ram = fm.Cylinder(
    ...     "ram", model.ground.at(0, 0, 2), spring.Q, area_A=2e-3, area_B=1.5e-3, stroke=0.5, closed_length=0.6,
    ...     dead_volume_A=1e-5, dead_volume_B=1e-5, valve=fm.Valve(rated_flow=1e-3, rated_drop=35e5, supply=2e7))

    P, Q: points on two different bodies, of the barrel and of the rod. F pushes them apart.
    area_A, area_B: of the piston in chamber A behind it, and in B around the rod, above 0 [m2].
    stroke: above 0 [m]. closed_length: l at x = 0, at least 0 [m]. dead_volume_A, dead_volume_B: above 0 [m3].
    bulk_modulus: beta, above 0 [Pa]. leakage: past the piston, at least 0 [m3/(s.Pa)].
    pressure_A, pressure_B: start values [Pa], as all pressures above that of the surroundings.
    vapour: the pressure below which the oil cavitates [Pa]. A step ends there, and a CavitationWarning tells the first
        chamber and the time; the law goes on as it is.
    valve: an fm.Valve; without one the flows are inputs.
    flow_A, flow_B: start values of the inputs NAME.flow_A and NAME.flow_B, into the chambers [m3/s].
    opening: with a valve, start value of the input NAME.opening, u, which is cut to -1 .. 1; u > 0 connects A to the
        supply and B to the tank, u < 0 the other way round.

    An edge with the pressure drop dp passes u rated_flow s(dp / rated_drop), s(z) = z/(z^2 + 1e-6)^(1/4): the
    orifice's square root, laminar below a thousandth of rated_drop. Steps end where u passes -1, 0 and 1.

    States: pressure_A, pressure_B. Outputs: length l, position x, force F, power F dl/dt [W], cavitation, which is 0,
    or 1, 2 or 3 while p_A, p_B or both are below vapour, and with a valve flow_A and flow_B. The energy of its oil is
    part of solver.energy. All but the start values are tunable. At rest, as in fm.equilibrium, shut chambers keep their
    oil; flows that are inputs count as none. The ends of the stroke stop nothing: give an fm.Spring between the same
    points an fm.Stop.

    Raises ModelError for numbers out of range, and for two points on one body.
    """

    P: Point
    Q: Point
    area_A: float = field(kw_only=True)
    area_B: float = field(kw_only=True)
    stroke: float = field(kw_only=True)
    closed_length: float = field(kw_only=True)
    dead_volume_A: float = field(kw_only=True)
    dead_volume_B: float = field(kw_only=True)
    bulk_modulus: float = field(default=1.4e9, kw_only=True)
    leakage: float = field(default=0.0, kw_only=True)
    vapour: float = field(default=-1e5, kw_only=True)
    pressure_A: float = field(default=0.0, kw_only=True)
    pressure_B: float = field(default=0.0, kw_only=True)
    flow_A: float = field(default=0.0, kw_only=True)
    flow_B: float = field(default=0.0, kw_only=True)
    valve: Valve | None = field(default=None, kw_only=True)
    opening: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _two_bodies(self)
        sizes = ("area_A", "area_B", "stroke", "closed_length", "dead_volume_A", "dead_volume_B")
        for name in (*sizes, "bulk_modulus", "leakage", "vapour"):
            self._store(name, _checks.parameter("cylinder", name, getattr(self, name), self._where(name)))
        for name in ("pressure_A", "pressure_B", "flow_A", "flow_B", "opening"):
            self._store(name, _checks.number(getattr(self, name), self._where(name)))
        if self.valve is not None and not isinstance(self.valve, Valve):
            raise ModelError(f"{self._where('valve')} is a {type(self.valve).__name__}. Give an fm.Valve.")
        for name in ("opening",) if self.valve is None else ("flow_A", "flow_B"):
            if getattr(self, name) != 0.0:
                other = "without a valve" if self.valve is None else "beside a valve, which makes it"
                raise ModelError(f"{self._where(name)} is given {other}. Leave it out.")

    @property
    def inputs(self) -> tuple[str, ...]:
        """The fields that are start values of inputs of their own."""
        return ("flow_A", "flow_B") if self.valve is None else ("opening",)


@dataclass(frozen=True)
class Contact(Force):
    """Contact of a shape A with a surface B, on two bodies.

    >>> floor = fm.Plane(model.ground.at())
    >>> law = fm.Press(1e6, restitution=0.6, speed=1.0)
    >>> box = fm.Box(slider.M, (0.1, 0.1, 0.1))
    >>> model.add(fm.Contact("rests", box, floor, law, fm.Coulomb(0.4, stiffness=1e6)))

    A: an fm.Sphere, fm.Ellipsoid, fm.Disc, fm.Capsule, fm.Box or fm.Hull on a plane; a sphere or a disc on a road; a
        sphere elsewhere.
    B: an fm.Plane or fm.Road, and what is behind it touches it, however deep; an fm.Sphere, or an fm.Hollow about A.
    normal: an fm.Press or fm.Hertz. friction: an fm.Coulomb; None for none.

    A box and a hull touch with each of their corners by itself, a capsule with its ends: gap [m], normal and friction
    [N], slip [m/s] and state have one component for each such spot, and point [m] three. force: on A, in world axes
    [N]. state: 0 without contact, 1 where it sticks or has no friction, 2 where it slips. Among the states, z [m] has
    three components for each spot, in the axes of B's point. What overlaps and bristles store is part of solver.energy.
    Integration steps end where contact begins and ends, sticks and slips. At rest, as in fm.equilibrium, bristles hold
    the places that they have at the start.

    On a road A touches at one spot. A sphere has only one, as the radius of every valley must be larger than its own.
    Of a disc the same is asked, and it has only one while it rolls upright; where it leans until it lies on more than
    one spot of the road, the spot nearest to the foot of its centre is taken.

    Raises ModelError for other pairs, for valleys that are too narrow, and for two shapes on one body.
    """

    A: Shape
    B: Surface
    normal: Press | Hertz
    friction: Coulomb | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks_of_pair(self)
        if not isinstance(self.normal, Press | Hertz):
            what = type(self.normal).__name__
            raise ModelError(f"{self._where('normal')} is a {what}. Give an fm.Press or an fm.Hertz.")
        if not (self.friction is None or isinstance(self.friction, Coulomb)):
            what = type(self.friction).__name__
            raise ModelError(f"{self._where('friction')} is a {what}. Give an fm.Coulomb, or None.")

    @property
    def ends(self) -> tuple[Point, ...]:
        """The points that its shapes are about."""
        return (self.A.at, self.B.at)


@dataclass(frozen=True)
class Tyre(Contact):
    """A wheel that rolls on a tyre: an fm.Contact of a disc with a plane or a road, and slip in place of friction.

    >>> upright = fm.Rotation.about("x", -1.5707963267948966)
    >>> rim, road = fm.Disc(slider.M.body.at(rotation=upright), 0.3), fm.Road(model.ground.at(), [(0, 0), (90, 0.1)])
    >>> slip = {"mu": 0.9, "slip_stiffness": (8e4, 6e4), "relaxation": (0.15, 0.3)}
    >>> model.add(fm.Tyre("front", rim, road, fm.Press(2e5, damping=0.4), **slip))

    A: an fm.Disc, whose z is the wheel's axis: the wheel goes ahead along this axis times the normal of the surface,
        so along x if its axis is along y on a plane across z. B: an fm.Plane or fm.Road, on any body.
    normal: an fm.Press or fm.Hertz: N = stiffness x (1 + damping dx/dt) for the deflection x. A damper of d N.s/m at
        the load N0 is damping = d/N0.
    mu: of the friction circle, at least 0. slip_stiffness: (2,) force ahead and aside for each unit of slip, above 0
        [N]; aside it is the cornering stiffness [N/rad]. relaxation: (2,) lengths, above 0 [m].
    damping: of the tread at standstill, above 0 [N.s/m]; by default half of what is critical for the wheel's mass.

    In each of the two directions the tread is a spring K = slip_stiffness/relaxation that the slip s deflects, and that
    rolls off with the speed V of the wheel's centre ahead:

        T = K z + D dz/dt,   dz/dt = s - |V| z/relaxation;   |T| <= mu N: force T;
        beyond it: force mu N T/|T|, dz/dt = (force - K z)/D,   1/D = 1/damping + 20 |V|/slip_stiffness

    A constant slip has the force slip_stiffness s/|V| up to mu N. A change of it acts within the relaxation length,
    less than a twentieth of it at once. At standstill the tread is a spring, which holds a vehicle on a slope without
    creep. It never gives energy that it did not take. The slip is that of the point in the middle of the deflection,
    so a tyre rolls freely on its radius less half of that.

    Outputs are those of fm.Contact, and tread [N]: the force on the wheel ahead and aside. z [m] is ahead, aside, 0.

    Limits: forces grow linearly up to the circle, and depend on the load through mu N alone; there is no self-aligning
    moment, no camber thrust, no turn slip, no rolling resistance (an fm.Law on the hub gives one), and one spot of
    contact. Waves of the road that are shorter than the patch, some 0.1 m, are felt more than by a real tyre. The
    wheel must not lie flat, where it has no direction ahead.

    Raises ModelError for other shapes than a disc on a plane or a road.
    """

    friction: None = field(default=None, init=False)
    mu: float = field(kw_only=True)
    slip_stiffness: tuple[float, float] = field(kw_only=True)
    relaxation: tuple[float, float] = field(kw_only=True)
    damping: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.A, Disc) and isinstance(self.B, Plane | Road)):
            what = f"A is a {type(self.A).__name__} and B a {type(self.B).__name__}"
            raise ModelError(f"{self.title}: {what}. Give an fm.Disc as A, and an fm.Plane or fm.Road as B.")
        store(self, "mu", _checks.parameter("contact", "mu", self.mu, self._where("mu")))
        for name in ("slip_stiffness", "relaxation"):
            pair = _checks.numbers(getattr(self, name), 2, self._where(name))
            places = (self._where(f"{name}[{k}]") for k in range(2))
            values = (_checks.parameter("contact", name, *one) for one in zip(pair, places, strict=True))
            store(self, name, tuple(values))
        if self.damping is not None:
            what = self._where("damping")
            store(self, "damping", _checks.parameter("contact", "tangential_damping", self.damping, what))


def _checks_of_pair(one: Contact) -> None:
    if not isinstance(one.A, SHAPES):
        names = ", ".join(f"fm.{shape.__name__}" for shape in SHAPES)
        raise ModelError(f"{one._where('A')} is a {type(one.A).__name__}. Give one of {names}.")
    if not isinstance(one.B, Plane | Road | Sphere | Hollow):
        what = type(one.B).__name__
        raise ModelError(f"{one._where('B')} is a {what}. Give an fm.Plane, fm.Road, fm.Sphere or fm.Hollow.")
    touching = SHAPES if isinstance(one.B, Plane) else (Sphere, Disc) if isinstance(one.B, Road) else (Sphere,)
    if not isinstance(one.A, touching):
        what = f"the {type(one.A).__name__} A and the {type(one.B).__name__} B"
        other = "sphere or a disc" if isinstance(one.B, Road) else "sphere"
        raise ModelError(f"{one.title}: contact of {what} is not known. Give a {other} as A, or a plane as B.")
    if isinstance(one.B, Road) and isinstance(one.A, Sphere | Disc):
        x, bend = one.B.sharpest
        if bend * one.A.radius >= 1.0:
            raise ModelError(
                f"{one._where('A')} has the radius {one.A.radius:g} m, but the road's valley at x = {x:g} m has "
                f"{1.0 / bend:g} m, so it would touch at two spots. Give a smaller radius or a smoother road."
            )
    if isinstance(one.A, Sphere) and isinstance(one.B, Hollow) and one.A.radius >= one.B.radius:
        raise ModelError(
            f"{one._where('A')} has the radius {one.A.radius:g} m, too large for the hollow of {one.B.radius:g} m. "
            "Give a smaller one."
        )
    if one.A.at.body.name == one.B.at.body.name:
        raise ModelError(f"{one._where('A and B')} are both on '{one.A.at.body.name}'. Give shapes of two bodies.")


def _two_bodies(one: "Spring | Actuator | Cylinder") -> None:
    """Checks the two points of an element along a line."""
    point(one.P, one._where("P"))
    point(one.Q, one._where("Q"))
    if one.P.body.name == one.Q.body.name:
        raise ModelError(
            f"{one._where('P and Q')} are both on '{one.P.body.name}', so it has no effect. "
            "Give points on two different bodies."
        )


FORCES: tuple[type[Force], ...] = (Spring, Load, Rope, Actuator, Motor, Gear, Cylinder, Contact)
"""In the image's order."""
