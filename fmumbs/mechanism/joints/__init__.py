"""Joints: one file each, all of them an ordered product of modes between two frames."""

from fmumbs.mechanism.joints.base import Joint
from fmumbs.mechanism.joints.free import Free
from fmumbs.mechanism.joints.mode import Mode
from fmumbs.mechanism.joints.prismatic import Prismatic
from fmumbs.mechanism.joints.revolute import Revolute
from fmumbs.mechanism.joints.spherical import Spherical
from fmumbs.mechanism.joints.weld import Weld

__all__ = ["Free", "Joint", "Mode", "Prismatic", "Revolute", "Spherical", "Weld"]
