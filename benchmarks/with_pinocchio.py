"""The dynamics of a URDF by Pinocchio beside those of the model that fmumbs read from it."""

from pathlib import Path

import numpy as np

import fmumbs as fm

Array = np.ndarray

_LEAST = 1e-3  # of the largest term: what is below it is round-off of others, such as a row without forces


def compare(path: Path, model: fm.Model, states: int = 3, free: bool = False) -> tuple[str, float | None]:
    """Why there is nothing to compare, or the difference of the forces, relative to the largest term.

    free: the model was read with base="free".
    """
    try:
        import pinocchio as pin

        theirs = pin.buildModelFromUrdf(str(path), *((pin.JointModelFreeFlyer(),) if free else ()))
    except ImportError:
        return "Pinocchio is not installed", None
    except Exception as error:  # its own exceptions are of many kinds
        return f"Pinocchio: {error}", None
    if not theirs.nv or not model.joints:
        return "nothing moves", None
    try:
        solver = fm.Solver(model)
        solver.assemble()
    except fm.FmumbsError as error:  # a massless root beside a joint of the same motion has no accelerations
        return f"fmumbs: {error}", None if free and "has no inertia" in str(error) else np.inf
    if any(not isinstance(joint, fm.Free | fm.Revolute | fm.Prismatic | fm.Weld) for joint in model.joints):
        return "a joint of another kind", None
    data, generator, worst = theirs.createData(), np.random.default_rng(1), 0.0
    for _ in range(states):
        worst = max(worst, _difference(pin, theirs, data, model, solver, generator))
    return "", worst


def _difference(pin, theirs, data, model: fm.Model, solver: fm.Solver, generator: np.random.Generator) -> float:
    by_name = {model.source_names.get(joint.name, "root_joint"): joint for joint in model.joints}
    q, v, tau = pin.neutral(theirs), np.zeros(theirs.nv), np.zeros(theirs.nv)
    moving = np.zeros(theirs.nv, bool)
    slots = []
    for number in range(1, theirs.njoints):
        joint, name = by_name.get(theirs.names[number]), theirs.names[number]
        if joint is not None:
            slots.append((name, joint, theirs.joints[number]))
    values = {joint.name: generator.uniform(-1.0, 1.0, 6) for _, joint, _ in slots}
    for coupling in model.couplings:
        (joint, _, _), *others = coupling.coordinates
        values[joint.name] = np.array([coupling.constant, 0.0, 0.0, 0.0, 0.0, 0.0])
    for _ in model.couplings:  # a mimic of a mimic
        for coupling in model.couplings:
            (joint, _, _), *others = coupling.coordinates
            values[joint.name][:2] = [coupling.constant - sum(r * values[o.name][0] for o, _, r in others),
                                      -sum(r * values[o.name][1] for o, _, r in others)]  # fmt: skip
    for _, joint, slot in slots:
        columns = slice(slot.idx_v, slot.idx_v + slot.nv)
        moving[columns] = True
        one = values[joint.name]
        if isinstance(joint, fm.Free):
            R = fm.Rotation.rpy(*one[3:])
            w, x, y, z = R.as_quaternion()
            q[slot.idx_q : slot.idx_q + 7] = [*one[:3], x, y, z, w]
            v[columns] = generator.uniform(-1.0, 1.0, 6)
            tau[columns] = 0.0
            solver.set(f"{joint.name}.r", one[:3])
            solver.set(f"{joint.name}.q", [w, x, y, z])
            solver.set(f"{joint.name}.v", R @ v[columns][:3])
            solver.set(f"{joint.name}.w", v[columns][3:])
            continue
        q[slot.idx_q : slot.idx_q + slot.nq] = [np.cos(one[0]), np.sin(one[0])] if slot.nq == 2 else one[0]
        v[columns], tau[columns] = one[1], one[2]
        solver.set(f"{joint.name}.q", one[0])
        solver.set(f"{joint.name}.qd", one[1])
        solver.set(f"{joint.name}.{'f' if isinstance(joint, fm.Prismatic) else 'tau'}", one[2])
    solver.assemble()
    a, G = np.zeros(theirs.nv), np.eye(theirs.nv)
    resisting = np.zeros(theirs.nv)
    laws = {law.on.name: law for law in model.laws if isinstance(law, fm.Law)}
    for _, joint, slot in slots:
        columns = slice(slot.idx_v, slot.idx_v + slot.nv)
        if isinstance(joint, fm.Free):
            R = fm.Rotation.quaternion(*solver.get(f"{joint.name}.q"))
            a[columns] = [
                *(R.inverse() @ solver.get(f"{joint.name}.a") - np.cross(v[columns][3:], v[columns][:3])),
                *solver.get(f"{joint.name}.alpha"),
            ]
            continue
        a[columns] = solver.get(f"{joint.name}.qdd")
        resisting[columns] = joint.damping * v[columns]
        if joint.name in laws:
            resisting[columns] -= laws[joint.name].force(0.0, float(v[columns][0]))
    places = {joint.name: slot.idx_v for _, joint, slot in slots}
    for _ in model.couplings:
        for coupling in model.couplings:
            (joint, _, _), *others = coupling.coordinates
            G[places[joint.name]] = -sum((r * G[places[o.name]] for o, _, r in others), np.zeros(theirs.nv))
    M = pin.crba(theirs, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    bias = pin.nonLinearEffects(theirs, data, q, v)
    error = G.T @ (M @ a + bias + resisting - tau)
    terms = np.abs(G).T @ (np.abs(M) @ np.abs(a) + np.abs(bias) + np.abs(resisting) + np.abs(tau))
    scale = terms.max()
    return float((np.abs(error) / np.maximum(terms, _LEAST * scale))[moving].max(initial=0.0)) if scale else 0.0
