"""Where the bodies of a mechanism are and how they move, for the oracle: absolute coordinates and their derivatives.

Functions of two frames are differentiated by complex step along small motions of their bodies, and twice in time
along free flight, in which spins and the velocities of the centres of mass stay as they are, by Cauchy's integral.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oracle.answer import MULTI_MODE, SCALAR
from oracle.joints import (
    Array,
    Frame,
    angle_about,
    axis_of,
    cross,
    cross_matrix,
    moving,
    positions,
    rotation_vector,
    turn,
)
from oracle.products import Excitation, Product, expand, path_at

STEP = 1e-30
"""Size of a complex step: no rounding, because nothing is subtracted."""
SAMPLES = 24
"""Points on the circle of Cauchy's integral; its error is about (1/2)^26 / 26!."""
HALF_CIRCLE = [
    (np.exp(2j * np.pi * k / SAMPLES), 1.0 if k in (0, SAMPLES // 2) else 2.0) for k in range(SAMPLES // 2 + 1)
]
"""(point, weight): the other half has the conjugate values, since the functions are real for real times."""


@dataclass(frozen=True)
class State:
    """Body frames in the world, velocities of their origins [m/s] and spins [rad/s] in world axes, by name.

    angle: about how far a revolute has turned, for the springs of those beyond half a turn; of joints with several
    degrees of freedom all positions. excitation: of general joints' excited modes; time: for their paths [s].
    """

    frame: Mapping[str, Frame]
    v: Mapping[str, Array]
    w: Mapping[str, Array]
    angle: Mapping[str, Any] = field(default_factory=dict)
    excitation: Excitation = field(default_factory=lambda: Excitation({}, {}))
    time: float = 0.0


def point_in_body(point: Any) -> tuple[Array, Array]:
    """Origin and axes of a point's frame in its body's frame."""
    X = point.X_BP
    return np.asarray(X.translation, float), np.asarray(X.rotation.matrix, float)


class Kinematics:
    """Frames, velocities and the rows of joints' coordinates of a Model."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.bodies, self.joints, self.products = expand(model)
        self._known: tuple[State | None, dict[str, tuple[Array, Array]]] = (None, {})
        self._flights: tuple[State | None, dict[tuple[str, complex], Frame]] = (None, {})
        self.column = {body.name: 6 * i for i, body in enumerate(self.bodies)}
        self.com = {body.name: np.asarray(body.com, float) for body in self.bodies}

    def is_ground(self, point: Any) -> bool:
        return getattr(point.body, "name", None) not in self.column

    def state(
        self,
        q: Mapping[str, Any] | None = None,
        u: Mapping[str, Any] | None = None,
        eta: Mapping[str, Any] | None = None,
        kappa: Mapping[str, Any] | None = None,
        t: float = 0.0,
    ) -> State:
        """Frames and velocities of all bodies from joint positions and velocities, by default q0 and u0.

        eta, kappa: of the excited modes, by default the model's for the time t [s]. Bodies are reached through
        the joints that come first; for loops give a State of your own.
        """
        q, u, eta, kappa = (dict(given or {}) for given in (q, u, eta, kappa))
        excitation = Excitation({}, {})
        for product in self.products.values():
            excitation = self._spread(product, q, u, eta, kappa, t, excitation)
        frames = self._reach(q, u, 0.0)
        ahead = self._reach(q, u, 1j * STEP)
        v = {name: ahead[name].p.imag / STEP for name in frames}
        w = {}
        for name, frame in frames.items():
            W = ahead[name].R.imag / STEP @ frame.R.T
            w[name] = np.array([W[2, 1], W[0, 2], W[1, 0]])
        wound = (*SCALAR, *MULTI_MODE, "Skate")
        angle = {j.name: q.get(j.name, j.q0) for j in self.joints if type(j).__name__ in wound}
        return State({n: Frame(f.p.real, f.R.real) for n, f in frames.items()}, v, w, angle, excitation, t)

    def _spread(
        self, product: Product, q: Any, u: Any, eta: Any, kappa: Any, t: float, so_far: Excitation
    ) -> Excitation:
        """A general joint's positions and velocities to its parts."""
        joint, name = product.joint, product.joint.name
        excited = [mode for mode in joint.modes if mode.role == "excited"]
        start = [path_at(m.path, t) if m.path is not None else (m.eta0, m.kappa0) for m in excited]
        etas = np.ravel(eta.get(name, [s[0] for s in start]))
        kappas = np.ravel(kappa.get(name, [s[1] for s in start]))
        s = product.positions(q.get(name, joint.q0), etas)
        rates = product.rates(s, u.get(name, joint.u0), kappas)
        parts = product.parts_that_are("excited")
        for part, values in (
            (parts, (etas, kappas)),
            (product.parts_that_are("free"), (np.ravel(q.get(name, joint.q0)), rates)),
        ):
            for k, p in enumerate(part):
                q[p.name], u[p.name] = float(values[0][k]), float(values[1][k])
        names = [part.name for part in parts]
        return Excitation(
            {**so_far.eta, **dict(zip(names, etas, strict=True))},
            {**so_far.kappa, **dict(zip(names, kappas, strict=True))},
        )

    def product_positions(self, state: State, product: Product) -> Array:
        """Of all modes, from the state's frames."""
        found = []
        for part, mode in zip(product.parts, product.joint.modes, strict=True):
            found.append(mode.value if mode.role == "locked" else self.position(state, part, 0))
        return np.array(found)

    def _reach(self, q: Mapping[str, Any], u: Mapping[str, Any], t: complex) -> dict[str, Frame]:
        ground = Frame(np.zeros(3), np.eye(3))
        frames: dict[str, Frame] = {}
        waiting = list(self.joints)
        while waiting:
            later = []
            for joint in waiting:
                F = ground if self.is_ground(joint.F) else frames.get(joint.F.body.name)
                M = ground if self.is_ground(joint.M) else frames.get(joint.M.body.name)
                at = q.get(joint.name, getattr(joint, "q0", None))
                p, R = moving(joint, at, u.get(joint.name, getattr(joint, "u0", None)), t)
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
        if self._flights[0] is not state:
            self._flights = (state, {})
        found, key = self._flights[1], (point.body.name, t)
        if key not in found:
            found[key] = self._body_flown(state, *key)
        return found[key].then(*point_in_body(point))

    def _body_flown(self, state: State, name: str, t: complex) -> Frame:
        now, w, com = state.frame[name], state.w[name], self.com[name]
        arm = now.R @ com
        R = turn(w, t) @ now.R
        centre = now.p + arm + (state.v[name] + cross(w, arm)) * t
        return Frame(centre - R @ com, R)

    def _flown_velocity(self, state: State, point: Any, t: complex, nu: Array) -> tuple[Array, Array]:
        """Velocity and spin of a point, at the pose flown to within t, when the bodies have the velocities nu."""
        if self.is_ground(point):
            return np.zeros(3), np.zeros(3)
        name = point.body.name
        i, w = self.column[name], state.w[name]
        arm = turn(w, t) @ state.frame[name].R @ (point_in_body(point)[0] - self.com[name])
        return nu[i : i + 3] + cross(nu[i + 3 : i + 6], arm), nu[i + 3 : i + 6]

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
        radius = 0.15 / max([1.0, *spins])  # within it no axes of a universal joint become parallel
        total = 0.0
        for direction, weight in HALF_CIRCLE:
            t = radius * direction
            value = np.asarray(function(self._flown(state, P, t), self._flown(state, Q, t)))
            total = total + weight * np.real(value / direction**2)
        return total * 2 / (SAMPLES * radius**2)

    def coordinates(self, state: State, joint: Any) -> tuple[Array, Array]:
        """(G, g): the joint's velocities are G nu and their rates G nu' + g.

        Spherical and free joints: spin in M's axes; free also the velocity of M's origin in F's axes, first.
        """
        if self._known[0] is not state:
            self._known = (state, {})
        found = self._known[1]
        if joint.name not in found:
            found[joint.name] = self._coordinates(state, joint)
        return found[joint.name]

    def _coordinates(self, state: State, joint: Any) -> tuple[Array, Array]:
        kind = type(joint).__name__
        spin = self._spin_rows(joint)
        F, M = self.frame(state, joint.F), self.frame(state, joint.M)
        w_F, w_M = self._spin(state, joint.F), self._spin(state, joint.M)
        if kind == "Revolute":
            axis = F.R @ axis_of(joint)
            return axis[None] @ spin, np.array([cross(w_F, axis) @ (w_M - w_F)])
        if kind == "Prismatic":
            return self._translation_rows(state, joint, axis_of(joint)[None])
        if kind in ("Spherical", "Free"):
            G, g = M.R.T @ spin, M.R.T @ cross(w_M, w_F)
            if kind == "Spherical":
                return G, g
            H, h = self._translation_rows(state, joint, np.eye(3))
            return np.vstack([H, G]), np.concatenate([h, g])
        if kind in MULTI_MODE or kind == "Screw":
            return self._positions(state, joint)
        if kind == "Skate":
            along, _, turning = self._skate(state, joint)
            return np.vstack([along[0], turning[0]]), np.array([along[1], turning[1]])
        return np.zeros((0, 6 * len(self.bodies))), np.zeros(0)

    def _positions(self, state: State, joint: Any) -> tuple[Array, Array]:
        near = self._near(state, joint)

        def q(F: Frame, M: Frame) -> Array:
            return positions(joint, F, M, near)

        return self.jacobian(state, joint.F, joint.M, q), self.drift(state, joint.F, joint.M, q)

    def _near(self, state: State, joint: Any) -> Any:
        """About where the joint is."""
        if type(joint).__name__ == "Screw" and joint.name not in state.angle:
            F, M = self.frame(state, joint.F), self.frame(state, joint.M)
            return axis_of(joint) @ F.R.T @ (M.p - F.p) / joint.pitch
        return state.angle.get(joint.name, np.zeros(3))

    def _skate(self, state: State, joint: Any) -> list[tuple[Array, float]]:
        """Velocities along the blade, across it, about z: each as a row J, and as j what J nu' lacks of its rate."""
        H, h = self._positions(state, joint)
        F, M = self.frame(state, joint.F), self.frame(state, joint.M)
        angle = positions(joint, F, M, self._near(state, joint))[2]
        vx, vy, w = H @ self.velocities(state)
        c, s = np.cos(angle), np.sin(angle)
        along = c * H[0] + s * H[1], float(c * h[0] + s * h[1] + w * (c * vy - s * vx))
        across = c * H[1] - s * H[0], float(c * h[1] - s * h[0] - w * (c * vx + s * vy))
        return [along, across, (H[2], float(h[2]))]

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
        if kind in MULTI_MODE or kind == "Screw":
            return positions(joint, F, M, self._near(state, joint)) - np.asarray(joint.rest), rate
        return np.zeros(len(rate)), rate

    def position(self, state: State, joint: Any, k: int) -> float:
        """Of the k-th free mode, which is no ball."""
        if type(joint).__name__ == "Free":
            F, M = self.frame(state, joint.F), self.frame(state, joint.M)
            return float((F.R.T @ (M.p - F.p))[k])
        return float(self.joint_state(state, joint)[0][k] + np.ravel(joint.rest)[k])

    def velocities(self, state: State) -> Array:
        """nu: velocity of the centre of mass and spin of every body."""
        parts = []
        for body in self.bodies:
            arm = state.frame[body.name].R @ self.com[body.name]
            parts += [state.v[body.name] + cross(state.w[body.name], arm), state.w[body.name]]
        return np.concatenate(parts) if parts else np.zeros(0)

    def twist(self, state: State, product: Product, rows: Any) -> tuple[Array, Array]:
        """(J, j): rows times the relative velocity y = J nu, in the axes of the rows, and y' = J nu' + j."""
        joint, W = product.joint, np.asarray(rows, float)
        axes = product.places[joint.rows_after]

        def value(t: complex, nu: Array) -> Array:
            F, M, C = (self._flown(state, point, t) for point in (joint.F, joint.M, axes))
            (v_F, w_F), (v_M, w_M) = (self._flown_velocity(state, point, t, nu) for point in (joint.F, joint.M))
            return W @ np.concatenate([C.R.T @ (w_M - w_F), C.R.T @ (v_M - v_F - cross(w_F, M.p - F.p))])

        n = 6 * len(self.bodies)
        J = np.array([value(0.0, unit) for unit in np.eye(n)]).T
        radius, total, nu = (
            0.5 / max([1.0, *(np.linalg.norm(w) for w in state.w.values())]),
            0.0,
            self.velocities(state),
        )
        for direction, weight in HALF_CIRCLE:
            total = total + weight * np.real(value(radius * direction, nu) / direction)
        return J.real, total / (SAMPLES * radius)


def _displaced(frame: Frame, centre: Array, k: int) -> Frame:
    """A frame after the small imaginary motion k (displacement x y z, turn about x y z) of its body."""
    e = 1j * STEP * np.eye(3)[k % 3]
    if k < 3:
        return Frame(frame.p + e, frame.R)
    return Frame(frame.p + cross(e, frame.p - centre), frame.R + cross_matrix(e) @ frame.R)
