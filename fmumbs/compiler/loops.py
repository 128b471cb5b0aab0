"""Cut joints: the constraint rows that close loops, and their coordinates (core/loops/cut_joints.c)."""

from typing import Any

from fmumbs.compiler.constraint_rows import GIVEN, NO_VECTOR, RATES, TWISTS, has_simple_rows, rows_of
from fmumbs.compiler.layout import lib
from fmumbs.compiler.links import (
    Links,
    add_free_speeds,
    add_given,
    coupled_of,
    joint_kind,
    point_place,
)
from fmumbs.errors import ModelError
from fmumbs.mechanism import JointBase, Mode

CUT_SCREW, CUT_BALL, CUT_LOCKED = lib.FM_CUT_SCREW, lib.FM_CUT_BALL, lib.FM_CUT_LOCKED


def add_cuts(out: Links, cuts: list[JointBase], first: int) -> None:
    """Adds the cut joints after the `first` joints of the tree, with their rows and coordinates."""
    speeds = out.speeds
    positions = modes = 0
    for index, joint in enumerate(cuts, first):
        _check_cut(joint)
        F, M = point_place(out, joint.F), point_place(out, joint.M)
        out.joints[joint.name] = index
        out.add(
            joint_kind=joint_kind(joint, joint.modes),
            joint_first=-1,
            joint_last=-1,
            joint_p=positions,
            joint_np=joint.positions,
            joint_u=speeds,
            joint_nu=joint.velocities,
            joint_mode=modes,
            joint_modes=len(joint.modes),
            joint_excitation=0,
            joint_excited=0,
            joint_reversed=0,
            joint_held=0,
            joint_bends=joint.bends,
            **coupled_of(out, joint),
            joint_F=F.R,
            joint_M=M.R,
            joint_F_link=F.link,
            joint_F_r=F.r,
            joint_M_link=M.link,
            joint_M_r=M.r,
        )
        add_free_speeds(out, joint, list(joint.free_modes))
        for mode in joint.modes:
            _add_mode(out, mode)
        out.rows.setdefault("cut_start", []).extend(joint.start_positions)
        out.rows.setdefault("cut_start_u", []).extend(joint.start_velocities)
        add_given(out, joint.given, joint.velocities)
        out.rows.setdefault("start_tau", []).extend(joint.applied)
        speeds, positions, modes = speeds + joint.velocities, positions + joint.positions, modes + len(joint.modes)
        _add_rows(out, joint, index, F.R, M.R)


def _add_rows(out: Links, joint: JointBase, index: int, R_F: Any, R_M: Any) -> None:
    """The rows of a cut joint, and one for each coordinate whose start may be given."""
    for kind, f, g, length in rows_of(joint):
        R = (R_M if kind == TWISTS[1] else R_F), (R_F if kind == TWISTS[0] else R_M)
        out.add(row_joint=index, row_kind=kind, row_f=R[0] @ f, row_g=R[1] @ g, row_length=length)
        out.add(row_part=joint.level if kind in RATES.values() else 0, row_coupling=-1)
    for part in range(joint.velocities if any(joint.given) else 0):
        out.add(row_joint=index, row_kind=GIVEN, row_f=NO_VECTOR, row_g=NO_VECTOR, row_length=0.0)
        out.add(row_part=part, row_coupling=-1)


def _add_mode(out: Links, mode: Mode) -> None:
    out.add(
        cut_kind=CUT_BALL if mode.kind == "ball" else CUT_SCREW if mode.free else CUT_LOCKED,
        cut_axis=mode.axis,
        cut_turn=0.0 if mode.linear else 1.0,
        cut_slide=1.0 if mode.linear else mode.pitch,
        cut_value=mode.value,
    )


def why_not_cut(joint: JointBase) -> str | None:
    """Why a joint cannot close a loop; None if it can."""
    if joint.held:
        return "is held, which needs a joint of the spanning tree"
    if any(joint.law("rotor_inertia")):
        return "has a rotor_inertia, which needs a joint of the spanning tree"
    if any(mode.role == "excited" for mode in joint.modes):
        return "has an excited mode, which needs a joint of the spanning tree"
    if joint.velocity_rows:
        return "is nonholonomic, which needs a joint of the spanning tree"
    return None


def why_rather_not_cut(joint: JointBase) -> str | None:
    """Why a joint should not close a loop, if others can; None if it may as well."""
    return why_not_cut(joint) or (None if has_simple_rows(joint) else "has rows that need its coordinates")


def _check_cut(joint: JointBase) -> None:
    why = why_not_cut(joint)
    if why is not None:
        raise ModelError(
            f"{joint.title} closes a loop, but {why}. Give another joint of the loop "
            "cut=True, or add it after this one, so that this one is in the spanning tree."
        )
