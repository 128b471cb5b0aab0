"""Verifies an FMU: its archive, its XML, and every capability that it declares."""

from fmumbs.verify.verifying import CHECKS, Finding, verify_fmu

__all__ = ["CHECKS", "Finding", "verify_fmu"]
