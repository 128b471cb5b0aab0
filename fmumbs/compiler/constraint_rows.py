"""The constraint rows of a joint, between its frames F and M (core/loops/constraints.c).

For a product of slides, then turns about axes through one point, then slides, the origin of M stays in the span of the
slides: in F's axes if they precede the turns, in M's axes if they follow them. One turn keeps two axes parallel, two
turns keep the angle between their axes, and three leave the orientation free. Any other product, such as a slide
between turns, has the rows that its modes leave out (core/loops/mode_rows.c).
"""

from __future__ import annotations  # np.random is imported at its first use

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler.layout import lib
from fmumbs.mechanism import Closing, JointBase, Mode
from fmumbs.mechanism.joints.product import axes_after, screws
from fmumbs.spatial import Rotation, cross

Array = NDArray[np.float64]

# fm_row_kind
ALONG, PERPENDICULAR, DISTANCE = lib.FM_ROW_ALONG, lib.FM_ROW_PERPENDICULAR, lib.FM_ROW_DISTANCE
GIVEN, COUPLED, ALONG_M, SCREW_ROW = lib.FM_ROW_GIVEN, lib.FM_ROW_COUPLED, lib.FM_ROW_ALONG_M, lib.FM_ROW_SCREW
MODES, MODES_M = lib.FM_ROW_MODES, lib.FM_ROW_MODES_M

Row = tuple[int, Array, Array, float]  # kind, vector in F, vector in M, length [m], pitch [m/rad] or cosine

NO_VECTOR = np.array([1.0, 0.0, 0.0])  # placeholder in a row without that vector
_KINDS = {"along": ALONG, "perpendicular": PERPENDICULAR, "distance": DISTANCE, "contact": lib.FM_ROW_CONTACT}
RATES = {
    "speed": lib.FM_ROW_SPEED, "speed_M": lib.FM_ROW_SPEED_M, "spin": lib.FM_ROW_SPIN, "spin_M": lib.FM_ROW_SPIN_M,
    "twist": lib.FM_ROW_TWIST, "twist_M": lib.FM_ROW_TWIST_M, "rolling": lib.FM_ROW_ROLLING,
}  # fmt: skip
TWISTS = RATES["twist"], RATES["twist_M"]  # with an angular and a linear part in the same axes, of F or of M
_AXES = np.eye(3)
_PARALLEL = 1.0 - 1e-12  # axes are parallel if their cosine is above this
_SAMPLES = 40  # positions at which the reference of mode rows is compared with what slides
_DEPENDENT = 1e-9  # singular values of modes below this are zero


def rows_of(joint: JointBase) -> list[Row]:
    """The constraint rows of a joint that is neither nonholonomic nor has excited modes."""
    if isinstance(joint, Closing):
        return [((_KINDS | RATES)[kind], np.array(f), np.array(g), value) for kind, f, g, value in joint.rows]
    rows = _simple_rows(joint)
    return list(_mode_rows(joint)) if rows is None else rows


def has_simple_rows(joint: JointBase) -> bool:
    """Whether the rows need no coordinates of the joint, so that they take less time."""
    return isinstance(joint, Closing) or len(joint.modes) == 1 or _simple_rows(joint) is not None


def _simple_rows(joint: JointBase) -> list[Row] | None:
    if joint.velocities == 6:
        return []
    if any(mode.pitch != 0.0 and mode.free for mode in joint.modes):
        return list(_of_screw(joint.modes[0])) if len(joint.modes) == 1 else None
    return _of_product(joint.modes)


def _mode_rows(joint: JointBase) -> Iterator[Row]:
    """Rows along what the modes leave out, with the reference that is furthest from parallel to what slides."""
    rng = np.random.default_rng(0)
    sampled = list(_sliding(joint, rng))
    best, kind, f, g = -1.0, MODES, NO_VECTOR, NO_VECTOR
    for in_M in (False, True):
        directions = [R.T @ d if in_M else d for R, d in sampled]
        axes = [axis for mode in joint.modes if mode.kind != "ball" for axis in [np.array(mode.axis)]]
        for axis in (*_AXES, *axes):
            least = min((float(np.linalg.norm(cross(d, axis))) for d in directions), default=0.0)
            if least > best + 1e-9:
                best, kind = least, MODES_M if in_M else MODES
                f, g = (NO_VECTOR, axis) if in_M else (axis, NO_VECTOR)
    for _ in range(6 - joint.velocities):
        yield kind, f, g, 0.0


def _sliding(joint: JointBase, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    """At random positions the axes of M in F, and the direction in F that slides if there is a single one."""
    for _ in range(_SAMPLES):
        parts: list[float] = []
        for mode in joint.free_modes:
            parts += rng.normal(size=mode.positions).tolist() if mode.kind == "ball" else [float(rng.uniform(-3, 3))]
        at = joint.all_positions(parts)
        columns = screws(joint.modes, at)
        roles = [mode.free for mode in joint.modes for _ in range(3 if mode.kind == "ball" else 1)]
        free = columns[:, roles]
        _, s, rows = np.linalg.svd(free[:3])
        null = rows[int(np.sum(s > _DEPENDENT)) :].T
        slides = free[3:] @ null
        if slides.shape[1] == 1 and np.linalg.norm(slides) > _DEPENDENT:
            yield axes_after(joint.modes, at, len(joint.modes)), slides[:, 0] / np.linalg.norm(slides)


def _of_screw(mode: Mode) -> Iterator[Row]:
    axis = np.array(mode.axis)
    yield from _along(_across(axis))
    yield SCREW_ROW, axis, NO_VECTOR, mode.pitch
    yield from _parallel(axis, axis)


def _of_product(modes: tuple[Mode, ...]) -> list[Row] | None:
    turns = [i for i, mode in enumerate(modes) if mode.free and not mode.linear]
    if any(mode.kind == "ball" for mode in modes) and len(turns) > 1:
        return None
    first, last = (turns[0], turns[-1]) if turns else (len(modes), len(modes) - 1)
    constants = _constants(modes, turns)
    axes = [np.array(modes[i].axis) for i in turns]
    before = _slides(modes[:first], np.eye(3))
    behind = _slides(modes[last + 1 :], constants[-1].T) if turns else []
    if _slides(modes[first : last + 1], np.eye(3)):
        return None
    if len(turns) == 1 and modes[turns[0]].kind != "ball":
        before, behind = _one_side(before, behind, constants[0] @ axes[0], constants[1].T @ axes[0])
    if before and behind:
        return None
    if turns and not before and not behind and len(turns) == 1 and modes[turns[0]].kind != "ball":
        places = [(ALONG, v, NO_VECTOR, 0.0) for v in _basis(constants[0] @ axes[0])]
    else:
        places = list(_on_span(behind, in_M=True) if behind else _on_span(before, in_M=False))
    return [*places, *_of_turns(modes, turns, constants, axes)]


def _constants(modes: tuple[Mode, ...], turns: list[int]) -> list[Array]:
    """(turns + 1,) rotations of the locked modes before the first turn, between turns, and after the last."""
    found = [np.eye(3)]
    for i, mode in enumerate(modes):
        if i in turns:
            found.append(np.eye(3))
        elif not mode.linear:
            found[-1] = found[-1] @ Rotation.about(mode.axis, mode.value).matrix
    return found


Span = tuple[Array, float | None]  # a direction, and the displacement of a locked slide along it; None: free


def _slides(modes: tuple[Mode, ...], R: Array) -> list[Span]:
    """Directions of slides; R: the rotation that precedes them."""
    found: list[Span] = []
    for mode in modes:
        axis = R @ np.array(mode.axis)
        if mode.free and mode.linear:
            found.append((axis, None))
        elif not mode.free:
            far = mode.value if mode.linear else mode.pitch * mode.value
            if far != 0.0:
                found.append((axis, far))
            if not mode.linear:
                R = R @ Rotation.about(mode.axis, mode.value).matrix
    return found


def _one_side(before: list[Span], behind: list[Span], in_F: Array, in_M: Array) -> tuple[list[Span], list[Span]]:
    """Moves slides along the axis of a single turn to one side of it, as they commute with it."""
    if all(abs(axis @ in_M) > _PARALLEL for axis, _ in behind):
        return before + [(in_F * np.sign(axis @ in_M), far) for axis, far in behind], []
    if all(abs(axis @ in_F) > _PARALLEL for axis, _ in before):
        return [], [(in_M * np.sign(axis @ in_F), far) for axis, far in before] + behind
    return before, behind


def _on_span(slides: list[Span], *, in_M: bool) -> Iterator[Row]:
    """Rows that keep M's origin in the span of the free slides."""
    free = [axis for axis, far in slides if far is None]
    offset = sum((axis * far for axis, far in slides if far is not None), np.zeros(3))
    for direction in _complement(free):
        far = float(direction @ offset)
        yield (ALONG_M, NO_VECTOR, direction, far) if in_M else (ALONG, direction, NO_VECTOR, far)


def _complement(free: list[Array]) -> Array:
    """(3 - n, 3) unit vectors perpendicular to n independent directions."""
    match len(free):
        case 0:
            return _AXES
        case 1:
            return _across(free[0])
        case 2:
            normal = cross(free[0], free[1])
            return (normal / np.linalg.norm(normal))[None, :]
        case _:
            return np.zeros((0, 3))


def _of_turns(modes: tuple[Mode, ...], turns: list[int], constants: list[Array], axes: list[Array]) -> Iterator[Row]:
    match len(turns):
        case 0:
            for f, g in ((0, 1), (0, 2), (1, 2)):
                yield PERPENDICULAR, _AXES[f], constants[0].T @ _AXES[g], 0.0
        case 1 if modes[turns[0]].kind != "ball":
            yield from _parallel(constants[0] @ axes[0], constants[1].T @ axes[0])
        case 2:
            one, other = constants[0] @ axes[0], constants[2].T @ axes[1]
            yield PERPENDICULAR, one, other, float(axes[0] @ constants[1] @ axes[1])


def _across(axis: Array) -> Array:
    """(2, 3) unit vectors that span the plane perpendicular to an axis."""
    one = cross(axis, _AXES[int(np.abs(axis).argmin())])
    one /= np.linalg.norm(one)
    return np.array([one, cross(axis, one)])


def _basis(axis: Array) -> Array:
    """(3, 3) an axis and unit vectors perpendicular to it, which separates the in-plane rows of a planar mechanism."""
    return np.array([axis, *_across(axis)])


def _along(vectors: Array) -> Iterator[Row]:
    for vector in vectors:
        yield ALONG, vector, NO_VECTOR, 0.0


def _parallel(f: Array, g: Array) -> Iterator[Row]:
    """Rows that keep the axes f of F and g of M parallel."""
    for vector in _across(f):
        yield PERPENDICULAR, vector, g, 0.0
