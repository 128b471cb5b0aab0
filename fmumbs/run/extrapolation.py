"""Derivatives by differences at steps that shrink by 1.5, extrapolated to a step of zero (Ridders, Adv. Eng. Software 4
(1982) 75): of each entry that value of the table is taken which differs least from its neighbours, and this difference
is its error.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_LEVELS = 13
_SHRINK = 1.5


def extrapolated(difference: Callable[[float], Array | None], step: float, order: int = 2) -> tuple[Array, Array]:
    """The limit of difference(h) for h to 0, and the errors of its entries; both empty where it has no value.

    difference: of a step h, None where there is none. step: the first h. order: powers of h in its error are multiples
    of this: 2 for central differences, 1 for those to one side.
    """
    best, error = np.zeros(0), np.zeros(0)
    before: list[Array] = []
    for _ in range(_LEVELS):
        row = difference(step)
        step /= _SHRINK
        if row is None:
            before = []
            continue
        table, factor = [row], 1.0
        for last in before:
            factor *= _SHRINK**order
            table.append((factor * table[-1] - last) / (factor - 1.0))
            off = np.maximum(np.abs(table[-1] - table[-2]), np.abs(table[-1] - last))
            if not len(best):
                best, error = table[-1], off
            best, error = np.where(off < error, table[-1], best), np.minimum(off, error)
        before = table
    return best, error
