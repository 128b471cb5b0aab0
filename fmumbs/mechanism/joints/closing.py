"""Joints that only close loops: defined by constraint rows, without coordinates of their own.

With p the position of M's origin relative to F's,

    along           f . p = value           f fixed in F
    distance        |p| = value
    perpendicular   f . g = value           g fixed in M
    rolling         f . v = 0, and contact  the lowest point of a disc or ball along F's z does not slide, and touches

and of programs the components along f or g of velocities and angular velocities (core/loops/velocity_rows.c).

RevoluteSpherical is a massless rod with a hinge at F and a ball at M; Distance is a massless rod between two balls.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from fmumbs import _checks
from fmumbs._checks import Axis, Vec3
from fmumbs.errors import ModelError
from fmumbs.mechanism.joints.base import JointBase
from fmumbs.mechanism.joints.mode import Mode

RowKind = Literal[
    "along", "perpendicular", "distance", "speed", "speed_M", "spin", "spin_M", "twist", "twist_M", "rolling", "contact"
]
ClosingRow = tuple[RowKind, Vec3, Vec3, float]  # f in F's axes, g in M's, value [m] or 1

_NONE: Vec3 = (1.0, 0.0, 0.0)  # placeholder in a row without that vector


@dataclass(frozen=True)
class Closing(JointBase):
    """Base of the joints that only close loops. They have reactions like every joint, but no applied forces."""

    _laws = ()
    _instead: ClassVar[str] = "Leave it out: the joint has no coordinate."

    @property
    def rows(self) -> tuple[ClosingRow, ...]:
        """The constraint rows: kind, f in F's axes, g in M's axes, value."""
        raise NotImplementedError

    @property
    def modes(self) -> tuple[Mode, ...]:
        return ()

    @property
    def start_positions(self) -> tuple[float, ...]:
        return ()

    @property
    def start_velocities(self) -> tuple[float, ...]:
        return ()

    def _store_length(self, value: float) -> None:
        length = _checks.number(value, self._where("length"))
        if not length > 0.0:
            raise ModelError(f"{self._where('length')} is {length:g} m, but must be positive. For 0 use a Spherical.")
        self._store("length", length)


@dataclass(frozen=True)
class Distance(Closing):
    """The origins of F and M stay `length` [m] apart, as by a massless rod between two balls.

    length: [m], positive.

    Raises ModelError unless length is positive.
    """

    length: float = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._store_length(self.length)

    @property
    def rows(self) -> tuple[ClosingRow, ...]:
        return (("distance", _NONE, _NONE, self.length),)


@dataclass(frozen=True)
class RevoluteSpherical(Closing):
    """M's origin moves on a circle about F's axis: a massless rod with a hinge at F and a ball at M.

    axis: of the hinge in F's axes, perpendicular to the rod. length: of the rod [m], positive.
    """

    length: float = field(kw_only=True)
    axis: Axis = field(default="z", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._store_length(self.length)
        self._store("axis", _checks.axis(self.axis, self._where("axis")))

    @property
    def rows(self) -> tuple[ClosingRow, ...]:
        axis = _checks.axis(self.axis, "axis")
        return ("along", axis, _NONE, 0.0), ("distance", _NONE, _NONE, self.length)


@dataclass(frozen=True)
class PointOnLine(Closing):
    """M's origin stays on the line through F's origin along an axis.

    axis: "x", "y", "z", one of these with a minus sign, or three numbers, in F's axes.
    """

    axis: Axis = field(default="z", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._store("axis", _checks.axis(self.axis, self._where("axis")))

    @property
    def rows(self) -> tuple[ClosingRow, ...]:
        axis = np.array(_checks.axis(self.axis, "axis"))
        first = np.cross(axis, np.eye(3)[int(np.abs(axis).argmin())])
        first /= np.sqrt(first @ first)
        return tuple(("along", _vector(v), _NONE, 0.0) for v in (first, np.cross(axis, first)))


@dataclass(frozen=True)
class PointOnPlane(Closing):
    """M's origin stays at a height above the plane through F's origin.

    normal: of the plane, "x", "y", "z", one of these with a minus sign, or three numbers, in F's axes. height: along
    the normal [m].
    """

    normal: Axis = field(default="z", kw_only=True)
    height: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._store("normal", _checks.axis(self.normal, self._where("normal")))
        self._store("height", _checks.number(self.height, self._where("height")))

    @property
    def rows(self) -> tuple[ClosingRow, ...]:
        return (("along", _checks.axis(self.normal, "normal"), _NONE, self.height),)


@dataclass(frozen=True)
class Rolling(Closing):
    """A thin disc or a ball rolls without slip on the plane of x and y of F: `Rolling(name, F, M, radius=, axis=)`.

    M: at its centre. radius: [m], positive. axis: of the disc in M's axes; None for a ball. contact: False leaves out
    that it touches the plane, where other joints keep it there. It cannot lift off: its reaction tells where it would.

    Raises ModelError unless radius is positive.
    """

    radius: float = field(kw_only=True)
    axis: Axis | None = field(default="y", kw_only=True)
    contact: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._store("radius", _checks.positive(self.radius, self._where("radius")))
        self._store("axis", None if self.axis is None else _checks.axis(self.axis, self._where("axis")))
        self._store("contact", _checks.flag(self.contact, self._where("contact")))

    @property
    def rows(self) -> tuple[ClosingRow, ...]:
        axis = _NONE if self.axis is None else _checks.axis(self.axis, "axis")
        size = -self.radius if self.axis is None else self.radius
        touching: tuple[ClosingRow, ...] = (("contact", (0.0, 0.0, 1.0), axis, size),) if self.contact else ()
        return (*touching, ("rolling", (1.0, 0.0, 0.0), axis, size), ("rolling", (0.0, 1.0, 0.0), axis, size))


def _vector(values: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> Vec3:
    x, y, z = values.tolist()
    return x, y, z
