"""Reads models from files."""

from fmumbs.readers.python_file import NoSuchModel, find_model, model_names, read_built, read_model

__all__ = ["NoSuchModel", "find_model", "model_names", "read_built", "read_model"]
