"""Which reactions are unique, by brute force: the full Jacobian of all joints in absolute coordinates, and its rank.

Joint j is unique where rank(J) = rank(J_j) + rank(J without j) and J_j has full rank; what is indeterminate in it are
its rows of the null space of J'. Nothing is shared with what is tested: rows come from the oracle's geometry.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from oracle import Oracle, State


@dataclass(frozen=True)
class Brute:
    """rows, rank; of each joint the indeterminate dimension, by the null space and by comparing ranks; components:
    those of force and torque at M in F's axes that are unique. gap: singular values kept over those dropped.
    """

    rows: int
    rank: int
    dimension: dict[str, int]
    by_ranks: dict[str, bool]
    components: dict[str, tuple[bool, ...]]
    gap: float


def brute(model: Any, state: State, length: float = 1.0) -> Brute:
    """length: typical of the model [m], so that metres and radians compare."""
    oracle = Oracle(model, length)
    units = np.tile([1.0] * 3 + [1.0 / length] * 3, len(oracle.bodies))  # a turn moves points by `length`
    rows = {joint.name: oracle._rows(state, joint)[0] * units for joint in oracle.joints}
    for coupling in model.couplings:
        rows[coupling.name] = oracle.coupling_rows(state, coupling)[0] * units
    rows = {name: np.linalg.svd(J, full_matrices=False)[2] if len(J) else J for name, J in rows.items()}
    J = np.vstack(list(rows.values()))
    U, S, _ = np.linalg.svd(J)
    rank, gap = _rank(S)
    null = U[:, rank:]
    dimension, by_ranks, components, at = {}, {}, {}, 0
    for joint in oracle.joints:
        own = slice(at, at + len(rows[joint.name]))
        at = own.stop
        mine = null[own]
        others = np.delete(J, own, axis=0)
        dimension[joint.name] = _count(mine)
        by_ranks[joint.name] = rank == _count(rows[joint.name]) + _count(others)
        pushed = rows[joint.name].T @ mine / units[:, None]
        components[joint.name] = _components(oracle, state, joint, pushed, length)
    return Brute(len(J), rank, dimension, by_ranks, components, gap)


def _rank(values: np.ndarray) -> tuple[int, float]:
    count = int(np.sum(values > 1e-9 * values[0]))
    return count, float(values[count - 1] / max(values[count] if count < len(values) else 0.0, 1e-15))


def _count(matrix: np.ndarray) -> int:
    return int(np.sum(np.linalg.svd(matrix, compute_uv=False) > 1e-9)) if matrix.size else 0


def _components(oracle: Oracle, state: State, joint: Any, pushed: np.ndarray, length: float) -> tuple[bool, ...]:
    """What the null space puts on M's body, or on F's where M is on the ground, as force and torque at M."""
    point, sign = (joint.M, 1.0) if not oracle.is_ground(joint.M) else (joint.F, -1.0)
    name = point.body.name
    F, M = oracle.frame(state, joint.F), oracle.frame(state, joint.M)
    i = oracle.column[name]
    arm = M.p - state.frame[name].p - state.frame[name].R @ oracle.com[name]
    force = sign * pushed[i : i + 3]
    torque = sign * pushed[i + 3 : i + 6] - np.cross(arm, force, axis=0)
    parts = np.vstack([F.R.T @ force, F.R.T @ torque / length])
    return tuple((np.abs(parts).max(axis=1, initial=0.0) < 1e-6).tolist())
