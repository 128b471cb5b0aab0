"""A mechanism at one position: the input of the analysis of reactions.

Wrenches are (torque, force), torques about the origin of the joint's frame M.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

GROUND = -1

_DEPENDENT = 1e-9  # singular values of modes below this, relative to the largest, are zero


@dataclass(frozen=True)
class Term:
    """A coordinate of a coupling: joint, mode and ratio; phi, psi: (6, velocities) of that joint."""

    joint: int
    mode: int
    ratio: float
    phi: Array
    psi: Array


@dataclass(frozen=True)
class Coupled:
    """A row that couples free coordinates of joints; excited coordinates do not count."""

    name: str
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Flexible:
    """The modes of a flexible body, on which the reactions of its joints are balanced as on a rigid body.

    shapes: for each joint (6, modes), angular velocity and velocity of M's origin by the modes, in F's axes; negative
    on F's side.
    """

    modes: int
    shapes: dict[int, Array]


@dataclass(frozen=True)
class Placed:
    """Bodies and joints at one position.

    bodies, joints: names. F, M: (joints,) the body on each side, -1 for the ground. origin: (joints, 3) of M in the
    world [m]. axes: (joints, 3, 3) of F in the world. spans: (6, n) for each joint, basis of the wrenches that it can
    carry, in F's axes, for n constraints. mass: (bodies,) [kg], com: (bodies, 3) [m] and inertia: (bodies, 3, 3) about
    it [kg.m2], in the world. holding: laws that hold a coordinate of a joint while they stick, each as a coupling of it
    alone.
    """

    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    F: Indices
    M: Indices
    origin: Array
    axes: Array
    spans: tuple[Array, ...]
    mass: Array
    com: Array
    inertia: Array
    couplings: tuple[Coupled, ...] = ()
    flexible: tuple[Flexible, ...] = ()
    holding: tuple[Coupled, ...] = ()

    @property
    def dof(self) -> int:
        """Degrees of freedom of all bodies without joints: six each, and their modes."""
        return 6 * len(self.bodies) + sum(one.modes for one in self.flexible)

    @property
    def rows(self) -> int:
        """Number of constraints of all joints and couplings."""
        return sum(int(span.shape[1]) for span in self.spans) + len(self.couplings)

    @cached_property
    def at(self) -> tuple[tuple[int, ...], ...]:
        """The joints on each body; those on the ground last."""
        found: list[list[int]] = [[] for _ in range(len(self.bodies) + 1)]
        for joint, (F, M) in enumerate(zip(self.F.tolist(), self.M.tolist(), strict=True)):
            found[F].append(joint)
            found[M].append(joint)
        return tuple(map(tuple, found))

    def ordered(self, bodies: Sequence[str], joints: Sequence[str]) -> "Placed":
        """The same mechanism with its bodies and joints in another order."""
        place = {name: i for i, name in enumerate(bodies)}
        moved = np.array([*(place[name] for name in self.bodies), GROUND])
        same = np.argsort(moved[:-1])
        at = {name: i for i, name in enumerate(self.joints)}
        turn, at_new = [at[name] for name in joints], {name: i for i, name in enumerate(joints)}

        def moved_terms(one: Coupled) -> Coupled:
            return replace(one, terms=tuple(replace(t, joint=at_new[self.joints[t.joint]]) for t in one.terms))

        return Placed(
            tuple(bodies),
            tuple(joints),
            moved[self.F[turn]],
            moved[self.M[turn]],
            self.origin[turn],
            self.axes[turn],
            tuple(self.spans[j] for j in turn),
            self.mass[same],
            self.com[same],
            self.inertia[same],
            tuple(map(moved_terms, self.couplings)),
            tuple(
                replace(one, shapes={at_new[self.joints[j]]: shape for j, shape in one.shapes.items()})
                for one in self.flexible
            ),
            tuple(map(moved_terms, self.holding)),
        )

    def without(self, freed: dict[int, Array]) -> "Placed":
        """The same mechanism with some directions of joints released: (6, n) orthonormal columns for each joint."""
        spans = list(self.spans)
        for joint, directions in freed.items():
            rest = spans[joint] - directions @ (directions.T @ spans[joint])
            spans[joint] = span_of(rest)
        return replace(self, spans=tuple(spans))


@dataclass(frozen=True)
class Tree:
    """A spanning tree from the ground.

    carrier: (bodies,) the joint that carries each; parent: (bodies,) the body on its other side; depth: (bodies,)
    from 0; cuts: the joints that close loops.
    """

    carrier: Indices
    parent: Indices
    depth: Indices
    cuts: tuple[int, ...]

    def loop(self, one: int, other: int) -> list[tuple[int, int]]:
        """The bodies on the tree path between two bodies: (body, 1) on the side of `other`, (body, -1) of `one`.

        Their carriers transmit the wrench of a cut joint on `other`, and its opposite on `one`.
        """
        found: list[tuple[int, int]] = []
        while one != other:
            if other != GROUND and (one == GROUND or self.depth[other] >= self.depth[one]):
                found.append((other, 1))
                other = int(self.parent[other])
            else:
                found.append((one, -1))
                one = int(self.parent[one])
        return found


def spanning_tree(placed: Placed, cuts: tuple[int, ...] = ()) -> Tree:
    """A tree that reaches every body by as few joints as possible; cuts: joints to leave out."""
    bodies = len(placed.bodies)
    carrier, parent, depth = (np.full(bodies, -1) for _ in range(3))
    reached = [False] * bodies
    avoided = set(cuts)
    waiting = deque([GROUND])
    while waiting:
        body = waiting.popleft()
        for joint in placed.at[body]:
            F, M = int(placed.F[joint]), int(placed.M[joint])
            other = M if body == F else F
            if other == GROUND or reached[other] or joint in avoided:
                continue
            reached[other] = True
            carrier[other], parent[other] = joint, body
            depth[other] = 0 if body == GROUND else depth[body] + 1
            waiting.append(other)
    used = set(carrier.tolist())
    return Tree(carrier, parent, depth, tuple(j for j in range(len(placed.joints)) if j not in used))


def tree_of_short_loops(placed: Placed) -> Tree:
    """The tree of fewest joints, or one of clusters if that has shorter loops in sum.

    In a ladder with n rungs the former has loops of up to 2 n joints, the latter of about four.
    """
    trees = (spanning_tree(placed), spanning_tree(placed, _between_clusters(placed)))
    return min(trees, key=lambda tree: sum(len(tree.loop(int(placed.F[c]), int(placed.M[c]))) for c in tree.cuts))


def _between_clusters(placed: Placed) -> tuple[int, ...]:
    """The joints that close loops if clusters grow from their neighbours.

    In each round a body that no cluster has takes its neighbours that none has, or joins one of theirs; a cluster is
    one body in the next round. Each round at least halves them.
    """
    ground = len(placed.bodies)
    ends = ((F % (ground + 1), M % (ground + 1)) for F, M in zip(placed.F.tolist(), placed.M.tolist(), strict=True))
    between = [(F, M, joint) for joint, (F, M) in enumerate(ends) if F != M]
    used: set[int] = set()
    while between:
        at: dict[int, list[tuple[int, int]]] = {}
        for one, other, joint in between:
            at.setdefault(one, []).append((other, joint))
            at.setdefault(other, []).append((one, joint))
        cluster: dict[int, int] = {}
        for body in sorted(at):
            if body in cluster:
                continue
            free = dict(reversed([each for each in at[body] if each[0] not in cluster]))  # the first joint to each
            cluster[body] = body if free else cluster[at[body][0][0]]
            cluster |= dict.fromkeys(free, body)
            used |= set(free.values()) if free else {at[body][0][1]}
        between = [(cluster[F], cluster[M], joint) for F, M, joint in between if cluster[F] != cluster[M]]
    return tuple(joint for joint in range(len(placed.joints)) if joint not in used)


def span_of(columns: Array) -> Array:
    """(6, n) orthonormal columns with the same span."""
    u, s, _ = np.linalg.svd(columns, full_matrices=False)
    return u[:, : int(np.sum(s > _DEPENDENT * max(1e-300, *s)))] if s.size else columns


def reciprocal(columns: Array) -> Array:
    """(6, 6 - n) orthonormal wrenches that do no work on n modes, or modes on which n wrenches do no work (Eq 19).

    The angular part may be first or last; the result has the same order.
    """
    if not columns.shape[1]:
        return np.eye(6)
    u, s, _ = np.linalg.svd(columns)
    return u[:, int(np.sum(s > _DEPENDENT * s[0])) :]


def shift(arm: Array) -> Array:
    """(..., 6, 6) transforms a wrench to another point; arm: (..., 3) from that point to the old one."""
    out = np.zeros((*arm.shape[:-1], 6, 6))
    out[..., range(6), range(6)] = 1.0
    x, y, z = np.moveaxis(arm, -1, 0)
    out[..., 0, 4], out[..., 0, 5] = -z, y
    out[..., 1, 3], out[..., 1, 5] = z, -x
    out[..., 2, 3], out[..., 2, 4] = -y, x
    return out
