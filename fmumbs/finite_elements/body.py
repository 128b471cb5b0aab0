"""Finite elements with interfaces, as the arguments of a ModalBody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs._limits import MOST_MODES
from fmumbs.errors import ModelError
from fmumbs.finite_elements.integrals import integrals
from fmumbs.finite_elements.interfaces import Interface, interfaces_of, tie_of, ties
from fmumbs.finite_elements.matrices import FiniteElements, finite_elements
from fmumbs.finite_elements.reduction import METHODS, reduced
from fmumbs.finite_elements.skin import Skin
from fmumbs.finite_elements.stiffening import Elements, of_matrices, of_solid

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rayleigh:
    """Damping proportional to mass [1/s] and stiffness [s]: a mode at w has the ratio (mass / w + stiffness w) / 2."""

    mass: float
    stiffness: float

    def __post_init__(self) -> None:
        for name in ("mass", "stiffness"):
            object.__setattr__(self, name, _checks.not_negative(getattr(self, name), f"Rayleigh: {name}"))

    def __call__(self, frequency: float) -> float:
        """The ratio at an angular frequency [rad/s]."""
        return (self.mass / frequency + self.stiffness * frequency) / 2.0


def reduce(
    where: str,
    K: object,
    M: object,
    nodes: object,
    interfaces: object,
    modes: int | None,
    highest: float | None,
    damping: object,
    method: str,
    frame: str | None,
    points: object,
    skin: object = None,
    elements: Elements | None = None,
    recovered: Mapping[str, Any] | None = None,
    loads: object = (),
) -> dict[str, Any]:
    """What ModalBody() takes; arguments as of ModalBody.from_matrices, whose name is `where` in messages; elements,
    or loads: by which the body stiffens; recovered: the stress at nodes (solid.py).
    """
    fe = finite_elements(K, M, nodes, where)
    named = interfaces_of(interfaces, f"{where}: interfaces")
    seen = interfaces_of(points, f"{where}: points")
    for name in seen:
        if name in named:
            raise ModelError(f"{where}: '{name}' is both an interface and a point. Give each its own name.")
    _checks.choice(method, METHODS, f"{where}: method")
    if frame is not None and frame not in named:
        what = f"{where}: frame is {_checks.shown(frame)}, which is no interface"
        raise ModelError(f"{what}. {_checks.nearest(str(frame), named)}")
    count, most = _asked(modes, highest, where)
    attached = ties(named, fe)
    found = reduced(fe, attached, count, most, method, None if frame is None else list(named).index(frame))
    n = found.shapes.shape[1]
    if n > MOST_MODES:
        raise ModelError(
            f"{where} has {n} modes, {found.kinds.count('interface')} of them of its interfaces, but may have "
            f"{MOST_MODES}. Take fewer modes or interfaces."
        )
    over = integrals(fe, found.shapes)
    ratios = _ratios(damping, np.sqrt(found.squares), where)
    all_points = [*attached, *(tie_of(name, one, fe) for name, one in seen.items())]
    seconds = None
    loaded = _checks.items(loads, f"{where}: stiffening", "Give a list of fm.Loaded.")
    if elements is not None or loaded:
        turns = [np.linalg.norm(np.asarray(tie.rows @ found.shapes)[3:], axis=0) for tie in all_points]
        sizes = np.max([np.full(n, 1.0 / fe.length), *turns], axis=0)
        at = None if frame is None else list(named).index(frame)
        given = (found.shapes, found.answer, all_points, at, sizes)
        seconds = of_matrices(fe, loaded, *given) if elements is None else of_solid(fe, elements, *given)
    return {
        "mass": fe.mass,
        "com": fe.com,
        "inertia": fe.inertia,
        "points": {tie.name: tie.frame for tie in all_points},
        "shapes": {tie.name: (tie.rows @ found.shapes).T for tie in all_points},
        "stiffness": found.squares * over.modal,
        "damping": 2.0 * ratios * np.sqrt(found.squares) * over.modal,
        "shape_mass": over.first,
        "shape_moment": over.moment,
        "shape_product": over.product,
        "modal_mass": over.modal,
        "kinds": found.kinds,
        "second_order": seconds,
        "stresses": {name: (rows @ found.shapes).T for name, rows in (recovered or {}).items()},
        "skin": None if skin is None else _skin(fe, skin, found.shapes),
    }


def _skin(fe: FiniteElements, given: object, shapes: Array) -> Skin:
    """Triangles of nodes, with what the modes move them."""
    faces = _checks.array(given, f"{fe.where}: skin")
    if faces.ndim != 2 or faces.shape[1] != 3 or not len(faces) or not (faces == np.floor(faces)).all():
        what = f"{fe.where}: skin has the shape {faces.shape}, but must be (triangles, 3) numbers of nodes"
        raise ModelError(f"{what}. Give the surface of the mesh.")
    if faces.min() < 0 or faces.max() >= len(fe.nodes):
        what = f"{fe.where}: skin has node {faces.max():g}, but nodes are numbered from 0 to {len(fe.nodes) - 1}"
        raise ModelError(f"{what}. Subtract 1 from numbers that start at 1.")
    used, triangles = np.unique(faces.astype(int), return_inverse=True)
    moves = shapes.reshape(len(fe.nodes), fe.each, -1)[used, :3].transpose(2, 0, 1)
    return Skin(fe.nodes[used], triangles.reshape(-1, 3), moves)


def renumbered(given: object, kept: Any, what: str) -> dict[str, Interface]:
    """Interfaces whose nodes are counted among those that are kept."""
    found = interfaces_of(given, what)
    place = {int(node): k for k, node in enumerate(kept)}
    for name, one in found.items():
        for node in one.nodes:
            if node not in place:
                raise ModelError(f"{what}: '{name}' has node {node}, which no element has. Give another.")
        found[name] = replace(one, nodes=tuple(place[node] for node in one.nodes))
    return found


def _asked(modes: object, highest: object, where: str) -> tuple[int, float]:
    """How many normal modes at most, and up to which frequency."""
    if modes is None and highest is None:
        raise ModelError(f"{where}: neither modes nor highest is given. Give modes=10, or highest= in rad/s.")
    count = MOST_MODES if modes is None else _checks.whole(modes, f"{where}: modes", 0, MOST_MODES)
    return count, np.inf if highest is None else _checks.positive(highest, f"{where}: highest")


def _ratios(damping: Any, frequencies: Array, where: str) -> Array:
    what = f"{where}: damping"
    if callable(damping):
        return np.array([_checks.not_negative(damping(w), f"{what} at {w:g} rad/s") for w in frequencies.tolist()])
    if isinstance(damping, Sequence | np.ndarray) and np.ndim(damping):
        return np.array([_checks.not_negative(r, what) for r in _checks.numbers(damping, len(frequencies), what)])
    return np.full(len(frequencies), _checks.not_negative(damping, what))
