"""Model -> Scene: what depends on one coordinate of a joint, stops and couplings.

A mode that turns has its axis in F's frame if no mode before it turns, in M's if none behind it does. The angle of one
beside a second mode that turns is seen on the axis of that mode, which is at rest on the other side.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from fmumbs._checks import Vec3
from fmumbs.mechanism import Cam, Gear, JointBase, Mode, Model, Motor, Stop
from fmumbs.mechanism.coupling import Coupling
from fmumbs.scene.described import CouplingLook, StopLook, Symbol, TermLook

Frame = Literal["F", "M"]

_CAM_POINTS = 72  # of a cam's edge, one more with the last


def frame_of(modes: Sequence[Mode], i: int) -> Frame:
    """The joint's frame in which a mode is drawn: F if nothing turns before it, unless it could be on M as well."""
    turned = any(mode.kind != "prismatic" for mode in modes[:i])
    last = all(mode.kind == "prismatic" for mode in modes[i + 1 :])
    return "F" if not turned and not (last and modes[i].kind != "prismatic") else "M"


def stops_of(model: Model, places: Mapping[str, int]) -> Iterator[StopLook]:
    """The stops of joints whose positions can be seen. places: indices of the joints that are shown, by name."""
    for stop in model.laws:
        if isinstance(stop, Stop) and isinstance(stop.on, JointBase) and stop.on.name in places:
            look = _stop(stop, stop.on, places[stop.on.name])
            if look is not None:
                yield look


def motors_of(model: Model) -> dict[str, list[Symbol]]:
    """Symbols of motors by the names of the joints that they drive."""
    found: dict[str, list[Symbol]] = {}
    for motor in model.forces_of(Motor):
        mode, i = _place(motor.on, motor.mode)
        found.setdefault(motor.on.name, []).append(Symbol("motor", frame_of(motor.on.modes, i), _vec(mode.axis)))
    return found


def lengths_of(model: Model) -> dict[str, tuple[float | None, float | None]]:
    """Least and greatest length [m] at which stops act, by the names of the springs that have some."""
    found: dict[str, tuple[float | None, float | None]] = {}
    for stop in model.laws:
        if isinstance(stop, Stop) and not isinstance(stop.on, JointBase):
            before = found.get(stop.on.name, (None, None))
            found[stop.on.name] = (
                before[0] if stop.lower is None else stop.lower,
                before[1] if stop.upper is None else stop.upper,
            )
    return found


def couplings_of(model: Model, places: Mapping[str, int]) -> Iterator[CouplingLook]:
    """Couplings of joints that are shown, and gears with play. places: as for stops_of()."""
    for gear in model.forces_of(Gear):
        if gear.A.name in places and gear.B.name in places:
            ends = ((gear.A, gear.mode_A, 1.0), (gear.B, gear.mode_B, -gear.ratio))
            yield CouplingLook(gear.name, tuple(_term(*one, places[one[0].name]) for one in ends), False)
    for one in model.couplings:
        if type(one) in (Coupling, Cam) and all(joint.name in places for joint, _, _ in one.coordinates):
            terms = tuple(_term(joint, mode, ratio, places[joint.name]) for joint, mode, ratio in one.coordinates)
            yield CouplingLook(one.name, terms, one.belt_drive, _profile(one) if isinstance(one, Cam) else ())


def _profile(cam: Cam) -> tuple[tuple[float, float], ...]:
    """Points of a round, or from the first to the last piece of a profile that does not repeat."""
    path = cam.path
    first, last = path.breaks[0], path.breaks[0] + path.period if path.period else path.breaks[-1]
    if last == first:
        last = first + 2.0 * math.pi
    angles = [first + (last - first) * k / _CAM_POINTS for k in range(_CAM_POINTS + 1)]
    return tuple((cam.phase + x, cam.offset + cam.scale * path(x)[0]) for x in angles)


def _term(joint: JointBase, number: int, ratio: float, place: int) -> TermLook:
    mode, i = _place(joint, number)
    return TermLook(place, ratio, frame_of(joint.modes, i), _vec(mode.axis), mode.kind == "prismatic")


def _place(joint: JointBase, number: int) -> tuple[Mode, int]:
    """A mode by its number among those that move, free ones first, and where it is among all."""
    modes = joint.modes
    order = [i for role in ("free", "excited") for i, mode in enumerate(modes) if mode.role == role]
    return modes[order[number - 1]], order[number - 1]


def _stop(stop: Stop, joint: JointBase, place: int) -> StopLook | None:
    mode, i = _place(joint, stop.mode)
    axis = _vec(mode.axis)
    if mode.kind == "prismatic":
        on = frame_of(joint.modes, i)
        return StopLook(stop.name, place, on, axis, None, None, stop.lower, stop.upper)
    others = [k for k, one in enumerate(joint.modes) if k != i and one.kind != "prismatic"]
    if not others:
        zero = _across(axis, min(np.eye(3), key=lambda one: abs(float(one @ np.array(axis)))))
        return StopLook(stop.name, place, "F", axis, zero, zero, stop.lower, stop.upper)
    other = joint.modes[others[0]]
    zero = _across(axis, np.array(other.axis))
    if len(others) > 1 or other.kind != "revolute" or other.role == "locked" or zero is None:
        return None
    if others[0] > i:
        return StopLook(stop.name, place, "F", axis, zero, _vec(other.axis), stop.lower, stop.upper)
    lower, upper = (None if end is None else -end for end in (stop.upper, stop.lower))
    return StopLook(stop.name, place, "M", axis, zero, _vec(other.axis), lower, upper)


def _across(axis: Vec3, vector: np.ndarray) -> Vec3 | None:
    """The unit vector of what is perpendicular to an axis; None if nothing is."""
    a = np.array(axis)
    part = vector - (vector @ a) * a
    size = float(np.sqrt(part @ part))
    return _vec(part / size) if size > 1e-6 else None


def _vec(values: Sequence[float] | np.ndarray) -> Vec3:
    x, y, z = (float(v) for v in values)
    return x, y, z
