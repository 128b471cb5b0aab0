"""The skate: a knife edge on a plane, the simplest nonholonomic joint.

X_FM = translation by (x, y, 0), then rotation by the angle about z;   in M's axes the velocity across the blade,
along y, is zero (joint-representation, 3.6), so that three positions have two velocities (3.27):

    u = (v, w):   x' = v cos(angle),  y' = v sin(angle),  angle' = w;   phi = [0 z; R_FM x 0] at M
"""

from dataclasses import dataclass

from fmumbs.mechanism.joints._multi_mode import MultiModeJoint
from fmumbs.mechanism.joints.base import Row
from fmumbs.mechanism.joints.mode import Mode


@dataclass(frozen=True)
class Skate(MultiModeJoint):
    """M slides in the plane z = 0 of F along its own x axis only, and turns about z.

    q0: initial (x [m], y [m], angle [rad]) of M in F. At the start of a loop it may be placed across its blade, too.
    u0: initial (velocity along the blade [m/s], angular velocity [rad/s]).
    stiffness, damping, rest: three numbers, of x, y and the angle; the force across the blade goes into the reaction.

    Variables: q[1..3]; u[1..2], their rates, and the inputs tau[1..2]: force along the blade [N], torque [N.m].
    Raises ModelError for a list of wrong length or a number that is not finite.
    """

    _laws = ("stiffness", "damping", "rest")
    _instead = "Leave it out."

    @property
    def modes(self) -> tuple[Mode, ...]:
        return _MODES

    @property
    def velocity_rows(self) -> tuple[Row, ...]:
        return _ACROSS

    @property
    def speed_rows(self) -> tuple[Row, ...]:
        return _ALONG


_MODES = (
    Mode("prismatic", (1.0, 0.0, 0.0)),
    Mode("prismatic", (0.0, 1.0, 0.0)),
    Mode("revolute", (0.0, 0.0, 1.0)),
)
_ACROSS = ((0.0, 0.0, 0.0, 0.0, 1.0, 0.0),)
_ALONG = ((0.0, 0.0, 0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
