"""Programmed constraints by Lagrange multipliers: one row for each programmed coordinate, J nu' = s'' - c''(nu' = 0).

The coordinates are functions of the poses of two frames, or those of a joint; nothing stands for the target, which is a
function of time. What a transition leaves of a deviation at the start is the polynomial of fifth degree with six given
end values, from a linear system.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from oracle.dynamics import Oracle
from oracle.joints import Array, Frame
from oracle.kinematics import State

RATES = ("speed", "speed_M", "spin", "spin_M", "twist", "twist_M")
Target = Callable[[float], Array]  # (3, coordinates): position, velocity, acceleration at a time


def faded(target: Target, off: Array, rate: Array, duration: float) -> Target:
    """The target, and what is left of the deviations in position and velocity at t = 0."""
    powers = np.arange(6)
    at_start = np.array([[float(p == k) * (1, 1, 2)[k] for p in powers] for k in range(3)])
    at_end = np.array([
        duration**powers,
        powers * duration ** np.maximum(powers - 1, 0),
        powers * (powers - 1) * duration ** np.maximum(powers - 2, 0),
    ])  # fmt: skip
    given = np.array([off, rate, 0 * off, 0 * off, 0 * off, 0 * off])
    c = np.linalg.solve(np.vstack([at_start, at_end]), given)[::-1]  # highest power first

    def at(t: float) -> Array:
        found = np.array(target(t), float)
        if t < duration:
            for k in range(3):
                found[k] += [np.polyval(np.polyder(column, k), t) for column in c.T]
        return found

    return at


class Programmed(Oracle):
    """An Oracle of a model without its programs, which are given beside it.

    programs: by name the kind "point", "length", "orientation" or "joint", what it is about, and the target. For a
    point the frame, the point and the directions; for a length the two points, for an orientation the two frames; for
    a joint the joint.
    """

    def __init__(self, model: Any, programs: dict[str, tuple[str, Any, Target]]) -> None:
        super().__init__(model)
        self.programs = programs
        self.accelerations: set[str] = set()  # programs whose targets are rates of speeds or spins

    def further_rows(self, state: State) -> dict[str, tuple[Array, Array]]:
        found = {}
        for name, (kind, about, target) in self.programs.items():
            wanted = np.array(target(state.time))[0 if name in self.accelerations else 2]
            if kind == "joint":
                G, drift = self.coordinates(state, about)
                found[name] = G[:1], wanted - drift[:1]
                continue
            if kind in RATES:
                J, drift = self._rates(state, kind, about)
                found[name] = J, (wanted if name in self.accelerations else np.array(target(state.time))[1]) - drift
                continue
            c = self._function(kind, about)
            J = self.jacobian(state, about[0], about[1], c)
            found[name] = J, wanted - self.drift(state, about[0], about[1], c)
        return found

    def programmed(self, state: State, name: str) -> tuple[Array, Array]:
        """The programmed coordinates and their rates."""
        kind, about, _ = self.programs[name]
        if kind == "joint":
            rate = self.coordinates(state, about)[0][:1] @ self.velocities(state)
            return np.array([self.position(state, about, 0)]), rate
        if kind in RATES:
            J, drift = self._rates(state, kind, about)
            return J @ self.velocities(state), drift
        c = self._function(kind, about)
        J = self.jacobian(state, about[0], about[1], c)
        return np.real(c(self.frame(state, about[0]), self.frame(state, about[1]))), J @ self.velocities(state)

    def _combined(self, state: State, kind: str, about: Any) -> tuple[Array, Array]:
        """Rows of angular velocity and velocity, which change with a coordinate: about has them and their slopes."""
        F, M, rows, slopes, by = about
        end = "_M" if kind.endswith("_M") else ""
        (W, w_drift), (V, v_drift) = (self._rates(state, k + end, (F, M, "xyz")) for k in ("spin", "speed"))
        J, drift, w = np.vstack([W, V]), np.concatenate([w_drift, v_drift]), np.array(rows, float)
        if by is None:
            return w @ J, w @ drift
        if callable(by):
            s, rate = by(state.time)[:2]
        else:
            s, rate = self.position(state, by, 0), (self.coordinates(state, by)[0][:1] @ self.velocities(state))[0]
        at = w + s * np.array(slopes)
        return at @ J, at @ drift + rate * np.array(slopes) @ J @ self.velocities(state)

    def _rates(self, state: State, kind: str, about: Any) -> tuple[Array, Array]:
        """J of components of the velocity or spin of a point relative to a frame, and their rates where nu' = 0."""
        if kind.startswith("twist"):
            return self._combined(state, kind, about)
        (F, M, letters), zero = about, np.zeros(3)
        chosen = ["xyz".index(letter) for letter in letters]
        f, m = self.frame(state, F), self.frame(state, M)
        w_F, w_M = (zero if self.is_ground(P) else state.w[P.body.name] for P in (F, M))
        R = m.R.T if kind.endswith("_M") else f.R.T
        if kind.startswith("spin"):
            J = np.zeros((3, 6 * len(self.bodies)))
            for P, sign in ((F, -1.0), (M, 1.0)):
                if not self.is_ground(P):
                    J[:, self.column[P.body.name] + 3 :][:, :3] += sign * R
            return J[chosen], (-R @ np.cross(w_M if kind.endswith("_M") else w_F, w_M - w_F))[chosen]
        c = self._function("point", (F, M, "xyz"))
        J, drift = self.jacobian(state, F, M, c), self.drift(state, F, M, c)
        if kind == "speed_M":
            to_M = m.R.T @ f.R
            turning = np.cross(f.R.T @ (w_M - w_F), J @ self.velocities(state))
            J, drift = to_M @ J, to_M @ (drift - turning)
        return J[chosen], drift[chosen]

    @staticmethod
    def _function(kind: str, about: Any) -> Callable[[Frame, Frame], Array]:
        def place(F: Frame, M: Frame) -> Array:
            return (F.R.T @ (M.p - F.p))[["xyz".index(letter) for letter in about[2]]]

        def angles(F: Frame, M: Frame) -> Array:
            R = F.R.T @ M.R
            return np.array([np.arctan(-R[1, 2] / R[2, 2]), np.arcsin(R[0, 2]), np.arctan(-R[0, 1] / R[0, 0])])

        def length(F: Frame, M: Frame) -> Array:
            return np.array([np.sqrt((M.p - F.p) @ (M.p - F.p))])

        return {"point": place, "length": length}.get(kind, angles)


class Realised(Programmed):
    """Programs whose coordinates drives determine: M nu' = Q + J' lambda + B u, B from coordinates of joints.

    drives: by the name of a program the (joint, mode) of each of its coordinates, mode counted from 1.
    """

    def __init__(self, model: Any, programs: dict[str, tuple[str, Any, Target]], drives: dict[str, Any]) -> None:
        super().__init__(model, programs)
        self.drives = drives

    def acting_rows(self, state: State) -> dict[str, Array]:
        return {
            name: np.array([self.coordinates(state, part)[0][k] for part, k in map(self._part, drives)])
            for name, drives in self.drives.items()
        }

    def push_driven(self, lambdas: Any, applied: dict[str, Array]) -> None:
        for name, drives in self.drives.items():
            for (part, k), force in zip(map(self._part, drives), lambdas[name], strict=True):
                applied[part.name] = applied[part.name] + force * np.eye(len(applied[part.name]))[k]

    def _part(self, drive: tuple[Any, int]) -> tuple[Any, int]:
        joint, mode = drive
        product = self.products.get(joint.name)
        return (joint, mode - 1) if product is None else (product.parts_that_are("free")[mode - 1], 0)
