"""Random mechanisms with flexible bodies, and the clouds of points that the oracle has for these."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import fmumbs as fm
from oracle.flexible import Cloud, FlexibleOracle, Present, beam
from oracle.joints import turn
from support.closed import body

BOUNDARIES = ("clamped-free", "pinned-pinned", "free-free")


@dataclass
class Flexible:
    """A model, the clouds of its flexible bodies, values of its inputs."""

    model: fm.Model
    clouds: dict[str, Cloud]
    inputs: dict[str, Any] = field(default_factory=dict)

    def cuts(self, image: fm.ModelImage) -> tuple[str, ...]:
        """The joints that close loops."""
        return tuple(np.array(image.variables.joint_names)[image.arrays["joint_first"] < 0].tolist())


def start(rng: np.random.Generator, modes: int, size: float = 0.1) -> dict[str, Any]:
    return {"q0": rng.uniform(-size, size, modes), "u0": rng.uniform(-1, 1, modes)}


def random_beam(rng: Any, name: str, boundary: str | None = None, plane: str = "xy") -> tuple[Any, Cloud]:
    boundary = boundary or str(rng.choice(BOUNDARIES))
    modes, length, mass = int(rng.integers(1, 4)), rng.uniform(0.6, 1.5), rng.uniform(0.5, 2.0)
    made = fm.ModalBody.beam(
        name, length=length, mass=mass, EI=rng.uniform(5, 50), modes=modes, boundary=boundary, plane=plane,
        damping_ratio=rng.choice((0.0, 0.02)), axial_inertia=0.0, **start(rng, modes),
    )  # fmt: skip
    return made, beam(length, mass, boundary, modes, plane)


def lumped(rng: np.random.Generator, name: str, plane: str | None = "xy", modes: int = 2) -> tuple[Any, Cloud]:
    """A body of eight masses with any shapes, of which two have names and turn as well."""
    masses, positions = rng.uniform(0.1, 0.4, 8), rng.uniform(-0.5, 0.5, (8, 3))
    shapes = rng.uniform(-1, 1, (8, modes, 3 if plane else 6))
    phi = shapes[:, :, :3].copy()
    if plane:
        i, j = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}[plane]
        phi[:] = 0.0
        phi[:, :, i], phi[:, :, j] = shapes[:, :, 0], shapes[:, :, 1]
    com = masses @ positions / masses.sum()
    arms = positions - com
    root = rng.uniform(-1, 1, (modes, modes))
    made = fm.ModalBody(
        name,
        mass=masses.sum(),
        com=com,
        inertia=np.sum([m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, arms, strict=True)], axis=0),
        points={"one": positions[0], "two": positions[1]},
        plane=plane,
        shapes={"one": shapes[0], "two": shapes[1]},
        stiffness=30 * root @ root.T + 10 * np.eye(modes),
        damping=0.1 * root.T @ root,
        shape_mass=np.einsum("k,kna->na", masses, phi),
        shape_moment=np.einsum("k,ka,knb->nab", masses, positions, phi),
        shape_product=np.einsum("k,kma,knb->mnab", masses, phi, phi),
        **start(rng, modes),
    )

    def shape(at: Any) -> Any:
        return shapes[int(np.argmin(np.linalg.norm(positions - at, axis=1)))]

    return made, Cloud(masses, positions, shape, plane)


def along(rng: np.random.Generator, part: fm.ModalBody) -> fm.Point:
    """A point of a beam's cross-section, or a named one of another flexible body."""
    if part.bending is None:
        return part.point(str(rng.choice(("one", "two"))))
    x = rng.choice((0.0, 0.37, 0.8, 1.0)) * part.bending.length
    return part.at(x, *rng.choice((0.0, 0.1), 2), rotation=fm.Rotation(turn(rng.uniform(-2, 2, 3))))


def plane_tree(seed: int, boundary: str | None = None, bodies: int = 4, welds: bool = True) -> Flexible:
    """Beams and rods on pins and welds in the plane x-y, with branches."""
    rng = np.random.default_rng(seed)
    model = fm.Model("plane_tree", gravity=(*rng.uniform(-10, 10, 2), 0))
    clouds: dict[str, Cloud] = {}
    parts: list[Any] = []
    for index in range(bodies):
        if index == 0 or rng.random() < 0.6:
            part, clouds[f"b{index}"] = random_beam(rng, f"b{index}", boundary)
            M = part.at(rng.choice((0.0, 0.3)) * part.bending.length, rng.choice((0.0, 0.05)))
        else:
            part = fm.Body.rod(f"b{index}", length=0.7, mass=0.8)
            M = part.base
        carrier = model.ground if index == 0 else parts[rng.integers(len(parts))]
        flexible = isinstance(carrier, fm.ModalBody)
        F = carrier.at(rng.choice((0.4, 1.0)) * carrier.bending.length, 0.02) if flexible else carrier.at(0.3, 0.1)
        if index > 0 and welds and rng.random() < 0.3:
            joint: Any = fm.Weld(f"j{index}", F, M)
        else:
            q0, u0 = rng.uniform(-2, 2, 2)
            joint = fm.Revolute(f"j{index}", F, M, q0=q0, u0=u0, stiffness=3.0, damping=0.1)
        model.add(part, joint)
        parts.append(part)
    P, Q = parts[0].at(0.5 * parts[0].bending.length, 0.03), parts[-1].at(0.2, 0)
    model.add(fm.Spring("s", P, model.ground.at(2, 1), stiffness=5.0, damping=0.3, free_length=0.4))
    push = {"force": (*rng.uniform(-3, 3, 2), 0), "torque": (0, 0, rng.uniform(-1, 1))}
    model.add(fm.Load("l", Q, axes="point" if seed % 2 else "world", **push))
    return Flexible(model, clouds, {"j0.tau": float(rng.uniform(-1, 1))})


def plane_loops(seed: int, boundary: str | None = None) -> Flexible:
    """A tree in the plane whose last bodies are pinned to the ground, or welded to a slide, or to one another."""
    rng = np.random.default_rng(seed)
    case = plane_tree(seed, boundary, bodies=5, welds=False)
    bodies = list(case.model.bodies)
    poses, q = starting(case)
    oracle = FlexibleOracle(case.model, case.clouds)
    for index, (end, other) in enumerate(((bodies[-1], None), (bodies[-2], bodies[1]))):
        P = end.at(rng.choice((0.5, 1.0)) * end.bending.length, 0.01) if isinstance(end, fm.ModalBody) else end.tip
        p, R = oracle.frame(poses, q, P)
        own, A = (np.zeros(3), np.eye(3)) if other is None else poses[other.name]
        if other is None:
            Q = case.model.ground.at(*p, rotation=fm.Rotation(R))
        elif isinstance(other, fm.ModalBody):
            break
        else:
            Q = other.at(*(A.T @ (p - own)), rotation=fm.Rotation(A.T @ R))
        if other is None and rng.random() < 0.3:
            case.model.add(fm.Prismatic(f"c{index}", P, Q, axis="x"))
        else:
            case.model.add(fm.Revolute(f"c{index}", P, Q))
    return case


def starting(case: Flexible) -> tuple[dict[str, Any], dict[str, Any]]:
    """Poses of the bodies and modal coordinates at the model's start values."""
    q: dict[str, Any] = {joint.name: joint.start_positions for joint in case.model.joints}
    q |= {body.name: np.array(body.q0) for body in case.model.bodies if isinstance(body, fm.ModalBody)}
    oracle = FlexibleOracle(case.model, case.clouds)
    return oracle.place(Present(q, {}), np.zeros(oracle.count))


def bent_in_space(seed: int, closed: bool = False) -> Flexible:
    """As space_tree() or space_loop(), of bodies that deform in space and rigid ones."""
    return space_loop(seed, in_space=True) if closed else space_tree(seed, in_space=True)


def space_loop(seed: int, in_space: bool = False) -> Flexible:
    """A tree in space of which one end is fixed to the ground by a ball or a weld."""
    rng = np.random.default_rng(seed)
    case = space_tree(seed, in_space)
    poses, q = starting(case)
    end = case.model.bodies[-1]
    P = along(rng, end) if isinstance(end, fm.ModalBody) else end.at(0.2, 0.1, 0.3)
    p, R = FlexibleOracle(case.model, case.clouds).frame(poses, q, P)
    close = fm.Spherical if rng.random() < 0.5 else fm.Weld
    case.model.add(close("c0", P, case.model.ground.at(*p, rotation=fm.Rotation(R))))
    return case


def space_tree(seed: int, in_space: bool = False) -> Flexible:
    """The same in space: every frame at any angle, bodies bending in any plane of theirs."""
    rng = np.random.default_rng(seed)
    model = fm.Model("space_tree", gravity=rng.uniform(-10, 10, 3))
    clouds: dict[str, Cloud] = {}
    bodies: list[Any] = []
    for index in range(4):
        choice = rng.random()
        if in_space and choice < 0.8:
            part, clouds[f"b{index}"] = lumped(rng, f"b{index}", None, modes=int(rng.integers(1, 4)))
        elif choice < 0.4:
            part, clouds[f"b{index}"] = random_beam(rng, f"b{index}", plane=str(rng.choice(("xy", "xz"))))
        elif choice < 0.8:
            part, clouds[f"b{index}"] = lumped(rng, f"b{index}", str(rng.choice(("xy", "xz", "yz"))))
        else:
            part = body(rng, f"b{index}")
        carrier = model.ground if index == 0 else bodies[rng.integers(len(bodies))]
        turned = fm.Rotation(turn(rng.uniform(-2, 2, 3)))
        ends = []
        for end in (carrier, part):
            flexible = isinstance(end, fm.ModalBody)
            ends.append(along(rng, end) if flexible else end.at(*rng.uniform(-0.5, 0.5, 3), rotation=turned))
        kind = str(rng.choice(("revolute", "prismatic", "weld", "revolute")))
        if index == 0:
            kind = "free"
        if kind == "free":
            q = rng.uniform(-1, 1, 4)
            at = (*rng.uniform(-1, 1, 3), *q / np.linalg.norm(q))
            joint: Any = fm.Free("j0", *ends, q0=at, u0=rng.uniform(-1, 1, 6))
        elif kind == "weld":
            joint = fm.Weld(f"j{index}", *ends)
        else:
            make = fm.Revolute if kind == "revolute" else fm.Prismatic
            axis, q0, u0 = tuple(rng.uniform(-1, 1, 3)), rng.uniform(-1, 1), rng.uniform(-2, 2)
            joint = make(f"j{index}", *ends, axis=axis, q0=q0, u0=u0)
        model.add(part, joint)
        bodies.append(part)
    P = along(rng, bodies[0]) if isinstance(bodies[0], fm.ModalBody) else bodies[0].at(0.3, 0.2, 0.1)
    model.add(fm.Spring("s", P, model.ground.at(2, 1, 1), stiffness=5.0, damping=0.3, free_length=0.4))
    push = {"force": rng.uniform(-3, 3, 3), "torque": rng.uniform(-1, 1, 3)}
    model.add(fm.Load("l", P, axes="point" if seed % 2 else "world", **push))
    return Flexible(model, clouds)
