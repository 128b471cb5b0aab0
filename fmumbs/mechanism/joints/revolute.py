"""The revolute joint.

X_FM = rotation by q about the axis;   free mode phi = [axis; 0] at M
"""

from dataclasses import dataclass

from fmumbs.mechanism.joints._one_freedom import OneFreedom


@dataclass(frozen=True)
class Revolute(OneFreedom):
    """M turns about an axis of F; the origins of F and M coincide.

    axis: "x", "y", "z", one of these with a minus sign, or three numbers; in F's axes, M's at q = 0.
    q0: angle at the start [rad], positive by the right-hand rule; u0: its rate [rad/s].

    Variables: q, qd, qdd, and the input tau [N.m], positive where it drives M against F. Raises ModelError
    for a zero axis and for numbers that are not finite.
    """

    _kind = "revolute"
