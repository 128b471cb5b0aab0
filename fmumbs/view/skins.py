"""The surface of a flexible body as it deforms, coloured by displacement."""

from base64 import b64decode
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fmumbs.scene import SkinLook
from fmumbs.view.rays import Colour

Array = NDArray[np.float64]

SCALE: tuple[Colour, ...] = (  # from no displacement to the largest one; those of the page (page/skin.js)
    (46, 86, 166), (36, 142, 196), (62, 184, 172), (122, 200, 112), (208, 208, 72), (244, 172, 56), (236, 114, 44),
    (204, 50, 40),
)  # fmt: skip
_AT_ONCE = 64  # instants
_NOTHING = 1e-9  # of the size: what assembly leaves


class Unpacked(NamedTuple):
    """corners: (n, 3) undeformed [m]; faces: (m, 3); shapes: (modes, n, 3); all in the body's frame."""

    corners: Array
    faces: NDArray[np.int64]
    shapes: Array

    def moves(self, q: Array) -> Array:
        """(..., n, 3) displacements by modal coordinates (..., modes)."""
        return np.asarray(np.tensordot(q, self.shapes, 1))


@lru_cache(8)
def unpacked(skin: SkinLook) -> Unpacked:
    """Not to be written to."""
    corners, faces = (np.frombuffer(b64decode(text), "<u2").reshape(-1, 3) for text in (skin.corners, skin.faces))
    moves = np.frombuffer(b64decode(skin.shapes), "<i2").reshape(len(skin.reach), -1, 3)
    at = np.array(skin.low) + corners / 65535.0 * np.array(skin.size)
    return Unpacked(at, faces.astype(np.int64), moves / 32767.0 * np.array(skin.reach)[:, None, None])


def largest(skin: SkinLook, modal: Array) -> float:
    """The largest displacement of a corner [m] at any of the modal coordinates (instants, modes); 0 of round-off."""
    found = unpacked(skin)
    parts = (modal[k : k + _AT_ONCE] for k in range(0, len(modal), _AT_ONCE))
    most = max((float(np.sqrt((found.moves(one) ** 2).sum(axis=-1)).max()) for one in parts), default=0.0)
    return most if most > _NOTHING * max(skin.size) else 0.0


def bands(skin: SkinLook, q: Array, most: float) -> tuple[Array, list[tuple[Colour, NDArray[np.int64]]]]:
    """Corners (n, 3) at modal coordinates (modes,), and the faces of each colour, which follows the mean displacement
    of their corners, as a part of `most` [m].
    """
    found = unpacked(skin)
    moves = found.moves(q)
    sizes = np.sqrt((moves**2).sum(axis=1))[found.faces].mean(axis=1)
    band = np.minimum((sizes / most * len(SCALE)).astype(int), len(SCALE) - 1) if most > 0.0 else 0 * sizes.astype(int)
    return found.corners + moves, [(SCALE[k], found.faces[band == k]) for k in np.unique(band).tolist()]
