"""Contacts and tyres at random: any shape beside a surface of ground or of another part, about to touch it."""

from __future__ import annotations

from typing import Any

import numpy as np

import fmumbs as fm
from fmumbs.mechanism.bodies import GROUND
from support.drawing.bodies import Rng, place_on
from support.drawing.transmissions import NEAREST, Pose, where

CLOSE = (-0.02, 0.05)
"""Gap over the distance of the two points: some overlap at the start, and most others close within a run."""
SHAPES = ("sphere", "ellipsoid", "disc", "capsule", "box", "hull")
SURFACES = ("plane", "plane", "road", "sphere", "hollow", "tyre")


def contact(rng: Rng, name: str, parts: list[Any], poses: dict[str, Pose], force: float) -> Any:
    """Between a point of a part and one of ground or another part, which are apart along the surface's normal, so
    that either may be flexible; None where they are at one place."""
    first, second = ((*parts, GROUND)[i] for i in rng.permutation(len(parts) + 1)[:2])
    if first is GROUND or rng.random() < 0.5:
        first, second = (second if first is GROUND else first), GROUND
    P = place_on(rng, first)
    away = rng.normal(size=3)
    away *= rng.uniform(0.2, 0.6) / np.linalg.norm(away)
    Q = GROUND.at(*(where(poses, P) - away).tolist()) if second is GROUND else place_on(rng, second)
    n = where(poses, P) - where(poses, Q)
    d = float(np.linalg.norm(n))
    if d < NEAREST:
        return None
    n, gap, what = n / d, d * float(rng.uniform(*CLOSE)), str(rng.choice(SURFACES))
    side = np.cross(np.eye(3)[np.abs(n).argmin()], rng.normal(size=3))
    side -= n * (n @ side)
    side /= np.linalg.norm(side)
    Q = turned(poses, Q, np.column_stack([side, np.cross(n, side), n]))
    if what == "tyre":
        lean = float(rng.uniform(-0.3, 0.3))
        axis = np.cos(lean) * np.cross(n, side) + np.sin(lean) * n
        P = turned(poses, P, np.column_stack([side, np.cross(axis, side), axis]))
    made = sphere_beside(rng, P, Q, d, gap, what) if what in ("sphere", "hollow") else None
    if made is None:
        road = what == "road" or (what == "tyre" and rng.random() < 0.5)
        kind = "disc" if what == "tyre" else str(rng.choice(("sphere", "disc") if road else SHAPES))
        A = touching(rng, kind, P, axes_of(poses, P).T @ n, d - gap)
        made = A, rough(rng, Q, A.radius) if road else fm.Plane(Q)
    stiff = force * float(10.0 ** rng.uniform(1, 2))
    power = float(rng.choice((1.0, 1.5)))
    damping = float(rng.choice((0.0, 1.0)) * rng.uniform(0.1, 1.0))
    press: Any = fm.Press(stiff / d ** (power - 1.0), exponent=power, damping=damping)
    if rng.random() < 0.2:
        press = fm.Hertz(0.5 * stiff / d, 0.3, d, damping=damping)
    if what == "tyre":
        relax = (0.3 * d * rng.uniform(0.5, 2, 2)).tolist()
        slip = [stiff * one for one in relax]
        return fm.Tyre(name, *made, press, mu=0.8, slip_stiffness=slip, relaxation=relax, damping=0.1 * stiff)
    return fm.Contact(name, *made, press, rubbing(rng, stiff, d))


def axes_of(poses: dict[str, Pose], P: fm.Point) -> Any:
    """(3, 3) of a point in the world."""
    return poses[P.body.name][1] @ P.X_BP.rotation.matrix


def turned(poses: dict[str, Pose], P: fm.Point, R: Any) -> fm.Point:
    """The point with other axes, R in the world."""
    own = fm.Rotation(poses[P.body.name][1].T @ R)
    return fm.Point(P.body, fm.Transform(own, P.X_BP.offset), None)


def sphere_beside(rng: Rng, P: fm.Point, Q: fm.Point, d: float, gap: float, what: str) -> Any:
    """A sphere about P, and one about Q with this gap beside or about it."""
    radius = d * float(rng.uniform(0.2, 0.7))
    return fm.Sphere(P, radius), fm.Hollow(Q, d + radius + gap) if what == "hollow" else fm.Sphere(Q, d - radius - gap)


def touching(rng: Rng, kind: str, P: fm.Point, n: Any, depth: float) -> Any:
    """A shape about P that reaches so far against the direction n, in its axes."""
    a, b, c = rng.uniform(0.3, 1.0, 3).tolist()
    corners = rng.normal(size=(5, 3))

    def of(size: float) -> Any:
        match kind:
            case "sphere":
                return fm.Sphere(P, size)
            case "ellipsoid":
                return fm.Ellipsoid(P, (size * a, size * b, size * c))
            case "disc":
                return fm.Disc(P, size, thickness=size * a)
            case "capsule":
                return fm.Capsule(P, size * a, size * b)
            case "box":
                return fm.Box(P, (size * a, size * b, size * c))
        return fm.Hull(P, size * corners)

    reach = max(float(np.linalg.norm(np.array(half) * n) - np.dot(n, r)) for r, half in of(1.0).spots)
    return of(depth / max(reach, 0.3))


def rough(rng: Rng, Q: fm.Point, radius: float) -> fm.Road:
    """A road through Q whose valleys are wide for a wheel of this radius."""
    knots = [(2.0 * radius * k, 0.05 * radius * float(rng.uniform(-1, 1)) * (k != 0)) for k in range(-3, 4)]
    return fm.Road(Q, knots)


def rubbing(rng: Rng, stiff: float, size: float) -> fm.Coulomb | None:
    """None, or a law with or without bristles, which may resist rolling too; size: of the shapes [m]."""
    mu, which = float(rng.uniform(0.1, 1.0)), rng.random()
    if which < 0.15:
        return None
    if which < 0.3:
        return fm.Coulomb(mu, creep=0.1)
    given: dict[str, Any] = {"stiffness": stiff * float(rng.uniform(0.3, 2)), "damping": 0.1 * stiff}
    if rng.random() < 0.5:
        given |= {"static": 1.4 * mu, "stribeck": 0.1}
    if rng.random() < 0.5:
        given |= {"rolling_arm": 0.03 * size, "drilling_arm": 0.1 * size * float(rng.integers(2))}
        given |= {"turning_stiffness": 0.1 * stiff * size**2, "turning_damping": 0.01 * stiff * size**2}
    return fm.Coulomb(mu, **given)
