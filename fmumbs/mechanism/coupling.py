"""Couplings of joint coordinates: gears, belts, racks, differentials.

    ratio_1 q_1 + ratio_2 q_2 + ... = offset

The coupling's Lagrange multiplier, times each ratio, is the generalised force on that coordinate, which acts between
the joint's two bodies. The teeth have no position in space, so no other force acts on the shafts or the housing. In a
planetary gear, couple the coordinates of the joints with respect to the carrier.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.element import Element
from fmumbs.mechanism.joints import JointBase, Mode

Term = tuple[JointBase, float] | tuple[JointBase, int, float]


def scalar_mode(joint: JointBase, mode: object, where: str) -> Mode:
    """A mode by its number from 1. Raises ModelError for one that has no scalar position, by `where`."""
    if joint.velocity_rows:
        raise ModelError(
            f"{where} is joint '{joint.name}', whose positions do not follow from its velocities alone. "
            "Take another joint."
        )
    modes = moving(joint)
    there = [m.kind != "ball" for m in modes]
    count = there.index(False) if False in there else len(there)
    if not isinstance(mode, int) or not 1 <= mode <= count:
        fix = f"Give a mode from 1 to {count}." if count else "Take another joint."
        raise ModelError(
            f"{where}: mode {mode!r} of joint '{joint.name}' does not exist; the joint has {count} with a scalar "
            f"position. {fix}"
        )
    return modes[mode - 1]


@dataclass(frozen=True)
class Coupling(Element):
    """Gears, belts, racks: a linear relation of joint coordinates that holds exactly, ratio_1 q_1 + ... = offset.

    >>> model.add(fm.Coupling.gear("gear", A, B, ratio=-2.5))  # A turns 2.5 times as fast as B, the other way
    >>> model.add(fm.Coupling.rack("rack", B, slider, radius=0.03))
    >>> model.add(fm.Coupling("differential", [(A, 1.0), (B, 1.0), (C, -2.0)]))

    terms: (joint, ratio) or (joint, mode, ratio), one or more; mode: number of the joint's mode from 1, free modes
        before excited ones. A ratio is not zero. If some coordinates are in rad and others in m, the ratios carry
        units such that all terms have the same one.
    offset: value of the sum; by default the value at the joints' q0.
    belt_drive: whether pictures show a belt on two wheels, whose radii are the ratios [m]; other pairs of joints that
        turn are shown as gears.

    Coupling.gear, .belt and .rack make the usual ones. Output: tau[i], the generalised force on the i-th coordinate
    [N.m] or [N], positive if it drives M with respect to F.

    Raises ModelError for a term that is not a joint, a ball or nonholonomic joint (which have no scalar coordinates),
    a coordinate that occurs twice, and terms that are all excited.
    """

    terms: Sequence[Term]
    offset: float | None = field(default=None, kw_only=True)
    belt_drive: bool = field(default=False, kw_only=True)
    level: ClassVar[int] = 0  # of programs: 1, it couples velocities, 2, accelerations

    def __post_init__(self) -> None:
        super().__post_init__()
        given = _checks.items(self.terms, self._where("terms"), "Give (joint, ratio), such as (A, 1.0), (B, -2.5).")
        if not given:
            raise ModelError(f"{self._where('terms')} is empty. Give (joint, ratio), such as (A, 1.0), (B, -2.5).")
        self._store("terms", tuple(self._term(i, term) for i, term in enumerate(given)))
        places = [(joint.name, mode) for joint, mode, _ in self.coordinates]
        for i, place in enumerate(places):
            if place in places[:i]:
                raise ModelError(
                    f"{self._where('terms')} has joint '{place[0]}', mode {place[1]}, twice. Add the two ratios."
                )
        if all(moving(joint)[mode - 1].role == "excited" for joint, mode, _ in self.coordinates):
            raise ModelError(f"{self._where('terms')}: all modes are excited, none is free. Couple a free joint.")
        if self.offset is not None:
            self._store("offset", _checks.number(self.offset, self._where("offset")))

    def _term(self, index: int, term: object) -> tuple[JointBase, int, float]:
        where = f"{self._where('terms')}[{index + 1}]"
        if not isinstance(term, tuple | list) or len(term) not in (2, 3) or not isinstance(term[0], JointBase):
            raise ModelError(f"{where} is {_checks.shown(term)}. Give (joint, ratio) or (joint, mode, ratio).")
        joint, ratio, mode = term[0], _checks.number(term[-1], f"{where}: ratio"), term[1] if len(term) == 3 else 1
        if ratio == 0.0:
            raise ModelError(f"{where}: ratio is zero, so joint '{joint.name}' is not coupled. Leave it out.")
        scalar_mode(joint, mode, where)
        return joint, mode, ratio

    @property
    def coordinates(self) -> tuple[tuple[JointBase, int, float], ...]:
        """(joint, mode, ratio) of each term, mode counted from 1."""
        return tuple((term[0], term[1] if len(term) == 3 else 1, float(term[-1])) for term in self.terms)

    @property
    def constant(self) -> float:
        """The offset, by default the sum at the joints' q0."""
        if self.offset is not None:
            return self.offset
        return sum(ratio * start(joint, mode) for joint, mode, ratio in self.coordinates)

    def ratios(self, positions: Sequence[float]) -> tuple[float, ...]:
        """The rate of each term's coordinate in that of the sum, at the positions of the coordinates."""
        return tuple(ratio for _, _, ratio in self.coordinates)

    @classmethod
    def gear(cls, name: str, A: JointBase, B: JointBase, *, ratio: float, offset: float | None = None) -> "Coupling":
        """A pair of gears: A's angle is `ratio` times B's, plus the offset.

        name, offset: as for Coupling. A, B: joints that turn.
        ratio: teeth of B over teeth of A; negative where A and B turn about parallel axes and mesh from outside.
        """
        return cls(name, ((A, 1.0), (B, -_checks.number(ratio, f"Coupling '{name}': ratio"))), offset=offset)

    @classmethod
    def belt(
        cls, name: str, A: JointBase, B: JointBase, *, radii: Sequence[float], offset: float | None = None
    ) -> "Coupling":
        """A belt or chain on two pulleys: radii[0] times A's angle is radii[1] times B's, plus the offset.

        name, offset: as for Coupling. A, B: joints that turn.
        radii: two, positive [m]. For a crossed belt reverse one of the axes, or use a gear with a negative ratio.
        """
        first, second = _checks.numbers(radii, 2, f"Coupling '{name}': radii", (0.1, 0.2))
        first = _checks.positive(first, f"Coupling '{name}': radii[1]")
        second = _checks.positive(second, f"Coupling '{name}': radii[2]")
        return cls(name, ((A, first), (B, -second)), offset=offset, belt_drive=True)

    @classmethod
    def rack(
        cls, name: str, pinion: JointBase, rack: JointBase, *, radius: float, offset: float | None = None
    ) -> "Coupling":
        """Rack and pinion: the rack's displacement is `radius` [m] times the pinion's angle, plus the offset.

        name, offset: as for Coupling. pinion: a joint that turns; rack: one that slides.
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
    """The modes of a joint that move, in the order of its variables: free modes, then excited ones."""
    return (*joint.free_modes, *joint.excited_modes)


def start(joint: JointBase, mode: int) -> float:
    """The initial position of a mode, numbered from 1 as in a Coupling."""
    free = len(joint.free_modes)
    if mode <= free:
        return joint.start_positions[mode - 1]
    return joint.excited_modes[mode - 1 - free].prescribed()[0]
