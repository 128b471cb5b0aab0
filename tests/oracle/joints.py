"""Joints as geometry, for the oracle: constraint functions of two frames, and the motions they leave.

Everything takes complex arguments, so that it can be differentiated by a complex step: no absolute values, no
conjugates, rotations through analytic functions. Of a joint only its class's name, its axes and its pitch are read.
An angle is near one that is given, so that it is unwrapped and analytic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

Array = Any


def cross(a: Array, b: Array) -> Array:
    """The vector product of two vectors; np.cross, which takes any axis of any array, is ten times as slow."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def cross_matrix(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def turn(w: Array, t: complex = 1.0) -> Array:
    """exp(t [w x]) for a real vector w and a real or complex t."""
    speed = float(np.linalg.norm(w))
    if speed == 0.0:
        return np.eye(3)
    K = cross_matrix(np.asarray(w) / speed)
    return np.eye(3) + np.sin(speed * t) * K + (1 - np.cos(speed * t)) * K @ K


def matrix_of_quaternion(q: Array) -> Array:
    q = np.asarray(q, float) / np.linalg.norm(q)
    K = cross_matrix(q[1:])
    return np.eye(3) + 2 * q[0] * K + 2 * K @ K


def rotation_vector(R: Array) -> Array:
    """The vector of at most pi that turns by R."""
    axial = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    sine, cosine = np.linalg.norm(axial), (np.trace(R) - 1) / 2
    return axial * (np.arctan2(sine, cosine) / sine if sine > 1e-12 else 1.0)


def angle_about(axis: Array, R: Array) -> float:
    """How far R turns about its own unit axis, within half a turn."""
    side = across(axis)[0]
    return float(np.arctan2(cross(side, R @ side) @ axis, side @ R @ side))


def angle_near(axis: Array, start: Array, end: Array, near: float) -> Any:
    """How far the direction `end` is turned from `start` about the unit vector `axis`: about `near`."""
    sine, cosine = cross(start, end) @ axis, start @ end - (start @ axis) * (end @ axis)
    about = np.arctan2(np.real(sine), np.real(cosine))
    rest = np.arctan((sine * np.cos(about) - cosine * np.sin(about)) / (cosine * np.cos(about) + sine * np.sin(about)))
    return about + rest + 2 * np.pi * np.round((near - about) / (2 * np.pi))


def angle_of(axis: Array, F: Frame, M: Frame, near: float) -> Any:
    """How far M is turned about an axis that F and M share."""
    side = across(axis)[0]
    return angle_near(axis, side, F.R.T @ M.R @ side, near)


def plane_of(joint: Any) -> tuple[Array, Array, Array]:
    """Axes e1, e2 of a planar joint's plane, and its normal."""
    normal = np.asarray(joint.normal, float)
    k = int(np.argmax(np.abs(normal)))
    direction = np.eye(3)[(k + (1 if normal[k] > 0 else 2)) % 3]
    second = cross(normal, direction)
    second /= np.linalg.norm(second)
    return cross(second, normal), second, normal


def across(axis: Array) -> tuple[Array, Array]:
    """Two unit vectors that make a right-handed frame with the unit vector `axis`."""
    return _across(tuple(axis))


@cache
def _across(axis: tuple[float, ...]) -> tuple[Array, Array]:
    first = cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    first /= np.linalg.norm(first)
    return first, cross(axis, first)


@dataclass(frozen=True)
class Frame:
    """Origin p (3,) [m] and axes R (3, 3) in the world."""

    p: Array
    R: Array

    def then(self, p: Array, R: Array) -> Frame:
        return Frame(self.p + self.R @ p, self.R @ R)

    def before(self, p: Array, R: Array) -> Frame:
        """The frame in which (p, R) is this one."""
        axes = self.R @ R.T
        return Frame(self.p - axes @ p, axes)


def same_point(F: Frame, M: Frame) -> list[Array]:
    return list(M.p - F.p)


def same_axes(F: Frame, M: Frame) -> list[Array]:
    """Each row is the sine of an angle about one axis where all are small."""
    return [F.R[:, 2] @ M.R[:, 1], F.R[:, 0] @ M.R[:, 2], F.R[:, 1] @ M.R[:, 0]]


def parallel(axis: Array, F: Frame, M: Frame) -> list[Array]:
    return [(F.R @ b) @ (M.R @ axis) for b in across(axis)]


def on_line(axis: Array, F: Frame, M: Frame) -> list[Array]:
    return [(F.R @ b) @ (M.p - F.p) for b in across(axis)]


def constraint(joint: Any, F: Frame, M: Frame, length: float, near: Any = 0.0) -> Array:
    """c(F, M): points in metres, angles times `length`; near: about the position of a screw."""
    kind = type(joint).__name__
    if kind == "Revolute":
        points, angles = same_point(F, M), parallel(axis_of(joint), F, M)
    elif kind == "Prismatic":
        points, angles = on_line(axis_of(joint), F, M), same_axes(F, M)
    elif kind == "Spherical":
        points, angles = same_point(F, M), []
    elif kind == "Weld":
        points, angles = same_point(F, M), same_axes(F, M)
    elif kind == "Free":
        points, angles = [], []
    elif kind == "Cylindrical":
        points, angles = on_line(axis_of(joint), F, M), parallel(axis_of(joint), F, M)
    elif kind in ("Planar", "Skate"):
        normal = normal_of(joint)
        points, angles = [(F.R @ normal) @ (M.p - F.p)], parallel(normal, F, M)
    elif kind == "Universal":
        first, second = np.asarray(joint.axes, float)
        points, angles = same_point(F, M), [(F.R @ first) @ (M.R @ second) - first @ second]
    elif kind == "Screw":
        axis = axis_of(joint)
        advance = (F.R @ axis) @ (M.p - F.p) - joint.pitch * angle_of(axis, F, M, near)
        points, angles = [*on_line(axis, F, M), advance], parallel(axis, F, M)
    elif kind in ("Distance", "RevoluteSpherical"):
        p = M.p - F.p
        points, angles = [(p @ p - joint.length**2) / (2 * joint.length)], []  # a root would end Cauchy's circle
        points += [(F.R @ axis_of(joint)) @ p] if kind == "RevoluteSpherical" else []
    elif kind == "PointOnLine":
        points, angles = on_line(axis_of(joint), F, M), []
    elif kind == "PointOnPlane":
        points, angles = [(F.R @ normal_of(joint)) @ (M.p - F.p) - joint.height], []
    else:
        raise NotImplementedError(f"the oracle has no geometry for {kind}")
    return np.array([*points, *(length * angle for angle in angles)])


def axis_of(joint: Any) -> Array:
    return np.asarray(joint.axis, float)


def normal_of(joint: Any) -> Array:
    return np.array([0.0, 0.0, 1.0]) if type(joint).__name__ == "Skate" else np.asarray(joint.normal, float)


def positions(joint: Any, F: Frame, M: Frame, near: Any) -> Array:
    """The positions q of joints with several degrees of freedom, from the geometry of the two frames."""
    kind, away, turned = type(joint).__name__, F.R.T @ (M.p - F.p), F.R.T @ M.R
    if kind == "Screw":
        return np.array([angle_of(axis_of(joint), F, M, np.ravel(near)[0])])
    if kind == "Cylindrical":
        return np.array([angle_of(axis_of(joint), F, M, near[0]), axis_of(joint) @ away])
    if kind == "Universal":
        first, second = np.asarray(joint.axes, float)
        forth = angle_near(first, second, turned @ second, near[0])
        back = -angle_near(second, first, turned.T @ first, -near[1])
        return np.array([forth, back])
    if kind == "Skate":
        return np.array([away[0], away[1], angle_of(normal_of(joint), F, M, near[2])])
    first, second, normal = plane_of(joint)
    return np.array([first @ away, second @ away, angle_of(normal, F, M, near[2])])


def placed(joint: Any, q: Array) -> tuple[Array, Array]:
    """M's origin and axes in F at the joint's position q."""
    kind = type(joint).__name__
    if kind == "Revolute":
        return np.zeros(3), turn(axis_of(joint), q)
    if kind == "Prismatic":
        return axis_of(joint) * q, np.eye(3)
    if kind == "Spherical":
        return np.zeros(3), matrix_of_quaternion(q)
    if kind == "Free":
        return np.asarray(q[:3], float), matrix_of_quaternion(q[3:])
    if kind == "Screw":
        return axis_of(joint) * joint.pitch * q, turn(axis_of(joint), q)
    if kind == "Cylindrical":
        return axis_of(joint) * q[1], turn(axis_of(joint), q[0])
    if kind == "Universal":
        first, second = np.asarray(joint.axes, float)
        return np.zeros(3), turn(first, q[0]) @ turn(second, q[1])
    if kind == "Skate":
        return np.array([q[0], q[1], 0.0]), turn(normal_of(joint), q[2])
    if kind == "Planar":
        first, second, normal = plane_of(joint)
        return first * q[0] + second * q[1], turn(normal, q[2])
    return np.zeros(3), np.eye(3)


def moving(joint: Any, q: Array, u: Array, t: complex) -> tuple[Array, Array]:
    """Where M's origin and axes in F go within the small time t from the position q at the joint's velocity u."""
    kind = type(joint).__name__
    p, R = placed(joint, q)
    if kind == "Spherical":
        return p, R @ turn(np.asarray(u, float), t)
    if kind == "Free":
        return p + np.asarray(u[:3], float) * t, R @ turn(np.asarray(u[3:], float), t)
    if kind == "Weld":
        return p, R
    rates = np.asarray(u, float)
    if kind == "Skate":
        rates = np.array([u[0] * np.cos(q[2]), u[0] * np.sin(q[2]), u[1]])
    return placed(joint, np.asarray(q, float) + rates * t)
