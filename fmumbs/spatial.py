"""Rotations, rigid transforms and the inertia of a rigid body.

Notation: `R_AB` transforms components from B's axes to A's, v_A = R_AB v_B; `X_AB` is the pose of frame B in frame A,
p_A = R_AB p_B + t. All three classes are immutable and can be printed, compared and pickled; they store tuples and
return numpy arrays.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any, Self, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs import _checks, _limits
from fmumbs._checks import Axis, Mat3, Vec3
from fmumbs.errors import ModelError

Array = NDArray[np.float64]

_ORTHONORMAL = 1e-6  # a given matrix may have few digits; it is made orthonormal
_ROUND_OFF = 1e-15  # a matrix this close to orthonormal is not changed, so that Rotation(R.matrix) is R
_PHYSICAL = 1e-9  # relative slack of the inertia's inequalities, for rounding of given numbers

_IDENTITY: Mat3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_UNIT = np.eye(3)
_THREE_HALVES = 1.5 * _UNIT


@dataclass(frozen=True, init=False, repr=False)
class Rotation:
    """A rotation R_AB of frame B with respect to frame A.

    matrix: (3, 3) direction cosines, whose columns are B's axes in A; by default the identity. A matrix that is
    orthonormal to six digits is made orthonormal. Raises ModelError for any other matrix and for a reflection.
    """

    rows: Mat3

    def __init__(self, matrix: ArrayLike = _IDENTITY) -> None:
        rows = _checks.matrix(matrix, "Rotation: matrix")
        if rows != _IDENTITY:
            rows = _orthonormal(np.array(rows))
        object.__setattr__(self, "rows", rows)

    def __repr__(self) -> str:
        if self.rows == _IDENTITY:
            return "Rotation.identity()"
        return f"Rotation({[list(row) for row in self.rows]})"

    @classmethod
    def _of(cls, matrix: Array) -> Self:
        """From a matrix that is a rotation up to round-off."""
        result = object.__new__(cls)
        object.__setattr__(result, "rows", _tuples(_rounded(matrix)))
        return result

    @classmethod
    def identity(cls) -> Rotation:
        """No rotation."""
        return _NO_ROTATION

    @classmethod
    def about(cls, axis: Axis, angle: float) -> Self:
        """Rotation by `angle` [rad] about `axis`, a letter or three numbers, by the right-hand rule."""
        x, y, z = _checks.axis(axis, "Rotation: axis")
        angle = _checks.number(angle, "Rotation: angle")
        if sys._getframe(1).f_globals.get("__name__", "").partition(".")[0] != "fmumbs":  # what a user wrote
            _checks.ask_if_degrees(angle, "Rotation: angle")
        c, s = math.cos(angle), math.sin(angle)
        v = 1.0 - c
        return cls._of(
            np.array(
                [
                    [c + v * x * x, v * x * y - s * z, v * x * z + s * y],
                    [v * x * y + s * z, c + v * y * y, v * y * z - s * x],
                    [v * x * z - s * y, v * y * z + s * x, c + v * z * z],
                ]
            )
        )

    @classmethod
    def rpy(cls, roll: float, pitch: float, yaw: float) -> Self:
        """Roll, pitch, yaw [rad] about fixed axes: Rz(yaw) Ry(pitch) Rx(roll), as in URDF."""
        given = {"yaw": ("z", yaw), "pitch": ("y", pitch), "roll": ("x", roll)}
        z, y, x = (cls.about(axis, _checks.angle(v, f"Rotation: {what}")).matrix for what, (axis, v) in given.items())
        product = z @ y @ x
        return cls._of(product)

    @classmethod
    def quaternion(cls, w: float, x: float, y: float, z: float) -> Self:
        """From a quaternion w, x, y, z, scalar first; it is normalised. Raises ModelError for zero."""
        w, x, y, z = _checks.quaternion((w, x, y, z), "Rotation: quaternion")
        return cls._of(
            np.array(
                [
                    [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
                ]
            )
        )

    @classmethod
    def columns(cls, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Self:
        """From B's axes x, y and z, each a (3,) unit vector in A's axes."""
        given = (("x", x, (1, 0, 0)), ("y", y, (0, 1, 0)), ("z", z, (0, 0, 1)))
        vectors = [_checks.vector(v, f"Rotation: column {n}", example) for n, v, example in given]
        return cls(np.array(vectors).T)

    @property
    def matrix(self) -> Array:
        """(3, 3) direction cosine matrix R_AB."""
        return np.array(self.rows)

    def as_quaternion(self) -> Array:
        """(4,) unit quaternion w, x, y, z with w >= 0."""
        m = self.matrix
        trace = float(np.trace(m))
        squares = np.array([trace, m[0, 0], m[1, 1], m[2, 2]])
        k = int(np.argmax(squares))
        w = np.array([1.0 + trace, m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
        if k > 0:
            i, j, n = k - 1, k % 3, (k + 1) % 3
            w[0] = w[k]
            w[1 + i] = 1.0 + 2.0 * m[i, i] - trace
            w[1 + j] = m[i, j] + m[j, i]
            w[1 + n] = m[i, n] + m[n, i]
        q = cast(Array, w / np.linalg.norm(w))
        return -q if q[0] < 0.0 else q

    def inverse(self) -> Rotation:
        """R_BA."""
        return Rotation._of(self.matrix.T)

    @overload
    def __matmul__(self, other: Rotation) -> Rotation: ...
    @overload
    def __matmul__(self, other: ArrayLike) -> Array: ...
    def __matmul__(self, other: Any) -> Any:
        """R_AB @ R_BC composes; R_AB @ v_B gives v_A for (3,) or columns (3, n)."""
        if isinstance(other, Rotation):
            if self is _NO_ROTATION:
                return other
            return self if other is _NO_ROTATION else Rotation._of(self.matrix @ other.matrix)
        if isinstance(other, Transform):
            return NotImplemented
        return self.matrix @ np.asarray(other, dtype=float)


@dataclass(frozen=True, init=False, repr=False)
class Transform:
    """The pose X_AB of frame B in frame A: `Transform(rotation, translation)`.

    rotation: R_AB; translation: (3,) position of B's origin in A's axes [m], kept as the tuple `offset`.
    """

    rotation: Rotation
    offset: Vec3

    def __init__(self, rotation: Rotation | None = None, translation: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        rotation = _NO_ROTATION if rotation is None else rotation
        if not isinstance(rotation, Rotation):
            raise ModelError(
                f"Transform: rotation is a {type(rotation).__name__}, but must be a Rotation. "
                "Give Rotation.rpy(...), .about(...), .quaternion(...) or Rotation(matrix)."
            )
        object.__setattr__(self, "rotation", rotation)
        object.__setattr__(self, "offset", _checks.vector(translation, "Transform: translation"))

    def __repr__(self) -> str:
        return f"Transform({self.rotation!r}, {self.offset!r})"

    @classmethod
    def identity(cls) -> Transform:
        """Frames A and B coincide."""
        return _NO_TRANSFORM

    @property
    def translation(self) -> Array:
        """(3,) position of B's origin in A [m]."""
        return np.array(self.offset)

    @property
    def matrix(self) -> Array:
        """(4, 4) homogeneous matrix."""
        result = np.eye(4)
        result[:3, :3] = self.rotation.matrix
        result[:3, 3] = self.offset
        return result

    def inverse(self) -> Transform:
        """X_BA."""
        inverse = self.rotation.inverse()
        return Transform(inverse, -(inverse @ self.offset))

    @overload
    def __matmul__(self, other: Transform) -> Transform: ...
    @overload
    def __matmul__(self, other: ArrayLike) -> Array: ...
    def __matmul__(self, other: Any) -> Any:
        """X_AB @ X_BC composes; X_AB @ p_B gives p_A for (3,) or columns (3, n)."""
        if isinstance(other, Transform):
            return Transform(self.rotation @ other.rotation, self @ other.offset)
        turned = self.rotation @ other
        return (turned.T + self.translation).T


@dataclass(frozen=True, init=False, repr=False)
class SpatialInertia:
    """Mass, centre of mass and inertia of a rigid body in one frame.

    mass [kg] at least 0; com: (3,) centre of mass [m]; inertia: about the centre of mass in the frame's axes
    [kg m2], as (3,) xx yy zz, (6,) xx yy zz xy xz yz (entries of the matrix: a product of inertia with its
    minus sign), or (3, 3). measured: skips the triangle inequality, for identified data. where: the name in
    messages. Raises ModelError for an inertia that no solid has: the principal moments J1 <= J2 <= J3 must not be
    negative, and J1 + J2 >= J3.
    """

    mass: float
    com: Vec3
    moments: tuple[float, float, float, float, float, float]

    def __init__(
        self,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = (0.0, 0.0, 0.0),
        *,
        measured: bool = False,
        where: str = "SpatialInertia",
    ) -> None:
        object.__setattr__(self, "mass", _checks.parameter("body", "mass", mass, f"{where}: mass"))
        object.__setattr__(self, "com", _checks.vector(com, f"{where}: com"))
        object.__setattr__(self, "moments", _moments(inertia, _checks.flag(measured, f"{where}: measured"), where))

    def __repr__(self) -> str:
        return f"SpatialInertia({self.mass!r}, {self.com!r}, {self.moments!r})"

    @property
    def inertia(self) -> Array:
        """(3, 3) about the centre of mass [kg m2]."""
        xx, yy, zz, xy, xz, yz = self.moments
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def about_origin(self) -> Array:
        """(3, 3) inertia about the frame's origin [kg m2]: J + m (c.c E - c c^T)."""
        return self.inertia + self.mass * _steiner(np.array(self.com))

    def shifted(self, offset: ArrayLike) -> SpatialInertia:
        """The same body moved by `offset` (3,) [m]: its centre of mass is at com + offset."""
        com = np.array(self.com) + np.asarray(offset, dtype=float)
        return SpatialInertia(self.mass, com, self.moments, measured=True)

    def rotated(self, rotation: Rotation) -> SpatialInertia:
        """The same body expressed in frame A; rotation: R_AB of the present frame B, which has the same origin."""
        r = rotation.matrix
        inertia = r @ self.inertia @ r.T
        return SpatialInertia(self.mass, r @ np.array(self.com), (inertia + inertia.T) / 2, measured=True)

    def __add__(self, other: SpatialInertia) -> SpatialInertia:
        """Two bodies welded together, both in the same frame."""
        mass = self.mass + other.mass
        a, b = np.array(self.com), np.array(other.com)
        share = other.mass / mass if mass > 0.0 else 0.0
        com = a + share * (b - a)
        inertia = self.inertia + other.inertia + share * self.mass * _steiner(b - a)
        return SpatialInertia(mass, com, inertia, measured=True)


def _moments(inertia: object, measured: bool, where: str) -> tuple[float, ...]:
    """The six stored entries xx yy zz xy xz yz of an inertia, checked for physical validity."""
    what = f"{where}: inertia"
    items = tuple(inertia) if isinstance(inertia, list | tuple | np.ndarray) and np.ndim(inertia) else ()
    if len(items) == 6:
        entries = _checks.numbers(items, 6, what)
    elif len(items) == 3 and not any(isinstance(item, list | tuple | np.ndarray) for item in items):
        entries = (*_checks.numbers(items, 3, what), 0.0, 0.0, 0.0)
    elif len(items) == 3:
        entries = _symmetric(_checks.matrix(items, what), what)
    else:
        raise ModelError(
            f"{what} has {len(items)} entries, but must have 3, 6 or 3x3. Give (xx, yy, zz), "
            "(xx, yy, zz, xy, xz, yz) or the 3x3 matrix, about the centre of mass."
        )
    _check_physical(entries, measured, what)
    return entries


def _symmetric(m: Mat3, what: str) -> tuple[float, ...]:
    scale = max(abs(m[0][0]), abs(m[1][1]), abs(m[2][2]))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if abs(m[i][j] - m[j][i]) > _PHYSICAL * scale:
            raise ModelError(
                f"{what} is not symmetric: entry [{i + 1}][{j + 1}] is {m[i][j]:g} but [{j + 1}][{i + 1}] "
                f"is {m[j][i]:g}. Make the two equal."
            )
    off = [(m[i][j] + m[j][i]) / 2 for i, j in ((0, 1), (0, 2), (1, 2))]
    return (m[0][0], m[1][1], m[2][2], *off)


def _check_physical(entries: tuple[float, ...], measured: bool, what: str) -> None:
    for i, entry in enumerate(entries):
        rule, fix = _limits.out_of_bounds(_limits.kind_of("body", "inertia"), entry, diagonal=i < 3)
        if rule:
            raise ModelError(f"{what} has the entry {entry:g}, but {rule}. {fix}.")
    rule, fix = _limits.no_solid(entries, measured)
    if rule:
        raise ModelError(f"{what} is refused, as {rule}. {fix}.")


def _orthonormal(m: Array) -> Mat3:
    error = float(np.abs(m.T @ m - np.eye(3)).max())
    if error > _ORTHONORMAL:
        raise ModelError(
            f"Rotation: matrix is not orthonormal, R^T R differs from the unit matrix by {error:.2g}. "
            "Give unit vectors at right angles as its columns."
        )
    if np.linalg.det(m) < 0.0:
        raise ModelError(
            "Rotation: matrix is a reflection, its determinant is -1. Reverse one of its columns."
        )
    return _tuples(_rounded(m))


def cross(a: Array, b: Array) -> Array:
    """(3,) a x b, in a twentieth of the time of np.cross, with the same bits."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def skew(v: Array) -> Array:
    """(..., 3, 3) [v]x of vectors (..., 3), so that [v]x w = v x w."""
    half = np.zeros((*v.shape, 3))
    half[..., 0, 1], half[..., 0, 2], half[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    return half - np.swapaxes(half, -1, -2)


def moment_of(products: Array) -> Array:
    """(..., 3) the sum of r x f, from that of r f' (..., 3, 3)."""
    N = products
    return np.stack(
        [N[..., 1, 2] - N[..., 2, 1], N[..., 2, 0] - N[..., 0, 2], N[..., 0, 1] - N[..., 1, 0]], axis=-1
    )


def nearest_rotation(m: Array) -> Array:
    """(3, 3) the rotation nearest to a matrix that differs from it by round-off.

    One step of Newton's method for the polar factor. The zeros of a rotation about a coordinate axis stay exact.
    """
    return m @ (_THREE_HALVES - 0.5 * (m.T @ m))


def _rounded(m: Array) -> Array:
    """A matrix that is orthonormal to six digits, made orthonormal to round-off."""
    for _ in range(3):
        if float(np.abs(m.T @ m - _UNIT).max()) <= _ROUND_OFF:
            break
        m = nearest_rotation(m)
    return m


def _tuples(m: Array) -> Mat3:
    a, b, c = m.tolist()
    return (tuple(a), tuple(b), tuple(c))


def _steiner(r: Array) -> Array:
    """(3, 3) r.r E - r r^T."""
    return cast(Array, np.dot(r, r) * np.eye(3) - np.outer(r, r))


_NO_ROTATION = Rotation()
_NO_TRANSFORM = Transform()
