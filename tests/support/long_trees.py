"""Long random trees: every kind of joint, between random frames, for what grows with the number of joints.

Axes are letters, general vectors of length 1e-3 to 1e3, and vectors that lean 1e-18 to 1e-6 off a coordinate axis;
frames are parallel, turned by quarters, by tiny angles, or in general. A third of the joints point towards the
ground.
"""

from typing import Any

import numpy as np

import fmumbs as fm

KINDS = (
    "revolute", "prismatic", "cylindrical", "screw", "universal", "spherical", "planar", "free", "weld", "skate",
    "joint", "locked", "excited", "geared",
)  # fmt: skip


def axis(rng: np.random.Generator) -> Any:
    v = rng.normal(size=3)
    match rng.integers(4):
        case 0:
            return str(rng.choice(("x", "y", "z", "-x", "-y", "-z")))
        case 1:
            return tuple(np.eye(3)[rng.integers(3)] + 10.0 ** rng.uniform(-18, -6) * v)
        case 2:
            return tuple(v * 10.0 ** rng.uniform(-3, 3))
        case _:
            return tuple(v)


def rotation(rng: np.random.Generator) -> fm.Rotation:
    match rng.integers(5):
        case 0:
            return fm.Rotation.identity()
        case 1:
            return fm.Rotation.about(str(rng.choice(("x", "y", "z"))), rng.choice((np.pi / 2, np.pi, -np.pi / 2)))
        case 2:
            return fm.Rotation.about(tuple(rng.normal(size=3)), 10.0 ** rng.uniform(-18, -3))
        case 3:
            return fm.Rotation.quaternion(*rng.normal(size=4))
        case _:
            return fm.Rotation.rpy(*rng.uniform(-3, 3, 3))


def _apart(rng: np.random.Generator, count: int) -> list[Any]:
    """Axes that are far from parallel to one another and from a common plane."""
    while True:
        found = [axis(rng) for _ in range(count)]
        units = [np.asarray(fm.Turn(a).axis) for a in found]
        if np.linalg.svd(units, compute_uv=False)[-1] > 0.3:
            return found


def joint(rng: np.random.Generator, kind: str, name: str, F: fm.Point, M: fm.Point, moving: bool = True) -> Any:
    """A joint at a random position, and with a random velocity if it is `moving`."""

    def start(n: int, k: int | None = None) -> dict[str, Any]:
        q, u = rng.uniform(-1, 1, n), moving * rng.uniform(-1, 1, n if k is None else k)
        return {"q0": float(q[0]), "u0": float(u[0])} if n == 1 else {"q0": q, "u0": u}

    match kind:
        case "revolute":
            return fm.Revolute(name, F, M, axis=axis(rng), **start(1))
        case "geared":
            return fm.Revolute(name, F, M, axis=axis(rng), rotor_inertia=rng.uniform(0.1, 1.0), **start(1))
        case "prismatic":
            return fm.Prismatic(name, F, M, axis=axis(rng), **start(1))
        case "screw":
            return fm.Screw(name, F, M, axis=axis(rng), pitch=rng.uniform(0.1, 0.3), **start(1))
        case "cylindrical":
            return fm.Cylindrical(name, F, M, axis=axis(rng), **start(2))
        case "universal":
            first, second = _apart(rng, 2)
            q0 = (rng.uniform(-3, 3), rng.uniform(-0.5, 0.5))
            return fm.Universal(name, F, M, axes=(first, second), **start(2) | {"q0": q0})
        case "planar":
            return fm.Planar(name, F, M, normal=axis(rng), **start(3))
        case "skate":
            return fm.Skate(name, F, M, **start(3, 2))
        case "spherical":
            return fm.Spherical(name, F, M, q0=rng.normal(size=4), u0=moving * rng.uniform(-1, 1, 3))
        case "free":
            q0 = (*rng.uniform(-1, 1, 3), *rng.normal(size=4))
            return fm.Free(name, F, M, q0=q0, u0=moving * rng.uniform(-1, 1, 6))
        case "weld":
            return fm.Weld(name, F, M)
        case "joint":
            turn, slide, helix = _apart(rng, 3)
            locked = fm.Turn(axis(rng), role="locked", value=rng.uniform(-0.3, 0.3))
            modes: Any = (fm.Turn(turn), fm.Slide(slide), locked, fm.Helix(helix, pitch=0.2))
            return fm.Joint(name, F, M, modes=modes, q0=rng.uniform(-0.3, 0.3, 3), u0=moving * rng.uniform(-1, 1, 3))
        case "locked":
            ahead = fm.Turn(axis(rng), role="locked", value=rng.uniform(-3, 3))
            behind = fm.Helix(axis(rng), pitch=0.2, role="locked", value=rng.uniform(-3, 3))
            return fm.Joint(name, F, M, modes=(ahead, fm.Turn(axis(rng)), behind), **_one(start(1)))
        case _:
            start_of = {"eta0": rng.uniform(-1, 1), "kappa0": moving * rng.uniform(-1, 1)}
            slide = fm.Slide(axis(rng), role="excited", input="kappa_dot", **start_of)
            return fm.Joint(name, F, M, modes=(fm.Turn(axis(rng)), slide), **_one(start(1)))


def _one(start: dict[str, Any]) -> dict[str, Any]:
    return {name: (value,) for name, value in start.items()}


def body(rng: np.random.Generator, name: str) -> fm.Body:
    mass = rng.uniform(0.5, 2.0)
    a, b, c = rng.uniform(0.02, 0.2, 3)
    R = rotation(rng).matrix
    inertia = R @ (mass * np.diag([b + c, c + a, a + b])) @ R.T
    return fm.Body(name, mass=mass, com=rng.uniform(-0.3, 0.3, 3), inertia=(inertia + inertia.T) / 2)


def long_tree(
    seed: int,
    count: int,
    kinds: tuple[str, ...] = KINDS,
    *,
    back: int = 1,
    frames: int | None = None,
    moving: bool = True,
    reach: float = 0.5,
) -> fm.Model:
    """`count` bodies, each on one of the `back` last; `frames`: how many rotations take turns, None: all differ."""
    rng = np.random.default_rng(seed)
    model = fm.Model("tree", gravity=rng.uniform(-10, 10, 3))
    turns = [(rotation(rng), rotation(rng)) for _ in range(frames or 0)]
    carriers: list[Any] = [model.ground]
    for i in range(count):
        kind, new = str(rng.choice(kinds)), body(rng, f"b{i}")
        first, second = turns[i % len(turns)] if turns else (rotation(rng), rotation(rng))
        carrier = carriers[rng.integers(max(0, len(carriers) - back), len(carriers))]
        ends = [carrier.at(*rng.uniform(-reach, reach, 3), rotation=first)]
        ends.append(new.at(*rng.uniform(-reach, reach, 3), rotation=second))
        if kind != "skate" and rng.random() < 1 / 3:
            ends.reverse()
        model.add(new, joint(rng, kind, f"j{i}", *ends, moving=moving))
        carriers.append(new)
    return model
