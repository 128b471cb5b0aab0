"""The weld: no motion, X_FM = identity. Its reaction is the whole wrench between the two bodies."""

from dataclasses import dataclass

from fmumbs.mechanism.joints.base import JointBase
from fmumbs.mechanism.joints.mode import Mode


@dataclass(frozen=True)
class Weld(JointBase):
    """F and M coincide. A weld has no positions or velocities, but reactions like every joint."""

    _laws = ()
    _instead = "Leave it out: a weld does not move."

    @property
    def modes(self) -> tuple[Mode, ...]:
        return ()

    @property
    def start_positions(self) -> tuple[float, ...]:
        return ()

    @property
    def start_velocities(self) -> tuple[float, ...]:
        return ()
