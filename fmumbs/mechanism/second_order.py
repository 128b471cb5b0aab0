"""Displacements of second order in the modal coordinates of a flexible body: the shortening of a beam that bends.

A material point at r is at r + sum_k phi_k q_k + 1/2 sum_jk phi2_jk q_j q_k. The phi2 are such that the stresses of the
modes do no work of third order, so that the strain energy stays q' K q / 2, and what loads do along phi2 is the
geometric stiffness: of centrifugal forces, weight, and wrenches at frames.

A beam has them in closed form. With theta = sum_k theta_k q_k the rotation vector of a section by the modes, e the axis
and s_k the strain along it, the curvatures theta' and the strain are linear in the modes, and the terms of second order
of R' = R [theta'] and r' = R (1 + s) e turn and move the section besides by

    theta2_jk = 1/2 int (theta_j x theta_k' + theta_k x theta_j') dx,
    r2_jk = int (theta2_jk x e + 1/2 theta_j x (theta_k x e) + 1/2 theta_k x (theta_j x e)
                 + s_j theta_k x e + s_k theta_j x e) dx,       both from the base.

The core takes few shapes chi_a of second order, whose coordinates are q' C_a q / 2 (core/tree/modal.c). They span those
parts of the phi2 that loads see: int phi2, int r phi2' and the motions of the frames are exact, and of all shapes that
keep these they are the nearest to the phi2, weighted by mass; what is left out moves mass alone, in the fourth order of
the kinetic energy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmumbs.finite_elements.seen import Seconds, seen
from fmumbs.spatial import skew

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sections:
    """What the modes of a beam do at places along it, s = x / L. turn: (modes, places, 3) rotation vectors [rad/m];
    turned: their derivatives by s; strain, twist: (modes, places) along and about the axis [1/m].
    """

    turn: Array
    turned: Array
    strain: Array
    twist: Array


def integrating(nodes: int, targets: Array) -> tuple[Array, Array, Array]:
    """Gauss points in 0 to 1 and their weights, and (targets, nodes) what integrates from 0 to targets, then to the
    points: exact for polynomials of lower degree than there are points.
    """
    x, weights = np.polynomial.legendre.leggauss(nodes)
    at = np.concatenate([2.0 * targets - 1.0, x])
    P = np.polynomial.legendre.legvander(at, nodes)
    k = np.arange(1, nodes)
    rising = np.hstack([at[:, None] + 1.0, (P[:, 2:] - P[:, :-2]) / (2 * k + 1)])
    by_values = (np.arange(nodes)[:, None] + 0.5) * np.polynomial.legendre.legvander(x, nodes - 1).T * weights
    return (x + 1.0) / 2, weights / 2, rising @ by_values / 2


def of_beam(
    sections: Sections, slides: Array, weights: Array, s: Array, upto: Array, mass: float, axial: float, length: float,
    axis: Array,
) -> Seconds:  # fmt: skip
    """The shapes of second order of a beam; slides: (modes, points, 3) translations of its axis by the modes; upto: by
    `integrating`, to the frames and to the points. axial: moment of inertia of the sections about the axis, half of it
    across; as in the first order, they turn about the axis alone.
    """
    t, dt, strain = sections.turn, sections.turned, sections.strain
    n, (frames, points) = len(t), (len(upto) - len(s), len(s))
    curl = np.cross(t[:, None], dt[None, :]) / 2
    across = np.cross(t, axis)
    bent = np.cross(t[:, None], across[None, :]) / 2 + strain[:, None, :, None] * across[None, :]
    pairs = np.triu_indices(n)
    curl, bent = (((part + np.swapaxes(part, 0, 1)) + 0.0)[pairs] for part in (curl, bent))
    turn = np.einsum("ts,psa->pta", upto, curl)
    slide = length * np.einsum("ts,psa->pta", upto, bent + np.cross(turn[:, frames:], axis))
    squeeze = -(sections.twist[:, None] * sections.twist[None, :])[pairs]

    heavy, stiff = np.sqrt(mass * weights), np.sqrt(axial * weights)
    at_frame = np.sqrt(mass) * np.array([1.0, 1.0, 1.0, length, length, length])
    moved = np.concatenate([slide[:, :frames], turn[:, :frames]], axis=2) * at_frame
    parts = (slide[:, frames:] * heavy[:, None], turn[:, frames:] @ axis * stiff, squeeze * stiff, moved)
    X = np.hstack([part.reshape(len(pairs[0]), -1) for part in parts]).T
    eye, along = np.eye(3), np.stack([heavy, heavy * s])
    loads = np.zeros((8 + 6 * frames, len(X)))
    loads[:6, : 3 * points] = np.einsum("lg,ab->lagb", along, eye).reshape(6, -1)
    loads[6, 3 * points : 4 * points] = loads[7, 4 * points : 5 * points] = stiff
    loads[8:, 5 * points :] = np.eye(6 * frames)
    chi, C = seen(X, loads, np.maximum(np.abs(t).max(axis=(1, 2)), np.abs(strain).max(axis=1)), pairs)

    size = len(C)
    moves = chi[: 3 * points].T.reshape(size, points, 3) / heavy[:, None]
    no_axis = axial == 0.0
    twist = np.zeros((size, points)) if no_axis else chi[3 * points : 4 * points].T / stiff
    swell = np.zeros((size, points)) if no_axis else chi[4 * points : 5 * points].T / stiff
    all_moves, all_twist = np.concatenate([slides, moves]), np.concatenate([sections.twist, twist])
    all_swell = np.concatenate([np.zeros_like(sections.twist), swell])
    flat, turning = np.eye(3) - np.outer(axis, axis), skew(axis)
    rolled = all_twist[..., None, None] * turning + all_swell[..., None, None] * flat  # of the places in a section
    product = mass * np.einsum("jga,kgb,g->jkab", all_moves, moves, weights)
    product += axial / 2 * np.einsum("jgac,kgbc,g->jkab", rolled, rolled[n:], weights)
    moment = mass * length * np.einsum("kgb,g,a->kab", moves, weights * s, axis)
    moment += axial / 2 * np.einsum("kgba,g->kab", rolled[n:], weights)
    rows = np.swapaxes(chi[5 * points :].T.reshape(size, frames, 6) / at_frame, 0, 1)
    return Seconds(C, mass * np.einsum("kgb,g->kb", moves, weights), moment, product, rows)
