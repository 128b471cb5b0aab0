"""Joints with velocity rows: one link with several screws (core/tree/general.c); and frames after locked modes."""

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.rows import Rows
from fmumbs.mechanism import JointBase, Mode
from fmumbs.spatial import Rotation, cross, nearest_rotation

Array = NDArray[np.float64]

_Z = np.array([0.0, 0.0, 1.0])


def axes_along(z: Array) -> Array:
    """(3, 3) a rotation whose third column is along z; for a coordinate axis a permutation of the axes."""
    z = z / np.sqrt(z @ z)
    k = int(np.abs(z).argmin())
    x = np.zeros(3)
    x[k] = 1.0
    x -= z * z[k]
    x /= np.sqrt(x @ x)
    return np.column_stack([x, cross(z, x), z])


def locked(mode: Mode, R: Array, r: Array) -> tuple[Array, Array]:
    """Axes and origin of the frame after a locked mode, from those before it."""
    along = mode.value if mode.linear else mode.pitch * mode.value
    r = r + R @ np.array(mode.axis) * along
    return (R if mode.linear else nearest_rotation(R @ Rotation.about(mode.axis, mode.value).matrix)), r


def aligned(R: Array, vector: Array, along: Array) -> Array:
    """The rotation nearest to R that maps a vector exactly to `along`; R does so up to round-off.

    Round-off does not accumulate along a chain: a vector along the axis of a joint stays along a coordinate axis of its
    link.
    """
    found = R @ vector
    if (found != along).any():
        x, y, z = cross(found, along).tolist()
        R = R + np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) @ R
    return nearest_rotation(R)


def _laws_of(joint: JointBase) -> list[tuple[float, ...]]:
    """Stiffness, damping and rest of each free mode."""
    each = [getattr(joint, law) for law in ("stiffness", "damping", "rest")]
    count = len(joint.free_modes)
    return list(zip(*(law if isinstance(law, tuple) else (law,) * count for law in each), strict=True))


def add_general(out: Rows, link: int, joint: JointBase) -> Array:
    """Adds the screws and rows of a joint. Returns the axes of its frame M in those of its last screw."""
    R, r = np.eye(3), np.zeros(3)  # the running frame in the axes of the last screw
    first, screws = len(out.rows.get("screw_pitch", ())), 0
    laws = iter(_laws_of(joint))
    behind = [(0, R)]
    for mode in joint.modes:
        if mode.role == "locked":
            R, r = locked(mode, R, r)
        else:
            axis = np.array(mode.axis)
            axes = axes_along(R @ axis)
            out.add(
                screw_R=axes,
                screw_r=r,
                screw_pitch=0.0 if mode.linear else 1.0,
                screw_slide=1.0 if mode.linear else mode.pitch,
                screw_excited=int(mode.role == "excited"),
            )
            stiffness, damping, rest = next(laws) if mode.free else (0.0, 0.0, 0.0)
            out.add(screw_stiffness=stiffness, screw_damping=damping, screw_rest=rest)
            R, r, screws = aligned(axes.T @ R, axis, _Z), np.zeros(3), screws + 1
        behind.append((screws, R))
    after, axes = behind[joint.rows_after]
    rows = (*joint.speed_rows, *joint.velocity_rows)
    out.add(
        general_link=link,
        general_screw=first,
        general_screws=screws,
        general_row=len(out.rows.get("velocity_row", ())),
        general_rows=len(rows),
        general_speeds=len(joint.speed_rows),
        general_after=after,
        general_tail=r,
    )
    for row in rows:
        out.add(velocity_row=np.concatenate([axes @ row[:3], axes @ row[3:]]))
    return R
