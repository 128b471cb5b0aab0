"""Verifies an FMU: its archive, its XML, and every capability that it declares."""

from fmumbs.verify.verifying import CHECKS, Finding, not_executed, verify_fmu

__all__ = ["CHECKS", "Finding", "not_executed", "verify_fmu"]
