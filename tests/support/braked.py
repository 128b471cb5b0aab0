"""Mechanisms whose force laws jump with a velocity, and so hold it."""

from typing import Any

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
    """Two blocks on springs, one on the other, on a moving belt: they hold and let go again and again."""
    model = fm.Model("stick_slip")
    a, b = (fm.Body(n, mass=1.0, inertia=(0.1, 0.1, 0.1)) for n in "ab")
    A = fm.Prismatic("A", model.ground.at(), a.at(), axis="x", stiffness=30.0, u0=0.2)
    B = fm.Prismatic("B", a.at(), b.at(), axis="x", stiffness=50.0, u0=-0.1)
    grip = fm.Law("grip", A, pieces=[fm.Piece([[2.0, -0.5]], v_upper=0.1), fm.Piece([[-1.0]], v_lower=0.1)])
    model.add(a, b, A, B, grip, fm.Law.brake("brake", B, 0.4))
    return model


@st.composite
def chains(draw: st.DrawFn) -> tuple[fm.Model, dict[str, float]]:
    """Arms in space at rest, braked at most joints, some with two brakes on one joint; torques that some hold."""
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
