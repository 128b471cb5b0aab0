"""Random mechanisms with a tree structure, for hypothesis.

`trees()` draws a Model and values for its inputs: one or more roots, any branching, every kind of joint,
frames that are parallel, turned by quarters or in general on both sides, bodies whose centre of mass and
principal axes lie anywhere, joint springs, dampers and rotors, line springs between any two points, loads.
Numbers are of the order of one metre, kilogram and second, so that a relative tolerance has a meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from oracle import Oracle

import fmumbs as fm

CLOSEST = 0.2
"""Nearer than this [m] the direction of a line spring is ill-conditioned."""

JOINTS = ("revolute", "prismatic", "spherical", "free", "weld")
LETTERS = ("x", "y", "z", "-x", "-y", "-z")


@dataclass(frozen=True)
class Case:
    """A model and values for some of its inputs, by variable name."""

    model: fm.Model
    inputs: dict[str, Any]

    def __repr__(self) -> str:
        lines = [f"{self.model!r}, gravity={self.model.gravity}"]
        elements = (*self.model.bodies, *self.model.joints, *self.model.springs, *self.model.loads)
        return "\n".join([*lines, *(f"  {element!r}" for element in elements), f"  {self.inputs}"])


def numbers(low: float = -1.0, high: float = 1.0) -> st.SearchStrategy[float]:
    """Three decimals: short to read when a tree fails, and never almost zero."""
    return st.integers(round(low * 1000), round(high * 1000)).map(lambda n: n / 1000)


def vectors(size: int = 3, high: float = 1.0) -> st.SearchStrategy[tuple[float, ...]]:
    return st.tuples(*[numbers(-high, high)] * size)


def directions() -> st.SearchStrategy[tuple[float, ...]]:
    return vectors().filter(lambda v: np.linalg.norm(v) > 0.1)


def axes() -> st.SearchStrategy[Any]:
    return st.one_of(st.sampled_from(LETTERS), directions())


def rotations() -> st.SearchStrategy[fm.Rotation | None]:
    """None, quarter turns, or general ones."""
    quarters = st.tuples(st.sampled_from("xyz"), st.sampled_from((np.pi / 2, np.pi, -np.pi / 2)))
    return st.one_of(
        st.none(),
        quarters.map(lambda turn: fm.Rotation.about(*turn)),
        vectors(high=3.0).map(lambda angles: fm.Rotation.rpy(*angles)),
    )


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


def law(draw: st.DrawFn, high: float) -> float:
    """Often nothing at all."""
    return draw(st.one_of(st.just(0.0), numbers(0.0, high)))


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
    return fm.Weld(name, F, M)


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
        if turned_round and draw(st.integers(0, 4)) == 4:
            ends.reverse()
        elements += [body, draw(joints(f"j{i}", *ends, kinds))]
        every.append(body)
    model.add(*draw(st.permutations(elements)))
    _add_forces(draw, model, every)
    oracle = Oracle(model)
    state = oracle.state()
    assume(all(oracle.spring(state, spring)[0] > CLOSEST for spring in model.springs))
    return Case(model, _inputs(draw, model))


def _add_forces(draw: st.DrawFn, model: fm.Model, every: list[Any]) -> None:
    for k in range(draw(st.integers(0, 2))):
        P, Q = (draw(points(body)) for body in draw(st.permutations(every))[:2])
        laws = {"stiffness": law(draw, 20), "damping": law(draw, 2), "free_length": draw(numbers(0, 1))}
        model.add(fm.Spring(f"s{k}", P, Q, **laws))
    for k in range(draw(st.integers(0, 2))):
        P = draw(points(draw(st.sampled_from(every[1:]))))
        model.add(fm.Load(f"l{k}", P, force=draw(vectors(high=5.0)), torque=draw(vectors(high=5.0))))


def _inputs(draw: st.DrawFn, model: fm.Model) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for joint in model.joints:
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
    for load in model.loads:
        if draw(st.booleans()):
            values[f"{load.name}.force"] = draw(vectors(high=5.0))
    return values
