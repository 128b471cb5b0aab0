"""Random mechanisms whose bodies are made flexible: undeformed they move, and weigh, as the rigid ones do."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.run import Solver
from support.sweeps import seeds

SAME = 1e-11
"""Relative: the same mechanics by up to a hundred bodies more."""

AXES = ("x", "y", "z", "-x", "-y", "-z")
STIFF = fm.Material(E=1e11, density=1.0)


def turned(rng: Any) -> fm.Rotation:
    return fm.Rotation.rpy(*rng.uniform(-3, 3, 3))


def bar(rng: Any, name: str) -> fm.Body:
    along = str(rng.choice(AXES))
    if rng.random() < 0.5:
        length, radius = rng.uniform((0.4, 0.01), (1.5, 0.05))
        return fm.Body.cylinder(name, length=length, radius=radius, density=900.0, along=along)
    k = "xyz".index(along[-1])
    size = np.roll((rng.uniform(0.4, 1.5), *rng.uniform(0.01, 0.05, 2)), k)
    return fm.Body.box(name, size=tuple(size), density=900.0, along=along)


def somewhere(rng: Any, part: fm.Body, share: float | None = None) -> fm.Point:
    """A point between the ends, perhaps beside the axis, turned anyhow; or base or tip themselves."""
    if share is None and rng.random() < 0.3:
        return part.tip if rng.random() < 0.5 else part.base
    share = rng.uniform(0, 1) if share is None else share
    tip = np.array(part.tip.X_BP.offset)
    beside = rng.uniform(-0.1, 0.1, 3) * (tip == 0)
    return part.at(*(share * tip + beside), rotation=turned(rng))


def joint(rng: Any, name: str, F: fm.Point, M: fm.Point, fast: float) -> Any:
    """fast: 0 for one that starts at rest."""
    kind = str(rng.choice(("revolute", "prismatic", "spherical", "weld", "driven", "cylindrical", "bushing")))
    if kind == "weld":
        return fm.Weld(name, F, M)
    if kind == "spherical":
        q = rng.uniform(-1, 1, 4)
        return fm.Spherical(name, F, M, q0=q, u0=fast * rng.uniform(-1, 1, 3))
    if kind == "bushing":
        start = {"q0": rng.uniform(-0.3, 0.3, 6), "u0": fast * rng.uniform(-1, 1, 6)}
        return fm.Bushing(name, F, M, stiffness=rng.uniform(1, 9, 6), **start)
    if kind == "driven":
        path = fm.Path.polynomial(*(rng.uniform(-1, 1, 3) * (1, fast, 1)))
        modes = (fm.Turn(str(rng.choice(AXES)), role="excited", path=path), fm.Slide("z"))
        return fm.Joint(name, F, M, modes=modes, q0=rng.uniform(-1, 1, 1), u0=fast * rng.uniform(-1, 1, 1))
    make = {"revolute": fm.Revolute, "prismatic": fm.Prismatic, "cylindrical": fm.Cylindrical}[kind]
    count = 2 if kind == "cylindrical" else 1
    start = {"q0": rng.uniform(-1, 1, count), "u0": fast * rng.uniform(-1, 1, count)}
    if count == 1:
        start = {what: float(value[0]) for what, value in start.items()}
    return make(name, F, M, axis=rng.uniform(-1, 1, 3), **start)


def mechanism(seed: int, fast: float) -> fm.Model:
    """A tree of bars, some of them turned round, on the ground or on a flexible support, with a spring and a load."""
    rng = np.random.default_rng([seed, 12])
    model = fm.Model("random", gravity=rng.uniform(-10, 10, 3))
    parts: list[Any] = []
    root: Any = model.ground
    if rng.random() < 0.4:
        base = fm.Body("base", mass=5.0, inertia=(0.3, 0.4, 0.5))
        layer = fm.Layer(rng.uniform(-1, 1, (4, 3)), stiffness=rng.uniform(1e3, 1e4, 3), damping=10.0)
        model.add(base, fm.FlexibleSupport("feet", model.ground.at(), base.at(), layers=[layer]))
        root = base
    for i in range(int(rng.integers(2, 6))):
        part = bar(rng, f"bar{i}")
        inner = somewhere(rng, parts[rng.integers(len(parts))]) if parts else None
        F = inner or root.at(*rng.uniform(-1, 1, 3))
        M = somewhere(rng, part)
        one = joint(rng, f"j{i}", F, M, fast)
        simple = isinstance(one, fm.Revolute | fm.Prismatic | fm.Weld)
        model.add(part, replace(one, F=M, M=F) if simple and rng.random() < 0.4 else one)
        parts.append(part)
    ends = [somewhere(rng, parts[k]) for k in rng.integers(0, len(parts), 2)]
    model.add(fm.Spring("spring", model.ground.at(0, 0, 3), ends[0], stiffness=20.0, damping=0.3, free_length=0.5))
    model.add(fm.Load("load", ends[1], force=rng.uniform(-1, 1, 3), torque=rng.uniform(-1, 1, 3)))
    return model


def closed(model: fm.Model, seed: int) -> fm.Model:
    """With a point of the last bar that stays on a plane of the ground, where it is at the start."""
    rng = np.random.default_rng([seed, 13])
    solver = Solver(compile(model, everything=True))
    solver.assemble()
    bars = [body for body in model.bodies if body.name.startswith("bar")]
    P = somewhere(rng, bars[-1])
    place = solver.get(f"{bars[-1].name}.r") + rotation(solver, bars[-1]) @ P.X_BP.offset
    plane = model.ground.at(*place, rotation=turned(rng))
    model.add(fm.PointOnPlane("close", plane, P, normal=rng.uniform(-1, 1, 3), cut=True))
    return model


def rotation(solver: Solver, body: fm.Body) -> Any:
    return fm.Rotation.quaternion(*solver.get(f"{body.name}.quat")).matrix


def told(solver: Solver, rigid: fm.Model) -> dict[str, Any]:
    """What both models have: of joints, springs and the energy."""
    names = [f"{j.name}.{what}" for j in rigid.joints for what in ("q", "qd", "w", "eta", "kappa", "r", "v")]
    names += ["spring.length", "spring.f", "solver.energy"]
    known = {v.name.split("[")[0] for v in solver.image.variables}
    return {name: np.atleast_1d(solver.get(name)) for name in names if name in known}


@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize("seed", seeds(12, 300))
def test_undeformed_links_move_as_the_rigid_bodies(seed: int, loop: bool) -> None:
    """Positions, rates, the springs' forces and the energy, which has each body's place, velocity and inertia.

    A loop starts at rest: from start velocities that do not fit, assembly would move the links' elements too.
    """
    rng = np.random.default_rng([seed, 14])
    rigid = mechanism(seed, fast=0.0 if loop else 1.0)
    if loop:
        rigid = closed(rigid, seed)
    names = [body.name for body in rigid.bodies if body.name.startswith("bar") and rng.random() < 0.7]
    elements = int(rng.integers(1, 6))
    bent = fm.make_flexible(rigid, names, material=STIFF, elements=elements, stretch=bool(rng.random() < 0.3))
    found = []
    for model in (rigid, bent):
        solver = Solver(compile(model, everything=True))
        solver.assemble()
        found.append(told(solver, rigid))
    assert len(bent.bodies) == len(rigid.bodies) + elements * len(names)
    assert found[0].keys() == found[1].keys()
    for name, right in found[0].items():
        assert_allclose(found[1][name], right, rtol=0, atol=SAME * max(1.0, np.abs(right).max()), err_msg=name)
