"""The schemes of integration, as the core lists them (core/image/schemes.h)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from fmumbs.compiler.layout import ffi, lib
from fmumbs.errors import ModelError


@dataclass(frozen=True)
class Scheme:
    """One scheme, from fm_scheme_info. number: the value of solver.scheme; fixed: equal steps; order: of its steps;
    stages: derivatives of the state that a step works with.
    """

    number: int
    name: str
    method: str
    purpose: str
    order: int
    fixed: bool
    stages: int


def _schemes() -> Iterator[Scheme]:
    for number in count():
        row = lib.fm_scheme_at(number)
        if row == ffi.NULL:
            return
        name, method, purpose = (ffi.string(text).decode() for text in (row.name, row.method, row.purpose))
        yield Scheme(number, name, method, purpose, row.order, bool(row.fixed), row.stages)


SCHEMES = {scheme.name: scheme for scheme in _schemes()}
"""By name, in the order of their numbers."""


def scheme_number(scheme: str | int) -> int:
    """The number of a scheme. Raises ModelError, with the known names, for an unknown one."""
    if isinstance(scheme, int) and 0 <= scheme < len(SCHEMES):
        return int(scheme)
    if isinstance(scheme, str) and scheme in SCHEMES:
        return SCHEMES[scheme].number
    raise ModelError(f"integration scheme {scheme!r} is unknown. Choose one of: {', '.join(SCHEMES)}.")
