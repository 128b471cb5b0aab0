"""Secondary joints: the rows of constraint that close a loop or fix a tip (core/loops.c)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.links import DRIVEN, FIXED, GENERAL, SPHERICAL, Links, point_place
from fmumbs.errors import ModelError
from fmumbs.mechanism import Closing, JointBase, Mode
from fmumbs.mechanism.joints.base import LawName

Array = NDArray[np.float64]

ALONG, PERPENDICULAR, DISTANCE, HELD, COUPLED = range(5)  # core/table.h
JOINT_CUT = 4

_LAWS: tuple[LawName, ...] = ("stiffness", "damping", "rotor_inertia")
_KINDS = {"along": ALONG, "perpendicular": PERPENDICULAR, "distance": DISTANCE}
_AXES = np.eye(3)
NO_VECTOR = np.array([1.0, 0.0, 0.0])  # where a row has no such vector

Row = tuple[int, Array, Array, float]  # kind, vector in F, vector in M, length [m]


def add_cuts(out: Links, cuts: list[JointBase], first: int) -> None:
    """Adds the secondary joints behind the `first` joints of the tree, and their rows."""
    if cuts and out.frames:
        raise ModelError("flexible bodies in closed loops cannot be done yet. Take rigid ones, or open the loops.")
    for index, joint in enumerate(cuts, first):
        F, M = point_place(out, joint.F), point_place(out, joint.M)
        out.add(
            joint_kind=JOINT_CUT,
            joint_first=-1,
            joint_last=-1,
            joint_p=0,
            joint_np=0,
            joint_u=0,
            joint_nu=0,
            joint_excitation=0,
            joint_excited=0,
            joint_reversed=0,
            joint_F=F.R,
            joint_M=M.R,
            joint_F_link=F.link,
            joint_F_r=F.r,
            joint_M_link=M.link,
            joint_M_r=M.r,
        )
        _check_laws(joint)
        for kind, f, g, length in _rows(joint):
            out.add(row_joint=index, row_kind=kind, row_f=F.R @ f, row_g=M.R @ g, row_length=length)
            out.add(row_link=-1, row_part=0, row_coupling=-1)


def add_held(out: Links, tree: list[JointBase]) -> None:
    """Adds a row for each coordinate of the tree that loops may not move."""
    for index, joint in enumerate(tree):
        if not joint.held:
            continue
        first, last = out.rows["joint_first"][index], out.rows["joint_last"][index]
        for link in range(first, last + 1):
            kind = out.rows["link_kind"][link]
            if kind == GENERAL:
                raise ModelError(
                    f"{type(joint).__name__} '{joint.name}' is held, but its freedoms go all at once. "
                    "Hold another joint."
                )
            parts = 0 if kind in (FIXED, DRIVEN) else 3 if kind == SPHERICAL else 1
            for part in range(parts):
                out.add(row_joint=index, row_kind=HELD, row_f=NO_VECTOR, row_g=NO_VECTOR, row_length=0.0)
                out.add(row_link=link, row_part=part, row_coupling=-1)


def closes_loops(joint: JointBase) -> bool:
    """Whether it may be a secondary joint as it is: nothing drives it, and its rows are known."""
    if joint.held or any(any(joint.law(law)) for law in _LAWS):
        return False
    try:
        list(_rows(joint))
    except ModelError:
        return False
    return not joint.velocity_rows


def _check_laws(joint: JointBase) -> None:
    for law in _LAWS:
        if any(joint.law(law)):
            raise ModelError(
                f"joint '{joint.name}' closes a loop and has {law}, but a joint that closes a loop drives nothing. "
                "Add another joint of the loop after it, so that this one becomes part of the tree."
            )


def _rows(joint: JointBase) -> Iterator[Row]:
    """What a joint forbids; vectors in F's axes, M's at zero."""
    if isinstance(joint, Closing):
        for kind, f, g, value in joint.rows:
            yield _KINDS[kind], np.array(f), np.array(g), value
        return
    yield from _rows_of_modes(joint.name, type(joint).__name__, joint.modes)


def _rows_of_modes(name: str, kind: str, modes: tuple[Mode, ...]) -> Iterator[Row]:
    """What a joint with these free modes forbids."""
    shape: tuple[str, ...] = tuple(mode.kind for mode in modes)
    axes = [np.array(mode.axis) for mode in modes]
    if any(mode.role != "free" or mode.pitch != 0.0 for mode in modes):
        shape = ("other",)
    match shape:
        case ():
            yield from _along(_AXES)
            yield from _all_turns()
        case ("ball",):
            yield from _along(_AXES)
        case ("revolute",):
            yield from _along(_basis(axes[0]))
            yield from _parallel(axes[0])
        case ("prismatic",):
            yield from _along(_across(axes[0]))
            yield from _all_turns()
        case ("revolute", "prismatic") | ("prismatic", "revolute") if abs(axes[0] @ axes[1]) > 1.0 - 1e-12:
            yield from _along(_across(axes[0]))
            yield from _parallel(axes[0])
        case ("revolute", "revolute") if abs(axes[0] @ axes[1]) < 1.0 - 1e-12:
            yield from _along(_AXES)
            yield PERPENDICULAR, axes[0], axes[1], float(axes[0] @ axes[1])
        case ("prismatic", "prismatic", "revolute") if abs(axes[2] @ np.cross(axes[0], axes[1])) > 1.0 - 1e-12:
            yield from _along(axes[2][None, :])
            yield from _parallel(axes[2])
        case _:
            raise ModelError(
                f"{kind} '{name}' closes a loop, which it cannot do yet. Add another joint of the loop after it, so "
                "that this one becomes part of the tree."
            )


def _across(axis: Array) -> Array:
    """(2, 3) unit vectors that span the plane across an axis."""
    one = np.cross(axis, _AXES[int(np.abs(axis).argmin())])
    one /= np.linalg.norm(one)
    return np.array([one, np.cross(axis, one)])


def _basis(axis: Array) -> Array:
    """(3, 3) an axis and what spans the plane across it: in a plane mechanism the rows of the plane stay apart."""
    return np.array([axis, *_across(axis)])


def _along(vectors: Array) -> Iterator[Row]:
    for vector in vectors:
        yield ALONG, vector, NO_VECTOR, 0.0


def _parallel(axis: Array) -> Iterator[Row]:
    """F's and M's axis stay parallel."""
    for vector in _across(axis):
        yield PERPENDICULAR, vector, axis, 0.0


def _all_turns() -> Iterator[Row]:
    for f, g in ((0, 1), (0, 2), (1, 2)):
        yield PERPENDICULAR, _AXES[f], _AXES[g], 0.0
