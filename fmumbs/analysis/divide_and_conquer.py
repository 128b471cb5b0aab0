"""Which reactions are unique, by divide and conquer: the eight steps of dca-reaction-uniqueness, section 3.5.

After the main pass (assembly.py) each complete assembly is connected to the ground by one joint, whose reaction is
unique, or by several: a multijoint connection with G lambda = h,

    G = T' Phi_11 T,    h = -T' b_1                                        (22, at rest)

which one of four tools (tools.py) examines. The verdicts propagate over the handles: to the subassemblies and bodies,
across the joints, and through every body with two joints, whose reactions are both unique or both not. A body with more
joints stops the propagation; images() then decides, from the null space by back-substitution, also for components.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from fmumbs.analysis.assembly import EMPTY, Assembled, Assembly, assemble, disassemble, wrenches
from fmumbs.analysis.placed import GROUND, Array, Placed
from fmumbs.analysis.summary import listed
from fmumbs.analysis.tools import ZERO, ToolName, Verdict, examine, null_space, rank
from fmumbs.errors import ModelError

Handle = tuple[int, int]  # number of a body or an assembly, joint or EMPTY

_TITLES = {
    1: "empty handles have no reaction",
    2: "reactions between the complete assembly and the ground",
    3: "from the root to the leaves",
    4: "bodies with one joint",
    5: "from the leaves to the root",
    6: "bodies with two joints, one of them known",
    7: "from the leaves to the root",
}


@dataclass(frozen=True)
class Step:
    """One step: its number from 1 to 7, and its verdicts on the reactions at handles.

    found: (number of the body or assembly, joint's name or "" for an empty handle, unique).
    """

    number: int
    found: tuple[tuple[int, str, bool], ...]

    @property
    def title(self) -> str:
        return _TITLES[self.number]


@dataclass(frozen=True)
class Connection:
    """The connection of a complete assembly with the ground.

    joints: of its ground handles. G: (m, m), h: (m,), for the multipliers of all these joints; columns: of each joint.
    verdicts: the tool's verdict on each joint.
    """

    root: int
    joints: tuple[int, ...]
    G: Array
    h: Array
    T: Array
    columns: dict[int, list[int]]
    verdicts: dict[int, Verdict]

    @property
    def rank(self) -> int:
        scale = np.sqrt(np.diag(self.G))
        return rank(self.G / np.outer(scale, scale))


@dataclass(frozen=True, repr=False)
class DivideAndConquer:
    """The verdict of divide and conquer; print() shows a summary.

    unique: by the joint's name; None if the steps leave it undecided. steps: in the order in which they were taken.
    """

    assembled: Assembled
    connections: tuple[Connection, ...]
    steps: tuple[Step, ...]
    unique: dict[str, bool | None]
    tool: ToolName

    def __str__(self) -> str:
        ranks = ", ".join(f"{one.rank} of {len(one.G)}" for one in self.connections)
        lines = [f"divide and conquer with {self.tool}: rank {ranks} on the ground"]
        for verdict, what in ((True, "unique"), (False, "not unique"), (None, "undecided")):
            names = [name for name, unique in self.unique.items() if unique is verdict]
            lines += [f"{what}: {listed(names)}"] * bool(names)
        return "\n".join(lines)

    def __repr__(self) -> str:
        unique = sum(verdict is True for verdict in self.unique.values())
        return f"<DivideAndConquer with {self.tool}: reactions of {unique} of {len(self.unique)} joints unique>"

    @property
    def placed(self) -> Placed:
        return self.assembled.placed

    def set_of(self, names: Sequence[str]) -> Verdict:
        """The tool's verdict on ground joints together. Raises ModelError unless all belong to one connection."""
        for connection in self.connections:
            here = {self.placed.joints[joint]: columns for joint, columns in connection.columns.items()}
            if names and all(name in here for name in names):
                return examine(connection.G, [k for name in names for k in here[name]], self.tool)
        raise ModelError(
            f"{', '.join(names) or 'no joint'}: these are not joints between one assembly and the ground. "
            "Name such joints, or use the general method."
        )

    def images(self) -> dict[str, Array]:
        """(6, n) self-stresses in every joint, by name.

        (torque / length, force) of F's side on M's at M in F's axes, from the null space of G by back-substitution.
        """
        found: dict[str, Array] = {}
        for connection in self.connections:
            scale = np.sqrt(np.diag(connection.G))
            N = null_space(connection.G / np.outer(scale, scale)) / scale[:, None]
            size = np.linalg.norm(N, axis=0)
            found |= self._spread(connection, N / np.where(size > 0.0, size, 1.0), False)
        return {name: np.where(np.abs(image) < ZERO, 0.0, image) for name, image in found.items()}

    def reactions(self) -> dict[str, Array]:
        """(6,) torque [N.m] and force [N] at M in F's axes at rest, by joint; if not unique, the smallest multipliers.

        Needs own_inertias and gravity, and a mechanism without springs or loads.
        """
        found: dict[str, Array] = {}
        length = self.assembled.length
        for connection in self.connections:
            multipliers = np.asarray(np.linalg.lstsq(connection.G, connection.h, rcond=1e-10)[0], float)[:, None]
            for name, wrench in self._spread(connection, multipliers, True).items():
                found[name] = wrench[:, 0] * np.repeat([length**2, length], 3)
        return found

    def _spread(self, connection: Connection, multipliers: Array, biased: bool) -> dict[str, Array]:
        """Wrenches in all joints of a complete assembly, for columns of multipliers at the ground."""
        root, placed = self.assembled[connection.root], self.placed
        outer = np.zeros((6 * len(root.handles), multipliers.shape[1]))
        outer[root.rows(_grounded(root))] = connection.T @ multipliers
        found = disassemble(self.assembled, connection.root, outer, biased)
        for place in _grounded(root):
            joint = root.handles[place]
            sign = 1.0 if placed.F[joint] == GROUND else -1.0
            found[joint] = sign * outer[6 * place : 6 * place + 6]
        out = {}
        for joint, wrench in found.items():
            R = placed.axes[joint].T
            out[placed.joints[joint]] = np.vstack([R @ wrench[:3], R @ wrench[3:]])
        return out


def divide_and_conquer(
    placed: Placed,
    tool: ToolName = "svd",
    order: Sequence[str] = (),
    own_inertias: bool = False,
    gravity: Sequence[float] = (0.0, 0.0, 0.0),
) -> DivideAndConquer:
    """The paper's method with one numerical tool; order, own_inertias, gravity: see assemble().

    Raises ModelError if its assumptions do not hold: a loop that does not contain the ground, or a singular U.
    """
    assembled = assemble(placed, order, own_inertias, gravity)
    connections = tuple(_connect(assembled, root, tool) for root in assembled.roots)
    known = _Known(assembled)
    known.take(1, known.empty())
    known.take(2, known.grounded(connections))
    known.take(3, known.inwards())
    known.take(4, known.single())
    known.take(5, known.outwards())
    while found := known.pairs():
        known.take(6, found)
        known.take(7, known.outwards())
    unique = {name: known.of_joint(joint) for joint, name in enumerate(placed.joints)}
    return DivideAndConquer(assembled, connections, tuple(known.steps), unique, tool)


def _grounded(root: Assembly) -> list[int]:
    """Indices of the handles that are not empty; for a complete assembly, those at the ground."""
    return [place for place, joint in enumerate(root.handles) if joint != EMPTY]


def _connect(assembled: Assembled, number: int, tool: ToolName) -> Connection:
    """G and h of a complete assembly, and the tool's verdict on each joint; a single joint needs no tool."""
    root, placed = assembled[number], assembled.placed
    places = _grounded(root)
    blocks = [wrenches(placed, root.handles[place], assembled.length) for place in places]
    sizes = [block.shape[1] for block in blocks]
    ends = np.cumsum([0, *sizes]).tolist()
    T = np.zeros((6 * len(places), ends[-1]))
    for k, block in enumerate(blocks):
        T[6 * k : 6 * k + 6, ends[k] : ends[k + 1]] = block
    rows = root.rows(places)
    G = T.T @ root.Phi[np.ix_(rows, rows)] @ T
    joints = tuple(root.handles[place] for place in places)
    columns = {joint: list(range(ends[k], ends[k + 1])) for k, joint in enumerate(joints)}
    verdicts = {joint: examine(G, columns[joint], tool) for joint in joints if len(joints) > 1}
    return Connection(number, joints, (G + G.T) / 2, -T.T @ root.b[rows], T, columns, verdicts)


@dataclass
class _Known:
    """The verdicts on the handles of bodies and assemblies so far, and the steps that found them."""

    assembled: Assembled
    unique: dict[Handle, bool] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    def take(self, number: int, found: dict[Handle, bool]) -> None:
        """Adds the verdicts of a step."""
        self.unique |= found
        names = self.assembled.placed.joints
        verdicts = tuple((at, "" if j == EMPTY else names[j], verdict) for (at, j), verdict in found.items())
        self.steps.append(Step(number, verdicts))

    def of_joint(self, joint: int) -> bool | None:
        sides = [body.number for body in self.assembled.leaves() if joint in body.handles]
        return next((self.unique[side, joint] for side in sides if (side, joint) in self.unique), None)

    def _handles(self) -> Iterator[Handle]:
        for assembly in self.assembled.each:
            for joint in assembly.handles:
                yield assembly.number, joint

    def empty(self) -> dict[Handle, bool]:
        return {handle: True for handle in self._handles() if handle[1] == EMPTY}

    def grounded(self, connections: Sequence[Connection]) -> dict[Handle, bool]:
        return {
            (connection.root, joint): connection.verdicts[joint].unique if joint in connection.verdicts else True
            for connection in connections
            for joint in connection.joints
        }

    def inwards(self) -> dict[Handle, bool]:
        """Passes verdicts on to the parts of an assembly, which share its handles."""
        found: dict[Handle, bool] = {}
        for assembly in reversed(self.assembled.each):
            for number in assembly.parts or ():
                for joint in self.assembled[number].handles:
                    above = assembly.number, joint
                    verdict = self.unique.get(above, found.get(above))
                    if verdict is not None and (number, joint) not in self.unique:
                        found[number, joint] = verdict
        return found

    def single(self) -> dict[Handle, bool]:
        found = {}
        for body in self.assembled.leaves():
            joints = [joint for joint in body.handles if joint != EMPTY]
            if len(joints) == 1 and (body.number, joints[0]) not in self.unique:
                found[body.number, joints[0]] = True
        return found

    def outwards(self) -> dict[Handle, bool]:
        """Passes verdicts on to the neighbour at the same joint, and to every assembly with that handle."""
        known = {joint: self.of_joint(joint) for joint in range(len(self.assembled.placed.joints))}
        found: dict[Handle, bool] = {}
        for handle in self._handles():
            verdict = known.get(handle[1])
            if verdict is not None and handle not in self.unique:
                found[handle] = verdict
        return found

    def pairs(self) -> dict[Handle, bool]:
        """For bodies with two joints, one of them decided: the other has the same verdict (Eqs 9 to 14)."""
        found: dict[Handle, bool] = {}
        for body in self.assembled.leaves():
            joints = [joint for joint in body.handles if joint != EMPTY]
            verdicts = [self.unique.get((body.number, joint)) for joint in joints]
            if len(joints) == 2 and verdicts.count(None) == 1:
                open_one = joints[verdicts.index(None)]
                found[body.number, open_one] = next(verdict for verdict in verdicts if verdict is not None)
        return found
