"""Constraint Jacobians as the paper derives them (constraint-jacobians, Eqs 4 to 48, Algorithms 1 and 2).

A literal transcription to judge the core by, for the plane. Numbers in parentheses are the paper's equations. An
element leads from its root end R to its tip ends T; joints and flexible bodies carry coordinates q_i. Two groups of
variables:

    I   r_OP,q and A_OP,q: how a point P of a secondary joint depends on a coordinate of an element towards the root,
    II  l_RT,q and A_RT,q of a primary joint; rho_R,q, rho_T,q, A_ROf,q and A_OfT,q of a flexible body.

Everything but the algorithms takes complex coordinates too, so that c(q) can be differentiated by a complex step.

What the printed equations do not say, or say otherwise:

* (11) lacks the minus that (34) and (35) have. In (41) the first bracket has the right sign and the second the wrong
  one, in (42) it is the other way round: (31) is right, and the base point's share is its negative.
* (5): that c_q is the derivative of c' by q'.
* Algorithm 1 stops at the root of the loop. Below it a turn moves B and M alike, so that what it leaves out is D c,
  zero where the loop is closed; Algorithm 2 has it.
* Only the pin (7) is printed as a secondary joint. A slide follows from the same group I: B's y axis stays across what
  leads from B to M, and across M's x axis.
* A body from which both paths of a loop leave by different tips belongs to the loop, once for each path.
* (4) does not say which of the many dq is meant: here the Euclidean smallest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

D = np.array([[0.0, -1.0], [1.0, 0.0]])
"""D r is the paper's cross product matrix of r = [x, y], and D A the derivative of A by its angle (17)."""
TOLERANCE = 1e-10
STEP = 1e-30


def turn(angle: complex) -> Array:
    """The direction cosine matrix (13)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


Change = tuple[Array, Array]
"""A vector and a matrix differentiated by one coordinate: l_RT,q and A_RT,q, or r_OP,q and A_OP,q."""


@dataclass(frozen=True)
class RigidBody:
    """tips: (l_RT, angle of A_RT) of each tip end."""

    tips: tuple[tuple[Array, float], ...]
    coordinates = 0

    def tip(self, q: Array, tip: int) -> Change:
        length, angle = self.tips[tip]
        return length, turn(angle)

    def preprocess(self, q: Array, tip: int) -> list[Change]:
        return []


@dataclass(frozen=True)
class Pin:
    """A smooth pin (15), (16)."""

    coordinates = 1

    def tip(self, q: Array, tip: int) -> Change:
        return np.zeros(2), turn(q[0])

    def preprocess(self, q: Array, tip: int) -> list[Change]:
        """Group II (17)."""
        return [(np.zeros(2), turn(q[0]) @ D)]


@dataclass(frozen=True)
class Slide:
    """Along a direction that is fixed in the root end's axes."""

    direction: Array
    coordinates = 1

    def tip(self, q: Array, tip: int) -> Change:
        return self.direction * q[0], np.eye(2)

    def preprocess(self, q: Array, tip: int) -> list[Change]:
        return [(self.direction, np.zeros((2, 2)))]


@dataclass(frozen=True)
class Node:
    """Of a flexible body: u (2,) where it is undeformed, shape (2, n) Phi_u and slope (n,) Phi_theta (22)."""

    u: Array
    shape: Array
    slope: Array

    def rho(self, q: Array) -> Array:
        return self.u + self.shape @ q

    def A_Of(self, q: Array) -> Array:
        """From the node's axes to the floating frame's (23)."""
        return turn(self.slope @ q)


@dataclass(frozen=True)
class FlexibleBody:
    """Its floating frame Of, and modal coordinates (21)."""

    root: Node
    tips: tuple[Node, ...]

    @property
    def coordinates(self) -> int:
        return len(self.root.slope)

    def tip(self, q: Array, tip: int) -> Change:
        """What (19) has between R and T."""
        R, T = self.root, self.tips[tip]
        A_ROf = R.A_Of(q).T
        return A_ROf @ (T.rho(q) - R.rho(q)), A_ROf @ T.A_Of(q)

    def preprocess(self, q: Array, tip: int) -> list[Change]:
        """(20) with R for the inertial frame, from group II (30)."""
        R, T = self.root, self.tips[tip]
        A_ROf, A_OfT, rho_R, rho_T = R.A_Of(q).T, T.A_Of(q), R.rho(q), T.rho(q)
        changes = []
        for i in range(self.coordinates):
            rho_R_q, rho_T_q = R.shape[:, i], T.shape[:, i]
            A_ROf_q, A_OfT_q = -D @ A_ROf * R.slope[i], D @ A_OfT * T.slope[i]
            l_RT_q = -A_ROf_q @ rho_R - A_ROf @ rho_R_q + A_ROf_q @ rho_T + A_ROf @ rho_T_q
            changes.append((l_RT_q, A_ROf_q @ A_OfT + A_ROf @ A_OfT_q))
        return changes


Element = RigidBody | Pin | Slide | FlexibleBody
End = tuple[int, int]
"""An element's index and which of its tips; GROUND ends every path."""
GROUND: End = (-1, 0)


@dataclass(frozen=True)
class SecondaryJoint:
    """Between B and M: each an end, l_TP (2,) and the angle of A_TP."""

    base: tuple[End, Array, float]
    moving: tuple[End, Array, float]
    slides: bool = False

    def constraint(self, r_OB: Array, A_OB: Array, r_OM: Array, A_OM: Array) -> Array:
        """CalculateD0ConstraintEq: the pin (7), or a slide along B's x axis."""
        if not self.slides:
            return r_OM - r_OB
        y = A_OB[:, 1]
        return np.array([y @ (r_OM - r_OB), y @ A_OM[:, 0]])

    def change(self, points: tuple[Array, Array, Array, Array], at: int, change: Change) -> Array:
        """CalculateConstraintJacobian: a column of c_L,q from group I of B (at = 0) or of M (at = 1): (10), (11)."""
        r_OB, A_OB, r_OM, A_OM = points
        r_q, A_q = change
        if not self.slides:
            return r_q if at == 1 else -r_q
        y = A_OB[:, 1]
        if at == 1:
            return np.array([y @ r_q, y @ A_q[:, 0]])
        return np.array([A_q[:, 1] @ (r_OM - r_OB) - y @ r_q, A_q[:, 1] @ A_OM[:, 0]])


@dataclass(frozen=True)
class System:
    """Elements in an order in which each comes after `inboard[i]`, the end that its root end is at."""

    elements: Sequence[Element]
    inboard: Sequence[End]
    secondary: Sequence[SecondaryJoint]
    first: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        counts = [element.coordinates for element in self.elements]
        object.__setattr__(self, "first", np.cumsum([0, *counts]).tolist())

    @property
    def coordinates(self) -> int:
        return self.first[-1]

    def own(self, q: Array, i: int) -> Array:
        return q[self.first[i] : self.first[i + 1]]

    def ends(self, q: Array) -> dict[End, Change]:
        """r_OT and A_OT of all tip ends, from the ground outwards: (47), (48)."""
        found: dict[End, Change] = {GROUND: (np.zeros(2), np.eye(2))}
        for i, element in enumerate(self.elements):
            r_OR, A_OR = found[self.inboard[i]]
            for tip in range(len(getattr(element, "tips", "T"))):
                l_RT, A_RT = element.tip(self.own(q, i), tip)
                found[i, tip] = r_OR + A_OR @ l_RT, A_OR @ A_RT
        return found

    def points(self, joint: SecondaryJoint, ends: dict[End, Change]) -> tuple[Array, Array, Array, Array]:
        """r_OB, A_OB, r_OM, A_OM."""
        found: list[Array] = []
        for end, l_TP, angle in (joint.base, joint.moving):
            r_OT, A_OT = ends[end]
            found += [r_OT + A_OT @ l_TP, A_OT @ turn(angle)]
        return found[0], found[1], found[2], found[3]

    def constraints(self, q: Array) -> Array:
        """c(q) of all secondary joints."""
        ends = self.ends(q)
        return np.concatenate([joint.constraint(*self.points(joint, ends)) for joint in self.secondary])

    def path(self, end: End) -> list[End]:
        """From an end to the ground."""
        found = []
        while end != GROUND:
            found.append(end)
            end = self.inboard[end[0]]
        return found


def algorithm_1(system: System, q: Array) -> Array:
    """c_q (45), (46), swept along the two paths of each loop; group II of an element is computed once."""
    ends = system.ends(q)
    group_two: dict[End, list[Change]] = {}
    c_q = np.zeros((2 * len(system.secondary), system.coordinates))
    for k, joint in enumerate(system.secondary):
        points = system.points(joint, ends)
        paths = [system.path(joint.base[0]), system.path(joint.moving[0])]
        for at in (0, 1):
            r_OP, A_OP = points[2 * at], points[2 * at + 1]
            for end in paths[at]:
                if end in paths[1 - at]:
                    break  # the root of the loop
                if end not in group_two:
                    group_two[end] = system.elements[end[0]].preprocess(system.own(q, end[0]), end[1])
                _, A_OR = ends[system.inboard[end[0]]]
                r_OT, A_OT = ends[end]
                l_TP, A_TP = A_OT.T @ (r_OP - r_OT), A_OT.T @ A_OP
                for i, (l_RT_q, A_RT_q) in enumerate(group_two[end], system.first[end[0]]):
                    change = A_OR @ l_RT_q + A_OR @ A_RT_q @ l_TP, A_OR @ A_RT_q @ A_TP  # group I (14), (32), (36)
                    c_q[2 * k : 2 * k + 2, i] += joint.change(points, at, change)
    return c_q


def algorithm_2(system: System, q: Array) -> Array:
    """c_q by direct differentiation: for every coordinate the derivatives (47), (48) of all elements."""
    ends = system.ends(q)
    c_q = np.zeros((2 * len(system.secondary), system.coordinates))
    for i in range(system.coordinates):
        changes: dict[End, Change] = {GROUND: (np.zeros(2), np.zeros((2, 2)))}
        for j, element in enumerate(system.elements):
            _, A_OR = ends[system.inboard[j]]
            r_OR_q, A_OR_q = changes[system.inboard[j]]
            for tip in range(len(getattr(element, "tips", "T"))):
                l_RT, A_RT = element.tip(system.own(q, j), tip)
                r_OT_q, A_OT_q = r_OR_q + A_OR_q @ l_RT, A_OR_q @ A_RT
                if system.first[j] <= i < system.first[j + 1]:
                    l_RT_q, A_RT_q = element.preprocess(system.own(q, j), tip)[i - system.first[j]]
                    r_OT_q, A_OT_q = r_OT_q + A_OR @ l_RT_q, A_OT_q + A_OR @ A_RT_q
                changes[j, tip] = r_OT_q, A_OT_q
        for k, joint in enumerate(system.secondary):
            points = system.points(joint, ends)
            for at, (end, l_TP, angle) in enumerate((joint.base, joint.moving)):
                r_OT_q, A_OT_q = changes[end]
                change = r_OT_q + A_OT_q @ l_TP, A_OT_q @ turn(angle)
                c_q[2 * k : 2 * k + 2, i] += joint.change(points, at, change)
    return c_q


def complex_step(system: System, q: Array) -> Array:
    """c_q from c(q) alone."""
    columns = [system.constraints(q + 1j * STEP * unit).imag / STEP for unit in np.eye(system.coordinates)]
    return np.array(columns).T


def correct(system: System, q: Array, qd: Array, steps: int = 20) -> tuple[Array, Array]:
    """The procedure of section 7: positions by (4) until |c| is below the tolerance, then velocities by (5)."""
    for _ in range(steps):
        c = system.constraints(q)
        if np.abs(c).max() <= TOLERANCE:
            break
        q = q - np.linalg.lstsq(algorithm_1(system, q), c)[0]
    c_q = algorithm_1(system, q)
    return q, qd - np.linalg.lstsq(c_q, c_q @ qd)[0]
