"""Stops, gears, belts, racks and ropes in a picture, as in the page (page/elements.js)."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fmumbs.scene import GROUND, RopeLook, Scene, SpringLook, StopLook, ViaLook
from fmumbs.view.poses import Poses
from fmumbs.view.rays import Colour, Kind
from fmumbs.view.wheels import Rack, Train, Wheel

Array = NDArray[np.float64]

STOP: Colour = (138, 90, 68)
WHEEL: Colour = (138, 148, 163)
TOOTH: Colour = (95, 107, 122)
BELT: Colour = (47, 54, 64)

_CHORDS = 8  # of a rope on a pulley
_WHEEL = 0.7  # opacity
_BESIDE = 0.17  # of a pin beside the hand that meets it [rad]


class Sizes(Protocol):
    """Lengths of a picture, see solids.Sizes."""

    symbol: float
    thin: float


class Maker(Protocol):
    """What collects the solids of a picture, see solids.py."""

    scene: Scene
    poses: Poses
    instant: int

    @property
    def sizes(self) -> Sizes: ...

    def add(
        self, kind: Kind, at: Array, R: Array, half: Iterable[float], colour: Colour, front: bool = False,
        opacity: float = 1.0,
    ) -> None: ...  # fmt: skip

    def along(self, axis: Array) -> Array: ...

    def rod(self, start: Array, end: Array, radius: float, colour: Colour, front: bool = False) -> None: ...

    def at(self, place: object) -> tuple[Array, Array]: ...


def add_stop(maker: Maker, stop: StopLook) -> None:
    """A plate at each end of a slide, or two pins and the hand that meets them."""
    joint, size = maker.scene.joints[stop.joint], maker.sizes.symbol
    (F, RF), (M, RM) = maker.at(joint.F), maker.at(joint.M)
    own, other = (RM, RF) if stop.on == "M" else (RF, RM)
    axis = own @ np.array(stop.axis)
    ends = [(end, side) for end, side in ((stop.lower, -1.0), (stop.upper, 1.0)) if end is not None]
    if stop.zero is None or stop.hand is None:
        for end, side in ends:
            at = M + (end - float((M - F) @ axis) + side * size) * axis
            maker.add("box", at, maker.along(axis), (0.15 * size, size, size), STOP)
        return
    zero, hand, centre = own @ np.array(stop.zero), other @ np.array(stop.hand), M if stop.on == "M" else F
    across = np.cross(axis, zero)
    angle = np.arctan2(hand @ across, hand @ zero)
    around = [(angle, 0.0), *((end, side * _BESIDE) for end, side in ends)]
    places = [centre + 1.6 * size * (np.cos(a + b) * zero + np.sin(a + b) * across) for a, b in around]
    maker.rod(centre, places[0], 0.14 * size, STOP, True)
    for at in places[1:]:
        maker.rod(at - 0.7 * size * axis, at + 0.7 * size * axis, 0.2 * size, STOP, True)


def add_length_stops(maker: Maker, spring: SpringLook) -> None:
    """A rope, and a buffer as long as the spring is when it meets."""
    (start, _), (end, _) = maker.at(spring.P), maker.at(spring.Q)
    size, length = maker.sizes.symbol, float(np.linalg.norm(end - start))
    if spring.longest is not None:
        maker.rod(start, end, 0.14 * size, STOP)
    if spring.shortest is not None and spring.shortest > 0.0 < length:
        maker.rod(start, start + min(1.0, spring.shortest / length) * (end - start), 0.5 * size, STOP)


def add_rope(maker: Maker, rope: RopeLook) -> None:
    """A line along its way, and a disc for each pulley."""
    size = maker.sizes.symbol
    places = [maker.at(via.P) for via in rope.vias]
    for (at, R), via in zip(places, rope.vias, strict=True):
        if via.radius > 0.0:
            half = (max(0.06 * via.radius, maker.sizes.thin), 0.97 * via.radius, 0.97 * via.radius)
            maker.add("cylinder", at, maker.along(R @ np.array(via.axis)), half, WHEEL, False, _WHEEL)
    for start, end in pairwise(way_of(places, rope.vias)):
        maker.rod(start, end, 0.14 * size, STOP)


def way_of(places: Sequence[tuple[Array, Array]], vias: Sequence[ViaLook]) -> list[Array]:
    """Points along the way of a rope. places: origin and axes of each of its points and pulleys."""
    found: list[Array] = []
    for i, ((at, R), via) in enumerate(zip(places, vias, strict=True)):
        if via.radius == 0.0:
            found.append(at)
            continue
        axis = R @ np.array(via.axis)
        x = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
        axes = np.array([x / np.linalg.norm(x), np.cross(axis, x / np.linalg.norm(x))])
        beside = [None if not 0 <= k < len(places) else axes @ (places[k][0] - at) for k in (i - 1, i + 1)]
        found += [at + via.radius * (np.array([np.cos(a), np.sin(a)]) @ axes) for a in _arc(beside, via)]
    return found


def _arc(beside: list[Array | None], via: ViaLook) -> list[float]:
    """Angles along the arc on which a rope touches a pulley, between the points beside it; one at an end of a rope."""
    ways: list[list[float]] = []
    both = list(zip(beside, (-1.0, 1.0), strict=True))
    for turn in (1.0, -1.0) if via.turn == 0.0 else (via.turn,):
        ends = [_touch(N, via.radius, side * turn) for N, side in both if N is not None]
        arc = turn * ((turn * (ends[-1] - ends[0])) % (2.0 * np.pi))
        ways.append([ends[0] + arc * k / _CHORDS for k in range(_CHORDS + 1)] if len(ends) == 2 else ends)
    return min(ways, key=_span)


def _span(angles: list[float]) -> float:
    return abs(angles[-1] - angles[0])


def _touch(N: Array, radius: float, turn: float) -> float:
    """The angle at which a tangent from N touches a disc."""
    t = turn * float(np.sqrt(np.maximum(N @ N - radius**2, 0.0)))
    return float(np.arctan2(radius * N[1] - t * N[0], radius * N[0] + t * N[1]))


def add_train(maker: Maker, train: Train) -> None:
    """A coupling."""
    for wheel in train.wheels:
        _wheel(maker, wheel)
    if train.rack:
        _rack(maker, train.rack)
    if train.belt:
        one, other = train.wheels
        axis = _pose(maker, one.body)[1] @ np.array(one.axis)
        ends = [r + R @ np.array(w.at) for w in train.wheels for r, R in (_pose(maker, w.body),)]
        for start, end in tangents(ends[0], ends[1], axis, one.radius, other.radius):
            maker.rod(start, end, max(0.045 * min(one.radius, other.radius), 0.1 * maker.sizes.symbol), BELT)
    if train.outline:
        r, R = _pose(maker, train.outline.body)
        for start, end in pairwise(np.array(train.outline.points) @ R.T + r):
            maker.rod(start, end, 0.15 * maker.sizes.symbol, WHEEL)
    places = [maker.at(maker.scene.joints[i].M)[0] for i in train.joints]
    for start, end in pairwise(places):
        maker.rod(start, end, 0.08 * maker.sizes.symbol, WHEEL)


def tangents(a: Array, b: Array, axis: Array, ra: float, rb: float) -> list[tuple[Array, Array]]:
    """The straight parts of an open belt, between the points of two circles where their common tangents touch."""
    x = (b - a) / np.linalg.norm(b - a)
    y = np.cross(axis, x)
    c = np.clip((ra - rb) / np.linalg.norm(b - a), -1.0, 1.0)
    normals = [c * x + side * np.sqrt(1.0 - c * c) * y for side in (1.0, -1.0)]
    return [(a + ra * n, b + rb * n) for n in normals]


def _pose(maker: Maker, body: int) -> tuple[Array, Array]:
    if body == GROUND:
        return np.zeros(3), np.eye(3)
    return maker.poses.r[maker.instant, body], maker.poses.R[maker.instant, body]


def _wheel(maker: Maker, wheel: Wheel) -> None:
    r, R = _pose(maker, wheel.body)
    at, axis, start = r + R @ np.array(wheel.at), R @ np.array(wheel.axis), R @ np.array(wheel.start)
    thick = max(0.07 * wheel.radius, 0.2 * maker.sizes.thin)
    pitch = 2.0 * np.pi * wheel.radius / wheel.teeth if wheel.teeth else 0.0
    root, across = wheel.radius - 0.3 * pitch, np.cross(axis, start)
    maker.add("cylinder", at, maker.along(axis), (thick, root, root), WHEEL, opacity=_WHEEL)
    if not wheel.teeth:
        middle = at + 0.5 * wheel.radius * start
        axes = np.stack([start, across, axis], axis=1)
        maker.add("box", middle, axes, (0.45 * wheel.radius, 0.04 * wheel.radius, 1.1 * thick), TOOTH)
    for angle in 2.0 * np.pi * np.arange(wheel.teeth) / max(wheel.teeth, 1):
        out = np.cos(angle) * start + np.sin(angle) * across
        axes = np.stack([out, np.cross(axis, out), axis], axis=1)
        maker.add("box", at + wheel.radius * out, axes, (0.3 * pitch, 0.225 * pitch, thick), TOOTH)


def _rack(maker: Maker, rack: Rack) -> None:
    r, R = _pose(maker, rack.body)
    along, out = R @ np.array(rack.along), R @ np.array(rack.out)
    at, p = r + R @ np.array(rack.at), rack.pitch
    axes = np.stack([along, out, np.cross(along, out)], axis=1)
    maker.add("box", at - 0.6 * p * out, axes, (0.5 * rack.length, 0.3 * p, 0.3 * p), WHEEL)
    count = int(rack.length / p / 2.0)
    for k in range(-count, count + 1):
        maker.add("box", at + k * p * along, axes, (0.225 * p, 0.3 * p, 0.3 * p), TOOTH)
