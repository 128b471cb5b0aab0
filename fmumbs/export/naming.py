"""The variables of an FMU under the names of a convention."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fmumbs._naming import CONVENTIONS, STRUCTURED, flat_names
from fmumbs.errors import ExportError

if TYPE_CHECKING:
    from fmumbs.compiler import Variable


def named(variables: "Sequence[Variable]", convention: str) -> "Sequence[Variable]":
    """The variables under the names of a convention. Raises ExportError for an unknown one."""
    if not isinstance(convention, str) or convention not in CONVENTIONS:
        raise ExportError(f"naming '{convention}' is unknown. Choose one of: {', '.join(CONVENTIONS)}.")
    if convention == STRUCTURED:
        return variables
    flat = flat_names([variable.name for variable in variables])
    return [replace(variable, name=name) for variable, name in zip(variables, flat, strict=True)]
