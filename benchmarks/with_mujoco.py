"""The dynamics of an MJCF file by MuJoCo beside those of the model that fmumbs read from it.

What the reader leaves out by a row is taken out of MuJoCo's model, too: tendons, muscles, limits of forces, contact,
armature of balls and of free joints. Equalities are hard here: the forces that are missing from M a must be those of
their Jacobian, J' lambda, and J a = 0 at rest.
"""

from pathlib import Path

import numpy as np

import fmumbs as fm

Array = np.ndarray

_LEAST = 1e-3  # of the largest term: what is below it is round-off of others, such as a row without forces
FREE, BALL = 0, 1


def compiles(path: Path) -> bool:
    """Whether MuJoCo compiles a file without its textures and skins."""
    from fmumbs.readers.compiled_mjcf import compiled

    try:
        compiled(path, ["/"])
    except fm.ModelError:
        return False
    return True


def compare(path: Path, model: fm.Model, states: int = 3, seed: int = 1) -> tuple[str, float | None]:
    """Why there is nothing to compare, or the difference of the forces, relative to the largest term."""
    import mujoco

    from fmumbs.readers.compiled_mjcf import compiled

    mujoco.set_mju_user_warning(lambda text: None)  # else it writes a file
    if path.suffix == ".urdf":
        m = mujoco.MjModel.from_xml_path(str(path))
    else:
        m, _ = compiled(path, ["/"])
    if not m.nv:
        return "nothing moves", None
    _simplify(mujoco, m, model)
    data = mujoco.MjData(m)
    try:
        solver = fm.Solver(model)
        solver.assemble()
    except fm.FmumbsError as error:
        return f"fmumbs: {error}", np.inf
    there = _Joints(mujoco, m, model)
    generator, worst = np.random.default_rng(seed), 0.0
    for state in range(states):
        try:
            worst = max(worst, _difference(mujoco, m, data, there, model, solver, generator, state))
        except fm.FmumbsError as error:
            return f"fmumbs: {error}", np.inf
    return "", worst


class _Joints:
    """Each joint of MuJoCo's with the fmumbs joint that it became, and its mode from 1 (0: alone)."""

    def __init__(self, mujoco, m, model: fm.Model) -> None:
        from fmumbs.readers.compiled_mjcf import Compiled

        named = Compiled(m)
        ours = {joint.name: joint for joint in model.joints}
        places: dict[str, tuple] = {}
        for name, given in model.source_names.items():
            joint, _, mode = name.partition(".q")
            if joint in ours and (not mode or mode[0] == "["):
                places.setdefault(given, (ours[joint], int(mode.strip("[]") or 0)))
        self.found = [(j, *places.get(named.joint_names[j], (None, 0))) for j in range(m.njnt)]


def _simplify(mujoco, m, model: fm.Model) -> None:
    bit = mujoco.mjtDisableBit
    m.opt.disableflags |= int(bit.mjDSBL_CONTACT | bit.mjDSBL_LIMIT | bit.mjDSBL_CLAMPCTRL | bit.mjDSBL_FRICTIONLOSS)
    m.opt.density = m.opt.viscosity = 0.0
    m.actuator_forcelimited[:] = 0
    m.jnt_actfrclimited[:] = 0
    for name in ("tendon_stiffness", "tendon_damping", "tendon_armature", "tendon_frictionloss", "dof_dampingpoly",
                 "jnt_stiffnesspoly", "tendon_dampingpoly", "tendon_stiffnesspoly"):  # fmt: skip
        if hasattr(m, name):
            getattr(m, name)[:] = 0.0
    taken = model.reading.controls
    for i in range(m.nactuator):
        if _named(mujoco, m, i) not in taken:
            m.actuator_gainprm[i] = m.actuator_biasprm[i] = 0.0
            m.actuator_armature[i] = m.actuator_damping[i] = 0.0
    for j in range(m.njnt):
        if m.jnt_type[j] in (FREE, BALL):
            at, count = m.jnt_dofadr[j], 6 if m.jnt_type[j] == FREE else 3
            m.dof_armature[at : at + count] = 0.0
            m.dof_frictionloss[at : at + count] = 0.0
    m.body_simple[:] = 0  # else it takes masses of before, and centres as near to the origin as 1e-9
    m.dof_simplenum[:] = 0
    for k in range(m.neq):
        given = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_EQUALITY, k) or f"eq{k}"
        row = [row for row in model.reading.rows if f"'{given}'" in row.element and row.element.startswith("equality")]
        if not row or row[0].what != "taken":
            m.eq_active0[k] = 0


def _named(mujoco, m, i: int) -> str:
    return mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_ACTUATOR, i) or f"actuator{i}"


def _difference(mujoco, m, data, there: _Joints, model: fm.Model, solver: fm.Solver, generator, state: int) -> float:
    mujoco.mj_resetData(m, data)
    tied = bool(model.couplings) or any(joint.cut for joint in model.joints)
    if not tied:
        _random_state(m, data, there, solver, generator)
    elif state:
        solver.step(0.01 * state)
        _at_rest(there, solver)
    solver.assemble(solver.time)
    if tied:
        _take_state(m, data, there, solver)
    tau = np.zeros(m.nv)
    commands = {name: generator.uniform(-1.0, 1.0) for name in model.reading.controls}
    inputs = model.reading.inputs(commands)
    for i in range(m.nactuator):
        data.ctrl[i] = commands.get(_named(mujoco, m, i), 0.0)
    for j, joint, mode in there.found:
        if joint is None or m.jnt_type[j] in (FREE, BALL):
            continue
        dof = m.jnt_dofadr[j]
        tau[dof] = generator.uniform(-1.0, 1.0)
        name = f"{joint.name}.f" if isinstance(joint, fm.Prismatic) else f"{joint.name}.tau" + f"[{mode}]" * bool(mode)
        start = joint.applied[mode - 1 if mode else 0]
        solver.set(name, tau[dof] + inputs.get(name, 0.0) + start)
    a, moving = _accelerations(m, there, solver)
    mujoco.mj_fwdPosition(m, data)
    mujoco.mj_fwdVelocity(m, data)
    mujoco.mj_fwdActuation(m, data)
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, data, M)
    force = data.qfrc_passive + data.qfrc_actuator + tau + _friction(m, data, there, model, solver) - data.qfrc_bias
    error = M @ a - force
    terms = np.abs(M) @ np.abs(a) + np.abs(data.qfrc_bias) + np.abs(force)  # of each row
    scale = terms.max()
    if tied:
        size = max(np.abs(a).max(), np.abs(np.linalg.lstsq(M, force)[0]).max())
        return _beside_loops(mujoco, m, data, error, a / size, scale, moving) if size else 0.0
    return float((np.abs(error) / np.maximum(terms, _LEAST * scale))[moving].max(initial=0.0)) if scale else 0.0


def _friction(m, data, there: _Joints, model: fm.Model, solver: fm.Solver) -> Array:
    """Against the velocities; at rest what fmumbs says, which may be anything up to frictionloss."""
    found = -np.array(m.dof_frictionloss) * np.sign(data.qvel)
    places = {(joint.name, max(mode, 1)): m.jnt_dofadr[j] for j, joint, mode in there.found if joint is not None}
    for law in model.laws:
        dof = places[law.on.name, law.mode]
        if data.qvel[dof] == 0.0:
            found[dof] = solver.get(f"{law.name}.force")
            assert abs(found[dof]) <= m.dof_frictionloss[dof] * (1.0 + 1e-9)
    return found


def _beside_loops(mujoco, m, data, error: Array, a: Array, scale: float, moving: Array) -> float:
    """What the Jacobian of the equalities does not explain, and a along it, at rest. a: relative to its size."""
    rows = np.array(data.efc_type[: data.nefc]) == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    if mujoco.mj_isSparse(m):
        J = np.zeros((data.nefc, m.nv))
        mujoco.mju_sparse2dense(J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    else:
        J = np.array(data.efc_J).reshape(data.nefc, m.nv)
    J = J[rows][:, moving]
    size = np.linalg.norm(J, axis=1, keepdims=True)
    J = J / np.where(size > 0.0, size, 1.0)
    _, s, Vt = np.linalg.svd(J, full_matrices=False)
    basis = Vt[s > 1e-9 * max(s.max(initial=0.0), 1e-300)]
    left = error[moving] - basis.T @ (basis @ error[moving])
    along = np.abs(basis @ a[moving]).max(initial=0.0)
    return float(max(np.abs(left).max(initial=0.0) / scale, along)) if scale else 0.0


def _random_state(m, data, there: _Joints, solver: fm.Solver, generator) -> None:
    for j, joint, mode in there.found:
        if joint is None:
            continue
        at, dof, kind = m.jnt_qposadr[j], m.jnt_dofadr[j], m.jnt_type[j]
        if kind in (FREE, BALL):
            turned = fm.Rotation.rpy(*generator.uniform(-1.0, 1.0, 3)).as_quaternion()
            first = 3 if kind == FREE else 0
            rates = generator.uniform(-1.0, 1.0, first + 3)
            data.qpos[at + first : at + first + 4] = turned
            data.qvel[dof : dof + first + 3] = rates
            solver.set(f"{joint.name}.q", turned)
            solver.set(f"{joint.name}.w", rates[first:])
            if kind == FREE:
                data.qpos[at : at + 3] = place = generator.uniform(-1.0, 1.0, 3)
                solver.set(f"{joint.name}.r", place)
                solver.set(f"{joint.name}.v", rates[:3])
            continue
        index = f"[{mode}]" * bool(mode)
        data.qpos[at] += generator.uniform(-0.5, 0.5) * (1.0 if kind == 3 else 0.1)
        data.qvel[dof] = generator.uniform(-1.0, 1.0)
        solver.set(f"{joint.name}.q{index}", data.qpos[at])
        solver.set(f"{joint.name}.qd{index}", data.qvel[dof])


def _at_rest(there: _Joints, solver: fm.Solver) -> None:
    for _, joint, _ in there.found:
        if joint is None:
            continue
        names = {fm.Free: ("v", "w"), fm.Spherical: ("w",)}.get(type(joint), ("qd",))
        for name in names:
            solver.set(f"{joint.name}.{name}", 0.0 * np.asarray(solver.get(f"{joint.name}.{name}")))


def _take_state(m, data, there: _Joints, solver: fm.Solver) -> None:
    for j, joint, mode in there.found:
        if joint is None:
            continue
        at, dof, kind = m.jnt_qposadr[j], m.jnt_dofadr[j], m.jnt_type[j]
        if kind == FREE:
            data.qpos[at : at + 7] = [*solver.get(f"{joint.name}.r"), *solver.get(f"{joint.name}.q")]
            data.qvel[dof : dof + 6] = [*solver.get(f"{joint.name}.v"), *solver.get(f"{joint.name}.w")]
        elif kind == BALL:
            data.qpos[at : at + 4], data.qvel[dof : dof + 3] = (solver.get(f"{joint.name}.{one}") for one in "qw")
        else:
            q, qd = (np.atleast_1d(solver.get(f"{joint.name}.{one}")) for one in ("q", "qd"))
            data.qpos[at], data.qvel[dof] = q[max(mode - 1, 0)], qd[max(mode - 1, 0)]


def _accelerations(m, there: _Joints, solver: fm.Solver) -> tuple[Array, Array]:
    a, moving = np.zeros(m.nv), np.zeros(m.nv, bool)
    for j, joint, mode in there.found:
        if joint is None:
            continue
        dof, kind = m.jnt_dofadr[j], m.jnt_type[j]
        if kind in (FREE, BALL):
            values = [*(solver.get(f"{joint.name}.a") if kind == FREE else ()), *solver.get(f"{joint.name}.alpha")]
        else:
            values = [np.atleast_1d(solver.get(f"{joint.name}.qdd"))[max(mode - 1, 0)]]
        a[dof : dof + len(values)] = values
        moving[dof : dof + len(values)] = True
    return a, moving
