"""What the page is given: the scene, poses at some instants, forces, and series to plot, as JSON.

Numbers are little-endian bytes in base64. Their amount is bounded, so that a page stays below about 3 MB: poses of
many bodies have single precision, then fewer instants, and of many variables the joints' coordinates come first.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler import ModelImage
from fmumbs.compiler.kinds import JOINT
from fmumbs.compiler.layout import lib
from fmumbs.compiler.names import Names
from fmumbs.run import Result
from fmumbs.run.details import Motion
from fmumbs.view.live import live_of
from fmumbs.view.motion import drawable
from fmumbs.view.poses import poses
from fmumbs.view.viewpoint import viewpoint
from fmumbs.view.wheels import trains

Array = NDArray[np.float64]

POSE_BYTES, SERIES_BYTES, FORCE_BYTES = 900_000, 400_000, 300_000
LEAST_INSTANTS, MOST_INSTANTS = 60, 2000
PLOTS = 3  # shown at first
_NOTHING = 1e-9  # torques below this, relative to the largest force and the mechanism's length, are round-off

_COORDINATE = re.compile(r"\.(q|eta)(\[\d+\])?$")
_OTHER = re.compile(r"^(?!solver\.)")
_QUATERNION = re.compile(r"\.(q|quat)\[\d\]$")  # where it has no unit
_RATE = re.compile(r"\.(qd|kappa|u)(\[\d+\])?$")


def data_of(
    result: Result,
    motion: Motion,
    note: str = "",
    live: Mapping[str, Any] | None = None,
    other: tuple[Result, Motion, str] | None = None,
) -> dict[str, Any]:
    """The page's data. note: a sentence below the title, such as why a run ended early. live: how the live mechanism
    differs from the image, see live_of(). other: a second result beside it, its motion, and what it is called.
    """
    image = motion.image
    chosen, wide = _instants(len(result.time), len(image.scene.bodies))
    forces = _reactions(result, image, chosen) + _loads(result, image, chosen) + _contacts(result, image, chosen)
    data = _moving(result, motion, chosen, wide)
    return data | {
        "name": image.name,
        "note": note,
        "forces": [one | {"f": as_field(one["f"], "f4")} for one in forces],
        "largest": _largest(forces, image),
        "trains": [asdict(one) for one in trains(image.scene, poses(image, motion.positions[:1]))],
        "from": _from(motion),
        "live": live_of(image, **(live or {})),
        "plots": [[one] for one in _first(result, image, [one["name"] for one in data["series"]])],
        "other": None if other is None else _beside(*other),
    }


def _from(motion: Motion) -> list[float]:
    """(3,) where the viewer of the picture is; beside the normal of a mechanism in a plane, so that it has depth."""
    view = viewpoint(motion.image.scene, poses(motion.image, motion.positions[:1]))
    right, up, towards = view.rows
    return [float(one) for one in (towards + 0.25 * right + 0.3 * up if view.face_on else towards)]


def _moving(result: Result, motion: Motion, chosen: NDArray[np.int64], wide: bool) -> dict[str, Any]:
    """The scene, its poses and series at the chosen instants."""
    found = poses(motion.image, motion.positions[chosen])
    both = np.concatenate([found.r, found.quaternions], axis=2)
    return {
        "scene": json.loads(motion.image.scene.to_json()),
        "times": as_field(result.time[chosen], "f8"),
        "poses": as_field(both, "f8" if wide else "f4"),
        "modal": {str(body): as_field(values, "f8" if wide else "f4") for body, values in found.modal.items()},
        "series": _series(result, chosen),
    }


def _beside(result: Result, motion: Motion, name: str) -> dict[str, Any]:
    chosen, wide = _instants(len(result.time), len(motion.image.scene.bodies))
    return _moving(result, motion, chosen, wide) | {"name": name}


def as_json(data: dict[str, Any]) -> str:
    """Text that a script element can hold: no character in it ends the element or begins a comment."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _instants(count: int, bodies: int) -> tuple[NDArray[np.int64], bool]:
    """Which instants are shown, first and last among them, and whether poses have double precision."""
    number = 7 * max(bodies, 1)
    most = max(LEAST_INSTANTS, min(MOST_INSTANTS, POSE_BYTES // (4 * number)))
    shown = np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))
    return shown, len(shown) * number * 8 <= POSE_BYTES


def as_field(values: Array, kind: str) -> dict[str, str]:
    """Numbers of the type "f4" or "f8" for the page."""
    return {"type": kind, "data": base64.b64encode(np.ascontiguousarray(values, f"<{kind}").tobytes()).decode()}


def _reactions(result: Result, image: ModelImage, chosen: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Constraint forces [N] and torques [N.m] on M in F's axes of the joints whose reactions were recorded, the
    largest first. Torques of round-off, as of a pin without friction, are left out.
    """
    verdict = dict(zip(Names(image.arrays).elements(JOINT), image.arrays["joint_unique"], strict=True))
    kinds = (("reaction", "f", slice(0, 3)), ("reaction torque", "t", slice(3, 6)))
    found: dict[str, list[tuple[float, dict[str, Any]]]] = {kind: [] for kind, _, _ in kinds}
    for i, joint in enumerate(image.scene.joints):
        for kind, suffix, part in kinds:
            name = f"{joint.name}.reaction.{suffix}"
            if joint.symbols and name in result:
                f = drawable(result, name)[chosen]
                one = {"kind": kind, "index": i, "unique": _unique(verdict[joint.name][part]), "f": f}
                found[kind].append((float(np.abs(f).max(initial=0.0)), one))
    force = max((size for size, _ in found["reaction"]), default=0.0)
    least = {"reaction": 0.0, "reaction torque": _NOTHING * force * image.scene.length}
    each = [pair for kind in found for pair in sorted(found[kind], key=lambda pair: -pair[0]) if pair[0] > least[kind]]
    most = max(1, FORCE_BYTES // (12 * max(1, len(chosen))))
    return [one for _, one in each[:most]]


def _unique(components: NDArray[np.int32]) -> bool | None:
    """Whether a reaction force is unique; None if that is unknown."""
    if (components == lib.FM_UNIQUENESS_UNKNOWN).any():
        return None
    return bool((components == lib.FM_UNIQUE).all())


def _loads(result: Result, image: ModelImage, chosen: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Forces and torques of loads over time, where they were recorded."""
    return [
        {"kind": kind, "index": i, "unique": None, "f": drawable(result, f"{load.name}.{suffix}")[chosen]}
        for i, load in enumerate(image.scene.loads)
        for kind, suffix in (("load", "force"), ("torque", "torque"))
        if f"{load.name}.{suffix}" in result
    ]


def _contacts(result: Result, image: ModelImage, chosen: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Forces of contacts on A, the largest first, and where they act: the mean of the spots, by their normal forces."""
    found = []
    for i, one in enumerate(image.scene.contacts):
        names = [f"{one.name}.{what}" for what in ("force", "normal", "point")]
        if not all(name in result for name in names):
            continue
        f, N, at = (drawable(result, name)[chosen] for name in names)
        N, at = N.reshape(-1, one.spots, 1), at.reshape(-1, one.spots, 3)
        N = N + (N.sum(axis=1, keepdims=True) == 0.0)
        point = (N * at).sum(axis=1) / N.sum(axis=1)
        both = ({"kind": kind, "index": i, "unique": None, "f": v} for kind, v in (("contact", f), ("spot", point)))
        found.append((float(np.abs(f).max(initial=0.0)), [*both]))
    most = max(1, FORCE_BYTES // (24 * max(1, len(chosen))))
    pressed = sorted((pair for pair in found if pair[0] > 0.0), key=lambda pair: -pair[0])
    return [entry for _, both in pressed[:most] for entry in both]


def _largest(forces: Iterable[dict[str, Any]], image: ModelImage) -> dict[str, float]:
    """The greatest magnitude of each kind of force [N], and of torques [N.m]."""
    found = {"reaction": 0.0, "reaction torque": 0.0, "load": 0.0, "torque": 0.0, "contact": 0.0}
    for one in forces:
        if one["kind"] not in found:  # where a force acts
            continue
        found[one["kind"]] = max(found[one["kind"]], float(np.linalg.norm(one["f"], axis=1).max(initial=0.0)))
    for load in image.scene.loads:
        found["load"] = max(found["load"], float(np.linalg.norm(load.force)))
        found["torque"] = max(found["torque"], float(np.linalg.norm(load.torque)))
    return found


def _ordered(names: Iterable[str]) -> list[str]:
    """The joints' coordinates, then their rates, then the others, the solver's last."""
    kinds = (_COORDINATE, _RATE, _OTHER)
    return sorted(names, key=lambda name: next((i for i, kind in enumerate(kinds) if kind.search(name)), len(kinds)))


def _series(result: Result, chosen: NDArray[np.int64]) -> list[dict[str, Any]]:
    if len(chosen) < 2:
        return []
    most = SERIES_BYTES // (4 * len(chosen))
    shown = set(_ordered(result.names)[:most])
    return [
        {"name": name, "unit": result.units.get(name, ""), "values": as_field(drawable(result, name)[chosen], "f4")}
        for name in result.names
        if name in shown
    ]


def _first(result: Result, image: ModelImage, names: list[str]) -> list[str]:
    """The variables that are plotted at first: coordinates that move, those of joints without springs before those of
    supports and flexible links; without any, others. No quaternions, which tell nothing, and nothing that moves by less
    than the tolerance leaves undecided, beside what has the same unit.
    """
    a = image.arrays
    names = [name for name in names if not _QUATERNION.search(name) or result.units.get(name)]
    springs = [a["stiffness"][u : u + n].any() for u, n in zip(a["joint_u"], a["joint_nu"], strict=True)]
    sprung = {name for name, one in zip(Names(a).elements(JOINT), springs, strict=True) if one}
    moves = {name: float(np.ptp(result[name])) for name in names if _OTHER.search(name)}
    most: dict[str | None, float] = {}
    for name, move in moves.items():
        unit = result.units.get(name)
        most[unit] = max(most.get(unit, 0.0), move)
    moving = [name for name, move in moves.items() if move > image.tolerance * most[result.units.get(name)]]
    coordinates = [name for name in moving if _COORDINATE.search(name)]
    return sorted(coordinates or moving, key=lambda name: name.rpartition(".")[0] in sprung)[:PLOTS]
