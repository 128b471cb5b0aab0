"""Displacements of second order of a solid, which stiffen it geometrically (mechanism/second_order.py).

With displacements u = sum phi_k q_k + 1/2 sum phi2_jk q_j q_k Green's strain has the part of second order
sym grad phi2_jk + sym(grad phi_j' grad phi_k), twice for a pair. It does no work on the stress of any displacement v if

    K phi2_jk = -f2_jk,    v' f2_jk = int sym(grad phi_j' grad phi_k) : stress(v).

The nodes of a rigid tie move by R - 1, of which theta x (theta x r) / 2 is of second order; those of an averaged one
have the rotation that they deviate least from, sum of w R r x (r + u) = 0 about their centre. Rigid motion is taken out
as of the modes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmumbs.finite_elements.integrals import integrals
from fmumbs.finite_elements.interfaces import Tie
from fmumbs.finite_elements.matrices import FiniteElements, rigid_motions
from fmumbs.finite_elements.seen import Seconds, seen

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True)
class Elements:
    """Elements with the same number of nodes. cells: (elements, nodes) numbers of nodes; slopes: (elements, nodes,
    points, 3) gradients of their shape functions [1/m]; volumes: (elements, points) [m3]; lam, mu: of Lame [Pa].
    """

    cells: Index
    slopes: Array
    volumes: Array
    lam: float
    mu: float

    def gradients(self, phi: Array) -> Array:
        """(elements, points, 3, 3): of displacements (nodes, 3), d phi_a / d x_b."""
        found: Array = np.einsum("ena,engb->egab", phi[self.cells], self.slopes, optimize=True)
        return found

    def loads(self, one: Array, other: Array, nodes: int) -> Array:
        """(3 nodes,) f2 of two modes, by their gradients."""
        product = np.swapaxes(one, 2, 3) @ other
        strain = (product + np.swapaxes(product, 2, 3)) / 2
        stress = 2.0 * self.mu * strain
        stress += self.lam * np.trace(strain, axis1=2, axis2=3)[..., None, None] * np.eye(3)
        at_nodes = np.einsum("engb,egab,eg->ena", self.slopes, stress, self.volumes, optimize=True)
        flat = self.cells.reshape(-1)
        sums: Array = np.stack([np.bincount(flat, at_nodes[..., a].reshape(-1), nodes) for a in range(3)], axis=1)
        return sums.reshape(-1)


def of_solid(
    fe: FiniteElements, elements: Elements, shapes: Array, answer: Callable[[Array], Array], ties: Sequence[Tie],
    frame: int | None, sizes: Array,
) -> Seconds:  # fmt: skip
    """The shapes of second order. shapes: (freedoms, modes); answer: displacements by loads in equilibrium, up to rigid
    motion, with rigid ties; ties: whose frames see them; frame: the one that the body's frame follows; sizes: (modes,)
    largest rotations, by which the modes are compared.
    """
    n, nodes = shapes.shape[1], len(fe.nodes)
    pairs = np.triu_indices(n)
    phi = shapes.reshape(nodes, 3, n)
    gradients = [elements.gradients(phi[..., k]) for k in range(n)]
    loads = np.stack([elements.loads(gradients[j], gradients[k], nodes) for j, k in zip(*pairs, strict=True)], axis=1)
    bends = [_bends(tie, fe, phi, pairs) for tie in ties]
    of_nodes = np.zeros((nodes, 3, len(pairs[0])))
    for tie, (turned, _) in zip(ties, bends, strict=True):
        if tie.tied:
            of_nodes[list(tie.tied)] = turned
    tied = of_nodes.reshape(3 * nodes, -1)
    phi2 = answer(-loads - fe.K @ tied) + tied
    frames = np.stack([tie.rows @ phi2 + more for tie, (_, more) in zip(ties, bends, strict=True)])
    rigid = rigid_motions(fe.nodes - fe.com, 3)
    if frame is None:
        by_mass = (fe.M @ rigid).T
        moved = np.linalg.solve(by_mass @ rigid, by_mass @ phi2)
    else:
        moved = np.linalg.solve(ties[frame].rows @ rigid, frames[frame])
    phi2 -= rigid @ moved
    frames -= np.stack([tie.rows @ rigid @ moved for tie in ties])

    heavy = np.sqrt(fe.M.diagonal())
    at_frame = np.sqrt(fe.mass) * np.array([1.0, 1.0, 1.0, fe.length, fe.length, fe.length])
    X = np.vstack([phi2 * heavy[:, None], (frames * at_frame[:, None]).reshape(-1, len(pairs[0]))])
    seen_by_inertia = np.hstack([rigid[:, :3].reshape(nodes, 3, 3), _moments(fe.nodes - fe.com)]).transpose(0, 2, 1)
    functionals = (fe.M @ seen_by_inertia.reshape(3 * nodes, -1)).T
    of_loads = np.zeros((len(functionals) + 6 * len(ties), len(X)))
    of_loads[: len(functionals), : 3 * nodes] = functionals / heavy
    of_loads[len(functionals) :, 3 * nodes :] = np.eye(6 * len(ties))
    chi, followers = seen(X, of_loads, sizes, pairs)

    moves = chi[: 3 * nodes] / heavy[:, None]
    over = integrals(fe, np.hstack([shapes, moves]))
    rows = chi[3 * nodes :].reshape(len(ties), 6, -1).swapaxes(1, 2) / at_frame
    return Seconds(followers, over.first[n:], over.moment[n:], over.product[:, n:], rows)


def _moments(places: Array) -> Array:
    """(nodes, 9, 3): the nine displacements r_a e_b."""
    made: Array = np.einsum("ia,bc->iabc", places, np.eye(3)).reshape(len(places), 9, 3)
    return made


def _bends(tie: Tie, fe: FiniteElements, phi: Array, pairs: tuple[Index, Index]) -> tuple[Array, Array]:
    """By a rotation of a tie: (nodes, 3, pairs) the part of second order of the motion of nodes that turn with it, and
    (6, pairs) what its own motion has beside `rows phi2`.
    """
    at = np.array(tie.frame.offset)
    theta = np.asarray(tie.rows @ phi.reshape(-1, phi.shape[2]))[3:].T  # (modes, 3)
    arms = fe.nodes[list(tie.nodes)] - at
    weights = np.array(tie.weights) / np.sum(tie.weights)
    centre = weights @ arms
    turned = np.cross(theta[:, None], arms[None])  # (modes, nodes, 3)
    rho = arms - centre
    moves = phi[list(tie.nodes)].transpose(2, 0, 1)
    rests = moves - np.einsum("i,kia->ka", weights, moves)[:, None] - np.cross(theta[:, None], rho[None])
    j, k = pairs
    twice = (np.cross(theta[j][:, None], turned[k]) + np.cross(theta[k][:, None], turned[j])) / 2  # (pairs, nodes, 3)
    swept = np.cross(theta[:, None], rho[None])
    moment = np.cross(swept[j], rests[k]) + np.cross(swept[k], rests[j]) - np.cross(rho[None], twice)
    J = np.einsum("i,iac->ac", weights, np.einsum("ib,ib->i", rho, rho)[:, None, None] * np.eye(3)
                  - np.einsum("ia,ic->iac", rho, rho))  # fmt: skip
    turn = np.linalg.solve(J, np.einsum("i,pia->ap", weights, moment))
    arm = np.array(tie.carrier) - at
    back = (np.cross(theta[j], np.cross(theta[k], -arm)) + np.cross(theta[k], np.cross(theta[j], -arm))) / 2
    slide = np.cross(turn.T, -arm) + back
    return twice.transpose(1, 2, 0), np.vstack([slide.T, turn])
