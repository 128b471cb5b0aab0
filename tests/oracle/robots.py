"""Robots from the text of a URDF by dense matrices: Jacobians of every link in world axes, in 80-bit numbers.

With the Jacobians J of a link's centre and W of its angular velocity, and its accelerations a and alpha in the motion

    M = sum m J' J + W' I W,    tau = sum J' m (a - g) + W' (I alpha + w x I w) + damping.

Nothing is shared with the package: no reader, no recursion over joints, no joint objects.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
REAL = np.longdouble


@dataclass
class Motion:
    """Positions, velocities and accelerations by joint; of a free root its place r, quaternion, velocities and rates in
    the world but for w and alpha, which are in its own axes.
    """

    q: dict[str, float]
    qd: dict[str, float]
    qdd: dict[str, float]
    r: Array = field(default_factory=lambda: np.zeros(3))
    quaternion: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    v: Array = field(default_factory=lambda: np.zeros(3))
    w: Array = field(default_factory=lambda: np.zeros(3))
    a: Array = field(default_factory=lambda: np.zeros(3))
    alpha: Array = field(default_factory=lambda: np.zeros(3))


@dataclass
class Answer:
    """names: of the columns. M: (n, n). tau: (n,). terms: (n,) the sum of the magnitudes that tau adds up. com: (3,).
    size: the largest distance of a link [m].
    """

    names: list[str]
    M: Array
    tau: Array
    terms: Array
    com: Array
    size: float


class Robot:
    """Of a text; free: the root moves freely, its columns are free.v[1..3] and free.w[1..3]."""

    def __init__(self, text: str, free: bool, gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)) -> None:
        root = ElementTree.fromstring(text)
        self.links = {one.get("name"): one for one in root.findall("link")}
        self.below: dict[str, list[Any]] = {}
        for one in root.findall("joint"):
            self.below.setdefault(one.find("parent").get("link"), []).append(one)  # type: ignore[union-attr]
        children = {one.find("child").get("link") for one in root.findall("joint")}  # type: ignore[union-attr]
        (self.root,) = set(self.links) - children
        self.joints = [one.get("name") for one in root.findall("joint") if one.get("type") != "fixed"]
        base = [f"free.{what}[{k}]" for what in "vw" for k in (1, 2, 3)] if free else []
        self.names = [*base, *(str(name) for name in self.joints)]
        self.free, self.gravity = free, np.array(gravity, REAL)
        self.mimics = {
            str(one.get("name")): mimic.attrib
            for one in root.findall("joint")
            if (mimic := one.find("mimic")) is not None
        }
        self.prismatic = {one.get("name") for one in root.findall("joint") if one.get("type") == "prismatic"}

    def answer(self, motion: Motion) -> Answer:
        n = len(self.names)
        found = Answer(self.names, np.zeros((n, n), REAL), *np.zeros((2, n), REAL), np.zeros(3, REAL), 0.0)
        R, J, W = _turned(motion.quaternion), np.zeros((3, n), REAL), np.zeros((3, n), REAL)
        if self.free:
            J[:, :3], W[:, 3:6] = np.eye(3), R
        self.mass = REAL(0)
        state = np.array(motion.r, REAL), R, J, W, R @ motion.w, np.array(motion.a, REAL), R @ motion.alpha
        self._link(self.root, state, motion, found)
        found.com /= self.mass
        return found

    def _link(self, name: Any, state: tuple[Array, ...], motion: Motion, found: Answer) -> None:
        p, R, J, W, w, a, alpha = state
        found.size = max(found.size, float(np.abs(p).max()))
        inertial = self.links[name].find("inertial")
        if inertial is not None:
            self._add_inertia(inertial, state, found)
        for joint in self.below.get(str(name), []):
            offset, turn = _origin(joint)
            d, own = R @ offset, R @ turn
            key = str(joint.get("name"))
            axis = own @ _axis(joint)
            rate = acceleration = REAL(0)
            column = self.names.index(key) if key in self.names else -1
            if column >= 0:
                rate, acceleration = REAL(motion.qd[key]), REAL(motion.qdd[key])
                damping = joint.find("dynamics")
                force = REAL(damping.get("damping", "0")) * rate if damping is not None else REAL(0)
                found.tau[column] += force
                found.terms[column] += abs(force)
            slides = joint.get("type") == "prismatic"
            if column >= 0 and slides:
                d = d + axis * REAL(motion.q[key])
            moved = np.cross(W.T, d).T + J
            turned, next_w, next_alpha = W.copy(), w, alpha
            next_a = a + np.cross(alpha, d) + np.cross(w, np.cross(w, d))
            if column >= 0 and slides:
                moved[:, column] = axis
                next_a = next_a + 2 * np.cross(w, axis) * rate + axis * acceleration
            elif column >= 0:
                own = _about(axis, REAL(motion.q[key])) @ own
                turned[:, column] = axis
                next_w, next_alpha = w + axis * rate, alpha + np.cross(w, axis) * rate + axis * acceleration
            self._link(
                joint.find("child").get("link"), (p + d, own, moved, turned, next_w, next_a, next_alpha), motion, found
            )

    def _add_inertia(self, inertial: Any, state: tuple[Array, ...], found: Answer) -> None:
        p, R, J, W, w, a, alpha = state
        offset, turn = _origin(inertial)
        m, d, axes = REAL(inertial.find("mass").get("value")), R @ offset, R @ turn
        entries = {key: REAL(value) for key, value in inertial.find("inertia").attrib.items()}
        inertia = axes @ np.array([[entries["".join(["i", *sorted(x + y)])] for y in "xyz"] for x in "xyz"]) @ axes.T
        Jc = J + np.cross(W.T, d).T
        centre = a + np.cross(alpha, d) + np.cross(w, np.cross(w, d))
        found.M += m * Jc.T @ Jc + W.T @ inertia @ W
        for columns, vector in (
            (Jc, m * centre), (Jc, -m * self.gravity), (W, inertia @ alpha), (W, np.cross(w, inertia @ w)),
        ):  # fmt: skip
            found.tau += columns.T @ vector
            found.terms += np.linalg.norm(columns.astype(float), axis=0) * float(np.linalg.norm(vector.astype(float)))
        found.com += m * (p + d)
        self.mass = self.mass + m


def _vector(text: str | None, default: str = "0 0 0") -> Array:
    return np.array([REAL(one) for one in (text or default).split()])


def _origin(element: Any) -> tuple[Array, Array]:
    origin = element.find("origin")
    if origin is None:
        return np.zeros(3, REAL), np.eye(3, dtype=REAL)
    roll, pitch, yaw = _vector(origin.get("rpy"))
    ex, ey, ez = np.eye(3, dtype=REAL)
    return _vector(origin.get("xyz")), _about(ez, yaw) @ _about(ey, pitch) @ _about(ex, roll)


def _axis(joint: Any) -> Array:
    axis = joint.find("axis")
    found = _vector(None if axis is None else axis.get("xyz"), "1 0 0")
    return found / np.sqrt((found * found).sum())


def _about(axis: Array, angle: Any) -> Array:
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], REAL)
    return np.eye(3, dtype=REAL) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def _turned(quaternion: Array) -> Array:
    w, *v = np.array(quaternion, REAL) / np.sqrt((np.array(quaternion, REAL) ** 2).sum())
    x, y, z = v
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], REAL)
    return np.eye(3, dtype=REAL) + 2 * w * K + 2 * K @ K
