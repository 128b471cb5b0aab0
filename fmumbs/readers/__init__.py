"""From files to Models."""

from fmumbs.readers.python_file import NoSuchModel, find_model, model_names, read_model

__all__ = ["NoSuchModel", "find_model", "model_names", "read_model"]
