"""General joints for the oracle: chains of massless carriers on elementary joints, and rows of velocities.

A joint that is a product of modes becomes what it stands for: a carrier without mass between each two modes, each
mode a revolute, prismatic or screw joint, an excited one with the further constraint that its position is eta(t), a
locked one a weld. The saddle-point system of the oracle has no objection to bodies without mass. Rows of velocities
are constraints on the accelerations:

    y = w' [C'(w_M - w_F); C'(v_M - v_F - w_F x d)] = 0,     y' = J nu' + (y' along free flight) = 0

with C the axes of the rows and d from F's origin to M's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag, null_space, orth

import fmumbs as fm
from oracle.joints import Array, turn

STEP = 1e-30
ZERO = 1e-9
"""Relative; what is smaller is no direction of motion."""


@dataclass(frozen=True)
class Product:
    """A general joint and the elementary joints, one for each mode, and frames, one more, that replace it."""

    joint: Any
    parts: tuple[Any, ...]
    places: tuple[Any, ...]

    def parts_that_are(self, role: str) -> list[Any]:
        return [part for part, mode in zip(self.parts, self.joint.modes, strict=True) if mode.role == role]

    def positions(self, q: Any, eta: Any) -> Array:
        """Of all modes."""
        given = {"free": list(np.ravel(q)), "excited": list(np.ravel(eta))}
        return np.array([m.value if m.role == "locked" else given[m.role].pop(0) for m in self.joint.modes], float)

    def columns(self, s: Array) -> tuple[Array, Array]:
        """(6, n) motions of M by the free and by the excited modes, in F's axes, by complex step."""
        found: dict[str, list[Array]] = {"free": [], "excited": [], "locked": []}
        R = self.pose(s)[1]
        for k, mode in enumerate(self.joint.modes):
            p_ahead, R_ahead = self.pose(s + 1j * STEP * np.eye(len(s))[k])
            W = R_ahead.imag / STEP @ R.T
            found[mode.role].append(np.array([W[2, 1], W[0, 2], W[1, 0], *(p_ahead.imag / STEP)]))
        free, excited = (np.reshape(found[role], (-1, 6)).T for role in ("free", "excited"))
        return free, excited

    def pose(self, s: Array, count: int | None = None) -> tuple[Array, Array]:
        """Origin and axes in F behind the first `count` modes."""
        p, R = np.zeros(3), np.eye(3)
        for mode, x in list(zip(self.joint.modes, s, strict=True))[:count]:
            axis = np.asarray(mode.axis, float)
            p = p + R @ axis * x * (1.0 if mode.kind == "prismatic" else mode.pitch)
            R = R if mode.kind == "prismatic" else R @ turn(axis, x)
        return p, R

    def rates(self, s: Array, u: Any, kappa: Any) -> Array:
        """Rates of the free modes from the velocity variables and the excited velocities."""
        u, kappa = np.atleast_1d(np.asarray(u, float)), np.atleast_1d(np.asarray(kappa, float))
        if not self.joint.velocity_rows:
            return u
        A_free, A_excited = (self.rows() @ self.in_axes(s) @ columns for columns in self.columns(s))
        wanted = np.concatenate([np.zeros(len(self.joint.velocity_rows)), u])
        return np.linalg.solve(A_free, wanted - A_excited @ kappa)

    def rows(self) -> Array:
        return np.array([*self.joint.velocity_rows, *self.joint.speed_rows], float)

    def in_axes(self, s: Array) -> Array:
        """(6, 6) from F's axes to those of the rows."""
        R = self.pose(s, self.joint.rows_after)[1]
        return block_diag(R.T, R.T)

    def psi(self, s: Array) -> Array:
        """(6, velocities) the wrench at M, in F's axes, by which a unit of each generalised force acts.

        Of all those that do so much work and none on the excited modes it is the one whose torque lies in the
        directions about which the joint turns, its force in those in which it slides without turning.
        """
        free, excited = self.columns(s)
        if self.joint.velocity_rows:
            A = self.rows() @ self.in_axes(s)
            k = len(self.joint.velocity_rows)
            inverse = np.linalg.inv(A @ free)
            free, excited = free @ inverse[:, k:], excited - free @ inverse @ A @ excited
        moves = np.hstack([free, excited])
        if not moves.shape[1]:
            return np.zeros((6, 0))
        spins = orth(moves[:3], rcond=ZERO) if np.abs(moves[:3]).max() > ZERO else np.zeros((3, 0))
        slides = moves[3:] @ null_space(moves[:3], rcond=ZERO)
        slides = orth(slides, rcond=ZERO) if np.abs(slides).max(initial=0.0) > ZERO else np.zeros((3, 0))
        basis = block_diag(spins, slides)
        return (basis @ np.linalg.inv(moves.T @ basis))[:, : free.shape[1]]


def expand(model: Any) -> tuple[list[Any], list[Any], dict[str, Product]]:
    """Bodies with the carriers, joints with the parts instead of the products, and the products by name."""
    bodies, joints, products = list(model.bodies), [], {}
    for joint in model.joints:
        if type(joint).__name__ != "Joint":
            joints.append(joint)
            continue
        carriers = [fm.Body(f"{joint.name}__{k}", mass=0.0) for k in range(1, len(joint.modes))]
        places = (joint.F, *(carrier.at() for carrier in carriers), joint.M)
        parts, free = [], 0
        for k, mode in enumerate(joint.modes):
            parts.append(_part(joint, k, places[k], places[k + 1], free))
            free += mode.role == "free"
        products[joint.name] = Product(joint, tuple(parts), places)
        bodies += carriers
        joints += parts
    return bodies, joints, products


def _part(joint: Any, k: int, F: Any, M: Any, free: int) -> Any:
    mode, name = joint.modes[k], f"{joint.name}___{k + 1}"
    if mode.role == "locked":
        slide = mode.kind == "prismatic"
        R = np.eye(3) if slide else turn(np.asarray(mode.axis, float), mode.value)
        p = np.asarray(mode.axis, float) * mode.value * (1.0 if slide else mode.pitch)
        return fm.Weld(name, fm.Point(F.body, F.X_BP @ fm.Transform(fm.Rotation(R), p), None), M)
    laws = {}
    if mode.role == "free":
        laws = {law: getattr(joint, law)[free] for law in ("stiffness", "damping", "rest", "rotor_inertia")}
        laws["q0"] = joint.q0[free]
    if mode.kind == "prismatic":
        return fm.Prismatic(name, F, M, axis=mode.axis, **laws)
    if mode.pitch != 0.0:
        return fm.Screw(name, F, M, axis=mode.axis, pitch=mode.pitch, **laws)
    return fm.Revolute(name, F, M, axis=mode.axis, **laws)


@dataclass(frozen=True)
class Excitation:
    """eta, kappa and kappa's rate of every excited mode, by the names of the parts."""

    eta: Mapping[str, float]
    kappa: Mapping[str, float]

    def rate(self, product: Product, k: int, part: Any, inputs: Mapping[str, Any], t: float) -> float:
        """The k-th excited mode's acceleration, from its path or from inputs."""
        mode = [mode for mode in product.joint.modes if mode.role == "excited"][k]
        if mode.path is not None:
            return _second_derivative(mode.path, t)
        name = f"{product.joint.name}.{'eta_in' if mode.input == 'eta' else mode.input}"
        if mode.input == "kappa_dot":
            return float(np.ravel(inputs.get(name, np.zeros(k + 1)))[k])
        default = [m.eta0 for m in product.joint.modes if m.role == "excited"]
        target = float(np.ravel(inputs.get(name, default))[k])
        return mode.cutoff**2 * (target - self.eta[part.name]) - 2 * mode.cutoff * self.kappa[part.name]


def path_at(path: Any, t: float) -> tuple[float, float]:
    """Position and velocity."""
    x, c = _since(path, t)
    return float(np.polyval(c, x)), float(np.polyval(np.polyder(c), x))


def _second_derivative(path: Any, t: float) -> float:
    x, c = _since(path, t)
    return float(np.polyval(np.polyder(c, 2), x))


def _since(path: Any, t: float) -> tuple[float, Array]:
    breaks = np.asarray(path.breaks, float)
    if path.period:
        t = breaks[0] + np.fmod(np.fmod(t - breaks[0], path.period) + path.period, path.period)
    piece = max(int(np.sum(breaks <= t)) - 1, 0)
    return t - breaks[piece], np.asarray(path.coefficients[piece], float)[::-1]


def cam_term(cam: Any, q: float) -> tuple[float, float, float]:
    """-offset - scale f(q - phase) of a cam, and its first and second derivative by q."""
    x, c = _since(cam.path, q - cam.phase)
    f, slope, bend = (float(np.polyval(np.polyder(c, k), x)) for k in range(3))
    if cam.path.wave is not None:
        centre, radius, phase = cam.path.wave
        turn = radius * np.exp(1j * (f + phase))  # its real part is the profile
        first, second = 1j * slope * turn, (1j * bend - slope**2) * turn
        f, slope, bend = centre + turn.real, first.real, second.real
    return -cam.offset - cam.scale * f, -cam.scale * slope, -cam.scale * bend


def law_force(pieces: Any, x: float, v: float) -> float:
    """What a force law's pieces give."""
    total = 0.0
    for piece in pieces:
        if piece.lower <= x < piece.upper and piece.v_lower <= v < piece.v_upper:
            total += float(np.polynomial.polynomial.polyval2d(x - piece.origin, v, np.array(piece.coefficients)))
    return total
