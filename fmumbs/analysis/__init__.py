"""What can be said of a mechanism without running it."""

from fmumbs.analysis.structure import Branch, Structure, structure

__all__ = ["Branch", "Structure", "structure"]
