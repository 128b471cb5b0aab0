"""What a body looks like beside its mass: a colour, how opaque it is, and triangles from files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Self, TypedDict, Unpack

import numpy as np

from fmumbs import _checks
from fmumbs._checks import Vec3
from fmumbs.errors import ModelError
from fmumbs.mechanism import primitives
from fmumbs.mechanism.triangles import Triangles, read_triangles
from fmumbs.spatial import Rotation, Transform

_COLOUR = re.compile(r"#(?:[0-9a-fA-F]{3}){1,2}")


def colour(value: object, what: str) -> str | None:
    """#rrggbb of "#rgb" or "#rrggbb"; None stays. Raises ModelError for another value."""
    if value is None:
        return None
    if not isinstance(value, str) or not _COLOUR.fullmatch(value):
        raise ModelError(
            f"{what} is {_checks.shown(value)}, which is not a colour. Give one such as '#8aa' or '#88aaaa'."
        )
    digits = value[1:].lower()
    return f"#{digits}" if len(digits) == 6 else "#" + "".join(2 * one for one in digits)


def opacity(value: object, what: str) -> float:
    """A number above 0, up to 1. Raises ModelError for another value."""
    found = _checks.positive(value, what)
    if found > 1.0:
        raise ModelError(f"{what} is {found:g}, above 1, which is opaque. Give a number from 0 to 1.")
    return found


class Placed(TypedDict, total=False):
    """Colour and pose of a Mesh."""

    color: str | None
    opacity: float
    at: Vec3
    rotation: Rotation | None


@dataclass(frozen=True)
class Mesh:
    """Triangles that a body is drawn with: `Mesh("link.stl", scale=0.001, color="#8aa")`.

    file: .stl, .obj, .glb or another file that trimesh reads (`pip install 'fmumbs[mesh]'`).
    scale: of the file's unit [m]: 0.001 for a file in mm; or three numbers, along x, y, z, below 0 for a mirror.
    color: "#rgb" or "#rrggbb"; None for the body's. opacity: above 0, up to 1.
    at, rotation: pose of the file's frame in the body's frame [m].

    Mesh.box(), Mesh.cylinder(), Mesh.capsule() and Mesh.ellipsoid() need no file; `at` is their centre.

    Raises ModelError for a file that cannot be read or has no triangles.
    """

    file: str | PathLike[str]
    scale: float | Sequence[float] = field(kw_only=True)
    color: str | None = field(default=None, kw_only=True)
    opacity: float = field(default=1.0, kw_only=True)
    at: Vec3 = field(default=(0.0, 0.0, 0.0), kw_only=True)
    rotation: Rotation | None = field(default=None, kw_only=True)
    triangles: Triangles = field(init=False, repr=False)

    def __post_init__(self) -> None:
        file = str(_checks.path(self.file, "Mesh: file"))
        where = f"Mesh '{file}'"
        checked = {
            "file": file,
            "scale": _scale(self.scale, f"{where}: scale"),
            "color": colour(self.color, f"{where}: color"),
            "opacity": opacity(self.opacity, f"{where}: opacity"),
            "at": _checks.vector(self.at, f"{where}: at"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "triangles", read_triangles(file, self.scale))

    @classmethod
    def of_triangles(cls, name: str, triangles: Triangles, **placed: Unpack[Placed]) -> Self:
        """Of triangles [m]. name: in place of the file's. placed: as for box()."""
        where = f"Mesh '{name}'"
        made = object.__new__(cls)
        values = {
            "file": name,
            "scale": 1.0,
            "color": colour(placed.get("color"), f"{where}: color"),
            "opacity": opacity(placed.get("opacity", 1.0), f"{where}: opacity"),
            "at": _checks.vector(placed.get("at", (0.0, 0.0, 0.0)), f"{where}: at"),
            "rotation": placed.get("rotation"),
            "triangles": triangles,
        }
        for name_, value in values.items():
            object.__setattr__(made, name_, value)
        return made

    @classmethod
    def box(cls, size: Sequence[float], **placed: Unpack[Placed]) -> Self:
        """A cuboid with edges of `size` (3,) [m] along its axes. placed: color, opacity, at, rotation."""
        sizes = _checks.vector(size, "Mesh.box: size", (0.1, 0.1, 0.1))
        for edge in sizes:
            _checks.size(edge, "Mesh.box: size")
        return cls.of_triangles("box", primitives.box(sizes), **placed)

    @classmethod
    def cylinder(cls, radius: float, length: float, **placed: Unpack[Placed]) -> Self:
        """A cylinder of `radius` and `length` along z [m]. placed: as for box()."""
        radius, length = (_checks.size(v, f"Mesh.cylinder: {n}") for v, n in ((radius, "radius"), (length, "length")))
        return cls.of_triangles("cylinder", primitives.cylinder(radius, length), **placed)

    @classmethod
    def capsule(cls, radius: float, length: float, **placed: Unpack[Placed]) -> Self:
        """A cylinder of `length` along z [m] with half a ball of `radius` on each end. placed: as for box()."""
        radius, length = (_checks.size(v, f"Mesh.capsule: {n}") for v, n in ((radius, "radius"), (length, "length")))
        return cls.of_triangles("capsule", primitives.capsule(radius, length), **placed)

    @classmethod
    def ellipsoid(cls, radii: Sequence[float], **placed: Unpack[Placed]) -> Self:
        """An ellipsoid with semi-axes `radii` (3,) [m] along x, y, z. placed: as for box()."""
        semi = _checks.vector(radii, "Mesh.ellipsoid: radii", (0.1, 0.1, 0.1))
        for radius in semi:
            _checks.size(radius, "Mesh.ellipsoid: radii")
        return cls.of_triangles("ellipsoid", primitives.ellipsoid(semi), **placed)

    @property
    def in_body(self) -> Triangles:
        """The triangles in the body's frame [m]."""
        return self.triangles.moved(Transform(self.rotation, self.at))


def _scale(value: object, what: str) -> float | Vec3:
    """One positive number, or three that are not zero."""
    if np.ndim(value) == 0:  # type: ignore[arg-type]
        return _checks.size(value, what)
    x, y, z = _checks.vector(value, what, (0.001, 0.001, 0.001))
    for one in (x, y, z):
        _checks.size(abs(one), what)
    return x, y, z


class Look(TypedDict, total=False):
    """Arguments of every body: its colour, its opacity, meshes in place of its shape, and its Euler angles."""

    color: str | None
    opacity: float
    visual: Sequence[Mesh]
    euler: str | None


def meshes(value: object, what: str) -> tuple[Mesh, ...]:
    """A tuple of Mesh. Raises ModelError for another value."""
    if isinstance(value, Sequence) and all(isinstance(one, Mesh) for one in value):
        return tuple(value)
    raise ModelError(
        f"{what} is {_checks.shown(value)}, which is not a list of meshes. Give [fm.Mesh('link.stl', scale=0.001)]."
    )
