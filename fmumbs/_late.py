"""Parts of the package that are above those whose methods lead to them, imported when such a method is called.

Model.view() shows a mechanism, for which it is compiled and run; the Model itself knows nothing of that.
"""

from importlib import import_module
from typing import Any


def later(part: str) -> Any:
    """The module fmumbs.PART."""
    return import_module(f"fmumbs.{part}")
