"""Pulls: a load BODY.pull at the origin of each body's frame, as an image gets them after it was compiled.

They are for a hand that pulls at a body: a force F at any point p of the body is the load's force F and torque
(p - r) x F. Loads of zero change no bit of a motion.
"""

import re
from collections.abc import Iterable

import numpy as np

from fmumbs.compiler.image import ModelImage
from fmumbs.compiler.kinds import LOAD, kinds
from fmumbs.compiler.layout import counted, pack, text_at

_PULL = re.compile(r"^(.+)\.pull\.(?:force|torque)(?:\[\d\])?$")


def with_pulls(image: ModelImage, names: Iterable[str] | None = None) -> ModelImage:
    """The image with loads BODY.pull, whose inputs BODY.pull.force [N] and BODY.pull.torque [N.m] are in world axes.

    names: of variables; bodies whose pulls are among them get one. None: all rigid bodies, as only these can be pulled.
    """
    asked = None if names is None else {found[1] for name in names if (found := _PULL.match(name))}
    if asked is not None and not asked:
        return image
    a = image.arrays
    text = a["text"].tobytes()
    called = [text_at(text, int(at)) for at in a["body_name"]]
    rigid = a["link_modal"][a["body_link"]] < 0
    bodies = [i for i, name in enumerate(called) if rigid[i] and (asked is None or name in asked)]
    taken = {text_at(text, int(at)) for at in a["load_name"]}
    bodies = [i for i in bodies if f"{called[i]}.pull" not in taken]
    return _added(image, bodies, [f"{called[i]}.pull" for i in bodies]) if bodies else image


def _added(image: ModelImage, bodies: list[int], names: list[str]) -> ModelImage:
    a, count = image.arrays, len(bodies)
    places = np.cumsum([len(a["text"]), *(len(name.encode()) + 1 for name in names[:-1])])
    points, loads = len(a["point_link"]), len(a["load_P"])
    empty = len(a["text"]) + sum(len(name.encode()) + 1 for name in names)
    rows = {
        "point_link": a["body_link"][bodies],
        "point_r": a["body_r"][bodies],
        "point_name": np.full(count, empty),
        "load_P": points + np.arange(count),
        "load_force": np.zeros((count, 3)),
        "load_torque": np.zeros((count, 3)),
        "load_name": places,
        "text": np.frombuffer(b"".join(name.encode() + b"\0" for name in [*names, ""]), np.uint8),
    }
    wanted = [kind for kind in kinds() if kind.owner == LOAD]
    new = np.array([(k.index, loads + i, c, -1) for k in wanted for i in range(count) for c in range(k.components)])
    rows |= zip(("variable_kind", "variable_object", "variable_component", "variable_name"), new.T, strict=True)
    arrays = a | {name: np.concatenate([a[name], added.astype(a[name].dtype)]) for name, added in rows.items()}
    return ModelImage(pack(counted(arrays), arrays))
