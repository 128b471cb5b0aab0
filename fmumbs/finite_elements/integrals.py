"""Integrals over the mass of a flexible body, from the mass matrix of its finite elements.

With p = M phi the momentum of a mode at each node, and phi, r linear in the values at the nodes,

    S_k = sum of p,    N_k = int r phi_k' = sum of r p',    B_jk = int phi_j phi_k' = sum of phi_j p_k',

exact where M has three freedoms a node. With rotations theta of nodes, whose rotary inertia J is that of masses with
the second moment E = tr J / 2 - J, the material moves by theta x rho, which adds E [theta]x' to N_k and
[theta_j]x E [theta_k]x' to B_jk; angular momentum and modal mass are exact as well, the rest of the integrals for
lumped masses, and for elements with rotations to the square of their size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmumbs.finite_elements.matrices import FiniteElements
from fmumbs.spatial import moment_of, skew

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Integrals:
    """first: (modes, 3) S_k; moment: (modes, 3, 3) N_k; product: (modes, modes, 3, 3) B_jk; modal: (modes,) masses."""

    first: Array
    moment: Array
    product: Array
    modal: Array


def integrals(fe: FiniteElements, shapes: Array) -> Integrals:
    """Of modes (freedoms, modes) that are orthogonal in M."""
    momentum = fe.M @ shapes
    nodes, each, count = len(fe.nodes), fe.each, shapes.shape[1]
    p, phi = (a.reshape(nodes, each, count) for a in (momentum, shapes))
    moment = np.einsum("ia,ibk->kab", fe.nodes, p[:, :3])
    product = np.tensordot(phi[:, :3], p[:, :3], (0, 0)).transpose(1, 3, 0, 2)  # (j, k, a, b)
    if each == 6:
        E = _second_moments(fe)
        turns = skew(phi[:, 3:].transpose(0, 2, 1))  # (node, mode, 3, 3)
        spread = np.einsum("iab,ikcb->ikac", E, turns)
        moment += spread.sum(axis=0)
        product += np.tensordot(turns, spread, ((0, 3), (0, 2))).transpose(0, 2, 1, 3)
        angular = np.cross(fe.nodes[:, None, :], p[:, :3].transpose(0, 2, 1)).sum(axis=0) + p[:, 3:].sum(axis=0).T
        moment -= skew(angular - moment_of(moment)) / 2
    product = (product + product.transpose(1, 0, 3, 2)) / 2
    return Integrals(p[:, :3].sum(axis=0).T, moment, product, np.einsum("ik,ik->k", shapes, momentum))


def _second_moments(fe: FiniteElements) -> Array:
    """(nodes, 3, 3) of the rotary inertia of each node."""
    at = 6 * np.arange(len(fe.nodes)) + 3
    J = np.array([[fe.M[at + a, at + b] for b in range(3)] for a in range(3)]).transpose(2, 0, 1)
    E: Array = np.trace(J, axis1=1, axis2=2)[:, None, None] / 2 * np.eye(3) - J
    return E
