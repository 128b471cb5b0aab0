"""Joints, one file each. Every joint is an ordered product of modes between two frames."""

from fmumbs.mechanism.joints.base import JointBase
from fmumbs.mechanism.joints.bushing import Bushing
from fmumbs.mechanism.joints.closing import (
    Closing,
    Distance,
    PointOnLine,
    PointOnPlane,
    RevoluteSpherical,
    Rolling,
)
from fmumbs.mechanism.joints.cylindrical import Cylindrical
from fmumbs.mechanism.joints.free import Free
from fmumbs.mechanism.joints.general import Joint
from fmumbs.mechanism.joints.mode import Ball, Helix, Mode, Slide, Turn
from fmumbs.mechanism.joints.planar import Planar
from fmumbs.mechanism.joints.prismatic import Prismatic
from fmumbs.mechanism.joints.revolute import Revolute
from fmumbs.mechanism.joints.screw import Screw
from fmumbs.mechanism.joints.skate import Skate
from fmumbs.mechanism.joints.spherical import Spherical
from fmumbs.mechanism.joints.universal import Universal
from fmumbs.mechanism.joints.weld import Weld

__all__ = [
    "Ball",
    "Bushing",
    "Closing",
    "Cylindrical",
    "Distance",
    "Free",
    "Helix",
    "Joint",
    "JointBase",
    "Mode",
    "Planar",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "Revolute",
    "RevoluteSpherical",
    "Rolling",
    "Screw",
    "Skate",
    "Slide",
    "Spherical",
    "Turn",
    "Universal",
    "Weld",
]
