"""Limits of an image that elements of a model are checked against, from the core (core/image/table.h)."""

from typing import Any

import fmumbs._core as _core  # type: ignore[import-not-found, unused-ignore]

_lib: Any = _core.lib

MOST_MODES: int = _lib.FM_BODY_MODES
"""Of a flexible body."""

LEAST_PERIOD: float = _lib.FM_LEAST_PERIOD
"""Of a path [s]."""

PATH_POWERS: int = _lib.FM_PATH_POWERS
"""Powers of time in a piece of a path, from 0 on."""

LAW_POWERS: tuple[int, int] = (_lib.FM_LAW_POWERS_X, _lib.FM_LAW_POWERS_V)
"""Powers of position and of velocity in a piece of a force law, from 0 on."""
