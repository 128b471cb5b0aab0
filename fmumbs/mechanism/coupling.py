"""Couplings of joint coordinates: gears, belts, racks, differentials.

    ratio_1 q_1 + ratio_2 q_2 + ... = offset

The coupling's multiplier, times each ratio, is the generalised force that it puts on that coordinate, between the
joint's two bodies: the teeth themselves have no place, so that no other force acts on the shafts or the housing. A
planetary gear, whose carrier turns, is a coupling of the coordinates that its joints have against the carrier.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.element import Element
from fmumbs.mechanism.joints import JointBase, Mode

Term = tuple[JointBase, float] | tuple[JointBase, int, float]


@dataclass(frozen=True)
class Coupling(Element):
    """Gears, belts, racks: a linear relation of joint coordinates that holds exactly, ratio_1 q_1 + ... = offset.

    >>> model.add(fm.Coupling.gear("gear", A, B, ratio=-2.5))  # A turns 2.5 times as fast as B, the other way
    >>> model.add(fm.Coupling.rack("rack", B, slider, radius=0.03))
    >>> model.add(fm.Coupling("differential", [(A, 1.0), (B, 1.0), (C, -2.0)]))

    terms: (joint, ratio) or (joint, mode, ratio), one or more; mode: which of the joint's modes that move, free ones
        before excited ones, counted from 1. Ratios are not zero; with coordinates in rad and m together they have
        the unit that makes the sum one.
    offset: what the sum is; by default what the joints' q0 give.

    Coupling.gear, .belt and .rack make the usual ones. Output: tau[i], the generalised force that the coupling puts
    on the i-th coordinate [N.m] or [N], positive where it drives M against F.

    Raises ModelError for something that is no joint, for a ball, for a coordinate that occurs twice, and where no
    coordinate is free. Balls and nonholonomic joints have no coordinates that could be coupled.
    """

    terms: Sequence[Term]
    offset: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        given = tuple(self.terms) if isinstance(self.terms, Iterable) else ()
        if not given:
            raise ModelError(f"{self._where('terms')} are none. Give (joint, ratio), such as (A, 1.0), (B, -2.5).")
        self._store("terms", tuple(self._term(i, term) for i, term in enumerate(given)))
        places = [(joint.name, mode) for joint, mode, _ in self.coordinates]
        for i, place in enumerate(places):
            if place in places[:i]:
                raise ModelError(
                    f"{self._where('terms')} name joint '{place[0]}', mode {place[1]}, twice. Add them up."
                )
        if all(moving(joint)[mode - 1].role == "excited" for joint, mode, _ in self.coordinates):
            raise ModelError(f"{self._where('terms')} are all excited, so nothing can follow. Couple a free joint.")
        if self.offset is not None:
            self._store("offset", _checks.number(self.offset, self._where("offset")))

    def _term(self, index: int, term: object) -> tuple[JointBase, int, float]:
        where = f"{self._where('terms')}[{index + 1}]"
        if not isinstance(term, tuple | list) or len(term) not in (2, 3) or not isinstance(term[0], JointBase):
            raise ModelError(f"{where} is {term!r}. Give (joint, ratio) or (joint, mode, ratio).")
        joint, ratio, mode = term[0], _checks.number(term[-1], f"{where}: ratio"), term[1] if len(term) == 3 else 1
        if ratio == 0.0:
            raise ModelError(f"{where}: ratio is zero, so joint '{joint.name}' is not coupled. Leave it out.")
        if joint.velocity_rows:
            raise ModelError(
                f"{where} is joint '{joint.name}', whose positions do not follow from its velocities alone. "
                "Couple another joint."
            )
        there = [m.kind != "ball" for m in moving(joint)]
        count = there.index(False) if False in there else len(there)
        if not isinstance(mode, int) or not 1 <= mode <= count:
            mend = f"Give a mode from 1 to {count}." if count else "Couple another joint."
            raise ModelError(
                f"{where}: mode {mode!r} of joint '{joint.name}' is not one of the {count} that have a position of "
                f"one number. {mend}"
            )
        return joint, mode, ratio

    @property
    def coordinates(self) -> tuple[tuple[JointBase, int, float], ...]:
        """(joint, mode, ratio) of each term, mode counted from 1."""
        return tuple((term[0], term[1] if len(term) == 3 else 1, float(term[-1])) for term in self.terms)

    @property
    def constant(self) -> float:
        """The offset, or what the joints' starts give."""
        if self.offset is not None:
            return self.offset
        return sum(ratio * start(joint, mode) for joint, mode, ratio in self.coordinates)

    @classmethod
    def gear(cls, name: str, A: JointBase, B: JointBase, *, ratio: float, offset: float | None = None) -> "Coupling":
        """A pair of gears: A's angle is `ratio` times B's, but for the offset.

        ratio: teeth of B over teeth of A; negative where A and B turn about parallel axes and mesh from outside.
        """
        return cls(name, ((A, 1.0), (B, -_checks.number(ratio, f"Coupling '{name}': ratio"))), offset=offset)

    @classmethod
    def belt(
        cls, name: str, A: JointBase, B: JointBase, *, radii: Sequence[float], offset: float | None = None
    ) -> "Coupling":
        """A belt or chain round two pulleys: radii[0] times A's angle is radii[1] times B's, but for the offset.

        radii: two, positive [m]. For a crossed belt turn one of the axes about, or use a gear.
        """
        first, second = _checks.numbers(radii, 2, f"Coupling '{name}': radii", (0.1, 0.2))
        first = _checks.positive(first, f"Coupling '{name}': radii[1]")
        second = _checks.positive(second, f"Coupling '{name}': radii[2]")
        return cls(name, ((A, first), (B, -second)), offset=offset)

    @classmethod
    def rack(
        cls, name: str, pinion: JointBase, rack: JointBase, *, radius: float, offset: float | None = None
    ) -> "Coupling":
        """Rack and pinion: the rack's slide is `radius` [m] times the pinion's angle, but for the offset.

        radius: of the pinion, negative where the rack moves the other way.
        """
        radius = _checks.number(radius, f"Coupling '{name}': radius")
        for joint, linear in ((pinion, False), (rack, True)):
            if isinstance(joint, JointBase) and moving(joint) and moving(joint)[0].linear != linear:
                kind = "slides" if not linear else "turns"
                raise ModelError(
                    f"Coupling '{name}': joint '{joint.name}' {kind}. Give one that turns, then one that slides."
                )
        return cls(name, ((rack, 1.0), (pinion, -radius)), offset=offset)


def moving(joint: JointBase) -> tuple[Mode, ...]:
    """The modes of a joint that move, in the order of its variables: free ones, then excited ones."""
    return (*joint.free_modes, *joint.excited_modes)


def start(joint: JointBase, mode: int) -> float:
    """The position of a mode at the start, counted from 1 as in a Coupling."""
    free = len(joint.free_modes)
    if mode <= free:
        return joint.start_positions[mode - 1]
    return joint.excited_modes[mode - 1 - free].prescribed()[0]
