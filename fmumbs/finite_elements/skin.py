"""The surface of a flexible body, for pictures of it as it deforms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Skin:
    """corners: (n, 3) undeformed, in the body's frame [m]; faces: (m, 3) indices of corners, counterclockwise as seen
    from outside; shapes: (modes, n, 3) what a unit of each modal coordinate moves the corners, in the body's axes.
    """

    corners: NDArray[np.float64]
    faces: NDArray[np.intp]
    shapes: NDArray[np.float64]
