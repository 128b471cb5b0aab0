"""Pulls: loads that an image gets after it was compiled, for a hand that pulls at a body.

On a rigid body it is BODY.pull at the origin of the body's frame: a force F at any point p of the body is the load's
force F and torque (p - r) x F. On a flexible body it is BODY.POINT.pull at each of its named points, since a force also
bends it. Loads of zero change no bit of a motion.
"""

import re
from collections.abc import Iterable

import numpy as np

from fmumbs.compiler.image import ModelImage
from fmumbs.compiler.kinds import kinds
from fmumbs.compiler.layout import counted, lib, pack, text_at

_PULL = re.compile(r"^(.+)\.pull\.(?:force|torque)(?:\[\d\])?$")


def with_pulls(image: ModelImage, names: Iterable[str] | None = None) -> ModelImage:
    """The image with loads BODY.pull, of flexible bodies BODY.POINT.pull, whose inputs .force [N] and .torque [N.m] are
    in world axes.

    names: of variables; what has a pull among them gets one. None: all bodies.
    """
    asked = None if names is None else {found[1] for name in names if (found := _PULL.match(name))}
    if asked is not None and not asked:
        return image
    a = image.arrays
    text = a["text"].tobytes()
    taken = {text_at(text, int(at)) for at in a["load_name"]}
    modal = a["link_modal"][a["body_link"]]
    bodies = {text_at(text, int(at)): i for i, at in enumerate(a["body_name"]) if modal[i] < 0}
    flexible = np.flatnonzero((a["point_link"] >= 0) & (a["link_modal"][a["point_link"]] >= 0))
    points = {name: int(i) for i in flexible if (name := text_at(text, int(a["point_name"][i])))}

    def wanted(places: dict[str, int]) -> dict[str, int]:
        chosen = places if asked is None else {name: i for name, i in places.items() if name in asked}
        return {name: i for name, i in chosen.items() if f"{name}.pull" not in taken}

    bodies, points = wanted(bodies), wanted(points)
    return _added(image, bodies, points) if bodies or points else image


def _added(image: ModelImage, bodies: dict[str, int], points: dict[str, int]) -> ModelImage:
    """bodies, points: indices by name."""
    a, names, own = image.arrays, [f"{name}.pull" for name in (*bodies, *points)], list(bodies.values())
    count = len(names)
    places = np.cumsum([len(a["text"]), *(len(name.encode()) + 1 for name in names[:-1])])
    loads = len(a["load_P"])
    empty = len(a["text"]) + sum(len(name.encode()) + 1 for name in names)
    rows = {
        "point_link": a["body_link"][own],
        "point_r": a["body_r"][own],
        "point_R": a["body_R"][own],
        "point_name": np.full(len(own), empty),
        "load_P": np.append(len(a["point_link"]) + np.arange(len(own)), list(points.values())),
        "load_force": np.zeros((count, 3)),
        "load_torque": np.zeros((count, 3)),
        "load_axes": np.full(count, lib.FM_WORLD_AXES),
        "load_name": places,
        "text": np.frombuffer(b"".join(name.encode() + b"\0" for name in [*names, ""]), np.uint8),
    }
    wanted = [kind for kind in kinds() if kind.elements == lib.FM_HAVE_STEADY]
    new = np.array([(k.index, loads + i, c, -1) for k in wanted for i in range(count) for c in range(k.components)])
    rows |= zip(("variable_kind", "variable_object", "variable_component", "variable_name"), new.T, strict=True)
    arrays = a | {name: np.concatenate([a[name], added.astype(a[name].dtype)]) for name, added in rows.items()}
    return ModelImage(pack(counted(arrays), arrays))
