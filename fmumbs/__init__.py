"""Multibody mechanisms, said in Python, that become FMI 2.0 co-simulation FMUs."""

from fmumbs.errors import AssemblyError, ExportError, FmumbsError, ModelError, SolverError
from fmumbs.mechanism import (
    Body,
    Free,
    Joint,
    Load,
    Model,
    Point,
    Prismatic,
    Revolute,
    Spherical,
    Spring,
    Weld,
)
from fmumbs.spatial import Rotation, SpatialInertia, Transform

__all__ = [
    "AssemblyError",
    "Body",
    "ExportError",
    "FmumbsError",
    "Free",
    "Joint",
    "Load",
    "Model",
    "ModelError",
    "Point",
    "Prismatic",
    "Revolute",
    "Rotation",
    "SolverError",
    "SpatialInertia",
    "Spherical",
    "Spring",
    "Transform",
    "Weld",
]
