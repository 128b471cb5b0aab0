"""Random platforms on parallel rods, of any size, for hypothesis."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

import fmumbs as fm

KINDS = st.sampled_from(["RR", "RS", "SR", "SS", "CR", "RC", "UU", "WR"])


@st.composite
def platforms(draw: st.DrawFn) -> tuple[fm.Model, float]:
    """A platform on parallel rods of many joints, as large as a watch or a bridge, with parts 1000 times smaller, and
    perhaps a chain hung from it, whose reactions are unique.
    """
    size, mass, ratio = (10.0 ** draw(st.floats(-3, 3)), 10.0 ** draw(st.floats(-3, 3)), 10.0 ** draw(st.floats(-3, 0)))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    kinds = draw(st.lists(KINDS, min_size=2, max_size=5))
    plane_only = draw(st.booleans())
    lean = fm.Rotation.about("y", rng.uniform(-0.8, 0.8))
    model = fm.Model("platform")
    platform = fm.Body.box("platform", size=(size, size, 0.2 * size), mass=mass, along="z")
    height = size * (ratio if rng.random() < 0.5 else 1.0)
    feet = rng.uniform(-1, 1, (len(kinds), 3)) * size * (1, 0 if plane_only else 1, 0)
    if rng.random() < 0.5:
        feet[-1] = feet[0] + ratio * (feet[-1] - feet[0])
    for i, (kind, foot) in enumerate(zip(kinds, feet, strict=True)):
        solid = {"mass": mass * 10 ** rng.uniform(-2, 0), "radius": 0.1 * height}
        rod = fm.Body.rod(f"rod{i}", length=height, along="z", **solid)
        model.add(rod, end(f"base{i}", kind[0], model.ground.at(*foot), rod.base, lean))
    model.add(platform)
    for i, (kind, foot) in enumerate(zip(kinds, feet, strict=True)):
        model.add(end(f"top{i}", kind[1], model[f"rod{i}"].tip, platform.at(*foot), lean.inverse()))
    for i in range(draw(st.integers(0, 2))):
        rod = fm.Body.rod(f"hung{i}", length=size * ratio, mass=mass, radius=0.1 * size * ratio)
        model.add(rod, fm.Spherical(f"hinge{i}", platform.at() if i == 0 else model["hung0"].tip, rod.base))
    return model, size


def end(name: str, kind: str, F: fm.Point, M: fm.Point, turned: fm.Rotation) -> Any:
    angle = float(np.arctan2(turned.matrix[0, 2], turned.matrix[0, 0]))
    match kind:
        case "R":
            return fm.Revolute(name, F, M, axis="y", q0=angle)
        case "C":
            return fm.Cylindrical(name, F, M, axis="y", q0=(angle, 0.0))
        case "U":
            return fm.Universal(name, F, M, axes=("y", "x"), q0=(angle, 0.0))
        case "W":
            return fm.Weld(name, F.body.at(*F.X_BP.translation, rotation=turned), M)
        case _:
            return fm.Spherical(name, F, M, q0=turned.as_quaternion())
