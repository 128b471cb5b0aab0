"""Bodies at random: solids, beams, bodies with modes of their own, and flexible links."""

from __future__ import annotations

from typing import Any

import numpy as np

import fmumbs as fm
from oracle.joints import turn

Rng = np.random.Generator


def rotation(rng: Rng) -> fm.Rotation | None:
    """None, a quarter turn, or any."""
    choice = rng.random()
    if choice < 0.3:
        return None
    if choice < 0.5:
        return fm.Rotation.about(np.eye(3)[rng.integers(3)], float(rng.choice((-1, 1, 2))) * np.pi / 2)
    return fm.Rotation(turn(rng.uniform(-2, 2, 3)))


def axis(rng: Rng) -> Any:
    letter = str(rng.choice(("x", "y", "z", "-x", "-y", "-z")))
    return letter if rng.random() < 0.5 else tuple(rng.uniform(-1, 1, 3).tolist())


def solid(rng: Rng, name: str, mass: float, size: float = 1.0) -> fm.Body:
    """Any solid, or now and then one with an inertia that was measured, with its centre of mass and its axes anywhere.

    size: of the order of its largest dimension [m].
    """
    a, b, c = rng.uniform(0.02, 0.15, 3) * size**2
    R = np.eye(3) if rng.random() < 0.3 else turn(rng.uniform(-3, 3, 3))
    measured = bool(rng.random() < 0.05)
    moments = [a, b, (a + b) * rng.uniform(1.01, 1.5)] if measured else [b + c, c + a, a + b]
    inertia = R @ (mass * np.diag(moments)) @ R.T
    com = size * rng.uniform(-0.3, 0.3, 3) * (rng.random() < 0.8)
    points = {"mark": size * rng.uniform(-0.5, 0.5, 3)} if rng.random() < 0.5 else {}
    return fm.Body(name, mass=mass, com=com, inertia=(inertia + inertia.T) / 2, points=points, measured=measured)


def lumped(rng: Rng, name: str, mass: float) -> fm.ModalBody:
    """Masses at some places, which any modes move and turn in a plane or in space; its start is deformed."""
    plane = "xy" if rng.random() < 0.3 else None
    modes, count = int(rng.integers(1, 4)), int(rng.integers(4, 7))
    r, m = rng.uniform(-0.5, 0.5, (count, 3)), mass * rng.dirichlet(np.full(count, 3.0))
    phi = rng.uniform(-1, 1, (modes, count, 6)) * (1, 1, plane is None, plane is None, plane is None, 1)
    com = m @ r / mass
    apart = r - com
    root = rng.uniform(-1, 1, (modes, modes)) + 2 * np.eye(modes)
    rows = phi if plane is None else phi[:, :, (0, 1, 5)]
    K = mass * rng.uniform(10, 50) * (root @ root.T)
    return fm.ModalBody(
        name, mass=mass, com=com, plane=plane, points={f"n{i}": r[i] for i in range(count)},
        inertia=np.einsum("i,ij,ij", m, apart, apart) * np.eye(3) - np.einsum("i,ij,ik->jk", m, apart, apart),
        shapes={f"n{i}": rows[:, i] for i in range(count)}, stiffness=K, damping=float(rng.choice((0.0, 0.01))) * K,
        shape_mass=np.einsum("i,kij->kj", m, phi[:, :, :3]),
        shape_moment=np.einsum("i,ia,kib->kab", m, r, phi[:, :, :3]),
        shape_product=np.einsum("i,kia,lib->klab", m, phi[:, :, :3], phi[:, :, :3]),
        q0=rng.uniform(-0.02, 0.02, modes), u0=rng.uniform(-0.2, 0.2, modes),
    )  # fmt: skip


def modal(rng: Rng, name: str, mass: float) -> fm.ModalBody:
    """A beam that bends in a plane or in space, undeformed at the start, and moving."""
    modes, length = int(rng.integers(1, 3)), rng.uniform(0.5, 1.2)
    boundary = str(rng.choice(("clamped-free", "pinned-pinned", "free-free")))
    plane = str(rng.choice(("xy", "xz"))) if rng.random() < 0.6 else None
    stiff = mass * rng.uniform(10, 100)
    options: dict[str, Any] = {"damping_ratio": rng.choice((0.0, 0.02)), "modes": modes, "plane": plane}
    many = modes if plane else 2 * modes
    if plane is None and rng.random() < 0.5:
        options |= {"twist": 1, "GJ": stiff / 5, "axial_inertia": mass * 0.01}
        many += 1
    options.setdefault("axial_inertia", mass * float(rng.choice((0.001, 0.01))))
    return fm.ModalBody.beam(
        name, length=length, mass=mass, EI=stiff, boundary=boundary, u0=rng.uniform(-0.3, 0.3, many), **options
    )


def link(rng: Rng, name: str, mass: float) -> fm.FlexibleLink:
    """A straight flexible link of some elements."""
    stiff = mass * rng.uniform(5, 30)
    plane = str(rng.choice(("xy", "xz"))) if rng.random() < 0.4 else None
    return fm.FlexibleLink(
        name, length=rng.uniform(0.5, 1.2), EIy=stiff, EIz=stiff * rng.uniform(0.5, 2), GJ=stiff / 2, EA=1e3 * mass,
        mass=mass, axial_inertia=0.01 * mass, damping=float(rng.choice((0.0, 0.003))), plane=plane,
        elements=int(rng.integers(1, 4)), stretch=bool(rng.random() < 0.2),
    )  # fmt: skip


def place_on(rng: Rng, part: Any, size: float = 1.0) -> fm.Point:
    """A point anywhere on a body, a beam or a link, or on the ground; size: of a rigid body."""
    if isinstance(part, fm.FlexibleLink):
        return part.at(float(rng.choice((0.0, 0.4, 1.0))) * part.length, rotation=rotation(rng))
    if isinstance(part, fm.ModalBody) and part.bending is None:
        node = part.points[rng.integers(len(part.points))]
        return part.at(*node.X_BP.offset, rotation=rotation(rng))
    if isinstance(part, fm.ModalBody):
        x = float(rng.choice((0.0, 0.37, 1.0))) * part.bending.length
        return part.at(x, *(0.1 * rng.choice((0.0, 1.0), 2)).tolist(), rotation=rotation(rng))
    return part.at(*(size * rng.uniform(-0.5, 0.5, 3)).tolist(), rotation=rotation(rng))
