"""The dynamics of mechanisms with flexible bodies by another method: clouds of mass points and Lagrange's equations.

Every body is a cloud of points, a rigid one of six that have its inertia, a flexible one of as many as integrate over
it. With x(y) the positions of all points as functions of the joints' and the modal coordinates y, X = dx/dy by complex
step and x'' at y'' = 0 by Cauchy's integral,

    X' m X y'' + J' lambda = X' m (g - x'') + Q,    J y'' = -c'',

solved densely by least squares. Nothing is shared with the core: no integrals of shapes, no floating frame's equations
of motion, no recursion. A frame on a flexible body turns by the angle that its modes' slopes add up to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss

import fmumbs as fm

STEP, SAMPLES = 1e-30, 24
Shape = Callable[[Any], Any]  # position in the body (3,) -> (modes, 3): deflection in the plane's two axes, turn
PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
AXES = {plane: (np.eye(3)[i], np.eye(3)[j], np.cross(np.eye(3)[i], np.eye(3)[j])) for plane, (i, j) in PLANES.items()}
ALONG = np.array([1.0, 0.0, 0.0])


@dataclass
class Cloud:
    """Masses (k,) at positions (k, 3) in the body's frame; `shape`: of a flexible body, anywhere on it."""

    masses: Any
    positions: Any
    shape: Shape | None = None
    plane: str | None = "xy"  # None: of each mode translation and rotation vector in space
    slender: bool = False  # a beam along x: its cross-sections stay plane
    rows: Any = None  # (k, modes, 3) the shapes at the positions

    def __post_init__(self) -> None:
        if self.shape is not None:
            self.rows = np.array([self.shape(x) for x in self.positions])


def rigid(body: Any) -> Cloud:
    """Six points with the body's mass, centre and inertia."""
    inertia = np.array(body.inertia)
    spread, axes = np.linalg.eigh(0.5 * np.trace(inertia) * np.eye(3) - inertia)
    arms = axes * np.sqrt(3 * np.maximum(spread, 0.0) / body.mass)
    return Cloud(np.full(6, body.mass / 6), np.array(body.com) + np.concatenate([arms.T, -arms.T]))


def waves(boundary: str, modes: int) -> list[tuple[Callable[[Any], Any], Callable[[Any], Any]]]:
    """Deflection and slope over s = x / L of the classical modes, 1 where they are largest."""
    if boundary == "pinned-pinned":
        turns = np.pi * np.arange(1, modes + 1)
        return [(lambda s, k=k: np.sin(k * s), lambda s, k=k: k * np.cos(k * s)) for k in turns]
    sign = -1.0 if boundary == "clamped-free" else 1.0  # free-free
    b = (1.8751040687119611, 4.694091132974175, 7.854757438237613)
    if boundary == "free-free":
        b = (4.730040744862704, 7.853204624095838, 10.995607838001671)
    found = []
    for i, k in enumerate(b[:modes]):
        less = (sign * (np.cos(k) - np.sin(k)) - np.exp(-k)) / (np.sinh(k) - sign * np.sin(k))  # 1 - r: cosh - r sinh
        scale = 0.5 * (-1.0) ** i

        def W(s: Any, k: float = k, less: float = less, c: float = scale) -> Any:
            waving = sign * (np.cos(k * s) - (1 - less) * np.sin(k * s))
            return c * (np.exp(-k * s) + less * np.sinh(k * s) + waving)

        def slope(s: Any, k: float = k, less: float = less, c: float = scale) -> Any:
            waving = sign * (np.sin(k * s) + (1 - less) * np.cos(k * s))
            return c * k * (less * np.cosh(k * s) - np.exp(-k * s) - waving)

        found.append((W, slope))
    return found


def beam(length: float, mass: float, boundary: str, modes: int, plane: str = "xy") -> Cloud:
    """A beam along x, integrated by Gauss's points."""
    s, w = leggauss(24)
    s, w = (s + 1) / 2, w / 2
    shapes = waves(boundary, modes)

    def shape(at: Any) -> Any:
        return np.array([(0.0, W(at[0] / length), slope(at[0] / length) / length) for W, slope in shapes])

    return Cloud(mass * w, np.outer(length * s, (1.0, 0.0, 0.0)), shape, plane, slender=True)


def cross(v: Any) -> Any:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def turn(axis: Any, angle: Any) -> Any:
    k = cross(np.asarray(axis, float))
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k)


def small_turn(v: Any) -> Any:
    """exp of a rotation vector, to the third order, near zero."""
    k = cross(v)
    return np.eye(3) + k + k @ k / 2 + k @ k @ k / 6


def exponential(v: Any) -> Any:
    """exp of a rotation vector, by its series."""
    k, found, term = cross(v), np.eye(3), np.eye(3)
    for n in range(1, 25):
        term = term @ k / n
        found = found + term
    return found


@dataclass
class Present:
    """Positions and velocities of the tree's joints and of the modes, by the names of joints and bodies."""

    q: Mapping[str, Any]
    u: Mapping[str, Any]


@dataclass
class Answer:
    udot: dict[str, Any]
    accelerations: dict[str, Any]  # of each body's points
    poses: dict[str, Any]  # of each body's frame
    points: dict[str, Any]  # position, velocity, acceleration of the named ones
    energy: float


class FlexibleOracle:
    """`clouds`: of the flexible bodies; `tree`: names of the joints of the spanning tree, from the ground."""

    def __init__(self, model: Any, clouds: Mapping[str, Cloud], cuts: tuple[str, ...] = ()) -> None:
        self.model = model
        self.clouds = {b.name: clouds.get(b.name) or rigid(b) for b in model.bodies}
        self.tree = [j for j in model.joints if j.name not in cuts]
        self.cuts = [j for j in model.joints if j.name in cuts]
        self.modes = {b.name: b.modes for b in model.bodies if b.name in clouds}
        self.slices: dict[str, slice] = {}
        count = 0
        for name, n in [*((j.name, j.velocities) for j in self.tree), *self.modes.items()]:
            self.slices[name] = slice(count, count + n)
            count += n
        self.count = count

    def frame(self, poses: Any, q: Any, point: Any) -> tuple[Any, Any]:
        """Origin and axes in the world of a point's frame."""
        name = point.body.name
        x, R = np.array(point.X_BP.translation), np.array(point.X_BP.rotation.matrix)
        if name not in poses:
            return x, R
        r, A = poses[name]
        if name in self.modes:
            d, S = self._bent(name, q[name], x)
            return r + A @ d, A @ S @ R
        return r + A @ x, A @ R

    def _bent(self, name: str, q: Any, x: Any) -> tuple[Any, Any]:
        """Where a point's frame is in a flexible body's, and how it is turned there."""
        cloud = self.clouds[name]
        node = x * ALONG if cloud.slender else x
        rows = q @ cloud.shape(node)
        if cloud.plane is None:
            S = exponential(rows[3:])
            return node + rows[:3] + S @ (x - node), S
        first, second, normal = AXES[cloud.plane]
        S = turn(normal, rows[2])
        return node + rows[0] * first + rows[1] * second + S @ (x - node), S

    def place(self, present: Present, delta: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Poses of all bodies and modal coordinates, away from the present ones."""
        poses: dict[str, Any] = {}
        q = {name: np.asarray(present.q[name]) + delta[self.slices[name]] for name in self.modes}
        for joint in self.tree:
            r, R = self.frame(poses, q, joint.F)
            d = delta[self.slices[joint.name]]
            p = np.atleast_1d(present.q.get(joint.name, ()))
            if isinstance(joint, fm.Revolute):
                R = R @ turn(joint.axis, p[0] + d[0])
            elif isinstance(joint, fm.Prismatic):
                r = r + R @ np.array(joint.axis) * (p[0] + d[0])
            elif isinstance(joint, fm.Free):
                r, R = r + R @ (p[:3] + d[:3]), R @ fm.Rotation.quaternion(*p[3:]).matrix @ small_turn(d[3:])
            elif isinstance(joint, fm.Spherical):
                R = R @ fm.Rotation.quaternion(*p).matrix @ small_turn(d)
            elif not isinstance(joint, fm.Weld):
                raise NotImplementedError(joint)
            x, Q = np.array(joint.M.X_BP.translation), np.array(joint.M.X_BP.rotation.matrix)
            name = joint.M.body.name
            if name in self.modes:
                x, S = self._bent(name, q[name], x)
                Q = S @ Q
            A = R @ Q.T
            poses[name] = (r - A @ x, A)
        return poses, q

    def points(self, present: Present, delta: Any) -> Any:
        """(points, 3) of all clouds."""
        poses, q = self.place(present, delta)
        found = []
        for name, cloud in self.clouds.items():
            r, A = poses[name]
            x = cloud.positions
            if name in self.modes:
                moved = np.einsum("n,knd->kd", q[name], cloud.rows)
                flat = cloud.plane is not None
                x = x + (moved[:, :2] @ np.eye(3)[list(PLANES[cloud.plane])] if flat else moved[:, :3])
            found.append(r + x @ A.T)
        return np.concatenate(found)

    def constraint(self, present: Present, delta: Any) -> Any:
        """c of all cut joints."""
        poses, q = self.place(present, delta)
        found = [np.zeros(0)]
        for joint in self.cuts:
            (rF, RF), (rM, RM) = self.frame(poses, q, joint.F), self.frame(poses, q, joint.M)
            p, R = RF.T @ (rM - rF), RF.T @ RM
            axis = np.array(getattr(joint, "axis", (0, 0, 1)), float)
            across = np.linalg.svd(axis[None])[2][1:]
            turns = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
            if isinstance(joint, fm.Prismatic):
                found += [across @ p, turns]
            elif isinstance(joint, fm.Revolute):
                found += [p, across @ (R @ axis)]
            elif isinstance(joint, fm.Weld):
                found += [p, turns]
            elif isinstance(joint, fm.Spherical):
                found += [p]
            else:
                raise NotImplementedError(joint)
        return np.concatenate(found)

    def jacobian(self, f: Callable[[Any], Any]) -> Any:
        """By all coordinates, at zero."""
        return np.array([f(1j * STEP * e).imag / STEP for e in np.eye(self.count)]).T

    def solve(self, present: Present, inputs: Mapping[str, Any]) -> Answer:
        n, zero = self.count, np.zeros(self.count)
        rate = zero.copy()
        for name, part in self.slices.items():
            rate[part] = np.asarray(present.u.get(name, ()), float)

        def bend(f: Any) -> Any:
            radius = 0.06 / max(1.0, np.abs(rate).max())  # shapes of short waves turn fast
            turns = np.exp(2j * np.pi * np.arange(SAMPLES) / SAMPLES)
            return 2 * np.mean([f(radius * z * rate) / (radius * z) ** 2 for z in turns], axis=0).real

        def flat(delta: Any) -> Any:
            return self.points(present, delta).ravel()

        masses = np.repeat(np.concatenate([c.masses for c in self.clouds.values()]), 3)
        gravity = np.tile(np.array(self.model.gravity), len(masses) // 3)
        X, drift = self.jacobian(flat), bend(flat)
        Q = X.T @ (masses * (gravity - drift))
        stored = 0.0
        for joint in self.tree:
            part = self.slices[joint.name]
            given = inputs.get(f"{joint.name}.tau", inputs.get(f"{joint.name}.f"))
            if given is not None:
                Q[part] += given
            if isinstance(joint, fm.Revolute | fm.Prismatic):
                away = float(np.ravel(present.q[joint.name])[0]) - joint.rest
                Q[part] -= joint.stiffness * away + joint.damping * rate[part]
                stored += 0.5 * joint.stiffness * away**2
        for b in self.model.bodies:
            if b.name in self.modes:
                q, part = np.asarray(present.q[b.name]), self.slices[b.name]
                K, D = np.array(b.stiffness), np.array(b.damping)
                Q[part] -= K @ q + D @ rate[part]
                stored += 0.5 * q @ K @ q
        for spring in self.model.springs:

            def ends(delta: Any, spring: Any = spring) -> Any:
                poses, q = self.place(present, delta)
                return self.frame(poses, q, spring.Q)[0] - self.frame(poses, q, spring.P)[0]

            d, dX = ends(zero), self.jacobian(ends)
            length = np.sqrt(d @ d)
            pull = spring.stiffness * (length - spring.free_length) + spring.damping * (d @ dX @ rate) / length
            Q -= pull * (d / length) @ dX
            stored += 0.5 * spring.stiffness * (length - spring.free_length) ** 2
        for load in self.model.loads:

            def at(delta: Any, load: Any = load) -> Any:
                r, R = self.frame(*self.place(present, delta), load.P)
                return np.concatenate([r, R.ravel()])

            G, R = self.jacobian(at), at(zero)[3:].reshape(3, 3)
            turn = R if load.axes == "point" else np.eye(3)
            Q += G[:3].T @ turn @ np.asarray(inputs.get(f"{load.name}.force", load.force), float)
            torque = turn @ np.asarray(inputs.get(f"{load.name}.torque", load.torque), float)
            for k in range(n):
                W = G[3:, k].reshape(3, 3) @ R.T
                Q[k] += torque @ np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
        M = X.T @ (masses[:, None] * X)

        def c(delta: Any) -> Any:
            return self.constraint(present, delta)

        J = self.jacobian(c)
        K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
        x = np.linalg.lstsq(K, np.concatenate([Q, -bend(c)]), rcond=1e-12)[0]
        v, a = X @ rate, X @ x[:n] + drift
        poses, q = self.place(present, zero)
        energy = 0.5 * masses @ v**2 - masses @ (gravity * flat(zero)) + stored
        accelerations, first = {}, 0
        for name, cloud in self.clouds.items():
            accelerations[name] = a.reshape(-1, 3)[first : first + len(cloud.masses)]
            first += len(cloud.masses)
        points = {}
        for p in self.model.named_points:

            def where(delta: Any, p: Any = p) -> Any:
                return self.frame(*self.place(present, delta), p)[0]

            G = self.jacobian(where)
            points[f"{p.body.name}.{p.name}"] = (where(zero), G @ rate, G @ x[:n] + bend(where))
        udot = {name: x[part] for name, part in self.slices.items()}
        return Answer(udot, accelerations, poses, points, float(energy))

    def subtree(self, joint: Any) -> list[str]:
        """The bodies that a joint of the tree carries."""
        found = [joint.M.body.name]
        for other in self.tree:
            if other.F.body.name in found:
                found.append(other.M.body.name)
        return found
