"""Drives that realise programs (core/loops/realised.c): their coordinates, and what must not lie between."""

import math
from collections.abc import Iterator

import numpy as np

from fmumbs.compiler.couplings import link_of
from fmumbs.compiler.links import Links
from fmumbs.errors import ModelError
from fmumbs.mechanism import Coupling, FlexibleLink, FlexibleSupport, JointBase, Model, Program
from fmumbs.mechanism.laws import ForceLaw, Piece

_WINDOW = 10.0  # [rad] or [m]: where laws without bounds are compared
_SAMPLES = 12  # more than the degree of a difference of two polynomials has zeros
_JUMP = 1e-9  # relative to the forces: less is round-off


def add_drives(out: Links, model: Model) -> None:
    """Adds the drives of each program that has some to its excited modes.

    Raises ModelError for a drive that closes a loop or that is named twice, for flexible bodies between drives and what
    they move, and for laws that may stick.
    """
    if not any(program.drives for program in model.programs):
        return
    rows = out.rows
    flexible = _flexible(out, model)
    used: dict[tuple[str, int], str] = {}
    for program in model.programs:
        first = rows["joint_excitation"][out.joints[program.drive.name]]
        for i, (joint, mode) in enumerate(program.driven):
            link = link_of(out, out.in_tree(joint, f"{program.title} has a drive on"), mode)
            _check_alone(program, joint, mode, used)
            for place in _between(out, program, link):
                if place in flexible:
                    raise ModelError(
                        f"{program.title}: '{flexible[place]}' is flexible and lies between "
                        f"the programmed motion and drive '{joint.name}', which moves rigid links only. Make it rigid, "
                        "program a point before it, or leave drives out for ideal forces."
                    )
            rows["excitation_drive"][first + i] = rows["link_u"][link]
            rows["excitation_insist"][first + i] = int(program.insist)
    for law in model.laws:
        if jumps(law):
            raise ModelError(
                f"{law.title} jumps and may stick, which is not determined where drives "
                f"realise program '{next(iter(used.values()))}'. Give it a steep slope in place of the jump, or "
                "LuGre friction, or leave drives out for ideal forces."
            )


def _check_alone(program: Program, joint: JointBase, mode: int, used: dict[tuple[str, int], str]) -> None:
    other = used.setdefault((joint.name, mode), program.name)
    if other != program.name or list(program.driven).count((joint, mode)) > 1:
        raise ModelError(
            f"{program.title}: drive '{joint.name}' realises a coordinate of program '{other}' already. "
            "Give each coordinate its own drive."
        )


def _flexible(out: Links, model: Model) -> dict[int, str]:
    """The flexible element that each link belongs to."""
    found: dict[int, str] = {}
    for whole in model.elements:
        if not isinstance(whole, FlexibleLink | FlexibleSupport) or getattr(whole, "rigid", False):
            continue
        for part in whole.parts:
            if isinstance(part, JointBase) and out.rows["joint_first"][at := out.joints[part.name]] >= 0:
                for link in range(out.rows["joint_first"][at], out.rows["joint_last"][at] + 1):
                    found[link] = whole.name
    names = [body.name for body in model.bodies]
    for link, modal in enumerate(out.rows["link_modal"]):
        if modal >= 0:
            owners = [i for i, other in enumerate(out.rows["body_link"]) if other == link]
            found[link] = names[owners[0]] if owners else "a body"
    return found


def _between(out: Links, program: Program, drive: int) -> Iterator[int]:
    """The links between the frame and the point of a program, on the way to them from its drive, and in loops."""
    follower = program.follower
    if isinstance(follower, Coupling):
        at = out.joints[follower.coordinates[0][0].name]
        ends = [out.rows["link_parent"][out.rows["joint_first"][at]], out.rows["joint_last"][at]]
    else:
        at = out.joints[follower.name]
        ends = [out.rows["joint_F_link"][at], out.rows["joint_M_link"][at]]
    own = _path(out, ends[0], ends[1])
    yield from own
    yield from min((_path(out, drive, end) for end in ends), key=len)
    for joint, first in enumerate(out.rows["joint_first"]):
        if first < 0:
            way = _path(out, out.rows["joint_F_link"][joint], out.rows["joint_M_link"][joint])
            if joint != at and not own.isdisjoint(way):
                yield from way


def _path(out: Links, one: int, other: int) -> set[int]:
    """The links whose joints lie between two links; -1: the ground."""
    parent, found = out.rows["link_parent"], set[int]()
    while one != other:  # a link's parent comes before it
        one, other = max(one, other), min(one, other)
        found.add(one)
        one = parent[one]
    return found


def jumps(law: ForceLaw) -> bool:
    """Whether a law's force jumps at a bound of the velocity."""
    if law.hard:
        return True
    for piece in law.pieces:
        for bound, below in ((piece.v_upper, True), (piece.v_lower, False)):
            if math.isinf(bound):
                continue
            low, high = max(piece.lower, -_WINDOW), min(piece.upper, _WINDOW)
            for x in np.linspace(low, high, _SAMPLES + 2)[1:-1].tolist():
                own, other = piece.force(x, bound), _beyond(law, piece, x, bound, below)
                if abs(own - other) > _JUMP * max(abs(own), abs(other)):
                    return True
    return False


def _beyond(law: ForceLaw, piece: Piece, x: float, bound: float, below: bool) -> float:
    """The force at a piece's bound of the velocity, from the other side."""
    for other in law.pieces:
        touches = other.v_lower == bound if below else other.v_upper == bound
        if other is not piece and touches and other.lower <= x < other.upper:
            return other.force(x, bound)
    return 0.0
