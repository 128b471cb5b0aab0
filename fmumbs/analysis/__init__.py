"""Analysis of a mechanism without simulation: structure, modes, uniqueness of reactions."""

from fmumbs.analysis.divide_and_conquer import DivideAndConquer, divide_and_conquer
from fmumbs.analysis.modes import ModeVectors, mode_vectors
from fmumbs.analysis.placed import Placed
from fmumbs.analysis.structure import Branch, Structure, structure
from fmumbs.analysis.tools import ToolName
from fmumbs.analysis.uniqueness import Fix, JointReaction, SetReaction, Uniqueness, uniqueness

__all__ = [
    "Branch",
    "DivideAndConquer",
    "Fix",
    "JointReaction",
    "ModeVectors",
    "Placed",
    "SetReaction",
    "Structure",
    "ToolName",
    "Uniqueness",
    "divide_and_conquer",
    "mode_vectors",
    "structure",
    "uniqueness",
]
