"""Cams: a joint's position as a function of another joint's, held as a constraint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.coupling import Coupling, Term
from fmumbs.mechanism.joints import JointBase
from fmumbs.mechanism.path import Path

_CLOSES = 1e-9  # of the largest value: what the ends of a periodic table may differ by

Profile = Path | Sequence[Sequence[float]]


@dataclass(frozen=True)
class Cam(Coupling):
    """A cam and its follower: the position of joint B is a function f of that of joint A, and this holds exactly.

        q_B = offset + scale f(q_A - phase)

    >>> model.add(fm.Cam("valve", hinge, slider, fm.Path.cam(0.01, rise=1.2, fall=1.2, period=6.283185307179586)))
    >>> model.add(fm.Cam("slot", A, B, [(0.0, 0.0), (1.0, 0.02), (3.0, 0.05), (6.0, 0.0)], periodic=True))

    A, B: joints in the spanning tree, usually one that turns and one that slides; mode_A, mode_B: the numbers of their
        modes, from 1.
    profile: f, as a Path over A's position [rad] or [m] in place of the time, such as Path.cam with angles in place of
        durations, or as a table of at least two points (position of A, value of f), with increasing positions.
    periodic: of a table, whether f repeats after its last point, which has the value of the first one. A table that
        does not repeat goes on straight beyond its ends.
    offset: B's position where f is zero [rad] or [m]; phase: A's position at which f is entered at zero [rad] or [m];
        scale: factor of f. All three are parameters; one that is set in a run moves the mechanism at once to the
        nearest position in the mass norm, and its velocities to the nearest that the new profile allows.

    Between the points of a table f is the cubic spline: natural, or periodic. Its second derivative is continuous, as
    that of a Path must be: else accelerations of the follower would jump.

    The follower never leaves the cam: where tau[1] changes its sign, a spring would have to press it on. Outputs:
    tau[1], the generalised force of the profile on B, and tau[2] = -scale f' tau[1] on A [N.m] or [N], so that the cam
    takes no power; power, that of tau[1] [W]. As with fm.Coupling they act between the two bodies of each joint.

    Raises ModelError for an empty table, positions that do not increase, a periodic table whose ends differ, a path
    whose second derivative jumps, a scale of zero, and a cam that is its own follower.
    """

    terms: Sequence[Term] = field(init=False, repr=False, compare=False)
    belt_drive: bool = field(init=False, default=False, repr=False, compare=False)
    offset: float = field(default=0.0, kw_only=True)
    A: JointBase
    B: JointBase
    profile: Profile
    mode_A: int = field(default=1, kw_only=True)
    mode_B: int = field(default=1, kw_only=True)
    periodic: bool = field(default=False, kw_only=True)
    phase: float = field(default=0.0, kw_only=True)
    scale: float = field(default=1.0, kw_only=True)
    path: Path = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for end in ("A", "B"):
            if not isinstance(getattr(self, end), JointBase):
                raise ModelError(f"{self._where(end)} is {_checks.shown(getattr(self, end))}. Give a joint.")
        if (self.A.name, self.mode_A) == (self.B.name, self.mode_B):
            raise ModelError(f"{self._where('A and B')} are both joint '{self.A.name}'. Give two joints.")
        self._store("terms", ((self.B, self.mode_B, 1.0), (self.A, self.mode_A, -1.0)))
        super().__post_init__()
        for name in ("offset", "phase", "scale"):
            self._store(name, _checks.parameter("coupling", name, getattr(self, name), self._where(name)))
        self._store("periodic", _checks.flag(self.periodic, self._where("periodic")))
        self._store("path", self._path())

    def _path(self) -> Path:
        """The profile as a path over A's position."""
        where = self._where("profile")
        if not isinstance(self.profile, Path):
            return _spline(_points(self.profile, where), self.periodic, where)
        if self.periodic and not self.profile.period:
            raise ModelError(
                f"{self._where('periodic')} is true, but the profile is a Path without a period. Give it a period."
            )
        if self.profile.continuity < 2:
            raise ModelError(
                f"{where} is a Path with continuity={self.profile.continuity}, so that the follower's acceleration may "
                "jump. Give one whose second derivative is continuous, such as a cubic spline through a table."
            )
        return self.profile

    @property
    def constant(self) -> float:
        return 0.0

    def ratios(self, positions: Sequence[float]) -> tuple[float, ...]:
        return 1.0, -self.scale * self.path(positions[1] - self.phase)[1]


def _points(table: Any, where: str) -> list[tuple[float, ...]]:
    """Rows (x, y) of a table whose x increase."""
    rows = [
        _checks.numbers(row, 2, f"{where}[{i + 1}]")
        for i, row in enumerate(_checks.items(table, where, "Give points such as (0.0, 0.0), (1.0, 0.02)."))
    ]
    if len(rows) < 2:
        raise ModelError(f"{where} has {len(rows)} points, but must have at least 2. Give (position of A, value).")
    for i, (one, other) in enumerate(pairwise(rows)):
        if other[0] <= one[0]:
            raise ModelError(
                f"{where}[{i + 2}] is at {other[0]:g}, not above the point before, {one[0]:g}. "
                "Sort the points by the position of A, each position once."
            )
    return rows


@_checks.in_range("Cam: profile")
def _spline(rows: list[tuple[float, ...]], periodic: bool, where: str) -> Path:
    """The cubic spline through points: periodic, or natural with straight ends."""
    from scipy.interpolate import CubicSpline

    x, y = zip(*rows, strict=True)
    if not periodic:
        curve = CubicSpline(x, y, bc_type="natural")
        slopes = [float(curve(at, 1)) for at in (x[0], x[-1])]
        pieces = [curve.c[::-1, i].tolist() for i in range(len(x) - 1)]
        before = x[0] - (x[-1] - x[0])
        start = (y[0] - slopes[0] * (x[0] - before), slopes[0])
        return Path((before, *x), (start, *pieces, (y[-1], slopes[1])))
    if abs(y[-1] - y[0]) > _CLOSES * max(map(abs, y)):
        raise ModelError(
            f"{where} is periodic, but ends at {y[-1]:g} and not where it begins, at {y[0]:g}. "
            "Give the last point the value of the first, one period later."
        )
    return Path.from_scipy(CubicSpline(x, (*y[:-1], y[0]), bc_type="periodic"))
