"""Open chains and trees for all engines, and one random state of each; loops.py closes some.

Every body is a rod of 1 kg and 1 m along its own -z, hinged at its upper end; gravity points along -z. At zero
positions all axes are parallel, so that a tree is three arrays, and a few lines in each engine.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int32]

REVOLUTE_X, REVOLUTE_Y, REVOLUTE_Z, BALL = range(4)
GRAVITY = (0.0, 0.0, -9.81)
ROD_MASS = 1.0
ROD_COM = (0.0, 0.0, -0.5)
ROD_END = (0.0, 0.0, -1.0)
ROD_INERTIA = (0.0839583333333333, 0.0839583333333333, 0.00125)


@dataclass(frozen=True)
class Tree:
    """A tree of rods, and where loops of it are closed.

    parent: (n,) index of each body's parent, which comes first; -1 the ground.
    joint: (n,) REVOLUTE_X, REVOLUTE_Y, REVOLUTE_Z (about the axis of that name) or BALL.
    hinge: (n, 3) the joint's place on the parent, in the parent's axes [m].
    closing: (m, 2) a body whose lower end is pinned, and the body that it is pinned to; -1 the ground.
    pin: (m, 3) its place on the latter, in the latter's axes [m].
    """

    name: str
    parent: Integers
    joint: Integers
    hinge: Floats
    closing: Integers = field(default_factory=lambda: np.empty((0, 2), np.int32))
    pin: Floats = field(default_factory=lambda: np.empty((0, 3)))

    @property
    def bodies(self) -> int:
        return len(self.parent)


@dataclass(frozen=True)
class State:
    """Flat arrays, joint after joint.

    positions: one angle [rad] for a revolute, the quaternion w x y z for a ball joint.
    velocities, torques: one for a revolute [rad/s, N.m], three in the child's axes for a ball joint.
    """

    positions: Floats
    velocities: Floats
    torques: Floats


def arm(bodies: int) -> Tree:
    """A chain of revolutes whose axes are x, y, z in turn."""
    return _chain("arm", np.arange(bodies) % 3)


def spherical(bodies: int) -> Tree:
    """A chain of ball joints."""
    return _chain("spherical", np.full(bodies, BALL))


def planar(bodies: int) -> Tree:
    """A chain of revolutes about y, which moves in the plane of x and z."""
    return _chain("planar", np.full(bodies, REVOLUTE_Y))


def branch(bodies: int) -> Tree:
    """One chain from the ceiling whose last rod carries two more chains, all of ball joints.

    Each lower chain has a third of the bodies.
    """
    lower = (bodies - 1) // 3
    upper = bodies - 2 * lower
    parent = np.arange(-1, bodies - 1)
    hinge = np.tile((0.0, 0.0, -1.0), (bodies, 1))
    hinge[0] = 0.0
    for side, first in ((-0.3, upper), (0.3, upper + lower)):
        if lower:
            parent[first] = upper - 1
            hinge[first, 0] = side
    return Tree("branch", parent.astype(np.int32), np.full(bodies, BALL, np.int32), hinge)


CASES: dict[str, Callable[[int], Tree]] = {"arm": arm, "spherical": spherical, "planar": planar, "branch": branch}


def random_state(tree: Tree, seed: int = 42) -> State:
    """Positions, velocities and torques evenly spread over [-1, 1], quaternions normalised."""
    random = np.random.default_rng(seed)
    dof = sum(_dof(tree))
    positions = [random.uniform(-1, 1, 4 if dof == 3 else 1) for dof in _dof(tree)]
    return _state(positions, random.uniform(-1, 1, dof), random.uniform(-1, 1, dof))


def from_rest(tree: Tree) -> State:
    """Hanging straight down at rest, but for the first joint, by half a radian: what moves decays along the tree."""
    straight = {1: (0.0,), 3: (1.0, 0.0, 0.0, 0.0)}
    positions = [np.array(straight[dof]) for dof in _dof(tree)]
    positions[0] = np.array({1: (0.5,), 3: (np.cos(0.25), 0.0, np.sin(0.25), 0.0)}[_dof(tree)[0]])
    zeros = np.zeros(sum(_dof(tree)))
    return _state(positions, zeros, zeros)


def near_rest(tree: Tree, seed: int = 42) -> State:
    """Hanging down but for some hundredths of a radian, moving slowly, without torques."""
    random = np.random.default_rng(seed)
    dof = sum(_dof(tree))
    straight = {1: (0.0,), 3: (1.0, 0.0, 0.0, 0.0)}
    positions = [straight[n] + random.uniform(-0.02, 0.02, len(straight[n])) for n in _dof(tree)]
    return _state(positions, random.uniform(-0.02, 0.02, dof), np.zeros(dof))


def per_joint(tree: Tree, flat: Floats, of_ball: int) -> list[Floats]:
    """A flat array cut into the joints' own pieces: one number for a revolute, `of_ball` for a ball joint."""
    sizes = np.where(tree.joint == BALL, of_ball, 1)
    return np.split(flat, np.cumsum(sizes)[:-1])


def _dof(tree: Tree) -> list[int]:
    return [3 if kind == BALL else 1 for kind in tree.joint]


def _state(positions: list[Floats], velocities: Floats, torques: Floats) -> State:
    unit = [p / np.linalg.norm(p) if len(p) == 4 else p for p in positions]
    return State(np.concatenate(unit), velocities, torques)


def _chain(name: str, joint: npt.NDArray[np.int_]) -> Tree:
    hinge = np.tile((0.0, 0.0, -1.0), (len(joint), 1))
    hinge[0] = 0.0
    return Tree(name, np.arange(-1, len(joint) - 1, dtype=np.int32), joint.astype(np.int32), hinge)
