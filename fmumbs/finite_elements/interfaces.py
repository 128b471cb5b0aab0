"""Interfaces: the nodes at which something is attached, and their common motion x = (translation, rotation).

    rigid: all its nodes move as one rigid body, u_i = x_t + x_r x (r_i - r);
    averaged: x is that rigid motion from which the nodes deviate least, sum of w_i |u_i - x_t - x_r x (r_i - r)|^2,
    and a wrench at the interface is distributed over the nodes by the same weights; none of them is tied.

One node of six freedoms is rigid. One of three moves by itself, and turns with the average of the nodes around it, to
which K couples it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.finite_elements.matrices import FiniteElements, rigid_motions
from fmumbs.spatial import Rotation, Transform

Array = NDArray[np.float64]
Sparse = Any

TIES = ("rigid", "averaged")
_FLAT = 1e-6  # nodes lie on one line: their extent across it is below this part of that along it


@dataclass(frozen=True)
class Interface:
    """Where something is attached to finite elements: it becomes a point of the body, with a frame.

    nodes: the number of a node, from 0, or several. weights: of each node, by default all the same; for a tie that
        averages. tie: "rigid", by which the nodes move as one rigid body, or "averaged", by which the point follows
        their mean motion and they stay free.
    at: the point's place [m]; by default the node, or the weighted mean of the nodes. axes: of its frame, a Rotation;
        by default those of the mesh.

    Raises ModelError for weights that are not positive or not one for each node.
    """

    nodes: Any
    weights: Any = None
    tie: str = "rigid"
    at: Any = None
    axes: Rotation = field(default_factory=Rotation.identity)

    def __post_init__(self) -> None:
        given = (self.nodes,) if np.ndim(self.nodes) == 0 else self.nodes
        listed = _checks.items(given, "Interface: nodes", "Give numbers of nodes, from 0.")
        nodes = tuple(_checks.whole(k, "Interface: a node", 0) for k in listed)
        if not nodes:
            raise ModelError("Interface: nodes is empty. Give the number of a node, from 0, or several.")
        if len(set(nodes)) < len(nodes):
            twice = next(k for k in nodes if nodes.count(k) > 1)
            raise ModelError(f"Interface: node {twice} stands twice in nodes. Give each node once.")
        _checks.choice(self.tie, TIES, "Interface: tie")
        weights = (1.0,) * len(nodes)
        if self.weights is not None:
            weights = _checks.numbers(self.weights, len(nodes), "Interface: weights")
            if self.tie == "rigid" and len(set(weights)) > 1:
                raise ModelError(
                    "Interface: weights have no meaning for a rigid tie. Give tie='averaged', or no weights."
                )
        weights = tuple(
            _checks.positive(w, f"Interface: weight of node {k}") for k, w in zip(nodes, weights, strict=True)
        )
        at = None if self.at is None else _checks.vector(self.at, "Interface: at")
        for name, value in (("nodes", nodes), ("weights", weights), ("at", at)):
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Tie:
    """An interface of given finite elements. frame: of its point. rows: (6, freedoms) sparse; x = rows u, in the axes
    of the mesh. tied: nodes that move rigidly with it. nodes, weights: with which it turns; carrier: the place whose
    translation it has.
    """

    name: str
    frame: Transform
    rows: Sparse
    tied: tuple[int, ...]
    nodes: tuple[int, ...]
    weights: tuple[float, ...]
    carrier: Array


def interfaces_of(given: object, what: str) -> dict[str, Interface]:
    """Interfaces by name, from nodes, lists of them, {node: weight} and Interfaces."""
    found = _checks.mapping(given, what, "Give {name: node}, {name: [nodes]} or {name: fm.Interface(...)}.")
    made = {}
    for name, one in found.items():
        try:
            if isinstance(one, Mapping):
                one = Interface(tuple(one), tuple(one.values()), "averaged")
            made[name] = one if isinstance(one, Interface) else Interface(one)
        except ModelError as error:
            raise ModelError(f"{what}: '{name}': {error}") from None
    return made


def ties(interfaces: Mapping[str, Interface], fe: FiniteElements) -> list[Tie]:
    """Raises ModelError for interfaces that share nodes or whose nodes do not turn together."""
    owners: dict[int, str] = {}
    for name, interface in interfaces.items():
        for node in interface.nodes:
            if node in owners:
                raise ModelError(
                    f"{fe.where}: interfaces '{owners[node]}' and '{name}' overlap: both have node {node}. "
                    "Give each node to one of them."
                )
            owners[node] = name
    return [tie_of(name, interface, fe) for name, interface in interfaces.items()]


def tie_of(name: str, interface: Interface, fe: FiniteElements) -> Tie:
    """The point of an interface, and how it moves with the nodes."""
    nodes, weights = np.array(interface.nodes), np.array(interface.weights)
    if nodes.max() >= len(fe.nodes):
        raise ModelError(
            f"{fe.where}: '{name}' has node {nodes.max()}, but nodes are numbered from 0 to {len(fe.nodes) - 1}. "
            "Give another."
        )
    at = np.average(fe.nodes[nodes], axis=0, weights=weights)
    if interface.at is not None:
        at = np.array(interface.at)
    frame = Transform(interface.axes, at)
    if len(nodes) == 1 and fe.each == 6:
        only = (int(nodes[0]),)
        return Tie(name, frame, _selected(only[0], at, fe), only, only, (1.0,), fe.nodes[only[0]])
    if len(nodes) == 1:
        around = _neighbours(int(nodes[0]), fe)
        alike = np.ones(len(around))
        turning = _averaged(around, alike, at, fe, f"the nodes around node {nodes[0]}", name)
        rows, place = _point(int(nodes[0]), turning, at, fe), fe.nodes[nodes[0]]
        return Tie(name, frame, rows, (), tuple(around.tolist()), tuple(alike.tolist()), place)
    rows = _averaged(nodes, weights, at, fe, "its nodes", name)
    centre = np.average(fe.nodes[nodes], axis=0, weights=weights)
    tied = tuple(nodes.tolist()) if interface.tie == "rigid" else ()
    return Tie(name, frame, rows, tied, interface.nodes, interface.weights, centre)


def _neighbours(node: int, fe: FiniteElements) -> Array:
    columns = fe.K[[3 * node, 3 * node + 1, 3 * node + 2]].indices
    return np.unique(np.append(columns // 3, node))


def _averaged(nodes: Array, weights: Array, at: Array, fe: FiniteElements, what: str, name: str) -> Sparse:
    """The weighted least squares of all freedoms: (6, freedoms). Rotations of nodes follow from their places."""
    from scipy import sparse

    arms = fe.nodes[nodes] - np.average(fe.nodes[nodes], axis=0, weights=weights)
    extents = np.linalg.svd(np.sqrt(weights)[:, None] * arms, compute_uv=False)
    on_a_line = len(nodes) < 2 or extents[1] <= _FLAT * extents[0]
    if on_a_line and fe.each == 3:
        raise ModelError(
            f"{fe.where}: interface '{name}': {what} lie on one line, about which nothing says how it turns. "
            "Give three nodes or more that do not."
        )
    size = float(extents[0]) if extents[0] > 0.0 else 1.0
    flat = rigid_motions(fe.nodes[nodes] - at, fe.each)  # u = flat x
    counted = np.repeat(weights, fe.each).reshape(len(nodes), fe.each)
    counted[:, 3:] *= size**2 / len(nodes)
    scaled = flat * np.array([1.0, 1.0, 1.0, 1.0 / size, 1.0 / size, 1.0 / size])
    normal = scaled.T @ (counted.reshape(-1, 1) * scaled)
    dense = np.linalg.solve(normal, scaled.T * counted.reshape(-1))
    dense[3:] /= size
    columns = (fe.each * np.asarray(nodes)[:, None] + np.arange(fe.each)).reshape(-1)
    count = len(columns)
    indices = (np.repeat(np.arange(6), count), np.tile(columns, 6))
    return sparse.csr_array((dense.reshape(-1), indices), shape=(6, fe.K.shape[0]))


def _selected(node: int, at: Array, fe: FiniteElements) -> Sparse:
    """A node of six freedoms, seen at a place."""
    from scipy import sparse

    dense = rigid_motions(at - fe.nodes[node], 6)
    rows, columns = np.nonzero(dense)
    return sparse.csr_array((dense[rows, columns], (rows, 6 * node + columns)), shape=(6, fe.K.shape[0]))


def _point(node: int, turning: Sparse, at: Array, fe: FiniteElements) -> Sparse:
    """The translation of a node of three freedoms, with a rotation from elsewhere."""
    from scipy import sparse

    moves = sparse.csr_array((np.ones(3), (np.arange(3), 3 * node + np.arange(3))), shape=(3, fe.K.shape[0]))
    turns = turning[3:]
    arm = sparse.csr_array(rigid_motions(at - fe.nodes[node], 3)[:, 3:])
    return sparse.csr_array(sparse.vstack([moves + arm @ turns, turns]))
