"""Scene: the constant part of a picture, as plain data that JSON can hold.

All that moves with a body is given in that body's frame, so that poses of the bodies, and the modal coordinates of
flexible ones, place everything. An image carries its model's scene, with numbers of nine digits.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from json.encoder import encode_basestring_ascii
from operator import attrgetter
from types import UnionType
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

from fmumbs._checks import Vec3

GROUND = -1

Kind = Literal["box", "cylinder", "ellipsoid"]
Row6 = tuple[float, float, float, float, float, float]
Quaternion = tuple[float, float, float, float]

UPRIGHT: Quaternion = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Place:
    """A frame on a body.

    body: its index, GROUND for the ground. at: origin in the body's frame [m]. axes: quaternion w x y z of its axes in
    the body's. shapes: (modes, 6) on a flexible body: translation and rotation vector by each modal coordinate, in the
    body's axes, of the cross-section that the place is fixed to, `arm` away from whose centre it is [m].
    """

    body: int
    at: Vec3 = (0.0, 0.0, 0.0)
    axes: Quaternion = UPRIGHT
    shapes: tuple[Row6, ...] = ()
    arm: Vec3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Shape:
    """A solid with its centre at `at` [m] and axes `axes` in the body's frame.

    size: (3,) full extents along its own axes [m]; a cylinder's axis is its x. A zero stands for a thickness that the
    model does not have, as of a thin rod, or of a point mass.
    """

    kind: Kind
    size: Vec3
    at: Vec3 = (0.0, 0.0, 0.0)
    axes: Quaternion = UPRIGHT


@dataclass(frozen=True)
class Centreline:
    """The axis of a flexible body, by points; its modal coordinates q displace point i by the sum of q[k] shapes[k][i].

    points: (n, 3) in the undeformed body [m]. shapes: (modes, n, 3) in the body's axes. radius: [m], or 0.
    """

    points: tuple[Vec3, ...]
    shapes: tuple[tuple[Vec3, ...], ...]
    radius: float = 0.0


@dataclass(frozen=True)
class MeshLook:
    """Triangles in the body's frame, in base64, little-endian 16-bit numbers.

    corners: (n, 3), in parts of 65535 of `size` from `low` [m]. faces: (m, 3) indices of corners, counterclockwise as
    seen from outside. colour: "#rrggbb", "" for the body's. opacity: 0 to 1.
    """

    corners: str
    faces: str
    low: Vec3
    size: Vec3
    colour: str = ""
    opacity: float = 1.0


@dataclass(frozen=True)
class SkinLook:
    """The surface of a flexible body, whose modal coordinates displace its corners: corners, faces, low and size as of
    a MeshLook.

    shapes: (modes, n, 3) what a unit of each coordinate moves the corners in the body's axes, in base64 of signed
    little-endian 16-bit numbers, in parts of 32767 of `reach` (modes,) [1].
    """

    corners: str
    faces: str
    low: Vec3
    size: Vec3
    shapes: str
    reach: tuple[float, ...]


@dataclass(frozen=True)
class BodyLook:
    """A body: its shape as it was given, or the ellipsoid of its mass and inertia; and its centre of mass [m].

    colour: "#rrggbb", "" for the next of a list. opacity: 0 to 1. meshes: drawn in place of the shape.

    links: ends of thin lines from the centre of mass to the joints and points of a body without a shape of its own [m].
    line, skin: of a flexible body, one of them. Nothing at all for the massless target of a program. part_of: the
    flexible link.
    """

    name: str
    shape: Shape | None = None
    com: Vec3 = (0.0, 0.0, 0.0)
    links: tuple[Vec3, ...] = ()
    line: Centreline | None = None
    part_of: str = ""
    colour: str = ""
    opacity: float = 1.0
    meshes: tuple[MeshLook, ...] = ()
    skin: SkinLook | None = None

    @property
    def is_seen(self) -> bool:
        """Whether anything of it is drawn."""
        return any(one is not None for one in (self.shape, self.line, self.skin)) or bool(self.meshes)


@dataclass(frozen=True)
class Symbol:
    """One motion that a joint allows, or a surface that it keeps to, drawn at F or at M.

    kind: "turn" about and "slide" along `axis`, "helix" both; "ball"; "weld"; "rod" from F to M; "line" through F along
    axis; "plane" through F with the normal `axis`; "disc" at M about axis and "sphere" at M, both of radius `size` [m].
    "motor": what drives the motion along or about `axis`, beside the joint.
    axis: unit vector in the axes of that frame. prescribed: it moves as a path or an input says.
    """

    kind: Literal["turn", "slide", "helix", "ball", "weld", "rod", "line", "plane", "disc", "sphere", "motor"]
    on: Literal["F", "M"] = "M"
    axis: Vec3 = (0.0, 0.0, 1.0)
    size: float = 0.0
    prescribed: bool = False


@dataclass(frozen=True)
class JointLook:
    """A joint: its frames and its symbols; none for one that only measures."""

    name: str
    F: Place
    M: Place
    symbols: tuple[Symbol, ...] = ()


@dataclass(frozen=True)
class PointLook:
    """A named point: BODY.POINT."""

    name: str
    P: Place


@dataclass(frozen=True)
class SpringLook:
    """A spring and damper between two points; which of the two it has.

    shortest, longest: where a stop on its length is, a buffer or a rope [m].
    """

    name: str
    P: Place
    Q: Place
    stiff: bool = True
    damped: bool = False
    shortest: float | None = None
    longest: float | None = None


@dataclass(frozen=True)
class ViaLook:
    """Where a rope passes: a point; or a pulley of `radius` [m] about `axis`, a unit vector in the place's axes, which
    carries it. turn: 1 if it runs around it by the right-hand rule about the axis, -1 if not, 0 the shorter way.
    """

    P: Place
    radius: float = 0.0
    axis: Vec3 = (0.0, 0.0, 1.0)
    turn: float = 0.0


@dataclass(frozen=True)
class RopeLook:
    """A rope: its points and pulleys in order."""

    name: str
    vias: tuple[ViaLook, ...]


@dataclass(frozen=True)
class StopLook:
    """The ends of the range of a joint's mode that slides or turns.

    joint: its index. on: the frame of the joint, F or M, that has `axis`, a unit vector, the mode's. lower, upper: [m]
    or [rad]. A mode that slides is at (M - F) along the axis. One that turns is at the angle about the axis from
    `zero`, a unit vector in the same frame, to `hand`, a vector in the other frame.
    """

    name: str
    joint: int
    on: Literal["F", "M"]
    axis: Vec3
    zero: Vec3 | None = None
    hand: Vec3 | None = None
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True)
class TermLook:
    """A coordinate in a coupling: the joint's index, the mode's axis in its frame F or M, and the ratio."""

    joint: int
    ratio: float
    on: Literal["F", "M"]
    axis: Vec3
    slides: bool = False


@dataclass(frozen=True)
class CouplingLook:
    """A relation of coordinates: gears, or a belt on wheels whose radii are the ratios [m]; or a cam, of whose second
    coordinate `profile` has positions, and the positions of the first one there.
    """

    name: str
    terms: tuple[TermLook, ...]
    belt: bool = False
    profile: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class LoadLook:
    """A load at a point: the force [N] and torque [N.m] that it starts with, in the world's axes, or if it is a
    follower in those of the place.
    """

    name: str
    P: Place
    force: Vec3
    torque: Vec3
    follower: bool = False


@dataclass(frozen=True)
class CurveLook:
    """The path of a programmed point, as points in a frame [m]."""

    name: str
    frame: Place
    points: tuple[Vec3, ...]


@dataclass(frozen=True)
class GroundLook:
    """What contacts touch: the plane across the z of its place, or a road, whose height z is drawn by lines from point
    to point.

    profile: (n, 2) x and z in the axes of the place [m]; none of a plane.
    """

    P: Place
    profile: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class ContactLook:
    """A contact, whose force is drawn where it acts. spots: how many it has."""

    name: str
    spots: int = 1


@dataclass(frozen=True)
class Scene:
    """A mechanism's picture without its motion.

    bodies: all, in the image's order; joints: in the model's. gravity: [m/s2] in the world. length: the model's
    characteristic length [m].
    """

    name: str
    bodies: tuple[BodyLook, ...] = ()
    joints: tuple[JointLook, ...] = ()
    points: tuple[PointLook, ...] = ()
    springs: tuple[SpringLook, ...] = ()
    loads: tuple[LoadLook, ...] = ()
    curves: tuple[CurveLook, ...] = ()
    stops: tuple[StopLook, ...] = ()
    couplings: tuple[CouplingLook, ...] = ()
    ropes: tuple[RopeLook, ...] = ()
    grounds: tuple[GroundLook, ...] = ()
    contacts: tuple[ContactLook, ...] = ()
    gravity: Vec3 = (0.0, 0.0, 0.0)
    length: float = 1.0

    def to_json(self) -> str:
        """Compact JSON, the same for the same scene; fields with their default values are left out."""
        return _text(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The scene of to_json(), but for digits beyond the ninth."""
        kind: Any = cls
        made: Self = _maker(kind)(json.loads(text))
        return made


def _text(value: Any) -> str:
    """JSON of a value; of a dataclass without the fields that have their default values."""
    kind: Any = type(value)
    simple = _SIMPLE.get(kind)
    if simple is not None:
        return simple(value)
    if kind is tuple:
        return _numbers(value) if value and type(value[0]) is float else f"[{','.join(map(_text, value))}]"
    keys, defaults, values_of = _fields(kind)
    parts = []
    for key, default, one in zip(keys, defaults, values_of(value), strict=True):
        if one is default or one == default:
            continue
        simple = _SIMPLE.get(type(one))
        parts.append(key + (_text(one) if simple is None else simple(one)))
    return "{" + ",".join(parts) + "}"


@lru_cache(4096)  # most vectors of a mechanism repeat
def _numbers(values: tuple[float, ...]) -> str:
    return f"[{','.join([repr(_short(value)) for value in values])}]"


@cache
def _fields(kind: type) -> tuple[Sequence[str], Sequence[Any], Callable[[Any], tuple[Any, ...]]]:
    """Keys and defaults of the fields, and what returns the values of all."""
    names = [one.name for one in fields(kind)]
    return [f'"{name}":' for name in names], [one.default for one in fields(kind)], attrgetter(*names)


def _short(value: float) -> float | int:
    if value.is_integer() and abs(value) < 1e15:
        return int(value)
    return float(f"{value:.9g}")


_SIMPLE: dict[type, Callable[[Any], str]] = {
    str: encode_basestring_ascii,
    int: repr,
    float: lambda value: repr(_short(value)),
    bool: json.dumps,
    type(None): json.dumps,
}


@cache
def _maker(kind: Any) -> Callable[[Any], Any]:
    """What makes a value of a type from what json.loads() returns."""
    if isinstance(kind, UnionType):
        some = _maker(get_args(kind)[0])
        return lambda value: None if value is None else some(value)
    if get_origin(kind) is tuple:
        each = _maker(get_args(kind)[0])
        return lambda value: tuple(map(each, value))
    if hasattr(kind, "__dataclass_fields__"):
        parts = {name: _maker(hint) for name, hint in get_type_hints(kind).items()}
        return lambda value: kind(**{name: parts[name](one) for name, one in value.items()})
    return float if kind is float else lambda value: value
