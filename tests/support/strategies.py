"""Random mechanisms with a tree structure, for hypothesis.

`trees()` draws a Model and values for its inputs: one or more roots, any branching, every kind of joint,
frames that are parallel, turned by quarters or in general on both sides, bodies whose centre of mass and
principal axes lie anywhere, joint springs, dampers and rotors, line springs between any two points, loads. With
kinds=EVERY they also have joints of several modes, and general products with excited and locked ones.
Numbers are of the order of one metre, kilogram and second, so that a relative tolerance has a meaning.
Strategies that depend on numbers alone are cached: hypothesis validates each one only once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import fmumbs as fm
from oracle import Oracle
from oracle.products import Product

CLOSEST = 0.2
"""Nearer than this [m] the direction of a line spring is ill-conditioned."""

JOINTS = ("revolute", "prismatic", "spherical", "free", "weld")
MULTI_MODE = ("cylindrical", "screw", "universal", "planar", "skate", "product", "rolling")
EVERY = (*JOINTS, *MULTI_MODE)
BOTH_WAYS = tuple(kind for kind in EVERY if kind not in ("skate", "rolling"))  # not the nonholonomic ones
SPREAD = 0.15
"""Smallest singular value of a product's moving modes: nearer to gimbal lock they are ill-conditioned."""
LETTERS = ("x", "y", "z", "-x", "-y", "-z")


@dataclass(frozen=True)
class Case:
    """A model and values for some of its inputs, by variable name."""

    model: fm.Model
    inputs: dict[str, Any]

    def __repr__(self) -> str:
        lines = [f"{self.model!r}, gravity={self.model.gravity}"]
        elements = (*self.model.bodies, *self.model.joints, *self.model.forces, *self.model.laws)
        return "\n".join([*lines, *(f"  {element!r}" for element in elements), f"  {self.inputs}"])


@cache
def numbers(low: float = -1.0, high: float = 1.0) -> st.SearchStrategy[float]:
    """Three decimals: short to read when a tree fails, and never almost zero."""
    return st.integers(round(low * 1000), round(high * 1000)).map(lambda n: n / 1000)


@cache
def vectors(size: int = 3, high: float = 1.0) -> st.SearchStrategy[tuple[float, ...]]:
    return st.tuples(*[numbers(-high, high)] * size)


@cache
def directions() -> st.SearchStrategy[tuple[float, ...]]:
    return vectors().filter(lambda v: np.linalg.norm(v) > 0.1)


@cache
def axes() -> st.SearchStrategy[Any]:
    return st.one_of(st.sampled_from(LETTERS), directions())


@cache
def rotations() -> st.SearchStrategy[fm.Rotation | None]:
    """None, quarter turns, or general ones."""
    quarters = st.tuples(st.sampled_from("xyz"), st.sampled_from((np.pi / 2, np.pi, -np.pi / 2)))
    return st.one_of(
        st.none(),
        quarters.map(lambda turn: fm.Rotation.about(*turn)),
        vectors(high=3.0).map(lambda angles: fm.Rotation.rpy(*angles)),
    )


@cache
@st.composite
def quaternions(draw: st.DrawFn) -> tuple[float, ...]:
    """Of a turn of at most 2.5 rad: beyond half a turn the spring of a ball joint jumps."""
    axis, angle = np.array(draw(directions())), draw(numbers(0.0, 2.5))
    return (float(np.cos(angle / 2)), *(np.sin(angle / 2) * axis / np.linalg.norm(axis)).tolist())


@st.composite
def bodies(draw: st.DrawFn, name: str) -> fm.Body:
    """Any solid: spread a, b, c of the mass along principal axes, turned and shifted."""
    mass = draw(numbers(0.2, 3.0))
    a, b, c = (draw(numbers(0.03, 0.3)) for _ in range(3))
    turned = draw(rotations())
    R = np.eye(3) if turned is None else turned.matrix
    inertia = R @ (mass * np.diag([b + c, c + a, a + b])) @ R.T
    points = {"mark": draw(vectors())} if draw(st.booleans()) else {}
    return fm.Body(name, mass=mass, com=draw(vectors()), inertia=(inertia + inertia.T) / 2, points=points)


@st.composite
def points(draw: st.DrawFn, body: Any) -> fm.Point:
    return body.at(*draw(vectors()), rotation=draw(rotations()))


@cache
def rates(high: float) -> st.SearchStrategy[float]:
    """Often zero."""
    return st.one_of(st.just(0.0), numbers(0.0, high))


def law(draw: st.DrawFn, high: float) -> float:
    return draw(rates(high))


@st.composite
def joints(draw: st.DrawFn, name: str, F: fm.Point, M: fm.Point, kinds: tuple[str, ...]) -> fm.Joint:
    kind = draw(st.sampled_from(kinds))
    if kind in ("revolute", "prismatic"):
        forces = {"stiffness": law(draw, 20), "damping": law(draw, 2), "rotor_inertia": law(draw, 1)}
        make, reach = (fm.Revolute, 4.0) if kind == "revolute" else (fm.Prismatic, 1.0)
        start = {"q0": draw(numbers(-reach, reach)), "u0": draw(numbers(-2, 2)), "rest": draw(numbers())}
        return make(name, F, M, axis=draw(axes()), **forces, **start)
    if kind == "spherical":
        forces = {"stiffness": law(draw, 20), "damping": law(draw, 2)}
        return fm.Spherical(name, F, M, q0=draw(quaternions()), u0=draw(vectors(high=2.0)), **forces)
    if kind == "free":
        q0 = draw(vectors()) + draw(quaternions())
        return fm.Free(name, F, M, q0=q0, u0=draw(vectors(6, 2.0)))
    if kind in MULTI_MODE:
        return draw(several(name, F, M, kind))
    return fm.Weld(name, F, M)


@st.composite
def several(draw: st.DrawFn, name: str, F: fm.Point, M: fm.Point, kind: str) -> Any:
    if kind == "screw":
        pitch = draw(numbers(-0.3, 0.3).filter(lambda h: abs(h) > 0.02))
        forces = {"stiffness": law(draw, 20), "damping": law(draw, 2), "rotor_inertia": law(draw, 1)}
        start = {"q0": draw(numbers(-4, 4)), "u0": draw(numbers(-2, 2)), "rest": draw(numbers())}
        return fm.Screw(name, F, M, axis=draw(axes()), pitch=pitch, **forces, **start)
    if kind == "skate":
        return fm.Skate(name, F, M, q0=draw(vectors(3, 3.0)), u0=draw(vectors(2, 2.0)))
    if kind == "product":
        return draw(products(name, F, M))
    if kind == "rolling":
        return draw(rolling(name, F, M))
    free = 3 if kind == "planar" else 2
    options = {"q0": draw(vectors(free, 1.5)), "u0": draw(vectors(free, 2.0)), **laws(draw, free)}
    if kind == "cylindrical":
        return fm.Cylindrical(name, F, M, axis=draw(axes()), **options)
    if kind == "planar":
        return fm.Planar(name, F, M, normal=draw(axes()), **options)
    pair = draw(st.one_of(st.just(("x", "y")), st.just(("z", "-x")), st.tuples(directions(), directions())))
    units = [np.eye(3)["xyz".index(a[-1])] if isinstance(a, str) else a / np.linalg.norm(a) for a in pair]
    assume(np.linalg.norm(np.cross(*units)) > 2 * SPREAD)
    return fm.Universal(name, F, M, axes=pair, **options)


def laws(draw: st.DrawFn, count: int) -> dict[str, tuple[float, ...]]:
    """Springs, dampers and rotors, one for each free mode."""
    highs = {"stiffness": 20.0, "damping": 2.0, "rest": 1.0, "rotor_inertia": 1.0}
    return {name: tuple(law(draw, high) for _ in range(count)) for name, high in highs.items()}


@st.composite
def products(draw: st.DrawFn, name: str, F: fm.Point, M: fm.Point) -> fm.Joint:
    """One to four moving modes in general directions, one or two of them perhaps excited, and locked ones beside."""
    moving, excited = draw(st.integers(1, 4)), draw(st.sampled_from((0, 0, 0, 1, 1, 2)))
    excited = min(excited, moving)
    which = set(draw(st.permutations(range(moving)))[:excited])
    by = draw(st.sampled_from(("path", "kappa_dot", "eta")))
    modes = []
    for k in range(moving):
        if draw(st.integers(0, 3)) == 3:
            modes.append(draw(one_mode({"role": "locked", "value": draw(numbers())})))
        modes.append(draw(one_mode(draw(motions(by)) if k in which else {})))
    if draw(st.integers(0, 3)) == 3:
        modes.append(draw(one_mode({"role": "locked", "value": draw(numbers())})))
    free = moving - excited
    options: dict[str, Any] = {"q0": draw(vectors(free, 1.5)), "u0": draw(vectors(free, 2.0)), **laws(draw, free)}
    try:
        joint = fm.Joint(name, F, M, modes=modes, **options)
    except fm.ModelError:
        assume(False)
    columns = np.hstack(Product(joint, (), ()).columns(np.array(joint.all_positions(), float)))
    assume(np.linalg.svd(columns, compute_uv=False)[-1] > SPREAD)
    return joint


@st.composite
def rolling(draw: st.DrawFn, name: str, F: fm.Point, M: fm.Point) -> fm.Joint:
    """A disc that rolls on the plane z = 0 of F, perhaps with its heading or its own turn prescribed."""
    R, which = draw(numbers(0.1, 0.5)), draw(st.sampled_from((None, None, "heading", "roll")))
    heading, roll = (
        draw(motions(draw(st.sampled_from(("path", "eta"))))) if which == what else {} for what in ("heading", "roll")
    )
    modes = [fm.Slide("x"), fm.Slide("y"), fm.Turn("z", **heading), fm.Turn("x")]
    modes += [fm.Slide("z", role="locked", value=R), fm.Turn("y", **roll)]
    spins = {None: (0, 1, 2), "heading": (0, 1), "roll": (0, 2)}[which]
    q0 = [draw(numbers()), draw(numbers()), draw(numbers(-3, 3)), draw(numbers(-0.8, 0.8)), draw(numbers(-3, 3))]
    q0 = [x for x, mode in zip(q0, (modes[k] for k in (0, 1, 2, 3, 5)), strict=True) if mode.role == "free"]
    return fm.Joint(
        name,
        F,
        M,
        modes=modes,
        velocity_rows=[(0, -R, 0, 1, 0, 0), (R, 0, 0, 0, 1, 0)],
        speed_rows=[np.eye(6)[k] for k in spins],
        rows_after=5,
        q0=q0,
        u0=draw(vectors(len(spins), 2.0)),
    )


@st.composite
def one_mode(draw: st.DrawFn, motion: dict[str, Any]) -> Any:
    make = draw(st.sampled_from((fm.Turn, fm.Turn, fm.Slide, fm.Slide, fm.Helix)))
    pitch = {"pitch": draw(numbers(-0.3, 0.3))} if make is fm.Helix else {}
    return make(draw(axes()), **pitch, **motion)


@st.composite
def motions(draw: st.DrawFn, by: str) -> dict[str, Any]:
    """Of an excited mode."""
    if by == "path":
        return {"role": "excited", "path": fm.Path.polynomial(*draw(vectors(5, 0.8)))}
    start = {"role": "excited", "input": by, "eta0": draw(numbers()), "kappa0": draw(numbers(-2, 2))}
    return {**start, "cutoff": draw(numbers(1, 10))} if by == "eta" else start


@st.composite
def trees(draw: st.DrawFn, max_bodies: int = 6, kinds: tuple[str, ...] = JOINTS, turned_round: bool = False) -> Case:
    """A Case. `turned_round`: some joints have the parent on M's side."""
    model = fm.Model("tree", gravity=draw(st.one_of(st.just((0.0, 0.0, -9.81)), vectors(high=10.0))))
    every: list[Any] = [model.ground]
    elements: list[fm.Body | fm.Joint] = []
    for i in range(draw(st.integers(1, max_bodies))):
        parent = draw(st.sampled_from(every))
        body = draw(bodies(f"b{i}"))
        ends = [draw(points(parent)), draw(points(body))]
        if turned_round and draw(st.booleans()):
            ends.reverse()
        elements += [body, draw(joints(f"j{i}", *ends, kinds))]
        every.append(body)
    model.add(*draw(st.permutations(elements)))
    return finished(draw, model, every, laws=bool(set(kinds) & set(MULTI_MODE)))


def finished(draw: st.DrawFn, model: fm.Model, every: list[Any], laws: bool = False) -> Case:
    """A Case from joints and bodies, with forces between any two of `every`, and force laws if asked for."""
    _add_forces(draw, model, every)
    if laws:
        _add_laws(draw, model)
    oracle = Oracle(model)
    state = oracle.state()
    lines = [one for one in model.forces if isinstance(one, fm.Spring | fm.Actuator)]
    assume(all(oracle.distance(state, one.P, one.Q) > CLOSEST for one in lines))
    return Case(model, _inputs(draw, model))


def _add_forces(draw: st.DrawFn, model: fm.Model, every: list[Any]) -> None:
    for k in range(draw(st.integers(0, 2))):
        P, Q = (draw(points(body)) for body in draw(st.permutations(every))[:2])
        laws = {"stiffness": law(draw, 20), "damping": law(draw, 2), "free_length": draw(numbers(0, 1))}
        model.add(fm.Spring(f"s{k}", P, Q, **laws))
    for k in range(draw(st.integers(0, 1))):
        P, Q = (draw(points(body)) for body in draw(st.permutations(every))[:2])
        model.add(fm.Actuator(f"push{k}", P, Q, force=draw(numbers(-5, 5))))
    for k in range(draw(st.integers(0, 2))):
        P = draw(points(draw(st.sampled_from(every[1:]))))
        axes = draw(st.sampled_from(("world", "point")))
        model.add(fm.Load(f"l{k}", P, force=draw(vectors(high=5.0)), torque=draw(vectors(high=5.0)), axes=axes))


@st.composite
def roped(draw: st.DrawFn, max_bodies: int = 4) -> Case:
    """A tree with a rope or two through points of its bodies, over pulleys on its hinges."""
    case = draw(trees(max_bodies, kinds=("Revolute", "Revolute", "Prismatic", "Spherical", "Free")))
    model, every = case.model, [case.model.ground, *case.model.bodies]
    hinges = [joint for joint in model.joints if isinstance(joint, fm.Revolute)]
    for k in range(draw(st.integers(1, 2))):
        ends = draw(st.permutations(every))[:2]
        items: list[Any] = [draw(points(body)) for body in (*ends, *draw(st.lists(st.sampled_from(every), max_size=2)))]
        for i in range(len(items) - 1, 0, -1):
            if hinges and draw(st.booleans()):
                sense = draw(st.sampled_from(("positive", "negative")))
                items.insert(i, fm.Pulley(draw(st.sampled_from(hinges)), draw(numbers(0.02, 0.2)), side=sense))
        laws = {"stiffness": draw(numbers(1, 30)), "damping": draw(rates(2.0)), "length": draw(numbers(0.5, 6))}
        model.add(fm.Rope(f"rope{k}", items, **laws))
    oracle = Oracle(model)
    state = oracle.state()
    assume(all(apart(oracle, state, one, other) for rope in model.ropes for one, other in pairwise(rope.points)))
    return case


def apart(oracle: Any, state: Any, one: Any, other: Any) -> bool:
    """Whether neighbours of a rope are not at one place, and a point is outside of a pulley beside it."""
    pulley, N = (other, one) if isinstance(other, fm.Pulley) else (one, other)
    if not isinstance(pulley, fm.Pulley):
        return bool(np.linalg.norm(oracle.frame(state, one).p - oracle.frame(state, other).p) > CLOSEST)
    F = oracle.frame(state, pulley.joint.F)
    arm = oracle.frame(state, N).p - F.p
    axis = F.R @ np.array(pulley.joint.modes[0].axis)
    return bool(np.linalg.norm(arm - (arm @ axis) * axis) > pulley.radius + CLOSEST)


def _add_laws(draw: st.DrawFn, model: fm.Model) -> None:
    """Polynomials, tables, dampers and stops on joints and springs."""
    able = [(joint, k) for joint in model.joints for k in range(1, _scalars(joint) + 1)]
    able += [(spring, 1) for spring in model.springs]
    for k in range(draw(st.integers(0, 2)) if able else 0):
        on, mode = draw(st.sampled_from(able))
        x = np.cumsum([draw(numbers(-2, 0)), draw(numbers(0.1, 1)), draw(numbers(0.1, 1))])
        y = draw(vectors(3, 10.0))
        kind = draw(st.sampled_from(("polynomial", "table", "damper", "stop")))
        if kind == "polynomial":
            still = (y[0], abs(y[1]), 0.005 * y[2])  # what pushes with the square of a velocity may leave all bounds
            model.add(fm.Law.polynomial(f"law{k}", on, [still, draw(vectors(2)), draw(vectors(2))], mode=mode))
        elif kind == "stop" and not isinstance(on, fm.Spring):
            model.add(fm.Stop(f"law{k}", on, mode=mode, lower=x[0], upper=x[2], stiffness=50, damping=2))
        else:
            make = fm.Law.table if kind == "table" else fm.Law.damper
            model.add(make(f"law{k}", on, x, y, mode=mode))


def _scalars(joint: Any) -> int:
    """How many free modes, before any ball, a law can be on."""
    if joint.velocity_rows:
        return 0
    balls = [mode.kind == "ball" for mode in joint.free_modes]
    return balls.index(True) if True in balls else len(balls)


def _inputs(draw: st.DrawFn, model: fm.Model) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for joint in model.joints:
        values |= _excitation(draw, joint)
        if not draw(st.booleans()):
            continue
        if isinstance(joint, fm.Revolute):
            values[f"{joint.name}.tau"] = draw(numbers(-5, 5))
        elif isinstance(joint, fm.Prismatic):
            values[f"{joint.name}.f"] = draw(numbers(-5, 5))
        elif isinstance(joint, fm.Spherical | fm.Free):
            values[f"{joint.name}.tau"] = draw(vectors(high=5.0))
            if isinstance(joint, fm.Free):
                values[f"{joint.name}.f"] = draw(vectors(high=5.0))
        elif not isinstance(joint, fm.Weld):
            values |= _inputs_of_multi_mode(draw, joint)
    for load in model.loads:
        if draw(st.booleans()):
            values[f"{load.name}.force"] = draw(vectors(high=5.0))
    for one in model.forces_of(fm.Actuator):
        if draw(st.booleans()):
            values[f"{one.name}.force"] = draw(numbers(-5, 5))
    return values


def _inputs_of_multi_mode(draw: st.DrawFn, joint: Any) -> dict[str, Any]:
    if joint.velocities == 1:
        what = "f" if joint.free_modes[0].linear and not joint.velocity_rows else "tau"
        return {f"{joint.name}.{what}": draw(numbers(-5, 5))}
    return {f"{joint.name}.tau": draw(vectors(joint.velocities, 5.0))} if joint.velocities else {}


def _excitation(draw: st.DrawFn, joint: Any) -> dict[str, Any]:
    excited = joint.excited_modes
    if not excited or excited[0].input is None:
        return {}
    name = {"kappa_dot": "kappa_dot", "eta": "eta_in"}[excited[0].input]
    given = draw(vectors(len(excited), 3.0))
    return {f"{joint.name}.{name}": given[0] if len(given) == 1 else given}
