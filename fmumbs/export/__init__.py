"""Makes an FMU, or C functions for CasADi, from a model image."""

from fmumbs.export.casadi import CasadiFunctions, export_casadi
from fmumbs.export.fmu import export_fmu

__all__ = ["CasadiFunctions", "export_casadi", "export_fmu"]
