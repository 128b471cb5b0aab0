"""The revolute joint.

X_FM = rotation by q about the axis;   free mode phi = [axis; 0] at M
"""

from dataclasses import dataclass

from fmumbs.mechanism.joints._one_dof import OneDofJoint


@dataclass(frozen=True)
class Revolute(OneDofJoint):
    """M turns about an axis of F; the origins of F and M coincide.

    axis: "x", "y", "z", one of these with a minus sign, or three numbers, in F's axes.
    q0: initial angle [rad], positive by the right-hand rule; u0: its rate [rad/s].

    Variables: q, qd, qdd, and the input tau [N.m], positive if it drives M with respect to F. Raises ModelError
    for a zero axis or a number that is not finite.
    """

    _kind = "revolute"
    _rubs = True
