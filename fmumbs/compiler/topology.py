"""The spanning tree: which joint carries which body. Parents come before children, and chains are contiguous."""

from collections import Counter, defaultdict, deque
from collections.abc import Mapping

from fmumbs.compiler.loops import why_rather_not_cut
from fmumbs.errors import ModelError
from fmumbs.mechanism import GROUND, Closing, JointBase, Model


def spanning_tree(model: Model) -> tuple[list[JointBase], list[JointBase], set[str]]:
    """The joints of the tree, depth first from the ground; the cut joints, in the order in which they were added; and
    the names of joints in the tree that point towards the ground.

    Each joint of the tree carries the body of its M or, if there is no other way to reach it, that of its F. Every body
    is reached by as few joints as possible; joints added first are preferred. Joints with cut=True are never in the
    tree. Joints that cannot close a loop are in the tree; if possible also joints with springs, dampers or a declared
    variable, and joints with an explicit q0 or u0 if others have none.

    Raises ModelError for a nonholonomic joint that points towards the ground if no other way reaches its body, for
    bodies that are not connected to the ground, and for a cut that leaves a body without a joint.
    """
    bounds: tuple[Mapping[str, JointBase], ...] = (*_bounds(model), {})
    tries = (_reach(model, own, backwards) for backwards in (False, True) for own in bounds)
    carried = next((found for found in tries if len(found) > len(model.bodies)), None) or _reach(model, {}, True)
    _check_reached(model, carried)
    outward: defaultdict[str, list[JointBase]] = defaultdict(list)
    backwards = set()
    for body, joint in carried.items():
        if joint is not None and joint.M.body.name != body:
            backwards.add(joint.name)
    chosen = {joint.name: body for body, joint in carried.items() if joint is not None}
    for joint in model.joints:
        if joint.name in chosen:
            outward[(joint.M if joint.name in backwards else joint.F).body.name].append(joint)
    tree: list[JointBase] = []
    stack = list(reversed(outward[GROUND.name]))
    while stack:
        joint = stack.pop()
        tree.append(joint)
        stack.extend(reversed(outward[chosen[joint.name]]))
    return tree, [joint for joint in model.joints if joint.name not in chosen], backwards


def _reach(model: Model, bound: Mapping[str, JointBase], backwards: bool) -> dict[str, JointBase | None]:
    """The joint that carries each body that can be reached; bound: by body, the only joint that may carry it.

    backwards: also uses joints that point towards the ground, where no other joint leads on.
    """
    outward: defaultdict[str, list[JointBase]] = defaultdict(list)
    inward: defaultdict[str, list[JointBase]] = defaultdict(list)
    for joint in model.joints:
        if _may_carry(joint):
            outward[joint.F.body.name].append(joint)
            if backwards and not joint.velocity_rows:
                inward[joint.M.body.name].append(joint)
    carried: dict[str, JointBase | None] = {GROUND.name: None}
    waiting, later = deque([GROUND.name]), deque(inward[GROUND.name])
    while waiting or later:
        onwards = bool(waiting)
        for joint in outward[waiting.popleft()] if onwards else [later.popleft()]:
            body = (joint.M if onwards else joint.F).body.name
            if body not in carried and bound.get(body, joint) is joint:
                carried[body] = joint
                waiting.append(body)
                later.extend(inward[body])
    return carried


def _bounds(model: Model) -> tuple[dict[str, JointBase], dict[str, JointBase]]:
    """For each body that several joints could carry, the first joint that should be in the tree, or must be.

    Joints with springs, dampers or a declared variable should be, as it is faster; and of the others those with an
    explicit q0 or u0, which are then states.
    """
    carriers = Counter(joint.M.body.name for joint in model.joints)
    doubtful = [j for j in model.joints if carriers[j.M.body.name] > 1 and j.M.body is not GROUND and _may_carry(j)]
    if not doubtful:
        return {}, {}
    needed = {law.on.name for law in model.laws}
    needed |= {joint.name for coupling in (*model.couplings, *model.locks) for joint, _, _ in coupling.coordinates}
    needed |= {pulley.joint.name for rope in model.ropes for pulley in rope.pulleys}
    needed |= {joint.name for joint in (program.varies_with for program in model.programs) if joint is not None}
    declared = {variable.target.partition(".")[0] for variable in model.declared if ".reaction." not in variable.target}
    must: dict[str, JointBase] = {}
    for joint in doubtful:
        if joint.name in needed or why_rather_not_cut(joint):
            must.setdefault(joint.M.body.name, joint)
    should = dict(must)
    for joint in doubtful:
        if joint.name in declared or any(joint.law("stiffness")) or any(joint.law("damping")) or joint.friction:
            should.setdefault(joint.M.body.name, joint)
    for joint in doubtful:
        if any(joint.given):
            should.setdefault(joint.M.body.name, joint)
    return should, must


def _may_carry(joint: JointBase) -> bool:
    return not isinstance(joint, Closing) and not joint.cut


def _check_reached(model: Model, carried: dict[str, JointBase | None]) -> None:
    lost = [body.name for body in model.bodies if body.name not in carried]
    for joint in model.joints if lost else ():
        ends = [end.body.name for end in joint.ends]
        if joint.cut and (ends[0] in carried) != (ends[1] in carried):
            raise ModelError(
                f"Model '{model.name}': {joint.title} is cut, but without it no joint carries "
                f"'{ends[ends[0] in carried]}'. Cut another joint of the loop."
            )
    for joint in model.joints if lost else ():
        if joint.M.body.name in carried and joint.F.body.name not in carried:
            raise ModelError(_points_back(model, joint))
    if lost:
        raise ModelError(_not_connected(model, lost))


def _points_back(model: Model, joint: JointBase) -> str:
    kind, F, M = type(joint).__name__, joint.F.body.name, joint.M.body.name
    return (
        f"Model '{model.name}': {kind} '{joint.name}' goes from '{F}' to '{M}', but '{M}' is nearer to the "
        f"ground, so it must be the parent. Swap the points F and M."
    )


def _not_connected(model: Model, lost: list[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in lost[:3]) + (f" and {len(lost) - 3} more" if len(lost) > 3 else "")
    return (
        f"Model '{model.name}': {shown} {'are' if len(lost) > 1 else 'is'} not connected to the ground by joints. "
        f"Add a joint, or let it move freely: fm.Free('{lost[0]}_free', model.ground.at(), {lost[0]}.at())."
    )
