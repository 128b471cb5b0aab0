"""A mechanism at one instant as an image of pixels, which fits into the picture."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler import ModelImage
from fmumbs.errors import FmumbsError
from fmumbs.run.solver import Solver
from fmumbs.scene import Scene
from fmumbs.view.poses import Poses, poses, start_positions
from fmumbs.view.rays import Solid, Window, draw, extents
from fmumbs.view.solids import solids
from fmumbs.view.viewpoint import Projection, viewpoint

Array = NDArray[np.float64]


def start_poses(image: ModelImage) -> tuple[Poses, FmumbsError | None]:
    """Poses at the start, with its loops closed; as given where they cannot be closed, with the reason."""
    failure = None
    plain = image.with_options(equilibrium=False) if image.equilibrium else image
    solver = Solver(plain)
    try:
        solver.assemble(0.0)
        positions = solver.positions
    except FmumbsError as error:
        failure, positions = error, start_positions(image)
    return poses(image, np.nan_to_num(positions)), failure


def window_of(found: Sequence[Solid], view: Projection, scene: Scene, width: int, height: int, margin: float) -> Window:
    """The part of the projection in which solids fill a picture but for a margin, relative to its shorter side."""
    low, high = extents(found, view.rows) if found else np.zeros((2, 2))
    free = np.array([width, height]) - 2.0 * margin * min(width, height)
    pixel = float(((high - low) / free).max())
    if not pixel > 0.0 or not np.isfinite(pixel):
        pixel = scene.length / float(free.min())
    x, y = (float(one) for one in (low + high) / 2.0)
    return Window(x, y, pixel, width, height)


def still(image: ModelImage, size: int, *, thin: float, samples: int) -> NDArray[np.uint8]:
    """(size, size, 4) colours and opacity of the mechanism at its start, without a background.

    thin: least radius of a body, relative to the mechanism. samples: rays in a pixel's width.
    """
    scene = image.scene
    with np.errstate(all="ignore"):  # a model may have lengths whose squares overflow
        at, _ = start_poses(image)
        view = viewpoint(scene, at)
        found = solids(scene, at, view, thin=thin, least=thin / 5.0)
        return draw(found, view.rows, window_of(found, view, scene, size, size, 0.03), samples)
