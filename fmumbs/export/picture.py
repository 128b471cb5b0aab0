"""model.png: the icon that importers show on the FMU's block.

A linkage of two rods on a hinge. The opacity of a pixel is its depth inside the nearest shape, so that edges are smooth
without a drawing library. The file is PNG (RFC 2083).
"""

import struct
import zlib
from functools import cache

import numpy as np
from numpy.typing import NDArray

SIZE = 128  # pixels

_STEEL, _RUST, _INK, _PAPER = (70, 110, 150), (200, 105, 60), (35, 40, 50), (255, 255, 255)
_HINGE, _ELBOW, _TIP = (0.36, 0.26), (0.68, 0.47), (0.42, 0.80)
# from, to, half width, colour; lengths relative to the picture, y downwards
_SHAPES: tuple[tuple[tuple[float, float], tuple[float, float], float, tuple[int, int, int]], ...] = (
    ((0.16, 0.17), (0.56, 0.17), 0.020, _INK),
    *(((0.20 + 0.08 * i, 0.09), (0.16 + 0.08 * i, 0.16), 0.010, _INK) for i in range(5)),
    (_HINGE, (0.36, 0.17), 0.030, _INK),
    (_HINGE, _ELBOW, 0.055, _STEEL),
    (_ELBOW, _TIP, 0.055, _RUST),
    *(
        (point, point, radius, colour)
        for point in (_HINGE, _ELBOW)
        for radius, colour in ((0.050, _INK), (0.026, _PAPER))
    ),
    (_TIP, _TIP, 0.075, _RUST),
)


@cache
def icon() -> bytes:
    """The icon as PNG: SIZE x SIZE pixels, RGBA, with a transparent background."""
    pixels = np.zeros((SIZE, SIZE, 4))  # colours premultiplied by opacity
    for start, end, width, shade in _SHAPES:
        window = tuple(_span(start[axis], end[axis], width) for axis in (1, 0))
        y, x = ((np.arange(part.start, part.stop) + 0.5) / SIZE for part in window)
        inside = width - _distance(x[None, :], y[:, None], start, end)
        cover = np.clip(inside * SIZE + 0.5, 0.0, 1.0)[..., None]
        pixels[window] += cover * (np.array((*shade, 255.0)) - pixels[window])
    pixels[..., :3] /= np.maximum(pixels[..., 3:], 1.0) / 255.0
    return _png(np.rint(pixels).astype(np.uint8))


def _span(start: float, end: float, width: float) -> slice:
    """The rows or columns of pixels that a shape may cover."""
    return slice(int((min(start, end) - width) * SIZE) - 1, int((max(start, end) + width) * SIZE) + 2)


def _distance(
    x: NDArray[np.float64], y: NDArray[np.float64], start: tuple[float, float], end: tuple[float, float]
) -> NDArray[np.float64]:
    """Distance of each pixel from the segment from `start` to `end`."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    along = ((x - start[0]) * dx + (y - start[1]) * dy) / ((dx * dx + dy * dy) or 1.0)
    along = np.clip(along, 0.0, 1.0)
    return np.hypot(x - start[0] - along * dx, y - start[1] - along * dy)


def _png(pixels: NDArray[np.uint8]) -> bytes:
    """pixels: (height, width, 4)."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 4 * width), np.uint8)  # each row starts with its filter, 0 for none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
