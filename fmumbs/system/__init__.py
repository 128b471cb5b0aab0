"""Systems of FMUs: described, checked, written as packages, and run in co-simulation engines."""

from fmumbs.system.plan import Plan
from fmumbs.system.reading import open_system
from fmumbs.system.system import ENGINES, System

__all__ = ["ENGINES", "Plan", "System", "open_system"]
