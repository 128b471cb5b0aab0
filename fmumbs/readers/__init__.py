"""Reads models from files."""

from fmumbs.readers.mjcf import read_mjcf
from fmumbs.readers.python_file import NoSuchModel, build_model
from fmumbs.readers.reading import READERS, build_parameters, find_model, model_names, read_built, read_model
from fmumbs.readers.urdf import read_urdf

__all__ = [
    "READERS",
    "NoSuchModel",
    "build_model",
    "build_parameters",
    "find_model",
    "model_names",
    "read_built",
    "read_mjcf",
    "read_model",
    "read_urdf",
]
