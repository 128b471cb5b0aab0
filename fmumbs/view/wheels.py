"""Couplings as machine elements: gears, belts on wheels, racks; by the scene and the poses at the first instant.

A coupling r1 q1 + r2 q2 = c lets the joints turn at the rates w1 = -r2 a1 and w2 = r1 a2 together, with unit axes a1
and a2 in the world; the two pitch surfaces touch where both move alike:

    parallel axes through o1, o2: at p with w1 x (p - o1) = w2 x (p - o2), between them if they turn against each other
    axes that meet in a point o: along w1 - w2 from o, the pitch cones
    a rack that moves by v1 = -r2 a1 while the pinion turns: at o2 + a2 x v1 / (w2 . a2)

A cam that turns has the edge at which a follower that slides across its axis stands on it, on a base circle of 1.5
lifts. Of all others, such as differentials and skew axes, nothing is known but that their joints are coupled.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmumbs.scene import GROUND, CouplingLook, Scene, TermLook
from fmumbs.view.poses import Poses

Array = NDArray[np.float64]

_PARALLEL = 1e-6
_TEETH, _MOST_TEETH = 12, 60  # of the smaller wheel; of any
_BASE = 1.5  # radius of a cam's base circle, in lifts


@dataclass(frozen=True)
class Wheel:
    """A gear, or a wheel of a belt.

    body: its index, GROUND for one that stands. at: centre [m]; axis, start: unit vectors along its axis and to its
    first tooth; all in the body's frame. radius: of pitch [m]. teeth: 0 of a belt.
    """

    body: int
    at: list[float]
    axis: list[float]
    start: list[float]
    radius: float
    teeth: int = 0


@dataclass(frozen=True)
class Rack:
    """A rack: at, in the middle of its pitch line [m]; along it, and out of it towards the pinion; in the body's frame.

    length [m]; pitch: from tooth to tooth [m].
    """

    body: int
    at: list[float]
    along: list[float]
    out: list[float]
    length: float
    pitch: float


@dataclass(frozen=True)
class Outline:
    """The edge of a cam: points in the body's frame [m]."""

    body: int
    points: list[list[float]]


@dataclass(frozen=True)
class Train:
    """A coupling as it is drawn. name: with its ratio. joints: indices of those that nothing more is known of."""

    name: str
    wheels: tuple[Wheel, ...] = ()
    rack: Rack | None = None
    belt: bool = False
    joints: tuple[int, ...] = ()
    outline: Outline | None = None


@dataclass(frozen=True)
class _Turn:
    """A term in the world: a point on its axis, the axis, the body that moves and its pose."""

    body: int
    o: Array
    a: Array
    r: Array
    R: Array

    def wheel(self, at: Array, radius: float, towards: Array, teeth: int, gap: bool = False) -> Wheel:
        """gap: between two teeth is what points `towards`."""
        start = towards - (towards @ self.a) * self.a
        start = start / np.sqrt(start @ start)
        if gap:
            angle = np.pi / teeth
            start = np.cos(angle) * start + np.sin(angle) * np.cross(self.a, start)
        centre, axis, first = (self.R.T @ one for one in (at - self.r, self.a, start))
        return Wheel(self.body, centre.tolist(), axis.tolist(), first.tolist(), radius, teeth)


def trains(scene: Scene, poses: Poses) -> list[Train]:
    """All couplings, where the mechanism is at the first of the instants of `poses`."""
    return [_train(scene, poses, one) for one in scene.couplings]


def _train(scene: Scene, poses: Poses, one: CouplingLook) -> Train:
    if one.profile:
        return _cam(scene, poses, one)
    ratios = " : ".join(f"{abs(term.ratio):.4g}" for term in one.terms)
    name = f"{one.name}: {ratios}"
    found = None
    if len(one.terms) == 2:
        first, second = sorted(one.terms, key=lambda term: not term.slides)
        turns = _turn(scene, poses, first), _turn(scene, poses, second)
        rates = (-second.ratio, first.ratio)
        if not first.slides:
            rolls = _belt if one.belt else _gears
            found = rolls(name, *turns, *rates)
        elif not second.slides:
            found = _rack(name, *turns, *rates)
    return found or Train(name, joints=tuple(term.joint for term in one.terms))


def _turn(scene: Scene, poses: Poses, term: TermLook) -> _Turn:
    joint = scene.joints[term.joint]
    own, sign = (joint.M, 1.0) if joint.M.body != GROUND else (joint.F, -1.0)
    o, R = (value[0] for value in poses.of(joint.M if term.on == "M" else joint.F))
    origin = poses.of(joint.M)[0][0]
    still = own.body == GROUND
    r, axes = (np.zeros(3), np.eye(3)) if still else (poses.r[0, own.body], poses.R[0, own.body])
    return _Turn(own.body, origin if term.slides else o, sign * R @ np.array(term.axis), r, axes)


def _gears(name: str, A: _Turn, B: _Turn, wA: float, wB: float) -> Train | None:
    """Spur gears on parallel axes, or bevel gears on axes that meet."""
    across = np.cross(A.a, B.a)
    apart = B.o - A.o
    if np.sqrt(across @ across) < _PARALLEL:
        apart = apart - (apart @ A.a) * A.a
        relative = wA - wB * float(np.sign(A.a @ B.a))
        distance = float(np.sqrt(apart @ apart))
        if distance == 0.0 or abs(relative) < _PARALLEL * (abs(wA) + abs(wB)):
            return None
        contact = A.o - wB * float(np.sign(A.a @ B.a)) / relative * apart
        centres = (A.o, A.o + apart)
    else:
        if abs(apart @ across) > _PARALLEL * np.sqrt(apart @ apart) * np.sqrt(across @ across):
            return None  # the axes are skew
        s = np.cross(apart, B.a) @ across / (across @ across)
        meet = A.o + s * A.a
        towards = wA * A.a - wB * B.a
        towards = towards / np.sqrt(towards @ towards)
        sides = [abs(float((one.o - meet) @ one.a)) for one in (A, B)]
        slope = max(abs(float(towards @ A.a)), abs(float(towards @ B.a)))
        size = 0.5 * max(sides) / slope if slope > _PARALLEL and max(sides) > 0.0 else 0.0
        if size == 0.0:
            return None
        if (A.o - meet) @ A.a * (towards @ A.a) + (B.o - meet) @ B.a * (towards @ B.a) < 0.0:
            towards = -towards
        contact = meet + size * towards
        centres = (meet + (size * towards @ A.a) * A.a, meet + (size * towards @ B.a) * B.a)
    radii = [float(np.linalg.norm(contact - centre)) for centre in centres]
    if min(radii) <= 0.0:
        return None
    teeth = _teeth(radii)
    one = A.wheel(centres[0], radii[0], contact - centres[0], teeth[0])
    other = B.wheel(centres[1], radii[1], contact - centres[1], teeth[1], gap=True)
    return Train(name, (one, other))


def _belt(name: str, A: _Turn, B: _Turn, wA: float, wB: float) -> Train | None:
    apart = B.o - A.o
    apart = apart - (apart @ A.a) * A.a
    if abs(A.a @ B.a) < 1.0 - _PARALLEL or apart @ apart == 0.0:
        return None
    one, other = A.wheel(A.o, abs(wB), apart, 0), B.wheel(A.o + apart, abs(wA), apart, 0)
    return Train(name, (one, other), belt=True)


def _rack(name: str, A: _Turn, B: _Turn, vA: float, wB: float) -> Train | None:
    """A rack in joint A with the pinion in joint B."""
    out = np.cross(B.a, A.a) * (vA / wB)
    radius = float(np.sqrt(out @ out))
    if radius == 0.0 or abs(A.a @ B.a) > _PARALLEL:
        return None
    wheel = B.wheel(B.o, radius, -out, _TEETH, gap=True)
    at, along, away = A.R.T @ (B.o - out - A.r), A.R.T @ A.a, A.R.T @ (out / radius)
    pitch = 2.0 * float(np.pi) * radius / _TEETH
    return Train(name, (wheel,), Rack(A.body, at.tolist(), along.tolist(), away.tolist(), 7.0 * radius, pitch))


def _cam(scene: Scene, poses: Poses, one: CouplingLook) -> Train:
    """A cam that turns below a follower that slides across its axis: where it touches it in each position."""
    follows, turns = one.terms
    B, A = _turn(scene, poses, follows), _turn(scene, poses, turns)
    up = B.a - (B.a @ A.a) * A.a
    size = float(np.sqrt(up @ up))
    if turns.slides or not follows.slides or size < _PARALLEL:
        return Train(one.name, joints=tuple(term.joint for term in one.terms))
    angles, lifts = np.array(one.profile).T
    up, high = up / size, float(np.ptp(lifts))
    side = np.cross(A.a, up)
    here = _angle(scene, poses, turns)
    radii = lifts - lifts.min() + _BASE * (high or 0.5 * scene.length)
    back = here - angles
    points = A.o + radii[:, None] * (np.cos(back)[:, None] * up + np.sin(back)[:, None] * side)
    return Train(one.name, outline=Outline(A.body, ((points - A.r) @ A.R).tolist()))


def _angle(scene: Scene, poses: Poses, term: TermLook) -> float:
    """How far a joint is turned about a term's axis."""
    joint = scene.joints[term.joint]
    F, M = (poses.of(place)[1][0] for place in (joint.F, joint.M))
    R, axis = F.T @ M, np.array(term.axis)
    twist = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return float(np.arctan2(axis @ twist, np.trace(R) - 1.0))


def _teeth(radii: list[float]) -> list[int]:
    """Numbers in the ratio of the radii, as well as whole numbers can."""
    return [min(_MOST_TEETH, round(_TEETH * radius / min(radii))) for radius in radii]
