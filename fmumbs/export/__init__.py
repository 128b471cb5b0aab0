"""From a model image to files for other tools: FMUs, and checks of them."""

from fmumbs.export.fmu import export_fmu

__all__ = ["export_fmu"]
