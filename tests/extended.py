"""Trees of bodies on spherical joints in forty digits: what the core's sweeps are judged by.

The unknowns are the joints' forces, not the accelerations. Under its forces alone a body with mass m, inertia I
about its centre and angular velocity w moves by

    m a = m g + sum s_j f_j,      I alpha = -w x I w + sum s_j d_j x f_j,

d_j from the centre to joint j, s_j = 1 where the body is the joint's child and -1 where it is its parent. Both
bodies of a joint have the same acceleration there, which gives one 3-vector equation a joint,

    sum_k A_jk f_k = b_j,   A_jk = sum over common bodies of s_j s_k (1/m + [d_j] I^-1 [d_k]'),

that couples joints of a common body alone. Eliminated from the tips it never fills in. All frames of joints are
parallel to their bodies'.
"""

from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fmumbs as fm

DIGITS = 40
"""The system's condition grows with the square of the joints: 1e6 for 1000, which leaves more than 30 digits."""

Matrix = NDArray[Any]  # of Decimal


@dataclass
class Answer:
    """By element name, (3,) each, rounded to doubles: force on the child of a joint, acceleration of a body frame's
    origin, angular acceleration, all in world axes."""

    force: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    a: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    alpha: dict[str, NDArray[np.float64]] = field(default_factory=dict)


@dataclass
class _Body:
    """What the equations need of a body; `arms` by joint: d_j; `sides`: s_j."""

    mass: Any
    compliance: Matrix
    swirl: Matrix  # alpha without joint forces
    omega: Matrix
    R: Matrix
    com: Matrix
    arms: dict[str, Matrix] = field(default_factory=dict)
    sides: dict[str, int] = field(default_factory=dict)

    def free_acceleration(self, gravity: Matrix, arm: Matrix) -> Matrix:
        return gravity + np.cross(self.swirl, arm) + np.cross(self.omega, np.cross(self.omega, arm))

    def mobility(self, j: str, k: str) -> Matrix:
        turned = _skew(self.arms[j]) @ self.compliance @ _skew(self.arms[k]).T
        return self.sides[j] * self.sides[k] * (exact(np.eye(3)) / self.mass + turned)


def exact(values: Any) -> Matrix:
    """Doubles without loss."""
    return np.vectorize(Decimal, otypes=[object])(np.asarray(values, float))


def accelerations(model: fm.Model, q: dict[str, Any], w: dict[str, Any]) -> Answer:
    """Of a tree, quaternions q and relative angular velocities w in M's axes by joint; no applied forces."""
    with localcontext(prec=DIGITS):
        bodies = _bodies(model, q, w)
        gravity = exact(model.gravity)
        order = _depth_first(model)
        force = _solve(order, *_equations(bodies, gravity))
        answer = Answer({joint: push.astype(float) for joint, push in force.items()})
        for name, body in bodies.items():
            pushes = {j: body.sides[j] * force[j] for j in body.arms}
            torque = sum(np.cross(body.arms[j], push) for j, push in pushes.items())
            alpha = body.swirl + body.compliance @ torque
            centre = gravity + sum(pushes.values()) / body.mass
            turn = np.cross(body.omega, np.cross(body.omega, body.com))
            answer.alpha[name] = alpha.astype(float)
            answer.a[name] = (centre - np.cross(alpha, body.com) - turn).astype(float)
        return answer


def _depth_first(model: fm.Model) -> list[fm.Joint]:
    """Joints, parents before children."""
    hanging: dict[str, list[fm.Joint]] = {}
    for joint in model.joints:
        hanging.setdefault(joint.F.body.name, []).append(joint)
    order: list[fm.Joint] = []
    waiting = list(hanging.get(model.ground.name, []))
    while waiting:
        order.append(waiting.pop())
        waiting.extend(hanging.get(order[-1].M.body.name, []))
    return order


def _bodies(model: fm.Model, q: dict[str, Any], w: dict[str, Any]) -> dict[str, _Body]:
    found: dict[str, _Body] = {}
    for joint in _depth_first(model):
        parent, (F, M) = found.get(joint.F.body.name), (joint.F, joint.M)
        assert all((X.rotation.matrix == np.eye(3)).all() for X in (F.X_BP, M.X_BP))
        R, spin = _rotation(exact(q[joint.name])), exact(w[joint.name])
        R = R if parent is None else parent.R @ R
        omega = R @ spin + (0 if parent is None else parent.omega)
        inertia, compliance = _turned(R, M.body.inertia)
        swirl = -compliance @ np.cross(omega, inertia @ omega)
        body = _Body(Decimal(M.body.mass), compliance, swirl, omega, R, R @ exact(M.body.com))
        body.arms[joint.name], body.sides[joint.name] = R @ exact(M.X_BP.translation) - body.com, 1
        if parent is not None:
            parent.arms[joint.name] = parent.R @ exact(F.X_BP.translation) - parent.com
            parent.sides[joint.name] = -1
        found[M.body.name] = body
    return found


def _equations(bodies: dict[str, _Body], gravity: Matrix) -> tuple[dict[str, dict[str, Matrix]], dict[str, Matrix]]:
    A: dict[str, dict[str, Matrix]] = {}
    b: dict[str, Matrix] = {}
    for body in bodies.values():
        for j, arm in body.arms.items():
            b[j] = b.get(j, 0) - body.sides[j] * body.free_acceleration(gravity, arm)
            row = A.setdefault(j, {})
            for k in body.arms:
                row[k] = row.get(k, 0) + body.mobility(j, k)
    return A, b


def _solve(order: list[fm.Joint], A: dict[str, dict[str, Matrix]], b: dict[str, Matrix]) -> dict[str, Matrix]:
    """Block elimination from the tips: the joints left on the same parent are all coupled already."""
    inverse: dict[str, Matrix] = {}
    names = [joint.name for joint in order]
    for j in reversed(names):
        row = A[j]
        inverse[j] = _inverse(row.pop(j))
        for k in row:
            factor = A[k].pop(j) @ inverse[j]
            b[k] = b[k] - factor @ b[j]
            for other, block in row.items():
                A[k][other] = A[k][other] - factor @ block
    force: dict[str, Matrix] = {}
    for j in names:
        force[j] = inverse[j] @ (b[j] - sum((block @ force[k] for k, block in A[j].items()), exact(np.zeros(3))))
    return force


def _turned(R: Matrix, inertia: Any) -> tuple[Matrix, Matrix]:
    """Inertia in world axes, and its inverse."""
    about = exact(inertia)
    return R @ about @ R.T, R @ _inverse(about) @ R.T


def _rotation(q: Matrix) -> Matrix:
    w, x, y, z = q / (q @ q).sqrt()
    K = _skew(np.array([x, y, z]))
    return exact(np.eye(3)) + 2 * w * K + 2 * K @ K


def _skew(v: Matrix) -> Matrix:
    return np.array([[Decimal(0), -v[2], v[1]], [v[2], Decimal(0), -v[0]], [-v[1], v[0], Decimal(0)]])


def _inverse(A: Matrix) -> Matrix:
    """By the columns of the adjugate."""
    rows = np.array([np.cross(A[1], A[2]), np.cross(A[2], A[0]), np.cross(A[0], A[1])])
    return rows.T / (A[0] @ rows[0])
