"""Model -> Scene: the shape of each body, a symbol for each joint, and where springs, loads and paths are.

A body given by mass and inertia is drawn as the homogeneous ellipsoid that has them. With the principal moments I1, I2,
I3 about its centre of mass the semi-axes are a1 = sqrt(5 (I2 + I3 - I1) / (2 m)), and so on in turn.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

from fmumbs._checks import Vec3
from fmumbs.mechanism import (
    Actuator,
    Body,
    Box,
    Closing,
    Contact,
    Cylinder,
    Disc,
    Distance,
    Ellipsoid,
    FlexibleLink,
    JointBase,
    Mesh,
    ModalBody,
    Mode,
    Model,
    Plane,
    Point,
    PointOnLine,
    PointOnPlane,
    Program,
    ProgrammedLength,
    ProgrammedPoint,
    Pulley,
    RevoluteSpherical,
    Road,
    Rolling,
    Section,
    Sphere,
    Spring,
)  # fmt: skip
from fmumbs.mechanism.bodies import along_axis
from fmumbs.mechanism.path import Curve, Path
from fmumbs.scene.described import (
    GROUND,
    UPRIGHT,
    BodyLook,
    Centreline,
    ContactLook,
    CurveLook,
    GroundLook,
    JointLook,
    Kind,
    LoadLook,
    MeshLook,
    Place,
    PointLook,
    Quaternion,
    RopeLook,
    Row6,
    Scene,
    Shape,
    SpringLook,
    Symbol,
    ViaLook,
)  # fmt: skip
from fmumbs.scene.moving import couplings_of, frame_of, lengths_of, motors_of, stops_of
from fmumbs.scene.skins import skin_look
from fmumbs.spatial import Rotation

Array = NDArray[np.float64]

_PARTS = 16  # of the centre line of a flexible body, and of each piece of a path
_MOST = 2000  # points of a path
_ROAD_POINTS = 200  # of a road with fewer knots
_MOST_TRIANGLES = 15_000  # of a mesh
_UNTURNED = Rotation.identity()
_CYCLES = (UPRIGHT, (0.5, 0.5, 0.5, 0.5), (0.5, -0.5, -0.5, -0.5))  # x along the body's x, y, z; then y, z in turn


def scene_of(model: Model, length: float = 1.0, order: Sequence[str] = ()) -> Scene:
    """The scene of a model. length: its characteristic length [m]; order: names of the bodies; both as in its image."""
    named = {body.name: body for body in model.bodies}
    bodies = [named[name] for name in order] if order else model.bodies
    places = _Places(bodies)
    sections = {part.name: link for link in model.flexible_links for part in link.bodies}
    hidden, ends, touching = model.inner, _ends_by_body(model), _touching(model)
    shown = [joint for joint in model.joints if joint.name not in hidden]
    joints, lengths = {joint.name: i for i, joint in enumerate(shown)}, lengths_of(model)
    motors = motors_of(model)
    inside = {part.name for link in model.flexible_links for part in link.parts}  # whose elements show how it bends
    return Scene(
        model.name,
        bodies=tuple(
            BodyLook(body.name)
            if body.name in hidden
            else _body(body, sections, ends.get(body.name, ()), touching.get(body.name))
            for body in bodies
        ),
        joints=tuple(
            JointLook(
                joint.name,
                places(joint.F),
                places(joint.M),
                () if joint.name in inside else (*_symbols(joint), *motors.get(joint.name, ())),
            )
            for joint in shown
        ),
        points=tuple(PointLook(repr(point), places(point)) for point in model.named_points),
        springs=(
            *(_spring(spring, places, lengths) for spring in model.springs),
            *(SpringLook(one.name, places(one.P), places(one.Q), False, True) for one in _actuators(model)),
        ),
        loads=tuple(
            LoadLook(one.name, places(one.P), _vec(one.force), _vec(one.torque), one.axes == "point")
            for one in model.loads
        ),
        curves=tuple(curve for program in model.programs for curve in _curves(program, places)),
        stops=tuple(stops_of(model, joints)),
        couplings=tuple(couplings_of(model, joints)),
        ropes=tuple(RopeLook(rope.name, tuple(_via(one, places) for one in rope.points)) for rope in model.ropes),
        grounds=tuple(dict.fromkeys(_grounds(model, places))),
        contacts=tuple(ContactLook(one.name, len(one.A.spots)) for one in model.forces_of(Contact)),
        gravity=model.gravity,
        length=length,
    )


def _ends_by_body(model: Model) -> dict[str, list[Vec3]]:
    """Where joints that are shown, and forces, act on each body."""
    ends: dict[str, list[Vec3]] = {}
    hidden = model.inner
    for at in (*(joint.ends for joint in model.joints if joint.name not in hidden), *(f.ends for f in model.forces)):
        for end in at:
            ends.setdefault(end.body.name, []).append(end.X_BP.offset)
    return ends


def _spring(s: Spring, places: "_Places", lengths: Mapping[str, tuple[float | None, float | None]]) -> SpringLook:
    shortest, longest = lengths.get(s.name, (None, None))
    stiff = s.stiffness > 0.0 or (s.damping == 0.0 and s.name not in lengths)
    return SpringLook(s.name, places(s.P), places(s.Q), stiff, s.damping > 0.0, shortest, longest)


def _via(one: Point | Pulley, places: "_Places") -> ViaLook:
    if isinstance(one, Point):
        return ViaLook(places(one))
    turn = {"positive": 1.0, "negative": -1.0}.get(one.side, 0.0)
    return ViaLook(places(one.joint.F), one.radius, _vec(one.joint.modes[0].axis), turn)


def _actuators(model: Model) -> list[Actuator | Cylinder | ProgrammedLength]:
    """What pushes two points apart, drawn as a piston."""
    programmed = (one for one in model.programs if isinstance(one, ProgrammedLength))
    return [*model.forces_of(Actuator), *model.forces_of(Cylinder), *programmed]


class _Places:
    """Points of a model as Places."""

    def __init__(self, bodies: Sequence[Body]) -> None:
        self._index = {body.name: i for i, body in enumerate(bodies)}

    def __call__(self, point: Point) -> Place:
        shapes: tuple[Row6, ...] = ()
        arm: Vec3 = (0.0, 0.0, 0.0)
        if isinstance(point.body, ModalBody):
            centre, rows = point.body.node(point)
            arm = _vec(point.X_BP.translation - centre)
            axes = point.body.plane_axes.matrix
            shapes = tuple((*_vec(axes @ row[:3]), *_vec(axes @ row[3:])) for row in np.array(rows))
        body = self._index.get(point.body.name, GROUND)
        return Place(body, point.X_BP.offset, _quaternion(point.X_BP.rotation), shapes, arm)


# Bodies -----------------------------------------------------------------------------------------------------


def _touching(model: Model) -> dict[str, Shape]:
    """By body, the shape of the first contact that it touches with: what one looks at where things fall and roll."""
    found: dict[str, Shape] = {}
    for side in (side for contact in model.forces_of(Contact) for side in (contact.A, contact.B)):
        drawn: tuple[Kind, Vec3] | None = None
        if isinstance(side, Sphere):
            drawn = "ellipsoid", (2.0 * side.radius,) * 3
        elif isinstance(side, Ellipsoid):
            drawn = "ellipsoid", _vec([2.0 * half for half in side.half_axes])
        elif isinstance(side, Disc):
            drawn = "ellipsoid", (2.0 * side.radius, 2.0 * side.radius, side.thickness)
        elif isinstance(side, Box):
            drawn = "box", side.size
        if drawn is not None:
            pose = side.at.X_BP
            found.setdefault(side.at.body.name, Shape(*drawn, pose.offset, _quaternion(pose.rotation)))
    return found


def _body(
    body: Body, links: Mapping[str, FlexibleLink], ends: Iterable[Vec3], touching: Shape | None
) -> BodyLook:
    look = _shape(body, links, ends, touching)
    if body.color is None and body.opacity == 1.0 and not body.visual:
        return look
    look = replace(look, colour=body.color or "", opacity=body.opacity, meshes=tuple(map(_mesh, body.visual)))
    return replace(look, shape=None, links=()) if body.visual else look


def _mesh(mesh: Mesh) -> MeshLook:
    """Simplified, and with coordinates of 16 bits, so that a page of a dozen bodies stays below 5 MB."""
    found = mesh.in_body.simplified(_MOST_TRIANGLES)
    low, high = found.vertices.min(axis=0), found.vertices.max(axis=0)
    size = np.maximum(high - low, 1e-300)
    corners = np.round((found.vertices - low) / size * 65535.0)
    packed = [b64encode(numbers.astype("<u2").tobytes()).decode() for numbers in (corners, found.faces)]
    return MeshLook(packed[0], packed[1], _vec(low), _vec(high - low), mesh.color or "", mesh.opacity)


def _shape(
    body: Body, links: Mapping[str, FlexibleLink], ends: Iterable[Vec3], touching: Shape | None
) -> BodyLook:
    if isinstance(body, ModalBody) and body.skin is not None:
        return BodyLook(body.name, None, body.com, skin=skin_look(body.skin))
    if isinstance(body, ModalBody):
        return BodyLook(body.name, None, body.com, line=_centreline(body))
    if body.name in links:
        return BodyLook(body.name, _element(body, links[body.name]), body.com, part_of=links[body.name].name)
    if body.slender is not None:
        k, _ = along_axis(body.slender.along, body.name)
        shape = _rod(body.slender.length, k, body.slender.section, body.com)
        inside = {frame.X_BP.offset for frame in body.points}  # its base and tip
        return BodyLook(body.name, shape, body.com, _outside([end for end in ends if end not in inside], shape))
    points = [*ends, *(frame.X_BP.offset for frame in body.points)]
    return BodyLook(body.name, touching or _ellipsoid(body), body.com, _distinct(points))


def _element(body: Body, link: FlexibleLink) -> Shape:
    """A rigid finite element of a flexible link, from where it begins to where the next one does."""
    k, _ = along_axis(link.along, link.name)
    if link.section is None:
        radius = sqrt(2.0 * link.total_axial_inertia / link.total_mass)
        return Shape("cylinder", (2.0 * abs(body.com[k]), 2.0 * radius, 2.0 * radius), body.com, _CYCLES[k])
    return _rod(2.0 * abs(body.com[k]), k, link.section, body.com)


def _rod(length: float, k: int, section: Section | None, com: Vec3) -> Shape:
    """A cylinder or a box along axis k of the body, by the section's moments; thin without a section."""
    if section is None:
        return Shape("cylinder", (length, 0.0, 0.0), com, _CYCLES[k])
    A, Iy, Iz = section.area, section.Iy, section.Iz
    if (1.0 - 1e-9) * (Iy + Iz) <= section.J:  # round, perhaps hollow
        d = 2.0 * sqrt((2.0 * (Iy + Iz) / A + A / pi) / 2.0)
        return Shape("cylinder", (length, d, d), com, _CYCLES[k])
    return Shape("box", (length, sqrt(12.0 * Iz / A), sqrt(12.0 * Iy / A)), com, _CYCLES[k])


def _ellipsoid(body: Body) -> Shape:
    if body.mass == 0.0:
        return Shape("ellipsoid", (0.0, 0.0, 0.0), body.com)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
    size, axes = _principal(body.mass, (xx, yy, zz), (xy + 0.0, xz + 0.0, yz + 0.0))  # a key has one zero
    return Shape("ellipsoid", size, body.com, axes)


@lru_cache(256)  # most bodies of a large mechanism are alike
def _principal(mass: float, moments: Vec3, products: Vec3) -> tuple[Vec3, Quaternion]:
    """The axes' lengths [m] of a solid ellipsoid of a mass, moments xx yy zz and products xy xz yz of inertia, and its
    axes as a quaternion.
    """
    (xx, yy, zz), (xy, xz, yz) = moments, products
    principal, axes = np.array(moments), np.eye(3)
    if any(products):
        principal, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        if np.linalg.det(axes) < 0.0:
            axes[:, 0] *= -1.0
    squares = 2.5 * (principal.sum() - 2.0 * principal) / mass
    squares = np.where(squares < 1e-9 * max(squares.max(), 0.0), 0.0, squares)
    return _vec(2.0 * np.sqrt(squares)), _quaternion(Rotation(axes))


def _outside(ends: Sequence[Vec3], shape: Shape) -> tuple[Vec3, ...]:
    """The points that do not lie in a body's shape."""
    if not ends:
        return ()
    away = np.abs((np.array(ends) - shape.at) @ Rotation.quaternion(*shape.axes).matrix)
    beyond = (away > 0.5 * np.array(shape.size) + 1e-6 * max(shape.size)).any(axis=1)
    return _distinct(ends[i] for i in np.flatnonzero(beyond).tolist())


def _distinct(points: Iterable[Vec3]) -> tuple[Vec3, ...]:
    return tuple(dict.fromkeys(points))


def _centreline(body: ModalBody) -> Centreline:
    """The axis of a beam; for other flexible bodies a line through the named points, in their order."""
    if body.bending is not None:
        beam = body.bending
        at = [beam.at(beam.length * s * np.array(beam.axis), body.name) for s in np.linspace(0.0, 1.0, _PARTS + 1)]
        k = int(np.abs(np.array(beam.axis)).argmax())
        radius = sqrt(max(2.0 * body.inertia[k][k] / body.mass, 0.0)) if body.plane is None else 0.0
        return _line([point for point, _ in at], np.array([rows[:, :3] for _, rows in at]), radius)
    points = [Point(body, frame.X_BP) for frame in body.points]
    axes = body.plane_axes.matrix
    rows = np.array([[axes @ row[:3] for row in np.array(body.node(point)[1])] for point in points])
    return _line([point.X_BP.offset for point in points], rows.reshape(len(points), -1, 3), 0.0)


def _line(points: Sequence[Vec3], rows: Array, radius: float) -> Centreline:
    """rows: (points, modes, 3)."""
    shapes = tuple(tuple(_vec(v) for v in mode) for mode in np.swapaxes(rows, 0, 1)) if len(points) else ()
    return Centreline(tuple(points), shapes, radius)


# Planes and roads -------------------------------------------------------------------------------------------


def _grounds(model: Model, places: "_Places") -> Iterator[GroundLook]:
    for contact in model.forces_of(Contact):
        if isinstance(contact.B, Plane):
            yield GroundLook(places(contact.B.at))
        elif isinstance(contact.B, Road):
            yield GroundLook(places(contact.B.at), _profile(contact.B))


def _profile(road: Road) -> tuple[tuple[float, float], ...]:
    """Points of the spline of a road, and as long straight on beyond each end."""
    knots, slopes = road.profile, road.slopes
    parts, step = max(1, _ROAD_POINTS // len(knots)), max(1, len(knots) // _MOST)
    found = []
    for ((x, z), (after, high)), s, t in zip(pairwise(knots), slopes, slopes[1:], strict=False):
        w = after - x
        for k in range(parts):
            p = k / parts
            q = 1.0 - p
            found.append((x + p * w, q * q * ((1 + 2 * p) * z + p * w * s) + p * p * ((1 + 2 * q) * high - q * w * t)))
    (x0, z0), (x1, z1) = knots[0], knots[-1]
    long = x1 - x0
    ends = (x0 - long, z0 - long * slopes[0]), (x1 + long, z1 + long * slopes[-1])
    return ends[0], *found[::step], knots[-1], ends[1]


# Joints -----------------------------------------------------------------------------------------------------


def _symbols(joint: JointBase) -> tuple[Symbol, ...]:
    if isinstance(joint, Closing):
        return tuple(_of_closing(joint))
    if joint.velocities == 6 and all(mode.free for mode in joint.modes) and not any(joint.law("stiffness")):
        return ()  # a free body
    return tuple(_of_modes(joint.modes)) or (Symbol("weld"),)


def _of_modes(modes: Sequence[Mode]) -> Iterator[Symbol]:
    """Modes before which nothing turns are drawn on F, the others on M."""
    kinds = {"revolute": "turn", "prismatic": "slide", "ball": "ball"}
    for i, mode in enumerate(modes):
        kind = "helix" if mode.pitch else kinds[mode.kind]
        if mode.role != "locked":
            on = frame_of(modes, i)
            yield Symbol(kind, on, _vec(mode.axis), prescribed=mode.role == "excited")  # type: ignore[arg-type]


def _of_closing(joint: Closing) -> Iterator[Symbol]:
    match joint:
        case Distance():
            yield Symbol("rod", "F")
        case RevoluteSpherical():
            yield from (Symbol("turn", "F", _vec(joint.axis)), Symbol("rod", "F"), Symbol("ball", "M"))
        case PointOnLine():
            yield from (Symbol("line", "F", _vec(joint.axis)), Symbol("ball", "M"))
        case PointOnPlane():
            yield from (Symbol("plane", "F", _vec(joint.normal), joint.height), Symbol("ball", "M"))
        case Rolling():
            yield Symbol("plane", "F")
            axis = joint.axis
            if axis is None:
                yield Symbol("sphere", "M", size=joint.radius)
            else:
                yield Symbol("disc", "M", _vec(axis), joint.radius)


# Paths ------------------------------------------------------------------------------------------------------


def _curves(program: Program, places: _Places) -> Iterator[CurveLook]:
    """The path of a point whose positions follow one; no other program has a path in space."""
    if not isinstance(program, ProgrammedPoint) or program.path is None or program.level:
        return
    modes = program.drive.modes
    paths = [mode.path for mode in modes]
    if any(path is None for path in paths):
        return
    times = sorted({t for path in paths if path is not None for t in _instants(path)})
    step = max(1, len(times) // _MOST)
    axes = np.array([mode.axis for mode in modes])
    curve = Curve([path for path in paths if path is not None])
    points = _distinct(_vec(curve(t)[0] @ axes) for t in times[::step])
    if len(points) > 1:
        yield CurveLook(program.name, places(program.frame), points)


def _instants(path: Path) -> list[float]:
    """Times at which to sample a path: its breaks and between them, and as long behind them where it goes on."""
    ends = [*path.breaks, path.breaks[-1] + (path.period or 1.0)]
    if path.period:
        ends[-1] = path.breaks[0] + path.period
    return [a + (b - a) * i / _PARTS for a, b in pairwise(ends) for i in range(_PARTS + 1)]


# Numbers ----------------------------------------------------------------------------------------------------


def _vec(values: Iterable[float] | Array | str) -> Vec3:
    x, y, z = (float(v) for v in values)
    return x, y, z


def _quaternion(rotation: Rotation) -> Quaternion:
    if rotation is _UNTURNED or rotation == _UNTURNED:
        return UPRIGHT
    w, x, y, z = rotation.as_quaternion().tolist()
    return w, x, y, z
