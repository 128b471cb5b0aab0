"""Mechanisms whose force laws jump with a velocity, so that they stick."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

import fmumbs as fm

G = 9.81


def block(F: float = 3.0, m: float = 2.0, u0: float = 0.0, **options: Any) -> fm.Model:
    """A block on a level table, braked by F."""
    model = fm.Model("block")
    body = fm.Body("body", mass=m, inertia=(0.1, 0.1, 0.1))
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="x", u0=u0, **options)
    model.add(body, J, fm.Law.brake("brake", J, F))
    return model


def belt(v: float, k: float, F: float) -> fm.Model:
    """A block on a spring, carried by a belt of speed v."""
    model = fm.Model("belt")
    body = fm.Body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    J = fm.Prismatic("J", model.ground.at(), body.at(), axis="x", stiffness=k, u0=v)
    pieces = [fm.Piece([[F]], v_upper=v), fm.Piece([[-F]], v_lower=v)]
    model.add(body, J, fm.Law("grip", J, pieces=pieces))
    return model


def stick_slip() -> fm.Model:
    """Two blocks on springs, one on the other, on a moving belt: they stick and slide again and again."""
    model = fm.Model("stick_slip")
    a, b = (fm.Body(n, mass=1.0, inertia=(0.1, 0.1, 0.1)) for n in "ab")
    A = fm.Prismatic("A", model.ground.at(), a.at(), axis="x", stiffness=30.0, u0=0.2)
    B = fm.Prismatic("B", a.at(), b.at(), axis="x", stiffness=50.0, u0=-0.1)
    grip = fm.Law("grip", A, pieces=[fm.Piece([[2.0, -0.5]], v_upper=0.1), fm.Piece([[-1.0]], v_lower=0.1)])
    model.add(a, b, A, B, grip, fm.Law.brake("brake", B, 0.4))
    return model


@st.composite
def chains(draw: st.DrawFn) -> tuple[fm.Model, dict[str, float]]:
    """Arms in space at rest, most joints with a brake, some with two; the largest torque of each joint's brakes."""
    model = fm.Model("chain", gravity=(0, 0, -G))
    limits: dict[str, float] = {}
    every: list[Any] = [model.ground]
    for i in range(draw(st.integers(1, 6))):
        com = tuple(draw(st.integers(-5, 5)) / 10 for _ in range(3))
        body = fm.Body(f"b{i}", mass=draw(st.integers(1, 20)) / 10, com=com, inertia=(0.1, 0.15, 0.2))
        make = draw(st.sampled_from((fm.Revolute, fm.Prismatic)))
        at = tuple(draw(st.integers(-5, 5)) / 10 for _ in range(3))
        parent = draw(st.sampled_from(every))
        start = {"axis": draw(st.sampled_from("xyz")), "q0": draw(st.integers(-3, 3)) / 3}
        joint = make(f"J{i}", parent.at(*at), body.at(), **start)
        model.add(body, joint)
        every.append(body)
        for k in range(draw(st.sampled_from((0, 1, 1, 1, 2)))):
            force = draw(st.integers(0, 200)) / 10
            model.add(fm.Law.brake(f"brake{i}_{k}", joint, force))
            limits[joint.name] = limits.get(joint.name, 0.0) + force
    return model, limits


def stack(masses: Any, limits: Any) -> fm.Model:
    """Blocks b0, b1, ... one on the other, each braked against the one below and with a load L0, L1, ..."""
    model = fm.Model("stack", gravity=(0, 0, 0))
    below: Any = model.ground
    for i, (m, F) in enumerate(zip(masses, limits, strict=False)):
        body = fm.Body(f"b{i}", mass=float(m), inertia=(0.1, 0.1, 0.1))
        J = fm.Prismatic(f"J{i}", below.at(), body.at(), axis="x")
        model.add(body, J, fm.Law.brake(f"brake{i}", J, float(F)), fm.Load(f"L{i}", body.at()))
        below = body
    return model


def net(rng: np.random.Generator) -> tuple[fm.Model, list[tuple[int, int, Any, float, float]]]:
    """Points that are joined by lines with brakes, most of them redundant; of each line: its ends P and Q, of which
    -1 is the ground, the direction from P to Q, and the largest push and pull."""
    model = fm.Model("net", gravity=(0, 0, 0))
    points, count = int(rng.integers(1, 4)), int(rng.integers(2, 12))
    places = rng.normal(size=(points + count, 3))
    bodies, lines = [], []
    for i in range(points):
        bodies.append(fm.Body(f"b{i}", mass=10.0 ** rng.uniform(-1.5, 1.5), inertia=(0.1, 0.1, 0.1)))
        slides = [fm.Slide(e) for e in "xyz"]
        model.add(bodies[i], fm.Joint(f"J{i}", model.ground.at(), bodies[i].at(), modes=slides, q0=places[i]))
        model.add(fm.Load(f"L{i}", bodies[i].at()))
    for k in range(count):
        P, Q = int(rng.integers(points)), int(rng.integers(points + count))
        Q = Q if Q != P and points > Q else -1
        far = places[Q] if Q >= 0 else places[points + k]
        line = fm.Spring(f"S{k}", bodies[P].at(), bodies[Q].at() if Q >= 0 else model.ground.at(*far))
        push, pull = 10.0 ** rng.uniform(-1, 1, 2)
        pieces = [fm.Piece([[-push]], v_upper=0.0), fm.Piece([[pull]], v_lower=0.0)]
        model.add(line, fm.Law(f"grip{k}", line, pieces=pieces))
        lines.append((P, Q, (far - places[P]) / np.linalg.norm(far - places[P]), push, pull))
    return model, lines


def brake(rng: np.random.Generator, name: str, on: Any) -> fm.Law:
    """A brake of 0.01 to 100 N that may break away at more than it slides with."""
    return fm.Law.brake(name, on, 10.0 ** rng.uniform(-2, 2), breakaway=float(rng.choice([1.0, 1.3, 3.0])))


def breaking_stack(rng: np.random.Generator) -> fm.Model:
    """Blocks b0, b1, ... of masses over eight decades, one on the other, with a load each and a brake or two."""
    model = fm.Model("stack", gravity=(0, 0, 0))
    below: Any = model.ground
    decades = rng.choice([0.5, 2.0, 4.0])
    for i in range(int(rng.choice([rng.integers(1, 8), rng.integers(8, 33)]))):  # which is 64 brakes at most
        body = fm.Body(f"b{i}", mass=10.0 ** rng.uniform(-decades, decades), inertia=(0.1, 0.1, 0.1))
        J = fm.Prismatic(f"J{i}", below.at(), body.at(), axis="x", u0=rng.normal() * rng.integers(0, 2))
        model.add(body, J, fm.Load(f"L{i}", body.at()))
        for k in range(int(rng.integers(1, 3))):
            model.add(brake(rng, f"brake{i}_{k}", J))
        below = body
    return model


def breaking_net(rng: np.random.Generator) -> fm.Model:
    """Points b0, b1, ... with a load each, joined by lines with brakes, most redundant, some nearly parallel."""
    model = fm.Model("net", gravity=(0, 0, 0))
    count, lines = int(rng.integers(1, 6)), int(rng.choice([rng.integers(2, 10), rng.integers(10, 40)]))
    decades, places = rng.choice([0.5, 2.0]), rng.normal(size=(count + lines, 3))
    if rng.random() < 0.4:
        places = np.round(places)
    bodies = []
    for i in range(count):
        bodies.append(fm.Body(f"b{i}", mass=10.0 ** rng.uniform(-decades, decades), inertia=(0.1, 0.1, 0.1)))
        slides, u0 = [fm.Slide(e) for e in "xyz"], rng.normal(size=3) * rng.integers(0, 2)
        model.add(bodies[i], fm.Joint(f"J{i}", model.ground.at(), bodies[i].at(), modes=slides, q0=places[i], u0=u0))
        model.add(fm.Load(f"L{i}", bodies[i].at()))
    for k in range(lines):
        P, Q = int(rng.integers(count)), int(rng.integers(count + lines))
        ends = P != Q < count
        far = places[Q] if ends else places[count + k]
        if np.linalg.norm(far - places[P]) < 0.1:
            continue
        line = fm.Spring(f"S{k}", bodies[P].at(), bodies[Q].at() if ends else model.ground.at(*far))
        model.add(line, brake(rng, f"brake{k}", line))
    return model
