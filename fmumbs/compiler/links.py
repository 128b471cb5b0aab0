"""From joints and bodies to links: elementary joints, with frames chosen so that the sweeps have least to do.

A joint is an ordered product of modes (joint-representation, section 3); each becomes a link with axes of its
own. A link that turns about a coordinate axis of its parent's has axes parallel to them at zero, and a kernel of
its own. A slide goes along its link's z; a ball's axes are those of its frame M.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs.mechanism import GROUND, Body, Joint, Mode, Point

Array = NDArray[np.float64]

REVOLUTE_X, REVOLUTE_Y, REVOLUTE_Z, REVOLUTE, PRISMATIC, SPHERICAL, SCREW, FIXED = range(8)  # core/table.h
JOINT_WELD, JOINT_SCALAR, JOINT_SPHERICAL, JOINT_FREE = range(4)

_IDENTITY = np.eye(3)
_ZERO = np.zeros(3)
_PARALLEL = 1e-15  # an axis this near to a coordinate axis is that axis: both are rounded


@dataclass
class Place:
    """A frame in a link: link index (-1: ground), axes R and origin r in the link's."""

    link: int
    R: Array
    r: Array


@dataclass
class Links:
    """Rows of the image's arrays, one list each, in the order of the links, joints and bodies."""

    rows: dict[str, list[Any]] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)  # of each body's frame, by its name
    positions: int = 0
    speeds: int = 0
    links: int = 0

    def add(self, **values: Any) -> None:
        for name, value in values.items():
            self.rows.setdefault(name, []).append(value)


def make_links(tree: list[Joint]) -> Links:
    """Links for every joint of the tree and the bodies that they carry."""
    out = Links()
    out.places[GROUND.name] = Place(-1, _IDENTITY, _ZERO)
    for index, joint in enumerate(tree):
        _add_joint(out, index, joint)
    return out


def point_place(out: Links, point: Point) -> Place:
    """A point's frame in its link."""
    return _within(out.places[point.body.name], point)


def _within(body: Place, point: Point) -> Place:
    X = point.X_BP
    if body.R is _IDENTITY:
        return Place(body.link, X.rotation.matrix, body.r + X.translation)
    return Place(body.link, body.R @ X.rotation.matrix, body.r + body.R @ X.translation)


def _add_joint(out: Links, index: int, joint: Joint) -> None:
    at = _within(out.places[joint.F.body.name], joint.F)
    first, p, u = out.links, out.positions, out.speeds
    out.add(joint_F=at.R, joint_F_link=at.link, joint_F_r=at.r, joint_first=first, joint_p=p, joint_u=u)
    modes = joint.modes
    for mode in modes:
        at = _add_mode(out, index, joint, mode, at)
    if not modes:
        at = _add_link(out, index, FIXED, at, _IDENTITY, at.R)
    out.add(
        joint_kind=_joint_kind(modes),
        joint_last=out.links - 1,
        joint_np=out.positions - p,
        joint_nu=out.speeds - u,
        joint_M=at.R,
        joint_M_link=at.link,
        joint_M_r=at.r,
    )
    _add_start(out, joint)
    _add_body(out, joint.M, at)


def _joint_kind(modes: tuple[Mode, ...]) -> int:
    if not modes:
        return JOINT_WELD
    if any(mode.kind == "ball" for mode in modes):
        return JOINT_FREE if len(modes) > 1 else JOINT_SPHERICAL
    return JOINT_SCALAR


def _add_start(out: Links, joint: Joint) -> None:
    out.rows.setdefault("start_p", []).extend(joint.start_positions)
    out.rows.setdefault("start_u", []).extend(joint.start_velocities)


def _add_body(out: Links, M: Point, at: Place) -> None:
    """The body's frame in the link, from its M frame there, and its inertia."""
    body = M.body
    assert isinstance(body, Body)
    X = M.X_BP
    R = at.R @ X.rotation.matrix.T
    R = _IDENTITY if (R == _IDENTITY).all() else R
    r = at.r - R @ X.translation
    out.places[body.name] = Place(at.link, R, r)
    out.add(body_link=at.link, body_R=R, body_r=r, mass=body.mass, com=body.com)
    out.add(inertia=body.spatial_inertia.moments, body_name=body.name)


def _coordinate_axis(axis: Array) -> tuple[int, float] | None:
    k = int(np.abs(axis).argmax())
    rest = abs(axis[(k + 1) % 3]) + abs(axis[(k + 2) % 3])
    return (k, 1.0 if axis[k] > 0 else -1.0) if rest <= _PARALLEL else None


def _axes_along(z: Array) -> Array:
    """A rotation whose third column is z; a coordinate axis gives a permutation of the axes."""
    k = int(np.abs(z).argmin())
    x = np.zeros(3)
    x[k] = 1.0
    x -= z * z[k]
    x /= np.sqrt(x @ x)
    return np.column_stack([x, np.cross(z, x), z])


def _add_mode(out: Links, index: int, joint: Joint, mode: Mode, at: Place) -> Place:
    """A link for one mode; returns the running frame behind it."""
    if mode.kind == "ball":
        _add_speeds(out, joint, 3, linear=False)
        return _add_link(out, index, SPHERICAL, at, at.R, _IDENTITY, p=4, u=3)
    axis = at.R @ np.array(mode.axis)
    along = _coordinate_axis(axis)
    linear = mode.kind == "prismatic"
    _add_speeds(out, joint, 1, linear=linear)
    if mode.pitch != 0.0 or joint.rotor_inertia != 0.0:
        kind, screw = SCREW, (0.0, 0.0, 0.0 if linear else 1.0, 0.0, 0.0, 1.0 if linear else mode.pitch)
    elif linear or along is None:
        kind, screw = (PRISMATIC if linear else REVOLUTE), (0.0,) * 6
    else:
        return _add_link(out, index, REVOLUTE_X + along[0], at, _IDENTITY, at.R, p=1, u=1, sign=along[1])
    if along is not None:
        axis = along[1] * _IDENTITY[along[0]]
    R = _axes_along(axis)
    return _add_link(out, index, kind, at, R, R.T @ at.R, p=1, u=1, screw=screw)


def _add_speeds(out: Links, joint: Joint, count: int, linear: bool) -> None:
    for _ in range(count):
        out.add(
            stiffness=joint.stiffness,
            damping=joint.damping,
            rest=joint.rest,
            rotor_inertia=joint.rotor_inertia,
            mode_linear=int(linear),
        )


def _add_link(
    out: Links,
    joint: int,
    kind: int,
    at: Place,
    R: Array,
    running: Array,
    p: int = 0,
    u: int = 0,
    sign: float = 1.0,
    screw: tuple[float, ...] = (0.0,) * 6,
) -> Place:
    """A link with axes R and origin at `at`; `running`: axes of the running frame in the new link."""
    out.add(
        link_kind=kind,
        link_parent=at.link,
        link_p=out.positions if p else -1,
        link_u=out.speeds if u else -1,
        link_joint=joint,
        link_sign=sign,
        link_screw=screw,
        link_R=R,
        link_r=at.r,
    )
    out.positions += p
    out.speeds += u
    out.links += 1
    return Place(out.links - 1, running, _ZERO)
