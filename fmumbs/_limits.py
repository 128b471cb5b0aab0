"""Limits of an image that elements of a model are checked against, and what parameters may be, from the core.

The limits are in core/image/table.h, the bounds of parameters in core/image/variables.h, and the rules on several of
them in core/image/bounds.c: an element, a Solver and an FMU refuse the same values.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import fmumbs._core as _core  # type: ignore[import-not-found, unused-ignore]

_lib: Any = _core.lib
_ffi: Any = _core.ffi

MOST_MODES: int = _lib.FM_BODY_MODES
"""Of a flexible body."""

MOST_SECONDS: int = _lib.FM_BODY_SECONDS
"""Shapes of second order of a flexible body."""

LEAST_PERIOD: float = _lib.FM_LEAST_PERIOD
"""Of a path [s]."""

LARGEST: float = _lib.FM_LARGEST
"""Of any number of a model."""

PATH_POWERS: int = _lib.FM_PATH_POWERS
"""Powers of time in a piece of a path, from 0 on."""

LAW_POWERS: tuple[int, int] = (_lib.FM_LAW_POWERS_X, _lib.FM_LAW_POWERS_V)
"""Powers of position and of velocity in a piece of a force law, from 0 on."""


@cache
def kind_of(owner: str, suffix: str) -> int:
    """The kind of a variable that can be set, such as "spring", "stiffness". Raises KeyError for an unknown one."""
    for index in range(_lib.fm_kind_count()):
        kind = _lib.fm_kind(index)
        found = _ffi.string(kind.owner_name).decode().lower(), _ffi.string(kind.suffix).decode()
        if found == (owner, suffix) and kind.causality == _lib.FM_PARAMETER:
            return index
    raise KeyError(f"{owner}.{suffix}")


def out_of_bounds(kind: int, value: float, diagonal: bool = True) -> tuple[str, str]:
    """Why a variable of a kind may not have a value, and the fix; ("", "") if it may. diagonal: False for an entry of a
    matrix beside its diagonal.
    """
    if _lib.fm_value_fits(kind, diagonal, value, _ffi.NULL, 0):
        return "", ""
    why = _ffi.new("char[]", 300)
    _lib.fm_value_fits(kind, diagonal, value, why, len(why))
    return _parts(why)


def no_solid(inertia: Sequence[float], measured: bool) -> tuple[str, str]:
    """Why no solid has an inertia xx yy zz xy xz yz, and the fix; ("", "") if one has. measured: without the triangle
    inequality.
    """
    if _lib.fm_inertia_fits(inertia, measured, _ffi.NULL, 0):
        return "", ""
    why = _ffi.new("char[]", 300)
    _lib.fm_inertia_fits(inertia, measured, why, len(why))
    return _parts(why)


def is_semidefinite(rows: Sequence[Sequence[float]]) -> bool:
    """Whether a symmetric matrix of at most six rows has no negative eigenvalue beyond round-off."""
    return bool(_lib.fm_matrix_fits([entry for row in rows for entry in row], len(rows)))


def euler_sequence(word: str) -> int:
    """The number of the sequence of Euler angles that a word such as "ZYX" or "xyz" names, 0 for none."""
    return int(_lib.fm_euler_sequence(word.encode()))


def _parts(why: Any) -> tuple[str, str]:
    rule, fix = _ffi.string(why).decode().split(": ", 1)
    return rule, f"{fix[0].upper()}{fix[1:]}"
