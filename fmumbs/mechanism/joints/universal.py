"""The universal joint, Cardan's or Hooke's.

X_FM = rotation by q1 about the first axis, which is fixed in F, then by q2 about the second, which is fixed in M;
phi = [a1 R1(q1) a2; 0 0] at M
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fmumbs import _checks
from fmumbs._checks import Axis, Vec3
from fmumbs.errors import ModelError
from fmumbs.mechanism.friction import Contact
from fmumbs.mechanism.joints._multi_mode import MultiModeJoint
from fmumbs.mechanism.joints.mode import Mode

_PARALLEL = 1e-6  # axes are parallel if the sine of the angle between them is below this


@dataclass(frozen=True)
class Universal(MultiModeJoint):
    """M turns about two axes with a massless spider between them; the origins of F and M coincide.

    axes: two, each "x", "y", "z", one of these with a minus sign, or three numbers: the first in F's axes, the
    second in M's. They need not be perpendicular.
    q0: two initial angles [rad], positive by the right-hand rule; u0: their rates [rad/s].

    Variables: q[1..2], qd[1..2], qdd[1..2], and the inputs tau[1..2] [N.m] about the two axes, positive if they
    drive M with respect to F. Raises ModelError for parallel or zero axes, a list of wrong length or a number that is
    not finite.
    """

    axes: Sequence[Axis] = field(default=("x", "y"), kw_only=True)

    _rubs = True

    def __post_init__(self) -> None:
        given = tuple(self.axes) if isinstance(self.axes, str) else self.axes  # "xy"
        axes = _checks.items(given, self._where("axes"), "Give two such as ('x', 'y').")
        if len(axes) != 2:
            raise ModelError(
                f"{self._where('axes')} has {len(axes)} entries, but must have 2. Give two such as ('x', 'y')."
            )
        first, second = (_checks.axis(a, self._where(f"axes[{i + 1}]")) for i, a in enumerate(axes))
        if float(np.linalg.norm(np.cross(first, second))) < _PARALLEL:
            raise ModelError(
                f"{self._where('axes')} are parallel, so there is only one degree of freedom. Use a Revolute, or give "
                "two different axes."
            )
        self._store("axes", (first, second))
        super().__post_init__()

    @property
    def modes(self) -> tuple[Mode, ...]:
        first, second = (_checks.axis(a, "axes") for a in self.axes)
        return (Mode("revolute", first), Mode("revolute", second))

    @property
    def directions(self) -> tuple[Vec3, Vec3]:
        """The two axes as unit vectors, the first in F, the second in M."""
        first, second = self.modes
        return first.axis, second.axis

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """One about each axis."""
        if self.friction is None:
            return ()
        own = self.friction.own_factors(slides=False)
        first, second = self.directions
        return (
            Contact("[1]", 0, (1.0,), False, own, first),
            Contact("[2]", 1, (1.0,), False, own, second, on_M=True),
        )
