"""Riccati transfer matrices as the paper prints them (riccati-mstmm, Eqs 1 to 34 and 56 to 60).

A literal transcription to judge the core by. Numbers in parentheses are the paper's equations; its figures b,
c and d (6, 8, 16) are missing from the text and derived here from what Eqs 4, 5, 9 and 14 already use.

The state at a point (1) is z = [r'', Omega', m, q, 1] in inertial axes. At an element's input, forces act on
the element along the axes and moments about the negative axes; at its output it is the other way round: a
body feels the force q and the torque -m at an input, the force -q and the torque m at its output.

What the printed equations do not say, and what is done about it here:

* The hinge (10), (12) makes the moment vanish at the *output of its outboard body*, so the row m of S and e
  is zero behind that body, and m = 0 says nothing more at the end of a subchain, in (15) and in (56). But no
  equation says that the moment vanishes at the *first* hinge of a subchain: read literally, the 9 x 9 matrix
  of (59) has rank 7. `condition_at_first_hinge` supplies the others, in place of the rows that say 0 = 0.
* The pivot (24) behind hinge 4 of the example is 2 + 3 cos(theta3 - theta5): zero where the mechanism is
  regular. It stays as printed: the recursion fails there.
* In space the pivot behind a *third* body of a subchain is zero in every position: with m = 0 the hinge tells
  Omega' of its outboard body from r x q alone, which has rank two. A chain in space has at most two bodies.
* A tip that is clamped (r'' = Omega' = 0) has a singular pivot (24) at the second body, for the same reason.
  "Fixed" is therefore a smooth hinge on the ground: r'' = m = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ACCELERATION, ANGULAR, MOMENT, FORCE = 1, 2, 3, 4
"""Block rows of z: r'', Omega', m, q."""
SINGULAR = 1e13
"""Condition beyond which a pivot is zero but for rounding."""
FREE = (MOMENT, FORCE)
FIXED = (ACCELERATION, MOMENT)
CLAMPED = (ACCELERATION, ANGULAR)
"""Boundaries: which half of the state is known to be zero."""


def tilde(a: Array) -> Array:
    """The matrix of the cross product: tilde(a) b = a x b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


@dataclass(frozen=True)
class Layout:
    """How many translations and rotations a state has."""

    translations: int
    rotations: int

    def size(self, inputs: int = 1) -> int:
        return (self.translations + self.rotations) * (1 + inputs) + 1

    def block(self, k: int, inputs: int = 1) -> slice:
        """Block k (from 1, as in the paper) of the state (1), or of the extended state (6) of many inputs."""
        sizes = [self.translations, self.rotations] + [self.rotations, self.translations] * inputs + [1]
        return slice(sum(sizes[: k - 1]), sum(sizes[:k]))

    def rows(self, blocks: Sequence[int]) -> list[int]:
        return [i for k in blocks for i in range(self.size())[self.block(k)]]

    def kept(self, inputs: int = 1) -> list[int]:
        """Rows of the spatial state: all, or for the plane 1, 2, 6, 9, 10, 11, 13 as below (35)."""
        if self.translations == 3:
            return list(range(self.size(inputs)))
        return [0, 1, 5] + [6 * k + i for k in range(1, inputs + 1) for i in (2, 3, 4)] + [6 + 6 * inputs]


SPACE = Layout(3, 3)
PLANE = Layout(2, 1)


@dataclass(frozen=True)
class RigidBody:
    """What (5) needs, all in inertial axes but `J`.

    A: (3, 3) body axes to inertial axes. J: (3, 3) inertia about the input I_1 in body axes [kg.m2].
    Omega: angular velocity [rad/s]. r_IC, r_IO: from I_1 to the centre of mass and to the output [m].
    r_II: from I_1 to the inputs I_2, I_3, ... [m]. f_C, m_C: external force at C [N] and moment [N.m].
    """

    mass: float
    J: Array
    A: Array
    Omega: Array
    r_IC: Array
    r_IO: Array
    f_C: Array
    m_C: Array = field(default_factory=lambda: np.zeros(3))
    r_II: tuple[Array, ...] = ()

    @property
    def inputs(self) -> int:
        return 1 + len(self.r_II)


def body_matrix(body: RigidBody, layout: Layout = SPACE) -> Array:
    """Transfer matrix of a rigid body with one input (4) or many (8), with the abbreviations (5) and (9)."""
    m, A, L = body.mass, body.A, body.inputs
    spin = tilde(body.Omega)
    w = A.T @ body.Omega
    E1 = -tilde(body.r_IO)
    E2 = spin @ spin @ body.r_IO
    E3 = -m * np.eye(3)
    E4 = m * tilde(body.r_IC)
    E5 = body.f_C - m * spin @ spin @ body.r_IC
    E6 = tilde(body.r_IO)
    E7 = m * tilde(body.r_IC)
    E8 = A @ body.J @ A.T
    E9 = -body.m_C - tilde(body.r_IC) @ body.f_C + A @ tilde(w) @ body.J @ w

    U = np.zeros((SPACE.size(), SPACE.size(L)))
    r, o, t, f, one = (SPACE.block(k) for k in range(1, 6))
    m1, q1, last = SPACE.block(3, L), SPACE.block(4, L), SPACE.block(2 * L + 3, L)
    U[r, r], U[r, o], U[r, last] = np.eye(3), E1, E2[:, None]
    U[o, o] = np.eye(3)
    U[t, r], U[t, o], U[t, m1], U[t, q1] = E6 @ E3 + E7, E6 @ E4 + E8, np.eye(3), E6
    U[t, last] = (E6 @ E5 + E9)[:, None]
    U[f, r], U[f, o], U[f, q1], U[f, last] = E3, E4, np.eye(3), E5[:, None]
    U[one, last] = 1.0
    for k, r_II in enumerate(body.r_II, start=2):
        mk, qk = SPACE.block(2 * k + 1, L), SPACE.block(2 * k + 2, L)
        E_Ik = -tilde(r_II)
        U[t, mk], U[t, qk], U[f, qk] = np.eye(3), E6 + E_Ik, np.eye(3)
    return U[np.ix_(layout.kept(), layout.kept(L))]


def _angular_rows(U: Array, layout: Layout, inputs: int) -> tuple[Array, list[Array]]:
    """-inverse(u_32) and the blocks u_3,1 ... u_3,2L+3 of the third block row of the outboard body."""
    row = U[layout.block(MOMENT)]
    u3 = [row[:, layout.block(k, inputs)] for k in range(1, 2 * inputs + 4)]
    return -np.linalg.inv(u3[1]), u3


def hinge_matrix(outboard: Array, layout: Layout) -> Array:
    """Transfer matrix of a smooth ball-and-socket hinge (10), or its reduced form, from its outboard body."""
    minus_inverse, u3 = _angular_rows(outboard, layout, 1)
    U = np.eye(layout.size())
    o = layout.block(ANGULAR)
    U[o, o] = 0.0
    for k in (1, 3, 4, 5):
        U[o, layout.block(k)] = minus_inverse @ u3[k - 1]
    return U


def multi_hinge_matrices(outboard: Array, layout: Layout, inputs: int) -> list[Array]:
    """The matrices (12) and (13) of the main transfer equation (11), one for each input."""
    minus_inverse, u3 = _angular_rows(outboard, layout, inputs)
    o, last = layout.block(ANGULAR), layout.block(2 * inputs + 3, inputs)
    matrices = []
    for k in range(1, inputs + 1):
        U = np.zeros((layout.size(inputs), layout.size()))
        columns = (2 * k + 1, 2 * k + 2)
        for column, source in zip(columns, (MOMENT, FORCE), strict=True):
            U[layout.block(column, inputs), layout.block(source)] = np.eye(u3[column - 1].shape[1])
            U[o, layout.block(source)] = minus_inverse @ u3[column - 1]
        if k == 1:
            r = layout.block(ACCELERATION)
            U[r, r] = np.eye(layout.translations)
            U[o, r] = minus_inverse @ u3[0]
            U[o, layout.block(5)] = minus_inverse @ u3[2 * inputs + 2]
            U[last, layout.block(5)] = 1.0
        matrices.append(U)
    return matrices


def geometric_matrices(body: RigidBody, layout: Layout) -> tuple[Array, list[Array]]:
    """H_r,m and, for k = 2 ... L, H_O1,Ik of (15), (16), from the coefficients (17)."""
    L = body.inputs
    pick = np.zeros((6, SPACE.size()))
    pick[:3, SPACE.block(ACCELERATION)] = np.eye(3)
    pick[3:, SPACE.block(MOMENT)] = np.eye(3)
    spin = tilde(body.Omega)
    related = []
    for r_II in body.r_II:
        H = np.zeros((6, SPACE.size(L)))
        H[:3, SPACE.block(ACCELERATION)] = np.eye(3)
        H[:3, SPACE.block(ANGULAR)] = -tilde(r_II)
        H[:3, SPACE.block(2 * L + 3, L)] = (spin @ spin @ r_II)[:, None]
        related.append(H)
    rows = [0, 1, 2, 3, 4, 5] if layout is SPACE else [0, 1, 5]
    return pick[np.ix_(rows, layout.kept())], [H[np.ix_(rows, layout.kept(L))] for H in related]


class Chain:
    """A chain of elements 1 ... n from its tip to its end: steps A1 to A3, then A5.

    `elements` are transfer matrices (3); `known` says which half of the tip's state is zero (34).
    S[i], e[i] belong to the input of element i, the last ones to the end of the chain (31).
    `pivots` are the determinants of T21 S + T22, whose inverse is P (24).
    """

    def __init__(self, elements: Sequence[Array], layout: Layout, known: tuple[int, int] = FREE) -> None:
        self.layout = layout
        self.a = layout.rows(known)
        self.b = layout.rows([k for k in (1, 2, 3, 4) if k not in known])
        half = len(self.a)
        self.S, self.e = [np.zeros((half, half))], [np.zeros(half)]
        self.P: list[Array] = []
        self.q: list[Array] = []
        self.pivots: list[float] = []
        for U in elements:
            self._step(U)

    def _step(self, U: Array) -> None:
        """Equations 20 to 30. LinAlgError where the pivot is zero to working precision."""
        a, b, S, e = self.a, self.b, self.S[-1], self.e[-1]
        T11, T12, fa = U[np.ix_(a, a)], U[np.ix_(a, b)], U[a, -1]
        T21, T22, fb = U[np.ix_(b, a)], U[np.ix_(b, b)], U[b, -1]
        pivot = T21 @ S + T22
        self.pivots.append(float(np.linalg.det(pivot)))
        if np.linalg.cond(pivot) > SINGULAR:
            raise np.linalg.LinAlgError(f"pivot of element {len(self.S)} is singular")
        self.P.append(np.linalg.inv(pivot))
        self.q.append(-(T21 @ e + fb))
        self.S.append((T11 @ S + T12) @ self.P[-1])
        self.e.append(T11 @ e + fa + self.S[-1] @ self.q[-1])

    def tip_matrix(self) -> Array:
        """U_tip (42), (48): the whole state at the chain's end from [z_b, 1]."""
        return self._whole(self.S[-1], self.e[-1])

    def _whole(self, S: Array, e: Array) -> Array:
        U = np.zeros((self.layout.size(), len(self.b) + 1))
        U[self.b, :-1] = np.eye(len(self.b))
        U[self.a, :-1], U[self.a, -1], U[-1, -1] = S, e, 1.0
        return U

    def condition_at_first_hinge(self) -> tuple[Array, Array]:
        """(C, c) with C z_b + c = m at the output of element 1, z_b at the chain's end, through (33)."""
        G, g = np.eye(len(self.b)), np.zeros(len(self.b))
        for P, q in zip(self.P[:0:-1], self.q[:0:-1], strict=True):
            G, g = P @ G, P @ (g + q)
        whole = self._whole(self.S[1], self.e[1])[self.layout.block(MOMENT)]
        return whole[:, :-1] @ G, whole[:, :-1] @ g + whole[:, -1]

    def back(self, z_b: Array) -> list[Array]:
        """Recursion (33): the states at the inputs of elements 1 ... n and at the chain's end."""
        states = [self.tip_matrix() @ np.append(z_b, 1.0)]
        for P, q, S, e in zip(self.P[::-1], self.q[::-1], self.S[-2::-1], self.e[-2::-1], strict=True):
            z_b = P @ z_b + P @ q
            states.append(self._whole(S, e) @ np.append(z_b, 1.0))
        return states[::-1]


def chain_elements(bodies: Sequence[RigidBody], layout: Layout) -> list[Array]:
    """Body, hinge, body, ... from tip to end: step A1."""
    matrices = [body_matrix(body, layout) for body in bodies]
    elements = matrices[:1]
    for U in matrices[1:]:
        elements += [hinge_matrix(U, layout), U]
    return elements


def solve_chain(chain: Chain, root: tuple[int, int] = FIXED) -> list[Array]:
    """Algorithm A, step A4 and A5: all states of a chain whose end has the zeros `root`."""
    layout = chain.layout
    tip = chain.tip_matrix()
    rows = [tip[layout.block(k)] for k in root if k != MOMENT]
    C, c = chain.condition_at_first_hinge()
    A = np.vstack([row[:, :-1] for row in rows] + [C])
    b = np.concatenate([row[:, -1] for row in rows] + [c])
    return chain.back(np.linalg.solve(A, -b))


class Branch:
    """Algorithm B: subchains that meet in the inputs of one body, whose output has the zeros `root`."""

    def __init__(self, chains: Sequence[Chain], body: RigidBody, root: tuple[int, int] = FIXED) -> None:
        if len(chains) != body.inputs:
            raise ValueError("one chain for each input of the body")
        self.chains, self.root, self.layout = list(chains), root, chains[0].layout
        self.U = body_matrix(body, self.layout)
        self.hinges = multi_hinge_matrices(self.U, self.layout, body.inputs)
        self.pick, self.related = geometric_matrices(body, self.layout)

    def overall_matrix(self) -> Array:
        """U_all (57) for any number of chains; its columns are those of z_all (58)."""
        tips = [chain.tip_matrix() for chain in self.chains]
        inner = [hinge @ tip for hinge, tip in zip(self.hinges, tips, strict=True)]
        rows = [np.hstack([-np.eye(self.layout.size())] + [self.U @ block for block in inner])]
        for k, H in enumerate(self.related, start=1):
            blocks = [H @ block for block in inner]
            blocks[k] = blocks[k] - self.pick @ tips[k]
            rows.append(np.hstack([np.zeros((len(H), self.layout.size())), *blocks]))
        return np.vstack(rows)

    def equations(self, literal: bool = False) -> tuple[Array, Array]:
        """(U_bar, b) of (59): zeros' columns deleted, those of the ones summed, the trivial row removed.

        literal: as printed; otherwise the moments at the first hinges stand in the idle rows.
        """
        size, half = self.layout.size(), len(self.chains[0].b)
        U = self.overall_matrix()
        ones = [size - 1] + [size - 1 + (half + 1) * k for k in range(1, len(self.chains) + 1)]
        zeros = self.layout.rows(self.root)
        unknown = [i for i in range(U.shape[1]) if i not in ones and i not in zeros]
        matrix, right = U[:, unknown], -U[:, ones].sum(axis=1)
        if not literal:
            self._smooth_first_hinges(matrix, right)
        rows = [i for i in range(len(U)) if i != size - 1]
        return matrix[rows], right[rows]

    def _smooth_first_hinges(self, matrix: Array, right: Array) -> None:
        layout, half = self.layout, len(self.chains[0].b)
        geometric = layout.translations + layout.rotations
        for k, chain in enumerate(self.chains):
            start = layout.size() + geometric * (k - 1) + layout.translations
            rows = slice(start, start + layout.rotations) if k else layout.block(MOMENT)
            column = half + half * k
            matrix[rows], (C, c) = 0.0, chain.condition_at_first_hinge()
            matrix[rows, column : column + half], right[rows] = C, -c

    def solve(self) -> tuple[Array, list[list[Array]]]:
        """Steps B3 and B4: the state at the body's output, and all states of each chain as `Chain.back`."""
        matrix, right = self.equations()
        z = np.linalg.solve(matrix, right)
        half = len(self.chains[0].b)
        output = np.zeros(self.layout.size())
        output[[i for i in range(len(output) - 1) if i not in self.layout.rows(self.root)]] = z[:half]
        output[-1] = 1.0
        ends = z[half:].reshape(len(self.chains), half)
        return output, [chain.back(end) for chain, end in zip(self.chains, ends, strict=True)]


def multiply_chain(bodies: Sequence[RigidBody], layout: Layout) -> list[Array]:
    """Plain multiplication (18), (19) from a hinge on the ground to the free end: states behind each element.

    The ground's hinge is an element (10), so that r'' = m = 0 are known at the tip and q is not; at the free
    end m = 0 holds of itself and q = 0 gives the tip's q. (Omega' at the tip has only zero columns.)
    """
    elements = []
    for body in bodies:
        U = body_matrix(body, layout)
        elements += [hinge_matrix(U, layout), U]
    products = [np.eye(layout.size())]
    for U in elements:
        products.append(U @ products[-1])
    q = layout.block(FORCE)
    tip = np.zeros(layout.size())
    tip[-1] = 1.0
    tip[q] = np.linalg.solve(products[-1][q, q], -products[-1][q, -1])
    return [product @ tip for product in products]
