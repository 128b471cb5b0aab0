"""What the dynamics of a mechanism are, by another road: absolute coordinates and Lagrange multipliers.

Every body has six freedoms (position of its centre of mass, orientation); every joint is a set of constraint
functions c(F, M) = 0 of the poses of its two frames, written from its geometry (oracle_joints.py). With nu
the velocities and spins of all bodies,

    [ M  J' ] [ nu'    ]   [ Q - omega x I omega ]       J  = dc/dx, by complex step
    [ J  0  ] [ -lambda] = [ -c''(nu' = 0)       ]       c'' along free flight, by Cauchy's integral

is solved densely by least squares, so that redundant rows are welcome. Rows are normed so that |lambda|^2 is
the sum of |f|^2 + |t|^2/L^2 over the joints: where reactions are not unique the solution is the smallest of
them in this sense. Nothing here is shared with the core: no tree, no recursion, no joint coordinates in the
dynamics. Only geometry, inertia and forces are read from the Model.

    oracle = Oracle(model)
    answer = oracle.solve(oracle.state(), {"A.tau": 1.0})
    answer["A.qdd"], answer["A.reaction.f"], answer["B.a"]          # the names of an FMU's variables
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from oracle_joints import (
    Array,
    Frame,
    angle_about,
    axis_of,
    constraint,
    cross_matrix,
    moving,
    placed,
    rotation_vector,
    turn,
)

STEP = 1e-30
"""Size of a complex step: no rounding, because nothing is subtracted."""
SAMPLES = 24
"""Points on the circle of Cauchy's integral; its error is about (1/2)^26 / 26!."""


@dataclass(frozen=True)
class State:
    """Body frames in the world, velocities of their origins [m/s] and spins [rad/s] in world axes, by name.

    angle: about how far a revolute has turned, for the springs of those beyond half a turn.
    """

    frame: Mapping[str, Frame]
    v: Mapping[str, Array]
    w: Mapping[str, Array]
    angle: Mapping[str, float] = field(default_factory=dict)


def point_in_body(point: Any) -> tuple[Array, Array]:
    """Origin and axes of a point's frame in its body's frame."""
    X = point.X_BP
    return np.asarray(X.translation, float), np.asarray(X.rotation.matrix, float)


class Oracle:
    """Dense dynamics of a Model; `length` is the L of the norm that chooses among many reactions."""

    def __init__(self, model: Any, length: float = 1.0) -> None:
        self.model, self.length = model, length
        self.bodies = list(model.bodies)
        self.column = {body.name: 6 * i for i, body in enumerate(self.bodies)}
        self.com = {body.name: np.asarray(body.com, float) for body in self.bodies}

    def is_ground(self, point: Any) -> bool:
        return getattr(point.body, "name", None) not in self.column

    # positions and velocities

    def state(self, q: Mapping[str, Any] | None = None, u: Mapping[str, Any] | None = None) -> State:
        """Frames and velocities of all bodies from joint positions and velocities, by default q0 and u0.

        Bodies are reached through the joints that come first; for loops give a State of your own.
        """
        q, u = q or {}, u or {}
        frames = self._reach(q, u, 0.0)
        ahead = self._reach(q, u, 1j * STEP)
        v = {name: ahead[name].p.imag / STEP for name in frames}
        w = {}
        for name, frame in frames.items():
            W = ahead[name].R.imag / STEP @ frame.R.T
            w[name] = np.array([W[2, 1], W[0, 2], W[1, 0]])
        angle = {j.name: q.get(j.name, j.q0) for j in self.model.joints if type(j).__name__ == "Revolute"}
        return State({n: Frame(f.p.real, f.R.real) for n, f in frames.items()}, v, w, angle)

    def _reach(self, q: Mapping[str, Any], u: Mapping[str, Any], t: complex) -> dict[str, Frame]:
        ground = Frame(np.zeros(3), np.eye(3))
        frames: dict[str, Frame] = {}
        waiting = list(self.model.joints)
        while waiting:
            later = []
            for joint in waiting:
                F = ground if self.is_ground(joint.F) else frames.get(joint.F.body.name)
                M = ground if self.is_ground(joint.M) else frames.get(joint.M.body.name)
                placing = placed(joint, q.get(joint.name, getattr(joint, "q0", None)))
                p, R = moving(joint, *placing, u.get(joint.name, getattr(joint, "u0", None)), t)
                if F is not None and M is None:
                    at_M = F.then(*point_in_body(joint.F)).then(p, R)
                    frames[joint.M.body.name] = at_M.before(*point_in_body(joint.M))
                elif M is not None and F is None:
                    at_F = M.then(*point_in_body(joint.M)).before(p, R)
                    frames[joint.F.body.name] = at_F.before(*point_in_body(joint.F))
                elif F is None:
                    later.append(joint)
            if len(later) == len(waiting):
                raise ValueError(f"not connected to the ground: {[joint.name for joint in later]}")
            waiting = later
        return frames

    def frame(self, state: State, point: Any) -> Frame:
        """A point's frame in the world."""
        body = Frame(np.zeros(3), np.eye(3)) if self.is_ground(point) else state.frame[point.body.name]
        return body.then(*point_in_body(point))

    def _flown(self, state: State, point: Any, t: complex) -> Frame:
        """A point's frame when its body has flown on for t with the same spin and velocity of its centre."""
        if self.is_ground(point):
            return self.frame(state, point)
        name = point.body.name
        now, w, com = state.frame[name], state.w[name], self.com[name]
        arm = now.R @ com
        R = turn(w, t) @ now.R
        centre = now.p + arm + (state.v[name] + np.cross(w, arm)) * t
        return Frame(centre - R @ com, R).then(*point_in_body(point))

    # derivatives of functions of two frames

    def jacobian(self, state: State, P: Any, Q: Any, function: Callable[[Frame, Frame], Array]) -> Array:
        """d function(P, Q) by the small motions (displacement, turn) of the two bodies: (rows, 6 n)."""
        fixed = [self.frame(state, P), self.frame(state, Q)]
        J = np.zeros((len(function(*fixed)), 6 * len(self.bodies)))
        for end, point in enumerate((P, Q)):
            if self.is_ground(point):
                continue
            name = point.body.name
            centre = state.frame[name].p + state.frame[name].R @ self.com[name]
            for k in range(6):
                frames = list(fixed)
                frames[end] = _displaced(fixed[end], centre, k)
                J[:, self.column[name] + k] += np.asarray(function(*frames)).imag / STEP
        return J

    def drift(self, state: State, P: Any, Q: Any, function: Callable[[Frame, Frame], Array]) -> Array:
        """Second time derivative of function(P, Q) while both bodies fly on: Cauchy's integral."""
        spins = [np.linalg.norm(w) for w in state.w.values()]
        radius = 0.5 / max([1.0, *spins])
        total = 0.0
        for k in range(SAMPLES):
            direction = np.exp(2j * np.pi * k / SAMPLES)
            t = radius * direction
            total = total + function(self._flown(state, P, t), self._flown(state, Q, t)) / direction**2
        return np.real(total) * 2 / (SAMPLES * radius**2)

    # dynamics

    def solve(self, state: State, inputs: Mapping[str, Any] | None = None) -> Answer:
        inputs = inputs or {}
        M, Q = self._inertia_and_weight(state)
        applied = {joint.name: self._joint_force(state, joint, inputs) for joint in self.model.joints}
        self._add_line_springs(state, Q)
        self._add_loads(state, inputs, Q)
        for joint in self.model.joints:
            G, drift = self.coordinates(state, joint)
            Q += G.T @ applied[joint.name]
            M += joint.rotor_inertia * G.T @ G
            Q -= joint.rotor_inertia * G.T @ drift
        rows = {joint.name: self._rows(state, joint) for joint in self.model.joints}
        nu, multipliers = _saddle_point(M, Q, [rows[joint.name] for joint in self.model.joints])
        lambdas = dict(zip(rows, multipliers, strict=True))
        answer = Answer(self, state, nu)
        for joint in self.model.joints:
            G, drift = self.coordinates(state, joint)
            tau = applied[joint.name] - joint.rotor_inertia * (G @ nu + drift)
            answer.put_joint(joint, rows[joint.name][0], lambdas[joint.name], tau)
        answer.put_bodies()
        answer.put_springs()
        return answer

    def energy(self, state: State) -> float:
        """Kinetic and potential energy [J], the weight's from the world's origin."""
        total = 0.0
        gravity = np.asarray(self.model.gravity, float)
        for body in self.bodies:
            frame, w = state.frame[body.name], state.w[body.name]
            arm = frame.R @ self.com[body.name]
            v = state.v[body.name] + np.cross(w, arm)
            spin = frame.R.T @ w
            total += 0.5 * body.mass * v @ v + 0.5 * spin @ np.asarray(body.inertia, float) @ spin
            total -= body.mass * gravity @ (frame.p + arm)
        for joint in self.model.joints:
            away, rate = self.joint_state(state, joint)
            total += 0.5 * joint.stiffness * away @ away + 0.5 * joint.rotor_inertia * rate @ rate
        for spring in self.model.springs:
            length, _, _ = self.spring(state, spring)
            total += 0.5 * spring.stiffness * (length - spring.free_length) ** 2
        return float(total)

    def _inertia_and_weight(self, state: State) -> tuple[Array, Array]:
        n = 6 * len(self.bodies)
        M, Q = np.zeros((n, n)), np.zeros(n)
        for body in self.bodies:
            i, R, w = self.column[body.name], state.frame[body.name].R, state.w[body.name]
            inertia = R @ np.asarray(body.inertia, float) @ R.T
            M[i : i + 3, i : i + 3] = body.mass * np.eye(3)
            M[i + 3 : i + 6, i + 3 : i + 6] = inertia
            Q[i : i + 3] = body.mass * np.asarray(self.model.gravity, float)
            Q[i + 3 : i + 6] = -np.cross(w, inertia @ w)
        return M, Q

    def _rows(self, state: State, joint: Any) -> tuple[Array, Array]:
        """J and -c'' of a joint's constraints."""

        def c(F: Frame, M: Frame) -> Array:
            return constraint(joint, F, M, self.length)

        if not len(c(self.frame(state, joint.F), self.frame(state, joint.M))):
            return np.zeros((0, 6 * len(self.bodies))), np.zeros(0)
        J = self.jacobian(state, joint.F, joint.M, c)
        return J, -self.drift(state, joint.F, joint.M, c)

    def violation(self, state: State) -> float:
        """Largest |c| over all joints [m], angles times the length."""
        worst = 0.0
        for joint in self.model.joints:
            c = constraint(joint, self.frame(state, joint.F), self.frame(state, joint.M), self.length)
            worst = max(worst, *np.abs(c), 0.0)
        return worst

    def coordinates(self, state: State, joint: Any) -> tuple[Array, Array]:
        """(G, g): the joint's velocities are G nu and their rates G nu' + g.

        Spherical and free joints: spin in M's axes; free also the velocity of M's origin in F's axes, first.
        """
        kind = type(joint).__name__
        spin = self._spin_rows(joint)
        F, M = self.frame(state, joint.F), self.frame(state, joint.M)
        w_F, w_M = self._spin(state, joint.F), self._spin(state, joint.M)
        if kind == "Revolute":
            axis = F.R @ axis_of(joint)
            return axis[None] @ spin, np.array([np.cross(w_F, axis) @ (w_M - w_F)])
        if kind == "Prismatic":
            return self._translation_rows(state, joint, axis_of(joint)[None])
        if kind in ("Spherical", "Free"):
            G, g = M.R.T @ spin, M.R.T @ np.cross(w_M, w_F)
            if kind == "Spherical":
                return G, g
            H, h = self._translation_rows(state, joint, np.eye(3))
            return np.vstack([H, G]), np.concatenate([h, g])
        return np.zeros((0, 6 * len(self.bodies))), np.zeros(0)

    def _translation_rows(self, state: State, joint: Any, directions: Array) -> tuple[Array, Array]:
        def away(F: Frame, M: Frame) -> Array:
            return directions @ F.R.T @ (M.p - F.p)

        return self.jacobian(state, joint.F, joint.M, away), self.drift(state, joint.F, joint.M, away)

    def _spin_rows(self, joint: Any) -> Array:
        rows = np.zeros((3, 6 * len(self.bodies)))
        for point, sign in ((joint.F, -1.0), (joint.M, 1.0)):
            if not self.is_ground(point):
                i = self.column[point.body.name] + 3
                rows[:, i : i + 3] += sign * np.eye(3)
        return rows

    def _spin(self, state: State, point: Any) -> Array:
        return np.zeros(3) if self.is_ground(point) else state.w[point.body.name]

    def joint_state(self, state: State, joint: Any) -> tuple[Array, Array]:
        """How far the joint is from its rest, and its velocities."""
        kind = type(joint).__name__
        F, M = self.frame(state, joint.F), self.frame(state, joint.M)
        G, _ = self.coordinates(state, joint)
        rate = G @ self.velocities(state)
        if kind == "Revolute":
            angle = angle_about(axis_of(joint), F.R.T @ M.R)
            turns = round((state.angle.get(joint.name, angle) - angle) / (2 * np.pi))
            return np.array([angle + 2 * np.pi * turns - joint.rest]), rate
        if kind == "Prismatic":
            return np.array([axis_of(joint) @ F.R.T @ (M.p - F.p) - joint.rest]), rate
        if kind == "Spherical":
            return rotation_vector(F.R.T @ M.R), rate
        return np.zeros(len(rate)), rate

    def velocities(self, state: State) -> Array:
        """nu: velocity of the centre of mass and spin of every body."""
        parts = []
        for body in self.bodies:
            arm = state.frame[body.name].R @ self.com[body.name]
            parts += [state.v[body.name] + np.cross(state.w[body.name], arm), state.w[body.name]]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _joint_force(self, state: State, joint: Any, inputs: Mapping[str, Any]) -> Array:
        """Applied force along the joint's coordinates: input, spring, damper."""
        away, rate = self.joint_state(state, joint)
        given = np.zeros(len(rate))
        if f"{joint.name}.f" in inputs:
            given[:3] = inputs[f"{joint.name}.f"]
        if f"{joint.name}.tau" in inputs:
            given[-3:] = inputs[f"{joint.name}.tau"]
        return given - joint.stiffness * away - joint.damping * rate

    def spring(self, state: State, spring: Any) -> tuple[float, float, Array]:
        """Length, pull, and the gradient of the length by the bodies' small motions."""
        P, Q = self.frame(state, spring.P), self.frame(state, spring.Q)
        length = float(np.linalg.norm(Q.p - P.p))

        def distance(P: Frame, Q: Frame) -> Array:
            return np.array([np.sqrt((Q.p - P.p) @ (Q.p - P.p))])

        gradient = self.jacobian(state, spring.P, spring.Q, distance)[0]
        rate = gradient @ self.velocities(state)
        return length, spring.stiffness * (length - spring.free_length) + spring.damping * rate, gradient

    def _add_line_springs(self, state: State, Q: Array) -> None:
        for spring in self.model.springs:
            _, pull, gradient = self.spring(state, spring)
            Q -= pull * gradient

    def _add_loads(self, state: State, inputs: Mapping[str, Any], Q: Array) -> None:
        for load in self.model.loads:
            if self.is_ground(load.P):
                continue
            force = np.asarray(inputs.get(f"{load.name}.force", load.force), float)
            torque = np.asarray(inputs.get(f"{load.name}.torque", load.torque), float)
            name = load.P.body.name
            centre = state.frame[name].p + state.frame[name].R @ self.com[name]
            i = self.column[name]
            Q[i : i + 3] += force
            Q[i + 3 : i + 6] += torque + np.cross(self.frame(state, load.P).p - centre, force)


def _displaced(frame: Frame, centre: Array, k: int) -> Frame:
    """A frame after the small imaginary motion k (displacement x y z, turn about x y z) of its body."""
    e = 1j * STEP * np.eye(3)[k % 3]
    if k < 3:
        return Frame(frame.p + e, frame.R)
    return Frame(frame.p + np.cross(e, frame.p - centre), frame.R + cross_matrix(e) @ frame.R)


def _saddle_point(M: Array, Q: Array, rows: list[tuple[Array, Array]]) -> tuple[Array, list[Array]]:
    """Accelerations, and the multipliers of each joint: the smallest where they are not unique."""
    J = np.vstack([np.zeros((0, len(Q))), *(J for J, _ in rows)])
    right = np.concatenate([Q, *(r for _, r in rows)])
    K = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    scale = max(1.0, float(np.abs(M).max(initial=0.0))) if len(M) else 1.0
    units = np.concatenate([np.full(len(Q), scale**-0.5), np.full(len(J), scale**0.5)])
    scaled = units[:, None] * K * units
    x = units * np.linalg.lstsq(scaled, units * right, rcond=1e-12)[0]
    multipliers, start = [], len(Q)
    for J, _ in rows:
        multipliers.append(x[start : start + len(J)])
        start += len(J)
    return x[: len(Q)], multipliers


class Answer:
    """Accelerations and forces by the names of an FMU's variables: float for a scalar, (k,) for a vector."""

    def __init__(self, oracle: Oracle, state: State, nu: Array) -> None:
        self.oracle, self.state, self.nu = oracle, state, nu
        self.values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def names(self) -> list[str]:
        return list(self.values)

    def put_joint(self, joint: Any, J: Array, multipliers: Array, tau: Array) -> None:
        """Acceleration; reaction and wrench on M's body, reduced at M, in F's axes."""
        oracle, state, name = self.oracle, self.state, joint.name
        G, g = oracle.coordinates(state, joint)
        rates = G @ self.nu + g
        kind = type(joint).__name__
        if kind in ("Revolute", "Prismatic"):
            self.values[f"{name}.qdd"] = float(rates[0])
        elif kind in ("Spherical", "Free"):
            self.values[f"{name}.alpha"] = rates[-3:]
        if kind == "Free":
            self.values[f"{name}.a"] = rates[:3]
        reaction = self._on_M(joint, J.T @ multipliers)
        applied = self._on_M(joint, G.T @ tau)
        for k, part in enumerate("ft"):
            self.values[f"{name}.reaction.{part}"] = reaction[k]
            self.values[f"{name}.wrench.{part}"] = reaction[k] + applied[k]

    def _on_M(self, joint: Any, generalised: Array) -> tuple[Array, Array]:
        oracle, state = self.oracle, self.state
        F, M = oracle.frame(state, joint.F), oracle.frame(state, joint.M)
        on_F_side = oracle.is_ground(joint.M)
        point = joint.F if on_F_side else joint.M
        name = point.body.name
        i = oracle.column[name]
        force, torque = generalised[i : i + 3], generalised[i + 3 : i + 6]
        centre = state.frame[name].p + state.frame[name].R @ oracle.com[name]
        torque = torque + np.cross(centre - M.p, force)
        sign = -1.0 if on_F_side else 1.0
        return sign * F.R.T @ force, sign * F.R.T @ torque

    def put_bodies(self) -> None:
        oracle, state = self.oracle, self.state
        for body in oracle.bodies:
            i, name = oracle.column[body.name], body.name
            a_C, alpha, w = self.nu[i : i + 3], self.nu[i + 3 : i + 6], state.w[body.name]
            arm = -state.frame[name].R @ oracle.com[name]
            a = a_C + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
            self.values |= {f"{name}.a": a, f"{name}.alpha": alpha, f"{name}.r": state.frame[name].p}
            self.values |= {f"{name}.v": state.v[name], f"{name}.w": w}
            for point in self._named_points(body):
                arm = state.frame[name].R @ point_in_body(point)[0]
                a_P = a + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
                self.values[f"{name}.{point.name}.a"] = a_P
                self.values[f"{name}.{point.name}.v"] = state.v[name] + np.cross(w, arm)
                self.values[f"{name}.{point.name}.r"] = state.frame[name].p + arm

    def _named_points(self, body: Any) -> list[Any]:
        model = self.oracle.model
        used = [p for joint in model.joints for p in (joint.F, joint.M)]
        used += [p for spring in model.springs for p in (spring.P, spring.Q)]
        used += [load.P for load in model.loads]
        return [*body.points, *(p for p in used if p.name is not None and p.body.name == body.name)]

    def put_springs(self) -> None:
        for spring in self.oracle.model.springs:
            length, pull, _ = self.oracle.spring(self.state, spring)
            self.values |= {f"{spring.name}.length": length, f"{spring.name}.f": float(pull)}
