"""Modes of a free elastic body for what is attached to its interfaces.

With x = G u the motions of the interfaces (interfaces.py), a basis V of displacements is

    craig-bampton: constraint modes, static answers to unit x, and the lowest modes with x = 0;
    free: the lowest elastic modes of the free body, and attachment modes, its static answers to unit wrenches at the
        interfaces with the inertia forces of its rigid acceleration.

Rigid motion is taken out of each column, so that the frame of the body follows it: R' M V = 0 (Buckens' frame, whose
momentum is that of the body), or x = 0 at one interface (tangent frame). The columns are then turned into the
eigenvectors of V' K V and V' M V, so that stiffness and mass are diagonal. Static answers are exact for forces at the
interfaces, whatever the number of other modes; frequencies converge from above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from fmumbs.errors import ModelError
from fmumbs.finite_elements.elastic import Conditions, Elastic
from fmumbs.finite_elements.interfaces import Tie
from fmumbs.finite_elements.matrices import FiniteElements, rigid_motions

Array = NDArray[np.float64]
Sparse = Any

METHODS = ("craig-bampton", "free")
_ARM = 0.1  # of the body's length, at which a rotation of a node counts as a displacement: a beam's twist has no other
_SAME = 1e-10  # a column of the basis whose part across the others is below this is one of them
_DENSE = 400  # freedoms up to which all modes are computed: quicker than a search for some


@dataclass(frozen=True)
class Modes:
    """shapes: (freedoms, modes), each scaled so that its largest displacement is 1; squares: (modes,) squared angular
    frequencies; kinds: of each, "interface" where most of its strain energy is in constraint or attachment modes, and
    "normal"; answer: displacements by loads in equilibrium (freedoms, k), up to rigid motion, with the rigid ties.
    """

    shapes: Array
    squares: Array
    kinds: tuple[str, ...]
    answer: Callable[[Array], Array]


@dataclass(frozen=True)
class _Tied:
    """The body with its rigid ties: u = T z."""

    T: Sparse
    K: Sparse
    M: Sparse
    R: Array
    G: Array
    places: Array


def reduced(
    fe: FiniteElements, ties: Sequence[Tie], count: int, highest: float, method: str, frame: int | None
) -> Modes:
    """The modes. count: of normal modes; highest: angular frequency that none of them exceeds; frame: the tie in which
    the body's frame is tangent, None for Buckens' frame.
    """
    tied = _tie(fe, ties)
    body = Elastic(tied.K, tied.R, tied.places, fe.where)
    by_mass = tied.R.T @ tied.M
    if method == "free":
        free = Conditions(body, by_mass)
        normal = _normal(free, tied, count, highest, fe.where)
        static = free.solve(b=np.array(tied.G.T)) if len(tied.G) else normal[:, :0]
    else:
        normal, static = _craig_bampton(body, tied, by_mass, count, highest, fe.where)
    V = np.hstack([static, normal])
    if not V.shape[1]:
        raise ModelError(f"{fe.where} has 0 modes. Give modes=10, more interfaces, or a rigid Body.")
    if frame is None:
        V = V - tied.R @ np.linalg.solve(by_mass @ tied.R, by_mass @ V)
    else:
        held = tied.G[6 * frame : 6 * frame + 6]
        V = V - tied.R @ np.linalg.solve(held @ tied.R, held @ V)
    return _diagonal(V, static.shape[1], tied, fe, lambda b: tied.T @ body.pseudo(tied.T.T @ b))


def _tie(fe: FiniteElements, ties: Sequence[Tie]) -> _Tied:
    """Replaces the freedoms of tied nodes by the motions of their interfaces."""
    size = fe.K.shape[0]
    free = np.ones(size, bool)
    for tie in ties:
        for node in tie.tied:
            free[fe.each * node : fe.each * (node + 1)] = False
    kept = np.flatnonzero(free)
    blocks = [sparse.csr_array((np.ones(len(kept)), (kept, np.arange(len(kept)))), shape=(size, len(kept)))]
    places = [np.repeat(fe.nodes, fe.each, axis=0)[kept]]
    scale = fe.length  # rotations of interfaces count as the translations at this distance, for the sizes of numbers
    for tie in ties:
        if not tie.tied:
            continue
        at = np.array(tie.frame.offset)
        rows = (fe.each * np.array(tie.tied)[:, None] + np.arange(fe.each)).reshape(-1)
        columns = rigid_motions(fe.nodes[list(tie.tied)] - at, fe.each) / np.array([1.0, 1.0, 1.0, scale, scale, scale])
        block = sparse.csr_array(
            (columns.reshape(-1), (np.repeat(rows, 6), np.tile(np.arange(6), len(rows)))), shape=(size, 6)
        )
        blocks.append(block)
        places.append(np.tile(at, (6, 1)))
    T = sparse.csr_array(sparse.hstack(blocks))
    G = np.vstack([(tie.rows @ T).toarray() for tie in ties]) if ties else np.zeros((0, T.shape[1]))
    R = _reduced_rigid(fe, ties, kept, scale)
    return _Tied(T, sparse.csr_array(T.T @ fe.K @ T), sparse.csr_array(T.T @ fe.M @ T), R, G, np.vstack(places))


def _reduced_rigid(fe: FiniteElements, ties: Sequence[Tie], kept: Any, scale: float) -> Array:
    """Rigid motions about the centre of mass in the tied freedoms, rotations at the distance `scale`."""
    rows = [rigid_motions(fe.nodes - fe.com, fe.each)[kept]]
    for tie in ties:
        if tie.tied:
            part = rigid_motions(np.array(tie.frame.offset) - fe.com, 6)
            part[3:] *= scale
            rows.append(part)
    R: Array = np.vstack(rows)
    R[:, 3:] /= scale
    return R


def _craig_bampton(
    body: Elastic, tied: _Tied, by_mass: Array, count: int, highest: float, where: str
) -> tuple[Array, Array]:
    """Normal modes with the interfaces at rest, and constraint modes; six of these, which the rigid motions make
    superfluous, are left out.
    """
    rigid = tied.G @ tied.R
    if not len(rigid):
        return _normal(Conditions(body, by_mass), tied, count, highest, where), np.zeros((len(tied.R), 0))
    _, sizes, turned = np.linalg.svd(rigid)
    loose = turned[np.concatenate([sizes, np.zeros(6 - len(sizes))]) <= 1e-9 * sizes[0]]
    fixed = Conditions(body, np.vstack([tied.G, loose @ by_mass]))
    normal = _normal(fixed, tied, count, highest, where)
    superfluous = linalg.qr(rigid.T, pivoting=True, mode="economic")[2][: 6 - len(loose)]
    units = np.delete(np.eye(len(fixed.C)), np.append(superfluous, np.arange(len(rigid), len(fixed.C))), axis=1)
    return normal, fixed.solve(x=units) if units.shape[1] else normal[:, :0]


def _normal(under: Conditions, tied: _Tied, count: int, highest: float, where: str) -> Array:
    """The lowest modes under conditions, up to a number and a frequency: Lanczos' method on the static answers to the
    inertia forces.
    """
    size = tied.K.shape[0]
    most = size - len(under.C)
    if count == 0:
        return np.zeros((size, 0))
    if np.isfinite(highest):
        count = min(count, most)
    elif count > most:
        raise ModelError(f"{where}: modes is {count}, but the body has {most} besides its interfaces. Take fewer.")

    def answer(b: Array) -> Array:
        return under.solve(b=np.reshape(b, (-1, 1)), refine=False)[:, 0]

    if size <= _DENSE or count > size // 4:
        shapes, squares = _all_modes(under, tied, count)
    else:
        start = tied.M @ np.sin(1.0 + np.arange(size))  # any, but always the same
        try:
            answers = LinearOperator((size, size), matvec=answer, dtype=float)
            squares, shapes = eigsh(
                tied.K, k=count, M=tied.M, sigma=0.0, OPinv=answers, v0=start, tol=1e-13, which="LM"
            )
        except ArpackNoConvergence as error:
            raise ModelError(
                f"{where}: {count} modes were asked for, but the search found {len(error.eigenvalues)} and did not "
                "converge. Take fewer."
            ) from None
        order = np.argsort(squares)
        squares, shapes = squares[order], shapes[:, order]
    return np.asarray(shapes[:, squares <= highest**2])


def _all_modes(under: Conditions, tied: _Tied, count: int) -> tuple[Array, Array]:
    """By dense matrices, in a basis of what the conditions allow."""
    basis = linalg.null_space(under.C * (1.0 / np.linalg.norm(under.C, axis=1))[:, None])
    K, M = (basis.T @ (matrix @ basis) for matrix in (tied.K, tied.M))
    flexible, turned = linalg.eigh(M, K)  # largest first at the end; M may be singular, K is not
    with np.errstate(divide="ignore"):
        squares = 1.0 / np.maximum(flexible[::-1][:count], 0.0)
    return basis @ turned[:, ::-1][:, :count], squares


def _diagonal(V: Array, statics: int, tied: _Tied, fe: FiniteElements, answer: Callable[[Array], Array]) -> Modes:
    """Eigenvectors within a basis, whose first columns are static answers."""
    K = V.T @ (tied.K @ V)
    size = np.sqrt(np.maximum(np.diag(K), 1e-300))
    V, K = V / size, K / np.outer(size, size)
    K = (K + K.T) / 2
    weights, turned = linalg.eigh(K)
    kept = weights > _SAME * weights[-1]
    basis = turned[:, kept] / np.sqrt(weights[kept])  # basis' K basis = 1
    M = basis.T @ (V.T @ (tied.M @ V)) @ basis
    flexible, within = linalg.eigh((M + M.T) / 2)
    if flexible[0] <= _SAME * flexible[-1] * 1e-6:
        raise ModelError(f"{fe.where}: a mode moves no mass. Take fewer modes, or give M for all freedoms.")
    parts = (basis @ within)[:, ::-1]
    squares = 1.0 / flexible[::-1]
    energies = np.einsum("jk,ji,ik->k", parts[:statics], K[:statics, :statics], parts[:statics])
    shapes: Array = tied.T @ (V @ parts)
    kinds = tuple("interface" if e > 0.5 else "normal" for e in energies)
    return Modes(shapes * _scales(shapes, fe), squares, kinds, answer)


def _scales(shapes: Array, fe: FiniteElements) -> Array:
    """(modes,) by which the largest displacement of each is 1; its sign is that of a large component of it."""
    parts = shapes.reshape(len(fe.nodes), -1, 3, shapes.shape[1])  # translations, and rotations where nodes have them
    parts = parts * np.array([1.0, _ARM * fe.length])[: parts.shape[1], None, None]
    flat = parts.reshape(-1, 3, shapes.shape[1])
    sizes = np.linalg.norm(flat, axis=1)
    at = flat[np.argmax(sizes, axis=0), :, np.arange(shapes.shape[1])]
    first = np.argmax(np.abs(at) > 0.5 * np.abs(at).max(axis=1, keepdims=True), axis=1)
    scales: Array = np.sign(at[np.arange(len(at)), first]) / sizes.max(axis=0)
    return scales
