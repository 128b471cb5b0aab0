"""Piecewise polynomial force laws: a force on a free mode of a joint, or in a spring.

A law divides the plane of position x and velocity v into rectangles, the pieces. In each of them

    f(x, v) = sum_ij c[i][j] (x - origin)^i v^j,       i <= 5, j <= 3;       f = 0 outside of all pieces.

On a joint f drives M with respect to F, as tau does: x = q, v = qd. On a spring f adds to the spring's tension: x is
the length, v its rate. When x or v crosses a bound, the integrator stops there and restarts.

A stop with a restitution exerts what holds its coordinate, and at an impact an impulse (core/motion/impacts.c).

The force may jump at a velocity bound. If the forces on both sides drive v towards the bound, as for a brake, the law
sticks: v stays at the bound, and f takes the value between the two that keeps it there, until it leaves that range.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np

from fmumbs import _checks
from fmumbs._limits import LAW_POWERS
from fmumbs.errors import ModelError
from fmumbs.mechanism.element import Element
from fmumbs.mechanism.forces import Spring
from fmumbs.mechanism.joints import JointBase

POSITIONS, VELOCITIES = LAW_POWERS


@dataclass(frozen=True)
class Piece:
    """A polynomial for lower <= x < upper and v_lower <= v < v_upper.

    coefficients: (6, 4) or less, c[i][j] of (x - origin)^i v^j; a flat list is c[i][0]. A force [N] or torque [N.m].
    lower, upper: of the position x [m] or [rad]; v_lower, v_upper: of the velocity v [m/s] or [rad/s]; unbounded by
        default. origin: of the powers of x [m] or [rad].

    Raises ModelError for bounds in the wrong order and for more than 6 rows or 4 columns.
    """

    coefficients: Sequence[Sequence[float]]
    lower: float = field(default=-math.inf, kw_only=True)
    upper: float = field(default=math.inf, kw_only=True)
    v_lower: float = field(default=-math.inf, kw_only=True)
    v_upper: float = field(default=math.inf, kw_only=True)
    origin: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", _table(self.coefficients))
        object.__setattr__(self, "origin", _checks.number(self.origin, "Piece: origin"))
        for low, high in (("lower", "upper"), ("v_lower", "v_upper")):
            for bound in (low, high):
                value = getattr(self, bound)
                if np.ndim(value) or value not in (math.inf, -math.inf):
                    object.__setattr__(self, bound, _checks.number(value, f"Piece: {bound}"))
            if not getattr(self, low) < getattr(self, high):
                raise ModelError(
                    f"Piece: {high} is {getattr(self, high):g}, not above {low}, which is {getattr(self, low):g}. "
                    "Give a range."
                )

    def holds(self, x: float, v: float) -> bool:
        """Whether (x, v) is in the piece."""
        return self.lower <= x < self.upper and self.v_lower <= v < self.v_upper

    def force(self, x: float, v: float) -> float:
        """The value of the polynomial at x and v [N] or [N.m], also outside of the piece."""
        away = x - self.origin
        return sum(c * away**i * v**j for i, row in enumerate(self.coefficients) for j, c in enumerate(row) if c)


@dataclass(frozen=True)
class ForceLaw(Element, ABC):
    """Base of the laws: `(name, on, ...)`.

    on: a joint or a spring of the model. mode: number of the joint's free mode, from 1.
    scale: factor of the force, at least 0. scaled: adds the input `scale_in`, a further factor, which is 1 at first;
        below 0 it counts as 0.
    breakaway: at least 1, the factor by which the forces that the law can hold while it sticks exceed those of sliding,
        about the middle of these.

    Variables of a law L: L.force, L.slip (0 while it sticks, else 1), and the parameters L.scale and L.breakaway.
    """

    _passes_on = "every law"
    hard: ClassVar[bool] = False  # whether velocities jump at it

    on: JointBase | Spring
    mode: int = field(default=1, kw_only=True)
    scale: float = field(default=1.0, kw_only=True)
    scaled: bool = field(default=False, kw_only=True)
    breakaway: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._store("scale", _checks.parameter("law", "scale", self.scale, self._where("scale")))
        self._store("scaled", _checks.flag(self.scaled, self._where("scaled")))
        self._store("breakaway", _checks.parameter("law", "breakaway", self.breakaway, self._where("breakaway")))
        if isinstance(self.on, Spring):
            count, what = 1, "a spring"
        elif isinstance(self.on, JointBase):
            if self.on.velocity_rows:
                raise ModelError(f"{self._where('on')} is '{self.on.name}', which is nonholonomic. Use a Load.")
            scalar = [mode.kind != "ball" for mode in self.on.free_modes]
            count = scalar.index(False) if False in scalar else len(scalar)
            what = f"a {type(self.on).__name__} joint"
        else:
            raise ModelError(f"{self._where('on')} is a {type(self.on).__name__}. Give a joint or a spring.")
        if not isinstance(self.mode, int) or not 1 <= self.mode <= count:
            fix = f"Give one from 1 to {count}." if count else "Choose another joint."
            raise ModelError(
                f"{self._where('mode')} is {self.mode!r}, but {what} has {count} with a scalar position. {fix}"
            )

    @property
    @abstractmethod
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces, which do not overlap."""

    def force(self, x: float, v: float = 0.0) -> float:
        """The force at the position x and velocity v [N] or [N.m], with its scale."""
        return self.scale * sum(piece.force(x, v) for piece in self.pieces if piece.holds(x, v))


@dataclass(frozen=True)
class Law(ForceLaw):
    """A force that is a function of the position and velocity of a joint or a spring, added by `model.add(law)`.

    >>> model.add(fm.Law.brake("brake", hinge, 0.5))  # dry friction of 0.5 N.m, which sticks at rest
    >>> model.add(fm.Law.table("bumper", slider, [0.0, 0.1, 0.2], [0.0, -50.0, -400.0], smooth=True))
    >>> model.add(fm.Law.damper("shock", spring, [-1.0, 0.0, 1.0], [-300.0, 0.0, 900.0]))
    >>> model.add(fm.Law.polynomial("cubic", hinge, [0.0, -10.0, 0.0, -200.0]))  # -10 q - 200 q^3

    on: a joint, where the force [N] or torque [N.m] drives M with respect to F as tau does, x = q and v = qd; or a
        spring, where it adds to the tension, x is the length and v its rate.
    mode: number of the joint's free mode, from 1.
    pieces: polynomials, each for a range of x and v; the force is zero outside of all of them.

    Where the force jumps against the velocity, as for a brake, the law sticks until the force needed exceeds the jump,
    times `breakaway`. Its force is part of J.wrench, not of J.reaction. scale, scaled, breakaway and the variables: as
    for every ForceLaw.

    Raises ModelError for pieces that overlap, and for a mode without a scalar position, such as a ball.
    """

    pieces: tuple[Piece, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        pieces = _checks.items(self.pieces, self._where("pieces"), "Give a list of Piece.")
        if not pieces or not all(isinstance(piece, Piece) for piece in pieces):
            raise ModelError(f"{self._where('pieces')} are {_checks.shown(pieces)}. Give a list of Piece.")
        self._store("pieces", pieces)
        self._check_overlaps()

    @classmethod
    def polynomial(
        cls,
        name: str,
        on: JointBase | Spring,
        coefficients: Sequence[Sequence[float]],
        *,
        mode: int = 1,
        scale: float = 1.0,
        scaled: bool = False,
    ) -> "Law":
        """One polynomial for all positions and velocities.

        coefficients: as for Piece. name, on, mode, scale, scaled: as for every law.
        """
        return cls(name, on, mode=mode, scale=scale, scaled=scaled, pieces=(Piece(coefficients),))

    @classmethod
    def table(
        cls,
        name: str,
        on: JointBase | Spring,
        positions: Sequence[float],
        forces: Sequence[float],
        *,
        mode: int = 1,
        smooth: bool = False,
        scale: float = 1.0,
        scaled: bool = False,
    ) -> "Law":
        """Linear interpolation of forces (n,) at increasing positions (n,); the outer lines extrapolate.

        positions [m] or [rad], forces [N] or [N.m].
        smooth: monotone cubics (SciPy's PchipInterpolator) instead of lines, extrapolated by lines with the slopes at
        the ends. name, on, mode, scale, scaled: as for every law.
        """
        x, f = _points(f"Law '{name}'", "positions", positions, forces)
        if smooth:
            return cls(name, on, mode=mode, scale=scale, scaled=scaled, pieces=_smooth(x, f))
        bounds = (-math.inf, *x[1:-1], math.inf)
        lines = [(f[i], (f[i + 1] - f[i]) / (x[i + 1] - x[i])) for i in range(len(x) - 1)]
        pieces = [
            Piece([[f0], [slope]], lower=low, upper=high, origin=at)
            for (f0, slope), (low, high), at in zip(lines, pairwise(bounds), x[:-1], strict=True)
        ]
        return cls(name, on, mode=mode, scale=scale, scaled=scaled, pieces=tuple(pieces))

    @classmethod
    def damper(
        cls,
        name: str,
        on: JointBase | Spring,
        velocities: Sequence[float],
        forces: Sequence[float],
        *,
        mode: int = 1,
        scale: float = 1.0,
        scaled: bool = False,
    ) -> "Law":
        """Linear interpolation of forces (n,) at increasing velocities (n,); the outer lines extrapolate.

        velocities [m/s] or [rad/s], forces [N] or [N.m]. name, on, mode, scale, scaled: as for every law.
        """
        v, f = _points(f"Law '{name}'", "velocities", velocities, forces)
        bounds = (-math.inf, *v[1:-1], math.inf)
        slopes = [(f[i + 1] - f[i]) / (v[i + 1] - v[i]) for i in range(len(v) - 1)]
        pieces = [
            Piece([[f0 - slope * v0, slope]], v_lower=low, v_upper=high)
            for slope, f0, v0, (low, high) in zip(slopes, f[:-1], v[:-1], pairwise(bounds), strict=True)
        ]
        return cls(name, on, mode=mode, scale=scale, scaled=scaled, pieces=tuple(pieces))

    @classmethod
    def brake(
        cls,
        name: str,
        on: JointBase | Spring,
        force: float,
        *,
        mode: int = 1,
        scale: float = 1.0,
        scaled: bool = False,
        breakaway: float = 1.0,
    ) -> "Law":
        """Dry friction of a constant force [N] or [N.m], at least 0, against the velocity; it sticks at rest.

        breakaway: the force at which it begins to slide is this factor times `force`. name, on, mode, scale, scaled:
        as for every law.
        """
        force = _checks.not_negative(force, f"Law '{name}': force")
        rising = force if isinstance(on, Spring) else -force  # tension is positive
        pieces = (Piece([[-rising]], v_upper=0.0), Piece([[rising]], v_lower=0.0))
        return cls(name, on, mode=mode, scale=scale, scaled=scaled, breakaway=breakaway, pieces=pieces)

    def _check_overlaps(self) -> None:
        low, high, v_low, v_high = (
            np.array([getattr(p, bound) for p in self.pieces]) for bound in ("lower", "upper", "v_lower", "v_upper")
        )
        shared = np.maximum.outer(low, low) < np.minimum.outer(high, high)
        shared &= np.maximum.outer(v_low, v_low) < np.minimum.outer(v_high, v_high)
        first, second = np.nonzero(np.triu(shared, 1))
        if len(first):
            raise ModelError(
                f"{self._where('pieces')}[{first[0] + 1}] and [{second[0] + 1}] overlap. Give each its own range."
            )


@dataclass(frozen=True)
class Stop(ForceLaw):
    """A stop at the ends of a range, elastic or with impacts; it pushes back and never holds what returns.

    >>> model.add(fm.Stop("end", slider, lower=-0.5, upper=0.5, stiffness=1e5, damping=200.0))
    >>> model.add(fm.Stop("floor", slider, lower=0.0, restitution=0.6))
    >>> model.add(fm.Stop("rope", spring, upper=2.0, stiffness=1e5))  # pulls where it is longer than 2 m

    on: a joint, whose position q is stopped; or a spring, whose length l is: `upper` makes a rope, `lower` a buffer.
    lower, upper: ends of the range [rad] or [m], at least one.
    stiffness: above 0 [N.m/rad] or [N/m], of an elastic stop. damping: at least 0 [N.m.s/rad] or [N.s/m], only while it
    goes further. Beyond upper the force is

        -stiffness (q - upper) - damping max(qd, 0),

    as tau acts, or of a spring the tension stiffness (l - upper) + damping max(dl/dt, 0).

    restitution: instead of a stiffness, e from 0 to 1. The position never passes an end: where it comes to one,
    velocities jump at that instant, by impulses of all stops that are touched, with the constraints of loops,

        qd+ = -e qd-    (Newton's law).

    Of several stops at one instant those with an impulse follow it, and the others leave no slower than by their own e
    (Moreau's complementarity problem). So no energy is gained, whatever the restitutions, unless a stop that is touched
    but being left has an impulse, which keeps it there. Where that would gain energy in all, the jump lies between that
    of e = 0 for all stops and that of Newton's law, as near to this as gains none. Stops that leave no room to rebound,
    as two that hold one freedom from both sides, have e = 0 for that instant. A row of balls that touch is struck at
    once, and parts together: give them gaps for impacts one after the other. A series of ever shorter flights ends at
    rest: the stop is closed, and exerts the force that holds the coordinate until it would have to pull. damping,
    scale, scaled and breakaway are of elastic stops alone.

    Variables with a restitution: S.closed (1 at the upper end, -1 at the lower, 0 open), S.force while it is closed,
    S.impulse [N.m.s] or [N.s] of the last impact, signed as the force, S.impacts, S.loss [J] that all of them took,
    S.rested [s], the time at which the last series ends, -1 before; and the parameter S.restitution.

    limits= of a joint makes a stop. What rests on a stop with a restitution is an equilibrium, with the force of the
    stop; fm.linearize locks the joint of one that is closed; fm.sensitivities go through impacts at one stop at a time;
    load paths and steady motions refuse it.

    Raises ModelError for a range without ends or in the wrong order, and unless either a stiffness or a restitution is
    given.
    """

    lower: float | None = field(default=None, kw_only=True)
    upper: float | None = field(default=None, kw_only=True)
    stiffness: float | None = field(default=None, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    restitution: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.stiffness is None) == (self.restitution is None):
            both = "missing" if self.stiffness is None else "given"
            raise ModelError(
                f"{self._where('stiffness and restitution')} are both {both}. "
                "Give a stiffness for an elastic stop, or a restitution from 0 to 1 for impacts."
            )
        if self.restitution is None:
            self._store("stiffness", _checks.positive(self.stiffness, self._where("stiffness")))
        else:
            self._check_impacts(self.restitution)
        self._store("damping", _checks.not_negative(self.damping, self._where("damping")))
        for end in ("lower", "upper"):
            if getattr(self, end) is not None:
                check = _checks.angle if self._turns else _checks.number
                self._store(end, check(getattr(self, end), self._where(end)))
        if self.lower is None and self.upper is None:
            raise ModelError(f"{self._where('lower and upper')} are both missing, so it never acts. Give one.")
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise ModelError(f"{self._where('upper')} is {self.upper:g}, not above lower, {self.lower:g}. Swap them.")

    def _check_impacts(self, restitution: object) -> None:
        self._store("restitution", _checks.parameter("law", "restitution", restitution, self._where("restitution")))
        for what, least in (("damping", 0.0), ("scale", 1.0), ("scaled", False), ("breakaway", 1.0)):
            if getattr(self, what) != least:
                raise ModelError(
                    f"{self._where(what)} is {getattr(self, what)!r}, but a stop with a restitution has none. Leave it "
                    "out, or give a stiffness in place of the restitution."
                )

    @property
    def hard(self) -> bool:  # type: ignore[override]
        """Whether it has a restitution."""
        return self.restitution is not None

    @property
    def _turns(self) -> bool:
        return isinstance(self.on, JointBase) and self.on.free_modes[self.mode - 1].kind == "revolute"

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return tuple(self._pieces())

    def _pieces(self) -> Iterator[Piece]:
        if self.stiffness is None:  # walls, which it does not enter
            if self.lower is not None:
                yield Piece([[0.0]], upper=self.lower, v_upper=0.0)
            if self.upper is not None:
                yield Piece([[0.0]], lower=self.upper, v_lower=0.0)
            return
        sign = -1.0 if isinstance(self.on, Spring) else 1.0  # tension is positive
        k, d = sign * self.stiffness, sign * self.damping
        if self.lower is not None:
            at = self.lower
            yield Piece([[0.0, -d], [-k]], upper=at, v_upper=0.0, origin=at)
            yield Piece([[0.0], [-k]], upper=at, v_lower=0.0, origin=at)
        if self.upper is not None:
            at = self.upper
            yield Piece([[0.0], [-k]], lower=at, v_upper=0.0, origin=at)
            yield Piece([[0.0, -d], [-k]], lower=at, v_lower=0.0, origin=at)


def stops_of(joint: JointBase) -> tuple[Stop, ...]:
    """The stops that `limits` of a joint make, named after it: JOINT_stop, or JOINT_stop1, ... of several modes."""
    given = joint.limits if isinstance(joint.limits, tuple) else (joint.limits,)
    several = len(joint.free_modes) > 1
    return tuple(
        Stop(
            f"{joint.name}_stop{k if several else ''}", joint, mode=k, lower=one.lower, upper=one.upper,
            stiffness=one.stiffness, damping=one.damping, restitution=one.restitution,
        )
        for k, one in enumerate(given, 1)
        if one is not None
    )  # fmt: skip


def _table(values: object) -> tuple[tuple[float, ...], ...]:
    """(6, 4) coefficients, padded with zeros."""
    what = "Piece: coefficients"
    fix = "Give rows of numbers, one for each power of the position."
    rows = [tuple(row) if isinstance(row, Iterable) else (row,) for row in _checks.items(values, what, fix)]
    if not 0 < len(rows) <= POSITIONS or any(len(row) > VELOCITIES for row in rows):
        raise ModelError(
            f"{what} have {len(rows)} rows of up to {max(map(len, rows), default=0)} numbers. Give at most "
            f"{POSITIONS} rows, for the powers of the position, of at most {VELOCITIES}, for those of the velocity."
        )
    rows += [()] * (POSITIONS - len(rows))
    padded = (row + (0.0,) * (VELOCITIES - len(row)) for row in rows)
    return tuple(_checks.numbers(row, VELOCITIES, f"{what}[{i + 1}]") for i, row in enumerate(padded))


def _smooth(x: tuple[float, ...], f: tuple[float, ...]) -> tuple[Piece, ...]:
    """Monotone cubics between the positions, and a line beyond each end."""
    from scipy.interpolate import PchipInterpolator

    curve = PchipInterpolator(x, f)
    cubics = [
        Piece([[c] for c in curve.c[::-1, i].tolist()], lower=low, upper=high, origin=low)
        for i, (low, high) in enumerate(pairwise(x))
    ]
    first, last = (float(curve(at, 1)) for at in (x[0], x[-1]))
    return (
        Piece([[f[0]], [first]], upper=x[0], origin=x[0]),
        *cubics,
        Piece([[f[-1]], [last]], lower=x[-1], origin=x[-1]),
    )


def _points(where: str, what: str, at: object, forces: object) -> tuple[tuple[float, ...], tuple[float, ...]]:
    items = _checks.items(at, f"{where}: {what}", "Give a list of numbers that increase.")
    x = _checks.numbers(items, len(items), f"{where}: {what}")
    if len(x) < 2 or any(b <= a for a, b in pairwise(x)):
        raise ModelError(f"{where}: {what} must be two numbers or more that increase. Sort them.")
    return x, _checks.numbers(forces, len(x), f"{where}: forces")
