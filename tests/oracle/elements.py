"""Force elements: for each class what it does to the bodies, its energy, and its outputs.

`push` returns generalised forces (6 n,) on the bodies, forces at their centres of mass and torques about these.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    def values(oracle: Any, state: Any, one: Any) -> dict[str, Any]:
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
    def values(oracle: Any, state: Any, one: Any) -> dict[str, Any]:
        return {}


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


ELEMENTS: dict[str, Any] = {"Spring": Spring, "Load": Load}


def of(one: Any) -> Any:
    """What is known about an element, by the name of its class."""
    return ELEMENTS[type(one).__name__]
