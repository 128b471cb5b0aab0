"""What can be said of a mechanism without running it."""

from fmumbs.analysis.modes import ModeVectors, mode_vectors
from fmumbs.analysis.placed import Placed
from fmumbs.analysis.structure import Branch, Structure, structure
from fmumbs.analysis.uniqueness import JointReaction, Mend, SetReaction, Uniqueness, uniqueness

__all__ = [
    "Branch",
    "JointReaction",
    "Mend",
    "ModeVectors",
    "Placed",
    "SetReaction",
    "Structure",
    "Uniqueness",
    "mode_vectors",
    "structure",
    "uniqueness",
]
