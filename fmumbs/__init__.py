"""Multibody mechanisms described in Python and exported as FMI 2.0 FMUs for co-simulation and model exchange."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fmumbs.errors import (
    AssemblyError,
    CavitationWarning,
    ContactWarning,
    DeformationWarning,
    EquilibriumError,
    ExportError,
    FmumbsError,
    InputWarning,
    Interrupted,
    MeshWarning,
    ModelError,
    SolverError,
    StartWarning,
)
from fmumbs.mechanism import (
    Ball,
    Body,
    Bushing,
    Cam,
    Coupling,
    Curve,
    Cylindrical,
    Distance,
    FlexibleLink,
    FlexibleSupport,
    Free,
    Helix,
    Joint,
    Law,
    Layer,
    Limits,
    LuGre,
    Material,
    Mesh,
    ModalBody,
    Model,
    Path,
    Piece,
    Planar,
    Point,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Program,
    ProgrammedJoint,
    ProgrammedLength,
    ProgrammedOrientation,
    ProgrammedPoint,
    ProgrammedVelocity,
    Revolute,
    RevoluteSpherical,
    Rolling,
    Screw,
    Section,
    Skate,
    Slide,
    Spherical,
    Stop,
    Turn,
    Universal,
    Weld,
    make_flexible,
)
from fmumbs.mechanism import contact as _contact
from fmumbs.mechanism import forces as _forces
from fmumbs.mechanism.contact import *  # noqa: F403
from fmumbs.mechanism.forces import *  # noqa: F403
from fmumbs.spatial import Rotation, SpatialInertia, Transform

if TYPE_CHECKING:
    from fmumbs.analysis.modes import ModeVectors, mode_vectors
    from fmumbs.analysis.uniqueness import Uniqueness
    from fmumbs.compiler import ModelImage, compile
    from fmumbs.export import CasadiFunctions, export_casadi, export_fmu
    from fmumbs.finite_elements.body import Rayleigh
    from fmumbs.finite_elements.interfaces import Interface
    from fmumbs.finite_elements.stiffening import Loaded
    from fmumbs.play import replay
    from fmumbs.readers.matrices import Matrices, read_matrices
    from fmumbs.readers.mjcf import read_mjcf
    from fmumbs.readers.urdf import read_urdf
    from fmumbs.run.campbell import Campbell, campbell
    from fmumbs.run.equilibrium import Equilibrium, equilibrium
    from fmumbs.run.inverse import (
        bias,
        center_of_mass,
        gravity_forces,
        inverse_dynamics,
        mass_matrix,
        momentum,
        point_jacobian,
    )
    from fmumbs.run.linear_modes import Modes
    from fmumbs.run.linearize import LinearModel, linearize
    from fmumbs.run.load_path import Critical, LoadPath, load_path
    from fmumbs.run.reactions import divide_and_conquer, uniqueness
    from fmumbs.run.regressor import BaseParameters, Identified, Regressor, base_parameters, identify, regressor
    from fmumbs.run.result import Result
    from fmumbs.run.sensitivities import Sensitivities, sensitivities
    from fmumbs.run.signal import Signal
    from fmumbs.run.simulate import simulate
    from fmumbs.run.solver import Solver
    from fmumbs.run.steady import Steady, steady
    from fmumbs.study import Sweep, sweep
    from fmumbs.system import System

__all__ = [
    "AssemblyError",
    "Ball",
    "BaseParameters",
    "Body",
    "Bushing",
    "Cam",
    "Campbell",
    "CasadiFunctions",
    "CavitationWarning",
    "ContactWarning",
    "Coupling",
    "Critical",
    "Curve",
    "Cylindrical",
    "DeformationWarning",
    "Distance",
    "Equilibrium",
    "EquilibriumError",
    "ExportError",
    "FlexibleLink",
    "FlexibleSupport",
    "FmumbsError",
    "Free",
    "Helix",
    "Identified",
    "InputWarning",
    "Interface",
    "Interrupted",
    "Joint",
    "Law",
    "Layer",
    "Limits",
    "LinearModel",
    "LoadPath",
    "Loaded",
    "LuGre",
    "Material",
    "Matrices",
    "Mesh",
    "MeshWarning",
    "ModalBody",
    "ModeVectors",
    "Model",
    "ModelError",
    "ModelImage",
    "Modes",
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
    "Rayleigh",
    "Regressor",
    "Result",
    "Revolute",
    "RevoluteSpherical",
    "Rolling",
    "Rotation",
    "Screw",
    "Section",
    "Sensitivities",
    "Signal",
    "Skate",
    "Slide",
    "Solver",
    "SolverError",
    "SpatialInertia",
    "Spherical",
    "StartWarning",
    "Steady",
    "Stop",
    "Sweep",
    "System",
    "Transform",
    "Turn",
    "Uniqueness",
    "Universal",
    "Weld",
    "base_parameters",
    "bias",
    "campbell",
    "center_of_mass",
    "compile",
    "divide_and_conquer",
    "equilibrium",
    "export_casadi",
    "export_fmu",
    "gravity_forces",
    "identify",
    "inverse_dynamics",
    "linearize",
    "load_path",
    "make_flexible",
    "mass_matrix",
    "mode_vectors",
    "momentum",
    "point_jacobian",
    "read_matrices",
    "read_mjcf",
    "read_urdf",
    "regressor",
    "replay",
    "sensitivities",
    "simulate",
    "steady",
    "sweep",
    "uniqueness",
]
__all__ += _contact.__all__ + _forces.__all__

# imported at first use
_LATE_PARTS = {
    "analysis.modes": ("ModeVectors", "mode_vectors"),
    "analysis.uniqueness": ("Uniqueness",),
    "compiler": ("ModelImage", "compile"),
    "export": ("CasadiFunctions", "export_casadi", "export_fmu"),
    "finite_elements.body": ("Rayleigh",),
    "finite_elements.interfaces": ("Interface",),
    "finite_elements.stiffening": ("Loaded",),
    "play": ("replay",),
    "readers.matrices": ("Matrices", "read_matrices"),
    "readers.mjcf": ("read_mjcf",),
    "readers.urdf": ("read_urdf",),
    "run.campbell": ("Campbell", "campbell"),
    "run.equilibrium": ("Equilibrium", "equilibrium"),
    "run.inverse": (
        "bias", "center_of_mass", "gravity_forces", "inverse_dynamics", "mass_matrix", "momentum", "point_jacobian",
    ),
    "run.linear_modes": ("Modes",),
    "run.linearize": ("LinearModel", "linearize"),
    "run.reactions": ("divide_and_conquer", "uniqueness"),
    "run.load_path": ("Critical", "LoadPath", "load_path"),
    "run.regressor": ("BaseParameters", "Identified", "Regressor", "base_parameters", "identify", "regressor"),
    "run.result": ("Result",),
    "run.sensitivities": ("Sensitivities", "sensitivities"),
    "run.signal": ("Signal",),
    "run.simulate": ("simulate",),
    "run.solver": ("Solver",),
    "run.steady": ("Steady", "steady"),
    "study": ("Sweep", "sweep"),
    "system": ("System",),
}  # fmt: skip
_LATE = {name: part for part, names in _LATE_PARTS.items() for name in names}
_PARTS = ("compiler", "export", "play", "run", "study", "system", "view")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return import_module(f"fmumbs.{name}")
    if name not in _LATE:
        raise AttributeError(f"module 'fmumbs' has no attribute '{name}'", name=name)
    found = globals()[name] = getattr(import_module(f"fmumbs.{_LATE[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE, *_PARTS})
