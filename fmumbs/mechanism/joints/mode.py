"""Modes: the elementary motions that a joint is an ordered product of.

X_FM = X_1(p_1) X_2(p_2) ..., each factor a screw about or along a fixed axis, or a ball. The axes of a mode
are those that the modes before it have turned; with all positions at zero they are F's axes.
"""

from dataclasses import dataclass
from typing import Literal

from fmumbs._checks import Vec3

Kind = Literal["revolute", "prismatic", "ball"]
Role = Literal["free", "excited", "locked"]


@dataclass(frozen=True)
class Mode:
    """One elementary motion.

    kind: "revolute" turns about `axis` and advances by `pitch` [m/rad]; "prismatic" slides along it; "ball"
        turns freely, with a quaternion w x y z as its position and the angular velocity in M's axes as its
        velocity.
    axis: (3,) unit vector; without meaning for a ball.
    role: "free" moves as the forces demand, "excited" as prescribed, "locked" does not move.
    """

    kind: Kind
    axis: Vec3 = (0.0, 0.0, 1.0)
    role: Role = "free"
    pitch: float = 0.0

    @property
    def positions(self) -> int:
        """How many position variables it has: 1, or 4 for a ball."""
        return 4 if self.kind == "ball" else 1

    @property
    def velocities(self) -> int:
        """How many velocity variables it has: 1, or 3 for a ball."""
        return 3 if self.kind == "ball" else 1
