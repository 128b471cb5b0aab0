"""Simulation of a compiled mechanism: Solver, simulate, Result."""

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
from fmumbs.run.reactions import divide_and_conquer, place, uniqueness
from fmumbs.run.regressor import BaseParameters, Identified, Regressor, base_parameters, identify, regressor
from fmumbs.run.result import Result
from fmumbs.run.signal import Signal
from fmumbs.run.simulate import simulate
from fmumbs.run.solver import Solver
from fmumbs.run.start import StartChange
from fmumbs.run.steady import Steady, steady

__all__ = [
    "BaseParameters",
    "Campbell",
    "Equilibrium",
    "Identified",
    "LinearModel",
    "Modes",
    "Regressor",
    "Result",
    "Signal",
    "Solver",
    "StartChange",
    "Steady",
    "base_parameters",
    "bias",
    "campbell",
    "center_of_mass",
    "divide_and_conquer",
    "equilibrium",
    "gravity_forces",
    "identify",
    "inverse_dynamics",
    "linearize",
    "mass_matrix",
    "momentum",
    "place",
    "point_jacobian",
    "regressor",
    "simulate",
    "steady",
    "uniqueness",
]
