"""The spanning tree: which joint carries which body, parents before children, chains in one piece."""

from collections import defaultdict

from fmumbs.errors import ModelError
from fmumbs.mechanism import GROUND, Joint, Model


def spanning_tree(model: Model) -> list[Joint]:
    """The joints of the tree, depth first from the ground; each carries the body of its M.

    Raises ModelError for a joint that closes a loop, for one that points towards the ground, and for bodies that
    hang on nothing.
    """
    edges: defaultdict[str, list[Joint]] = defaultdict(list)
    for joint in model.joints:
        for point in (joint.F, joint.M):
            edges[point.body.name].append(joint)
    tree: list[Joint] = []
    reached: dict[str, Joint | None] = {GROUND.name: None}
    waiting = list(reversed(edges[GROUND.name]))
    used: set[str] = set()
    while waiting:
        joint = waiting.pop()
        if joint.name in used:
            continue
        used.add(joint.name)
        parent, child = joint.F.body.name, joint.M.body.name
        if parent in reached and child in reached:
            raise ModelError(_closes_a_loop(model, joint, reached))
        if parent not in reached:
            raise ModelError(_points_back(model, joint))
        reached[child] = joint
        tree.append(joint)
        waiting.extend(reversed(edges[child]))
    lost = [body.name for body in model.bodies if body.name not in reached]
    if lost:
        raise ModelError(_hangs_on_nothing(model, lost))
    return tree


def _path(reached: dict[str, Joint | None], body: str) -> list[str]:
    names = []
    joint = reached[body]
    while joint is not None:
        names.append(joint.name)
        joint = reached[joint.F.body.name]
    return names


def _closes_a_loop(model: Model, joint: Joint, reached: dict[str, Joint | None]) -> str:
    one, other = _path(reached, joint.F.body.name), _path(reached, joint.M.body.name)
    while one and other and one[-1] == other[-1]:
        one.pop()
        other.pop()
    loop = "-".join([*reversed(one), joint.name, *other])
    return (
        f"Model '{model.name}': joint '{joint.name}' closes the loop {loop}, but this version runs trees. "
        f"Remove one joint of the loop, or put a Spring in its place."
    )


def _points_back(model: Model, joint: Joint) -> str:
    kind, F, M = type(joint).__name__, joint.F.body.name, joint.M.body.name
    return (
        f"Model '{model.name}': {kind} '{joint.name}' goes from '{F}' to '{M}', but '{M}' is nearer to the "
        f"ground: F belongs to the parent, M to the child. Swap its points."
    )


def _hangs_on_nothing(model: Model, lost: list[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in lost[:3]) + (f" and {len(lost) - 3} more" if len(lost) > 3 else "")
    verb = "hang" if len(lost) > 1 else "hangs"
    return (
        f"Model '{model.name}': {shown} {verb} on nothing: no joint connects it with the ground. "
        f"Add one, or let it fly: fm.Free('{lost[0]}_free', model.ground.at(), {lost[0]}.at())."
    )
