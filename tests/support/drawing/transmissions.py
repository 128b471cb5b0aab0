"""Ropes over pulleys, motors, gears with play and stops with impacts at random."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

import fmumbs as fm
from fmumbs.mechanism.bodies import GROUND
from fmumbs.mechanism.coupling import start
from support.drawing.bodies import Rng, place_on
from support.drawing.forces import scalars

Pose = tuple[Any, Any]
NEAREST = 0.1
"""Of two points of a rope, and of one to the axis of a pulley beside it [m]: nearer ones have no certain direction."""


def where(poses: dict[str, Pose], P: fm.Point) -> Any:
    """(3,) place of a point in the world."""
    p, R = poses[P.body.name]
    return p + R @ P.X_BP.offset


def away(poses: dict[str, Pose], hinge: fm.Revolute, P: fm.Point) -> float:
    """How far a point is from the axis of a hinge."""
    R = poses[hinge.F.body.name][1] @ hinge.F.X_BP.rotation.matrix
    arm = where(poses, P) - where(poses, hinge.F)
    return float(np.linalg.norm(np.cross(R @ np.array(hinge.free_modes[0].axis), arm)))


def rope(rng: Rng, name: str, parts: list[Any], hinges: list[Any], poses: dict[str, Pose], force: float) -> Any:
    """Through two to four points, now and then over pulleys between them; None where two are at one place."""
    carriers = [GROUND, *parts]
    chosen = [carriers[i] for i in rng.permutation(len(carriers))[:2]]
    chosen += [carriers[i] for i in rng.integers(len(carriers), size=int(rng.integers(3)))]
    way: list[Any] = [
        GROUND.at(*rng.uniform(-2, 2, 3).tolist()) if part is GROUND else place_on(rng, part) for part in chosen
    ]
    steps = [np.linalg.norm(where(poses, P) - where(poses, Q)) for P, Q in pairwise(way)]
    if min(steps) < NEAREST:
        return None
    for i in range(len(way) - 1, 0, -1) if hinges else ():
        hinge = hinges[rng.integers(len(hinges))]
        free = min(away(poses, hinge, way[i - 1]), away(poses, hinge, way[i]))
        if rng.random() < 0.5 and free > NEAREST:
            side = str(rng.choice(("positive", "negative")))
            way.insert(i, fm.Pulley(hinge, float(rng.uniform(0.1, 0.6) * free), side=side))
    length = float(sum(steps) * rng.uniform(0.7, 1.1))
    stiffness = length * force * float(rng.uniform(1, 10))
    damping = 0.05 * stiffness if rng.random() < 0.4 else 0.0
    return fm.Rope(name, way, stiffness=stiffness, damping=damping, length=length, winch=bool(rng.random() < 0.3))


def motor(rng: Rng, name: str, on: Any, force: float) -> fm.Motor:
    """With or without an inductance, a rotor, limits that its voltage and its current pass, and losses; slower than its
    joint by ten.
    """
    inductance = float(rng.choice((0.0, 0.05, 0.3)))
    given: dict[str, Any] = {"current": float(rng.uniform(-1, 1))} if inductance else {}
    if rng.random() < 0.3:
        given["voltage_limit"] = 0.5
    if rng.random() < 0.5:
        given["rotor_inertia"] = 0.05 * force
    made = fm.Motor(
        name, on, mode=int(rng.integers(1, scalars(on) + 1)), resistance=1.0, inductance=inductance,
        constant=0.3 * force * float(rng.uniform(0.2, 1)), gear=float(rng.choice((-1.0, 1.5))),
        voltage=float(rng.uniform(-2, 2)), **given,
    )  # fmt: skip
    sort = int(1e6 * abs(made.voltage)) % 12  # draws nothing, as seeds are pinned
    return replace(made, current_limit=1.2 if sort % 3 == 0 else None, efficiency=0.8 if sort % 4 == 0 else 1.0)


def gear(rng: Rng, name: str, able: list[tuple[Any, int]], force: float) -> fm.Gear:
    """Between two coordinates, which start within their play or pressed."""
    (A, mode_A), (B, mode_B) = (able[i] for i in rng.permutation(len(able))[:2])
    ratio = float(rng.uniform(0.5, 2) * rng.choice((-1, 1)))
    at = start(A, mode_A) - ratio * start(B, mode_B)
    stiffness = 50 * force * float(rng.uniform(0.2, 1))
    return fm.Gear(
        name, A, B, mode_A=mode_A, mode_B=mode_B, ratio=ratio, backlash=float(rng.choice((0.0, 0.1))),
        stiffness=stiffness, damping=0.02 * stiffness * float(rng.choice((0, 1))),
        offset=at + float(rng.uniform(-0.08, 0.08)),
    )  # fmt: skip


def impact(rng: Rng, name: str, on: Any) -> fm.Stop:
    """A stop with a restitution a little beside where a coordinate starts."""
    mode, gap = int(rng.integers(1, scalars(on) + 1)), float(rng.uniform(0.01, 0.2))
    at, e = start(on, mode), float(rng.choice((0.0, 0.5, 1.0)))
    ends = {"lower": at - gap} if rng.random() < 0.5 else {"upper": at + gap}
    return fm.Stop(name, on, mode=mode, restitution=e, **ends)
