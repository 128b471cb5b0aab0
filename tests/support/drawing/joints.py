"""Joints at random: every class, at random positions, with springs, dampers, rotors and friction.

A joint is drawn in two steps: its kind with its axes and its position, which is all that its place in a loop depends
on, and its laws.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import fmumbs as fm
from fmumbs.mechanism.joints import JointBase
from oracle.products import Product
from support.drawing.bodies import Rng, axis

TREE = (
    "revolute", "revolute", "revolute", "prismatic", "spherical", "cylindrical", "universal", "planar", "screw", "weld",
    "free", "bushing", "bushing", "product", "excited", "skate", "rolling", "support",
)  # fmt: skip
CUT = (
    "revolute", "prismatic", "spherical", "spherical", "cylindrical", "universal", "planar", "screw", "weld", "free",
    "bushing", "product", "distance", "hinged rod", "line", "plane", "contact",
)  # fmt: skip
SINGLE = {"revolute": fm.Revolute, "prismatic": fm.Prismatic, "screw": fm.Screw}
SEVERAL = {"cylindrical": fm.Cylindrical, "universal": fm.Universal, "planar": fm.Planar, "bushing": fm.Bushing}
SPREAD = 0.15
"""Smallest singular value of a product's moving modes: nearer to gimbal lock they are ill-conditioned."""
RUBS = (fm.Revolute, fm.Prismatic, fm.Cylindrical, fm.Universal, fm.Spherical)


def quaternion(rng: Rng, most: float = 1.2) -> tuple[float, ...]:
    e, angle = rng.normal(size=3), rng.uniform(0, most)
    return (float(np.cos(angle / 2)), *(np.sin(angle / 2) * e / np.linalg.norm(e)).tolist())


def joint(rng: Rng, kind: str, name: str, F: fm.Point, M: fm.Point, **options: Any) -> JointBase:
    """A joint with coordinates, at a random position and velocity."""
    if kind == "weld":
        return fm.Weld(name, F, M, **options)
    if kind == "spherical":
        return fm.Spherical(name, F, M, q0=quaternion(rng), u0=rng.uniform(-1, 1, 3), **options)
    if kind == "free":
        q0 = (*rng.uniform(-0.5, 0.5, 3).tolist(), *quaternion(rng))
        return fm.Free(name, F, M, q0=q0, u0=rng.uniform(-1, 1, 6), **options)
    if kind in SINGLE:
        reach = 0.4 if kind == "prismatic" else 1.5
        options |= {"pitch": float(rng.uniform(0.05, 0.3) * rng.choice((-1, 1)))} if kind == "screw" else {}
        start = {"q0": float(rng.uniform(-reach, reach)), "u0": float(rng.uniform(-1, 1))}
        return SINGLE[kind](name, F, M, axis=axis(rng), **start, **options)
    if kind == "skate":
        return fm.Skate(name, F, M, q0=rng.uniform(-0.5, 0.5, 3), u0=rng.uniform(-1, 1, 2), **options)
    if kind == "rolling":
        return rolling(rng, name, F, M, **options)
    if kind in SEVERAL:
        return several(rng, kind, name, F, M, **options)
    return product(rng, name, F, M, excited=kind == "excited", **options)


def several(rng: Rng, kind: str, name: str, F: fm.Point, M: fm.Point, **options: Any) -> JointBase:
    make, count = SEVERAL[kind], {"planar": 3, "bushing": 6}.get(kind, 2)
    if kind == "cylindrical":
        options["axis"] = axis(rng)
    elif kind == "planar":
        options["normal"] = axis(rng)
    elif kind == "universal":
        options["axes"] = (("x", "y"), ("z", "-x"), ("y", (0.4, 0.2, 1.0)))[rng.integers(3)]
    reach = 0.2 if kind == "bushing" else 0.7
    start = {"q0": rng.uniform(-reach, reach, count), "u0": rng.uniform(-1, 1, count)}
    return make(name, F, M, **start, **options)


def product(rng: Rng, name: str, F: fm.Point, M: fm.Point, excited: bool = False, **options: Any) -> JointBase:
    """One to three modes in any directions, one of them perhaps excited, and locked ones between them."""
    while True:
        modes = some_modes(rng, excited)
        free = sum(mode.free for mode in modes)
        start = {"q0": rng.uniform(-0.5, 0.5, free), "u0": rng.uniform(-1, 1, free)}
        try:
            made = fm.Joint(name, F, M, modes=modes, **start, **options)
        except fm.ModelError:  # of modes that are dependent
            continue
        columns = np.hstack(Product(made, (), ()).columns(np.array(made.all_positions(), float)))
        if np.linalg.svd(columns, compute_uv=False)[-1] > SPREAD:
            return made


def some_modes(rng: Rng, excited: bool) -> list[Any]:
    x, y, z = np.eye(3)[rng.permutation(3)] + rng.uniform(-0.2, 0.2, (3, 3))
    makes = [fm.Turn, fm.Slide, lambda e: fm.Helix(e, 0.1)]
    modes = [makes[rng.integers(3)](tuple(e.tolist())) for e in (x, y, z)[: int(rng.integers(1, 4))]]
    for k in range(len(modes)):
        if rng.random() < 0.3:
            make = fm.Turn if rng.random() < 0.5 else fm.Slide
            modes.insert(k, make(axis(rng), role="locked", value=float(rng.uniform(-0.5, 0.5))))
    if excited:
        motion: dict[str, Any] = {"path": fm.Path.polynomial(*rng.uniform(-0.5, 0.5, 4).tolist())}
        if rng.random() < 0.4:
            motion = {"input": "kappa_dot", "eta0": 0.3, "kappa0": float(rng.uniform(-1, 1))}
        modes.insert(int(rng.integers(len(modes) + 1)), fm.Turn(tuple((z + 0.1).tolist()), role="excited", **motion))
    return modes


def rolling(rng: Rng, name: str, F: fm.Point, M: fm.Point, **options: Any) -> JointBase:
    """A disc that rolls on the plane z = 0 of F."""
    R = float(rng.uniform(0.1, 0.4))
    modes = [fm.Slide("x"), fm.Slide("y"), fm.Turn("z"), fm.Turn("x"), fm.Slide("z", role="locked", value=R)]
    return fm.Joint(
        name, F, M, modes=[*modes, fm.Turn("y")], velocity_rows=[(0, -R, 0, 1, 0, 0), (R, 0, 0, 0, 1, 0)],
        speed_rows=np.eye(6)[:3].tolist(), rows_after=5, q0=rng.uniform(-0.5, 0.5, 5), u0=rng.uniform(-1, 1, 3),
        **options,
    )  # fmt: skip


def constraint(rng: Rng, kind: str, name: str, F: fm.Point, M: fm.Point, p: Any) -> JointBase:
    """A joint without coordinates that holds where M's origin is at p in F's axes."""
    e = rng.normal(size=3)
    if kind == "distance":
        return fm.Distance(name, F, M, length=float(np.linalg.norm(p)))
    if kind == "hinged rod":
        e -= p * (e @ p) / (p @ p)
        return fm.RevoluteSpherical(name, F, M, length=float(np.linalg.norm(p)), axis=tuple(e.tolist()))
    if kind == "line":
        return fm.PointOnLine(name, F, M, axis=tuple(p.tolist()))
    return fm.PointOnPlane(name, F, M, normal=tuple(e.tolist()), height=float(p @ e / np.linalg.norm(e)))


def support(rng: Rng, name: str, F: fm.Point, M: fm.Point, force: float) -> fm.FlexibleSupport:
    """A base on one or two layers of springs; now and then it is rigid."""
    layers = [
        fm.Layer(rng.uniform(-0.5, 0.5, (int(rng.integers(2, 5)), 3)),
                 stiffness=force * rng.uniform(5, 50, 3), damping=force * rng.uniform(0, 1, 3))
        for _ in range(int(rng.integers(1, 3)))
    ]  # fmt: skip
    return fm.FlexibleSupport(name, F, M, layers=layers, rigid=bool(rng.random() < 0.1))


def with_laws(rng: Rng, one: Any, force: float) -> Any:
    """The joint with springs, dampers, rotors and an applied force; force: their order [N], [N.m]."""
    free, some = one.free_modes, {}
    if isinstance(one, fm.Weld) or not free:
        return one
    if isinstance(one, fm.Bushing):
        return bushed(rng, one, force)
    if isinstance(one, fm.Spherical | fm.Free):
        if isinstance(one, fm.Spherical) and rng.random() < 0.6:
            some = {"stiffness": force * rng.uniform(0, 10), "damping": force * rng.uniform(0, 0.5)}
        return replace(one, **some)
    highs = {"stiffness": 10 * force, "damping": 0.5 * force, "rest": 0.5, "rotor_inertia": 0.2 * force}
    for name, high in highs.items():
        rotor = name == "rotor_inertia" and (one.velocity_rows or one.name[0] == "c")
        if rng.random() < 0.4 and not rotor:
            values = rng.uniform(0, high, len(free)).tolist()
            some[name] = values[0] if type(one) in SINGLE.values() else values
    if rng.random() < 0.4:
        some["tau"] = (force * rng.uniform(-1, 1, one.velocities)).tolist()
    return replace(one, **some)


def bushed(rng: Rng, one: fm.Bushing, force: float) -> fm.Bushing:
    """With six springs and dampers, or with full matrices."""
    if rng.random() < 0.5:
        k, d = force * rng.uniform(5, 50, 6), force * rng.uniform(0.1, 1, 6)
        return replace(one, stiffness=k, damping=d, rest=rng.uniform(-0.1, 0.1, 6))
    root = rng.uniform(-1, 1, (6, 6)) + 2 * np.eye(6)
    K = force * 5 * (root @ root.T)
    return replace(one, stiffness_matrix=K, damping_matrix=0.03 * K)


def rubbed(rng: Rng, one: Any, force: float, loops: bool) -> Any:
    """With LuGre friction, from a preload or, without loops, from its own reaction, which is unique then."""
    if type(one) not in RUBS:
        return one
    kinetic, static = np.sort(rng.uniform(0.02, 0.15, 2)).tolist()
    given: dict[str, Any] = {"stribeck": 10.0 ** rng.uniform(-1.5, 0), "stiffness": 10.0 ** rng.uniform(1, 2.5)}
    given |= {"damping": rng.uniform(0, 0.02), "viscous": rng.uniform(0, 0.02), "preload": force * rng.uniform(0.1, 2)}
    if not isinstance(one, fm.Prismatic):
        given["radius"] = rng.uniform(0.01, 0.1)
    if isinstance(one, fm.Revolute | fm.Universal) and rng.random() < 0.5:
        given["collar"] = rng.uniform(0.01, 0.1)
    if isinstance(one, fm.Prismatic | fm.Cylindrical) and rng.random() < 0.5:
        given["guide"] = rng.uniform(0.5, 2.0)
    return replace(one, friction=fm.LuGre(static, kinetic, own=bool(not loops and rng.random() < 0.5), **given))
