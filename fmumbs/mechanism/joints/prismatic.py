"""The prismatic joint.

X_FM = translation by q along the axis;   free mode phi = [0; axis] at M
"""

from dataclasses import dataclass

from fmumbs.mechanism.joints._one_dof import OneDofJoint


@dataclass(frozen=True)
class Prismatic(OneDofJoint):
    """M slides along an axis of F; the axes of F and M stay parallel.

    axis: "x", "y", "z", one of these with a minus sign, or three numbers, in F's axes.
    q0: initial distance from F's origin to M's along the axis [m]; u0: its rate [m/s].

    Variables: q, qd, qdd, and the input f [N], positive if it drives M with respect to F. Raises ModelError for a
    zero axis or a number that is not finite.
    """

    _kind = "prismatic"
    _rubs = True
