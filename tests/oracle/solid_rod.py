"""A slider-crank whose connecting rod is a nonlinear solid: all nodes of its mesh in space, with large displacements.

Saint Venant and Kirchhoff's material with Kelvin's damping, S = C : (E + beta E'), E Green's strain, on tetrahedra of
second order with straight edges (four points for forces, 64 for the mass). The mean of the nodes of each end is its
pin: that of the crank is given, that of the piston slides along x and carries its mass. These conditions are linear in
the places of the nodes, so that one node of each end follows from the others: u = e(t) + T z, where e is the motion of
a rigid rod, so that z are small and the method's errors with them.

    T' (M u'' + f(u, u')) = 0,    with the piston's mass in M

by the diagonally implicit method of Alexander (1977) of order three, L-stable. What is left at the node of an end that
follows, over its weight, is the force of the pin, and along x the force of the piston's inertia.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

Array = Any

_GAMMA = 0.4358665215084590  # of Alexander's method of order three
_C2 = (1 + _GAMMA) / 2
_B1 = -(6 * _GAMMA**2 - 16 * _GAMMA + 1) / 4
_B2 = (6 * _GAMMA**2 - 20 * _GAMMA + 5) / 4
_STAGES = ((_GAMMA,), (_C2 - _GAMMA, _GAMMA), (_B1, _B2, _GAMMA))
_TIMES = (_GAMMA, _C2, 1.0)
_MOST = 12  # iterations of Newton's method for a stage
_LEFT = 1e-12  # m: a last change of a node's place that leaves less, as each is a small part of that before


def _shapes(points: Array) -> tuple[Array, Array]:
    """Values (points, 10) and slopes by the first three corners' coordinates (points, 10, 4) of second order."""
    edges = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
    N, G = np.zeros((len(points), 10)), np.zeros((len(points), 10, 4))
    for k, c in enumerate(points):
        N[k] = [*(c * (2 * c - 1)), *(4 * c[i] * c[j] for i, j in edges)]
        G[k, :4] = np.diag(4 * c - 1)
        for n, (i, j) in enumerate(edges):
            G[k, 4 + n, i], G[k, 4 + n, j] = 4 * c[j], 4 * c[i]
    return N, G


def _four() -> Array:
    a, b = (5 - np.sqrt(5)) / 20, (5 + 3 * np.sqrt(5)) / 20
    return np.full((4, 4), a) + (b - a) * np.eye(4)


def _exact() -> tuple[Array, Array]:
    """Points and weights for polynomials of degree four and more: Gauss's in each direction, folded."""
    x, w = np.polynomial.legendre.leggauss(4)
    x, w = (x + 1) / 2, w / 2
    points, weights = [], []
    for i, j, k in np.ndindex(4, 4, 4):
        a, b, c = x[i], x[j] * (1 - x[i]), x[k] * (1 - x[i]) * (1 - x[j])
        points.append((a, b, c, 1 - a - b - c))
        weights.append(6 * w[i] * w[j] * w[k] * (1 - x[i]) ** 2 * (1 - x[j]))
    return np.array(points), np.array(weights)


@dataclass
class Rod:
    """nodes (n, 3), cells (m, 10) of meshio; big, small: nodes of the ends; E, nu, density; beta [s]; piston [kg]."""

    nodes: Array
    cells: Array
    big: Array
    small: Array
    E: float
    nu: float
    density: float
    beta: float
    piston: float

    def __post_init__(self) -> None:
        n = len(self.nodes)
        self.lam, self.mu = self.E * self.nu / ((1 + self.nu) * (1 - 2 * self.nu)), self.E / (2 * (1 + self.nu))
        P = np.concatenate([np.ones((len(self.cells), 4, 1)), self.nodes[self.cells[:, :4]]], axis=2)
        volumes, gradients = abs(np.linalg.det(P)) / 6, np.swapaxes(np.linalg.inv(P)[:, 1:], 1, 2)  # (m, 4, 3)
        _, G = _shapes(_four())
        self.slopes = np.einsum("pnc,eca->epna", G, gradients)  # (m, points, 10, 3)
        self.weights = np.repeat(volumes[:, None] / 4, 4, axis=1)
        points, weights = _exact()
        N, _ = _shapes(points)
        one = np.einsum("p,pi,pj->ij", weights, N, N)
        rows = np.repeat(self.cells, 10, axis=1).ravel()
        columns = np.tile(self.cells, (1, 10)).ravel()
        scalar = sparse.csr_array(
            ((self.density * volumes[:, None] * one.ravel()).ravel(), (rows, columns)), shape=(n, n)
        )
        M = sparse.csr_array(sparse.kron(scalar, np.eye(3)))
        mean = sparse.csr_array(
            (np.full(len(self.small), 1 / len(self.small)), (np.zeros(len(self.small), int), 3 * self.small)),
            shape=(1, 3 * n),
        )
        self.M = sparse.csr_array(M + self.piston * mean.T @ mean)
        self._conditions(n)
        dofs = (3 * self.cells[:, :, None] + np.arange(3)).reshape(len(self.cells), 30)
        self._rows = np.repeat(dofs, 30, axis=1).ravel()
        self._columns = np.tile(dofs, (1, 30)).ravel()

    def _conditions(self, n: int) -> None:
        """T, and the freedoms that follow, of the big end along x, y, z and the small end along y, z."""
        T = sparse.lil_array((3 * n, 3 * n))
        T.setdiag(1.0)
        follows = []
        for nodes, directions in ((self.big, (0, 1, 2)), (self.small, (1, 2))):
            for a in directions:
                row = 3 * nodes[0] + a
                T[row, row] = 0.0
                for other in nodes[1:]:
                    T[row, 3 * other + a] = -1.0
                follows.append(row)
        self.follows = np.array(follows)
        free = np.setdiff1d(np.arange(3 * n), follows)
        self.T = sparse.csr_array(T.tocsc()[:, free])
        self.free = free

    def forces(self, u: Array, v: Array, tangent: float | None = None) -> tuple[Array, Any]:
        """f(u, v), (3 n,); tangent: with df/du + tangent df/dv, else None."""
        x = (self.nodes.ravel() + u).reshape(-1, 3)[self.cells]
        F = np.einsum("ena,epnb->epab", x, self.slopes, optimize=True)
        dF = np.einsum("ena,epnb->epab", v.reshape(-1, 3)[self.cells], self.slopes, optimize=True)
        product = np.swapaxes(F, 2, 3) @ dF
        strain = (np.swapaxes(F, 2, 3) @ F - np.eye(3)) / 2 + self.beta * (product + np.swapaxes(product, 2, 3)) / 2
        S = 2 * self.mu * strain + self.lam * np.trace(strain, axis1=2, axis2=3)[..., None, None] * np.eye(3)
        at = np.einsum("ep,epab,epnb->ena", self.weights, F @ S, self.slopes, optimize=True)
        f = np.zeros(3 * len(self.nodes))
        np.add.at(f, (3 * self.cells[:, :, None] + np.arange(3)).ravel(), at.ravel())
        if tangent is None:
            return f, None
        geometric = np.einsum("ep,epnb,epbc,epmc->enm", self.weights, self.slopes, S, self.slopes, optimize=True)
        B = (np.einsum("epab,epnc->epnabc", F, self.slopes) + np.einsum("epac,epnb->epnabc", F, self.slopes)) / 2
        tr = np.einsum("epnabb->epna", B)
        k = 2 * self.mu * np.einsum("ep,epnabc,epmdbc->enamd", self.weights, B, B, optimize=True)
        k += self.lam * np.einsum("ep,epna,epmd->enamd", self.weights, tr, tr, optimize=True)
        k *= 1.0 + tangent * self.beta  # without what the rates of F add, which is small
        k += np.einsum("enm,ad->enamd", geometric, np.eye(3))
        size = len(f)
        K = sparse.csc_array((k.reshape(-1), (self._rows, self._columns)), shape=(size, size))
        return f, K

Motion = Callable[[float], tuple[Array, Array, Array]]


@dataclass
class Path:
    """times (n,); places: (n, nodes, 3) of the nodes; big, small: (n, 3) forces on the rod at its pins [N]."""

    times: Array
    places: Array
    big: Array
    small: Array


def run(rod: Rod, rigid: Motion, stop: float, step: float, every: int) -> Path:
    """From the motion of a rigid rod at 0. rigid: displacements of the nodes, flat, if the rod were rigid, and their
    first two derivatives; every: steps between two results.
    """
    T, hg = rod.T, step * _GAMMA
    M = sparse.csc_array(T.T @ rod.M @ T)
    z = zd = acc = np.zeros(T.shape[1])
    rows: list[tuple[float, Array, Array, Array]] = []
    for n in range(round(stop / step) + 1):
        t = n * step
        u0, v0, a0 = rigid(t)
        if n % every == 0:
            u, a = T @ z + u0, T @ acc + a0
            left = (rod.M @ a + rod.forces(u, T @ zd + v0)[0])[rod.follows]
            along = -rod.piston * a.reshape(-1, 3)[rod.small, 0].mean()
            small = np.array([along, *(len(rod.small) * left[3:])])
            rows.append((t, rod.nodes + u.reshape(-1, 3), len(rod.big) * left[:3], small))
        K = rod.forces(T @ z + u0, T @ zd + v0, 1.0 / hg)[1]
        lu = splu(sparse.csc_array(M + hg * hg * (T.T @ K @ T)))
        ks: list[Array] = []  # velocities and accelerations of the stages
        ls: list[Array] = []
        for row, c in zip(_STAGES, _TIMES, strict=True):
            own, known = row[-1], list(zip(row[:-1], zip(ks, ls, strict=True), strict=True))
            assert own == _GAMMA
            base_z = z + step * sum((w * k for w, (k, _) in known), np.zeros_like(z))
            base_v = zd + step * sum((w * k for w, (_, k) in known), np.zeros_like(z))
            found = _stage(rod, lu, M, base_z, base_v, ls[-1] if ls else acc, hg, rigid(t + c * step))
            ks.append(base_v + hg * found)
            ls.append(found)
        z, zd, acc = base_z + hg * ks[-1], ks[-1], ls[-1]
    return Path(*(np.array(part) for part in zip(*rows, strict=True)))


def _stage(
    rod: Rod, lu: Any, M: Any, z: Array, v: Array, guess: Array, hg: float, rigid: tuple[Array, Array, Array]
) -> Array:
    """Accelerations by which z + hg (v + hg z'') and v + hg z'' fulfil the equations, by Newton's method."""
    u0, v0, a0 = rigid
    inertia = rod.T.T @ (rod.M @ a0)
    for _ in range(_MOST):
        rate = v + hg * guess
        f, _ = rod.forces(rod.T @ (z + hg * rate) + u0, rod.T @ rate + v0)
        change = lu.solve(M @ guess + rod.T.T @ f + inertia)
        guess = guess - change
        if hg * hg * abs(change).max() < _LEFT:
            return guess
    raise AssertionError("a stage did not converge")
