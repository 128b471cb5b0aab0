"""The surface of a flexible body as the scene has it: simplified, in numbers of 16 bits."""

from base64 import b64encode

import numpy as np
from numpy.typing import NDArray

from fmumbs.finite_elements.skin import Skin
from fmumbs.mechanism.triangles import Triangles
from fmumbs.scene.described import SkinLook

Array = NDArray[np.float64]

_MOST = 6000  # triangles: some 100 kB, and as much for three modes


def skin_look(skin: Skin) -> SkinLook:
    """Corners that are simplified away move as the corner nearest to them."""
    found = Triangles(skin.corners, skin.faces.astype(np.int64)).simplified(_MOST)
    shapes = skin.shapes
    if len(found.vertices) < len(skin.corners):
        from scipy.spatial import cKDTree

        shapes = shapes[:, cKDTree(skin.corners).query(found.vertices)[1]]
    low, high = found.vertices.min(axis=0), found.vertices.max(axis=0)
    corners = np.round((found.vertices - low) / np.maximum(high - low, 1e-300) * 65535.0)
    reach = np.maximum(np.abs(shapes).max(axis=(1, 2)), 1e-300)
    moves = np.round(shapes / reach[:, None, None] * 32767.0)
    packed = [_packed(corners, "<u2"), _packed(found.faces, "<u2"), _packed(moves, "<i2")]
    (x, y, z), (a, b, c) = low.tolist(), (high - low).tolist()
    return SkinLook(packed[0], packed[1], (x, y, z), (a, b, c), packed[2], tuple(reach.tolist()))


def _packed(numbers: NDArray[np.generic], kind: str) -> str:
    return b64encode(numbers.astype(kind).tobytes()).decode()
