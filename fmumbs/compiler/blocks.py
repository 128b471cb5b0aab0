"""The graph of bodies and of what passes forces between them, and its blocks: the paths of forces to the ground.

Vertices are the bodies and the ground; edges are joints, and springs with a force law, which may hold their length. A
block is a maximal part that no single body separates. A force on a body is passed to the ground through the blocks on
the way there, and strains no other block; what two bodies of one rigid block put on each other stays in it. A coupling
puts equal and opposite torques on the bodies of each of its joints: what strains the block of one strains those of all.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.layout import Arrays, lib

Ends = tuple[int, int]


class Graph:
    """Bodies by number, the ground as the number of bodies, and between them the edges: joints come first."""

    def __init__(self, arrays: Arrays) -> None:
        self.ground = len(arrays["body_link"])
        self.body_of = bodies_of_links(arrays)
        ends = (self.body_of[arrays[f"joint_{end}_link"]].tolist() for end in "FM")
        self.joints: list[Ends] = list(zip(*ends, strict=True))
        springs = sorted({i for i in arrays["law_spring"].tolist() if i >= 0})
        lines = (self.body_of[arrays["point_link"][arrays[f"spring_{end}"][springs]]].tolist() for end in "PQ")
        self.lines: list[Ends] = [*zip(*lines, strict=True), *self._programmed_lengths(arrays)]
        terms: list[int] = arrays["link_joint"][arrays["term_link"]].tolist()
        counts = zip(arrays["coupling_first"].tolist(), arrays["coupling_count"].tolist(), strict=True)
        self.coupled = [list(range(first, first + count)) for first, count in counts]  # terms by coupling
        self.joint_of_term = terms

    def _programmed_lengths(self, arrays: Arrays) -> Iterator[Ends]:
        """The target of each program for a distance, and the bodies at its ends."""
        rows = np.flatnonzero((arrays["row_kind"] == lib.FM_ROW_DISTANCE) & (arrays["row_excitation"] >= 0))
        drives = arrays["excitation_joint"][arrays["row_excitation"][rows]]
        for follower, drive in zip(arrays["row_joint"][rows].tolist(), drives.tolist(), strict=True):
            yield from ((self.joints[drive][1], end) for end in self.joints[follower])

    def parts(self, moving: NDArray[np.bool_], tied: NDArray[np.bool_]) -> NDArray[np.int64]:
        """(bodies + 1,) number of the part of the mechanism that each body moves with, -1: it does not.

        moving: (bodies,), whether each moves; those that do not separate the others. tied: (terms,) of couplings,
        whether the coordinate moves.
        """
        root = list(range(self.ground))

        def find(body: int) -> int:
            while root[body] != body:
                root[body] = root[root[body]]
                body = root[body]
            return body

        coupled = ([t for t in terms if tied[t]] for terms in self.coupled)
        for ends in (*self.joints, *self.lines, *(self._ends(terms) for terms in coupled)):
            first, *others = [find(body) for body in ends if body < self.ground and moving[body]] or [0]
            for other in others:
                root[find(other)] = find(first)
        found = np.full(self.ground + 1, -1)
        found[:-1] = [find(body) if moves else -1 for body, moves in enumerate(moving.tolist())]
        return found

    def _ends(self, terms: list[int]) -> list[int]:
        return [body for term in terms for body in self.joints[self.joint_of_term[term]]]


def bodies_of_links(arrays: Arrays) -> NDArray[np.int64]:
    """(links + 1,) the body that each link is or is fixed to, the last being the ground's; -1 within a joint."""
    found = np.full(len(arrays["link_joint"]) + 1, -1)
    found[arrays["body_link"]] = np.arange(len(arrays["body_link"]))
    found[-1] = len(arrays["body_link"])
    found[arrays["link_parent"][arrays["modal_link"]]] = found[arrays["modal_link"]]
    found[arrays["frame_link"]] = found[arrays["modal_link"][arrays["link_modal"][arrays["frame_link"]]]]
    return found


class Blocks:
    """The blocks of a graph.

    of_joint: number of each joint's block. up: by body, the block through which forces go from it to the ground.
    """

    def __init__(self, graph: Graph) -> None:
        edges = [*graph.joints, *graph.lines]
        self.of_edge = [-1] * len(edges)
        self.up = [-1] * (graph.ground + 1)
        self._head: list[int] = []  # by block, its body that is nearest to the ground
        self._find(edges, graph.ground)
        self.of_joint = self.of_edge[: len(graph.joints)]
        self._tied: dict[int, set[int]] = {}
        for terms in graph.coupled:
            blocks = {self.of_joint[graph.joint_of_term[term]] for term in terms}
            whole = {one for block in blocks for one in self._tied.get(block, {block})}
            self._tied |= dict.fromkeys(whole, whole)

    def way(self, body: int) -> Iterator[int]:
        """The blocks from a body to the ground."""
        while self.up[body] >= 0:
            block = self.up[body]
            yield block
            body = self._head[block]

    def shared(self, strained: dict[int, set[int]]) -> dict[int, set[int]]:
        """By block, what strains it or another that couplings tie to it; `strained`: by block, what does by itself."""
        found = dict(strained)
        for blocks in {id(blocks): blocks for blocks in self._tied.values()}.values():
            everything = {one for block in blocks for one in strained.get(block, ())}
            found |= dict.fromkeys(blocks, everything)
        return found

    def _find(self, edges: list[Ends], ground: int) -> None:
        """Depth first from the ground (Hopcroft and Tarjan 1973): an edge's block ends where nothing leads back."""
        around: list[list[int]] = [[] for _ in range(ground + 1)]
        for number, ends in enumerate(edges):
            for end in {*ends}:
                around[end].append(number)
        depth, low = [-1] * (ground + 1), [0] * (ground + 1)
        depth[ground] = 0
        open_edges: list[int] = []
        path = [(ground, -1, iter(around[ground]))]
        seen = [False] * len(edges)
        while path:
            body, came, rest = path[-1]
            number = next(rest, -1)
            if number < 0:
                path.pop()
                if path:
                    before = path[-1][0]
                    low[before] = min(low[before], low[body])
                    if low[body] >= depth[before]:
                        self._close(edges, open_edges, came, before)
                continue
            if seen[number]:
                continue
            seen[number] = True
            open_edges.append(number)
            one, other = edges[number]
            to = other if one == body else one
            if depth[to] < 0:
                depth[to] = low[to] = depth[body] + 1
                path.append((to, number, iter(around[to])))
            else:
                low[body] = min(low[body], depth[to])

    def _close(self, edges: list[Ends], open_edges: list[int], first: int, head: int) -> None:
        block = len(self._head)
        self._head.append(head)
        while True:
            number = open_edges.pop()
            self.of_edge[number] = block
            for body in edges[number]:
                if body != head:
                    self.up[body] = block
            if number == first:
                return
