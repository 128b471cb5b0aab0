"""Mechanisms with joints of screws, excited modes and rows of velocities, for tests of several kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.run import Solver

G = 9.81
ANGLE = 0.5  # of the skew trough
PATHS = {
    "A": fm.Path.quintic([0.0, 0.5, 1.2], [0.2, 1.0, -0.4]),
    "B": fm.Path((0.0, 0.4, 0.9), ((0.1, 0, 2.0), (0.42, 1.6, -1.5), (0.845, 0.1)), continuity=1),
}


ROUND_OFF = 1e-12  # of single evaluations, with numbers of the order of one
STEPS = 1e-8  # of motions at the tolerance 1e-10 over some hundred steps
TIGHT = 1e-10
INPUTS = {"J.f": 0.4, "J.kappa_dot[1]": 0.7, "J.eta_in": 0.5, "K.tau": (0.3, -0.2)}


def on_ground(joint: Callable[[fm.Point, fm.Point], fm.Joint], gravity: Any = (0, 0, -G), **body: Any) -> fm.Model:
    model = fm.Model("one", gravity=gravity)
    b = fm.Body("b", **({"mass": 2.0, "inertia": (0.3, 0.4, 0.5)} | body))
    model.add(b, joint(model.ground.at(), b.at()))
    return model


def rolling(
    R: float, q0: Any, u0: Any, gravity: Any = (0, 0, -G), heading: fm.Turn | None = None, **body: Any
) -> fm.Model:
    """A disc in its own x, z plane, which rolls on z = 0: contact x, y, heading, lean, own turn."""
    modes = (
        fm.Slide("x"), fm.Slide("y"), heading or fm.Turn("z"), fm.Turn("x"),
        fm.Slide("z", role="locked", value=R), fm.Turn("y"),
    )  # fmt: skip
    rows = ((0, -R, 0, 1, 0, 0), (R, 0, 0, 0, 1, 0))
    speeds = np.eye(6)[: 2 if heading else 3]
    return on_ground(
        lambda F, M: fm.Joint(
            "W", F, M, modes=modes, rows_after=5, velocity_rows=rows, speed_rows=speeds, q0=q0, u0=u0
        ),
        gravity,
        **body,
    )


def trough(spring: bool = False, **motion: Any) -> fm.Model:
    """Section 5 of joint-representation: a body on a free slide along 1 and an excited one, skew in the 1, 2-plane."""
    model = fm.Model("trough")
    ball = fm.Body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
    modes = (fm.Slide("x"), fm.Slide((np.sin(ANGLE), np.cos(ANGLE), 0), role="excited", **motion))
    joint = fm.Joint("J", model.ground.at(0, 0, 0.4), ball.at(), modes=modes, q0=[0.3], u0=[-0.2])
    model.add(ball, joint)
    if spring:
        model.add(fm.Spring("S", model.ground.at(0, 0, 0.4), ball.at(), stiffness=30, free_length=0.1))
    return model


def arm(**motions: Any) -> fm.Model:
    """Two links in a vertical plane; motions: of "A" and "B", none for a free joint."""
    model = fm.Model("arm")
    bodies = [
        fm.Body(n, mass=1.5, com=(0.3, 0, 0), inertia=(0.01, 0.05, 0.05), points={"tip": (0.7, 0, 0)}) for n in "ab"
    ]
    places = (model.ground.at(), bodies[0].at(0.7, 0, 0))
    model.add(*bodies)
    for name, F, body in zip("AB", places, bodies, strict=True):
        modes = [fm.Turn("y", **motions[name])] if name in motions else [fm.Turn("y")]
        model.add(fm.Joint(name, F, body.at(), modes=modes))
    return model


def kicked(**options: Any) -> fm.Model:
    """A pendulum on a carriage whose acceleration jumps, again and again."""
    path = fm.Path(
        (0.0, 0.1, 0.3, 0.4), ((0, 0, 4.0), (0.04, 0.8, -4.0), (0.04, -0.8, 4.0), (0,)), continuity=1, **options
    )
    model = fm.Model("kicked")
    cart, bob = fm.Body("cart", mass=1.0), fm.Body("bob", mass=0.5, com=(0, 0, -0.6), inertia=(0.01, 0.01, 0.01))
    model.add(cart, bob, fm.Joint("P", model.ground.at(), cart.at(), modes=[fm.Slide("x", role="excited", path=path)]))
    model.add(fm.Revolute("B", cart.at(), bob.at(), axis="y"))
    return model


def mixed() -> fm.Model:
    """Every kind of excitation, a free mode and a skate on top of it."""
    model = fm.Model("mixed")
    b, c = (fm.Body(n, mass=1.2, com=(0.1, 0.2, 0.1), inertia=(0.2, 0.3, 0.25)) for n in "bc")
    modes = (
        fm.Turn("z", role="excited", input="kappa_dot", eta0=0.3, kappa0=0.2),
        fm.Slide("x"),
        fm.Turn((1, 0, 0.5), role="excited", input="eta", cutoff=4.0),
        fm.Slide((1, 1, 0), role="excited", path=PATHS["B"]),
    )
    model.add(b, c, fm.Joint("J", model.ground.at(), b.at(0, 0.1, 0), modes=modes, stiffness=20.0, q0=[0.1]))
    model.add(fm.Skate("K", b.at(0.3, 0, 0), c.at(), u0=(0.5, -0.8)))
    return model


def started(model: fm.Model, inputs: dict[str, Any] | None = None, scheme: str = "dopri5") -> Solver:
    solver = Solver(compile(model).with_options(scheme=scheme, tolerance=TIGHT, step=1e-3))
    for name, value in (inputs or {}).items():
        solver.set(name, value)
    solver.assemble()
    return solver


def mixed_solver() -> Solver:
    inputs = {("J.eta_in[2]" if name == "J.eta_in" else name): value for name, value in INPUTS.items()}
    return started(mixed(), inputs)


def three_cranks(lean: float = 2.5) -> fm.Model:
    """Equal cranks under a platform, whose pins are seen from it: its rows take turns as the cranks turn over."""
    model = fm.Model("three_cranks", gravity=(0, 0, 0))
    platform = fm.Body.box("platform", size=(2.4, 1.4, 0.1), mass=4.0, along="z")
    cranks = [fm.Body.rod(f"crank{i}", length=1.0, mass=1.0, radius=0.02, along="z") for i in range(3)]
    feet = ((0, 0, 0), (2, 0, 0), (1, 1, 0))
    model.add(*cranks, platform)
    for i, (crank, foot) in enumerate(zip(cranks, feet, strict=True)):
        start = {"u0": 3.0} if i == 0 else {}
        model.add(fm.Revolute(f"base{i}", model.ground.at(*foot), crank.base, axis="y", q0=lean, **start))
    for i, (crank, (x, y, z)) in enumerate(zip(cranks, feet, strict=True)):
        model.add(fm.Revolute(f"top{i}", platform.at(x - 1.0, y - 0.5, z), crank.tip, axis="y", q0=lean))
    return model
