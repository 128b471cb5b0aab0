"""The spanning tree: which joint carries which body, parents before children, chains in one piece."""

from collections import Counter, defaultdict, deque
from collections.abc import Mapping

from fmumbs.compiler.loops import closes_loops
from fmumbs.errors import ModelError
from fmumbs.mechanism import GROUND, Closing, JointBase, Model


def spanning_tree(model: Model) -> tuple[list[JointBase], list[JointBase]]:
    """The joints of the tree, depth first from the ground, and those that close loops, in order of adding.

    Each joint of the tree carries the body of its M; every body is reached by as few joints as possible, the joints
    added first being preferred. Joints that drive something, that have a variable which is declared, or that cannot
    close a loop stay in the tree where that is possible. Raises ModelError for a joint that points towards the
    ground where no other way reaches its body, and for bodies that hang on nothing.
    """
    outward: defaultdict[str, list[JointBase]] = defaultdict(list)
    for joint in model.joints:
        outward[joint.F.body.name].append(joint)
    carried = _reach(outward, _bound(model))
    if len(carried) <= len(model.bodies):
        carried = _reach(outward, {})
    _check_reached(model, carried)
    chosen = {joint.name for joint in carried.values() if joint is not None}
    tree: list[JointBase] = []
    stack = [joint for joint in reversed(outward[GROUND.name]) if joint.name in chosen]
    while stack:
        joint = stack.pop()
        tree.append(joint)
        stack.extend(j for j in reversed(outward[joint.M.body.name]) if j.name in chosen)
    return tree, [joint for joint in model.joints if joint.name not in chosen]


def _reach(outward: Mapping[str, list[JointBase]], bound: Mapping[str, JointBase]) -> dict[str, JointBase | None]:
    """The joint that carries each body that can be reached; `bound`: the only one that may, by body."""
    carried: dict[str, JointBase | None] = {GROUND.name: None}
    waiting = deque([GROUND.name])
    while waiting:
        for joint in outward.get(waiting.popleft(), ()):
            body = joint.M.body.name
            if body not in carried and bound.get(body, joint) is joint and not isinstance(joint, Closing):
                carried[body] = joint
                waiting.append(body)
    return carried


def _bound(model: Model) -> dict[str, JointBase]:
    """Of each body that several joints could carry, the first one that should be in the tree."""
    carriers = Counter(joint.M.body.name for joint in model.joints)
    spoken_of = {signal.target.partition(".")[0] for signal in model.signals if ".reaction." not in signal.target}
    spoken_of |= {law.on.name for law in model.laws}
    spoken_of |= {joint.name for coupling in model.couplings for joint, _, _ in coupling.coordinates}
    bound: dict[str, JointBase] = {}
    for joint in model.joints:
        if carriers[joint.M.body.name] == 1 or joint.M.body is GROUND or isinstance(joint, Closing):
            continue
        if joint.name in spoken_of or not closes_loops(joint):
            bound.setdefault(joint.M.body.name, joint)
    return bound


def _check_reached(model: Model, carried: dict[str, JointBase | None]) -> None:
    lost = [body.name for body in model.bodies if body.name not in carried]
    for joint in model.joints if lost else ():
        if joint.M.body.name in carried and joint.F.body.name not in carried:
            raise ModelError(_points_back(model, joint))
    if lost:
        raise ModelError(_hangs_on_nothing(model, lost))


def _points_back(model: Model, joint: JointBase) -> str:
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
