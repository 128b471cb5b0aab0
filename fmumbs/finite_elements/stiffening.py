"""Displacements of second order of a solid, which stiffen it geometrically (mechanism/second_order.py).

With displacements u = sum phi_k q_k + 1/2 sum phi2_jk q_j q_k Green's strain has the part of second order
sym grad phi2_jk + sym(grad phi_j' grad phi_k), twice for a pair. It does no work on the stress of any displacement v if

    K phi2_jk = -f2_jk,    v' f2_jk = int sym(grad phi_j' grad phi_k) : stress(v).

The nodes of a rigid tie move by R - 1, of which theta x (theta x r) / 2 is of second order; those of an averaged one
have the rotation that they deviate least from, sum of w R r x (r + u) = 0 about their centre. Rigid motion is taken out
as of the modes.

Matrices alone do not tell f2, but how K changes under a load does. With v = K^-1 f of a load f in equilibrium,

    f' phi2_jk = -v' f2_jk = -phi_j' (K_f - K) phi_k,

so that the stiffness K_f of the body under f gives the work of f along phi2, which is what this load stiffens. Of all
phi2 that do this work for each load that is given, the least is taken, weighted by mass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.finite_elements.integrals import integrals
from fmumbs.finite_elements.interfaces import Tie
from fmumbs.finite_elements.matrices import FiniteElements, matrix, rigid_motions
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
    tied, more = _tied(fe, shapes, ties, pairs)
    return _seconds(fe, shapes, answer(-loads - fe.K @ tied) + tied, more, ties, frame, sizes)


@dataclass(frozen=True, eq=False)
class Loaded:
    """The stiffness of a body under a load, for `fm.ModalBody.from_matrices(stiffening=)`.

    K: (freedoms, freedoms), of the order of the free body's; what it has more is linear in the load, so give a load of
        which that has some digits, as of a linear step before. wrenches: {interface: (6,) force [N] and torque [N.m] at
        its point, in the axes of the mesh}. acceleration: (3,) of gravity [m/s2], in which all mass has weight. spin:
        (3,) angular velocity [rad/s] about an axis through the mesh's origin: its centrifugal forces; K without the
        part -spin^2 M by which programs soften a body that turns.
    held: the interface that carries what does not balance; None: the load is balanced, or the body accelerates freely.

    Raises ModelError for vectors of another size.
    """

    K: Any
    wrenches: Mapping[str, Any] = field(default_factory=dict)
    acceleration: Any = (0.0, 0.0, 0.0)
    spin: Any = (0.0, 0.0, 0.0)
    held: str | None = None

    def __post_init__(self) -> None:
        given = _checks.mapping(self.wrenches, "Loaded: wrenches", "Give {interface: (fx, fy, fz, tx, ty, tz)}.")
        wrenches = {name: _checks.numbers(w, 6, f"Loaded: wrench at '{name}'") for name, w in given.items()}
        object.__setattr__(self, "wrenches", wrenches)
        for name in ("acceleration", "spin"):
            object.__setattr__(self, name, _checks.vector(getattr(self, name), f"Loaded: {name}"))

    def forces(self, fe: FiniteElements, ties: Sequence[Tie], where: str) -> Array:
        """(freedoms,) in equilibrium, of the body fe with its ties.

        Raises ModelError, which begins with `where`, for an interface that is not there, and for no load.
        """
        known = {tie.name: tie for tie in ties}
        for name in (*self.wrenches, *(() if self.held is None else (self.held,))):
            if name not in known:
                what = f"{where}: '{name}' is no interface of the body"
                raise ModelError(f"{what}. {_checks.nearest(name, list(known))}")
        field_ = np.array(self.acceleration) - np.cross(self.spin, np.cross(self.spin, fe.nodes))
        f: Array = fe.M @ field_.reshape(-1)
        for name, wrench in self.wrenches.items():
            f = f + known[name].rows.T @ np.array(wrench)
        rigid = rigid_motions(fe.nodes - fe.com, 3)
        carries = fe.M @ rigid if self.held is None else known[self.held].rows.T
        f = f - carries @ np.linalg.solve(rigid.T @ carries, rigid.T @ f)
        if not f.any():
            raise ModelError(f"{where} has no load. Give wrenches=, acceleration= or spin= of the step before.")
        return f


_FEW = 1e-9  # loads whose work along all displacements is below this part of the others' depend on them


def of_matrices(
    fe: FiniteElements, loads: Sequence[Loaded], shapes: Array, answer: Callable[[Array], Array], ties: Sequence[Tie],
    frame: int | None, sizes: Array,
) -> Seconds:  # fmt: skip
    """The same from stiffness matrices under loads, as far as these do work."""
    if fe.each != 3:
        raise ModelError(f"{fe.where}: stiffening by loaded matrices needs three freedoms a node. Leave it out.")
    pairs = np.triu_indices(shapes.shape[1])
    tied, more = _tied(fe, shapes, ties, pairs)
    forces, work = [], []
    for k, load in enumerate(loads):
        where = f"{fe.where}: stiffening[{k}]"
        if not isinstance(load, Loaded):
            raise ModelError(f"{where} is {_checks.shown(load)}, which is not an fm.Loaded. Give one.")
        stiff = matrix(load.K, f"{where}: K")
        if stiff.shape != fe.K.shape:
            raise ModelError(f"{where}: K has {stiff.shape[0]} rows, and the body's {fe.K.shape[0]}. Give the same.")
        f = load.forces(fe, ties, where)
        felt = fe.K @ answer(f[:, None])[:, 0]  # with what rigid ties carry
        forces.append(f)
        work.append(-(shapes.T @ ((stiff - fe.K) @ shapes))[pairs] - felt @ tied)
    G, V = np.array(forces), np.array(work)
    light = fe.M.diagonal()
    W = 1.0 / np.maximum(light, 1e-6 * light.max())
    size = np.sqrt((G * G) @ W)
    G, V = G / size[:, None], V / size[:, None]
    phi2 = tied + W[:, None] * (G.T @ np.linalg.lstsq((G * W) @ G.T, V, rcond=_FEW)[0])
    return _seconds(fe, shapes, phi2, more, ties, frame, sizes)


def _tied(fe: FiniteElements, shapes: Array, ties: Sequence[Tie], pairs: tuple[Index, Index]) -> tuple[Array, Array]:
    """(freedoms, pairs) what the rotation of rigid ties moves in second order, and (ties, 6, pairs) of their frames."""
    phi = shapes.reshape(len(fe.nodes), 3, -1)
    bends = [_bends(tie, fe, phi, pairs) for tie in ties]
    of_nodes = np.zeros((len(fe.nodes), 3, len(pairs[0])))
    for tie, (turned, _) in zip(ties, bends, strict=True):
        if tie.tied:
            of_nodes[list(tie.tied)] = turned
    more = np.array([part for _, part in bends]).reshape(len(ties), 6, len(pairs[0]))
    return of_nodes.reshape(len(shapes), -1), more


def _seconds(
    fe: FiniteElements, shapes: Array, phi2: Array, more: Array, ties: Sequence[Tie], frame: int | None, sizes: Array
) -> Seconds:
    """What loads see of phi2 (freedoms, pairs), less its rigid motion."""
    n, nodes = shapes.shape[1], len(fe.nodes)
    pairs = np.triu_indices(n)
    frames = np.array([tie.rows @ phi2 for tie in ties]).reshape(more.shape) + more
    rigid = rigid_motions(fe.nodes - fe.com, 3)
    if frame is None:
        by_mass = (fe.M @ rigid).T
        moved = np.linalg.solve(by_mass @ rigid, by_mass @ phi2)
    else:
        moved = np.linalg.solve(ties[frame].rows @ rigid, frames[frame])
    phi2 = phi2 - rigid @ moved
    frames -= np.array([tie.rows @ rigid @ moved for tie in ties]).reshape(more.shape)

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
