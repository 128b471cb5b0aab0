"""The general joint: any ordered product of turns, slides and helices, with constraints on velocities.

X_FM = X_1(s_1) X_2(s_2) ..., each s_k free, excited or locked. With Phi and Phi_e the columns of the free and the
excited modes at M's origin, in the axes of the rows, and kappa the excited velocities, the relative velocity is
G = Phi qdot + Phi_e kappa. With velocity rows w' and speed rows psi' (joint-representation, 3.6, 3.22, 3.27)

    w' G = 0,  psi' G = u    so that    qdot = Y1 u + Y2,    [w'; psi'] (Phi Y1) = [0; E],
                                                             [w'; psi'] (Phi Y2 + Phi_e kappa) = 0

Without rows qdot = u. The free modes of the joint are phi = Phi Y1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.joints._multi_mode import MultiModeJoint
from fmumbs.mechanism.joints.base import LawName, Row
from fmumbs.mechanism.joints.mode import Mode
from fmumbs.mechanism.joints.product import Array, axes_after, screws

_DEPENDENT = 1e-9  # columns of length one are dependent if their smallest singular value is below this


@dataclass(frozen=True)
class Joint(MultiModeJoint):
    """M moves with respect to F by an ordered product of modes: Turn, Slide, Helix and Ball.

    modes: from F to M, each free, excited or locked; their axes need not be perpendicular. It may stand in the tree or,
        without excited modes and velocity rows, close a loop. mode_vectors() has its mode vectors.
    velocity_rows: (k, 6) [1] and [m], constant in the axes after the first `rows_after` modes, by default all of
        them (M's axes). The product of each row with (angular velocity, velocity of M's origin) of M in F is zero.
        They make the joint nonholonomic.
    speed_rows: (free modes - k, 6) in the same axes; their products with the same velocity are u.
    stiffness, damping, rest: one for each free mode, also of a nonholonomic joint.
    rotation_spring: of three consecutive free turns about x, y, z, or about y, z, x or z, x, y, stiffness, damping and
        rest act not on each angle but on the components of the rotation vector of all three along these axes: the
        potential is sum k (theta - rest)^2 / 2 at any angle below half a turn, and prefers no order of the turns.
    q0: one for each free mode [rad] or [m]; u0: the velocity variables; without rows the rates of the free modes.

    Variables: q[i], qd[i], qdd[i] of the free modes and the inputs tau[i], without an index if there is only one;
    eta, kappa and kappa_dot of the excited modes, and drive[k], the force or torque that moves them.

    Raises ModelError for modes that are dependent at q0, for rows that do not determine the velocities there, and for
    a number that is not finite.
    """

    modes: tuple[Mode, ...] = field(default=(), kw_only=True)
    velocity_rows: tuple[Row, ...] = field(default=(), kw_only=True)
    speed_rows: tuple[Row, ...] = field(default=(), kw_only=True)
    rows_after: int = field(default=-1, kw_only=True)
    rotation_spring: bool = field(default=False, kw_only=True)

    _instead = "Leave it out."

    def __post_init__(self) -> None:
        self._store("modes", self._checked_modes())
        after = len(self.modes) if np.ndim(self.rows_after) == 0 and self.rows_after == -1 else self.rows_after
        if not isinstance(after, int) or isinstance(after, bool) or not 0 <= after <= len(self.modes):
            raise ModelError(
                f"{self._where('rows_after')} is {_checks.shown(after)}, but there are {len(self.modes)} modes. "
                f"Give a number from 0 to {len(self.modes)}."
            )
        self._store("rows_after", after)
        free = len(self.free_modes)
        self._store("velocity_rows", self._rows("velocity_rows"))
        self._store("speed_rows", self._rows("speed_rows"))
        needed = free - len(self.velocity_rows) if self.velocity_rows else 0
        if needed < 0 or len(self.speed_rows) != needed:
            raise ModelError(
                f"{self._where('speed_rows')} has {len(self.speed_rows)} rows, but {free} free modes less "
                f"{len(self.velocity_rows)} velocity rows need {max(needed, 0)}. Give as many."
            )
        super().__post_init__()
        self._check_independent()
        self._store("rotation_spring", _checks.flag(self.rotation_spring, self._where("rotation_spring")))
        if self.rotation_spring and self.bends < 0:
            raise ModelError(
                f"{self._where('rotation_spring')} is True, but its free modes have no three consecutive turns about "
                "x, y, z in cyclic order, or it has velocity rows. Give such turns, or leave it out."
            )

    @property
    def bends(self) -> int:
        if not self.rotation_spring or self.velocity_rows:
            return -1
        first = next((k for k in range(len(self.modes) - 2) if _cyclic(self.modes[k : k + 3])), None)
        return -1 if first is None else sum(mode.free for mode in self.modes[:first])

    def _checked_modes(self) -> tuple[Mode, ...]:
        given = _checks.items(self.modes, self._where("modes"), "Give Turn, Slide, Helix or Ball in a list.")
        modes = tuple(mode for one in given for mode in (one if isinstance(one, tuple | list) else (one,)))
        if not modes:
            raise ModelError(f"{self._where('modes')} is empty. Give Turn, Slide or Helix, or use a Weld.")
        for i, mode in enumerate(modes):
            if not isinstance(mode, Mode) or mode.kind == "ball":
                where = f"{self._where('modes')}[{i + 1}]"
                raise ModelError(f"{where} is {_checks.shown(mode)}. Give a Turn, a Slide, a Helix or a Ball.")
        return modes

    def _rows(self, what: str) -> tuple[Row, ...]:
        example = (0, 0, 0, 1, 0, 0)
        rows = _checks.items(getattr(self, what), self._where(what), f"Give rows such as {example} in a list.")
        return tuple(_checks.numbers(row, 6, f"{self._where(what)}[{i + 1}]", example) for i, row in enumerate(rows))

    def _check_law(self, law: LawName, value: object) -> None:
        super()._check_law(law, value)
        if law == "rotor_inertia" and self.velocity_rows and any(getattr(self, law)):
            raise ModelError(self._has_no(law, next(v for v in getattr(self, law) if v)))

    def _check_independent(self) -> None:
        """Checks at q0 that the moving modes are independent, and so are the rows."""
        at = self.all_positions()
        columns = screws(self.modes, at)
        moving = columns[:, [mode.role != "locked" for mode in self.modes]]
        if moving.size and _smallest(moving / np.linalg.norm(moving, axis=0)) < _DEPENDENT:
            raise ModelError(
                f"{self._where('modes')} are linearly dependent at q0. "
                "Leave one out, or give another q0."
            )
        if not self.velocity_rows:
            return
        R = axes_after(self.modes, at, self.rows_after)
        rows = np.array([*self.velocity_rows, *self.speed_rows])
        free = columns[:, [mode.role == "free" for mode in self.modes]].reshape(2, 3, -1)
        if _smallest(_balanced(rows @ np.concatenate([R.T @ free[0], R.T @ free[1]]))) < _DEPENDENT:
            raise ModelError(
                f"{self._where('velocity_rows and speed_rows')} do not determine the velocities of the "
                f"{len(self.free_modes)} free modes at q0. Give independent rows."
            )


def _cyclic(modes: Sequence[Mode]) -> bool:
    """Whether three modes are free turns about the coordinate axes in cyclic order."""
    if not all(mode.free and mode.kind == "revolute" and mode.pitch == 0.0 for mode in modes):
        return False
    axes = np.array([mode.axis for mode in modes])
    return any((axes == np.roll(np.eye(3), k, axis=0)).all() for k in range(3))


def _balanced(matrix: Array) -> Array:
    """Its rows and columns divided by their largest elements, so that no unit of length is built in."""
    for axis in (1, 0, 1, 0):
        largest = np.abs(matrix).max(axis=axis, keepdims=True, initial=0.0)
        matrix = matrix / np.where(largest > 0.0, largest, 1.0)
    return matrix


def _smallest(matrix: Array) -> float:
    """The smallest singular value."""
    if matrix.shape[1] > matrix.shape[0]:
        return 0.0
    return float(np.linalg.svd(matrix, compute_uv=False)[-1])
