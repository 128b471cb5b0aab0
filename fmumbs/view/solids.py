"""A scene at one instant as solids: bodies with their shapes, joints as symbols, springs, loads, paths, supports.

What has no thickness in the model, such as a thin rod, has a small one here. Sizes of symbols follow that of the
mechanism and that of its parts, so that they stay apart in a long chain.
"""

from base64 import b64decode
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from fmumbs.scene import GROUND, GroundLook, JointLook, MeshLook, Scene, SkinLook, SpringLook, Symbol
from fmumbs.view.elements import add_length_stops, add_rope, add_stop, add_train
from fmumbs.view.poses import Poses, matrix
from fmumbs.view.rays import Colour, Kind, Solid
from fmumbs.view.skins import bands
from fmumbs.view.viewpoint import Projection
from fmumbs.view.wheels import trains

Array = NDArray[np.float64]

BODIES: tuple[Colour, ...] = (  # those of the page (page/picture.js)
    (91, 141, 184), (217, 140, 74), (106, 168, 116), (169, 119, 156), (192, 163, 77), (125, 134, 196),
    (196, 110, 110), (90, 166, 166), (148, 121, 93), (138, 151, 166),
)  # fmt: skip
GROUND_COLOUR: Colour = (128, 132, 140)
INK: Colour = (52, 58, 70)
PAPER: Colour = (250, 250, 248)
DRIVEN: Colour = (240, 175, 40)
SPRING: Colour = (70, 145, 95)
LOAD: Colour = (205, 45, 45)
PATH: Colour = (150, 70, 180)
PLANE: Colour = (205, 208, 212)

_GROUND = 0.4  # opacity of planes and roads that contacts touch
_INERTIA = 0.55  # opacity of an ellipsoid that stands for an inertia, as in the page
_COILS = 6
_EYE = np.eye(3)


class Sizes:
    """Lengths for one mechanism [m]. whole: its size; symbol: of a joint's symbol; thin: least radius of a body."""

    def __init__(self, scene: Scene, poses: Poses, view: Projection, thin: float) -> None:
        at = view.project(_reached(scene, poses))[..., :2]
        size = float(np.ptp(at, axis=0).max()) if len(at) else 0.0
        self.whole = size if size > 1e-9 * scene.length else scene.length
        reach = _reach(scene) or self.whole
        self.symbol = max(0.3 * thin * self.whole, min(1.6 * thin * self.whole, 0.22 * reach))
        self.thin = max(0.2 * thin * self.whole, min(thin * self.whole, 0.14 * reach))


def solids(
    scene: Scene, poses: Poses, view: Projection, *, instant: int = 0, thin: float = 0.02, least: float = 0.0
) -> list[Solid]:
    """The solids at one of the instants of `poses`.

    thin: least radius of a body; least: symbols below this size are left out; both relative to the mechanism.
    """
    maker = _Maker(scene, poses, view, instant, Sizes(scene, poses, view, thin))
    maker.bodies()
    if maker.sizes.symbol > 2.0 * least * maker.sizes.whole:
        maker.supports()
        for joint in scene.joints:
            maker.joint(joint)
        for stop in scene.stops:
            add_stop(maker, stop)
    for train in trains(scene, poses):
        add_train(maker, train)
    if not maker.found:
        maker.marks()
    for spring in scene.springs:
        maker.spring(spring)
    for rope in scene.ropes:
        add_rope(maker, rope)
    maker.loads()
    maker.curves()
    for ground in scene.grounds:
        maker.ground(ground)
    return maker.found


def rgb(colour: str) -> Colour:
    """Of "#rrggbb"."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue


def colours(scene: Scene) -> list[Colour]:
    """Of each body: its own, else the next of BODIES; the parts of a flexible link have one."""
    links: dict[str, int] = {}
    found, count = [], 0
    for body in scene.bodies:
        place = links.get(body.part_of, count) if body.part_of else count
        if body.part_of:
            links[body.part_of] = place
        count += place == count
        found.append(rgb(body.colour) if body.colour else BODIES[place % len(BODIES)])
    return found


def unpacked(mesh: MeshLook) -> tuple[Array, NDArray[np.int64]]:
    """Corners (n, 3) in the body's frame [m], and (m, 3) their indices in triangles."""
    corners, faces = (np.frombuffer(b64decode(text), "<u2").reshape(-1, 3) for text in (mesh.corners, mesh.faces))
    return np.array(mesh.low) + corners / 65535.0 * np.array(mesh.size), faces.astype(np.int64)


def box_of(mesh: MeshLook | SkinLook) -> Array:
    """(8, 3) corners of the box around a mesh in the body's frame [m]."""
    corners = np.array(np.meshgrid((0.0, 1.0), (0.0, 1.0), (0.0, 1.0))).reshape(3, -1).T
    return np.asarray(np.array(mesh.low) + corners * mesh.size)


def _reached(scene: Scene, poses: Poses) -> Array:
    """(n, 3) points at the first instant that span the mechanism: corners of its shapes, and where elements act."""
    corners = np.array(np.meshgrid((-0.5, 0.5), (-0.5, 0.5), (-0.5, 0.5))).reshape(3, -1).T
    found = []
    for i, body in enumerate(scene.bodies):
        own: list[Array] = [np.array(body.links).reshape(-1, 3)]
        if body.shape is not None:
            own.append(np.array(body.shape.at) + (corners * body.shape.size) @ matrix(body.shape.axes).T)
        if body.line is not None:
            own.append(np.array(body.line.points))
        own += [box_of(mesh) for mesh in (*body.meshes, body.skin) if mesh is not None]
        found.append(poses.r[0, i] + np.concatenate(own) @ poses.R[0, i].T)
    places = [end for joint in scene.joints for end in (joint.F, joint.M) if joint.symbols]
    places += [end for spring in scene.springs for end in (spring.P, spring.Q)]
    places += [via.P for rope in scene.ropes for via in rope.vias]
    found.append(poses.origins(places)[0])
    return np.concatenate(found) if found else np.zeros((0, 3))


def _reach(scene: Scene) -> float:
    """The typical length of a body: the median of the largest distances within each [m]; 0 without one."""
    lengths = []
    ends: dict[int, list[tuple[float, ...]]] = {}
    for joint in scene.joints:
        for end in (joint.F, joint.M):
            ends.setdefault(end.body, []).append(end.at)
    for i, body in enumerate(scene.bodies):
        span = max((max(along) - min(along) for along in zip(*ends.get(i, []), strict=True)), default=0.0)
        length = max(span, max(body.shape.size) if body.shape is not None else 0.0)
        if body.line is not None:
            length = max(length, float(np.ptp(np.array(body.line.points), axis=0).max()))
        length = max([length, *(max(mesh.size) for mesh in (*body.meshes, body.skin) if mesh is not None)])
        if length > 0.0:
            lengths.append(length)
    lengths.sort()  # np.median imports numpy.ma, which would be a fourth of a first export
    return (lengths[(len(lengths) - 1) // 2] + lengths[len(lengths) // 2]) / 2.0 if lengths else 0.0


class _Maker:
    """Collects the solids of a scene at one instant."""

    def __init__(self, scene: Scene, poses: Poses, view: Projection, instant: int, sizes: Sizes) -> None:
        self.scene, self.poses, self.view, self.instant, self.sizes = scene, poses, view, instant, sizes
        self.colours = colours(scene)
        self.found: list[Solid] = []

    # Parts --------------------------------------------------------------------------------------------------

    def add(
        self,
        kind: Kind,
        at: Array,
        R: Array,
        half: Iterable[float],
        colour: Colour,
        front: bool = False,
        opacity: float = 1.0,
    ) -> None:
        x, y, z = half
        self.found.append(Solid(kind, at, R, (float(x), float(y), float(z)), colour, front, opacity=opacity))

    def along(self, axis: Array) -> Array:
        """(3, 3) axes whose x is a unit vector."""
        return _along(axis)

    def rod(self, start: Array, end: Array, radius: float, colour: Colour, front: bool = False) -> None:
        """A cylinder between two points."""
        along = end - start
        length = float(np.sqrt(along @ along))
        if length > 1e-9 * self.sizes.whole:
            self.add(
                "cylinder", (start + end) / 2.0, _along(along / length), (length / 2, radius, radius), colour, front
            )

    def ball(self, at: Array, radius: float, colour: Colour, front: bool = False) -> None:
        self.add("ellipsoid", at, _EYE, (radius, radius, radius), colour, front)

    def line(self, points: Array, radius: float, colour: Colour, front: bool = False) -> None:
        """Cylinders from point to point, without edges between them."""
        first = len(self.found) + 1
        for start, end in pairwise(points):
            self.rod(start, end, radius, colour, front)
        self.found[first:] = [replace(one, joined=True) for one in self.found[first:]]

    def arrow(self, start: Array, direction: Array, length: float, colour: Colour, heads: int = 1) -> None:
        """A shaft and `heads` cones, drawn over bodies."""
        size = self.sizes.symbol
        tip = start + length * direction
        self.rod(start, tip - 0.9 * size * direction, 0.22 * size, colour, True)
        for k in range(heads):
            at = tip - (0.8 + 1.1 * k) * size * direction
            self.add("cone", at, _along(direction), (0.8 * size, 0.6 * size, 0.6 * size), colour, True)

    def at(self, place: object) -> tuple[Array, Array]:
        """Origin and axes of a place in the world."""
        r, R = self.poses.of(place)  # type: ignore[arg-type]
        return r[self.instant], R[self.instant]

    # Bodies -------------------------------------------------------------------------------------------------

    def bodies(self) -> None:
        thin = self.sizes.thin
        rolling = {j.M.body for j in self.scene.joints if {"disc", "sphere"} & {one.kind for one in j.symbols}}
        origins, axes = self.poses.r[self.instant], self.poses.R[self.instant]
        coms = origins + np.matmul(axes, np.array([body.com for body in self.scene.bodies]).reshape(-1, 3, 1))[..., 0]
        for i, body in enumerate(self.scene.bodies):
            r, R, com, colour = origins[i], axes[i], coms[i], self.colours[i]
            first = len(self.found)
            if body.shape is not None and not (i in rolling and body.shape.kind == "ellipsoid"):
                point = max(body.shape.size) <= 0.0
                least = 1.4 * thin if point else thin if body.shape.kind != "box" else 0.6 * thin
                half = [max(0.5 * one, least) for one in body.shape.size]
                if body.shape.kind == "ellipsoid":
                    half = [max(one, 0.12 * max(half)) for one in half]
                at = com if body.shape.at == body.com else r + R @ np.array(body.shape.at)
                is_inertia = body.shape.kind == "ellipsoid" and body.links and not point and body.opacity == 1.0
                opacity = _INERTIA if is_inertia else 1.0
                self.add(body.shape.kind, at, R @ matrix(body.shape.axes), half, colour, opacity=opacity)
            for end in body.links:
                self.rod(com, r + R @ np.array(end), 0.7 * thin, colour)
            if body.line is not None:
                moved = np.array(body.line.points)
                if body.line.shapes:
                    moved = moved + np.einsum("k,kni->ni", self.poses.modal[i][self.instant], body.line.shapes)
                self.line(r + moved @ R.T, max(body.line.radius, thin), colour)
            if body.skin is not None:
                self.skin(i, body.skin, r, R)
            for mesh in body.meshes:
                self.mesh(mesh, r, R, colour)
            if body.opacity < 1.0:
                clear = [replace(one, opacity=body.opacity * one.opacity) for one in self.found[first:]]
                self.found[first:] = clear

    def mesh(self, mesh: MeshLook, r: Array, R: Array, colour: Colour) -> None:
        """A mesh of a body whose frame has this pose."""
        corners, faces = unpacked(mesh)
        half = np.array(mesh.size) / 2.0
        middle = np.array(mesh.low) + half
        shade = rgb(mesh.colour) if mesh.colour else colour
        x, y, z = (max(float(one), 1e-3 * self.sizes.whole) for one in half)
        at = r + R @ middle
        self.found.append(Solid("mesh", at, R, (x, y, z), shade, opacity=mesh.opacity, mesh=(corners - middle, faces)))

    def skin(self, body: int, skin: SkinLook, r: Array, R: Array) -> None:
        """The surface of a flexible body, bent by its modes, in the colours of its displacements."""
        modal = self.poses.modal[body]
        corners, parts = bands(skin, modal[self.instant], self.poses.largest(body, skin))
        low, high = corners.min(axis=0), corners.max(axis=0)
        middle = (low + high) / 2.0
        x, y, z = (max(float(one), 1e-3 * self.sizes.whole) for one in (high - low) / 2.0)
        for k, (colour, faces) in enumerate(parts):
            mesh = (corners - middle, faces)
            self.found.append(Solid("mesh", r + R @ middle, R, (x, y, z), colour, joined=k > 0, mesh=mesh))

    def marks(self) -> None:
        """A point for each body of a mechanism of which nothing else is seen."""
        for at in self.poses.r[self.instant]:
            self.ball(at, self.sizes.symbol, BODIES[0])

    def supports(self) -> None:
        """A stand at each joint on the ground, below it, or above where the body hangs at the first instant."""
        size, up = self.sizes.symbol, self.view.up
        done: list[Array] = []
        for joint in self.scene.joints:
            kinds = [symbol.kind for symbol in joint.symbols]
            ends = (joint.F, joint.M)
            if kinds.count("slide") or not kinds or GROUND not in (ends[0].body, ends[1].body):
                continue
            if set(kinds) & {"plane", "line"}:
                continue
            own, other = ends if ends[0].body == GROUND else ends[::-1]
            at = self.at(own)[0]
            if any(np.abs(at - one).max() < 0.1 * size for one in done):
                continue
            done.append(at)
            first = self.poses.of(own)[0][0]
            hangs = other.body != GROUND and (self._centre(other.body) - first) @ up < -0.3 * size
            sign = 1.0 if hangs else -1.0
            down = sign * up
            self.add(
                "cone", at + 0.8 * size * down, _along(-down), (0.8 * size, 0.85 * size, 0.85 * size), GROUND_COLOUR
            )
            self.add(
                "box", at + 1.75 * size * down, _along(down), (0.18 * size, 1.25 * size, 1.25 * size), GROUND_COLOUR
            )

    def _centre(self, body: int) -> Array:
        """Centre of mass of a body at the first instant."""
        r, R = self.poses.r[0, body], self.poses.R[0, body]
        return np.asarray(r + R @ np.array(self.scene.bodies[body].com))

    # Joints -------------------------------------------------------------------------------------------------

    def joint(self, joint: JointLook) -> None:
        kinds = [symbol.kind for symbol in joint.symbols]
        if kinds.count("slide") > 1 and not {"plane", "disc", "sphere"} & set(kinds):
            return  # a body that moves freely, in a plane or in space
        for symbol in joint.symbols:
            if kinds.count("slide") <= 1 or symbol.kind != "slide":
                self._symbol(joint, symbol)

    def _symbol(self, joint: JointLook, symbol: Symbol) -> None:
        size, (F, _), (M, _) = self.sizes.symbol, self.at(joint.F), self.at(joint.M)
        at, R = self.at(joint.F if symbol.on == "F" else joint.M)
        axis = R @ np.array(symbol.axis)
        axes = _along(axis)
        core = DRIVEN if symbol.prescribed else PAPER
        match symbol.kind:
            case "turn" | "helix":
                long = size if symbol.kind == "turn" else 1.6 * size
                self.add("cylinder", at, axes, (0.8 * long, 0.62 * size, 0.62 * size), INK, True)
                self.add("cylinder", at, axes, (0.9 * long, 0.33 * size, 0.33 * size), core, True)
            case "slide":
                self._slide(joint, axes, core)
            case "ball":
                self.ball(at, 0.62 * size, INK, True)
                self.ball(at + 0.4 * size * self.view.rows[2], 0.36 * size, core, True)
            case "motor":
                self.add("cylinder", at + 1.6 * size * axis, axes, (0.7 * size, 0.8 * size, 0.8 * size), INK, True)
                self.add("cylinder", at + 2.2 * size * axis, axes, (0.15 * size, 0.5 * size, 0.5 * size), core, True)
            case "weld":
                self.add("box", at, R, (0.42 * size,) * 3, INK, True)
            case "rod":
                self.rod(F, M, 0.35 * self.sizes.thin, INK)
                for end in (F, M):
                    self.ball(end, 0.4 * size, INK, True)
            case "line":
                reach = abs(float((M - F) @ axis)) + 3.0 * size
                self.rod(F - reach * axis, F + reach * axis, 0.2 * size, GROUND_COLOUR)
            case "plane":
                middle = M - float((M - F) @ axis) * axis + symbol.size * axis
                wide = max(4.0 * size, 0.3 * self.sizes.whole)
                self.add("box", middle - 0.08 * size * axis, axes, (0.08 * size, wide, wide), PLANE)
            case "disc":  # a band across it shows how it turns
                thin, colour = 0.6 * self.sizes.thin, self.colours[joint.M.body]
                self.add("cylinder", at, axes, (thin, symbol.size, symbol.size), colour)
                aside = _along(R @ _EYE[int(np.abs(np.array(symbol.axis)).argmin())])
                self.add("box", at, aside, (0.92 * symbol.size, 1.1 * thin, 1.1 * thin), PAPER)
            case "sphere":
                self.ball(at, symbol.size, self.colours[joint.M.body])

    def _slide(self, joint: JointLook, axes: Array, core: Colour) -> None:
        """A sleeve at M, and its guide on F's side."""
        size, (F, _), (M, _) = self.sizes.symbol, self.at(joint.F), self.at(joint.M)
        axis = axes[:, 0]
        position = float((M - F) @ axis)
        reach = abs(position) / 2.0 + 2.2 * size
        ground = GROUND in (joint.F.body, joint.M.body)
        colour = GROUND_COLOUR if ground else INK
        radius = (0.3 if ground else 0.18) * size
        self.add("cylinder", F + position / 2.0 * axis, axes, (reach, radius, radius), colour)
        self.add("box", M, axes, (0.85 * size, 0.5 * size, 0.5 * size), INK, True)
        self.add("cylinder", M, axes, (0.98 * size, 0.2 * size, 0.2 * size), core, True)
        towards = self.view.rows[2]
        across = towards - (towards @ axis) * axis
        if across @ across > 0.01:  # a mark on the side that is seen
            self.add("box", M + 0.45 * size * across, axes, (0.55 * size, 0.16 * size, 0.16 * size), core, True)

    # Forces and paths ---------------------------------------------------------------------------------------

    def spring(self, spring: SpringLook) -> None:
        """A zigzag for stiffness, a cylinder with a piston for damping; both beside each other. Stops on its length."""
        add_length_stops(self, spring)
        (start, _), (end, _) = self.at(spring.P), self.at(spring.Q)
        along = end - start
        length = float(np.sqrt(along @ along))
        if length <= 1e-9 * self.sizes.whole:
            return
        along = along / length
        aside = np.cross(self.view.rows[2], along)
        if aside @ aside < 1e-6:
            aside = self.view.rows[0]
        aside = aside / np.sqrt(aside @ aside)
        size, both = self.sizes.symbol, spring.stiff and spring.damped
        shift = (0.75 if both else 0.0) * size * aside
        line = 0.14 * size
        if both:
            for part in (0.12, 0.88):
                at = start + part * length * along
                self.rod(at - shift, at + shift, line, SPRING)
            for a, b in ((0.0, 0.12), (0.88, 1.0)):
                self.rod(start + a * length * along, start + b * length * along, line, SPRING)
        first, last = (0.12, 0.88) if both else (0.0, 1.0)
        if spring.stiff:
            self.line(start + shift + _zigzag(along, aside, length, first, last, 0.6 * size), line, SPRING)
        if spring.damped:
            self._damper(start - shift + first * length * along, start - shift + last * length * along, along)

    def _damper(self, start: Array, end: Array, along: Array) -> None:
        size, length = self.sizes.symbol, float((end - start) @ along)
        self.rod(start, end, 0.14 * self.sizes.symbol, SPRING)
        middle, half = (start + end) / 2.0, min(0.2 * length, 1.6 * size)
        self.add("cylinder", middle, _along(along), (half, 0.42 * size, 0.42 * size), INK)

    def loads(self) -> None:
        size = self.sizes.symbol
        for load in self.scene.loads:
            at, R = self.at(load.P)
            acts = False
            for vector, colour, heads in ((np.array(load.force), LOAD, 1), (np.array(load.torque), PATH, 2)):
                value = float(np.sqrt(vector @ vector))
                if value > 0.0:
                    acts = True
                    along = (R @ vector if load.follower else vector) / value
                    self.arrow(at, along, 5.0 * size, colour, heads)
            if not acts:
                self.ball(at, 0.45 * size, LOAD, True)

    def ground(self, ground: GroundLook) -> None:
        """A plate, below the middle of the mechanism or about its own place on a body; of a road the part that bodies
        come to.
        """
        at, R = self.at(ground.P)
        if ground.profile:
            self._road(ground, at, R)
            return
        thin, wide = 0.05 * self.sizes.symbol, (0.6 if ground.P.body == GROUND else 0.15) * self.sizes.whole
        normal, middle = R[:, 2], at
        if ground.P.body == GROUND and len(self.poses.r[0]):
            middle = 0.5 * (self.poses.r[0].min(axis=0) + self.poses.r[0].max(axis=0))
            middle = middle - float((middle - at) @ normal) * normal
        self.add("box", middle - thin * normal, R, (wide, wide, thin), PLANE, opacity=_GROUND)

    def _road(self, ground: GroundLook, at: Array, R: Array) -> None:
        whole = self.sizes.whole
        reached = (self.poses.r.reshape(-1, 3) - at) @ R
        room = whole * np.array([0.5, 0.1])
        (left, near), (right, far) = reached[:, :2].min(axis=0) - room, reached[:, :2].max(axis=0) + room
        x, z = np.array(ground.profile).T
        along = np.array([left, *x[(left < x) & (x < right)], right])
        height, n = np.interp(along, x, z), len(along)
        corners = np.concatenate([np.stack([along, np.full(n, y), height], 1) for y in (near, far)])
        k = np.arange(n - 1)
        faces = np.concatenate([np.stack([k, k + 1, k + n], 1), np.stack([k + 1, k + 1 + n, k + n], 1)])
        middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        corners -= middle
        size = np.maximum(corners.max(axis=0), 1e-3 * whole).tolist()
        self.found.append(Solid("mesh", at + R @ middle, R, tuple(size), PLANE, opacity=_GROUND, mesh=(corners, faces)))

    def curves(self) -> None:
        for curve in self.scene.curves:
            origin, R = self.at(curve.frame)
            step = max(1, len(curve.points) // 200)
            points = np.array([*curve.points[::step], curve.points[-1]])
            self.line(origin + points @ R.T, 0.12 * self.sizes.symbol, PATH)


def _zigzag(along: Array, aside: Array, length: float, first: float, last: float, width: float) -> Array:
    """(n, 3) points of a spring between two parts of its length."""
    steps = np.linspace(first + 0.08, last - 0.08, 2 * _COILS + 1)
    sides = [0.0, *((1.0, -1.0) * _COILS)[: 2 * _COILS - 1], 0.0]
    points = [first * length * along]
    points += [s * length * along + side * width * aside for s, side in zip(steps, sides, strict=True)]
    return np.array([*points, last * length * along])


def _along(axis: Array) -> Array:
    """(3, 3) axes whose x is a unit vector."""
    a, b, c = axis.tolist()
    least = int(np.abs(axis).argmin())
    y = ((0.0, c, -b), (-c, 0.0, a), (b, -a, 0.0))[least]
    size = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2])
    u, v, w = y[0] / size, y[1] / size, y[2] / size
    return np.array([[a, u, b * w - c * v], [b, v, c * u - a * w], [c, w, a * v - b * u]])
