"""What a body looks like beside its mass: a colour, how opaque it is, and triangles from files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TypedDict

from fmumbs import _checks
from fmumbs._checks import Vec3
from fmumbs.errors import ModelError
from fmumbs.mechanism.triangles import Triangles, read_triangles
from fmumbs.spatial import Rotation, Transform

_COLOUR = re.compile(r"#(?:[0-9a-fA-F]{3}){1,2}")


def colour(value: object, what: str) -> str | None:
    """#rrggbb of "#rgb" or "#rrggbb"; None stays. Raises ModelError for another value."""
    if value is None:
        return None
    if not isinstance(value, str) or not _COLOUR.fullmatch(value):
        raise ModelError(f"{what} is {value!r}, which is not a colour. Give one such as '#8aa' or '#88aaaa'.")
    digits = value[1:].lower()
    return f"#{digits}" if len(digits) == 6 else "#" + "".join(2 * one for one in digits)


def opacity(value: object, what: str) -> float:
    """A number above 0, up to 1. Raises ModelError for another value."""
    found = _checks.positive(value, what)
    if found > 1.0:
        raise ModelError(f"{what} is {found:g}, above 1, which is opaque. Give a number from 0 to 1.")
    return found


@dataclass(frozen=True)
class Mesh:
    """Triangles that a body is drawn with: `Mesh("link.stl", scale=0.001, color="#8aa")`.

    file: .stl, .obj, .glb or another file that trimesh reads (`pip install 'fmumbs[mesh]'`).
    scale: of the file's unit [m]: 0.001 for a file in mm.
    color: "#rgb" or "#rrggbb"; None for the body's. opacity: above 0, up to 1.
    at, rotation: pose of the file's frame in the body's frame [m].

    Raises ModelError for a file that cannot be read or has no triangles.
    """

    file: str | PathLike[str]
    scale: float = field(kw_only=True)
    color: str | None = field(default=None, kw_only=True)
    opacity: float = field(default=1.0, kw_only=True)
    at: Vec3 = field(default=(0.0, 0.0, 0.0), kw_only=True)
    rotation: Rotation | None = field(default=None, kw_only=True)
    triangles: Triangles = field(init=False, repr=False)

    def __post_init__(self) -> None:
        where = f"Mesh '{fspath(self.file)}'"
        checked = {
            "file": fspath(self.file),
            "scale": _checks.size(self.scale, f"{where}: scale"),
            "color": colour(self.color, f"{where}: color"),
            "opacity": opacity(self.opacity, f"{where}: opacity"),
            "at": _checks.vector(self.at, f"{where}: at"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "triangles", read_triangles(self.file, self.scale))

    @property
    def in_body(self) -> Triangles:
        """The triangles in the body's frame [m]."""
        return self.triangles.moved(Transform(self.rotation, self.at))


class Look(TypedDict, total=False):
    """Arguments of every body: its colour, its opacity, and meshes in place of its shape."""

    color: str | None
    opacity: float
    visual: Sequence[Mesh]


def meshes(value: object, what: str) -> tuple[Mesh, ...]:
    """A tuple of Mesh. Raises ModelError for another value."""
    if isinstance(value, Sequence) and all(isinstance(one, Mesh) for one in value):
        return tuple(value)
    raise ModelError(f"{what} is {value!r}, which is not a list of meshes. Give [fm.Mesh('link.stl', scale=0.001)].")
