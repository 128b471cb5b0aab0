"""What the oracle answers: accelerations and forces by the names of an FMU's variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from oracle import elements
from oracle.joints import Array, cross

SCALAR = ("Revolute", "Prismatic", "Screw")
MULTI_MODE = ("Cylindrical", "Universal", "Planar")


class Answer:
    """float for a scalar, (k,) for a vector; a joint's Lambda is reduced at M, in F's axes."""

    def __init__(self, oracle: Any, state: Any, nu: Array) -> None:
        self.oracle, self.state, self.nu = oracle, state, nu
        self.values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def names(self) -> list[str]:
        return list(self.values)

    def put_joint(self, joint: Any, generalised: Array, tau: Array) -> None:
        """Acceleration, reaction and wrench; generalised: what the constraints do to the bodies."""
        oracle, state, name = self.oracle, self.state, joint.name
        G, g = oracle.coordinates(state, joint)
        rates = G @ self.nu + g
        kind = type(joint).__name__
        if kind in SCALAR:
            self.values[f"{name}.qdd"] = float(rates[0])
        elif kind in MULTI_MODE:
            self.values[f"{name}.qdd"] = rates
        elif kind == "Skate":
            self.values[f"{name}.udot"] = rates
        elif kind in ("Spherical", "Free"):
            self.values[f"{name}.alpha"] = rates[-3:]
        if kind == "Free":
            self.values[f"{name}.a"] = rates[:3]
        reaction = self._on_M(joint, generalised)
        self._put_interaction(name, reaction, reaction + self._on_M(joint, G.T @ tau))

    def put_product(
        self, product: Any, generalised: Array, applied: list[Array], tau: Array, speeds: Any, drive: Array
    ) -> None:
        """A general joint; generalised: what the last part and the rows do, with the forces applied at the part.

        applied: of the free modes' parts, or of the velocity variables; tau: those that act on M's body at once.
        """
        joint, name = product.joint, product.joint.name
        s = self.oracle.product_positions(self.state, product)
        psi = product.psi(s)
        wrench = self._on_M(joint, generalised)
        if joint.velocity_rows:
            lambdas = tau
            wrench = wrench + psi @ tau
            self.values[f"{name}.udot"] = speeds[0] @ self.nu + speeds[1]
        else:
            lambdas = np.concatenate([np.zeros(0), *applied])
            free = [self.oracle.coordinates(self.state, part) for part in product.parts_that_are("free")]
            rates = [float((G @ self.nu + g)[0]) for G, g in free]
            if rates:
                self.values[f"{name}.qdd"] = rates[0] if len(rates) == 1 else np.array(rates)
        if len(drive):
            self.values[f"{name}.drive"] = float(drive[0]) if len(drive) == 1 else drive
        self._put_interaction(name, wrench - psi @ lambdas, wrench)

    def put_coupling(self, coupling: Any, terms: Any, multiplier: Array) -> None:
        """Generalised force on each coordinate."""
        forces = np.array([ratio for _, ratio, _ in terms]) * multiplier[0]
        self.values[f"{coupling.name}.tau"] = float(forces[0]) if len(forces) == 1 else forces

    def _put_interaction(self, name: str, reaction: Array, wrench: Array) -> None:
        """Both (6,), torque first."""
        for what, value in (("reaction", reaction), ("wrench", wrench)):
            self.values[f"{name}.{what}.t"] = value[:3]
            self.values[f"{name}.{what}.f"] = value[3:]

    def _on_M(self, joint: Any, generalised: Array) -> Array:
        oracle, state = self.oracle, self.state
        F, M = oracle.frame(state, joint.F), oracle.frame(state, joint.M)
        on_F_side = oracle.is_ground(joint.M)
        name = (joint.F if on_F_side else joint.M).body.name
        i = oracle.column[name]
        force, torque = generalised[i : i + 3], generalised[i + 3 : i + 6]
        centre = state.frame[name].p + state.frame[name].R @ oracle.com[name]
        torque = torque + cross(centre - M.p, force)
        sign = -1.0 if on_F_side else 1.0
        return sign * np.concatenate([F.R.T @ torque, F.R.T @ force])

    def put_bodies(self) -> None:
        oracle, state = self.oracle, self.state
        for body in oracle.model.bodies:
            i, name = oracle.column[body.name], body.name
            a_C, alpha, w = self.nu[i : i + 3], self.nu[i + 3 : i + 6], state.w[body.name]
            arm = -state.frame[name].R @ oracle.com[name]
            a = a_C + cross(alpha, arm) + cross(w, cross(w, arm))
            self.values |= {f"{name}.a": a, f"{name}.alpha": alpha, f"{name}.r": state.frame[name].p}
            self.values |= {f"{name}.v": state.v[name], f"{name}.w": w}
            for point in self._named_points(body):
                arm = state.frame[name].R @ np.asarray(point.X_BP.translation, float)
                a_P = a + cross(alpha, arm) + cross(w, cross(w, arm))
                self.values[f"{name}.{point.name}.a"] = a_P
                self.values[f"{name}.{point.name}.v"] = state.v[name] + cross(w, arm)
                self.values[f"{name}.{point.name}.r"] = state.frame[name].p + arm

    def _named_points(self, body: Any) -> list[Any]:
        model = self.oracle.model
        used = [p for joint in model.joints for p in (joint.F, joint.M)]
        used += [p for one in model.forces for p in one.ends]
        return [*body.points, *(p for p in used if p.name is not None and p.body.name == body.name)]

    def put_forces(self, inputs: Mapping[str, Any]) -> None:
        for one in self.oracle.model.forces:
            values = elements.of(one).values(self.oracle, self.state, one, inputs)
            self.values |= {f"{one.name}.{output}": value for output, value in values.items()}
