"""Flexible bodies that turn faster than their first frequency, where modes without geometric stiffness grow.

With constant stiffness the square of a frequency of bending in the plane of rotation falls by the square of the
angular velocity, and becomes negative above the first frequency. The angular velocity is that of the undeformed
mechanism in its start positions, by given velocities, paths of excited modes and programs of joints; loops are not
closed.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fmumbs.mechanism import GROUND, JointBase, ModalBody, Model, Path, ProgrammedJoint
from fmumbs.mechanism.joints import product

Array = NDArray[np.float64]
Programs = dict[tuple[str, int], tuple[Path, int]]
"""By joint and free mode the path that programs it, and which of its derivatives is the velocity."""
Carried = Sequence[tuple[str, str, str, bool]]
"""Of each body, parents first: its name, its joint, the body on the other side, and whether M is on that one."""

_TIMES = 50  # at which paths are looked at, besides their breaks
_STOP = 10.0  # [s] without a default experiment


def fast_flexible_bodies(model: Model, carried: Carried) -> Iterator[str]:
    """Warnings of flexible bodies whose known angular velocity is above their first frequency."""
    flexible = {body.name: body for body in model.bodies if isinstance(body, ModalBody) and not body.stiffening}
    if not flexible:
        return
    programs = _programs(model)
    fastest = dict.fromkeys(flexible, 0.0)
    joints = {joint.name: joint for joint in model.joints}
    for t in _times(model, programs):
        for name, speed in _speeds(joints, carried, programs, t).items():
            if name in fastest:
                fastest[name] = max(fastest[name], speed)
    for name, body in flexible.items():
        first = float(body.frequencies[0])
        if fastest[name] > first:
            yield (
                f"ModalBody '{name}' turns at {fastest[name]:.4g} rad/s, above its first frequency of {first:.4g} "
                f"rad/s. Its modes have no geometric stiffness and may grow without bound. Give stiffening=, or make "
                "it a FlexibleLink."
            )


def _programs(model: Model) -> Programs:
    found = {}
    for program in model.programs:
        path = program.drive.modes[0].path if isinstance(program, ProgrammedJoint) else None
        if isinstance(program, ProgrammedJoint) and path is not None and program.level < 2:
            found[program.joint.name, program.mode - 1] = path, 1 - program.level
    return found


def _times(model: Model, programs: Programs) -> list[float]:
    """[s] 0, and where there are paths more times up to the end of the experiment and their breaks."""
    paths = [mode.path for joint in model.joints for mode in joint.excited_modes if mode.path is not None]
    paths += [path for path, _ in programs.values()]
    if not paths:
        return [0.0]
    experiment = model.default_experiment
    stop = experiment.stop if experiment is not None and experiment.stop is not None else _STOP
    breaks = [0.5 * (a + b) for path in paths for a, b in zip(path.breaks, path.breaks[1:], strict=False)]
    return [*np.linspace(0.0, stop, _TIMES).tolist(), *(t for path in paths for t in path.breaks), *breaks]


def _speeds(joints: dict[str, JointBase], carried: Carried, programs: Programs, t: float) -> dict[str, float]:
    """The angular speed of each body [rad/s], parents before children."""
    axes: dict[str, Array] = {GROUND.name: np.eye(3)}
    spin: dict[str, Array] = {GROUND.name: np.zeros(3)}
    for body, name, parent, backwards in carried:
        joint = joints[name]
        inner, outer = (joint.M, joint.F) if backwards else (joint.F, joint.M)
        X = joint.transform(t=t).rotation.matrix
        columns = product.screws(joint.modes, joint.all_positions(t=t))[:3]
        relative = columns @ _rates(joint, programs, t)  # of M in F, in F's axes
        at = axes[parent] @ inner.X_BP.rotation.matrix
        turned = X.T if backwards else X
        F = at @ turned if backwards else at
        spin[body] = spin[parent] + (-1.0 if backwards else 1.0) * F @ relative
        axes[body] = at @ turned @ outer.X_BP.rotation.matrix.T
    return {name: float(np.linalg.norm(w)) for name, w in spin.items()}


def _rates(joint: JointBase, programs: Programs, t: float) -> Array:
    """(velocities of all modes,) at the time t; of a nonholonomic joint zero."""
    if joint.velocity_rows:
        return np.zeros(len(joint.modes))
    free, out, k = list(joint.start_velocities), [], 0
    for mode in joint.modes:
        if mode.role != "free":
            out.append(mode.prescribed(t)[1] if mode.role == "excited" else 0.0)
            continue
        count = mode.velocities
        path = programs.get((joint.name, k))
        out += free[:count] if path is None else [path[0](t)[path[1]]]
        free, k = free[count:], k + 1
    return np.array(out)
