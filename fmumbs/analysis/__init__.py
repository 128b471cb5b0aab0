"""What can be said of a mechanism without running it."""

from fmumbs.analysis.modes import ModeVectors, mode_vectors
from fmumbs.analysis.structure import Branch, Structure, structure

__all__ = ["Branch", "ModeVectors", "Structure", "mode_vectors", "structure"]
