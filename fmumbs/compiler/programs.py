"""Programs: constraint rows that follow excited modes (core/loops/programs.c), drives, what is not shown."""

import numpy as np

from fmumbs.compiler.couplings import link_of
from fmumbs.compiler.drives import add_drives
from fmumbs.compiler.kinds import BODY, COUPLING, JOINT, kind_columns
from fmumbs.compiler.layout import Arrays
from fmumbs.compiler.links import Links
from fmumbs.compiler.names import Names
from fmumbs.mechanism import Coupling, Model
from fmumbs.mechanism.program import Combination

_NOTHING = np.zeros(3)


def add_programs(out: Links, model: Model) -> None:
    """Adds, for the excited modes of each program, its first row or their own rows, and its transition."""
    index = out.joints
    couplings = {coupling.name: place for place, coupling in enumerate(model.couplings)}
    rows = out.rows
    count = len(rows.get("row_kind", ()))
    rows["row_excitation"], rows["row_vary"] = [-1] * count, [-1] * count
    rows["row_df"], rows["row_dg"] = [_NOTHING] * count, [_NOTHING] * count
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
        if isinstance(program.follower, Combination) and program.follower.by is not None:
            _vary(out, program.follower, np.flatnonzero(own).tolist())
    add_drives(out, model)


def _vary(out: Links, follower: Combination, own: list[int]) -> None:
    """Adds how the rows `own` change with a coordinate; raises ModelError for one of a joint that closes a loop."""
    assert follower.by is not None
    joint, mode = follower.by
    link = link_of(out, out.in_tree(joint, f"Program '{follower.program}' depends on"), mode)
    R = out.rows["joint_M" if follower.kind == "twist_M" else "joint_F"][out.joints[follower.name]]
    for row, slope in zip(own, follower.slopes, strict=True):
        out.rows["row_vary"][row] = link
        out.rows["row_df"][row], out.rows["row_dg"][row] = R @ np.array(slope[:3]), R @ np.array(slope[3:])


def without_inner(model: Model, arrays: Arrays, table: Arrays) -> Arrays:
    """The table of variables without those of programs' targets and constraints, unless a declaration names one."""
    named = {variable.target.partition(".")[0] for variable in model.declared}
    hidden = (model.inner - named) | {lock.name for lock in model.locks}
    if not hidden:
        return table
    names, shown = Names(arrays), np.ones(len(table["variable_kind"]), bool)
    owner = kind_columns().owner[table["variable_kind"]]
    for which in (BODY, JOINT, COUPLING):
        own = np.array([name in hidden for name in names.elements(which)], bool)
        mine = owner == which
        shown[mine] = ~own[table["variable_object"][mine]] if len(own) else True
    return {column: values[shown] for column, values in table.items()}
