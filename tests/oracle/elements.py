"""Force elements: for each class what it does to the bodies, its energy, and its outputs.

`push` returns generalised forces (6 n,) on the bodies, forces at their centres of mass and torques about these.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from oracle.joints import Array, cross


class Spring:
    @staticmethod
    def push(oracle: Any, state: Any, one: Any, inputs: Mapping[str, Any]) -> Array:
        _, pull, gradient = oracle.spring(state, one)
        return -pull * gradient

    @staticmethod
    def energy(oracle: Any, state: Any, one: Any) -> float:
        length, _, _ = oracle.spring(state, one)
        return 0.5 * one.stiffness * (length - one.free_length) ** 2

    @staticmethod
    def values(oracle: Any, state: Any, one: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
        length, pull, _ = oracle.spring(state, one)
        return {"length": length, "f": float(pull)}


class Load:
    @staticmethod
    def push(oracle: Any, state: Any, one: Any, inputs: Mapping[str, Any]) -> Array:
        both = (inputs.get(f"{one.name}.{what}", getattr(one, what)) for what in ("force", "torque"))
        turn = oracle.frame(state, one.P).R if one.axes == "point" else np.eye(3)
        return wrench_at(oracle, state, one.P, *(turn @ np.asarray(value, float) for value in both))

    @staticmethod
    def energy(oracle: Any, state: Any, one: Any) -> float:
        return 0.0

    @staticmethod
    def values(oracle: Any, state: Any, one: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
        return {}


class Rope:
    """The tangent to a disc by its angle acos(r/d) beside the arm to the point."""

    @staticmethod
    def push(oracle: Any, state: Any, one: Any, inputs: Mapping[str, Any]) -> Array:
        Q = np.zeros(6 * len(oracle.bodies))
        for length, own, taut, pull, (along, around) in _sides(oracle, state, one, inputs.get(f"{one.name}.length")):
            if taut:
                Q -= pull * along - (pull + one.stiffness * (length - own) ** 2 / (2 * own**2)) * around
        return Q

    @staticmethod
    def energy(oracle: Any, state: Any, one: Any) -> float:
        sides = _sides(oracle, state, one)
        return sum(0.5 * one.stiffness / own * max(length - own, 0.0) ** 2 for length, own, *_ in sides)

    @staticmethod
    def values(oracle: Any, state: Any, one: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
        sides = _sides(oracle, state, one)
        power = Rope.push(oracle, state, one, {}) @ oracle.velocities(state)
        found = {
            "tension": [pull if taut else 0.0 for _, _, taut, pull, _ in sides],
            "path_length": [length for length, *_ in sides],
            "slack": [max(own - length, 0.0) for length, own, *_ in sides],
        }
        return {"power": float(power)} | {name: each[0] if len(each) == 1 else each for name, each in found.items()}


def _sides(oracle: Any, state: Any, rope: Any, paid: float | None = None) -> list[Any]:
    """Of each side length, unstretched length, whether it is taut, the pull then, and the gradients of both lengths."""
    items, nu, start = list(rope.points), oracle.velocities(state), oracle.state()
    cuts = [0, *(i for i in range(1, len(items) - 1) if hasattr(items[i], "radius")), len(items) - 1]
    sides = [items[a : b + 1] for a, b in pairwise(cuts)]
    way = [_way(oracle, start, start, side)[0] for side in sides]
    given = rope.length if isinstance(rope.length, tuple) else [rope.length * each / sum(way) for each in way]
    found = []
    for k, (side, own) in enumerate(zip(sides, given, strict=True)):
        length, along = _way(oracle, state, start, side)
        own += (paid - sum(given)) if paid is not None and k == len(sides) - 1 else 0.0
        around = np.zeros(len(nu))
        for pulley, leaves in ((side[0], 1.0), (side[-1], -1.0)):
            if hasattr(pulley, "radius"):
                turn = leaves * pulley.radius * (1.0 if pulley.side == "positive" else -1.0)
                q, q0 = (oracle.position(at, pulley.joint, 0) for at in (state, start))
                own += turn * (q - q0)
                around += turn * _turning(oracle, state, pulley.joint)
        rate = (along - around) @ nu
        pull = (rope.stiffness * (length - own) + rope.damping * rate) / own
        found.append((length, own, length >= own and pull >= 0.0, pull, (along, around)))
    return found


def _turning(oracle: Any, state: Any, joint: Any) -> Array:
    """The gradient of a revolute joint's angle by the bodies' small turns."""
    gradient = np.zeros(6 * len(oracle.bodies))
    axis = oracle.frame(state, joint.F).R @ np.asarray(joint.modes[0].axis, float)
    for end, sign in ((joint.M, 1.0), (joint.F, -1.0)):
        if not oracle.is_ground(end):
            i = oracle.column[end.body.name]
            gradient[i + 3 : i + 6] += sign * axis
    return gradient


def _way(oracle: Any, state: Any, start: Any, side: Any) -> tuple[float, Array]:
    """The length of a side, and its gradient."""
    total, gradient = 0.0, np.zeros(6 * len(oracle.bodies))
    for one, other in pairwise(side):
        pulley, N = (other, one) if hasattr(other, "radius") else (one, other)
        if not hasattr(pulley, "radius"):
            P, length = pulley, lambda P, N: np.array([np.sqrt((N.p - P.p) @ (N.p - P.p))])
        else:
            P = pulley.joint.F
            turn = (1.0 if pulley is one else -1.0) * (1.0 if pulley.side == "positive" else -1.0)
            first = _wrap(oracle.frame(start, P), oracle.frame(start, N), pulley, turn, 0.0)[1].real

            def length(P: Any, N: Any, *, of: Any = (pulley, turn, first)) -> Array:
                span, angle = _wrap(P, N, *of)
                return np.array([span + of[0].radius * of[1] * angle])

        total += float(length(oracle.frame(state, P), oracle.frame(state, N))[0].real)
        gradient += oracle.jacobian(state, P, N, length)[0]
    return total, gradient


def _wrap(P: Any, N: Any, pulley: Any, turn: float, first: float) -> tuple[Any, Any]:
    """The span from a pulley to a point, and the angle of where it touches, from `first` on; also of complex frames."""
    axis = np.asarray(pulley.joint.modes[0].axis, float)
    across = np.cross(axis, [0.3, 0.5, -0.7])
    x = across / np.linalg.norm(across)
    arm = P.R.T @ (N.p - P.p)
    a, b, h = x @ arm, np.cross(axis, x) @ arm, axis @ arm
    far = np.sqrt(a * a + b * b)
    angle = np.arctan2(np.real(b), np.real(a)) + 1j * np.real((a * np.imag(b) - b * np.imag(a)) / (far * far))
    angle = angle - turn * np.arccos(pulley.radius / far) - first
    turns = np.round(np.real(angle) / (2 * np.pi))
    return np.sqrt(far * far + h * h - pulley.radius**2), angle - 2 * np.pi * turns


class Actuator:
    @staticmethod
    def push(oracle: Any, state: Any, one: Any, inputs: Mapping[str, Any]) -> Array:
        force = inputs.get(f"{one.name}.force", one.force) * Actuator._line(oracle, state, one)
        return wrench_at(oracle, state, one.Q, force, np.zeros(3)) - wrench_at(oracle, state, one.P, force, np.zeros(3))

    @staticmethod
    def energy(oracle: Any, state: Any, one: Any) -> float:
        return 0.0

    @staticmethod
    def values(oracle: Any, state: Any, one: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
        P, Q = (oracle.frame(state, end) for end in (one.P, one.Q))
        v_P, v_Q = (point_velocity(oracle, state, end) for end in (one.P, one.Q))
        rate = Actuator._line(oracle, state, one) @ (v_Q - v_P)
        return {"length": float(np.linalg.norm(Q.p - P.p)), "power": inputs.get(f"{one.name}.force", one.force) * rate}

    @staticmethod
    def _line(oracle: Any, state: Any, one: Any) -> Array:
        line = oracle.frame(state, one.Q).p - oracle.frame(state, one.P).p
        return line / np.linalg.norm(line)


def point_velocity(oracle: Any, state: Any, point: Any) -> Array:
    """Of a point in world axes."""
    if oracle.is_ground(point):
        return np.zeros(3)
    name = point.body.name
    arm = state.frame[name].R @ np.asarray(point.X_BP.translation, float)
    return np.asarray(state.v[name] + cross(state.w[name], arm), float)


def wrench_at(oracle: Any, state: Any, point: Any, force: Any, torque: Any) -> Array:
    """Generalised forces of a force at a point and a torque on its body, both in world axes."""
    Q = np.zeros(6 * len(oracle.bodies))
    if not oracle.is_ground(point):
        name, i = point.body.name, oracle.column[point.body.name]
        centre = state.frame[name].p + state.frame[name].R @ oracle.com[name]
        Q[i : i + 3] = np.asarray(force, float)
        arm = oracle.frame(state, point).p - centre
        Q[i + 3 : i + 6] = np.asarray(torque, float) + cross(arm, np.asarray(force, float))
    return Q


ELEMENTS: dict[str, Any] = {"Spring": Spring, "Load": Load, "Rope": Rope, "Actuator": Actuator}


def of(one: Any) -> Any:
    """What is known about an element, by the name of its class."""
    return ELEMENTS[type(one).__name__]
