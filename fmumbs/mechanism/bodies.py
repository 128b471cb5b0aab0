"""Rigid bodies, the ground, and points on them.

A body has one frame B, in which its centre of mass, its inertia's axes and its points are given. A Point is a
frame P fixed on a body, X_BP; joints, springs and loads act between points.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from os.path import basename, splitext
from typing import Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from fmumbs import _checks, _limits
from fmumbs._checks import Mat3, Vec3
from fmumbs.errors import ModelError
from fmumbs.mechanism import looks, shapes
from fmumbs.mechanism.element import Element
from fmumbs.mechanism.looks import Look, Mesh
from fmumbs.mechanism.section import Section, Slender
from fmumbs.mechanism.triangles import enclosed
from fmumbs.spatial import Rotation, SpatialInertia, Transform

VARIABLES = ("r", "quat", "v", "w", "a", "alpha", "q", "qd", "qdd", "mass", "inertia")
"""Suffixes of a body's variables. No point may have one of these names: B.r is the body's position."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A named frame of a body: name and X_BP, without the body."""

    name: str
    X_BP: Transform


@dataclass(frozen=True, repr=False, slots=True)
class Point:
    """A frame P fixed on a body or on the ground.

    body: Body or Ground; X_BP: pose of P in the body's frame; name: of its variables, None if it has none.
    """

    body: Body | Ground
    X_BP: Transform
    name: str | None = None

    def __repr__(self) -> str:
        if self.name is not None:
            return f"{self.body.name}.{self.name}"
        x, y, z = self.X_BP.offset
        turned = "" if self.X_BP.rotation == Rotation.identity() else f", rotation={self.X_BP.rotation!r}"
        return f"{self.body.name}.at({x:g}, {y:g}, {z:g}{turned})"


@dataclass(frozen=True)
class Ground:
    """The ground, which carries the world frame; the model's gravity is given in its axes."""

    name: str = "ground"

    def at(
        self,
        x: float = 0.0,
        y: float = 0.0,
        z: float = 0.0,
        *,
        rotation: Rotation | None = None,
        name: str | None = None,
    ) -> Point:
        """A point at x, y, z [m] of the world, its axes turned by `rotation` (R_WP)."""
        return _point(self, x, y, z, rotation, name)


GROUND = Ground()


@dataclass(frozen=True, init=False)
class Body(Element):
    """A rigid body: `Body(name, mass=, com=, inertia=)`.

    mass: [kg], at least 0.
    com: (3,) centre of mass in the body's frame [m].
    inertia: about the centre of mass in the body's axes [kg m2]; given as (3,) xx yy zz, (6,) xx yy zz xy xz
        yz (entries of the matrix) or (3, 3); kept as the three rows of the matrix.
    points: named frames, given as {name: (x, y, z) or Transform} or a sequence of Frame; kept as Frames.
    measured: accepts an inertia that breaks the triangle inequality, for identified data.
    slender: its shape where it is a rod, a cylinder or a box, which make_flexible() needs; None for others.
    color: "#rgb" or "#rrggbb"; None for the next of a list. opacity: above 0, up to 1.
    visual: meshes to draw in place of its shape, such as [fm.Mesh("link.stl", scale=0.001)].
    euler: makes Euler angles outputs: the axes of three turns, as "ZYX" in capital letters about axes that turn with
        the body (yaw, pitch, roll), or "xyz" about the fixed ones of the world; as Rotation.as_euler of SciPy has it.

    euler[1] to euler[3] [rad] are the angles about these axes, from -pi to pi, the second from -pi/2 to pi/2, or, where
    the first and the third axis are the same, from 0 to pi. euler_margin is the sine of the angle between these two
    axes. Where it is 0 (gimbal lock), as ZYX for a pitch of pi/2, only the sum or the difference of the first and the
    third angle is unique, and the last turn about moving axes is given as 0; near it they change fast.

    Raises ModelError for numbers that are not finite, a negative mass, an inertia that no solid has, and for no
    sequence of axes.
    """

    mass: float
    com: Vec3
    inertia: Mat3
    points: tuple[Frame, ...]
    measured: bool
    slender: Slender | None
    color: str | None
    opacity: float
    visual: tuple[Mesh, ...]
    euler: str | None

    def __init__(
        self,
        name: str,
        *,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = (0.0, 0.0, 0.0),
        points: Mapping[str, ArrayLike | Transform] | Iterable[Frame] = (),
        measured: bool = False,
        slender: Slender | None = None,
        color: str | None = None,
        opacity: float = 1.0,
        visual: Sequence[Mesh] = (),
        euler: str | None = None,
    ) -> None:
        self._store("name", name)
        super().__post_init__()
        spatial = SpatialInertia(mass, com, inertia, measured=measured, where=f"Body '{name}'")
        xx, yy, zz, xy, xz, yz = spatial.moments
        self._store("mass", spatial.mass)
        self._store("com", spatial.com)
        self._store("inertia", ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
        self._store("points", _frames(points, name))
        self._store("measured", bool(measured))
        self._store("slender", slender)
        self._store("color", looks.colour(color, self._where("color")))
        self._store("opacity", looks.opacity(opacity, self._where("opacity")))
        self._store("visual", looks.meshes(visual, self._where("visual")))
        self._store("euler", _euler(euler, self._where("euler")))

    def sequence(self) -> int:
        """The number of its Euler angles' sequence in the core, 0 for none."""
        return _limits.euler_sequence(self.euler or "")

    @classmethod
    def rod(
        cls,
        name: str,
        *,
        length: float,
        mass: float | None = None,
        density: float | None = None,
        radius: float | None = None,
        along: str = "x",
        **look: Unpack[Look],
    ) -> Self:
        """A straight rod from `base`, its frame's origin, to `tip`, `length` [m] along an axis of its frame.

        name and look (color, opacity, visual, euler): as for Body. along: "x", "y", "z" or with a minus sign. Without a
        radius [m] it is thin: no inertia about its own axis. Give mass [kg], or density [kg/m3] and radius.
        """
        properties = shapes.rod(length, radius, mass, density, f"Body.rod '{name}'")
        section = None if radius is None else Section.circle(radius)
        return cls._slender(name, float(length), properties, along, section, look)

    @classmethod
    def cylinder(
        cls,
        name: str,
        *,
        length: float,
        radius: float,
        mass: float | None = None,
        density: float | None = None,
        along: str = "x",
        **look: Unpack[Look],
    ) -> Self:
        """A solid cylinder from `base`, the centre of one end and its frame's origin, to `tip`.

        name and look (color, opacity, visual, euler): as for Body. length, radius [m]; mass [kg] or density [kg/m3].
        along: as for rod().
        """
        where = f"Body.cylinder '{name}'"
        properties = shapes.rod(length, _checks.positive(radius, f"{where}: radius"), mass, density, where)
        return cls._slender(name, float(length), properties, along, Section.circle(radius), look)

    @classmethod
    def box(
        cls,
        name: str,
        *,
        size: ArrayLike,
        mass: float | None = None,
        density: float | None = None,
        along: str = "x",
        **look: Unpack[Look],
    ) -> Self:
        """A cuboid with edges `size` = (lx, ly, lz) [m] along its frame's axes.

        name and look (color, opacity, visual, euler): as for Body. mass [kg] or density [kg/m3]. Its frame's origin,
        `base`, is the centre of one face, `tip` that of the opposite face in direction `along`: "x", "y", "z" or with
        a minus sign.
        """
        where = f"Body.box '{name}'"
        sizes = _checks.vector(size, f"{where}: size", (0.1, 0.1, 0.1))
        mass_, moments = shapes.box(sizes, mass, density, where)
        k = along_axis(along, where)[0]
        section = Section.rectangle(sizes[(k + 1) % 3], sizes[(k + 2) % 3])
        return cls._slender(name, sizes[k], (mass_, moments[k:] + moments[:k]), along, section, look)

    @classmethod
    def sphere(
        cls,
        name: str,
        *,
        radius: float,
        mass: float | None = None,
        density: float | None = None,
        **look: Unpack[Look],
    ) -> Self:
        """A solid sphere of `radius` [m]; its frame's origin is its centre. Give mass [kg] or density [kg/m3].

        name and look (color, opacity, visual, euler): as for Body.
        """
        mass_, moments = shapes.sphere(radius, mass, density, f"Body.sphere '{name}'")
        return cls(name, mass=mass_, inertia=moments, **look)

    @classmethod
    def _slender(
        cls,
        name: str,
        length: float,
        properties: shapes.Properties,
        along: str,
        section: Section | None,
        look: Look,
    ) -> Self:
        """A body that reaches from its origin along an axis; moments about that axis, then the next two."""
        mass, moments = properties
        k, sign = along_axis(along, f"Body '{name}'")
        com, tip = [0.0] * 3, [0.0] * 3
        com[k], tip[k] = sign * length / 2, sign * length
        inertia = moments[3 - k :] + moments[: 3 - k]
        frames = (Frame("base", Transform.identity()), Frame("tip", Transform(None, tip)))
        slender = Slender(length, along, section)
        return cls(name, mass=mass, com=com, inertia=inertia, points=frames, slender=slender, **look)

    @classmethod
    def from_mesh(
        cls,
        path: str | PathLike[str],
        *,
        scale: float,
        density: float | None = None,
        mass: float | None = None,
        name: str | None = None,
        hull: bool = False,
        points: Mapping[str, ArrayLike | Transform] | Iterable[Frame] = (),
        color: str | None = None,
        opacity: float = 1.0,
    ) -> Self:
        """A homogeneous solid with the surface in a file: `Body.from_mesh("link.stl", scale=0.001, density=2700)`.

        path: .stl, .obj, .glb or another file that trimesh reads (`pip install 'fmumbs[mesh]'`). scale: of its unit
        [m], 0.001 for a file in mm. Give mass [kg] or density [kg/m3]. name: by default that of the file. hull: takes
        the convex hull of a surface that is not closed. The body's frame is the file's. points, color
        and opacity: as for Body.

        Mass, centre of mass and inertia are those of the polyhedron. A surface whose triangles have their inner side
        out is turned, with a MeshWarning. Raises ModelError for a surface that is open, with the number of its open
        edges, and for a file that cannot be read.
        """
        where = f"Body.from_mesh '{fspath(path)}'"
        mesh = Mesh(path, scale=scale)
        volume, com, second = enclosed(mesh.triangles, hull, where).integrals()
        mass_ = shapes.mass_of(volume, mass, density, where)
        inertia = (np.trace(second) * np.eye(3) - second) * (mass_ / volume)
        return cls(
            splitext(basename(path))[0] if name is None else name, mass=mass_, com=com, inertia=inertia, points=points,
            color=color, opacity=opacity, visual=[mesh],
        )  # fmt: skip

    def at(
        self,
        x: float = 0.0,
        y: float = 0.0,
        z: float = 0.0,
        *,
        rotation: Rotation | None = None,
        name: str | None = None,
    ) -> Point:
        """A point at x, y, z [m] in the body's frame, its axes turned by `rotation` (R_BP).

        name: adds its position, velocity and acceleration to the variables: BODY.NAME.r, .v and .a.
        """
        return _point(self, x, y, z, rotation, name)

    def point(self, name: str) -> Point:
        """The body's named point; ModelError with the nearest name if there is none."""
        for frame in self.points:
            if frame.name == name:
                return Point(self, frame.X_BP, name)
        raise ModelError(
            f"Body '{self.name}' has no point '{name}'. "
            f"{_checks.nearest(name, [f.name for f in self.points])} "
            f"Use {self.name}.at(x, y, z) or points= for another."
        )

    @property
    def base(self) -> Point:
        """The named point where a rod, cylinder or box begins."""
        return self.point("base")

    @property
    def tip(self) -> Point:
        """The named point where a rod, cylinder or box ends."""
        return self.point("tip")

    @property
    def spatial_inertia(self) -> SpatialInertia:
        """Mass, centre of mass and inertia in the body's frame."""
        return SpatialInertia(self.mass, self.com, self.inertia, measured=self.measured)


def point(value: object, what: str) -> Point:
    """The value if it is a Point; else raises a ModelError that tells how to make one."""
    if isinstance(value, Point):
        return value
    if isinstance(value, Body | Ground):
        raise ModelError(
            f"{what} is the body '{value.name}', but must be a point on it. Give {value.name}.at(x, y, z)."
        )
    raise ModelError(
        f"{what} is a {type(value).__name__}, but must be a point. "
        "Give body.at(x, y, z), body.tip or model.ground.at(x, y, z)."
    )


def _point(body: Body | Ground, x: float, y: float, z: float, rotation: Rotation | None, name: str | None) -> Point:
    where = f"Point on '{body.name}'"
    offset = tuple(_checks.number(v, f"{where}: {n}") for n, v in (("x", x), ("y", y), ("z", z)))
    if name is not None:
        _point_name(name, where)
    return Point(body, Transform(rotation, offset), name)


def _point_name(name: str, where: str) -> str:
    _checks.name(name, where)
    if name in VARIABLES:
        raise ModelError(
            f"{where} has the name '{name}', but every body has a variable of that name. Call it '{name}_point'."
        )
    return name


def _frames(points: Mapping[str, ArrayLike | Transform] | Iterable[Frame], body: str) -> tuple[Frame, ...]:
    where = f"Point on '{body}'"
    if isinstance(points, Mapping):
        frames = tuple(Frame(name, _pose(value, f"{where}: '{name}'")) for name, value in points.items())
    else:
        frames = _checks.items(points, f"Body '{body}': points", "Give {name: (x, y, z)}.")
    for i, frame in enumerate(frames):
        if not isinstance(frame, Frame):
            raise ModelError(f"Body '{body}': points has a {type(frame).__name__}. Give {{name: (x, y, z)}}.")
        _point_name(frame.name, where)
        if any(frame.name == other.name for other in frames[:i]):
            raise ModelError(f"Body '{body}' has two points '{frame.name}'. Call one '{frame.name}2'.")
    return frames


def _pose(value: ArrayLike | Transform, what: str) -> Transform:
    return value if isinstance(value, Transform) else Transform(None, _checks.vector(value, what))


def along_axis(letter: object, where: str) -> tuple[int, float]:
    """Index and sign of a coordinate axis."""
    if not isinstance(letter, str):
        raise ModelError(f"{where}: along is a {type(letter).__name__}, but must be a letter. Give 'x', 'y' or 'z'.")
    x, y, z = _checks.axis(letter, f"{where}: along")
    k = (x, y, z).index(x + y + z)
    return k, x + y + z


def _euler(value: object, what: str) -> str | None:
    """A sequence of three axes, or None. Raises ModelError for another value."""
    if value is None:
        return None
    if isinstance(value, str) and _limits.euler_sequence(value):
        return value
    raise ModelError(
        f"{what} is {_checks.shown(value)}, which is not a sequence of three axes, none twice in a row. Give 'ZYX', "
        "about axes that turn with the body, or 'xyz', about fixed ones."
    )
