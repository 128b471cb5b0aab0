"""The structure of a mechanism: spanning tree, loops, mobility, and probable mistakes.

Bodies and the ground are the nodes of a graph, joints its edges. A spanning tree from the ground reaches each body by
one joint; every further joint closes a loop, so there are (joints - bodies reached) loops. The mobility of a tree is
the number of free velocities of its joints; its constraint reactions are all unique.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from math import dist, pi, radians

from fmumbs.analysis.bending_range import Unstiffened, too_few_modes, unstiffened
from fmumbs.analysis.spinning import fast_flexible_bodies
from fmumbs.mechanism import GROUND, Body, Closing, JointBase, Model

_LONG = 900.0  # times the median of the arms: a length that may be in millimetres
_FEW_ARMS = 3  # with fewer arms the median is not meaningful
_LIGHT = 1e-7  # mass of a body relative to all that it carries, below which the system is stiff


@dataclass(frozen=True)
class Branch:
    """A body of the spanning tree and the joint that carries it.

    depth: 0 for a body on the ground; reversed: the body is on the joint's F side; dof: free velocities.
    """

    body: str
    joint: str
    kind: str
    parent: str
    depth: int
    dof: int
    reversed: bool


@dataclass(frozen=True)
class Structure:
    """Counts, the spanning tree in depth-first order, and sentences on what is wrong or doubtful.

    Programs are counted apart from bodies, joints and couplings.

    mobility: free velocities of all joints for a tree; None with loops or programs, as it depends on the rank of the
        constraints.
    reactions: number of components of constraint force and torque of all joints. cuts: joints that close a loop.
    across: joints beside the tree that constrain nothing, such as those that measure, and springs of six freedoms.
    unreached: bodies that are not connected to the ground.
    """

    name: str
    bodies: int
    joints: int
    couplings: int
    springs: int
    loads: int
    ropes: int
    laws: int
    programs: int
    roots: int
    depth: int
    loops: int
    mobility: int | None
    reactions: int
    branches: tuple[Branch, ...]
    cuts: tuple[str, ...]
    across: tuple[str, ...]
    unreached: tuple[str, ...]
    unstiffened: tuple[Unstiffened, ...]
    warnings: tuple[str, ...]


def structure(model: Model) -> Structure:
    """The structure of a model, without recursion; does not raise for an invalid model."""
    joints, bodies = _joints(model), [body for body in model.bodies if body.name not in model.inner]
    branches, left = _spanning_tree(model)
    free = {joint.name for joint in joints if not _reactions(joint)}
    across = tuple(name for name in left if name in free)
    cuts = tuple(name for name in left if name not in across)
    reached = {branch.body for branch in branches}
    unreached = tuple(body.name for body in bodies if body.name not in reached)
    dof = sum(_dof(joint) for joint in joints if joint.name not in across)
    return Structure(
        name=model.name,
        bodies=len(bodies),
        joints=len(joints),
        couplings=sum(coupling.name not in model.inner for coupling in model.couplings),
        springs=len(model.springs),
        loads=len(model.loads),
        ropes=len(model.ropes),
        laws=len(model.laws),
        programs=len(model.programs),
        roots=sum(branch.depth == 0 for branch in branches),
        depth=1 + max((branch.depth for branch in branches), default=-1),
        loops=len(cuts),
        mobility=None if cuts or model.programs else dof,
        reactions=sum(_reactions(joint) for joint in joints),
        branches=branches,
        cuts=cuts,
        across=across,
        unreached=unreached,
        unstiffened=unstiffened(model),
        warnings=tuple(_warnings(model, branches, bool(cuts))),
    )


def _joints(model: Model) -> list[JointBase]:
    """All joints but those of programs."""
    own = {program.name for program in model.programs} | model.inner
    return [joint for joint in model.joints if joint.name not in own]


def _reactions(joint: JointBase) -> int:
    return len(joint.rows) if isinstance(joint, Closing) else 6 - joint.velocities


def _dof(joint: JointBase) -> int:
    return joint.velocities


def _spanning_tree(model: Model) -> tuple[tuple[Branch, ...], tuple[str, ...]]:
    """Branches in depth-first order, each body reached by as few joints as possible; the joints left over."""
    at: dict[str, list[JointBase]] = {}
    joints = _joints(model)
    for joint in joints:
        if joint.cut:
            continue
        for end in (joint.F, joint.M):
            at.setdefault(end.body.name, []).append(joint)
    found: dict[str, Branch] = {}
    children: dict[str, list[Branch]] = {}
    queue = deque([(GROUND.name, -1)])
    while queue:
        parent, depth = queue.popleft()
        for joint in at.get(parent, ()):
            backwards = joint.F.body.name != parent
            child = (joint.F if backwards else joint.M).body.name
            if child == GROUND.name or child in found:
                continue
            kind = type(joint).__name__.lower()
            branch = Branch(child, joint.name, kind, parent, depth + 1, _dof(joint), backwards)
            found[child] = branch
            children.setdefault(parent, []).append(branch)
            queue.append((child, depth + 1))
    used = {branch.joint for branch in found.values()}
    left = [joint for joint in joints if joint.name not in used]
    reached = {GROUND.name, *found}
    cuts = tuple(j.name for j in left if j.F.body.name in reached and j.M.body.name in reached)
    return tuple(_depth_first(children)), cuts


def _depth_first(children: dict[str, list[Branch]]) -> Iterator[Branch]:
    stack = list(reversed(children.get(GROUND.name, [])))
    while stack:
        branch = stack.pop()
        yield branch
        stack.extend(reversed(children.get(branch.body, [])))


def _warnings(model: Model, branches: tuple[Branch, ...], loops: bool) -> Iterator[str]:
    """Sentences with what, where, the nearest fact and one fix; with loops, not on the direction of joints."""
    carried = {body.name: body.mass for body in model.bodies}
    for branch in reversed(branches):
        if branch.parent != GROUND.name:
            carried[branch.parent] += carried[branch.body]
    masses = {body.name: body.mass for body in model.bodies}
    for branch in branches:
        own, all_of_it = masses[branch.body], carried[branch.body]
        if 0.0 < own < _LIGHT * all_of_it:
            yield (
                f"Body '{branch.body}' has {own:g} kg and carries {all_of_it - own:g} kg, so the equations "
                "are stiff. Give it the mass of the part, or join what it carries to its parent."
            )
        if branch.reversed and branch.dof and not loops:
            yield (
                f"Joint '{branch.joint}' has '{branch.body}' on its F side, though '{branch.parent}' is "
                f"nearer to the ground, so its position is measured from '{branch.body}'. Swap the points F and M "
                "unless that is intended."
            )
    yield from _angles_in_degrees(model)
    yield from too_few_modes(model)
    yield from fast_flexible_bodies(model, [(each.body, each.joint, each.parent, each.reversed) for each in branches])
    yield from _lengths_in_millimetres(model)
    if branches and not any(model.gravity) and not model.forces and not _moves(model):
        yield (
            f"Model '{model.name}' has no gravity, no force and starts at rest, so nothing moves without an "
            "input. Give a gravity, or a u0 to a joint."
        )


def _angles_in_degrees(model: Model) -> Iterator[str]:
    """Warnings of given angles above one turn."""
    for joint in model.joints:
        if not joint.given[0]:
            continue
        positions, at = joint.start_positions, 0
        for mode in joint.free_modes:
            if mode.kind == "revolute" and mode.pitch == 0.0 and abs(positions[at]) > 2 * pi:
                yield (
                    f"Joint '{joint.name}' starts at {positions[at]:g} rad, {abs(positions[at]) / (2 * pi):.1f} turns. "
                    f"Angles are in radians: {positions[at]:g} degrees are {radians(positions[at]):.4g} rad."
                )
            at += mode.positions


def _lengths_in_millimetres(model: Model) -> Iterator[str]:
    """Warnings of points much further from a body's centre of mass than most."""
    arms: dict[tuple[str, str], float] = {}
    for joint in model.joints:
        for end in joint.ends:
            if isinstance(end.body, Body):
                away = dist(end.X_BP.translation.tolist(), end.body.com)
                if away > 0.0:
                    arms[joint.name, end.body.name] = away
    if len(arms) < _FEW_ARMS:
        return
    usual = sorted(arms.values())[len(arms) // 2]
    for (name, body), away in arms.items():
        if away > _LONG * usual:
            yield (
                f"Joint '{name}' is {away:.4g} m from the centre of mass of '{body}', most are about {usual:.2g} m. "
                f"Lengths are in metres: {away:.4g} mm are {away / 1000:.4g} m."
            )


def _moves(model: Model) -> bool:
    """Whether a joint has an initial velocity or a spring, or a path drives it; a law may push at any time."""
    return bool(model.laws) or any(
        any(joint.start_velocities) or any(joint.law("stiffness")) or any(mode.path for mode in joint.excited_modes)
        for joint in model.joints
    )
