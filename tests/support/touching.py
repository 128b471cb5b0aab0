"""Two bodies in motion, one of them pressed against the other at a spot."""

from dataclasses import replace
from typing import Any

import numpy as np

import fmumbs as fm

CASES = [
    ("sphere", "plane", "rolling"), ("sphere", "ball", "coulomb"), ("sphere", "hollow", "creep"),
    ("ellipsoid", "plane", "coulomb"), ("box", "plane", "coulomb"), ("disc", "plane", "tyre"),
    ("disc", "road", "coulomb"), ("sphere", "road", "none"), ("disc", "road", "tyre"), ("sphere", "ball", "rolling"),
    ("sphere", "hollow", "rolling"), ("ellipsoid", "plane", "creep"), ("disc", "road", "creep"),
    ("box", "plane", "creep"), ("disc", "road", "rolling"), ("sphere", "road", "rolling"),
]  # fmt: skip
"""Shape, surface and friction."""
TURNED = fm.Rotation.about("z", 0.3)
PROFILE = ((-2.0, 0.05), (0.2, -0.03), (2.5, 0.04))
"""[m], of few parts, since a search in 113 bits takes long."""


def shape_on(kind: str, place: fm.Point) -> Any:
    if kind == "sphere":
        return fm.Sphere(place, 0.2)
    if kind == "ellipsoid":
        return fm.Ellipsoid(place, (0.25, 0.15, 0.2))
    return fm.Disc(place, 0.2, thickness=0.1) if kind == "disc" else fm.Box(place, (0.4, 0.3, 0.2))


def surface_on(kind: str, place: fm.Point) -> Any:
    if kind == "road":
        return fm.Road(place, PROFILE)
    return fm.Plane(place) if kind == "plane" else fm.Sphere(place, 0.5) if kind == "ball" else fm.Hollow(place, 0.8)


def touching(seed: int, shape: str, surface: str, friction: str, slow: bool) -> fm.Model:
    """They overlap by some millimetres, and move so slowly that they stick, or not."""
    rng = np.random.default_rng(seed)
    own: dict[str, Any] = {"com": rng.uniform(-0.05, 0.05, 3)}
    under, over = (fm.Body(n, mass=m, inertia=rng.uniform(0.1, 0.14, 3), **own) for n, m in (("B", 3.0), ("A", 1.5)))
    speed = rng.uniform(-1, 1, 6) * (1e-3 if slow else 3.0)
    upright = shape == "disc"
    q = np.array([1.0, 1.0, 0.0, 0.0] if upright else [1.0, 0.0, 0.0, 0.0]) + np.r_[0.0, rng.uniform(-0.2, 0.2, 3)]
    start: dict[str, Any] = {"u0": tuple(speed)}
    carried = fm.Free("F", fm.Model("none").ground.at(), under.at(), q0=(0, 0, 0, 1, 0.1, -0.2, 0.1), u0=(0.4,) * 6)
    press = fm.Press(2e4, exponent=float(rng.choice([1.5, 1.0, 1.8])), damping=0.3)
    rubs = {
        "coulomb": fm.Coulomb(0.2, static=0.3, stribeck=0.3, stiffness=1e4, damping=20.0),
        "creep": fm.Coulomb(0.4, static=0.5, stribeck=0.3, creep=0.05),
        "rolling": fm.Coulomb(0.5, stiffness=1e4, rolling_arm=0.01, drilling_arm=0.02, turning_stiffness=5.0),
    }.get(friction)

    def made(place: Any) -> fm.Model:
        model = fm.Model("touching", gravity=(1.0, 0.5, -9.81))
        joint = fm.Free("J", under.at(), over.at(), q0=(*place, *q / np.linalg.norm(q)), **start)
        one, other = shape_on(shape, over.at(0.02, 0.01, 0.0)), surface_on(surface, under.at(rotation=TURNED))
        tread = {"mu": 0.8, "slip_stiffness": (8e3, 6e3), "relaxation": (0.15, 0.3), "damping": 30.0}
        touch = fm.Tyre("touch", one, other, press, **tread) if friction == "tyre" else None
        model.add(under, over, replace(carried, F=model.ground.at()), joint)
        model.add(touch or fm.Contact("touch", one, other, press, rubs))
        return model

    place = np.array([0.1, 0.05, 0.0 if surface == "hollow" else 1.0])
    for _ in range(6):  # down, until the nearest spot overlaps
        solver = fm.Solver(made(place))
        gaps = [solver.get(v.name) for v in solver.image.variables if v.kind == "gap"]
        place[2] -= min(gaps) + 4e-3
    return made(place)
