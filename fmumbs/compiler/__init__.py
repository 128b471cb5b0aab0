"""Compiles a Model to a ModelImage: topology, links, variables, bytes."""

from fmumbs.compiler.compiling import compile, image_of
from fmumbs.compiler.continuous import Continuous, continuous
from fmumbs.compiler.image import ModelImage
from fmumbs.compiler.patching import Structure
from fmumbs.compiler.variables import Variable, Variables

__all__ = ["Continuous", "ModelImage", "Structure", "Variable", "Variables", "compile", "continuous", "image_of"]
