"""Simulation of a compiled mechanism: Solver, simulate, Result. What analyses a motion is in modules of its own."""

from fmumbs.run.result import Result
from fmumbs.run.signal import Signal
from fmumbs.run.simulate import simulate
from fmumbs.run.solver import Solver
from fmumbs.run.start import StartChange

__all__ = ["Result", "Signal", "Solver", "StartChange", "simulate"]
