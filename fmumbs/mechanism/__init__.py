"""What the user says: bodies, joints, forces, signals, and the Model that holds them."""

from fmumbs.mechanism.bodies import GROUND, Body, Frame, Ground, Point
from fmumbs.mechanism.element import Element
from fmumbs.mechanism.forces import Load, Spring
from fmumbs.mechanism.joints import Free, Joint, Mode, Prismatic, Revolute, Spherical, Weld
from fmumbs.mechanism.model import Model
from fmumbs.mechanism.signals import DefaultExperiment, Signal

__all__ = [
    "GROUND",
    "Body",
    "DefaultExperiment",
    "Element",
    "Frame",
    "Free",
    "Ground",
    "Joint",
    "Load",
    "Mode",
    "Model",
    "Point",
    "Prismatic",
    "Revolute",
    "Signal",
    "Spherical",
    "Spring",
    "Weld",
]
