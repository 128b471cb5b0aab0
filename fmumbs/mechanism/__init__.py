"""The elements of a model: bodies, joints, forces and declared variables, and the Model that holds them."""

from fmumbs.mechanism import contact as _contact
from fmumbs.mechanism import forces as _forces
from fmumbs.mechanism.bodies import GROUND, Body, Frame, Ground, Point
from fmumbs.mechanism.cam import Cam
from fmumbs.mechanism.contact import *  # noqa: F403
from fmumbs.mechanism.coupling import Coupling
from fmumbs.mechanism.declared import DeclaredVariable, DefaultExperiment
from fmumbs.mechanism.element import Composite, Element
from fmumbs.mechanism.flexible import ModalBody
from fmumbs.mechanism.flexible_link import FlexibleLink
from fmumbs.mechanism.forces import *  # noqa: F403  what a recipe of CONTRIBUTING.md adds
from fmumbs.mechanism.friction import LuGre
from fmumbs.mechanism.joints import (
    Ball,
    Bushing,
    Closing,
    Cylindrical,
    Distance,
    Free,
    Helix,
    Joint,
    JointBase,
    Mode,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    RevoluteSpherical,
    Rolling,
    Screw,
    Skate,
    Slide,
    Spherical,
    Turn,
    Universal,
    Weld,
)
from fmumbs.mechanism.laws import ForceLaw, Law, Piece, Stop
from fmumbs.mechanism.looks import Mesh
from fmumbs.mechanism.make_flexible import make_flexible
from fmumbs.mechanism.model import Model
from fmumbs.mechanism.path import Curve, Path
from fmumbs.mechanism.program import (
    Program,
    ProgrammedJoint,
    ProgrammedLength,
    ProgrammedOrientation,
    ProgrammedPoint,
    ProgrammedVelocity,
)
from fmumbs.mechanism.reading import Control, Limits, Reading, ReadingRow
from fmumbs.mechanism.section import Material, Section, Slender
from fmumbs.mechanism.support import FlexibleSupport, Layer

__all__ = [
    "GROUND",
    "Ball",
    "Body",
    "Bushing",
    "Cam",
    "Closing",
    "Composite",
    "Control",
    "Coupling",
    "Curve",
    "Cylindrical",
    "DeclaredVariable",
    "DefaultExperiment",
    "Distance",
    "Element",
    "FlexibleLink",
    "FlexibleSupport",
    "ForceLaw",
    "Frame",
    "Free",
    "Ground",
    "Helix",
    "Joint",
    "JointBase",
    "Law",
    "Layer",
    "Limits",
    "LuGre",
    "Material",
    "Mesh",
    "ModalBody",
    "Mode",
    "Model",
    "Path",
    "Piece",
    "Planar",
    "Point",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "Program",
    "ProgrammedJoint",
    "ProgrammedLength",
    "ProgrammedOrientation",
    "ProgrammedPoint",
    "ProgrammedVelocity",
    "Reading",
    "ReadingRow",
    "Revolute",
    "RevoluteSpherical",
    "Rolling",
    "Screw",
    "Section",
    "Skate",
    "Slender",
    "Slide",
    "Spherical",
    "Stop",
    "Turn",
    "Universal",
    "Weld",
    "make_flexible",
]
__all__ += _contact.__all__ + _forces.__all__
