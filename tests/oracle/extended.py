"""Trees of bodies on any joints in forty digits: what the core's sweeps and the compiler's frames are judged by.

The unknowns are the joints' reactions, not the accelerations. Under the wrenches on it alone a body with mass m,
inertia I about its centre and angular velocity w moves by

    m a = m g + sum s_j f_j,      I alpha = -w x I w + sum s_j (t_j + d_j x f_j),

d_j from the centre to the origin of joint j's frame M, s_j = 1 where M is on the body and -1 where F is. The wrench
(t_j, f_j) = W_j lambda_j does no work on the joint's free modes; along W_j the relative acceleration of its two bodies
there is c_j, that of the joint while the rates of its velocities are zero, or given:

    sum_k A_jk lambda_k = W_j' c_j - b_j,   A_jk = sum over common bodies of s_j s_k W_j' P_j M^-1 P_k' W_k.

A_jk couples joints of a common body alone. Eliminated from the tips it never fills in. A joint is the product of its
modes, each of which moves the next. Rotations and axes that a model has rounded are rounded to the nearest ones here.
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
    """By element name, rounded: wrench (torque, force) of a joint on M's body in F's axes at M; acceleration of
    a body frame's origin and angular acceleration in world axes."""

    wrench: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    a: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    alpha: dict[str, NDArray[np.float64]] = field(default_factory=dict)


@dataclass
class _Frame:
    """Origin, axes, velocity of the origin, angular velocity: all in world axes, or of M in F's."""

    p: Matrix
    R: Matrix
    v: Matrix
    w: Matrix

    def at(self, p: Matrix, R: Matrix) -> "_Frame":
        """Of a frame that is fixed in this one."""
        arm = self.R @ p
        return _Frame(self.p + arm, self.R @ R, self.v + _cross(self.w, arm), self.w)


@dataclass
class _Motion:
    """Of M in F's axes: where it is, its velocity, its acceleration (torque-like part first) where no free velocity
    changes, its free modes (6, n)."""

    frame: _Frame
    alpha: Matrix
    a: Matrix
    modes: Matrix


@dataclass
class _Body:
    frame: _Frame
    mass: Any
    inverse: Matrix  # of the inertia
    swirl: Matrix  # alpha without joints
    centre: Matrix
    ends: dict[str, tuple[int, Matrix]] = field(default_factory=dict)  # by joint: s_j, (6, n) P_j' W_j

    def free_acceleration(self, gravity: Matrix, at: Matrix) -> Matrix:
        arm, w = at - self.centre, self.frame.w
        return np.concatenate([self.swirl, gravity + _cross(self.swirl, arm) + _cross(w, _cross(w, arm))])

    def responses(self, columns: Matrix) -> Matrix:
        """M^-1 times wrenches at the centre."""
        return np.vstack([self.inverse @ columns[:3], columns[3:] / self.mass])


def exact(values: Any) -> Matrix:
    """Doubles without loss."""
    given = np.asarray(values, float)
    return np.array([Decimal(value) for value in given.ravel().tolist()], object).reshape(given.shape)


UNIT = exact(np.eye(3))


def accelerations(model: fm.Model) -> Answer:
    """Of a tree without applied forces at its start; excited modes have the accelerations that they have without
    inputs."""
    with localcontext(prec=DIGITS):
        gravity = exact(model.gravity)
        bodies, forbidden, where = _bodies(model)
        order = list(forbidden)
        A, b = _equations(bodies, forbidden, gravity, where)
        multipliers = _solve(order, A, b)
        answer = Answer()
        for joint in model.joints:
            W, _ = forbidden[joint.name]
            axes = where[joint.name][1]
            wrench = W @ multipliers[joint.name]
            answer.wrench[joint.name] = np.concatenate([axes.T @ wrench[:3], axes.T @ wrench[3:]]).astype(float)
        for name, body in bodies.items():
            wrench = sum(s * (P @ multipliers[j]) for j, (s, P) in body.ends.items())
            alpha = body.swirl + body.inverse @ wrench[:3]
            arm, w = body.frame.p - body.centre, body.frame.w
            answer.alpha[name] = alpha.astype(float)
            answer.a[name] = (gravity + wrench[3:] / body.mass + _cross(alpha, arm) + _cross(w, _cross(w, arm))).astype(
                float
            )
        return answer


def _bodies(
    model: fm.Model,
) -> tuple[dict[str, _Body], dict[str, tuple[Matrix, Matrix]], dict[str, tuple[Matrix, Matrix]]]:
    """The bodies; of each joint, parents before children, W and c, and where M is with F's axes."""
    zero = exact(np.zeros(3))
    frames = {model.ground.name: _Frame(zero, UNIT, zero, zero)}
    given = {body.name: body for body in model.bodies}
    found: dict[str, _Body] = {}
    forbidden, where = {}, {}
    at: dict[str, list[Any]] = {}
    for joint in model.joints:
        for end in joint.ends:
            at.setdefault(end.body.name, []).append(joint)
    waiting = list(at[model.ground.name])
    while waiting:
        joint = waiting.pop()
        ends = [end.body.name for end in joint.ends]
        if joint.name in forbidden:
            continue
        moved = _motion(joint)
        outwards = ends[0] in frames
        parent, child = ends if outwards else ends[::-1]
        if outwards:
            F = frames[parent].at(*_pose(joint.F))
            M = _after(F, moved.frame)
            frames[child] = _carrier(M, *_pose(joint.M))
        else:
            M = frames[parent].at(*_pose(joint.M))
            F = _before(M, moved.frame)
            frames[child] = _carrier(F, *_pose(joint.F))
        found[child] = _body(given[child], frames[child])
        turned = exact(np.zeros((6, 6)))
        turned[:3, :3] = turned[3:, 3:] = F.R
        W = _across(turned @ moved.modes)
        spin, speed = F.R @ moved.frame.w, F.R @ moved.frame.v
        drift = np.concatenate([_cross(F.w, spin) + F.R @ moved.alpha, 2 * _cross(F.w, speed) + F.R @ moved.a])
        forbidden[joint.name], where[joint.name] = (W, drift), (M.p, F.R)
        for name, sign in ((ends[0], -1), (ends[1], 1)):
            if name != model.ground.name:
                arm = M.p - found[name].centre
                moment = W[:3] + _skew(arm) @ W[3:]
                found[name].ends[joint.name] = sign, np.vstack([moment, W[3:]])
        waiting.extend(other for other in at[child] if other.name not in forbidden)
    return found, forbidden, where


def _motion(joint: Any) -> _Motion:
    """The product of the modes at the start."""
    zero = exact(np.zeros(3))
    now = _Frame(zero, UNIT, zero, zero)
    alpha, a = zero, zero
    q, u, change = list(joint.start_positions), list(joint.start_velocities), [0.0] * joint.velocities
    columns, starts, choice = [], [], None
    rates, second = exact(u), exact(change)
    if type(joint).__name__ == "Skate":
        (c, s), turn = _cos_sin(Decimal(q[2])), exact(u)
        choice = np.array([[c, Decimal(0)], [s, Decimal(0)], [Decimal(0), Decimal(1)]])
        rates = choice @ turn
        second = np.array([-turn[0] * s * turn[1], turn[0] * c * turn[1], Decimal(0)])
    rates, second = list(rates), list(second)
    for mode in joint.modes:
        if mode.kind == "ball":
            turned = now.R @ _of_quaternion(exact([q.pop(0) for _ in range(4)]))
            spin = turned @ np.array([rates.pop(0) for _ in range(3)])
            for column in turned.T:
                columns.append((column, zero))
                starts.append(now.p)
            alpha = alpha + _cross(now.w, spin)
            now = _Frame(now.p, turned, now.v, now.w + spin)
            continue
        if mode.free:
            s, ds, dds = Decimal(q.pop(0)), rates.pop(0), second.pop(0)
        else:
            s, ds, dds = (Decimal(value) for value in mode.prescribed())
        own = _unit(exact(mode.axis))
        axis = now.R @ own
        far = axis * (Decimal(1) if mode.linear else Decimal(mode.pitch))
        turns = axis * (0 if mode.linear else 1)
        if mode.free:
            columns.append((turns, far))
            starts.append(now.p)
        step = far * s
        a = a + _cross(alpha, step) + _cross(now.w, _cross(now.w, step)) + 2 * _cross(now.w, far * ds) + far * dds
        v = now.v + _cross(now.w, step) + far * ds
        alpha = alpha + _cross(now.w, turns * ds) + turns * dds
        R = now.R if mode.linear else now.R @ _about(own, s)
        now = _Frame(now.p + step, R, v, now.w + turns * ds)
    screws = [
        np.concatenate([turn, far + _cross(turn, now.p - at)]) for (turn, far), at in zip(columns, starts, strict=True)
    ]
    modes = np.array(screws).T if screws else exact(np.zeros((6, 0)))
    return _Motion(now, alpha, a, modes if choice is None else modes @ choice)


def _after(F: _Frame, X: _Frame) -> _Frame:
    arm = F.R @ X.p
    return _Frame(F.p + arm, F.R @ X.R, F.v + _cross(F.w, arm) + F.R @ X.v, F.w + F.R @ X.w)


def _before(M: _Frame, X: _Frame) -> _Frame:
    """The F from which M has moved by X."""
    R = M.R @ X.R.T
    arm, w = R @ X.p, M.w - R @ X.w
    return _Frame(M.p - arm, R, M.v - R @ X.v - _cross(w, arm), w)


def _carrier(frame: _Frame, p: Matrix, R: Matrix) -> _Frame:
    """The body in which this frame is at (p, R)."""
    axes = frame.R @ R.T
    arm = axes @ p
    return _Frame(frame.p - arm, axes, frame.v - _cross(frame.w, arm), frame.w)


def _body(body: fm.Body, frame: _Frame) -> _Body:
    inertia = frame.R @ exact(body.inertia) @ frame.R.T
    inverse = _inverse(inertia)
    swirl = -inverse @ _cross(frame.w, inertia @ frame.w)
    return _Body(frame, Decimal(body.mass), inverse, swirl, frame.p + frame.R @ exact(body.com))


def _pose(point: Any) -> tuple[Matrix, Matrix]:
    """Origin and axes in the body, the axes of the nearest rotation."""
    R = exact(point.X_BP.rotation.matrix)
    for _ in range(3):
        R = R @ (3 * UNIT - R.T @ R) / 2
    return exact(point.X_BP.translation), R


def _equations(
    bodies: dict[str, _Body], forbidden: Any, gravity: Matrix, where: Any
) -> tuple[dict[str, dict[str, Matrix]], dict[str, Matrix]]:
    A: dict[str, dict[str, Matrix]] = {}
    b = {j: W.T @ drift for j, (W, drift) in forbidden.items()}
    for body in bodies.values():
        for j, (s, P) in body.ends.items():
            b[j] = b[j] - s * (forbidden[j][0].T @ body.free_acceleration(gravity, where[j][0]))
            row, put = A.setdefault(j, {}), body.responses(P)
            for k, (other, Q) in body.ends.items():
                A.setdefault(k, {})
                row[k] = row.get(k, 0) + (s * other) * (put.T @ Q)
    return A, b


def _solve(order: list[str], A: dict[str, dict[str, Matrix]], b: dict[str, Matrix]) -> dict[str, Matrix]:
    """Block elimination from the tips: the joints left on the same parent are all coupled already."""
    inverse: dict[str, Matrix] = {}
    for j in reversed(order):
        row = A[j]
        inverse[j] = _inverse(row.pop(j))
        for k in row:
            factor = A[k].pop(j) @ inverse[j]
            b[k] = b[k] - factor @ b[j]
            for other, block in row.items():
                A[k][other] = A[k][other] - factor @ block
    found: dict[str, Matrix] = {}
    for j in order:
        rest = b[j]
        for k, block in A[j].items():
            rest = rest - block @ found[k]
        found[j] = inverse[j] @ rest
    return found


def _inverse(A: Matrix) -> Matrix:
    """By Gauss and Jordan, with the largest pivot of each column."""
    n = len(A)
    work = np.hstack([A, exact(np.eye(n))]) if n else A.reshape(0, 0)
    for k in range(n):
        best = k + int(np.argmax(np.abs(work[k:, k])))
        work[[k, best]] = work[[best, k]]
        work[k] = work[k] / work[k, k]
        for i in range(n):
            if i != k:
                work[i] = work[i] - work[i, k] * work[k]
    return work[:, n:]


def _across(modes: Matrix) -> Matrix:
    """(6, 6 - n) a basis of the wrenches that do no work on n modes."""
    work, n, pivots = modes.T.copy(), modes.shape[1], []
    for k in range(n):
        column = int(np.argmax(np.abs(work[k])))
        pivots.append(column)
        work[k] = work[k] / work[k, column]
        for i in range(n):
            if i != k:
                work[i] = work[i] - work[i, column] * work[k]
    rest = [c for c in range(6) if c not in pivots]
    W = exact(np.zeros((6, len(rest))))
    for j, c in enumerate(rest):
        W[c, j] = Decimal(1)
        for k, pivot in enumerate(pivots):
            W[pivot, j] = -work[k, c]
    return W


def _unit(v: Matrix) -> Matrix:
    return v / (v @ v).sqrt()


def _of_quaternion(q: Matrix) -> Matrix:
    w, x, y, z = _unit(q)
    K = _skew(np.array([x, y, z]))
    return UNIT + 2 * w * K + 2 * K @ K


def _about(axis: Matrix, angle: Decimal) -> Matrix:
    (c, s), K = _cos_sin(angle), _skew(axis)
    return UNIT + s * K + (1 - c) * (K @ K)


def _cos_sin(angle: Decimal) -> tuple[Decimal, Decimal]:
    """Taylor's series of a part of the angle, doubled again."""
    doublings = 8
    x = angle / 2**doublings
    c, s, term = Decimal(0), Decimal(0), Decimal(1)
    for k in range(1, 40):
        c, s = (c + term, s) if k % 2 else (c, s + term)
        term = term * x / k * (1 if k % 2 else -1)
    for _ in range(doublings):
        c, s = c * c - s * s, 2 * c * s
    return c, s


def _cross(a: Matrix, b: Matrix) -> Matrix:
    (u, v, w), (x, y, z) = a.tolist(), b.tolist()
    return np.array([v * z - w * y, w * x - u * z, u * y - v * x])


def _skew(v: Matrix) -> Matrix:
    return np.array([[Decimal(0), -v[2], v[1]], [v[2], Decimal(0), -v[0]], [-v[1], v[0], Decimal(0)]])
