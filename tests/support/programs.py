"""Random mechanisms with random programs, and their oracles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import fmumbs as fm
from oracle.programs import Programmed, Realised, Target, faded
from support.closed import at as point_at
from support.closed import body, orientation, space, state_of, tree_joint

TRANSITION = 0.4


@dataclass(frozen=True)
class Drawn:
    """A mechanism, the same without its programs, and what is programmed."""

    model: fm.Model
    plain: fm.Model
    program: fm.Program
    kind: str
    about: Any

    def oracle(self, off: Any = None, rate: Any = None) -> Programmed:
        """off, rate: deviations from the target at the start, which are faded out."""
        target: Target = self.program.path  # type: ignore[assignment]
        if off is not None:
            target = faded(target, np.asarray(off), np.asarray(rate), TRANSITION)
        return Programmed(self.plain, {"P": (self.kind, self.about, target)})


def draw(
    seed: int,
    kind: str,
    *,
    loops: int = 0,
    transition: float = TRANSITION,
    order: int = 1,
    last_joint: str = "spherical",
) -> Drawn:
    """A random tree, or a mechanism with loops, and a program on one of its last bodies' points, axes or joints."""
    rng = np.random.default_rng([seed, 3])
    sorts = ("revolute", "prismatic", "revolute") if kind == "joint" else ("revolute", "prismatic", "spherical")
    plain = space(seed, "spherical", loops=loops, spare=3, sorts=sorts).model if loops else tree(rng, last_joint)
    solver = fm.Solver(plain)
    solver.assemble()
    last = plain.bodies[-1]
    R = _matrix(solver.get(f"{last.name}.quat"))
    place = solver.get(f"{last.name}.r")
    frame, origin, axes = plain.ground.at(*rng.uniform(-1, 1, 3), rotation=fm.Rotation(orientation(rng))), None, None
    if rng.random() < 0.5 and len(plain.bodies) > 2 and not loops:
        frame = plain.bodies[0].at(*rng.uniform(-1, 1, 3), rotation=fm.Rotation(orientation(rng)))
        origin = solver.get(f"{plain.bodies[0].name}.r")
        axes = _matrix(solver.get(f"{plain.bodies[0].name}.quat"))
    origin, axes = (np.zeros(3), np.eye(3)) if origin is None else (origin, axes)
    F, F_R = origin + axes @ frame.X_BP.translation, axes @ np.asarray(frame.X_BP.rotation.matrix)
    arm = rng.uniform(-0.5, 0.5, 3)
    off = transition and 1.0
    options = {"transition": transition}
    if kind == "joint":
        scalar = [j for j in plain.joints if isinstance(j, fm.Revolute | fm.Prismatic) and j.name[0] == "j"]
        joint = max(scalar, key=lambda j: abs(solver.get(f"{j.name}.qd")))  # one that the loops leave free
        now = np.array([solver.get(f"{joint.name}.q")])
        program: Any = fm.ProgrammedJoint("P", joint, path=curve(rng, now, off), **options)
        about: Any = joint
    elif kind == "point":
        letters = "".join(rng.permutation(list("xyz"))[: 1 if loops else rng.integers(1, 3)])
        now = (F_R.T @ (place + R @ arm - F))[["xyz".index(letter) for letter in letters]]
        point = last.at(*arm)
        program = fm.ProgrammedPoint("P", point, frame=frame, directions=letters, path=curve(rng, now, off), **options)
        about = (frame, point, letters)
    elif kind == "length":
        point = last.at(*arm)
        now = np.array([np.linalg.norm(place + R @ arm - F)])
        program = fm.ProgrammedLength("P", frame, point, path=curve(rng, now, 0.3 * off), **options)
        about = (frame, point)
    elif kind.startswith("twist"):
        count, point = 1 if loops else int(rng.integers(1, 3)), point_at(last, arm, orientation(rng))
        rows = rng.uniform(-1, 1, (count, 6)) * rng.choice([0.0, 1.0], (count, 6), p=(0.3, 0.7))
        rows[:, 3] += 0.5
        slopes = rng.uniform(-0.5, 0.5, (count, 6))
        scalar = [j for j in plain.joints if isinstance(j, fm.Revolute | fm.Prismatic) and j.name[0] == "j"]
        by: Any = (None, fm.Path.polynomial(0.3, -0.4, 0.2), scalar[0] if scalar else None)[int(rng.integers(3))]
        about = (frame, point, rows, slopes, by)
        now = Programmed(plain, {"P": (kind, about, None)}).programmed(state_of(solver, plain), "P")[0]  # type: ignore
        options = options if order == 1 else {}
        options |= {"axes": "point" if kind.endswith("_M") else "frame", "of": ("velocity", "acceleration")[order - 1]}
        options |= {"rows": rows} if by is None else {"rows": rows, "slopes": slopes, "by": by}
        program = fm.ProgrammedVelocity("P", point, frame=frame, path=curve(rng, now, off), **options)
    elif kind in ("speed", "speed_M", "spin", "spin_M"):
        letters = "".join(rng.permutation(list("xyz"))[: 1 if loops else rng.integers(1, 3)])
        point = point_at(last, arm, orientation(rng))
        about = (frame, point, letters)
        state = state_of(solver, plain)
        now = Programmed(plain, {"P": (kind, about, None)}).programmed(state, "P")[0]  # type: ignore[dict-item]
        make = fm.ProgrammedPoint if kind.startswith("speed") else fm.ProgrammedOrientation
        axes = "point" if kind.endswith("_M") else "frame"
        if order == 2:
            options = {}
        of = ("velocity", "acceleration")[order - 1]
        options |= {"directions": letters, "axes": axes, "of": of}  # type: ignore[dict-item]
        program = make("P", point, frame=frame, path=curve(rng, now, off), **options)
    else:
        angles = rng.uniform(-0.8, 0.8, 3)
        own = R.T @ F_R @ turned(angles)  # so that the axes now have these angles
        point = point_at(last, arm, own)
        program = fm.ProgrammedOrientation("P", point, frame=frame, path=curve(rng, angles, off), **options)
        about = (frame, point)
    model = fm.Model("programmed", gravity=plain.gravity)
    model.add(*plain.elements, program)
    return Drawn(model, plain, program, kind, about)


@dataclass(frozen=True)
class Driven:
    """A case whose program drives realise."""

    case: Drawn
    drives: tuple[tuple[Any, int], ...]

    @property
    def model(self) -> fm.Model:
        model = fm.Model("driven", gravity=self.case.model.gravity)
        program = replace(self.case.program, drives=self.drives, insist=True)
        model.add(*self.case.plain.elements, program)
        return model

    def oracle(self, off: Any = None, rate: Any = None) -> Realised:
        ideal = self.case.oracle(off, rate)
        return Realised(self.case.plain, ideal.programs, {"P": self.drives})


def realised(seed: int, kind: str, *, loops: int = 0, order: int = 1, transition: float = 0.0) -> Driven:
    """A case of draw() realised by drives in joints of the tree, at random, in loops by those that move most."""
    last = "revolute" if kind == "orientation" else "spherical"
    case = draw(seed, kind, loops=loops, order=order, transition=transition, last_joint=last)
    rng, solver = np.random.default_rng([seed, 7]), fm.Solver(case.plain)
    solver.assemble()
    free = [j for j in case.plain.joints if isinstance(j, fm.Revolute | fm.Prismatic) and j.name[0] == "j"]
    free = [free[i] for i in rng.permutation(len(free)).tolist()]
    if loops:
        free.sort(key=lambda joint: -abs(solver.get(f"{joint.name}.qd")))
    return Driven(case, tuple((joint, 1) for joint in free[: len(case.program.drive.excited_modes)]))


def curve(rng: np.random.Generator, now: Any, off: float) -> fm.Curve:
    """From near the present place to others near it; a circle now and then."""
    start = now + 0.05 * off * rng.uniform(-1, 1, len(now))
    if len(now) == 1 and rng.random() < 0.4:
        angle = fm.Path.quintic([0.0, 1.0], [0.0, rng.uniform(-2, 2)])
        return fm.Curve([replace(angle, wave=(float(start[0]) - 0.1, 0.1, 0.0))])
    steps = rng.uniform(-0.1, 0.1, (3, len(now)))
    return fm.Path.polyline([start, *(start + steps)], rng.uniform(0.2, 0.5, 3))


def tree(rng: np.random.Generator, last: str = "spherical") -> fm.Model:
    """Four bodies, the last on a ball, or another joint."""
    model = fm.Model("tree", gravity=rng.uniform(-10, 10, 3))
    bodies = [body(rng, f"b{i}") for i in range(4)]
    model.add(*bodies)
    for i, sort in enumerate([*rng.choice(["revolute", "prismatic"], 3).tolist(), last]):
        carrier = model.ground if i == 0 else bodies[i - 1]
        F = point_at(carrier, rng.uniform(-0.5, 0.5, 3), orientation(rng))
        M = point_at(bodies[i], rng.uniform(-0.5, 0.5, 3), orientation(rng))
        model.add(tree_joint(rng, sort, f"j{i}", F, M))
    return model


def turned(angles: Any) -> Any:
    """R_x R_y R_z."""
    (a, b, c), one = angles, np.eye(3)
    return _about(one[0], a) @ _about(one[1], b) @ _about(one[2], c)


def _about(axis: Any, angle: float) -> Any:
    x = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * x + (1 - np.cos(angle)) * x @ x


def _matrix(q: Any) -> Any:
    w, v = q[0], np.asarray(q[1:])
    x = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * x + 2 * x @ x
