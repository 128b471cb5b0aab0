"""Plays an FMU through FMPy, or a model through the Solver, with the same Result."""

from fmumbs.play.simulation import Options, Progress, Row, plot, read_inputs, replay, run_fmu, run_model, summary

__all__ = ["Options", "Progress", "Row", "plot", "read_inputs", "replay", "run_fmu", "run_model", "summary"]
