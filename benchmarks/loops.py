"""Closed mechanisms for all engines: rods as in trees.py, hinged about y, some of their ends pinned.

They move in the plane x-z. A rod at the angle a reaches from its upper end to (-sin a, -cos a) below it.
"""

from collections.abc import Callable

import numpy as np
from trees import REVOLUTE_Y, ROD_END, Floats, State, Tree

PITCH = 1.5  # m between the pivots of the four-bar, whose cranks are therefore not parallel
CRANK = -0.8  # rad, where the first crank stands
RATE = 1.0  # rad/s, how fast it turns

Mechanism = tuple[Tree, State]


def fourbar(loops: int = 1, rate: float = RATE) -> Mechanism:
    """Two cranks with pivots 1.5 m apart, and a rung between their ends."""
    return _windows("fourbar", loops, PITCH, rate)


def ladder(windows: int, rate: float = RATE) -> Mechanism:
    """Cranks with pivots 1 m apart, and rungs between their ends; all cranks stay parallel."""
    return _windows("ladder", windows, 1.0, rate)


def rod_loop(rods: int, closed: bool = True) -> Mechanism:
    """A chain of rods, its last end pinned where it begins: a regular polygon at rest. Or the same chain, open."""
    turn = 2 * np.pi / rods
    hinge = np.tile(ROD_END, (rods, 1))
    hinge[0] = 0.0
    ends = (np.array([[rods - 1, -1]], np.int32), np.zeros((1, 3))) if closed else ()
    tree = Tree("rod_loop", np.arange(-1, rods - 1, dtype=np.int32), _revolutes(rods), hinge, *ends)
    return tree, State(np.array([turn / 2, *[turn] * (rods - 1)]), np.zeros(rods), np.zeros(rods))


CASES: dict[str, Callable[[int], Mechanism]] = {"fourbar": fourbar, "ladder": ladder}


def placed(mechanism: Mechanism) -> tuple[Floats, Floats]:
    """Each body's angle [rad], and where its upper end is in x and z [m]."""
    tree, state = mechanism
    angle, upper = np.zeros(tree.bodies), np.zeros((tree.bodies, 2))
    for k, (parent, hinge) in enumerate(zip(tree.parent, tree.hinge, strict=True)):
        angle[k] = state.positions[k] + (angle[parent] if parent >= 0 else 0.0)
        upper[k] = upper[parent] + _turned(angle[parent], hinge) if parent >= 0 else hinge[[0, 2]]
    return angle, upper


def _windows(name: str, windows: int, pitch: float, rate: float) -> Mechanism:
    """Bodies in turn: crank, rung, crank, rung, .., crank. Torques are at random."""
    bodies = 2 * windows + 1
    cranks, rungs = np.arange(0, bodies, 2), np.arange(1, bodies, 2)
    parent = np.full(bodies, -1, np.int32)
    parent[rungs] = cranks[:-1]
    hinge = np.zeros((bodies, 3))
    hinge[cranks, 0] = pitch * np.arange(windows + 1)
    hinge[rungs] = ROD_END
    closing = np.stack([rungs, cranks[1:]], axis=1).astype(np.int32)
    tree = Tree(name, parent, _revolutes(bodies), hinge, closing, np.tile(ROD_END, (windows, 1)))

    angle, speed = [CRANK], [rate]
    for _ in range(windows):
        rung, crank = _next_window(angle[-1], pitch)
        turning = np.linalg.solve(np.stack([_along(crank), -_along(rung)], axis=1), _along(angle[-1]) * speed[-1])
        angle += [rung, crank]
        speed += [turning[1], turning[0]]
    absolute = np.array([angle, speed])
    absolute[:, rungs] -= absolute[:, cranks[:-1]]  # of the rungs, beside their cranks
    torques = np.random.default_rng(42).uniform(-1, 1, bodies)
    return tree, State(absolute[0], absolute[1], torques)


def _next_window(crank: float, pitch: float) -> tuple[float, float]:
    """The angles of the rung and of the next crank: their ends meet where circles about both pivots cross."""
    start, pivot = _end(crank), np.array([pitch, 0.0])
    across = pivot - start
    half = 0.5 * np.linalg.norm(across)
    aside = np.array([across[1], -across[0]]) / (2 * half) * np.sqrt(1 - half**2)
    meeting = start + 0.5 * across + aside
    return _angle(meeting - start), _angle(meeting - pivot)


def _end(angle: float) -> Floats:
    return np.array([-np.sin(angle), -np.cos(angle)])


def _along(angle: float) -> Floats:
    """The derivative of _end."""
    return np.array([-np.cos(angle), np.sin(angle)])


def _angle(rod: Floats) -> float:
    return float(np.arctan2(-rod[0], -rod[1]))


def _turned(angle: float, place: Floats) -> Floats:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * place[0] + s * place[2], -s * place[0] + c * place[2]])


def _revolutes(bodies: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.full(bodies, REVOLUTE_Y, np.int32)
