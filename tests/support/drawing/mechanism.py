"""A random mechanism: trees in space or in the plane, loops, and all that acts on them.

All start values fit together: joints that close loops are put where the tree's bodies are, and what velocities the
loops leave is computed by the Solver and then given for every joint. So it does not matter which of them are held, and
the same mechanism may be written in other ways. Numbers are of the order of one; scaling.scaled() makes others of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import fmumbs as fm
from fmumbs.mechanism.joints import JointBase
from support.closed import matrix_of_quaternion
from support.drawing import contacts, forces, joints, transmissions
from support.drawing.bodies import Rng, link, lumped, modal, place_on, solid
from support.drawing.cutting import recut, tree_is_possible, with_tree
from support.drawing.rebuilding import rebuilt
from support.drawing.scaling import scaled

LONGEST = 0.3
"""Of any run, in units of the mechanism's own time."""

TOUCHING = 0.3
"""Part of the mechanisms that have contacts."""

EVALUATIONS = 3000
"""Of a run, about: what vibrates fast runs shorter."""
SEQUENCES = ("ZYX", "XYZ", "ZXZ", "YXY", "xyz", "zyx", "zxz", "xzx")
"""Of Euler angles: with three axes and with two, about those that turn with a body and about fixed ones."""
CANNOT = ("singular for it or locked by the loops", "the programs prescribe", "prescribe dependent coordinates")
"""Parts of the messages about what no mechanism of these joints can do."""


class Refused(Exception):
    """A draw that is no mechanism, or one that cannot move."""


@dataclass(frozen=True)
class Drawn:
    """A model, how long it runs [s], and its units: kilograms, meters and seconds of one."""

    seed: int
    model: fm.Model
    stop: float
    units: tuple[float, float, float]


class Draft:
    """A mechanism as it grows."""

    def __init__(self, seed: int) -> None:
        self.rng: Rng = np.random.default_rng([seed, 24])
        self.later: Rng = np.random.default_rng([seed, 31])  # what came later: seeds are pinned
        self.touching: Rng = np.random.default_rng([seed, 32])
        rng = self.rng
        self.model = fm.Model("drawn", gravity=rng.uniform(-10, 10, 3) if rng.random() < 0.8 else (0, 0, 0))
        self.parts: list[Any] = []
        self.groups: list[tuple[bool, list[Any]]] = []
        kinds = joints.CUT if rng.random() < 0.5 else rng.choice(joints.CUT, int(rng.integers(1, 4)))
        self.closings = [str(kind) for kind in kinds]
        self.spread = float(rng.choice((0.3, 1.0, 3.0), p=(0.6, 0.3, 0.1)))
        self.sizes = float(rng.choice((0.0, 0.5, 1.5), p=(0.7, 0.2, 0.1)))
        self.size: dict[str, float] = {}
        self.force = 3.0
        self.links = False

    def mass(self) -> float:
        """Of a body: a few decades of them in one mechanism, now and then."""
        return float(10.0 ** self.rng.uniform(-self.spread, self.spread))

    def solid(self, name: str) -> fm.Body:
        """A rigid body: sizes differ by up to three decades in one mechanism."""
        self.size[name] = float(10.0 ** self.rng.uniform(-self.sizes, self.sizes))
        made = solid(self.rng, name, self.mass(), self.size[name])
        angles = self.later.choice(SEQUENCES) if self.later.random() < 0.1 else None
        return replace(made, euler=angles and str(angles))

    def place_on(self, part: Any) -> fm.Point:
        return place_on(self.rng, part, self.size.get(part.name, 1.0))

    def grow(self) -> None:
        """One to three groups of trees beside one another, each in space or in the plane."""
        rng = self.rng
        for _ in range(int(rng.choice((1, 2, 3), p=(0.6, 0.3, 0.1)))):
            before, in_plane = len(self.parts), bool(rng.random() < 0.4)
            size = int(rng.integers(1, 4 if self.groups else 6))
            (self.in_plane if in_plane else self.in_space)(size)
            self.groups.append((in_plane, self.parts[before:]))

    def in_space(self, size: int) -> None:
        """A tree of any bodies and joints."""
        rng, grown = self.rng, []
        for _ in range(size):
            i, part = len(self.parts), self.body(f"b{len(self.parts)}")
            carrier = self.model.ground if not grown or rng.random() < 0.1 else grown[rng.integers(len(grown))]
            ends = [self.place_on(carrier), self.place_on(part)]
            kind = str(rng.choice(joints.TREE))
            rigid = type(part) is fm.Body and not isinstance(carrier, fm.ModalBody | fm.FlexibleLink)
            if kind in ("skate", "rolling", "support") and not rigid:
                kind = "revolute"
            if kind not in ("skate", "rolling", "excited", "support") and rng.random() < 0.3:
                ends.reverse()
            self.links |= kind == "support" or isinstance(part, fm.FlexibleLink)
            self.model.add(part, self.carried(kind, f"j{i}", *ends))
            self.parts.append(part)
            grown.append(part)

    def body(self, name: str) -> Any:
        """Rigid or flexible."""
        for make, chance in ((link, 0.05), (modal, 0.06), (lumped, 0.05)):
            if self.rng.random() < chance:
                return make(self.rng, name, self.mass())
        return self.solid(name)

    def carried(self, kind: str, name: str, F: fm.Point, M: fm.Point) -> Any:
        """What carries a body in space."""
        if kind == "support":
            return joints.support(self.rng, name, F, M, self.force)
        return joints.with_laws(self.rng, joints.joint(self.rng, kind, name, F, M), self.force)

    def in_plane(self, size: int) -> None:
        """A tree of bodies on parallel pins and slides across them."""
        rng, grown = self.rng, []
        for _ in range(size):
            i = len(self.parts)
            carrier = self.model.ground if not grown or rng.random() < 0.1 else grown[rng.integers(len(grown))]
            part = self.solid(f"b{i}")
            F, M = (self.in_section(one) for one in (carrier, part))
            start = {"q0": float(rng.uniform(-1.5, 1.5)), "u0": float(rng.uniform(-1, 1))}
            pin = rng.random() < 0.8
            make, letter = (fm.Revolute, "y") if pin else (fm.Prismatic, "x")
            made = make(f"j{i}", F, M, axis=letter, **start)
            self.model.add(part, joints.with_laws(rng, made, self.force))
            self.parts.append(part)
            grown.append(part)

    def in_section(self, part: Any) -> fm.Point:
        """A point in the plane through the origin, or beside it."""
        away = self.size.get(part.name, 1.0) * self.rng.uniform(-0.5, 0.5, 3)
        return part.at(*(away * (1, self.rng.integers(2), 1)).tolist())

    def place(self) -> None:
        """Where the bodies are."""
        solver = started(self.model)
        self.poses = {"ground": (np.zeros(3), np.eye(3))}
        for body in self.model.bodies:
            self.poses[body.name] = solver.get(f"{body.name}.r"), matrix_of_quaternion(solver.get(f"{body.name}.quat"))

    def on(self, part: Any, p: Any, R: Any) -> fm.Point:
        """The point of a body that is at p with the axes R."""
        own, A = self.poses[part.name]
        return part.at(*(A.T @ (p - own)).tolist(), rotation=fm.Rotation(A.T @ R))

    def close(self, name: str) -> None:
        """Closes a loop: within a group, or between any."""
        rng = self.rng
        in_plane, parts = self.groups[rng.integers(len(self.groups))]
        if in_plane and rng.random() < 0.7:
            self.pin(name, parts)
        else:
            self.join(name, str(rng.choice(self.closings)), parts if rng.random() < 0.5 else self.parts)

    def join(self, name: str, kind: str, parts: list[Any]) -> None:
        """A joint between two bodies where they are."""
        rng = self.rng
        rigid = [self.model.ground, *(part for part in parts if type(part) is fm.Body)]
        if len(rigid) < 2:
            return
        first, second = (rigid[i] for i in rng.permutation(len(rigid))[:2])
        p = self.poses[(second if second.name != "ground" else first).name][0] + rng.uniform(-0.5, 0.5, 3)
        R = np.eye(3) if rng.random() < 0.3 else matrix_of_quaternion(np.array(joints.quaternion(rng, 3.0)))
        F = self.on(first, p, R)
        if kind in ("distance", "hinged rod", "line", "plane"):
            far = rng.uniform(-0.7, 0.7, 3)
            M = self.on(second, p + R @ far, matrix_of_quaternion(np.array(joints.quaternion(rng, 3.0))))
            self.model.add(joints.constraint(rng, kind, name, F, M, far))
            return
        if kind == "contact":
            self.roll(name, first, second, p, R)
            return
        made: Any = joints.joint(rng, kind, name, F, second.at())
        X = made.transform()
        M = self.on(second, p + R @ X.translation, R @ X.rotation.matrix)
        ends = (M, F) if kind in ("revolute", "prismatic") and rng.random() < 0.4 else (F, M)
        if ends[0] is M:
            made = replace(made, q0=-made.q0)
        made = joints.with_laws(rng, replace(made, F=ends[0], M=ends[1]), self.force)
        cut = bool(rng.random() < 0.3)
        self.model.add(replace(made, cut=cut))

    def pin(self, name: str, parts: list[Any]) -> None:
        """A pin between two bodies in the plane, where they are."""
        rng = self.rng
        rigid = [self.model.ground, *parts]
        first, second = (rigid[i] for i in rng.permutation(len(rigid))[:2])
        p, angle = rng.uniform(-1, 1, 3) * (1, 0, 1), float(rng.uniform(-1, 1))
        F, made = self.on(first, p, np.eye(3)), fm.Revolute(name, first.at(), second.at(), axis="y", q0=angle)
        M = self.on(second, p, made.transform().rotation.matrix)
        self.model.add(joints.with_laws(rng, replace(made, F=F, M=M), self.force))

    def starts_are_unique(self) -> bool:
        """Whether loops leave one start: nothing gives flexible links and supports velocities, which drives need."""
        return not self.links or not any(one.excited_modes for one in self.model.joints)

    def locks(self) -> bool:
        """Whether the loops lock an excited joint."""
        if not any(one.excited_modes for one in self.model.joints):
            return False
        try:
            started(recut(self.rng, self.model))
        except fm.AssemblyError as error:
            if "the loops lock it" in str(error):
                return True
            raise
        return False

    def roll(self, name: str, first: Any, second: Any, p: Any, R: Any) -> None:
        """A ball or a disc of the second body on a plane of the first."""
        rng, radius = self.rng, float(self.rng.uniform(0.1, 0.4))
        ball = rng.random() < 0.5
        tilt = rng.uniform(-1, 1)
        turned = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
        centre = p + R @ (0, 0, radius if ball else radius * np.cos(tilt))
        ends = self.on(first, p, R), self.on(second, centre, R @ turned)
        self.model.add(fm.Rolling(name, *ends, radius=radius, axis=None if ball else "y"))

    def act(self) -> None:
        """Springs, loads, laws, friction, couplings and programs."""
        rng, model = self.rng, self.model
        forces.springs_and_loads(rng, model, self.parts, self.force)
        if rng.random() < 0.15:
            rubbing = {j.name for j in model.joints if j.name[0] == "j" and rng.random() < 0.5}
            loops = any(j.name[0] == "c" for j in model.joints)
            rub = joints.rubbed
            model = rebuilt(model, lambda e: rub(rng, e, self.force, loops) if e.name in rubbing else e)
        tree = [j for j in model.joints if j.name[0] == "j" and "_" not in j.name]
        if rng.random() < 0.15 and (one := forces.coupling(rng, "gear", tree)) and self.is_needed(model, one):
            self.add(model, one)
        self.transmit(model, tree)
        able = [*(j for j in model.joints if forces.scalars(j) and "_" not in j.name), *model.springs]
        for k in range(int(rng.integers(0, 3)) if able else 0):
            self.add(model, forces.law(rng, f"law{k}", able[rng.integers(len(able))], self.force))
        bodies = [part for part in self.parts if type(part) is fm.Body]
        if bodies and rng.random() < 0.15 and started(recut(rng, model)).mobility > 1:
            program = forces.program(rng, "P", tree, model.ground, bodies[-1], self.poses[bodies[-1].name])
            if self.later.random() < 0.25:
                program = forces.length_program(self.later, "P", model.ground, bodies[-1], self.poses)
            if not (program.drives and any(forces.jumps(one) for one in model.laws)) and self.follows(model, program):
                self.add(model, program)
        self.model = recut(rng, model) if rng.random() < 0.5 else with_tree(rng, model)

    def transmit(self, model: fm.Model, tree: list[Any]) -> None:
        """Ropes, motors, gears with play, stops with impacts and contacts."""
        rng, force = self.later, self.force
        hinges = [j for j in tree if isinstance(j, fm.Revolute) and j.M.body.name != "ground"]
        moving = [j for j in tree if forces.scalars(j)]
        able = [(j, k + 1) for j in moving for k in range(forces.scalars(j))]
        if rng.random() < 0.2 and (one := transmissions.rope(rng, "rope", self.parts, hinges, self.poses, force)):
            self.add(model, one)
        if moving and rng.random() < 0.15:
            self.add(model, transmissions.motor(rng, "motor", moving[rng.integers(len(moving))], force))
        if len(able) > 1 and rng.random() < 0.15:
            self.add(model, transmissions.gear(rng, "teeth", able, force))
        if moving and rng.random() < 0.1:
            self.add(model, transmissions.impact(rng, "end", moving[rng.integers(len(moving))]))
        self.touch(model)

    def touch(self, model: fm.Model) -> None:
        """Contacts and tyres."""
        rng = self.touching
        for k in range(int(rng.integers(1, 3)) if rng.random() < TOUCHING else 0):
            if one := contacts.contact(rng, f"touch{k}", self.parts, self.poses, self.force):
                model.add(one)

    def add(self, model: fm.Model, one: Any) -> None:
        """Adds a law, a coupling or a program, if its joints can still be in the tree."""
        with_it = rebuilt(model)
        with_it.add(one)
        if tree_is_possible(with_it):
            model.add(one)

    def is_needed(self, model: fm.Model, one: fm.Coupling) -> bool:
        """Whether the loops leave the coupling something to do: else its force is not unique, and nothing says so."""
        with_it = rebuilt(model)
        with_it.add(one)
        if not tree_is_possible(with_it):
            return False
        return started(recut(self.rng, with_it)).mobility < started(recut(self.rng, model)).mobility

    def follows(self, model: fm.Model, program: Any) -> bool:
        """Whether the mechanism can do what the program prescribes."""
        with_it = rebuilt(model)
        with_it.add(program)
        try:
            started(recut(self.rng, with_it))
        except fm.AssemblyError as error:
            if any(why in str(error) for why in CANNOT):
                return False
            raise
        return True


def started(model: fm.Model, **options: Any) -> fm.Solver:
    solver = fm.Solver(fm.compile(model, everything=True).with_options(**options) if options else model)
    solver.assemble()
    return solver


def draw(seed: int) -> Drawn:
    """Any mechanism; raises Refused where it is none."""
    draft = Draft(seed)
    rng = draft.rng
    draft.grow()
    try:
        draft.place()
        for k in range(int(rng.integers(0, 4)) if draft.starts_are_unique() else 0):
            before = rebuilt(draft.model)
            draft.close(f"c{k}")
            if draft.locks():
                draft.model = before
        if draft.links and any(j.name[0] == "c" for j in draft.model.joints):
            draft.model = rebuilt(draft.model, at_rest)
            draft.parts = [draft.model[part.name] for part in draft.parts]
        draft.act()
        model = completed(draft.model)
        stop = shortened(model)
    except (fm.ModelError, fm.AssemblyError, fm.SolverError) as error:
        raise Refused(f"{type(error).__name__}: {error}") from error
    units = (1.0, 1.0, 1.0)
    if rng.random() < 0.5:
        units = decades(rng)
        model = scaled(model, units)
    return Drawn(seed, model, stop * units[2], units)


def shortened(model: fm.Model) -> float:
    """How long it runs, by the evaluations of the first part: LONGEST, or less if something vibrates fast."""
    solver = started(model)
    begin = solver.get("solver.evaluations")
    solver.step(LONGEST / 30)
    each = solver.get("solver.evaluations") - begin
    return LONGEST * min(1.0, EVALUATIONS / (30 * each))


def decades(rng: Rng) -> tuple[float, float, float]:
    """Six of masses and lengths, two of times."""
    a, b, c = rng.uniform((-3, -3, -1), (3, 3, 1)).tolist()
    return 10.0**a, 10.0**b, 10.0**c


def at_rest(one: Any) -> Any:
    """Nothing gives a flexible link start velocities of its own, so in a loop everything starts at rest."""
    if isinstance(one, JointBase | fm.ModalBody) and getattr(one, "u0", None) is not None:
        return replace(one, u0=0.0 if isinstance(one.u0, float) else (0.0,) * len(one.u0))
    return one


def completed(model: fm.Model) -> fm.Model:
    """The model with all start values as its loops, couplings and programs make them."""
    solver = started(model)

    def with_starts(one: Any) -> Any:
        if isinstance(one, fm.ModalBody):
            return replace(one, q0=every(solver, f"{one.name}.q"), u0=every(solver, f"{one.name}.qd"))
        if not isinstance(one, JointBase) or not hasattr(one, "q0"):
            return one
        q, u = start_of(solver, one)
        return replace(one, q0=q, u0=u)

    return rebuilt(model, with_starts)


def every(solver: fm.Solver, name: str) -> tuple[float, ...]:
    return tuple(np.atleast_1d(solver.get(name)).tolist())


def start_of(solver: fm.Solver, one: Any) -> tuple[Any, Any]:
    """q0 and u0 of a joint as it is."""
    if isinstance(one, fm.Free):
        q = every(solver, f"{one.name}.r") + every(solver, f"{one.name}.q")
        return q, every(solver, f"{one.name}.v") + every(solver, f"{one.name}.w")
    q = every(solver, f"{one.name}.q") if one.positions else ()
    rate = "w" if isinstance(one, fm.Spherical) else "u" if one.velocity_rows else "qd"
    u = every(solver, f"{one.name}.{rate}") if one.velocities else ()
    if isinstance(one, fm.Revolute | fm.Prismatic | fm.Screw):
        return q[0], u[0]
    return q, u
