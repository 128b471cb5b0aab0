"""The product of modes: where M is in F, and the screws of its motion.

    X_FM = X_1(s_1) X_2(s_2) ...           column k = d(angular velocity, velocity of M's origin) / d(rate of s_k)

both in F's axes. A turn about a at the distance r from M's origin has the column [a; a x r + pitch a].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fmumbs.mechanism.joints.mode import Mode
from fmumbs.spatial import Rotation, Transform

Array = NDArray[np.float64]


def transform(modes: Sequence[Mode], positions: Sequence[float]) -> Transform:
    """X_FM; positions: of all modes in their order, four numbers for a ball."""
    R, r = _frames(modes, positions)[-1]
    return Transform(Rotation(R), r)


def screws(modes: Sequence[Mode], positions: Sequence[float]) -> Array:
    """(6, velocities of all modes) screws at M's origin in F's axes, angular part first; a ball's about M's axes."""
    frames = _frames(modes, positions)
    end = frames[-1][1]
    columns: list[Array] = []
    for mode, (R, r), (after, _) in zip(modes, frames, frames[1:], strict=False):
        if mode.kind == "ball":
            columns += [np.concatenate([a, np.cross(a, end - r)]) for a in after.T]
            continue
        axis = R @ mode.axis
        if mode.linear:
            columns.append(np.concatenate([np.zeros(3), axis]))
        else:
            columns.append(np.concatenate([axis, np.cross(axis, end - r) + mode.pitch * axis]))
    return np.array(columns).reshape(-1, 6).T


def axes_after(modes: Sequence[Mode], positions: Sequence[float], count: int) -> Array:
    """(3, 3) axes in F as rotated by the first `count` modes."""
    return _frames(modes, positions)[count][0]


def _frames(modes: Sequence[Mode], positions: Sequence[float]) -> list[tuple[Array, Array]]:
    """Axes and origin in F before the first mode and after each."""
    R, r = np.eye(3), np.zeros(3)
    frames, rest = [(R, r)], list(positions)
    for mode in modes:
        if mode.kind == "ball":
            R = R @ Rotation.quaternion(*rest[:4]).matrix
            rest = rest[4:]
        else:
            s = rest.pop(0)
            r = r + R @ np.array(mode.axis) * (s if mode.linear else mode.pitch * s)
            if not mode.linear:
                R = R @ Rotation.about(mode.axis, s).matrix
        frames.append((R, r))
    return frames
