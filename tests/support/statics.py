"""Random mechanisms that stand somewhere, and their balance by the oracle, which shares no code with the core."""

from dataclasses import replace
from typing import Any

import numpy as np

import fmumbs as fm
from oracle import Oracle
from support.closed import at, axis, body, orientation, space, state_of

MOTION = ("qdd", "alpha", "a", "udot")


def standing_tree(seed: int) -> fm.Model:
    """A tree of pins and slides with springs in most joints, a spring across, and a load."""
    rng = np.random.default_rng(seed)
    model = fm.Model("standing", gravity=rng.uniform(-8, 8, 3))
    bodies: list[Any] = []
    for index in range(int(rng.integers(1, 6))):
        new = body(rng, f"b{index}")
        carrier = bodies[rng.integers(index)] if index and rng.random() < 0.8 else model.ground
        F = at(carrier, rng.uniform(-0.5, 0.5, 3), orientation(rng))
        M = at(new, rng.uniform(-0.5, 0.5, 3), orientation(rng))
        turns = rng.random() < 0.7
        k = float(rng.uniform(5, 50)) if rng.random() < 0.8 or not turns else 0.0
        joint = fm.Revolute if turns else fm.Prismatic
        given = {"q0": rng.uniform(-1, 1), "u0": rng.uniform(-1, 1), "stiffness": k, "damping": 0.3, "rest": 0.2}
        model.add(new, joint(f"j{index}", F, M, axis=axis(rng), **given))
        bodies.append(new)
    P = bodies[-1].at(*rng.uniform(-0.5, 0.5, 3))
    model.add(fm.Spring("s", P, model.ground.at(2, 1, 2), stiffness=rng.uniform(5, 30), damping=0.2, free_length=0.5))
    model.add(fm.Load("l", bodies[0].at(*rng.uniform(-1, 1, 3)), force=rng.uniform(-3, 3, 3)))
    return model


def standing_loop(seed: int, loops: int = 1) -> fm.Model:
    """Loops in space, with springs in all joints of the tree, that leave two freedoms or more."""
    rng = np.random.default_rng([seed, 9])
    drawn = space(seed, loops=loops, spare=2 + seed % 3).model
    model = fm.Model("standing_loop", gravity=drawn.gravity)
    closing = [joint for joint in drawn.joints if joint.name.startswith("c")]
    tree = [replace(joint, stiffness=float(rng.uniform(3, 30))) for joint in drawn.joints if joint not in closing]
    model.add(*drawn.bodies, *tree, *closing, *drawn.forces)
    return model


def sprung(model: fm.Model) -> fm.Model:
    """The same with springs in all joints that have none."""
    other = fm.Model(model.name, gravity=model.gravity)
    other.add(*model.bodies, *map(_sprung, model.joints), *model.forces)
    return other


def _sprung(joint: Any) -> Any:
    if isinstance(joint, fm.Weld) or any(joint.law("stiffness")):
        return joint
    return replace(joint, stiffness=(20.0,) * 6 if isinstance(joint, fm.Free) else 20.0)


def unbalance(solver: fm.Solver, model: fm.Model, inputs: dict[str, Any] | None = None) -> float:
    """The largest acceleration that the oracle finds at the positions of a solver at rest."""
    answer = Oracle(model).solve(state_of(solver, model), inputs or {})
    names = [name for name in answer.names() if name.split(".")[-1] in MOTION]
    return max(float(np.abs(answer[name]).max(initial=0.0)) for name in names)
