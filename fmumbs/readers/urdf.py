"""Robots in URDF.

A joint's frame F stands at `origin` in its parent link; the child link's frame is F after the joint's motion. The
inertia is about the centre of mass, in the axes of the inertial frame, which are turned into the link's. Angles rpy are
about fixed axes: R = Rz(yaw) Ry(pitch) Rx(roll).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from fmumbs import _checks, _limits
from fmumbs.errors import ModelError
from fmumbs.mechanism import (
    Coupling,
    Free,
    JointBase,
    Law,
    Limits,
    Mesh,
    Model,
    Planar,
    Point,
    Prismatic,
    Revolute,
    Spherical,
)  # fmt: skip
from fmumbs.readers import xml
from fmumbs.readers.choices import LimitsAs, Massless, add_stops, check_choice, check_choices
from fmumbs.readers.folders import Folders, NotFound
from fmumbs.readers.robots import NOTHING, Built, Connection, Draw, Inertia, Link, Report, build, finished
from fmumbs.readers.xacro import expanded
from fmumbs.spatial import Rotation, Transform

Base = Literal["fixed", "free"]
Packages = Mapping[str, str | os.PathLike[str]]

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical", "ball")
_ONE_AXIS = ("revolute", "continuous", "prismatic")
_LEFT_OUT = {
    "transmission": "has no part in the mechanics",
    "gazebo": "is for a simulator",
    "mujoco": "is for a simulator",
    "drake": "is for a simulator",
    "sensor": "is no part of the mechanics",
    "collision": "contact is not computed",
    "safety_controller": "is for a controller",
    "calibration": "is for a controller",
    "self_collision_checking": "contact is not computed",
    "verbose": "has no part in the mechanics",
    "hardware_interface": "has no part in the mechanics",
}
MESHES = (".stl", ".obj", ".glb", ".ply", ".off", ".dae")
_MOST_MESH = 2**28  # bytes
_UNIT = 1e-6  # of the length of an axis


def read_urdf(
    path: str | os.PathLike[str],
    base: Base = "fixed",
    packages: Packages = {},  # noqa: B006  (never changed)
    limits: LimitsAs = "data",
    stop_stiffness: float | None = None,
    *,
    massless: Massless = "refuse",
    meshes: bool = True,
    arguments: Mapping[str, Any] = {},
) -> Model:
    """Reads a robot from a URDF file: `fm.read_urdf("panda.urdf", packages={"panda": "robots/panda"})`.

    path: the file, .urdf or .xacro.
    base: "fixed": the root link is on the ground; "free": it moves freely, from the origin. packages: folders by the
        names of packages, for package:// and model://; others are looked for in ROS_PACKAGE_PATH and in the next few
        folders above the file. No file outside of these, and of the package that the robot is in (or of the second
        folder above its own), is read.
    limits: "data": the limits of joints are in `model.reading.limits`, and nothing stops there; "stop": an fm.Stop of
        stop_stiffness [N.m/rad] or [N/m] acts beyond them.
    massless: "refuse" a moving link if neither it nor what it carries has inertia; "fix" its joint at its start.
    meshes: False leaves out meshes from files. arguments: of the <xacro:arg> of a file .xacro, which xacrodoc expands,
        the extra fmumbs[xacro]. Its lines are those of what it expands to. It is a program: read those that you trust.

    Revolute and continuous joints become fm.Revolute, prismatic ones fm.Prismatic, floating ones fm.Free, planar ones
    fm.Planar, spherical ones fm.Spherical, with their damping, and with dry friction as an fm.Law.brake. A mimic joint
    is an fm.Coupling. Links on fixed joints are parts of the body that carries them, and named points of it. A root
    link with mass or a shape is a body on an fm.Weld, whose reaction is that of the base. Joints start at 0.

    `model.reading` tells what was taken, changed and left out, each with its line; `model.source_names` has the file's
    names by those of the model. An inertia that no solid has is taken as measured, and named there. Raises ModelError,
    with the line, for a file that cannot be read as a tree of links, and for a moving link without inertia.
    """
    file = _checks.path(path, "read_urdf: path")
    data = _read(path, file, packages, arguments)
    return read_text(file, data, base, packages, limits, stop_stiffness, massless=massless, meshes=meshes)


def _read(path: str | os.PathLike[str], file: Path, packages: Packages, arguments: Mapping[str, Any]) -> bytes:
    """The bytes of a file .urdf, or those that a file .xacro expands to."""
    if file.suffix.lower() == ".xacro":
        return expanded(file, packages, arguments)
    if _checks.mapping(arguments, "read_urdf: arguments", "Give {'name': 'value'}."):
        raise ModelError(f"arguments are for xacro, but '{path}' has the suffix {file.suffix}. Leave them out.")
    return xml.read_bytes(file)


def read_text(
    path: Path,
    data: bytes,
    base: Base = "fixed",
    packages: Packages = {},  # noqa: B006
    limits: LimitsAs = "data",
    stop_stiffness: float | None = None,
    *,
    massless: Massless = "refuse",
    meshes: bool = True,
) -> Model:
    """The robot in the text of a URDF; otherwise as read_urdf(). path: for messages, and to find its meshes."""
    check_choice("base", base, get_args(Base))
    check_choices(limits, stop_stiffness, massless)
    root, repairs = xml.parse(path, data)
    if xml.tag(root) != "robot":
        raise ModelError(f"'{path}' has the root <{xml.tag(root)}>, not <robot>, so it is not a URDF. Give a URDF.")
    report = Report(os.fspath(path))
    for line, text in repairs:
        report.row("changed", "the XML", f"was repaired: {text}", line)
    reader = _Urdf(root, report, Folders(path, packages), meshes)
    name = root.get("name") or path.stem
    links, joints = list(reader.links()), list(reader.joints())
    built = build(name, links, joints, report, base == "free", massless == "fix")
    for what in reader.later:
        what(built)
    if limits == "stop":
        add_stops(built, report, float(stop_stiffness or 0.0))
    return finished(built, report)


class _Urdf:
    """The elements of one file. later: what is added to the model once it has its bodies and joints."""

    def __init__(self, root: Any, report: Report, folders: Folders, meshes: bool) -> None:
        self.root, self.report, self.folders, self.meshes = root, report, folders, meshes
        self.later: list[Callable[[Built], None]] = []
        self.colours: dict[str, tuple[str | None, float]] = {}
        for element in xml.children(root, "material"):
            if (look := self._colour(element)) is not None:
                self.colours[element.get("name", "")] = look
        for element in root:
            if isinstance(element.tag, str) and (xml.prefixed(element) or xml.tag(element) not in _KNOWN):
                self._leave_out(element)

    def _leave_out(self, element: Any, owner: str = "") -> None:
        tag = xml.tag(element)
        name = element.get("name") or element.get("reference")
        what = f"{owner}{', ' * bool(owner)}<{tag}>{f' {name!r}' if name else ''}"
        self.report.row("left out", what, _LEFT_OUT.get(tag, "is unknown"), element.sourceline)

    # Links ----------------------------------------------------------------------------------------------------

    def links(self) -> Iterator[Link]:
        for element in xml.children(self.root, "link"):
            name = self._name(element, "link")
            what = f"link '{name}'"
            inertial, looks = None, []
            for child in xml.children(element):
                tag = "" if xml.prefixed(child) else xml.tag(child)
                if tag == "inertial" and inertial is None:
                    inertial = child
                elif tag == "visual":
                    looks += list(self._look(child, what))
                else:
                    self._leave_out(child, what)
            yield Link(name, self._inertia(inertial, what), tuple(looks), element.sourceline)
        yield from self._world()

    def _world(self) -> Iterator[Link]:
        """A link that joints call 'world', but no <link> defines: Drake's convention."""
        names = {element.get("name") for element in xml.children(self.root, "link")}
        parents = (self._child(element, "parent") for element in xml.children(self.root, "joint"))
        if "world" not in names and any(parent is not None and parent.get("link") == "world" for parent in parents):
            yield Link("world")

    def _inertia(self, element: Any, what: str) -> Inertia:
        if element is None:
            return NOTHING
        X, line = self._origin(element, what), element.sourceline
        mass_element, inertia = self._child(element, "mass"), self._child(element, "inertia")
        mass = 0.0 if mass_element is None else self._numbers(mass_element, "value", 1, what, [0.0])[0]
        parts = [
            0.0 if inertia is None else self._numbers(inertia, f"i{axes}", 1, what, [0.0])[0]
            for axes in _AXES
        ]
        missing = [f"i{axes}" for axes in _AXES if inertia is None or inertia.get(f"i{axes}") is None]
        if missing and (inertia is not None or mass):
            self.report.row("changed", what, f"{', '.join(missing)} of its inertia are missing, and taken as 0", line)
        if mass < 0.0:
            raise self.report.refuse(what, f"has the mass {mass:g}, below zero. Correct it.", line)
        xx, yy, zz, xy, xz, yz = parts
        own = Inertia(mass, np.zeros(3), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        found = own.moved(X).without_round_off()
        if rule := _limits.no_solid(found.moments, False)[0]:
            text = f"its inertia is taken as measured, as no solid has it: {rule.split(', and')[0].split(', one')[0]}"
            self.report.row("changed", what, text, line)
        return found

    def _look(self, element: Any, what: str) -> Iterator[tuple[Transform, Draw]]:
        geometry, line = self._child(element, "geometry"), element.sourceline
        material = self._child(element, "material")
        colour, opacity = self._material(material)
        shape = next(xml.children(geometry), None) if geometry is not None else None
        if shape is None or opacity == 0.0:
            self.report.row("left out", f"{what}, <visual>", "is invisible or has no shape", line)
            return
        yield self._origin(element, what), partial(self._draw, shape, what, colour, opacity)

    def _draw(self, shape: Any, what: str, colour: str | None, opacity: float, X: Transform) -> Mesh | None:
        kind, line = xml.tag(shape), shape.sourceline
        placed: Any = {"color": colour, "opacity": opacity, "at": X.offset, "rotation": X.rotation}
        one = partial(self._numbers, shape, count=1, what=what)
        try:
            match kind:
                case "box":
                    return Mesh.box(self._numbers(shape, "size", 3, what), **placed)
                case "cylinder":
                    return Mesh.cylinder(one("radius")[0], one("length")[0], **placed)
                case "capsule":
                    return Mesh.capsule(one("radius")[0], one("length")[0], **placed)
                case "sphere":
                    return Mesh.ellipsoid(one("radius") * 3, **placed)
                case "mesh" if self.meshes:
                    scale = self._numbers(shape, "scale", 3, what, [1.0] * 3)
                    file, unit = self._mesh_file(shape)
                    return Mesh(file, scale=[unit * one for one in scale], **placed)
                case "mesh":
                    raise NotFound("meshes are not read")
            raise NotFound("is unknown")
        except (NotFound, ModelError, ValueError) as error:
            self.report.row("left out", f"{what}, <{kind}>", f"is not drawn: {str(error).rstrip('.')}", line)
            return None

    def _mesh_file(self, shape: Any) -> tuple[Path, float]:
        """The file, and its unit [m], which a .dae states."""
        name = shape.get("filename") or ""
        if Path(name).suffix.lower() not in MESHES:
            raise NotFound(f"'{name[:200]}' is not one of {', '.join(MESHES)}")
        found = self.folders.find(name)
        if found.stat().st_size > _MOST_MESH:
            raise NotFound(f"'{name[:200]}' has more than {_MOST_MESH} bytes")
        if found.suffix.lower() != ".dae":
            return found, 1.0
        root, _ = xml.parse(found, xml.read_bytes(found))  # refuses entities, which its reader would expand
        units = (one.get("meter", "1") for asset in xml.children(root, "asset") for one in xml.children(asset, "unit"))
        return found, xml.repaired_numbers(next(units, "1"), 1)[0][0]

    def _material(self, element: Any) -> tuple[str | None, float]:
        if element is None:
            return None, 1.0
        own = self._colour(element)
        return self.colours.get(element.get("name", ""), (None, 1.0)) if own is None else own

    def _colour(self, element: Any) -> tuple[str | None, float] | None:
        if (texture := self._child(element, "texture")) is not None:
            self._leave_out(texture, f"<material> {element.get('name', '')!r}")
        colour = self._child(element, "color")
        if colour is None:
            return None
        try:
            r, g, b, a = (min(max(v, 0.0), 1.0) for v in xml.repaired_numbers(colour.get("rgba", ""), 4)[0])
        except ValueError as error:
            self.report.row("left out", "<color>", f"its rgba {error}", colour.sourceline)
            return None
        return "#" + "".join(f"{round(255 * v):02x}" for v in (r, g, b)), a

    # Joints ---------------------------------------------------------------------------------------------------

    def joints(self) -> Iterator[Connection]:
        seen: set[str] = set()
        for element in xml.children(self.root, "joint"):
            name, line = self._name(element, "joint"), element.sourceline
            what = f"joint '{name}'"
            if name in seen:
                raise self.report.refuse(what, "has the name of another joint. Rename one.", line)
            seen.add(name)
            kind = element.get("type", "")
            if kind not in KINDS:
                raise self.report.refuse(what, f"is of the type '{kind}'. Give one of {', '.join(KINDS)}.", line)
            for part in xml.children(element):
                if xml.prefixed(part) or xml.tag(part) not in _OF_A_JOINT:
                    self._leave_out(part, what)
            parent, child = (self._end(element, end, what) for end in ("parent", "child"))
            make = None if kind == "fixed" else self._maker(element, name, kind, what)
            yield Connection(name, parent, child, self._origin(element, what), make=make, line=line)

    def _end(self, element: Any, end: str, what: str) -> str:
        found = self._child(element, end)
        link = None if found is None else found.get("link")
        if link is None:
            raise self.report.refuse(what, f"has no <{end} link=...>. Give one.", element.sourceline)
        return str(link)

    def _maker(self, element: Any, name: str, kind: str, what: str) -> Callable[[str, Point, Point], JointBase]:
        axis = self._axis(element, kind, what)
        damping, friction = self._dynamics(element, kind, what)
        if kind in _ONE_AXIS:
            self._limits(element, name, kind, what)
            self._mimic(element, name, what)
            if friction > 0.0:
                self.later.append(partial(self._add_brake, name, friction, what, element.sourceline))
            make = Prismatic if kind == "prismatic" else Revolute
            return lambda own, F, M: make(own, F, M, axis=axis, damping=damping)
        for child in ("limit", "mimic"):
            if (found := self._child(element, child)) is not None:
                self.report.row("left out", f"{what}, <{child}>", "is for a joint with one axis", found.sourceline)
        if kind == "planar":
            return lambda own, F, M: Planar(own, F, M, normal=axis, damping=(damping,) * 3)
        if kind == "floating":
            return lambda own, F, M: Free(own, F, M, damping=(damping,) * 6 if damping else 0.0)
        return lambda own, F, M: Spherical(own, F, M, damping=damping)

    def _axis(self, element: Any, kind: str, what: str) -> tuple[float, float, float]:
        found = self._child(element, "axis")
        if found is None or kind not in (*_ONE_AXIS, "planar"):
            return 1.0, 0.0, 0.0
        x, y, z = self._numbers(found, "xyz", 3, what, [1.0, 0.0, 0.0])
        length = math.hypot(x, y, z)
        if length == 0.0:
            raise self.report.refuse(what, "has a zero axis. Give its direction, or make it fixed.", found.sourceline)
        if abs(length - 1.0) > _UNIT:
            self.report.row("changed", what, f"its axis has the length {length:g} and is scaled to 1", found.sourceline)
        return x, y, z

    def _dynamics(self, element: Any, kind: str, what: str) -> tuple[float, float]:
        found = self._child(element, "dynamics")
        if found is None:
            return 0.0, 0.0
        damping, friction = (self._numbers(found, one, 1, what, [0.0])[0] for one in ("damping", "friction"))
        if min(damping, friction) < 0.0:
            raise self.report.refuse(what, "has a negative damping or friction. Give positive ones.", found.sourceline)
        if friction > 0.0 and kind not in _ONE_AXIS:
            self.report.row("left out", what, "its friction, which is for a joint with one axis", found.sourceline)
        return damping, friction

    def _limits(self, element: Any, name: str, kind: str, what: str) -> None:
        found = self._child(element, "limit")
        if found is None:
            return
        given: dict[str, Any] = {
            one: self._numbers(found, one, 1, what)[0] if found.get(one) is not None else None
            for one in ("lower", "upper", "effort", "velocity")
        }
        if kind == "continuous":
            given |= {"lower": None, "upper": None}
        elif given["lower"] is None or given["upper"] is None:
            given |= {one: 0.0 for one in ("lower", "upper") if given[one] is None}
        limits = Limits(**given)

        def keep(built: Built) -> None:
            if name in built.joints:
                self.report.limits[f"{built.joints[name].name}.q"] = limits

        self.later.insert(0, keep)
        self.report.row("taken", what, f"limits as data: {limits}", found.sourceline)

    def _mimic(self, element: Any, name: str, what: str) -> None:
        found = self._child(element, "mimic")
        if found is None:
            return
        source, line = found.get("joint") or "", found.sourceline
        ratio = self._numbers(found, "multiplier", 1, what, [1.0])[0]
        offset = self._numbers(found, "offset", 1, what, [0.0])[0]
        self.later.append(lambda built: self._add_mimic(built, name, source, ratio, offset, what, line))

    def _add_mimic(
        self, built: Built, name: str, source: str, ratio: float, offset: float, what: str, line: int
    ) -> None:
        joint, other = built.joints.get(name), built.joints.get(source)
        if joint is None:
            return
        if other is joint or (other is None and source not in built.fixed):
            text = f"it mimics '{source}', which is not another joint, and moves freely"
            self.report.row("left out", what, text, line)
            return
        terms: list[tuple[JointBase, float]] = [(joint, 1.0)]
        if other is not None and ratio != 0.0:
            if not isinstance(other, Revolute | Prismatic):
                raise self.report.refuse(what, f"mimics '{source}', which has not one axis. Name another joint.", line)
            terms.append((other, -ratio))
        coupling = built.names.new(f"{joint.name}_mimic", "mimic")
        built.model.add(Coupling(coupling, terms, offset=offset))
        built.source_names[coupling] = name
        text = f"q = {ratio:g} q of '{source}' + {offset:g}, by the coupling '{coupling}'"
        self.report.row("taken", what, text, line)

    def _add_brake(self, name: str, friction: float, what: str, line: int, built: Built) -> None:
        joint = built.joints.get(name)
        if joint is None:
            return
        law = built.names.new(f"{joint.name}_friction", "friction")
        built.model.add(Law.brake(law, joint, friction))
        built.source_names[law] = name
        self.report.row("taken", what, f"dry friction of {friction:g}, by the law '{law}'", line)

    # Attributes -----------------------------------------------------------------------------------------------

    def _name(self, element: Any, what: str) -> str:
        name = element.get("name")
        if name is None:
            raise self.report.refuse(f"<{what}>", "has no name. Give it one.", element.sourceline)
        return str(name)

    @staticmethod
    def _child(element: Any, name: str) -> Any:
        return next(xml.children(element, name), None)

    def _origin(self, element: Any, what: str) -> Transform:
        origin = self._child(element, "origin")
        if origin is None:
            return Transform.identity()
        xyz = self._numbers(origin, "xyz", 3, what, [0.0] * 3)
        roll, pitch, yaw = self._numbers(origin, "rpy", 3, what, [0.0] * 3)
        about = (("z", yaw), ("y", pitch), ("x", roll))
        z, y, x = (Rotation.about(axis, angle) if angle else Rotation.identity() for axis, angle in about)
        return Transform(z @ y @ x, xyz)

    def _numbers(
        self, element: Any, name: str, count: int, what: str, default: list[float] | None = None
    ) -> list[float]:
        """An attribute's numbers."""
        text = element.get(name)
        if text is None and default is not None:
            return list(default)
        if text is None:
            raise self.report.refuse(f"{what}, <{xml.tag(element)}>", f"has no {name}. Give it.", element.sourceline)
        try:
            found, change = xml.repaired_numbers(text, count)
        except ValueError as error:
            raise self.report.refuse(
                f"{what}, <{xml.tag(element)}>", f"has {name}='{text[:60]}', which {error}. Correct it.",
                element.sourceline,
            ) from None
        if change:
            self.report.row("changed", what, f"{name}='{text[:60]}' {change}", element.sourceline)
        return found


_AXES = ("xx", "yy", "zz", "xy", "xz", "yz")
_KNOWN = ("link", "joint", "material")
_OF_A_JOINT = ("origin", "parent", "child", "axis", "dynamics", "limit", "mimic")
