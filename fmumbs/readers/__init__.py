"""Reads models from files."""

from fmumbs.readers.python_file import NoSuchModel, build_model
from fmumbs.readers.reading import READERS, build_parameters, find_model, model_names, read_built, read_model

__all__ = [
    "READERS",
    "NoSuchModel",
    "build_model",
    "build_parameters",
    "find_model",
    "model_names",
    "read_built",
    "read_model",
]
