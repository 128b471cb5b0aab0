"""Ropes: their sides, from pulley to pulley, and where these touch the pulleys at the start (core/forces/sides.c).

A force law of two pieces, slack and taut, stands for each side, so that the integrator stops where it goes from one to
the other. Pulleys need positions: these are those of the assembled start.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.laws import NO_FORCE, UNBOUNDED, add_law
from fmumbs.compiler.layout import Arrays, lib, open_where_given, values_of
from fmumbs.compiler.links import Links
from fmumbs.errors import ModelError
from fmumbs.mechanism import Model, Point, Pulley, Rope

Array = NDArray[np.float64]

_EQUAL = 1e-9  # of the radius: ways whose lengths differ by less are equally short


def add_ropes(
    out: Links, model: Model, put_point: Callable[[Point], int], put: Callable[[str], int]
) -> None:
    """Adds the model's ropes, not yet laid on their pulleys. put_point, put: store a point, a text.

    Raises ModelError for a pulley on a joint that closes a loop.
    """
    if not model.ropes:
        return
    pieces = len(out.rows.get("law_range", ()))
    for low, high in ((-UNBOUNDED, 0.0), (0.0, UNBOUNDED)):  # slack, taut
        out.add(law_range=[low, high, -UNBOUNDED, UNBOUNDED, 0.0], law_polynomial=NO_FORCE)
    for number, rope in enumerate(model.ropes):
        controls = out.rows.setdefault("control_start", [])
        out.add(rope_name=put(rope.name), rope_stiffness=rope.stiffness, rope_damping=rope.damping)
        out.add(rope_length=rope.whole, rope_winch=len(controls) if rope.winch else -1)
        controls += [rope.whole] * rope.winch
        first = len(out.rows.get("pulley_radius", ()))
        out.add(rope_side=len(out.rows.get("side_rope", ())), rope_sides=len(rope.sides))
        out.add(rope_pulley=first, rope_pulleys=len(rope.pulleys))
        frames = [_add_pulley(out, rope, one, put_point) for one in rope.pulleys]
        _add_sides(out, rope, number, first, frames, pieces, put_point, put)


def _add_pulley(
    out: Links, rope: Rope, pulley: Pulley, put_point: Callable[[Point], int]
) -> tuple[int, Array, Array]:
    """Adds a pulley; returns the link that carries it, its centre and its axis in that link."""
    joint, rows = pulley.joint, out.rows
    i = out.in_tree(joint, f"{rope.title} runs over a pulley on")
    out.add(pulley_radius=pulley.radius, pulley_disc=put_point(joint.M), pulley_angle=float(joint.q0))
    out.add(pulley_p=rows["joint_p"][i], pulley_u=rows["joint_u"][i])
    axis = np.asarray(rows["joint_F"][i], float).reshape(3, 3) @ np.array(joint.modes[0].axis)
    return int(rows["joint_F_link"][i]), np.array(rows["joint_F_r"][i], float), axis


def _add_sides(
    out: Links,
    rope: Rope,
    number: int,
    first: int,
    frames: list[tuple[int, Array, Array]],
    pieces: int,
    put_point: Callable[[Point], int],
    put: Callable[[str], int],
) -> None:
    """Adds the sides of a rope and their laws."""
    before = 0  # points of the rope before the side
    lengths = rope.length if isinstance(rope.length, tuple) else [rope.whole / len(rope.sides)] * len(rope.sides)
    for k, side in enumerate(rope.sides):
        law, via = len(out.rows.get("law_name", ())), len(out.rows.get("via_point", ()))
        add_law(out, put(f"{rope.name}.side{k + 1}"), pieces, 2, side=len(out.rows.get("side_rope", ())))
        out.add(side_rope=number, side_law=law, side_via=via, side_vias=len(side), side_share=lengths[k] / rope.whole)
        for i, item in enumerate(side):
            if isinstance(item, Point):
                out.add(via_point=put_point(item), via_pulley=-1, via_turn=0.0)
                continue
            pulley = sum(isinstance(one, Pulley) for one in rope.points[: before + i])
            link, centre, axis = frames[pulley]
            out.add(via_point=len(out.rows["point_link"]), via_pulley=first + pulley, via_turn=1.0 if i == 0 else -1.0)
            out.add(point_link=link, point_r=centre, point_R=_frame(axis, 0.0).ravel(), point_name=put(""))
        before += len(side) - 1


def _frame(axis: Array, angle: float) -> Array:
    """(3, 3) axes with z along a unit vector, x at an angle about it from a direction that depends on z alone."""
    across = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = across - (across @ axis) * axis
    x /= np.linalg.norm(x)
    y = np.cross(axis, x)
    turned = math.cos(angle) * x + math.sin(angle) * y
    return np.column_stack([turned, np.cross(axis, turned), axis])


def reeve(model: Model, arrays: Arrays) -> None:
    """Lays the ropes on their pulleys at the start: the sides' shares of one length, where they touch, and which way
    round each pulley is the shorter one. If the mechanism cannot be assembled, they stay as they are.

    Raises ModelError for a point that is inside a pulley beside it, and for ways that are equally short.
    """
    if not arrays["pulley_radius"].size:
        return
    found = _places(arrays)
    if found is None:
        return
    place, angle = found
    arrays["pulley_angle"] = angle
    arrays["point_R"], arrays["via_turn"] = arrays["point_R"].copy(), arrays["via_turn"].copy()
    side = 0
    for rope in model.ropes:
        sides = range(side, side + len(rope.sides))
        if rope.pulleys:
            lengths = _lay(rope, arrays, place, sides)
            if not isinstance(rope.length, tuple):
                arrays["side_share"][list(sides)] = lengths / lengths.sum()
        side = sides.stop


def _lay(rope: Rope, arrays: Arrays, place: Array, sides: range) -> Array:
    """(sides,) lengths of the sides of a rope between its pulleys. place: of the points, and of the axes at each."""
    first = int(arrays["rope_pulley"][arrays["side_rope"][sides.start]])
    for k, pulley in enumerate(rope.pulleys):
        ends = [(i, neighbour) for i, neighbour in _vias(arrays, sides) if arrays["via_pulley"][i] == first + k]
        at = [_seen(arrays, place, i, neighbour) for i, neighbour in ends]
        for N in at:
            if not math.hypot(N[0], N[1]) > pulley.radius:
                raise ModelError(
                    f"{rope.title}: a point beside the pulley on '{pulley.joint.name}' is {math.hypot(N[0], N[1]):g} m "
                    f"from its axis at the start, within its radius, {pulley.radius:g} m. Move it further away."
                )
        sense = {"positive": 1.0, "negative": -1.0}.get(pulley.side) or _shorter(rope, pulley, at)
        for N, (i, _) in zip(at, ends, strict=True):
            turn = sense * float(arrays["via_turn"][i])
            frame = int(arrays["via_point"][i])
            axes = arrays["point_R"][frame].reshape(3, 3)
            arrays["point_R"][frame] = (axes @ _turned(_touch(N, pulley.radius, turn))).ravel()
            arrays["via_turn"][i] = turn
    return np.array([_length(arrays, place, side) for side in sides])


def _vias(arrays: Arrays, sides: range) -> list[tuple[int, int]]:
    """The places of pulleys in these sides, and that of the point beside each."""
    found = []
    for side in sides:
        first, count = int(arrays["side_via"][side]), int(arrays["side_vias"][side])
        ends = ((first, first + 1), (first + count - 1, first + count - 2))
        found += [(i, beside) for i, beside in ends if arrays["via_pulley"][i] >= 0]
    return found


def _seen(arrays: Arrays, place: Array, via: int, other: int) -> Array:
    """(3,) where the point of `other` is in the frame of the pulley at `via`."""
    frame, point = int(arrays["via_point"][via]), int(arrays["via_point"][other])
    seen: Array = place[frame, 1:] @ (place[point, 0] - place[frame, 0])
    return seen


def _touch(N: Array, radius: float, turn: float) -> float:
    """The angle at which a tangent from N touches a disc (core/forces/sides.c)."""
    t = math.sqrt(N[0] * N[0] + N[1] * N[1] - radius * radius)
    return math.atan2(radius * N[1] - turn * t * N[0], radius * N[0] + turn * t * N[1])


def _shorter(rope: Rope, pulley: Pulley, at: list[Array]) -> float:
    """The sense in which the way around a pulley from one point to the other is shorter."""
    arcs = []
    for sense in (1.0, -1.0):
        before, after = (_touch(N, pulley.radius, turn) for N, turn in zip(at, (-sense, sense), strict=True))
        arcs.append((sense * (after - before)) % (2 * math.pi))
    if abs(arcs[0] - arcs[1]) < _EQUAL:
        raise ModelError(
            f"{rope.title}: both ways around the pulley on '{pulley.joint.name}' are equally long at the start. "
            "Give the pulley's side, 'positive' or 'negative'."
        )
    return 1.0 if arcs[0] < arcs[1] else -1.0


def _turned(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _length(arrays: Arrays, place: Array, side: int) -> float:
    """The length of a side between its pulleys."""
    first, count = int(arrays["side_via"][side]), int(arrays["side_vias"][side])
    length = 0.0
    for i in range(first, first + count - 1):
        pulley, other = (i, i + 1) if arrays["via_pulley"][i] >= 0 else (i + 1, i)
        N = _seen(arrays, place, pulley, other)
        radius = arrays["pulley_radius"][arrays["via_pulley"][pulley]] if arrays["via_pulley"][pulley] >= 0 else 0.0
        length += math.sqrt(N @ N - radius * radius)
    return length


def _places(arrays: Arrays) -> tuple[Array, Array] | None:
    """(points, 4, 3) positions and axes of all points in the assembled start, and (pulleys,) angles; None if there is
    no such start.
    """
    count = len(arrays["point_link"])
    R = arrays["point_R"].reshape(-1, 3, 3)
    far = math.ldexp(1.0, math.frexp(float(arrays["rope_length"].max()))[1])  # power of two: axes keep their digits
    tips = far * np.swapaxes(R, 1, 2) + arrays["point_r"][:, None]  # of vectors along the axes of each point
    more = {  # behind the points that there are
        "point_link": np.tile(arrays["point_link"], 4),
        "point_r": np.concatenate([arrays["point_r"], *np.swapaxes(tips, 0, 1)]),
        "point_R": np.tile(arrays["point_R"], (4, 1)),
        "point_name": np.tile(arrays["point_name"], 4),
    }
    joints = arrays["joint_first"] >= 0
    angles = np.array([np.flatnonzero(joints & (arrays["joint_p"] == p))[-1] for p in arrays["pulley_p"]])
    variables = {
        "variable_kind": np.repeat([lib.FM_P_R, lib.FM_J_Q], [12 * count, len(angles)]),
        "variable_object": np.concatenate([np.repeat(np.arange(4 * count), 3), angles]),
        "variable_component": np.concatenate([np.tile([0, 1, 2], 4 * count), np.full(len(angles), -1)]),
        "variable_name": np.full(12 * count + len(angles), -1),
    }
    variables = {name: column.astype(np.int32) for name, column in variables.items()}
    instance = open_where_given(arrays | more | variables)
    if lib.fm_assemble(instance, 0.0) != lib.FM_OK:
        return None
    values = values_of(instance, np.arange(12 * count + len(angles)))
    place = np.swapaxes(values[: 12 * count].reshape(4, count, 3), 0, 1)
    place[:, 1:] = (place[:, 1:] - place[:, :1]) / far
    return place, values[12 * count :]
