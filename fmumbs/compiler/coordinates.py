"""How the positions of a spanning tree and its velocities belong together, and which constraint rows are of rates."""

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.constraint_rows import COUPLED, RATES
from fmumbs.compiler.layout import Arrays, lib
from fmumbs.compiler.links import JOINT_FREE, JOINT_NONHOLONOMIC

Indices = NDArray[np.int64]


def velocities_of_positions(arrays: Arrays, positions: int) -> tuple[Indices, list[tuple[int, int]]]:
    """(positions,) the velocity that is the rate of each scalar position, -1 for none, as of a quaternion; and where
    each quaternion and the angular velocity of its ball begin.
    """
    velocity = np.full(positions, -1)
    balls: list[tuple[int, int]] = []
    for joint in np.flatnonzero(arrays["joint_first"] >= 0).tolist():
        p, n, u, m = (int(arrays[f"joint_{name}"][joint]) for name in ("p", "np", "u", "nu"))
        kind = int(arrays["joint_kind"][joint])
        if kind == lib.FM_JOINT_SPHERICAL or kind == JOINT_FREE:
            first = 3 if kind == JOINT_FREE else 0
            velocity[p : p + first] = range(u, u + first)
            balls.append((p + first, u + first))
        elif kind != JOINT_NONHOLONOMIC:
            k = min(n, m)
            velocity[p : p + k] = range(u, u + k)
    for modal, link in enumerate(arrays["modal_link"].tolist()):
        p, u, k = int(arrays["link_p"][link]), int(arrays["link_u"][link]), int(arrays["modal_shapes"][modal])
        velocity[p : p + k] = range(u, u + k)
    velocity[arrays["excitation_p"]] = arrays["excitation_u"]
    return velocity, balls


def are_of_rates(arrays: Arrays, rows: Indices) -> NDArray[np.bool_]:
    """(n,) whether constraint rows hold velocities alone."""
    kind, part = arrays["row_kind"][rows], arrays["row_part"][rows]
    return np.asarray(np.isin(kind, list(RATES.values())) | ((kind == COUPLED) & (part != lib.FM_OF_POSITION)))
