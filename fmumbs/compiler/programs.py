"""Programs: which constraint rows follow which excited modes (core/loops/programs.c)."""

import numpy as np

from fmumbs.compiler.links import Links
from fmumbs.mechanism import Coupling, JointBase, Model


def add_programs(out: Links, model: Model, joints: list[JointBase]) -> None:
    """Adds, for the excited modes of each program, its first row or their own rows, and its transition.

    joints: those of the tree, then the cut joints.
    """
    index = {joint.name: place for place, joint in enumerate(joints)}
    couplings = {coupling.name: place for place, coupling in enumerate(model.couplings)}
    rows = out.rows
    rows["row_excitation"] = [-1] * len(rows.get("row_kind", ()))
    for program in model.programs:
        joint = index[program.drive.name]
        first, count = rows["joint_excitation"][joint], rows["joint_excited"][joint]
        if isinstance(program.follower, Coupling):
            own = np.array(rows["row_coupling"]) == couplings[program.follower.name]
        else:
            own = np.array(rows["row_joint"]) == index[program.follower.name]
        for i, row in zip(range(first, first + count), np.flatnonzero(own).tolist(), strict=True):
            rows["row_excitation"][row] = i
            rows["excitation_row"][i] = row
            rows["excitation_transition"][i] = program.transition
