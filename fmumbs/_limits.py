"""Limits of an image that elements of a model are checked against, from the core (core/image/table.h)."""

from typing import Any

import fmumbs._core as _core  # type: ignore[import-not-found, unused-ignore]

_lib: Any = _core.lib

MOST_MODES: int = _lib.FM_BODY_MODES
"""Of a flexible body."""

LEAST_PERIOD: float = _lib.FM_LEAST_PERIOD
"""Of a path [s]."""
