"""model.png: the mechanism at its start, which importers show on the FMU's block.

The same image gives the same pixels on every machine (view/rays.py).
"""

from typing import TYPE_CHECKING

from fmumbs.view.png import png
from fmumbs.view.still import still

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage

SIZE = 128  # pixels

_THIN = 0.035  # least radius of a body, relative to the mechanism, so that it is seen in a block of 64 pixels


def icon(image: "ModelImage") -> bytes:
    """The picture as PNG: SIZE x SIZE pixels, RGBA, with a transparent background."""
    return png(still(image, SIZE, thin=_THIN, samples=2))
