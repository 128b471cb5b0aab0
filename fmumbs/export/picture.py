"""model.png: the mechanism at its start, which importers show on the FMU's block.

The same image gives the same pixels on every machine (view/rays.py); the file is PNG (RFC 2083), written without a
library for pictures.
"""

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fmumbs.view.still import still

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage

SIZE = 128  # pixels

_THIN = 0.035  # least radius of a body, relative to the mechanism, so that it is seen in a block of 64 pixels


def icon(image: "ModelImage") -> bytes:
    """The picture as PNG: SIZE x SIZE pixels, RGBA, with a transparent background."""
    return png(still(image, SIZE, thin=_THIN, samples=2))


def png(pixels: NDArray[np.uint8]) -> bytes:
    """pixels: (height, width, 4)."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 4 * width), np.uint8)  # each row starts with its filter, 0 for none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
