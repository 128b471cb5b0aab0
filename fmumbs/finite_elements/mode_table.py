"""What the modes of a flexible body are: frequencies, kinds, participation and effective mass.

With the body's frame fixed, an eigenmode phi of K and M takes part in a translation of the frame along axis a by
P_a = int phi_a / m and in a rotation about the centre of mass by P_a = int ((r - c) x phi)_a / m, m = int phi . phi,
and its effective mass is P_a^2 m: the sum over all modes of a body that is clamped at one place is its mass, or its
moment of inertia about that place, so that the share which some modes keep tells what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmumbs._checks import Vec3
from fmumbs.spatial import moment_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ModeRow:
    """One eigenmode.

    frequency [Hz], with the body's frame fixed; kind: "" where nothing is known; damping: ratio.

    participation: of translations along x, y, z [1] and rotations about them, through the centre of mass [m], for a
        mode whose largest coordinate is 1 m. effective_mass: (3,) along x, y, z [kg]; share: (3,) the part of the
        body's mass that this mode and those before it move.
    """

    frequency: float
    kind: str
    damping: float
    participation: tuple[float, ...]
    effective_mass: Vec3
    share: Vec3


HEADINGS = (
    "frequency [Hz]", "kind", "damping", "mass x [kg]", "y", "z", "share x", "y", "z", "participation x", "y", "z",
    "about x [m]", "y", "z",
)  # fmt: skip
_NOTHING = 1e-9  # of the root of the mass or the inertia: participation that is round-off


def cells(table: tuple[ModeRow, ...]) -> list[tuple[str, ...]]:
    """The texts of each row below HEADINGS."""
    return [
        (f"{row.frequency:.5g}", row.kind, f"{row.damping:.3g}",
         *(f"{v:.4g}" for v in (*row.effective_mass, *row.share, *row.participation)))
        for row in table
    ]  # fmt: skip


def eigenmodes(K: Array, M: Array) -> tuple[Array, Array]:
    """(modes,) squared angular frequencies, ascending, and the shapes V, V' M V = 1, whose largest entry is positive.

    Raises LinAlgError where M is singular.
    """
    from scipy.linalg import eigh

    squares, turned = eigh(K, M)
    return squares, turned * np.sign(turned[np.abs(turned).argmax(axis=0), np.arange(len(K))])


def mode_table(
    K: Array, M: Array, D: Array, first: Array, moment: Array, com: Array, mass: float, inertia: float,
    kinds: tuple[str, ...],
) -> tuple[ModeRow, ...]:
    """A row for each eigenmode, ascending; none where M is singular.

    K, M, D: (modes, modes) stiffness, mass and damping; first, moment: integrals of phi and r phi'; com, mass: of the
    body; inertia: the sum of its moments about the centre of mass; kinds: of each modal coordinate, or none.
    """
    try:
        squares, turned = eigenmodes(K, M)
    except np.linalg.LinAlgError:
        return ()
    about = moment_of(moment - np.einsum("a,kb->kab", com, first))
    gained = turned.T @ np.hstack([first, about])
    gained[np.abs(gained) <= _NOTHING * np.sqrt([mass] * 3 + [inertia] * 3)] = 0.0
    effective = gained[:, :3] ** 2
    share = np.cumsum(effective, axis=0) / mass
    rates = np.sqrt(np.maximum(squares, 0.0))
    damped = np.einsum("jk,ji,ik->k", turned, D, turned)
    rows = []
    for k, rate in enumerate(rates.tolist()):
        most = int(np.argmax(np.abs(turned[:, k]) * np.sqrt(np.diag(M))))
        rows.append(
            ModeRow(
                rate / (2.0 * np.pi),
                kinds[most] if kinds else "",
                float(damped[k]) / (2.0 * rate) if rate > 0.0 else 0.0,
                tuple((gained[k] * np.abs(turned[:, k]).max()).tolist()),
                (float(effective[k, 0]), float(effective[k, 1]), float(effective[k, 2])),
                (float(share[k, 0]), float(share[k, 1]), float(share[k, 2])),
            )
        )
    return tuple(rows)
