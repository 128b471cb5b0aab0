"""What a variable follows: the inputs that act on it at once, the variable whose rate it is, a loop that it is in.

Positions and velocities are states, and follow no input at once; accelerations and forces follow all inputs of
their mechanism. Trees that hang on the ground by themselves do not act on one another at once, unless a joint
closes a loop between them; a spring acts by positions and velocities alone, unless a force law is on it, which may
hold its length. The acceleration of an excited mode follows its own input at most.
"""

from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.kinds import BODY, COUPLING, JOINT, LOAD, POINT, SPRING, kind_columns, kinds, kinds_called
from fmumbs.compiler.layout import Arrays

References = NDArray[np.int64]

_DERIVATIVES = {
    (JOINT, "qd"): "q", (JOINT, "qdd"): "qd", (JOINT, "alpha"): "w", (JOINT, "v"): "r", (JOINT, "a"): "v",
    (JOINT, "udot"): "u", (JOINT, "kappa"): "eta", (JOINT, "kappa_dot"): "kappa",
    (BODY, "qd"): "q", (BODY, "qdd"): "qd",
    (BODY, "v"): "r", (BODY, "a"): "v", (BODY, "alpha"): "w", (POINT, "v"): "r", (POINT, "a"): "v",
}  # fmt: skip
_FOLLOWING = {
    JOINT: {
        "qdd", "alpha", "a", "udot", "kappa_dot", "drive", "reaction.f", "reaction.t", "wrench.f", "wrench.t",
    },
    COUPLING: {"tau"},
    BODY: {"a", "alpha", "qdd"},
    POINT: {"a"},
}  # fmt: skip


@cache
def antiderivatives() -> NDArray[np.int64]:
    """(kinds,) the kind whose time derivative each is, -1 for none."""
    found = np.full(len(kinds()), -1)
    for (owner, suffix), of in _DERIVATIVES.items():
        (source,) = (kind for kind in kinds_called(owner, of) if not kind.quaternion and kind.causality == "output")
        found[[k.index for k in kinds_called(owner, suffix) if k.causality == "output"]] = source.index
    return found


@cache
def _follow() -> NDArray[np.bool_]:
    """(kinds,) whether inputs act on it at once."""
    return np.array([kind.suffix in _FOLLOWING.get(kind.owner, ()) for kind in kinds()])


def joints_in_loops(arrays: Arrays) -> NDArray[np.bool_]:
    """(joints,) whether a loop decides where a joint starts: those between its ends, and coupled ones.

    What is held stays.
    """
    found = np.zeros(len(arrays["joint_name"]), bool)
    found[arrays["link_joint"][_links_in_loops(arrays)]] = True
    found[arrays["link_joint"][arrays["term_link"]]] = True
    found[arrays["joint_held"] != 0] = False
    return found


def bodies_in_loops(arrays: Arrays) -> NDArray[np.bool_]:
    """(bodies,) whether a loop decides how a flexible body is bent at the start: those between the loop's ends."""
    found = np.zeros(len(arrays["body_link"]), bool)
    modal = arrays["link_modal"][_links_in_loops(arrays)]
    found[np.isin(arrays["body_link"], arrays["modal_link"][modal[modal >= 0]])] = True
    return found


def _links_in_loops(arrays: Arrays) -> NDArray[np.bool_]:
    """(links,) whether each lies between the ends of a loop."""
    cut = arrays["joint_first"] < 0
    parent = arrays["link_parent"].tolist()
    found = np.zeros(len(parent), bool)
    for one, other in zip(arrays["joint_F_link"][cut].tolist(), arrays["joint_M_link"][cut].tolist(), strict=True):
        ends = [one, other]
        while ends[0] != ends[1]:  # a link's parent comes before it
            ends.sort()
            found[ends[1]] = True
            ends[1] = parent[ends[1]]
    return found


class Dependencies:
    """The inputs that each output of an image follows at once."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._kind = arrays["variable_kind"]
        self._object = arrays["variable_object"]

    def of(self, indices: References) -> list[tuple[int, ...] | None]:
        """For each of (n,) outputs its inputs' value references: None for all there are, () for none."""
        following = _follow()[self._kind[indices]] | self._held(indices)
        roots = np.full(len(indices), -1)
        roots[following] = self._roots_of(indices[following])
        everything = sum(len(members) for members in self._inputs.values())
        found: list[tuple[int, ...] | None] = []
        excited = self._excited_inputs(indices)
        for i, (follows, root) in enumerate(zip(following.tolist(), roots.tolist(), strict=True)):
            mine = excited[i] if i in excited else self._inputs.get(root, ()) if follows else ()
            found.append(None if mine and len(mine) == everything else mine)
        return found

    def _excited_inputs(self, indices: References) -> dict[int, tuple[int, ...]]:
        """Of (n,) variables those that are accelerations of excited modes: the mode's own input, or none of a path."""
        (kind,) = (k for k in kinds_called(JOINT, "kappa_dot") if k.causality == "output")
        inputs = [k.index for s in ("eta_in", "kappa_dot") for k in kinds_called(JOINT, s) if k.causality == "input"]
        chosen = np.flatnonzero(self._kind[indices] == kind.index)
        if not len(chosen):
            return {}
        excitation = self._arrays["joint_excitation"]
        component = np.maximum(self._arrays["variable_component"], 0)
        own = {
            int(excitation[self._object[i]] + component[i]): int(i)
            for i in np.flatnonzero(np.isin(self._kind, inputs)).tolist()
        }
        modes = (excitation[self._object[indices[chosen]]] + component[indices[chosen]]).tolist()
        return {i: (own[mode],) if mode in own else () for i, mode in zip(chosen.tolist(), modes, strict=True)}

    def _held(self, indices: References) -> NDArray[np.bool_]:
        """(n,) whether each is the force of a spring with a force law."""
        (force,) = kinds_called(SPRING, "f")
        found: NDArray[np.bool_] = self._kind[indices] == force.index
        found[found] = np.isin(self._object[indices[found]], self._arrays["law_spring"])
        return found

    @cached_property
    def _inputs(self) -> dict[int, tuple[int, ...]]:
        """The inputs of each mechanism that hangs on the ground by itself, by the root of its first tree."""
        indices = np.flatnonzero(kind_columns().input[self._kind])
        found: dict[int, list[int]] = {}
        for index, root in zip(indices.tolist(), self._roots_of(indices).tolist(), strict=True):
            found.setdefault(root, []).append(index)
        return {root: tuple(members) for root, members in found.items()}

    def _roots_of(self, indices: References) -> NDArray[np.int64]:
        """(n,) root of the mechanism that a joint's, body's, point's or load's variable belongs to, -1: ground."""
        arrays = self._arrays
        owners = kind_columns().owner[self._kind[indices]]
        carriers = {
            JOINT: np.maximum(arrays["joint_F_link"], arrays["joint_M_link"]),
            BODY: arrays["body_link"],
            POINT: arrays["point_link"],
            COUPLING: arrays["term_link"][arrays["coupling_first"]],
            LOAD: arrays["point_link"][arrays["load_point"]],
            SPRING: np.maximum(*self._spring_links),
        }
        links = np.full(len(indices), -1)
        for owner, carrier in carriers.items():
            mine = owners == owner
            links[mine] = carrier[self._object[indices[mine]]]
        roots: NDArray[np.int64] = self._roots[links]
        return roots

    @cached_property
    def _roots(self) -> NDArray[np.int64]:
        """(links + 1,) the root of each link's mechanism; the last, which -1 refers to, is the ground's."""
        found: list[int] = []
        for link, parent in enumerate(self._arrays["link_parent"].tolist()):
            found.append(link if parent < 0 else found[parent])
        roots = np.array([*found, -1])
        springs = np.unique(self._arrays["law_spring"][self._arrays["law_spring"] >= 0])
        P, Q = self._spring_links
        firsts = np.append(self._arrays["joint_F_link"], P[springs])
        for ends in zip(firsts, np.append(self._arrays["joint_M_link"], Q[springs]), strict=True):
            _join(roots, list(ends))
        for first, count in zip(self._arrays["coupling_first"], self._arrays["coupling_count"], strict=True):
            _join(roots, self._arrays["term_link"][first : first + count])
        return roots

    @cached_property
    def _spring_links(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(springs,) links of the points P and Q."""
        links = self._arrays["point_link"]
        return links[self._arrays["spring_P"]], links[self._arrays["spring_Q"]]


def _join(roots: NDArray[np.int64], links: Any) -> None:
    """Links of several mechanisms make one of them."""
    found = sorted(root for root in set(roots[links].tolist()) if root >= 0)
    for other in found[1:]:
        roots[roots == other] = found[0]
