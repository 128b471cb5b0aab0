"""Leaves the project's own editable install out of the imports, where PYTHONPATH names another copy of the package."""

import sys

sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
