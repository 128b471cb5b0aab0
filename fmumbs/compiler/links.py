"""Makes links from joints and bodies. A link is one elementary joint; its axes are chosen to make the sweeps fast.

A joint is an ordered product of modes (joint-representation, section 3); each mode becomes a link with its own axes. A
link that turns about a coordinate axis of its parent has the parent's axes at zero, and a dedicated kernel. A slide is
along its link's z; the axes of a ball are those of frame M. Locked modes move the frame of the next link. The variables
of a joint are those of its free modes, then those of the excited ones. A joint with velocity rows is a single link
(compiler/screws.py). A joint whose M is nearer to the ground has the inverse modes in reverse order. A flexible body
adds a link for its floating frame after the joint that carries it, and one for each frame that moves with its modes
(core/tree/modal.c); its variables follow those of that joint.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs._limits import MOST_SECONDS
from fmumbs.compiler.excitations import add_excitations
from fmumbs.compiler.layout import lib
from fmumbs.compiler.rows import Rows
from fmumbs.compiler.screws import add_general, aligned, axes_along, locked
from fmumbs.errors import ModelError
from fmumbs.finite_elements.seen import Seconds
from fmumbs.mechanism import GROUND, Body, JointBase, ModalBody, Mode, Point
from fmumbs.mechanism.joints.base import LAWS
from fmumbs.spatial import Rotation, nearest_rotation

Array = NDArray[np.float64]

# fm_link_kind
REVOLUTE_X, REVOLUTE_Y, REVOLUTE_Z = lib.FM_LINK_REVOLUTE_X, lib.FM_LINK_REVOLUTE_Y, lib.FM_LINK_REVOLUTE_Z
REVOLUTE, PRISMATIC = lib.FM_LINK_REVOLUTE, lib.FM_LINK_PRISMATIC
SPHERICAL, SCREW, FIXED, DRIVEN = lib.FM_LINK_SPHERICAL, lib.FM_LINK_SCREW, lib.FM_LINK_FIXED, lib.FM_LINK_DRIVEN
GENERAL, MODAL, FRAME = lib.FM_LINK_GENERAL, lib.FM_LINK_MODAL, lib.FM_LINK_FRAME
# fm_joint_kind
JOINT_WELD, JOINT_SCALAR, JOINT_SPHERICAL = lib.FM_JOINT_WELD, lib.FM_JOINT_SCALAR, lib.FM_JOINT_SPHERICAL
JOINT_FREE, JOINT_NONHOLONOMIC = lib.FM_JOINT_FREE, lib.FM_JOINT_NONHOLONOMIC

_IDENTITY = np.eye(3)
_ZERO = np.zeros(3)
_UNTURNED = Rotation.identity()
_PARALLEL = 1e-15  # an axis this close to a coordinate axis is taken as that axis
_REVOLUTES = (REVOLUTE_X, REVOLUTE_Y, REVOLUTE_Z)
_COORDINATE_AXES = {tuple(sign * float(k == j) for j in range(3)): (k, sign) for k in range(3) for sign in (1.0, -1.0)}


@dataclass
class Place:
    """A frame in a link: link index (-1: ground), axes R and origin r in the link's."""

    link: int
    R: Array
    r: Array


Displacements = tuple[tuple[float, ...], ...]
Node = tuple[tuple[float, ...], Displacements]
"""A frame on a flexible body: undeformed position, and displacement in each mode."""


@dataclass
class Links(Rows):
    """Rows of the image's arrays in the order of the links, joints and bodies."""

    places: dict[str, Place] = field(default_factory=dict)  # of each body's frame, by its name
    joints: dict[str, int] = field(default_factory=dict)  # rows of the joints by name: the tree's, then cut ones
    frames: dict[str, dict[Node, int]] = field(default_factory=dict)  # links of the frames on flexible bodies
    seconds: dict[str, dict[tuple[float, ...], Displacements]] = field(default_factory=dict)  # of frames
    carriers: dict[str, int] = field(default_factory=dict)  # the joint that carries a flexible body
    geared: frozenset[str] = frozenset()  # joints that have a rotor beside their own
    roads: dict[tuple[tuple[float, float], ...], int] = field(default_factory=dict)  # by their profile
    positions: int = 0
    speeds: int = 0
    links: int = 0

    def in_tree(self, joint: JointBase, needs: str) -> int:
        """The row of a joint of the spanning tree. needs: who needs it there, such as "Motor 'M' drives".

        Raises ModelError for one that closes a loop.
        """
        row = self.joints[joint.name]
        if self.rows["joint_first"][row] < 0:
            raise ModelError(
                f"{needs} joint '{joint.name}', which closes a loop. "
                "Give another joint of the loop cut=True, so that this one is in the spanning tree."
            )
        return row


def make_links(
    tree: list[JointBase], backwards: set[str], others: Iterable[Point] = (), geared: frozenset[str] = frozenset()
) -> Links:
    """The links of all joints of the tree and of the bodies that they carry.

    backwards: names of the joints whose M is nearer to the ground. others: points of the bodies where other elements
    act, and named points. geared: names of joints that have a rotor beside their own.
    """
    out = Links(geared=geared)
    out.places[GROUND.name] = Place(-1, _IDENTITY, _ZERO)
    ends = [(joint.M, joint.F) if joint.name in backwards else (joint.F, joint.M) for joint in tree]
    carrying = {_node_key(inner) for inner, _ in ends if isinstance(inner.body, ModalBody)}
    loose: dict[str, dict[Node, Point]] = {}
    for point in others:
        if isinstance(point.body, ModalBody) and _node_key(point) not in carrying:
            loose.setdefault(point.body.name, {}).setdefault(point.body.node(point), point)
    points: dict[str, list[Point]] = {}  # of flexible bodies, where frames are
    for point in (*(end for pair in ends for end in pair), *(p for some in loose.values() for p in some.values())):
        points.setdefault(point.body.name, []).append(point)
    for index, (joint, (inner, outer)) in enumerate(zip(tree, ends, strict=True)):
        if isinstance(inner.body, ModalBody):  # one frame for each joint, as links are in depth-first order
            _add_frame(out, inner.body, inner.body.node(inner))
        at = _add_joint(out, index, joint, point_place(out, inner), joint.name in backwards)
        if isinstance(outer.body, ModalBody):
            _add_flexible(out, index, outer, outer.body, at, points[outer.body.name])
            for node in loose.get(outer.body.name, ()):
                _add_frame(out, outer.body, node)
        else:
            _add_body(out, outer, at)
    return out


def point_place(out: Links, point: Point) -> Place:
    """A point's frame in its link; on a flexible body it must be one that make_links() was given."""
    if not isinstance(point.body, ModalBody):
        return _within(out.places[point.body.name], point)
    body = out.places[point.body.name]
    node = point.body.node(point)
    link, X = out.frames[point.body.name][node], point.X_BP
    r = X.translation - (_ZERO if link == body.link else np.array(node[0]))
    return Place(link, nearest_rotation(body.R @ X.rotation.matrix), body.R @ r)


def _node_key(point: Point) -> tuple[str, Node]:
    assert isinstance(point.body, ModalBody)
    return point.body.name, point.body.node(point)


def _within(body: Place, point: Point) -> Place:
    X = point.X_BP
    if body.R is _IDENTITY and X.rotation is _UNTURNED:
        return Place(body.link, _IDENTITY, body.r + X.translation)
    if body.R is _IDENTITY:
        return Place(body.link, nearest_rotation(X.rotation.matrix), body.r + X.translation)
    return Place(body.link, nearest_rotation(body.R @ X.rotation.matrix), body.r + body.R @ X.translation)


def _add_joint(out: Links, index: int, joint: JointBase, start: Place, backwards: bool) -> Place:
    """Adds a joint; start: place of its inner frame. Returns the place of its outer frame."""
    at = start
    first, p, u = out.links, out.positions, out.speeds
    modes = joint.modes
    excited = tuple([mode for mode in modes if mode.role == "excited"])
    if joint.velocity_rows:
        at = _add_general(out, index, joint, at)
    else:
        at = _add_modes(out, index, joint, modes, at, backwards)
        ends_beside = out.links == first or (at.r is not _ZERO and at.r.any())
        if ends_beside or (backwards and out.links == first + 1 and (out.rows["link_r"][first] != start.r).any()):
            at = _add_link(out, index, FIXED, at, _IDENTITY, at.R)  # M is beside the only axis
    F, M = (at, start) if backwards else (start, at)
    out.joints[joint.name] = index
    out.add(
        joint_kind=joint_kind(joint, modes),
        joint_first=first,
        joint_mode=0,
        joint_modes=0,
        joint_last=out.links - 1,
        joint_p=p,
        joint_np=out.positions - p,
        joint_u=u,
        joint_nu=out.speeds - u,
        joint_F=F.R,
        joint_F_link=F.link,
        joint_F_r=F.r,
        joint_M=M.R,
        joint_M_link=M.link,
        joint_M_r=M.r,
        joint_reversed=int(backwards),
        joint_held=int(joint.held),
        joint_bends=joint.bends,
        **coupled_of(out, joint),
        joint_excitation=len(out.rows.get("excitation_kind", ())),
        joint_excited=len(excited),
    )
    if excited:
        add_excitations(out, index, excited, out.positions - len(excited), out.speeds - len(excited))
    _add_start(out, joint, excited)
    return at


def joint_kind(joint: JointBase, modes: tuple[Mode, ...]) -> int:
    """The kind of a joint (fm_joint_kind), which determines its variables."""
    if joint.velocity_rows:
        return int(JOINT_NONHOLONOMIC)
    if all(mode.role == "locked" for mode in modes):
        return int(JOINT_WELD)
    if any(mode.kind == "ball" for mode in modes):
        return int(JOINT_FREE if len(modes) > 1 else JOINT_SPHERICAL)
    return int(JOINT_SCALAR)


def add_given(out: Links, given: tuple[bool, bool], count: int) -> None:
    """Adds whether positions and velocities are given, for `count` velocity variables."""
    for column, is_given in zip(("given_p", "given_u"), given, strict=True):
        out.rows[column] += [int(is_given)] * count


def _add_start(out: Links, joint: JointBase, excited: tuple[Mode, ...]) -> None:
    rows = out.rows
    add_given(out, joint.given, joint.velocities)
    rows["start_tau"] += joint.applied
    rows["start_p"] += joint.start_positions
    rows["start_u"] += joint.start_velocities
    if not excited:
        return
    eta = [mode.prescribed()[:2] for mode in excited]
    add_given(out, (False, False), len(excited))
    rows["start_tau"] += [start[0] if mode.input == "eta" else 0.0 for mode, start in zip(excited, eta, strict=True)]
    rows["start_p"] += [start[0] for start in eta]
    rows["start_u"] += [start[1] for start in eta]


def _add_body(out: Links, point: Point, at: Place) -> None:
    """Adds a body; point: on the body, at: its place in the link."""
    body = point.body
    assert isinstance(body, Body)
    X, R = point.X_BP, at.R
    if R is not _IDENTITY or X.rotation is not _UNTURNED:
        R = nearest_rotation(at.R @ X.rotation.matrix.T)
        R = _IDENTITY if (R == _IDENTITY).all() else R
    r = at.r - R @ X.translation
    out.places[body.name] = Place(at.link, R, r)
    _add_inertia(out, body, out.places[body.name])


def _add_inertia(out: Links, body: Body, at: Place) -> None:
    out.add(body_link=at.link, body_R=at.R, body_r=at.r, mass=body.mass, com=body.com)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
    out.add(inertia=(xx, yy, zz, xy, xz, yz), body_measured=int(body.measured))
    out.add(body_euler=body.sequence(), body_name=body.name)


def _add_flexible(
    out: Links, index: int, point: Point, body: ModalBody, at: Place, points: Sequence[Point]
) -> None:
    """Adds the link of a flexible body's floating frame, whose axes are those of the bending plane, and its modes.

    points: those of the body where frames are.
    """
    n, position, rows = body.modes, *body.node(point)
    seconds = body.seconds(points)
    if seconds is not None:
        _check_seconds(body, seconds)
        axes = body.plane_axes.matrix
        there = np.concatenate([seconds.rows[..., :3] @ axes, seconds.rows[..., 3:] @ axes], axis=2) + 0.0
        out.seconds[body.name] = {body.node(p)[0]: _as_rows(each) for p, each in zip(points, there, strict=True)}
    X, in_plane = point.X_BP, body.plane_axes.matrix
    R = nearest_rotation(at.R @ X.rotation.matrix.T)
    rows = (*rows, *out.seconds.get(body.name, {}).get(position, ()))
    moves = any(any(row) for row in rows)
    p, u = out.positions, out.speeds
    for strain in body.strains:
        _add_lawless_speed(out, True, strain)
    out.positions, out.speeds = p + n, u + n
    out.rows.setdefault("start_p", []).extend(body.q0)
    out.rows.setdefault("start_u", []).extend(body.u0)
    add_given(out, body.given, n)
    out.rows.setdefault("start_tau", []).extend([0.0] * n)
    which = len(out.rows.get("modal_link", ()))
    frame = _add_frame_rows(out, out.links, rows) if moves else -1
    at = Place(at.link, R, at.r - R @ X.translation)
    axes = nearest_rotation(R @ in_plane)
    link = _add_link(out, index, MODAL, at, axes, in_plane.T, p, u, modal=which, frame=frame).link
    turned = _turned(in_plane)
    out.add(
        modal_link=link,
        modal_r=in_plane.T @ position,
        modal_shape=len(out.rows.get("shape_first", ())),
        modal_shapes=n,
        modal_pair=len(out.rows.get("pair_mass", ())),
        modal_follower=-1 if seconds is None else len(out.rows.get("follower", ())),
        modal_seconds=0 if seconds is None else len(seconds.first),
    )
    first, moment = np.array(body.shape_mass), np.array(body.shape_moment)
    product, mass = np.array(body.shape_product), np.array(body.modal_mass)
    stiffness, damping = np.array(body.stiffness), np.array(body.damping)
    if seconds is not None:
        more = len(seconds.first)
        first, moment = np.concatenate([first, seconds.first]), np.concatenate([moment, seconds.moment])
        product = np.concatenate([product, np.swapaxes(seconds.product[:n], 0, 1).swapaxes(2, 3)])
        product = np.concatenate([product, seconds.product], axis=1)
        mass = np.pad(mass, (0, more))
        mass[:, n:], mass[n:] = (block := np.trace(seconds.product, axis1=2, axis2=3)), block.T
        stiffness, damping = np.pad(stiffness, (0, more)), np.pad(damping, (0, more))
        for C in seconds.followers.reshape(-1).tolist():
            out.add(follower=C)
    for name, modal_stress in body.stresses:
        out.add(gauge_name=f"{body.name}.{name}", gauge_modal=which, gauge_first=len(out.rows["gauge_stress"]))
        out.rows["gauge_stress"] += modal_stress
    kinds = (*(body.kinds or ("",) * n), *("",) * (len(first) - n))
    for one, other, kind in zip(first, moment, kinds, strict=True):
        out.add(shape_first=in_plane.T @ one, shape_moment=turned(other), shape_kind=kind)
    for j in range(len(first)):
        for k in range(len(first)):
            out.add(
                pair_product=turned(product[j, k]),
                pair_mass=mass[j, k],
                pair_stiffness=stiffness[j, k],
                pair_damping=damping[j, k],
            )
    out.places[body.name] = Place(link, in_plane.T, _ZERO)
    out.carriers[body.name], out.frames[body.name] = index, {}
    _add_inertia(out, body, out.places[body.name])


def _as_rows(rows: Array) -> Displacements:
    return tuple(tuple(row) for row in rows.tolist())


def _check_seconds(body: ModalBody, seconds: Seconds) -> None:
    if len(seconds.first) > MOST_SECONDS:
        raise ModelError(
            f"ModalBody '{body.name}' has too many points where something acts for its displacements of second order: "
            f"{len(seconds.first)} shapes of at most {MOST_SECONDS}. Divide the body, or give stiffening=False."
        )


def _turned(R: Array) -> Callable[[Any], Array]:
    return lambda matrix: R.T @ np.array(matrix) @ R


def _add_frame(out: Links, body: ModalBody, node: Node) -> None:
    """Adds a link for a frame that moves with the modes; a frame that no mode moves belongs to the floating frame."""
    position, rows = node
    rows = (*rows, *out.seconds.get(body.name, {}).get(position, ()))
    floating, frames = out.places[body.name], out.frames[body.name]
    if not any(any(row) for row in rows):
        frames[node] = floating.link
        return
    frame = _add_frame_rows(out, out.links, rows)
    which = out.rows["link_modal"][floating.link]
    at = Place(floating.link, floating.R, floating.R @ position)
    joint = out.carriers[body.name]
    frames[node] = _add_link(out, joint, FRAME, at, _IDENTITY, floating.R, modal=which, frame=frame).link


def _add_frame_rows(out: Links, link: int, rows: Displacements) -> int:
    """What each mode and each shape of second order does at a frame: translation and rotation vector in the axes of the
    floating frame.
    """
    out.add(frame_link=link, frame_first=len(out.rows.get("frame_shape", ())))
    for row in rows:
        out.add(frame_shape=row)
    return len(out.rows["frame_link"]) - 1


def _coordinate_axis(axis: Array) -> tuple[int, float] | None:
    values = axis.tolist()
    sizes = [abs(value) for value in values]
    k = sizes.index(max(sizes))
    rest = sizes[(k + 1) % 3] + sizes[(k + 2) % 3]
    return (k, 1.0 if values[k] > 0 else -1.0) if rest <= _PARALLEL else None


def _add_modes(
    out: Links, index: int, joint: JointBase, modes: tuple[Mode, ...], at: Place, backwards: bool
) -> Place:
    """Adds a link for each mode that moves. Returns the frame after them, which may differ from the last link's."""
    free = [mode for mode in modes if mode.role == "free"]
    geared = add_free_speeds(out, joint, free) or joint.name in out.geared
    places = _variables(out, modes)
    for mode, p, u in reversed(places) if backwards else places:
        turned = _opposite(mode) if backwards else mode
        if mode.role == "locked":
            at = Place(at.link, *locked(turned, at.R, at.r))
        else:
            at = _add_mode(out, index, turned, at, p, u, geared)
    return at


def _variables(out: Links, modes: tuple[Mode, ...]) -> list[tuple[Mode, int, int]]:
    """Each mode with its first position and velocity variable; those of free modes come before excited ones."""
    p, u = out.positions, out.speeds
    found = {}
    for role in ("free", "excited"):
        for k, mode in enumerate(modes):
            if mode.role == role:
                found[k] = p, u
                p, u = p + (mode.positions or 1), u + (mode.velocities or 1)
                if role == "excited":
                    _add_lawless_speed(out, mode.linear)
    out.positions, out.speeds = p, u
    return [(mode, *found.get(k, (-1, -1))) for k, mode in enumerate(modes)]


def _opposite(mode: Mode) -> Mode:
    """The mode of the inverse motion; a ball has the conjugate quaternion (core/tree/reversed.c)."""
    x, y, z = mode.axis
    return replace(mode, axis=(-x, -y, -z))


def _add_mode(out: Links, index: int, mode: Mode, at: Place, p: int, u: int, geared: bool) -> Place:
    """Adds a link for one mode. Returns the frame after it."""
    if mode.kind == "ball":
        return _add_link(out, index, SPHERICAL, at, at.R, _IDENTITY, p=p, u=u)
    linear, driven = mode.kind == "prismatic", mode.role == "excited"
    special = mode.pitch != 0.0 or geared or driven
    straight = _COORDINATE_AXES.get(mode.axis) if at.R is _IDENTITY and not (special or linear) else None
    if straight is not None:  # as below, without arithmetic
        return _add_link(out, index, _REVOLUTES[straight[0]], at, _IDENTITY, _IDENTITY, p, u, straight[1])
    own = np.array(mode.axis)
    axis = own if at.R is _IDENTITY else at.R @ own
    along = _coordinate_axis(axis)
    if along is not None:
        axis = along[1] * _IDENTITY[along[0]]
    if special:
        kind = DRIVEN if driven else SCREW
        screw = (0.0, 0.0, 0.0 if linear else 1.0, 0.0, 0.0, 1.0 if linear else mode.pitch)
    elif linear or along is None:
        kind, screw = (PRISMATIC if linear else REVOLUTE), (0.0,) * 6
    else:
        k, sign = along
        return _add_link(out, index, _REVOLUTES[k], at, _IDENTITY, aligned(at.R, own, axis), p, u, sign)
    R = axes_along(axis)
    return _add_link(out, index, kind, at, R, aligned(R.T @ at.R, own, _IDENTITY[2]), p=p, u=u, screw=screw)


def _add_general(out: Links, index: int, joint: JointBase, at: Place) -> Place:
    """Adds one link for all modes of a joint with velocity rows."""
    p, u, which = out.positions, out.speeds, len(out.rows.get("general_link", ()))
    running = add_general(out, out.links, joint)
    out.positions += len(joint.free_modes) + len(joint.excited_modes)
    for row in joint.speed_rows:
        _add_lawless_speed(out, not any(row[:3]))
    for mode in joint.excited_modes:
        _add_lawless_speed(out, mode.linear)
    out.speeds = u + len(joint.speed_rows) + len(joint.excited_modes)
    return _add_link(out, index, GENERAL, at, at.R, running, p=p, u=u, general=which)


def add_free_speeds(out: Links, joint: JointBase, free: list[Mode]) -> bool:
    """Adds a row for each velocity of the free modes. Returns whether any has a rotor inertia."""
    each = [joint.law(law) for law in LAWS]
    linear = [mode.linear for mode in free for _ in range(mode.velocities)]
    for stiffness, damping, rest, rotor, slides, strain in zip(*each, linear, joint.strains, strict=True):
        out.add(stiffness=stiffness, damping=damping, rest=rest, rotor_inertia=rotor)
        out.add(mode_linear=int(slides), mode_strain=strain)
    return any(each[3])


def coupled_of(out: Rows, joint: JointBase) -> dict[str, int]:
    """Adds the entries of a joint's matrices beside their diagonals; returns which."""
    entries, first = joint.coupled, len(out.rows.get("coupled_modes", ()))
    for a, b, stiffness, damping in entries:
        out.add(coupled_modes=(a, b), coupled_stiffness=stiffness, coupled_damping=damping)
    return {"joint_coupled": first if entries else 0, "joint_couplings": len(entries)}


def _add_lawless_speed(out: Links, linear: bool, strain: float = 0.0) -> None:
    out.add(stiffness=0.0, damping=0.0, rest=0.0, rotor_inertia=0.0, mode_linear=int(linear), mode_strain=strain)


def _add_link(
    out: Links,
    joint: int,
    kind: int,
    at: Place,
    R: Array,
    running: Array,
    p: int = -1,
    u: int = -1,
    sign: float = 1.0,
    screw: tuple[float, ...] = (0.0,) * 6,
    general: int = -1,
    modal: int = -1,
    frame: int = -1,
) -> Place:
    """Adds a link with axes R and origin at `at`. Returns the frame after it; running: its axes in the new link."""
    out.add(
        link_kind=kind,
        link_parent=at.link,
        link_p=p,
        link_u=u,
        link_joint=joint,
        link_sign=sign,
        link_screw=screw,
        link_general=general,
        link_modal=modal,
        link_frame=frame,
        link_R=R,
        link_r=at.r,
    )
    out.links += 1
    return Place(out.links - 1, running, _ZERO)
