"""The mode vectors of a joint and their dual basis (joint-representation).

The velocity G = [w_FM; v_FM] and the interaction Lambda = [torque; force] on M's body, both about M's origin in F's
axes, are

    G = phi u + phibar_kappa kappa + phibar_locked 0                                       (3.10b)
    [psi psibar]' = [phi phibar]^-1                                                        (3.19)
    lambda = phi' Lambda,  lambdabar = phibar' Lambda,  Lambda = psi lambda + psibar lambdabar   (3.28, 3.30)

The locked modes complete the basis: rotations, then translations, perpendicular to those of the moving modes and close
to F's axes. Then psi, by which applied forces act, Lambda_e = psi lambda, is a torque for a mode that turns and a force
for one that slides, without mixed units. For perpendicular modes psi is phi over its length squared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism import JointBase
from fmumbs.mechanism.joints.product import axes_after, screws

Array = NDArray[np.float64]

_DEPENDENT = 1e-9  # singular values below this, relative to the largest, are zero


@dataclass(frozen=True)
class ModeVectors:
    """Six-row matrices at M's origin in F's axes, the angular part first.

    phi, psi: (6, velocities) free modes. phibar_kappa, psibar_kappa: (6, excited modes). phibar_locked,
    psibar_locked: the rest of the six. Y1: (positions, velocities) and Y2: (positions, excited modes) of
    pdot = Y1 u + Y2 kappa (3.27), p without balls.
    """

    phi: Array
    phibar_kappa: Array
    phibar_locked: Array
    psi: Array
    psibar_kappa: Array
    psibar_locked: Array
    Y1: Array
    Y2: Array

    @property
    def phibar(self) -> Array:
        """(6, 6 - velocities) excited modes, then locked ones."""
        return np.hstack([self.phibar_kappa, self.phibar_locked])

    @property
    def psibar(self) -> Array:
        return np.hstack([self.psibar_kappa, self.psibar_locked])

    def generalised(self, interaction: Sequence[float]) -> tuple[Array, Array]:
        """Lambda and lambdabar (3.30) of an interaction (6,): torque [N.m], then force [N]."""
        given = np.array(_checks.numbers(interaction, 6, "interaction"))
        return self.phi.T @ given, self.phibar.T @ given

    def interaction(self, free: Sequence[float], constrained: Sequence[float]) -> Array:
        """The interaction (6,) (3.28): torque [N.m], then force [N].

        free: lambda, (velocities,). constrained: lambdabar, (6 - velocities,).
        """
        result: Array = self.psi @ np.asarray(free, float) + self.psibar @ np.asarray(constrained, float)
        return result


def _positions(joint: JointBase, p: Sequence[float] | None, eta: Sequence[float] | None) -> tuple[float, ...]:
    """The checked positions of all modes."""
    if not isinstance(joint, JointBase):
        raise ModelError(f"joint is {_checks.shown(joint)}. Give a joint such as a Revolute.")
    free, excited = sum(mode.positions for mode in joint.free_modes), len(joint.excited_modes)
    return joint.all_positions(
        None if p is None else _checks.numbers(p, free, f"{joint.title}: p"),
        None if eta is None else _checks.numbers(eta, excited, f"{joint.title}: eta"),
    )


def mode_vectors(joint: JointBase, p: Sequence[float] | None = None, eta: Sequence[float] | None = None) -> ModeVectors:
    """The mode vectors of a joint at positions p of its free modes and eta of its excited ones, by default initial.

    A ball's three modes are about M's axes. Raises ModelError if the modes are dependent, as at gimbal lock.
    """
    at = _positions(joint, p, eta)
    free, excited = _moving(joint, screws(joint.modes, at))
    Y1, Y2 = _rates(joint, at, free, excited)
    phi, phibar = free @ Y1, excited + free @ Y2
    moving = np.hstack([phi, phibar])
    locked = _complement(moving)
    if moving.shape[1] + locked.shape[1] != 6:
        raise ModelError(
            f"{joint.title}: at this position its modes are dependent, as at gimbal lock. "
            "Choose another position."
        )
    dual = np.linalg.inv(np.hstack([moving, locked])).T
    nf, nm = phi.shape[1], moving.shape[1]
    return ModeVectors(phi, phibar, locked, dual[:, :nf], dual[:, nf:nm], dual[:, nm:], Y1, Y2)


def free_modes(joint: JointBase, p: Sequence[float] | None = None, eta: Sequence[float] | None = None) -> Array:
    """(6, velocities) phi only; the modes may be dependent."""
    at = _positions(joint, p, eta)
    free, excited = _moving(joint, screws(joint.modes, at))
    return free @ _rates(joint, at, free, excited)[0] if joint.velocity_rows else free


def _moving(joint: JointBase, columns: Array) -> tuple[Array, Array]:
    """Columns of the free modes and of the excited modes."""
    roles = [mode.role for mode in joint.modes for _ in range(3 if mode.kind == "ball" else 1)]
    free, excited = ([role == wanted for role in roles] for wanted in ("free", "excited"))
    return columns[:, free], columns[:, excited]


def _rates(joint: JointBase, at: Sequence[float], free: Array, excited: Array) -> tuple[Array, Array]:
    """Y1 and Y2 (3.27): rates of the free modes per velocity variable, and per kappa."""
    n = free.shape[1]
    if not joint.velocity_rows:
        return np.eye(n), np.zeros((n, excited.shape[1]))
    R = axes_after(joint.modes, at, joint.rows_after)
    rows = np.array([*joint.velocity_rows, *joint.speed_rows]) @ np.kron(np.eye(2), R.T)
    inverse = np.linalg.inv(rows @ free)
    return inverse[:, len(joint.velocity_rows) :], -inverse @ rows @ excited


def _complement(moving: Array) -> Array:
    """(6, n) rotations and translations that complete the basis."""
    u, s, vt = np.linalg.svd(moving[:3])
    rank = int(np.sum(s > _DEPENDENT * max(1.0, *s))) if s.size else 0
    turns = u[:, :rank]
    slides = moving[3:] @ vt[rank:].T
    slides = slides[:, np.linalg.norm(slides, axis=0) > _DEPENDENT] if slides.size else np.zeros((3, 0))
    dependent = slides.size and np.linalg.matrix_rank(slides) < slides.shape[1]
    if dependent or rank + slides.shape[1] < moving.shape[1]:
        return np.zeros((6, 7))
    other_turns, other_slides = _perpendicular(turns), _perpendicular(slides)
    zeros = np.zeros_like
    return np.hstack([np.vstack([other_turns, zeros(other_turns)]), np.vstack([zeros(other_slides), other_slides])])


def _perpendicular(columns: Array) -> Array:
    """(3, n) unit vectors perpendicular to the columns and to each other, near the coordinate axes."""
    basis = list(np.linalg.qr(columns)[0].T) if columns.shape[1] else []
    missing = 3 - len(basis)
    residue = np.eye(3) - sum((np.outer(b, b) for b in basis), np.zeros((3, 3)))
    chosen = sorted(np.argsort(-np.diag(residue), kind="stable")[:missing].tolist())
    out: list[Array] = []
    for k in chosen:
        v = residue[:, k] - sum((a * a[k] for a in out), np.zeros(3))
        out.append(v / np.sqrt(v @ v))
    return np.array(out).reshape(-1, 3).T
