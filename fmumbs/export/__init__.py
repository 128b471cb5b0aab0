"""Makes an FMU from a model image."""

from fmumbs.export.fmu import export_fmu

__all__ = ["export_fmu"]
