"""Where the modes of flexible bodies are not enough: too few for a load, or without the stiffness that tension gives.

Of a beam whose modes have the stiffness k_j, a force f at a point does the work (f . phi_j)^2 / k_j in mode j: the part
of all modes that the body's own do is the part of the static deflection that they have.

Without displacements of second order the stiffness is constant. In the plane of rotation it is a tenth off, and
deflections too, at w1 / sqrt(10), w1 the first frequency; and along the beam at a tenth of the thrust that would buckle
it, with K v = P G v and G by the second-order motion of its tip (mechanism/second_order.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fmumbs.mechanism import ModalBody, Model, Point
from fmumbs.mechanism.bending import Bending, of_ends

Array = NDArray[np.float64]

MATTERS = 0.1
"""Of the stiffness, and of a deflection: what is left out is told from here on."""

_MORE = 40  # modes: of the work of a force at the free end of a beam, those above leave out 1e-6


@dataclass(frozen=True)
class Unstiffened:
    """From which angular speed [rad/s] and thrust [N] geometric stiffness is a tenth of a body's; None: unknown."""

    body: str
    speed: float
    load: float | None


def unstiffened(model: Model) -> tuple[Unstiffened, ...]:
    """The flexible bodies without geometric stiffness."""
    found = [body for body in model.bodies if isinstance(body, ModalBody) and not body.stiffening]
    return tuple(
        Unstiffened(body.name, float(body.frequencies[0]) * MATTERS**0.5, _thrust(body)) for body in found
    )


def _thrust(body: ModalBody) -> float | None:
    """A tenth of the thrust at the tip of a beam that buckles it; None where it is not known, or none does."""
    if body.bending is None:
        return None
    tip = next(frame for frame in body.points if frame.name == "tip")
    seconds = replace(body, stiffening=True).seconds([Point(body, tip.X_BP)])
    if seconds is None:
        return None
    along = seconds.rows[0, :, :3] @ -np.array(body.bending.axis)
    G, K = np.einsum("a,ajk->jk", along, seconds.followers), np.array(body.stiffness)
    root = np.linalg.inv(np.linalg.cholesky(K))
    largest = float(np.linalg.eigvalsh(root @ G @ root.T)[-1])  # 1 / P
    return MATTERS / largest if largest > 1e-12 * float(np.abs(root @ root.T).max()) else None


def too_few_modes(model: Model) -> Iterator[str]:
    """Warnings of beams that have too few modes for forces across them where joints, springs and loads act."""
    ends = [end for joint in model.joints for end in joint.ends] + [end for force in model.forces for end in force.ends]
    told = set()
    for end in ends:
        if not isinstance(end.body, ModalBody) or end.body.bending is None:
            continue
        part, x = _kept(end.body, end)
        if part < 1.0 - MATTERS and (end.body.name, x) not in told:
            told.add((end.body.name, x))
            yield (
                f"ModalBody '{end.body.name}': its modes have {100 * part:.0f} % of the deflection by a force {x:g} m "
                "along it, where something acts. Give more modes=, or another boundary=."
            )


def _kept(body: ModalBody, point: Point) -> tuple[float, float]:
    """The part of the static deflection by a force across a beam that its modes have, and where along it [m]."""
    assert body.bending is not None
    beam = body.bending
    x = float(np.dot(beam.axis, point.X_BP.offset))
    s = min(max(x / beam.length, 0.0), 1.0)
    across = {mode.slide for mode in beam.modes if isinstance(mode.shape, Bending)}
    least = 1.0
    for slide in across:
        own = [m.shape for m in beam.modes if isinstance(m.shape, Bending) and m.slide == slide]
        every = of_ends(len(own) + _MORE, own[0])
        work = np.array([one.derivative(0, s) ** 2 / one.b**4 / one.square for one in every])
        whole = float(work.sum())
        if whole > 1e-9 / min(one.b for one in own) ** 4:
            least = min(least, float(work[: len(own)].sum()) / whole)
    return least, x
