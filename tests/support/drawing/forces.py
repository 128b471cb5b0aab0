"""Forces, laws, couplings and programs at random."""

from __future__ import annotations

from typing import Any

import numpy as np

import fmumbs as fm
from support.drawing.bodies import Rng, place_on

LAWS = ("polynomial", "table", "smooth", "damper", "stop", "brake", "brake")


def springs_and_loads(rng: Rng, model: fm.Model, parts: list[Any], force: float) -> None:
    """parts: bodies and links."""
    for k in range(int(rng.integers(0, 3))):
        first, second = rng.permutation(len(parts) + 1)[:2].tolist()
        ends = [model.ground.at(*rng.uniform(-2, 2, 3).tolist()) if i == len(parts) else place_on(rng, parts[i])
                for i in (first, second)]  # fmt: skip
        given = {"stiffness": 10 * force * rng.random(), "damping": force * rng.random() * rng.choice((0, 1))}
        if ends[0].body.name != ends[1].body.name:
            model.add(fm.Spring(f"s{k}", *ends, free_length=rng.uniform(0, 1), **given))
    for k in range(int(rng.integers(0, 3))):
        push, twist = force * rng.uniform(-1, 1, (2, 3))
        model.add(fm.Load(f"l{k}", place_on(rng, parts[rng.integers(len(parts))]), force=push, torque=twist))


def scalars(joint: Any) -> int:
    """How many of its free modes can have a law."""
    if joint.velocity_rows or isinstance(joint, fm.Spherical | fm.Free):
        return 0
    return len(joint.free_modes)


def law(rng: Rng, name: str, on: Any, force: float) -> Any:
    """Any law on a joint's mode or on a spring."""
    spring = isinstance(on, fm.Spring)
    mode = 1 if spring else int(rng.integers(1, scalars(on) + 1))
    kind = str(rng.choice(LAWS))
    x, y = np.sort(rng.uniform(-1, 1, 4)) + (1.0 if spring else 0.0), force * np.sort(rng.uniform(-2, 2, 4))
    if kind == "polynomial":
        pull = force if spring else -force
        c = [[pull * rng.uniform(-1, 1), pull * rng.random()], [pull * rng.uniform(0, 5)], [0.0], [pull * rng.random()]]
        return fm.Law.polynomial(name, on, c, mode=mode)
    if kind == "stop" and not spring:
        low, high = rng.uniform(-0.6, 0.0), rng.uniform(0.1, 0.6)
        stiff = 100 * force
        return fm.Stop(name, on, mode=mode, lower=low, upper=high, stiffness=stiff, damping=0.02 * stiff)
    if kind == "brake":
        breakaway = float(rng.choice((1.0, 1.3)))
        return fm.Law.brake(name, on, force * 10.0 ** rng.uniform(-2, 0.5), mode=mode, breakaway=breakaway)
    if kind == "damper":
        return fm.Law.damper(name, on, x - x.mean(), y if spring else y[::-1], mode=mode)
    return fm.Law.table(name, on, x, y if spring else y[::-1], mode=mode, smooth=kind == "smooth")


def jumps(one: Any) -> bool:
    """Whether it may stick."""
    return any(np.isfinite((piece.v_lower, piece.v_upper)).any() for piece in one.pieces)


def coupling(rng: Rng, name: str, joints: list[Any]) -> fm.Coupling | None:
    """Of two or three coordinates of joints in the tree."""
    able = [(j, k + 1) for j in joints for k in range(scalars(j))]
    if len(able) < 3:
        return None
    chosen = [able[i] for i in rng.permutation(len(able))[: int(rng.integers(2, 4))]]
    return fm.Coupling(name, [(*one, float(rng.uniform(0.5, 2) * rng.choice((-1, 1)))) for one in chosen])


def program(rng: Rng, name: str, joints: list[Any], bodies: list[Any], pose: Any) -> Any:
    """A path for a joint or for a point, from where it is; pose: (p, R) of the last body in the world."""
    T = float(rng.uniform(0.3, 0.6))
    steps = rng.uniform(-0.1, 0.1, 2)
    able = [j for j in joints if isinstance(j, fm.Revolute | fm.Prismatic)]
    if able and rng.random() < 0.5:
        one = able[rng.integers(len(able))]
        path = fm.Path.quintic([0.0, T], [one.q0, one.q0 + steps[0]])
        drives = {"drives": (one,), "insist": True} if rng.random() < 0.3 else {}
        return fm.ProgrammedJoint(name, one, path=path, transition=0.4, **drives)
    body, arm, (p, R) = bodies[-1], rng.uniform(-0.4, 0.4, 3), pose
    letter = str(rng.choice(("x", "y", "z")))
    here = (p + R @ arm)["xyz".index(letter)]
    path = fm.Path.quintic([0.0, T], [here, here + steps[1]])
    return fm.ProgrammedPoint(name, body.at(*arm.tolist()), path=path, directions=letter, transition=0.4)
