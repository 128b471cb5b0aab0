"""The dynamics of a mechanism by another method: absolute coordinates and Lagrange multipliers.

Every body has six degrees of freedom (position of its centre of mass, orientation); every joint is a set of constraint
functions c(F, M) = 0 of the poses of its two frames, written from its geometry (joints.py). With nu
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

General joints are chains of massless carriers (products.py); an excited mode has one more row, that its
acceleration is kappa's rate, and the multiplier of that row is the force that drives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from oracle import elements
from oracle.answer import Answer
from oracle.joints import Array, Frame, constraint, cross
from oracle.kinematics import Kinematics, State
from oracle.products import Product, cam_term, law_force


class Oracle(Kinematics):
    """Dense dynamics of a Model; `length` is the L of the norm that chooses among many reactions."""

    def __init__(self, model: Any, length: float = 1.0) -> None:
        super().__init__(model)
        self.length = length
        self._known_rows: tuple[State | None, dict[str, tuple[Array, Array]]] = (None, {})
        self.laws: dict[str, list[Any]] = {}
        for law in model.laws:
            on = self.products.get(law.on.name)
            self.laws.setdefault(on.parts_that_are("free")[law.mode - 1].name if on else law.on.name, []).append(law)

    def solve(self, state: State, inputs: Mapping[str, Any] | None = None) -> Answer:
        inputs = dict(inputs or {})
        for product in self.products.values():
            self._spread_forces(product, inputs)
        M, Q = self._inertia_and_weight(state)
        applied = {joint.name: self._joint_force(state, joint, inputs) for joint in self.joints}
        Q += self._pushes(state, inputs)
        for joint in self.joints:
            G, drift = self.coordinates(state, joint)
            rotor = _rotor(joint)
            Q += G.T @ (applied[joint.name] - rotor * drift)
            M += (G.T * rotor) @ G
        rows = {joint.name: self._rows(state, joint) for joint in self.joints}
        self._add_products(state, inputs, rows, Q)
        rows |= {coupling.name: self.coupling_rows(state, coupling) for coupling in self.model.couplings}
        further = self.further_rows(state)
        acting = self.acting_rows(state)
        rows |= further
        nu, multipliers = _saddle_point(M, Q, list(rows.values()), [acting.get(name, rows[name][0]) for name in rows])
        lambdas = dict(zip(rows, multipliers, strict=True))
        self.push_driven(lambdas, applied)
        for coupling in self.model.couplings:
            self._push_coupled(state, coupling, lambdas[coupling.name], applied)
        answer = Answer(self, state, nu)
        for coupling in self.model.couplings:
            answer.put_coupling(coupling, self.terms(state, coupling), lambdas[coupling.name])
        answer.values |= {f"{name}.drive": lambdas[name] for name in further}
        pushed: dict[str, tuple[Array, Array]] = {}
        for joint in self.joints:
            G, drift = self.coordinates(state, joint)
            tau = applied[joint.name] - _rotor(joint) * (G @ nu + drift)
            pushed[joint.name] = rows[joint.name][0].T @ lambdas[joint.name], tau
            if joint in self.model.joints:
                answer.put_joint(joint, *pushed[joint.name])
        for product in self.products.values():
            self._put_product(answer, product, inputs, rows, lambdas, pushed)
        answer.put_bodies()
        answer.put_forces(inputs)
        return answer

    def further_rows(self, state: State) -> dict[str, tuple[Array, Array]]:
        """J and right sides of what else constrains the motion, by name: see programs.py."""
        return {}

    def acting_rows(self, state: State) -> dict[str, Array]:
        """By name the rows along which multipliers act, where these are not the constraints': see programs.py."""
        return {}

    def push_driven(self, lambdas: Mapping[str, Array], applied: dict[str, Array]) -> None:
        """The forces of drives on their coordinates."""

    def coupling_rows(self, state: State, coupling: Any) -> tuple[Array, Array]:
        """J and -c'' of a linear relation of joint coordinates, or of a cam."""
        J, right = np.zeros((1, 6 * len(self.bodies))), np.zeros(1)
        for (part, k, _), (_, ratio, bend) in zip(
            self._coupled(coupling), self.terms(state, coupling), strict=True
        ):
            G, drift = self.coordinates(state, part)
            J += ratio * G[k]
            right -= ratio * drift[k] + bend * (G[k] @ self.velocities(state)) ** 2
        return J, right

    def terms(self, state: State, coupling: Any) -> list[tuple[float, float, float]]:
        """Of each term its value, and its first and second derivative by the coordinate."""
        found = []
        for n, (part, k, ratio) in enumerate(self._coupled(coupling)):
            q = self.position(state, part, k)
            if n == 1 and hasattr(coupling, "profile"):
                found.append(cam_term(coupling, q))
            else:
                found.append((ratio * q, ratio, 0.0))
        return found

    def _coupled(self, coupling: Any) -> list[tuple[Any, int, float]]:
        """Elementary joint, which of its coordinates, and ratio of each term."""
        found = []
        for joint, mode, ratio in coupling.coordinates:
            product = self.products.get(joint.name)
            if product is None:
                found.append((joint, mode - 1, ratio))
            else:
                moving = [*product.parts_that_are("free"), *product.parts_that_are("excited")]
                found.append((moving[mode - 1], 0, ratio))
        return found

    def _push_coupled(self, state: State, coupling: Any, multiplier: Array, applied: dict[str, Array]) -> None:
        """The forces of a coupling on its coordinates, without the applied ones."""
        for (part, k, _), (_, ratio, _) in zip(self._coupled(coupling), self.terms(state, coupling), strict=True):
            force = np.zeros_like(applied[part.name])
            force[k] = ratio * multiplier[0]
            applied[part.name] = applied[part.name] + force

    def _spread_forces(self, product: Product, inputs: dict[str, Any]) -> None:
        name, joint = product.joint.name, product.joint
        given = inputs.get(f"{name}.tau", inputs.get(f"{name}.f"))
        if given is None or joint.velocity_rows:
            return
        for part, value in zip(product.parts_that_are("free"), np.ravel(given), strict=True):
            inputs[f"{part.name}.tau"] = float(value)

    def _add_products(self, state: State, inputs: Mapping[str, Any], rows: dict[str, Any], Q: Array) -> None:
        """Rows of the excited modes and of the velocities, and forces along velocity variables."""
        for product in self.products.values():
            joint = product.joint
            for k, part in enumerate(product.parts_that_are("excited")):
                (G, g), (J, r) = self.coordinates(state, part), rows[part.name]
                rate = state.excitation.rate(product, k, part, inputs, state.time)
                rows[part.name] = np.vstack([J, G]), np.append(r, rate - g)
            if joint.velocity_rows:
                J, drift = self.twist(state, product, joint.velocity_rows)
                rows[f"{joint.name} rows"] = J, -drift
                Q += self._wrench_on_M(
                    state, joint, product.psi(self.product_positions(state, product)) @ _tau(joint, inputs)
                )

    def _put_product(self, answer: Answer, product: Product, inputs: Any, rows: Any, lambdas: Any, pushed: Any) -> None:
        joint, state = product.joint, answer.state
        last = product.parts[0 if self.is_ground(joint.M) else -1]  # the one on a body; the carriers weigh nothing
        generalised = pushed[last.name][0] + self.coordinates(state, last)[0].T @ pushed[last.name][1]
        speeds = None
        if joint.velocity_rows:
            key = f"{joint.name} rows"
            generalised = generalised + rows[key][0].T @ lambdas[key]
            speeds = self.twist(state, product, joint.speed_rows)
        applied = [pushed[part.name][1] for part in product.parts_that_are("free")]
        drive = np.array([lambdas[part.name][-1] for part in product.parts_that_are("excited")])
        answer.put_product(product, generalised, applied, _tau(joint, inputs), speeds, drive)

    def _wrench_on_M(self, state: State, joint: Any, wrench: Array) -> Array:
        """Generalised forces of a wrench on M's body and its opposite on F's, at M's origin, in F's axes."""
        F, M = self.frame(state, joint.F), self.frame(state, joint.M)
        torque, force = F.R @ wrench[:3], F.R @ wrench[3:]
        Q = np.zeros(6 * len(self.bodies))
        for point, sign in ((joint.M, 1.0), (joint.F, -1.0)):
            if not self.is_ground(point):
                name, i = point.body.name, self.column[point.body.name]
                arm = M.p - state.frame[name].p - state.frame[name].R @ self.com[name]
                Q[i : i + 3] += sign * force
                Q[i + 3 : i + 6] += sign * (torque + cross(arm, force))
        return Q

    def energy(self, state: State) -> float:
        """Kinetic and potential energy [J], the weight's from the world's origin."""
        total = 0.0
        gravity = np.asarray(self.model.gravity, float)
        for body in self.bodies:
            frame, w = state.frame[body.name], state.w[body.name]
            arm = frame.R @ self.com[body.name]
            v = state.v[body.name] + cross(w, arm)
            spin = frame.R.T @ w
            total += 0.5 * body.mass * v @ v + 0.5 * spin @ np.asarray(body.inertia, float) @ spin
            total -= body.mass * gravity @ (frame.p + arm)
        for joint in self.joints:
            away, rate = self.joint_state(state, joint)
            if not np.any(joint.stiffness) and not np.any(joint.rotor_inertia):
                continue
            total += 0.5 * np.sum(np.asarray(joint.stiffness) * away**2 + np.asarray(joint.rotor_inertia) * rate**2)
        total += sum(elements.of(one).energy(self, state, one) for one in self.model.forces)
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
            Q[i + 3 : i + 6] = -cross(w, inertia @ w)
        return M, Q

    def inertia(self, state: State) -> Array:
        """That of the bodies' centres of mass and turns, with what rotors add."""
        M, _ = self._inertia_and_weight(state)
        for joint in self.joints:
            G, _ = self.coordinates(state, joint)
            M += (G.T * _rotor(joint)) @ G
        return M

    def _rows(self, state: State, joint: Any) -> tuple[Array, Array]:
        """J and -c'' of a joint's constraints."""
        if self._known_rows[0] is not state:
            self._known_rows = (state, {})
        found = self._known_rows[1]
        if joint.name not in found:
            found[joint.name] = self._compute_rows(state, joint)
        return found[joint.name]

    def _compute_rows(self, state: State, joint: Any) -> tuple[Array, Array]:
        near = self._near(state, joint)

        def c(F: Frame, M: Frame) -> Array:
            return constraint(joint, F, M, self.length, near)

        if not len(c(self.frame(state, joint.F), self.frame(state, joint.M))):
            return np.zeros((0, 6 * len(self.bodies))), np.zeros(0)
        J, right = self.jacobian(state, joint.F, joint.M, c), -self.drift(state, joint.F, joint.M, c)
        if type(joint).__name__ == "Skate":
            across, drift = self._skate(state, joint)[1]
            return np.vstack([J, across]), np.append(right, -drift)
        return J, right

    def violation(self, state: State) -> float:
        """Largest |c| over all joints and couplings [m], angles times the length."""
        worst = 0.0
        for joint in self.joints:
            F, M = self.frame(state, joint.F), self.frame(state, joint.M)
            c = constraint(joint, F, M, self.length, self._near(state, joint))
            worst = max(worst, *np.abs(c), 0.0)
        for coupling in self.model.couplings:
            terms = [value for value, _, _ in self.terms(state, coupling)]
            worst = max(worst, abs(sum(terms) - coupling.constant))
        return worst

    def velocity_violation(self, state: State) -> float:
        """Largest |dc/dt| over all joints and couplings [m/s], that of angles times the length."""
        nu = self.velocities(state)
        rows = [self._rows(state, joint)[0] for joint in self.joints]
        rows += [self.coupling_rows(state, coupling)[0] for coupling in self.model.couplings]
        return max(float(np.abs(J @ nu).max(initial=0.0)) for J in rows)

    def unbalanced(self, state: State, inputs: Mapping[str, Any], a: Any, alpha: Any, wrench: Any) -> Array:
        """What is missing to the equilibrium of each body of the model, (force, torque) about its centre of mass.

        a, alpha: accelerations of the bodies' frames; wrench: (torque, force) of the joints on M at M's origin in F's
        axes, all by name.
        """
        M, Q = self._inertia_and_weight(state)
        Q += self._pushes(state, inputs)
        nu = np.zeros(len(Q))
        for body in self.model.bodies:
            i, name, w = self.column[body.name], body.name, state.w[body.name]
            arm = state.frame[name].R @ self.com[name]
            nu[i : i + 3] = a[name] + cross(alpha[name], arm) + cross(w, cross(w, arm))
            nu[i + 3 : i + 6] = alpha[name]
        for joint in self.model.joints:
            Q += self._wrench_on_M(state, joint, wrench[joint.name])
        places = [self.column[body.name] for body in self.model.bodies]
        return np.array([(M @ nu - Q)[i : i + 6] for i in places])

    def _joint_force(self, state: State, joint: Any, inputs: Mapping[str, Any]) -> Array:
        """Applied force along the joint's coordinates: input, spring, damper."""
        away, rate = self.joint_state(state, joint)
        given = np.zeros(len(rate))
        if f"{joint.name}.f" in inputs:
            given[:3] = inputs[f"{joint.name}.f"]
        if f"{joint.name}.tau" in inputs:
            given[-3:] = inputs[f"{joint.name}.tau"]
        for law in self.laws.get(joint.name, []):
            k = law.mode - 1 if len(given) > 1 else 0
            given[k] += law_force(law.pieces, self.position(state, joint, k), rate[k])
        if not np.any(joint.stiffness) and not np.any(joint.damping):
            return given
        return given - np.asarray(joint.stiffness) * away - np.asarray(joint.damping) * rate

    def distance(self, state: State, P: Any, Q: Any) -> float:
        """Of two points."""
        return float(np.linalg.norm(self.frame(state, Q).p - self.frame(state, P).p))

    def spring(self, state: State, spring: Any) -> tuple[float, float, Array]:
        """Length, pull, and the gradient of the length by the bodies' small motions."""
        P, Q = self.frame(state, spring.P), self.frame(state, spring.Q)
        length = float(np.linalg.norm(Q.p - P.p))

        def distance(P: Frame, Q: Frame) -> Array:
            return np.array([np.sqrt((Q.p - P.p) @ (Q.p - P.p))])

        gradient = self.jacobian(state, spring.P, spring.Q, distance)[0]
        rate = gradient @ self.velocities(state)
        pull = spring.stiffness * (length - spring.free_length) + spring.damping * rate
        pull += sum(law_force(law.pieces, length, rate) for law in self.laws.get(spring.name, []))
        return length, pull, gradient

    def _pushes(self, state: State, inputs: Mapping[str, Any]) -> Array:
        """Generalised forces of all force elements."""
        Q = np.zeros(6 * len(self.bodies))
        for one in self.model.forces:
            Q += elements.of(one).push(self, state, one, inputs)
        return Q


def _saddle_point(
    M: Array, Q: Array, rows: list[tuple[Array, Array]], acting: list[Array]
) -> tuple[Array, list[Array]]:
    """Accelerations, and the multipliers of each joint: the smallest where they are not unique."""
    along = np.vstack([np.zeros((0, len(Q))), *acting])
    J = np.vstack([np.zeros((0, len(Q))), *(J for J, _ in rows)])
    right = np.concatenate([Q, *(r for _, r in rows)])
    K = np.block([[M, -along.T], [J, np.zeros((len(J), len(J)))]])
    scale = max(1.0, float(np.abs(M).max(initial=0.0))) if len(M) else 1.0
    units = np.concatenate([np.full(len(Q), scale**-0.5), np.full(len(J), scale**0.5)])
    scaled = units[:, None] * K * units
    x = units * np.linalg.lstsq(scaled, units * right, rcond=1e-12)[0]
    multipliers, start = [], len(Q)
    for J, _ in rows:
        multipliers.append(x[start : start + len(J)])
        start += len(J)
    return x[: len(Q)], multipliers


def _rotor(joint: Any) -> Array:
    """A number, or one for each velocity."""
    return np.asarray(joint.rotor_inertia if np.any(joint.rotor_inertia) else 0.0, float)


def _tau(joint: Any, inputs: Mapping[str, Any]) -> Array:
    """Inputs of the velocity variables."""
    given = inputs.get(f"{joint.name}.tau", inputs.get(f"{joint.name}.f"))
    return np.zeros(joint.velocities) if given is None else np.ravel(np.asarray(given, float))
