"""Multibody mechanisms, said in Python, that become FMI 2.0 co-simulation FMUs."""

from fmumbs.compiler import ModelImage, compile
from fmumbs.errors import AssemblyError, ExportError, FmumbsError, ModelError, SolverError
from fmumbs.export import export_fmu
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
from fmumbs.run import Result, Solver, simulate
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
    "ModelImage",
    "Point",
    "Prismatic",
    "Result",
    "Revolute",
    "Rotation",
    "Solver",
    "SolverError",
    "SpatialInertia",
    "Spherical",
    "Spring",
    "Transform",
    "Weld",
    "compile",
    "export_fmu",
    "simulate",
]
